"""Standings: who is ahead, as far as intervals can tell. A function of what was released.

A team is certainly better than another if the whole interval of its best submission lies beyond the other's. All
intervals of a board hold together, so all such verdicts do. Teams that cannot be told apart share a rank.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unworn.basics.display import show_fields, show_html, show_number
from unworn.boards.submission import NOT_BETTER, Submission
from unworn.queries.table_output import to_frame

STEP_SOURCES = frozenset({"better", "heuristically better"})
"""The words of a mechanism that compared a submission with the best so far, row by row, and found it better."""
PROVED = "better"
"""The one of them that is promised: that rows reject the contrary, at the level of the whole board."""


@dataclass(frozen=True, repr=False)
class Standing:
    """One team: its rank (none where nothing of it was certified), its best submission and how often it tried.

    ``is_step`` marks a certified step: when it came, it was certainly better than the board's best until then.
    """

    rank: int | None
    is_shared: bool
    team: str
    submission: Submission
    tries: int
    is_step: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "rank": self.rank,
            "is_shared": self.is_shared,
            "team": self.team,
            "submission": self.submission.to_json(),
            "tries": self.tries,
            "is_step": self.is_step,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Standing:
        told = dict(data)
        rank, tries, team = told.get("rank"), told.get("tries"), told.get("team")
        if not (rank is None or type(rank) is int) or type(tries) is not int or not isinstance(team, str):
            raise ValueError("this is not one of a board's standings")
        submission = Submission.from_json(told["submission"])
        return cls(rank, told.get("is_shared") is True, team, submission, tries, told.get("is_step") is True)

    @property
    def place(self) -> str:
        """The rank as it is shown: ``=2`` where it is shared, a dash where there is none."""
        return "–" if self.rank is None else f"{'=' if self.is_shared else ''}{self.rank}"

    __repr__ = show_fields


@dataclass(frozen=True, repr=False)
class Standings:
    """All teams, the best first; those of which nothing is certified come last, by what the practice rows say."""

    rows: tuple[Standing, ...]
    higher_is_better: bool
    rule: str
    closed: bool

    @classmethod
    def of(
        cls, submissions: Iterable[Submission], *, higher_is_better: bool = True, rule: str, closed: bool = False
    ) -> Standings:
        """Standings from all submissions of a board, in whatever order they are given."""
        ordered = sorted(submissions, key=lambda each: each.number)
        steps = certified_steps(sorted(ordered, key=lambda each: each.answered), higher_is_better)
        own: dict[str, list[Submission]] = {}
        for each in ordered:
            own.setdefault(each.team, []).append(each)
        sign = 1.0 if higher_is_better else -1.0
        best = {team: _best(tries, steps, sign) for team, tries in own.items()}
        ranks = _ranks(best, steps, sign)
        shared = Counter(ranks.values())
        rows = [
            Standing(
                ranks.get(team),
                team in ranks and shared[ranks[team]] > 1,
                team,
                replace(submission, message=None),  # which is its team's own
                len(own[team]),
                submission.id in steps,
            )
            for team, submission in best.items()
        ]
        rows.sort(key=lambda row: _order(row, sign))
        return cls(tuple(rows), higher_is_better, rule, closed)

    def __len__(self) -> int:
        return len(self.rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "closed": self.closed,
            "higher_is_better": self.higher_is_better,
            "rows": [row.to_json() for row in self.rows],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Standings:
        """Read standings back, however they came here; ``ValueError`` where they are none."""
        try:
            rows = tuple(Standing.from_json(row) for row in data["rows"])
            return cls(rows, data["higher_is_better"] is True, str(data["rule"]), data["closed"] is True)
        except (KeyError, TypeError, AttributeError) as why:
            raise ValueError("these are not a board's standings") from why

    def table(self) -> dict[str, list[Any]]:
        """The columns that a page or a terminal shows."""
        return {
            "rank": [row.place for row in self.rows],
            "team": [row.team for row in self.rows],
            "name": [row.submission.name for row in self.rows],
            "value": [row.submission.value for row in self.rows],
            "low": [row.submission.low for row in self.rows],
            "high": [row.submission.high for row in self.rows],
            "practice": [row.submission.practice for row in self.rows],
            "status": [_status(row) for row in self.rows],
            "step": [row.is_step for row in self.rows],
            "tries": [row.tries for row in self.rows],
        }

    def frame(self) -> Any:
        """The same as a frame."""
        return to_frame(self.table())

    __repr__ = show_fields

    def _repr_html_(self) -> str:
        heads = ("rank", "team", "score", "certified interval", "practice", "status", "tries")
        lines = []
        for row in self.rows:
            one = row.submission
            interval = (
                "" if one.low is None or one.high is None else f"[{show_number(one.low)}, {show_number(one.high)}]"
            )
            cells = (
                row.place,
                row.team,
                "" if one.value is None else show_number(one.value),
                interval,
                "" if one.practice is None else show_number(one.practice),
                _status(row),
                row.tries,
            )
            lines.append(f"<tr>{''.join(f'<td>{show_html(cell)}</td>' for cell in cells)}</tr>")
        head = "".join(f"<th>{name}</th>" for name in heads)
        return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def certified_steps(ordered: Sequence[Submission], higher_is_better: bool = True) -> frozenset[str]:
    """The submissions, in the order in which they were answered, that were certainly better than the best until then.

    Where the mechanism compares with the best, it says so; else the whole interval lies beyond that of the leader.
    """
    sign = 1.0 if higher_is_better else -1.0
    steps: set[str] = set()
    leader: Submission | None = None
    for each in ordered:
        if each.source == PROVED:
            steps.add(each.id)
        if not each.is_checked or each.value is None:
            continue
        if leader is not None and _least(each, sign) > _most(leader, sign):
            steps.add(each.id)
        if leader is None or sign * each.value > sign * (leader.value or 0.0):
            leader = each
    return frozenset(steps)


def _best(tries: Sequence[Submission], steps: frozenset[str], sign: float) -> Submission:
    """What counts for a team: its best certified value, else its latest step, else its best practice score."""
    certified = [each for each in tries if each.is_checked and each.value is not None]
    if certified:
        return max(certified, key=lambda each: (sign * (each.value or 0.0), -each.number))
    announced = [each for each in tries if each.id in steps]
    if announced:
        return max(announced, key=lambda each: each.answered)
    return max(tries, key=lambda each: (each.practice is not None, sign * (each.practice or 0.0), -each.number))


def _ranks(best: Mapping[str, Submission], steps: frozenset[str], sign: float) -> dict[str, int]:
    """One more than the number of teams that are certainly better, of each team of which something is certified."""
    placed = {team: one for team, one in best.items() if one.is_checked and one.value is not None}
    if placed:
        least = sorted(_least(one, sign) for one in placed.values())
        return {team: 1 + len(least) - bisect_right(least, _most(one, sign)) for team, one in placed.items()}
    # Steps of comparisons alone: each was certainly better than the one before.
    chain = sorted((one.answered for one in best.values() if one.id in steps), reverse=True)
    return {team: 1 + chain.index(one.answered) for team, one in best.items() if one.id in steps}


def _least(one: Submission, sign: float) -> float:
    """The worse end of its interval, turned so that more is better."""
    return (one.low if sign > 0 else -one.high) if one.low is not None and one.high is not None else float("-inf")


def _most(one: Submission, sign: float) -> float:
    return (one.high if sign > 0 else -one.low) if one.low is not None and one.high is not None else float("inf")


def _order(row: Standing, sign: float) -> tuple[bool, int, float, int]:
    score = row.submission.score
    worth = float("inf") if score is None else -sign * score
    return row.rank is None, row.rank or 0, worth, row.submission.number


def _status(row: Standing) -> str:
    if row.is_step:
        return "certified step"
    if row.submission.source == NOT_BETTER:
        return NOT_BETTER
    if row.submission.surprise:
        return "surprise"
    return row.submission.status
