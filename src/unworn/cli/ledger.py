"""``unworn ledger``: what was asked, what it cost, and how to keep it safe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unworn import charts
from unworn.basics.tags import show_tags
from unworn.cli.ledger_lookup import existing, meter, meter_line, open_ledger, pick, pick_one, read
from unworn.cli.output import BadInput, Json, emit, note, number, percent, say, table
from unworn.ledger import Store, ledger_url
from unworn.ledger.backup import export, export_key, import_key
from unworn.ledger.backup import restore as restore_backup
from unworn.mechanisms.contract.mechanism import NO_ANSWER
from unworn.record.answers_table import answer_rows
from unworn.record.transcript import Transcript


def ledger(
    where: Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger's file or URL.")],
    name: Annotated[str | None, typer.Option(help="Only the holdout with this name (or id).")] = None,
    last: Annotated[int, typer.Option(min=0, help="How many answers to list; --json has them all.")] = 20,
    figure: Annotated[Path | None, typer.Option(help="Draw every interval, as .svg, .png, .html or .json.")] = None,
    export_to: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Back up all entries, without keys.")
    ] = None,
    restore: Annotated[
        Path | None, typer.Option("--restore", metavar="FILE", help="Load a backup; a ledger can only grow.")
    ] = None,
    key_to: Annotated[
        Path | None, typer.Option("--export-key", metavar="FILE", help="Copy the holdout's secret key to a file.")
    ] = None,
    key_from: Annotated[
        Path | None, typer.Option("--import-key", metavar="FILE", help="Bring the holdout's key back.")
    ] = None,
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Let the rows of this ledger be sealed in another: the promise starts afresh."),
    ] = False,
    json: Json = False,
) -> None:
    """See every answer a ledger holds, how much is spent, and how wide the next answer would be.

    A ledger is the whole memory of a holdout: what was asked, what was answered, and what it cost. It never holds a
    row. Entries are chained and signed, so changes and cuts are detected (see `unworn verify`). Back up both
    parts, apart from each other: the entries (--export) and the secret key (--export-key). Without the key the holdout
    can be read but not asked.

    Rows are known by the ledger they were sealed in, and refused in any other. If a ledger is lost for good, or what
    was asked in it does not count, --forget removes its rows (with --name, those of one holdout) from the user's
    registry: they can then be sealed again, and the promise holds for anybody who has seen no answer about them. The
    ledger itself is left as it is.

    \b
    Examples:
      unworn ledger people.csv.ledger.db
      unworn ledger churn.db --name people --json
      unworn ledger churn.db --figure answers.svg
      unworn ledger churn.db --export backup.jsonl --export-key people.key
      unworn ledger new.db --restore backup.jsonl --import-key people.key
      unworn ledger lost.db --forget
    """
    done: dict[str, Any] = {}
    if forget:
        _forget(where, name, json)
        return
    if restore is not None:
        with open_ledger(where, restoring=True) as store:
            done["restored"] = restore_backup(restore, store)
            note(f"restored {done['restored']:,} entries from {restore}")
    with existing(where) as store:  # anew: what was restored must be all that was told
        if key_from is not None:
            import_key(key_from, store, pick_one(store, name).holdout)
            done["imported_key"] = str(key_from)
            note(f"the key in {key_from} is kept beside the ledger again")
        if export_to is not None:
            done["exported"] = export(store, export_to)
            note(f"exported {done['exported']:,} entries to {export_to}; keys are not among them (--export-key)")
        if key_to is not None:
            export_key(store, pick_one(store, name).holdout, key_to)
            done["exported_key"] = str(key_to)
            note(f"the key is in {key_to}: whoever has it can repeat the noise, so keep it apart from the ledger")
        found = [(first.holdout, read(store, first)) for first in pick(store, name)]
        told = [_holdout(store, identity, transcript) for identity, transcript in found]
        if figure is not None:
            done["figure"] = str(_draw(told, figure))
            note(f"figure: {figure}")
    if json:
        emit({"ledger": where, **done, "holdouts": told})
    else:
        _print(told, last)


def _forget(where: str, name: str | None, json: bool) -> None:
    """Take a ledger's rows off the registry; of the ledger itself nothing is changed, and it need not be there."""
    from unworn.ledger.registry.known_rows import Registry

    meant = None
    if name is not None:
        with existing(where) as store:
            meant = {first.holdout for first in pick(store, name)}
    registry = Registry.existing()
    count = 0 if registry is None else registry.forget(ledger_url(where), meant)
    if json:
        emit({"ledger": where, "forgotten": count})
    elif count:
        rows = "the rows" if count == 1 else f"{count:,} sets of rows"
        say(f"Forgotten: {rows} that were sealed in {where}. Another ledger may have them now.")
        note("The promise about them starts anew: it holds for those who have seen no answer in that ledger.")
    else:
        say(f"Nothing to forget: no rows are registered as sealed in {where}.")


def _holdout(store: Store, identity: str, transcript: Transcript) -> dict[str, Any]:
    terms = transcript.terms
    return {
        "name": terms.name,
        "id": identity,
        "rows": terms.rows,
        "size": terms.size,
        "unit": "group" if terms.schema.grouped else "row",
        **({} if terms.uses is None else terms.uses.to_json()),
        **({"practice": terms.practice_size} if terms.practice else {}),
        "mechanism": terms.sealed_json(),
        "confidence": terms.confidence,
        "planned": terms.asks,
        "promises": terms.sealed_for.promises,
        "can_be_asked": store.key(identity) is not None,
        "public_key": terms.public,
        "head": transcript.head,
        "meter": meter(transcript),
        "answers": list(answer_rows(transcript)),
    }


def _draw(told: list[dict[str, Any]], figure: Path) -> Path:
    if len(told) != 1:
        raise BadInput(f"a figure shows one holdout, and there are {len(told)}.\n  Say which: --name.")
    (holdout,) = told
    subtitle = f"{holdout['size']:,} {holdout['unit']}s · {percent(holdout['confidence'])} for all together"
    answers = [row for row in holdout["answers"] if row["source"] != "test"]  # they have no interval to draw
    chart = charts.intervals(answers, title=f"{holdout['name']}: answers and intervals", subtitle=subtitle)
    return charts.save(chart, figure)


def _print(told: list[dict[str, Any]], last: int) -> None:
    if not told:
        say("This ledger is empty: no rows were sealed in it.")
    for place, holdout in enumerate(told):
        if place:
            say()
        units = f"{holdout['size']:,} {holdout['unit']}s"
        if "use" in holdout:
            units += f" (use {holdout['use']}, share {percent(holdout['shares'][holdout['use']])})"
        say(f"{holdout['name']} · {units} · {holdout['mechanism']['name']} · {percent(holdout['confidence'])}")
        say(f"  {meter_line(holdout['meter'])}")
        say(f"  id {holdout['id'][:8]} · head {holdout['head']}")
        if not holdout["promises"]:
            say("  spoiled: this holdout shows exact values, and nothing is promised")
        if not holdout["can_be_asked"]:
            say("  read-only: its key is not beside the ledger (--import-key brings it back)")
        answers = holdout["answers"][-last:] if last else []
        if not answers:
            continue
        say()
        if len(answers) < len(holdout["answers"]):
            say(f"the last {len(answers)} of {len(holdout['answers']):,} answers:")
        headers = ["answer", "value", "interval", "±", "source", "guess", "by", "question"]
        table(headers, [_line(row) for row in answers], right=(0, 1, 3, 5))


def _question(row: dict[str, Any]) -> str:
    """The question, with what the asker wrote beside it."""
    name = row["name"] if row["name"] and row["name"] not in row["question"] else ""
    return " · ".join(part for part in (name, row["question"], show_tags(row["tags"])) if part)


def _line(row: dict[str, Any]) -> list[str]:
    if row["source"] == "test":
        outcome = "yes" if row["value"] else "no"
        return [str(row["index"]), outcome, "", "", "test", "", row["by"] or "", _question(row)]
    guess = "" if row["guess"] is None else number(row["guess"])
    if row["source"] in NO_ANSWER.values():
        return [str(row["index"]), "", "", "", row["source"], guess, row["by"] or "", _question(row)]
    interval = f"[{number(row['low'])}, {number(row['high'])}]"
    shown = [str(row["index"]), number(row["value"]), interval, number(row["width"])]
    return [*shown, row["source"], guess, row["by"] or "", _question(row)]
