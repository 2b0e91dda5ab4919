"""An analyst who does all to overfit: all she learns goes into one last question."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds import privacy
from unworn.bounds.concentration import hoeffding_width
from unworn.bounds.extremes import largest_gaussian
from unworn.bounds.transfer import Price, best_scale, stability

BETA = 0.05


def attack(n: int, k: int, sd: float, rng: np.random.Generator) -> np.ndarray:
    """Released shares whose truth is 1/2: k products of random signs, and the vote of all of them (the last).

    The rows are fair coins in k columns, so every share of a fixed question is 1/2 in the population; the vote weighs
    each column by the log odds of its answer (Rogers et al. 2020) and is 1/2 there too.
    """
    signs = rng.integers(0, 2, (n, k), dtype=np.int8)
    answers = signs.mean(axis=0) + rng.normal(0, sd, k)
    tilt = np.clip(2 * answers - 1, -0.999, 0.999)
    weights = np.log((1 + tilt) / (1 - tilt)).astype(np.float32)
    votes = (2 * signs.astype(np.float32) - 1) @ weights
    return np.append(answers, (votes > 0).mean() + rng.normal(0, sd))


def missed(n: int, k: int, runs: int, seed: int) -> tuple[int, int, float]:
    """Runs with a miss by D2's intervals, by its width, and the mean of the last answers."""
    rng = np.random.default_rng(seed)
    rows, _ = best_scale("D2 Gaussian", n, k + 1, BETA)
    stable = stability(privacy.GDP((k + 1) ** 0.5 / rows), BETA)
    price = Price(rows / n * largest_gaussian(k + 1, BETA), stable.tilt, stable.floor)
    intervals = widths = 0
    last = []
    for _ in range(runs):
        released = attack(n, k, rows / n, rng)
        ends = np.array([price.limits(float(share)) for share in released])
        intervals += bool((ends[:, 0] > 0.5).any() or (ends[:, 1] < 0.5).any())
        widths += bool((np.abs(released - 0.5) > price.width).any())
        last.append(released[-1])
    return intervals, widths, float(np.mean(last))


@pytest.mark.parametrize("more", [0.3, 2.0])
@in_two_sizes(short=(2_000, 15, 9), full=(4_000, 60, 18))
def test_noise_and_d2_cover(more: float, size: tuple[int, int, int]) -> None:
    """``more`` asks than rows. At most BETA of runs may miss.

    False alarm: 9 or more misses of 15 have probability 7e-9 if the theorem is just true, 18 of 60 below 1e-9. The last
    answers, .5 on average, have a standard error of .16 / sqrt(15) at most, from their noise: .3 is seven of them.
    """
    n, runs, most = size
    intervals, widths, last = missed(n, int(more * n), runs, reseeded(7))
    assert max(intervals, widths) < most
    assert abs(last - 0.5) < 0.3


def test_exact_answers_do_not() -> None:
    # Without noise the vote is off by Phi(sqrt(k/n)) - 1/2 = .12, eleven standard errors beyond the width of so many
    # fixed questions: one of 5 runs stays below it with probability less than 1e-20.
    rng = np.random.default_rng(reseeded(6))
    for _ in range(5):
        assert attack(4000, 400, 0.0, rng)[-1] - 0.5 > hoeffding_width(4000, np.log(BETA / 401))
