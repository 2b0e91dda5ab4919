"""Theorem F against the strongest attack on noisy means that we know: how much of what is allowed is reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from unworn import charts
from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst
from unworn.lab.analysts.posterior_sign import PosteriorSign
from unworn.lab.analysts.select_then_vote import SelectThenVote
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.worlds import Rule, SignScene, SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import BoundedNoise, Naive

ALLOWED, ATTACK, VOTE = "allowed: Theorem F", "attack by the posterior", "plain vote"
PLAIN = "the same vote, exact answers"
BETA = 0.05


def reach_bias(analyst: Analyst, rows: int, asks: int, rng: np.random.Generator, *, noise: bool = True) -> float:
    """How far the last question's value on the rows is from its value in the population, which is one half.

    >>> reach_bias(SelectThenVote(batch=True), 200, 100, np.random.default_rng(1), noise=False) > 0.1
    True
    """
    mechanism = BoundedNoise.for_(rows=rows, asks=asks, confidence=1 - BETA) if noise else Naive()
    scene = SignWorld().draw(rows, asks, rng)
    holdout = Holdout(None, scene.labels, mechanism=mechanism, asks=asks, ledger=SeededStore(rng))
    witnessed = WitnessedScene(scene.data, scene.labels, scene.features)
    for _ in analyst.play(holdout, witnessed, asks, rng):
        pass
    return witnessed.biases[-1]


@dataclass(frozen=True)
class WitnessedScene(SignScene):
    """A scene that notes how often each vote is right on its rows beyond one half, which no holdout tells."""

    biases: list[float] = field(default_factory=list)

    def vote(self, weights: ArrayLike) -> Rule:
        given = np.asarray(weights, dtype=np.float64)
        says = np.where(self.features[:, : len(given)] @ given >= 0, 1, -1)
        self.biases.append(float(np.mean(says == self.labels)) - 0.5)
        return super().vote(weights)


def allowed_bias(rows: int, asks: int) -> float:
    """What Theorem F leaves open beside the noise itself: √(B/2), B in nats a row.

    >>> round(allowed_bias(2_000, 1_000), 3)
    0.14
    """
    noisy = BoundedNoise.for_(rows=rows, asks=asks, confidence=1 - BETA)
    return math.sqrt(noisy.noisy_plan(rows, asks, BETA).nats / (2 * rows))


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    rows, counts, plays = (2_000, (50, 200, 1_000), 4) if effort == "quick" else (4_000, (50, 200, 1_000, 2_500), 20)
    analysts: dict[str, tuple[Analyst, bool]] = {
        ATTACK: (PosteriorSign(batch=True), True),
        VOTE: (SelectThenVote(batch=True), True),
        PLAIN: (SelectThenVote(batch=True), False),
    }
    table: list[TableRow] = [_row(ALLOWED, rows, asks, plays, allowed_bias(rows, asks), None, None) for asks in counts]
    done, total = 0, len(analysts) * len(counts) * plays
    for what, (analyst, noise) in analysts.items():
        for asks in counts:
            found = []
            for play in range(plays):
                found.append(reach_bias(analyst, rows, asks, np.random.default_rng([seed, asks, play]), noise=noise))
                done += 1
                progress(done, total)
            table.append(_row(what, rows, asks, plays, float(np.mean(found)), min(found), max(found)))
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    allowed = {row["asks"]: float(row["bias"] or 0) for row in table if row["what"] == ALLOWED}
    within = all(float(row["high"] or 0) <= allowed[row["asks"]] for row in table if row["what"] in (ATTACK, VOTE))
    most = max(int(asks or 0) for asks in allowed)
    reached = {row["what"]: float(row["bias"] or 0) for row in table if row["asks"] == most}
    share = reached[ATTACK] / allowed[most]
    return ClaimOutcome(
        within and 0.4 < share < 1 and reached[PLAIN] > allowed[most],
        f"On {int(table[0]['rows'] or 0):,} rows, after {most:,} answers, the attack reaches a bias of "
        f"{reached[ATTACK]:.3f}, {share:.0%} of the {allowed[most]:.3f} that the theorem allows; on exact answers the "
        f"plain vote has {reached[PLAIN]:.3f}.",
        tuple(table),
    )


def _row(what: str, rows: int, asks: int, plays: int, bias: float, low: float | None, high: float | None) -> TableRow:
    return {"what": what, "rows": rows, "asks": asks, "plays": plays, "bias": bias, "low": low, "high": high}


CLAIM = PaperClaim(
    name="theorem-f",
    title="What Theorem F allows, and what an attack reaches",
    statement="No analyst can make the last of k noisy means differ from the population by more than √(B/2) beyond its "
    "noise, and the theorem loses little: an attack reaches more than two fifths of that.",
    citation="Theorem F, proved in docs/theory/noisy-means.md; no published source is known to us. That k ≈ n² is "
    "where it ends: Steinke and Ullman, COLT 2015.",
    lectures=("000 Lower bound", "001 Known results"),
    expected="In no play is the bias beyond √(B/2) (each of them would be with probability 0.05 at most); at the most "
    "questions the attack's mean is between 0.4 and 1 of it, and exact answers go beyond.",
    measure=measure,
    draw=partial(
        charts.measured_lines,
        x="asks",
        y="bias",
        x_title="k: questions",
        y_title="bias of the last question",
        dashed=(ALLOWED,),
        low="low",
        high="high",
    ),
)
