"""``unworn verify``: is this answer what was signed, and does its interval follow?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.cli.folders.verify_summary import checked_summary, is_summary
from unworn.cli.ledger_lookup import existing, pick
from unworn.cli.output import BadInput, Json, count, emit, note, number, percent, progress, say, say_wrapped
from unworn.cli.sealed_rows import check_file
from unworn.cli.verify_release import checked_release, is_of_release
from unworn.errors import Mismatch, Tampered
from unworn.holdout.uses import check_uses
from unworn.ledger import Entry, Store
from unworn.ledger.open_ledgers import check_not_live
from unworn.record.certificate import Certificate
from unworn.record.replay.chain_check import CheckedChain
from unworn.record.replay.store_check import check_stored_chain
from unworn.record.transcript import Terms

_TICKS = 1000
"""Steps of the bar that shows how far a check has come."""


def verify(
    card: Annotated[
        Path | None,
        typer.Argument(metavar="[CARD]", help="A card; a release, or its certificate; the summary of a board."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(metavar="FILE|URL", help="Replay this ledger up to the card; without a card, all of it."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head noted earlier, which the ledger must still contain.")
    ] = None,
    json: Json = False,
) -> None:
    """Check that an answer is what was signed and that its interval follows from it.

    A card alone shows that the holder of the holdout's key recorded this answer, and that the interval follows from
    what was recorded. With the ledger every entry up to the card is replayed as well: nothing was changed, left
    out or put in, and each answer was priced by everything before it. Nobody needs the rows or the key for this.
    A ledger whose end was cut off looks whole by itself; any card, or a head you noted, gives it away.

    A release (a folder made by unworn synth) is checked as a whole: its content is what was signed, the errors it
    promises follow from that content, and its tables and rows are those that the content gives. Its certificate.json
    alone shows only that the promise was signed.

    \b
    Examples:
      unworn verify card.json
      unworn verify card.json --ledger churn.db
      unworn verify --ledger churn.db
      unworn verify release/
      unworn verify bench/final/summary.json
      unworn verify --ledger churn.db --head 9af96e41b330...
    """
    if card is None and ledger is None:
        raise BadInput("there is nothing to check.\n  Give a card, --ledger, or both: unworn verify card.json")
    if head is not None and ledger is None:
        raise BadInput("--head is looked for in a ledger.\n  Add --ledger.")
    if card is None:
        checked = _ledger(str(ledger), head)
        if json:
            emit({"ok": True, "ledger": ledger, "holdouts": checked})
        else:
            _print_ledger(str(ledger), checked, head)
        return
    check_not_live(card)
    if is_of_release(card):
        checked_release(card, ledger, head, json)
        return
    if is_summary(card):
        checked_summary(card, json)
        return
    check_file(card, "card")
    certificate = Certificate.load(card)
    certificate.verify()
    done = [
        "the readable part says what the signed entries say",
        f"both entries are signed by key {certificate.terms.public[:16]}…",
        "the interval follows from the recorded symbol and level",
    ]
    if ledger is not None:
        done += _against(certificate, ledger, head)
    if json:
        emit({"ok": True, "card": str(card), "ledger": ledger, "checked": done, **_facts(certificate)})
    else:
        _print_card(certificate, done, ledger)


def _against(certificate: Certificate, ledger: str, head: str | None) -> list[str]:
    with existing(ledger) as store:
        known = store.holdouts()
        first = known.get(certificate.first.holdout) or next(iter(known.values()), None)
        certificate.check_holdout(first)
        assert first is not None
        noted = [certificate.head] if head is None else [certificate.head, head]
        checked = _check_chain(store, first, certificate.terms.public, noted)
        for each in noted:
            checked.require(each)
        length = checked.index + 1
    done = [
        f"the ledger's {length:,} entries are whole, in order, and signed",
        f"replaying its {count(length - 1, 'answer')} gives every level and interval that was recorded",
        f"the ledger contains this card (entry {certificate.entry.index})",
    ]
    return done if head is None else [*done, f"the ledger contains the noted head {head[:16]}…"]


def _check_chain(store: Store, first: Entry, public: str, heads: list[str]) -> CheckedChain:
    """Check all of a holdout's chain, and show how far it has come where somebody is looking."""
    length = store.length(first.holdout)
    shown = 0
    with progress(f"checking {count(length - 1, 'answer')}", _TICKS) as tick:

        def advance(done: int) -> None:
            nonlocal shown
            while shown < min(_TICKS * done // length, _TICKS):
                tick()
                shown += 1

        return check_stored_chain(store, first, length, public=public, heads=heads, progress=advance)


def _ledger(ledger: str, head: str | None) -> list[dict[str, Any]]:
    checked, seen = [], head is None
    known: dict[str, Terms] = {}
    with existing(ledger) as store:
        for first in pick(store, None):
            terms = Terms.from_body(first.body)
            end = _check_chain(store, first, terms.public, [str(head)])
            seen = seen or bool(end.heads)
            told = {"name": terms.name, "id": first.holdout, "answers": end.index, "head": end.hash}
            known[first.holdout] = terms
            told |= {} if terms.uses is None else terms.uses.to_json()
            checked.append({**told, "public_key": terms.public, "promises": terms.sealed_for.promises})
    check_uses(known)
    if not checked:
        raise Mismatch(f"the ledger {ledger} is empty: there is nothing to check.\n  Check the path.")
    if not seen:
        raise Tampered(
            f"no holdout of this ledger contains the noted head {str(head)[:16]}…\n"
            "  Entries were cut off or replaced, or the head is another ledger's: find the ledger that has it."
        )
    return checked


def _facts(certificate: Certificate) -> dict[str, Any]:
    card = certificate.to_json()
    names = ("holdout", "question", "answer", "theorem", "assumptions", "numbers", "head", "public_key")
    return {name: card[name] for name in names}


def _print_card(certificate: Certificate, done: list[str], ledger: str | None) -> None:
    published, terms = certificate.record.published, certificate.terms
    say("The card is valid." if terms.sealed_for.promises else "The card is valid, and promises nothing.")
    say()
    say(certificate.record.label)
    if published.source == "test":
        say("  rejected" if published.value else "  not rejected")
    else:
        interval = f"in [{number(published.low)}, {number(published.high)}]"
        say(f"  {number(published.value)}  {interval}  ({certificate.source})")
    if "chance" in certificate.numbers:
        say(
            f"  promised: the chance of a yes is within ± {certificate.numbers['chance']:.3g} of the population's share"
        )
    say(f"  answer {certificate.entry.index} of {terms.name!r} · {terms.size:,} {_unit(terms)}", nl=False)
    say(f" · {percent(terms.confidence)} for all answers together")
    say()
    say("Checked:")
    for line in done:
        say(f"  {line}")
    say(f"Theorem: {certificate.theorem}")
    say("Assuming:")
    for assumption in certificate.assumptions:
        say_wrapped(f"{assumption}", "  ")
    say(f"Key: {terms.public}")
    if ledger is None:
        note("Checked alone. --ledger also shows that the level is the one all earlier answers allow.")


def _print_ledger(ledger: str, checked: list[dict[str, Any]], head: str | None) -> None:
    say(f"{ledger} is whole: every entry is in order, signed, and priced by the ones before it.")
    for told in checked:
        promise = "" if told["promises"] else " · spoiled, promises nothing"
        share = f" · use {told['use']}, share {percent(told['shares'][told['use']])}" if "use" in told else ""
        say(f"  {told['name']}{share} · {count(told['answers'], 'answer')} · head {told['head']}{promise}")
    if head is None:
        note("A cut-off end cannot be seen from inside: note the head, or keep a card, and give it next time.")


def _unit(terms: Terms) -> str:
    unit = "groups" if terms.schema.grouped else "rows"
    aside = f" + {terms.practice_size:,} for practice" if terms.practice else ""
    return (unit if terms.uses is None else f"{unit} ({terms.uses})") + aside
