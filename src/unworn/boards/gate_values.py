"""What the gate says, as values: a verdict on each proposal, milestones on the way, and a claim at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unworn.basics.display import show_line
from unworn.basics.typed_fields import is_whole, read_fields


@dataclass(frozen=True)
class Milestone:
    """What the check rows say of the gain since the last confirmed state: ``low`` to ``high`` is certified.

    ``practice_gain`` is the same gain on practice rows, and ``guess`` what was to be expected of it. ``is_confirmed``:
    at least ``low`` > 0 is real, and the state is the one that later gains are measured from. ``goes_back``: the best
    estimate says that nothing of it is real, and the loop is sent back to proposal ``since``. ``certified`` is what is
    certified since the start, all milestones together.
    """

    practice_gain: float
    low: float
    high: float
    is_confirmed: bool
    index: int | None
    at_proposal: int
    since: int = 0
    value: float = 0.0
    guess: float = 0.0
    is_surprise: bool = False
    goes_back: bool = False
    certified: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Milestone:
        """Read one back; ``ValueError`` where it is none."""
        return read_fields(cls, data)

    @property
    def line(self) -> str:
        """What is real, in words."""
        gained = f"practice {show_gain(self.practice_gain)} since proposal {self.since}"
        if self.is_confirmed:
            return f"{gained}; at least {show_gain(self.low)} is real"
        if self.goes_back:
            most = f"at most {show_gain(self.high)}, that is certain"
            return f"{gained}, and by the best estimate nothing real in it ({most}): back to proposal {self.since}"
        return f"{gained}; not proven yet: between {show_gain(self.low)} and {show_gain(self.high)} is real"


@dataclass(frozen=True)
class GateVerdict:
    """Keep or revert: the verdict on one proposal.

    ``practice`` is its score on the practice rows, and ``before`` that of the state it would replace. ``kept`` is the
    number of the proposal where the loop should be now: its own where it is kept, an earlier one where it is not. A
    milestone may send the loop further back. ``note`` says what else happened, in a sentence.
    """

    keep: bool
    proposal: int
    practice: float | None
    before: float | None
    message: str | None
    milestone: Milestone | None
    kept: int = 0
    pool: int = 1
    note: str | None = None

    @property
    def exit_code(self) -> int:
        """What the command line ends with: 0 to keep, 10 to revert."""
        return 0 if self.keep else 10

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "line": self.line}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateVerdict:
        """Read one back, however it came here; ``ValueError`` where it is none."""
        told = {name: value for name, value in data.items() if name != "line"}
        found = told.get("milestone")
        return read_fields(cls, {**told, "milestone": None if found is None else Milestone.from_json(found)})

    @property
    def line(self) -> str:
        """What the command prints."""
        word = "keep" if self.keep else f"revert to proposal {self.kept}"
        parts = [f"{word}: practice {'has no score' if self.practice is None else f'{self.practice:.4f}'}"]
        if self.before is not None and self.practice is not None:
            parts[0] += f", {show_gain(self.practice - self.before)}"
        parts += [] if self.milestone is None else [self.milestone.line]
        parts += [] if self.note is None else [self.note]
        named = "" if self.message is None else f" {self.message}"
        return show_line(f"{' · '.join(parts)} (proposal {self.proposal}{named})")


@dataclass(frozen=True)
class GateState:
    """Where a lane stands. ``certified`` is how much of the gain since the start is certainly real."""

    team: str
    lane: str
    proposals: int
    kept: int
    confirmed: int
    practice: float | None
    practice_gain: float | None
    certified: float
    next_milestone: int
    pool: int
    pools: int
    is_finished: bool
    is_proving: bool
    milestones: tuple[Milestone, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "milestones": [each.to_json() for each in self.milestones]}

    @property
    def line(self) -> str:
        """Where the lane stands, in words."""
        if not self.proposals or self.practice is None:
            return show_line(f"lane {self.lane}: nothing was proposed yet")
        parts = [f"lane {self.lane}: {self.proposals} proposed, proposal {self.kept} is kept"]
        if self.practice_gain is not None:
            parts[0] += f" (practice {self.practice:.4f}, {show_gain(self.practice_gain)} since proposal 1)"
        parts.append(f"confirmed: proposal {self.confirmed}, at least {show_gain(self.certified)} in all")
        parts.append("ended" if self.is_finished else f"next milestone: proposal {self.next_milestone}")
        return show_line(" · ".join(parts))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateState:
        """Read one back; ``ValueError`` where it is none."""
        return read_fields(cls, {**data, "milestones": tuple(map(Milestone.from_json, data.get("milestones", ())))})


@dataclass(frozen=True)
class GateClaim:
    """The last word on a lane: the gain of the kept state over the first, and its score, exact and certified."""

    team: str
    lane: str
    proposal: int
    proposals: int
    practice_gain: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    score: float
    score_low: float
    score_high: float
    confidence: float
    indexes: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "indexes": list(self.indexes), "line": self.line}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateClaim:
        """Read one back; ``ValueError`` where it is none."""
        made = read_fields(cls, {name: value for name, value in data.items() if name != "line"})
        if not all(is_whole(index, 1) for index in made.indexes):
            raise ValueError("the entries of a claim are numbered from 1")
        return made

    @property
    def line(self) -> str:
        """What is claimed, in words."""
        score = f"final score {self.score:.4f} in [{self.score_low:.4f}, {self.score_high:.4f}]"
        if self.gain is None or self.gain_low is None or self.gain_high is None or self.practice_gain is None:
            return f"{score}; nothing was gained since the start (proposal {self.proposal} of {self.proposals})"
        gain = f"{show_gain(self.gain)} in [{show_gain(self.gain_low)}, {show_gain(self.gain_high)}]"
        return (
            f"final gain {gain}, where practice says {show_gain(self.practice_gain)}; {score} "
            f"(proposal {self.proposal} of {self.proposals}; {100 * self.confidence:g} % together)"
        )


def show_gain(value: float) -> str:
    """A gain with its sign.

    >>> show_gain(0.11), show_gain(-0.00046)
    ('+ .1100', '− .0005')
    """
    digits = f"{abs(value):.4f}"
    return f"{'−' if value < 0 else '+'} {digits.removeprefix('0') if abs(value) < 1 else digits}"
