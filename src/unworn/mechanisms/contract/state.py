"""What a conversation has cost so far, folded from the ledger's events."""

from __future__ import annotations

from dataclasses import dataclass

from unworn.basics.frozen_init import assign_fields
from unworn.bounds.code_length import Pattern
from unworn.errors import Exhausted


@assign_fields
@dataclass(frozen=True, slots=True)
class State:
    """What the transcript so far has cost: counts and nats, folded from the ledger's events."""

    rows: int
    log_beta: float
    planned: int | None = None
    asked: int = 0
    surprises: int = 0
    nats: float = 0.0
    round: int = 0
    best: int | None = None
    ended: bool = False
    """Whether a failure was told that cannot be paid for, so that nothing may follow it."""
    pattern: Pattern | None = None
    """Where surprises fell, under Theorem C′."""
    sides: tuple[int, int] = (0, 0)
    """How many surprises lay below and above their guesses."""
    closed: bool = False
    """Whether final values were told, after which nothing may follow."""
    kept: float = 0.0
    """The chance that Theorem U reckons with, once noisy answers were given; their number, and the noise's radius."""
    noisy: int = 0
    radius: int = 0

    def further(
        self,
        surprises: int = 0,
        nats: float = 0.0,
        pattern: Pattern | None = None,
        sides: tuple[int, int] | None = None,
    ) -> State:
        """After one more answer, which cost so much."""
        return State(
            self.rows,
            self.log_beta,
            self.planned,
            self.asked + 1,
            self.surprises + surprises,
            self.nats + nats,
            self.round,
            self.best,
            self.ended,
            self.pattern if pattern is None else pattern,
            self.sides if sides is None else sides,
            self.closed,
            self.kept,
            self.noisy,
            self.radius,
        )

    def check_open(self) -> None:
        """Refuse whatever would follow what nothing may follow."""
        if self.closed:
            raise Exhausted(
                "the final values have been released, and the holdout is closed with them: they can be this sharp "
                "because nothing follows.\n"
                "  All answers hold, and asking them again is free. Seal fresh rows to go on asking.",
                asked=self.asked,
            )
        if self.ended:
            raise Exhausted(
                f"answer {self.asked} could not be made, and that it failed is a fact about the rows that this "
                "mechanism cannot pay for: the holdout is closed.\n"
                "  The answers given before hold all the same, and asking them again is free. Seal fresh rows.",
                asked=self.asked,
            )

    def index(self, position: int) -> int:
        """The depth of the next ask (of the ask at ``position`` of the next batch), or a refusal."""
        self.check_open()
        index = self.asked + 1 + position
        if self.planned is not None and index > self.planned:
            raise Exhausted(
                (
                    f"all {self.planned} planned asks are spent"
                    if self.asked == self.planned
                    else f"{self.asked} of {self.planned} planned asks are spent, and this batch is longer"
                )
                + ".\n  Plan more asks for fresh rows, or seal a holdout without `asks=`: guess-and-check needs none.",
                asked=self.asked,
                planned=self.planned,
            )
        return index
