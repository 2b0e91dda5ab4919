"""How a lane climbs: steps by practice rows, claims by check rows.

A step is kept if the practice rows say that it is better, by more than half of a standard error; that costs nothing,
and may be luck. So at milestones, spaced exponentially, the check rows are asked how much of the gain since the last
confirmed state is real, with a guess from which luck is taken off (:mod:`~unworn.boards.gating.gate_luck`). If a gain
is certain, the state is confirmed. If the best estimate is that there is none, the lane goes back to the confirmed
state, and on to fresh practice rows where there are some. In between it climbs on. Why these rules:
docs/decisions/0054.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from unworn.boards.gate_values import GateVerdict, Milestone
from unworn.boards.gating.gate_judge import CheckedGain, GateJudge
from unworn.boards.gating.gate_luck import ProposalStep, estimate_gain

FIRST_MILESTONE, GROWTH = 25, 2
"""The proposal of the first milestone, and by how much each later one is further."""
KEEP_MARGIN = 0.5
"""Standard errors by which a step must be better to be kept. Where most proposals do harm, as in practice they do, this
much leaves out most of it, and hardly anything good: docs/decisions/0054 has the numbers."""
_MOST_LEARNED = 3.0


@dataclass(frozen=True)
class LanePosition:
    """Where a lane stands: numbers of proposals, and what was certified. Proposal 1 is where it starts.

    ``branch`` is the proposal after which the way from the confirmed to the kept state began, ``due`` that of the next
    milestone, and ``candidate`` one that must prove itself before it is kept.
    """

    proposals: int = 0
    kept: int = 0
    confirmed: int = 0
    pool: int = 0
    pools: int = 1
    branch: int = 1
    due: int = FIRST_MILESTONE
    certified: float = 0.0
    is_pending: bool = False
    candidate: int = 0


@dataclass(frozen=True)
class WeighedProposal:
    """What practice rows say of a proposal."""

    practice: float | None
    before: float | None = None
    gain: float = 0.0
    error: float = 0.0
    why: str | None = None

    @property
    def is_better(self) -> bool:
        return self.practice is not None and self.gain > KEEP_MARGIN * self.error

    @property
    def reason(self) -> str | None:
        """Why it is not kept, in a sentence, where the numbers do not show it."""
        if self.why is None and 0.0 < self.gain <= KEEP_MARGIN * self.error:
            return f"better by less than half of its standard error of {self.error:.4f}, which is no sign of merit"
        return self.why


@dataclass
class Climb:
    """A lane in memory: its position, its steps since the start, and the predictions it still needs, by number.

    Of a long one only the latest steps are here, after so many that were ``skipped``.
    """

    judge: GateJudge
    is_proving: bool = False
    position: LanePosition = field(default_factory=LanePosition)
    steps: list[ProposalStep] = field(default_factory=list)
    milestones: list[Milestone] = field(default_factory=list)
    predictions: dict[int, Any] = field(default_factory=dict)
    skipped: int = 0

    def propose(self, predictions: Any, message: str | None = None, *, check: bool = False) -> GateVerdict:
        """All at once, where nothing is written down: weigh, enter, settle."""
        weighed = self.weigh(predictions)
        self.enter(weighed, predictions, check=check)
        return self.verdict(weighed, message, self.settle())

    def weigh(self, predictions: Any) -> WeighedProposal:
        """What the practice rows say; nothing is changed."""
        now, pool = self.position, self.position.pool
        practice = self.judge.score(predictions, pool)
        if not now.proposals:
            return WeighedProposal(practice)
        kept = self.predictions[now.kept]
        gain, error = self.judge.gain(predictions, kept, pool)
        return WeighedProposal(practice, self.judge.score(kept, pool), gain, error)

    def enter(self, weighed: WeighedProposal, predictions: Any, *, check: bool = False) -> None:
        """Take a step, or do not; whether a milestone follows is decided here, and it is settled afterwards."""
        now = replace(self.position, proposals=self.position.proposals + 1)
        number = now.proposals
        if number == 1:
            self.predictions[1] = predictions
            now = replace(now, kept=1, confirmed=1)
        else:
            self.steps.append(ProposalStep(weighed.gain, weighed.error, weighed.is_better))
            if weighed.is_better:
                self.predictions[number] = predictions
                now = replace(now, candidate=number) if self.is_proving else replace(now, kept=number)
        is_due = number >= now.due
        if is_due:
            now = replace(now, due=max(GROWTH * now.due, number + 1))
        asked = now.candidate > 0 if self.is_proving else (is_due or check) and now.kept != now.confirmed
        self.position = replace(now, is_pending=asked)
        self._forget()

    @property
    def challenge(self) -> tuple[int, int]:
        """Which state a pending milestone is about, and which it is measured from."""
        now = self.position
        return (now.candidate or now.kept), (now.kept if now.candidate else now.confirmed)

    @property
    def challengers(self) -> tuple[Any, Any]:
        """The predictions of both."""
        after, before = self.challenge
        return self.predictions[after], self.predictions[before]

    def settle(self) -> Milestone | None:
        """Ask the check rows, if a milestone is pending, and act on what they say."""
        if not self.position.is_pending:
            return None
        after, before = self.challengers
        gain, error = self.judge.gain(after, before, self.position.pool)
        guess = self._guess(gain, error)
        return self.reach(gain, guess, self.judge.check(after, before, guess, self.position.proposals))

    def _guess(self, gain: float, error: float) -> float:
        """The practice gain less its luck, and by as much smaller or larger as earlier milestones taught."""
        way = self.steps[-1:] if self.is_proving else self.steps[max(self.position.branch - 1 - self.skipped, 0) :]
        expected = estimate_gain(self.steps, way, gain, error)
        return expected * _learned_factor(self.milestones, error) if expected > 0.0 else expected

    @property
    def expected_gain(self) -> float:
        """What is to be expected of the whole gain since the start: what was checked, and the rest less its luck."""
        now = self.position
        checked = sum(each.value for each in self.milestones if each.is_confirmed)
        if now.kept == now.confirmed:
            return checked
        return checked + self._guess(
            *self.judge.gain(self.predictions[now.kept], self.predictions[now.confirmed], now.pool)
        )

    def reach(self, gain: float, guess: float, checked: CheckedGain) -> Milestone:
        """A milestone, and where the lane stands after it."""
        now, (after, before) = self.position, self.challenge
        is_confirmed = checked.low > 0.0
        goes_back = not is_confirmed and not self.is_proving and checked.value <= 0.0
        certified = now.certified + (checked.low if is_confirmed else 0.0)
        milestone = Milestone(
            gain,
            checked.low,
            checked.high,
            is_confirmed,
            checked.index,
            now.proposals,
            before,
            checked.value,
            guess,
            checked.is_surprise,
            goes_back,
            certified,
        )
        if is_confirmed:
            now = replace(now, kept=after, confirmed=after, branch=now.proposals, certified=certified)
        elif goes_back:
            pool = min(now.pool + 1, self.judge.pools - 1)
            now = replace(now, kept=now.confirmed, branch=now.proposals, pool=pool)
        self.milestones.append(milestone)
        self.position = replace(now, is_pending=False, candidate=0)
        self._forget()
        return milestone

    def skip(self) -> None:
        """Leave a pending milestone out, where the check rows may not be asked: nothing is confirmed."""
        self.position = replace(self.position, is_pending=False, candidate=0)
        self._forget()

    def reason_of_no_check(self, check: bool) -> str | None:
        """Why a check that was asked for is not made, in a sentence."""
        now = self.position
        if not check or now.is_pending or self.is_proving or now.kept != now.confirmed:
            return None
        return f"nothing to check: the loop is at proposal {now.confirmed}, which gains are measured from"

    def verdict(
        self, weighed: WeighedProposal, message: str | None, milestone: Milestone | None, note: str | None = None
    ) -> GateVerdict:
        """What the loop is told."""
        now = self.position
        return GateVerdict(
            now.kept == now.proposals,
            now.proposals,
            weighed.practice,
            weighed.before,
            message,
            milestone,
            now.kept,
            now.pool + 1,
            note or weighed.reason,
        )

    def _forget(self) -> None:
        now = self.position
        needed = {1, now.kept, now.confirmed, now.candidate}
        self.predictions = {number: each for number, each in self.predictions.items() if number in needed}


def _learned_factor(milestones: list[Milestone], error: float) -> float:
    """How much of what was expected earlier milestones found, where they told something new: surprises, that is.

    A loop that works with what it was told (votes of its best tries, say) is luckier than its steps show. One standard
    error found as expected stands for what is known before the first surprise.
    """
    told = [each for each in milestones if each.is_surprise]
    expected = sum(max(each.guess, 0.0) for each in told)
    found = sum(max(each.value, 0.0) for each in told)
    return min((found + error) / (expected + error), _MOST_LEARNED) if error > 0.0 else 1.0
