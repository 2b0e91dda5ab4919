"""What a holdout says, printed: the same lines and the same document from a file and from a server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from unworn.cli.ledger_lookup import meter_line
from unworn.cli.output import SOURCES, emit, note, number, percent, say

Place = tuple[str, str]
"""Where the answer is kept: ``"ledger"`` and its path, or ``"server"`` and its address."""


def show_quote(price: Any, holdout: Any, place: Place, nothing: str, json: bool) -> None:
    """What an ask would cost; ``nothing`` says, for people, that nothing was done."""
    if json:
        kind, where = place
        emit({"quote": asdict(price), "holdout": holdout.name, kind: where})
        return
    for line in str(price).split("\n"):
        say(line)
    note(nothing)


def show_answer(answer: Any, holdout: Any, place: Place, card: Path | None, repeat: bool, json: bool) -> None:
    """An answer, with what the holdout has told by now."""
    meter = holdout.meter.to_json()
    del meter["refused"]
    kind, where = place
    if json:
        told = _document(answer, holdout, repeat)
        emit({**told, kind: where, "card": None if card is None else str(card), "meter": meter})
        return
    say(answer.full_label)
    say(f"  {number(answer.value)}  in [{number(answer.low)}, {number(answer.high)}], ± {number(answer.width)}")
    say(f"  {SOURCES.get(answer.source, answer.source)}")
    if answer.practice is not None:
        say(f"  practice rows: {number(answer.practice.value)}, free and without a promise")
    if repeat:
        say(f"  asked before: this is answer {answer.index} again, free")
    say(f"  {percent(answer.confidence)} for all answers together · answer {answer.index} of {holdout.name!r}")
    say(f"  {meter_line(meter)}")
    say(f"  {kind} {where}" + ("" if card is None else f" · card {card}"))
    if not answer.certificate.terms.mechanism.promises:
        note("  Nothing is promised: this holdout shows exact values.")


def _document(answer: Any, holdout: Any, repeat: bool) -> dict[str, Any]:
    record = answer.certificate.record
    return {
        "question": answer.label,
        "value": answer.value,
        "low": answer.low,
        "high": answer.high,
        "width": answer.width,
        "confidence": answer.confidence,
        "source": answer.source,
        "index": answer.index,
        "repeat": repeat,
        "guess": None if record.guess is None else record.guess.value,
        "practice": None if answer.practice is None else answer.practice.value,
        "by": record.by,
        **({} if record.name is None else {"name": record.name}),
        **({} if record.tags is None else {"tags": record.tags}),
        "holdout": holdout.name,
        "rows": holdout.size,
        "theorem": answer.certificate.theorem,
        "head": answer.certificate.head,
    }
