"""What waits at the desk: one caller's questions, with everything public about them, until they are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unworn.basics.frozen_init import assign_fields
from unworn.holdout.asking.labels import NO_LABEL, Label
from unworn.holdout.memo import Memo
from unworn.ledger import Entry
from unworn.mechanisms import Guess
from unworn.mechanisms.contract.record import final_name
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows
from unworn.record.answer import Answer
from unworn.record.practice_estimate import PracticeEstimate


@assign_fields
@dataclass(frozen=True)
class Ask:
    """One question on its way through: everything public about it."""

    query: Query
    facts: Facts
    guess: Guess | None = None
    by: str | None = None
    again: bool = False
    parent: int | None = None
    final: tuple[int, int, bool] | None = None
    practice: PracticeEstimate | None = None
    noise: bool = False
    label: Label = NO_LABEL
    code: str | None = None

    @property
    def name(self) -> tuple[str, int | None]:
        """What a repeat has in common with it."""
        return self.query.fingerprint, self.parent if self.final is None else final_name(self.final)

    def placed(self, position: int, questions: int) -> Ask:
        """With its place among final values: others may have told some of them since they were fixed together."""
        return self if self.final is None else replace(self, final=(position, questions, self.final[2]))


class Job:
    """One caller's questions, until they are settled: answered, or refused with an error of the caller's own."""

    def __init__(self, asks: Sequence[Ask], rows: Rows) -> None:
        self.asks = asks
        self.memo = Memo(rows)
        self.places: list[int] = []
        self.written: list[Entry] = []
        self.answers: list[Answer] = []
        self.error: Exception | None = None
        self.settled = False

    @property
    def short(self) -> bool:
        """Whether this is one question that runs no code of the asker's, who may have all day."""
        return len(self.asks) == 1 and not self.asks[0].facts.runs_code

    def settle(self, error: Exception | None = None) -> None:
        self.error = error
        self.settled = True  # last, because another thread may be looking


def interrupted_anew(interrupt: BaseException, job: Job) -> BaseException:
    """The interrupt again, with what it cost, and without the frames it came through, which hold rows."""
    again = SystemExit(interrupt.code) if isinstance(interrupt, SystemExit) else KeyboardInterrupt()
    if job.settled and job.error is None and job.written:
        index = job.written[-1].index
        again.add_note(
            f"The interrupt came while rows were read: it is entered and charged as answer {index}.\n"
            "ask(..., again=True) asks the question anew."
            if job.memo.interrupted
            else f"Answer {index} is entered and charged: asking the same question again returns it, free."
        )
    return again
