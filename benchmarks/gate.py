"""Loops that keep or revert: what they gain in truth, and what they claim, with and without the gate.

A loop makes 400 proposals, of which one in ten is good; 2 × 5,000 rows say which. Four loops try the same kind of
changes: *free* keeps whatever is better on the first half, *proven only* keeps what the other half certifies, *stopped*
reverts whatever surprises the other half, and the *gate* climbs on practice rows and checks claims. Four worlds: of the
other proposals none does anything, or each does a little harm, where gains add up; a world of right and wrong answers,
where a later change undoes the luck of earlier ones; and one where nothing is good.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from table import Row, as_json, options, show
from unworn import Holdout
from unworn.boards.gating.gate_climb import Climb
from unworn.boards.gating.gate_judge import HoldoutJudge
from unworn.ledger.seeded_keys import SeededStore
from unworn.queries import metric
from unworn.queries.metrics.paired_query import compare_questions

PROPOSALS, REACH = 400, 16.0


class State(NamedTuple):
    """Something a loop could ship: a value per row, and how good it is in truth."""

    rows: np.ndarray
    truth: float


@dataclass
class Losses:
    """Row losses that add up: a proposal moves one row in 26 by ± 1, and all of them by its effect."""

    seed: int
    good: float = 0.0046
    other: float = 0.0
    share: float = 0.1
    touched: float = 0.038
    rows: int = 10_000

    @cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def start(self) -> State:
        return State(np.full(self.rows, REACH / 2), 0.0)

    def effect(self) -> float:
        return self.good if self.rng.random() < self.share else self.other

    def proposal(self, state: State) -> State:
        effect, coins = self.effect(), self.rng.random(self.rows)
        moves = (coins < self.touched / 2).astype(float) - (coins > 1 - self.touched / 2)
        return State(np.clip(state.rows - effect - moves, 0.0, REACH), state.truth + effect)

    @property
    def labels(self) -> np.ndarray:
        return np.zeros(self.rows)

    def level(self, state: State) -> float:
        """The score of a state in truth."""
        return REACH / 2 - state.truth

    def question(self, state: State) -> Any:
        return metric("mae", state.rows, range=(0.0, REACH))

    def difference(self, after: State, before: State) -> Any:
        return compare_questions(self.question(before), self.question(after))


@dataclass
class Answers(Losses):
    """Right and wrong answers: a proposal answers one row in fifty anew, and is right there as often as it is good."""

    touched: float = 0.02

    @cached_property
    def _first(self) -> np.ndarray:
        return (self.rng.random(self.rows) < 0.4).astype(float)

    @property
    def start(self) -> State:
        return State(self._first, 0.4)

    def proposal(self, state: State) -> State:
        room = (1 - state.truth) / 0.6
        right = min(max(state.truth + room * self.effect() / self.touched, 0.0), 1.0)
        anew = self.rng.random(self.rows) < self.touched
        rows = np.where(anew, self.rng.random(self.rows) < right, state.rows)
        return State(rows, state.truth + self.touched * (right - state.truth))

    @property
    def labels(self) -> np.ndarray:
        return np.ones(self.rows)

    def level(self, state: State) -> float:
        return state.truth

    def question(self, state: State) -> Any:
        return metric("accuracy", state.rows)

    def difference(self, after: State, before: State) -> Any:
        return compare_questions(self.question(after), self.question(before))


WORLDS: dict[str, Callable[..., Losses]] = {
    "gains add up": Losses,
    "the others harm": partial(Losses, other=-0.0015),
    "right and wrong answers": Answers,
    "nothing is good": partial(Losses, share=0.0),
}


@dataclass(frozen=True)
class Outcome:
    """How a loop ended: the true gain, what it claims, and what that cost; ``holds`` if no claim on the way was off."""

    truth: float
    claim: float
    certified: float
    nats: float
    surprises: int
    went_back: int
    holds: bool


def run_loop(world: Losses, way: str, pools: int = 1) -> Outcome:
    """One loop of 400 proposals in a world."""
    keys = SeededStore(np.random.default_rng([world.seed, 1]))
    holdout = Holdout(None, world.labels, practice=0.5, ledger=keys)
    judge = HoldoutJudge(holdout, world.question, world.difference, pools=pools)
    if way == "free":
        return _free(world, judge)
    if way == "stopped":
        return _stopped(world, holdout, judge)
    climb, start, holds = Climb(judge, is_proving=way == "proven only"), world.start, True
    climb.propose(start)
    for _ in range(PROPOSALS):
        proposal = world.proposal(climb.predictions[climb.position.kept])
        before = dict(climb.predictions)
        since = before[climb.position.kept if climb.is_proving else climb.position.confirmed]
        told = climb.propose(proposal).milestone
        if told is not None:
            at = proposal if climb.is_proving or told.at_proposal == climb.position.kept else None
            state = at or (proposal if climb.steps[-1].is_kept else before[max(before)])
            holds &= told.low - 1e-9 <= state.truth - since.truth <= told.high + 1e-9
    kept = climb.predictions[climb.position.kept]
    truth, claim = kept.truth - start.truth, judge.gain(kept, start, 0)[0]
    certified = climb.position.certified
    if way == "gate" and kept is not climb.predictions[1]:
        final = holdout.final(world.difference(kept, start))
        holds &= final.low <= truth <= final.high
        certified = final.low
    back = sum(each.goes_back for each in climb.milestones)
    surprises = sum(each.is_surprise for each in climb.milestones)
    return Outcome(truth, claim, certified, holdout.meter.spent, surprises, back, bool(holds))


def _free(world: Losses, judge: HoldoutJudge) -> Outcome:
    """Whatever scores better on the practice rows is kept, by however little."""
    kept = start = world.start
    for _ in range(PROPOSALS):
        proposal = world.proposal(kept)
        if judge.gain(proposal, kept, 0)[0] > 0:
            kept = proposal
    truth, claim = kept.truth - start.truth, judge.gain(kept, start, 0)[0]
    return Outcome(truth, claim, 0.0, 0.0, 0, 0, abs(truth - claim) < 0.02)


def _stopped(world: Losses, holdout: Holdout, judge: HoldoutJudge) -> Outcome:
    """Every state that looks better is scored on the check rows, and reverted if its practice score is a surprise."""
    kept = start = world.start
    surprises, holds = 0, True
    for _ in range(PROPOSALS):
        proposal = world.proposal(kept)
        if judge.gain(proposal, kept, 0)[0] > 0:
            answer = holdout.ask(world.question(proposal))
            surprises += answer.source == "surprise"
            holds &= answer.low - 1e-9 <= world.level(proposal) <= answer.high + 1e-9
            kept = kept if answer.source == "surprise" else proposal
    claim = judge.gain(kept, start, 0)[0]
    return Outcome(kept.truth - start.truth, claim, 0.0, holdout.meter.spent, surprises, surprises, bool(holds))


def _mean(outcomes: list[Outcome], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in outcomes]))


def measure(quick: bool) -> Iterator[Row]:
    """What each world shows, first what is judged."""
    repeats, few = (2, 1) if quick else (30, 2)
    for name, make in WORLDS.items():
        free = [run_loop(make(seed), "free") for seed in range(repeats)]
        gate = [run_loop(make(seed), "gate") for seed in range(repeats)]
        if name != "nothing is good":
            ours, against = _mean(free, "truth"), _mean(gate, "truth")
            judged = name in ("gains add up", "right and wrong answers")
            yield _row(f"{name}: true gain of free climbing, per that behind the gate", ours, against, 1 / 0.9, judged)
        off = 1 - _mean(gate, "holds")
        yield _row(f"{name}: share of runs behind the gate with a claim that is off", off, 0.05, 1.0, not quick)
        if name == "gains add up":
            gap = _mean(free, "claim") - _mean(free, "truth")
            yield _row(f"{name}: true gain of free climbing, per what it claims beyond", _mean(free, "truth"), gap, 1.0)
        yield Row(f"{name}: what free climbing claims", _mean(free, "claim"), None, None, None, None)
        yield Row(f"{name}: certified gain at the end", _mean(gate, "certified"), None, None, None, None)
        yield Row(f"{name}: nats of the gate", _mean(gate, "nats"), None, None, None, None)
        yield Row(f"{name}: surprises of the gate", _mean(gate, "surprises"), None, None, None, None)
        yield Row(f"{name}: times the gate went back", _mean(gate, "went_back"), None, None, None, None)
        whole = [run_loop(make(seed, rows=20_000), "free") for seed in range(max(few, repeats // 3))]
        yield Row(f"{name}: true gain of free climbing on all the rows", _mean(whole, "truth"), None, None, None, None)
        for way in ("proven only", "stopped"):
            others = [run_loop(make(seed), way) for seed in range(few)]
            yield Row(f"{name}: true gain, {way}", _mean(others, "truth"), None, None, None, None)
            yield Row(f"{name}: surprises, {way}", _mean(others, "surprises"), None, None, None, None)


def _row(what: str, ours: float, against: float, goal: float, judged: bool = True) -> Row:
    ratio = ours / against if against else float("inf")
    return Row(what, ours, against, ratio, goal if judged else None, ratio <= goal if judged else None)


def main() -> None:
    chosen = options(__doc__ or "")
    rows = list(measure(chosen.quick))
    if chosen.json:
        print(as_json(rows))
        return
    show("The gate: 400 proposals, 2 × 5,000 rows", rows, 3)


if __name__ == "__main__":
    main()
