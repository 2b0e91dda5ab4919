"""What an agent gets from a tool: plain numbers under plain names, and one line that says it in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unworn.basics.display import show_line
from unworn.boards.gate_values import GateClaim, GateVerdict
from unworn.boards.standings import Standings
from unworn.boards.submission import Submission
from unworn.boards.team_spending import TeamSpending
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer, DerivedQuote
from unworn.record.meter import Meter, Quote


@dataclass(frozen=True)
class ToldSubmission:
    """A scored submission. ``low`` to ``high`` is certified; ``practice`` is exact on rows that may wear out."""

    id: str
    number: int
    team: str
    practice: float | None
    practice_error: float | None
    status: str
    value: float | None
    low: float | None
    high: float | None
    surprise: bool
    rank: int | None
    rank_is_shared: bool
    summary: str

    @classmethod
    def of(cls, told: Submission, standings: Standings | None = None) -> ToldSubmission:
        own = next((row for row in standings.rows if row.team == told.team), None) if standings else None
        rank, shared = (None, False) if own is None else (own.rank, own.is_shared)
        numbers = (told.practice, told.practice_error, told.status, told.value, told.low, told.high, told.surprise)
        place = "" if own is None else f" · rank {own.place}"
        return cls(told.id, told.number, told.team, *numbers, rank, shared, told.line + place)


@dataclass(frozen=True)
class ToldStanding:
    """One team's best submission; a certified step was certainly better than the best before it when it came."""

    rank: int | None
    is_shared: bool
    team: str
    value: float | None
    low: float | None
    high: float | None
    practice: float | None
    tries: int
    is_certified_step: bool


@dataclass(frozen=True)
class ToldStandings:
    """All teams, the best first; teams whose intervals overlap the better one's share its rank."""

    board: str
    higher_is_better: bool
    closed: bool
    teams: int
    rows: list[ToldStanding]

    @classmethod
    def of(cls, board: str, told: Standings, most: int) -> ToldStandings:
        rows = [
            ToldStanding(
                row.rank,
                row.is_shared,
                row.team,
                row.submission.value,
                row.submission.low,
                row.submission.high,
                row.submission.practice,
                row.tries,
                row.is_step,
            )
            for row in told.rows[:most]
        ]
        return cls(board, told.higher_is_better, told.closed, len(told.rows), rows)


@dataclass(frozen=True)
class ToldAnswer:
    """An answer: ``low`` to ``high`` holds for the population, together with all other answers."""

    question: str
    value: float
    low: float
    high: float
    confidence: float
    source: str
    surprise: bool
    indexes: list[int]
    summary: str

    @classmethod
    def of(cls, told: Answer | DerivedAnswer) -> ToldAnswer:
        parts: Sequence[Answer] = told.parts if isinstance(told, DerivedAnswer) else (told,)
        surprise = any(part.source == "surprise" for part in parts)
        indexes = [part.index for part in parts]
        return cls(
            told.label, told.value, told.low, told.high, told.confidence, told.source, surprise, indexes, str(told)
        )


@dataclass(frozen=True)
class ToldQuote:
    """What a question would cost: ``width`` and ``cost`` if the rows agree with the guess, ``surprise_cost`` if not."""

    width: float
    widest: float | None
    cost: float
    surprise_cost: float | None
    currency: str
    repeat: bool
    summary: str

    @classmethod
    def of(cls, told: Quote | DerivedQuote) -> ToldQuote:
        if isinstance(told, DerivedQuote):
            return cls(told.width, None, told.cost, None, told.currency, False, str(told))
        return cls(told.width, told.widest, told.cost, told.surprise_cost, told.currency, told.repeat, str(told))


@dataclass(frozen=True)
class ToldMilestone:
    """What the check rows say of the gain since the last confirmed state: ``low`` to ``high`` is certified.

    ``is_confirmed``: at least ``low`` is real. ``goes_back``: by the best estimate nothing is, and the loop returns to
    proposal ``since``. Neither: it is not proven yet, and the loop goes on from where it is.
    """

    practice_gain: float
    low: float
    high: float
    is_confirmed: bool
    goes_back: bool
    since: int


@dataclass(frozen=True)
class ToldVerdict:
    """What the gate says: keep the change, or go back to proposal ``kept``."""

    keep: bool
    proposal: int
    kept: int
    practice: float | None
    before: float | None
    milestone: ToldMilestone | None
    summary: str

    @classmethod
    def of(cls, told: GateVerdict) -> ToldVerdict:
        found, milestone = told.milestone, None
        if found is not None:
            numbers = (found.practice_gain, found.low, found.high)
            milestone = ToldMilestone(*numbers, found.is_confirmed, found.goes_back, found.since)
        return cls(told.keep, told.proposal, told.kept, told.practice, told.before, milestone, show_line(told.line))


@dataclass(frozen=True)
class ToldClaim:
    """The last word on a lane: its gain over the first proposal and its score, certified. This is what to report."""

    proposal: int
    proposals: int
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    score: float
    score_low: float
    score_high: float
    confidence: float
    summary: str

    @classmethod
    def of(cls, told: GateClaim) -> ToldClaim:
        gained, score = (told.gain, told.gain_low, told.gain_high), (told.score, told.score_low, told.score_high)
        return cls(told.proposal, told.proposals, *gained, *score, told.confidence, show_line(told.line))


@dataclass(frozen=True)
class ToldBudget:
    """What was used of a board (by your team) or of a holdout (by everybody), and what is left."""

    kind: str
    name: str
    closed: bool
    asked: int
    surprises: int
    surprises_left: int | None
    spent: float | None
    currency: str | None
    next_width: float | None
    summary: str

    @classmethod
    def of_holdout(cls, name: str, meter: Meter, closed: bool) -> ToldBudget:
        told = (meter.asked, meter.surprises, None, meter.spent, meter.currency, meter.next_width)
        return cls("holdout", name, closed, *told, str(meter))

    @classmethod
    def of_board(cls, name: str, submissions: int, spent: TeamSpending, cap: int | None, closed: bool) -> ToldBudget:
        surprises = spent.surprises
        left = None if cap is None else max(cap - surprises, 0)
        words = f"{submissions} submissions, {surprises} surprises" + ("" if left is None else f", {left} left")
        after = " (then only practice scores)" if left is not None else ""
        ending = "; the board is closed" if closed else ""
        return cls("board", name, closed, submissions, surprises, left, None, None, None, words + after + ending)
