"""What every learner made of asks does alike: refuse what the plan cannot pay for, and say what its answers rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.errors import Exhausted
from unworn.record.certificate import NO_PROMISE

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.answer import Answer


def check_budget(holdout: Holdout, asks: int, what: str) -> None:
    """Refuse before the first ask what would be refused later, with asks charged."""
    meter = holdout.meter
    if meter.planned is not None and asks > meter.planned - meter.asked:
        raise Exhausted(
            f"{what} take up to {asks} asks, and the plan has {meter.planned - meter.asked} left.\n"
            "  Ask for less, or seal rows with a longer plan.",
            wanted=asks,
            left=meter.planned - meter.asked,
        )


def certified_by(holdout: Holdout, last: Answer) -> tuple[float, str, str, tuple[str, ...], bool]:
    """(confidence, name, head, assumptions) of all answers up to the last one, and whether they promise anything."""
    assumptions = last.certificate.assumptions
    return holdout.confidence, holdout.name, last.certificate.head, assumptions, NO_PROMISE not in assumptions
