"""The controls are what they say: their exact odds, by quadrature, and the audit's verdict on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab.audit import audit, controls
from unworn.lab.audit.controls.sparse_vector_parts import ABOVE, BELOW, compare, exactly

GRID = np.linspace(-100.0, 100.0, 100_001)
CONTROLS = controls.targets()
BROKEN = [name for name, control in CONTROLS.items() if control.broken]


def below(x: np.ndarray, scale: float) -> np.ndarray:
    """The probability that Laplace noise stays below x."""
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0) / scale), 1 - 0.5 * np.exp(-np.maximum(x, 0) / scale))


def chance(values: Sequence[float], pattern: Sequence[int], threshold: float, query: float) -> float:
    """Of a pattern of answers against one noisy threshold: an integral over the threshold's noise."""
    density = np.exp(-np.abs(GRID) / threshold) / (2 * threshold)
    for value, answer in zip(values, pattern, strict=True):
        under = below(GRID - value, query) if query else (value < GRID).astype(float)
        density = density * (1 - under if answer else under)
    return float(density.sum() * (GRID[1] - GRID[0]))


def late(m: int, threshold: float = 2.0, query: float = 4.0) -> float:
    pattern = [BELOW] * m + [ABOVE]
    first, second = ([0.0] * m + [1.0], [1.0] * m + [0.0])
    return math.log(chance(first, pattern, threshold, query) / chance(second, pattern, threshold, query))


def half(m: int, threshold: float, query: float) -> float:
    pattern = [BELOW] * m + [ABOVE] * m
    first, second = [0.0] * (2 * m), [1.0] * m + [-1.0] * m
    return math.log(chance(first, pattern, threshold, query) / chance(second, pattern, threshold, query))


def shown(m: int, top: float) -> float:
    """Variant 3: the log odds of "below" m times and then a value of at most ``top``.

    A value v comes from a threshold of at most v, at the density of its noise.
    """
    step = GRID[1] - GRID[0]

    def told(before: float, last: float) -> float:
        mass = np.exp(-np.abs(GRID) / 2) / 4 * below(GRID - before, 2.0) ** m
        density = np.exp(-np.abs(GRID - last) / 2) / 4
        return float((np.cumsum(mass) * step * density)[top >= GRID].sum() * step)

    return math.log(told(0.0, 1.0) / told(1.0, 0.0))


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ([late(m) for m in (1, 5, 10, 20)], [0.396, 0.900, 0.994, 1.000]),
        ([half(m, 4.0, 4 / 3) for m in (1, 2, 3, 5, 10)], [1.165, 2.487, 3.864, 6.691, 13.9]),
        ([half(m, 2.0, 2.0) for m in (1, 2, 3, 5, 10)], [0.820, 1.704, 2.617, 4.486, 9.28]),
        ([shown(m, 0.0) for m in (5, 10, 20)], [2.0, 4.5, 9.5]),
    ],
    ids=["1 and 2", "4", "6", "3"],
)
def test_exact_odds(measured: list[float], expected: list[float]) -> None:
    assert measured == pytest.approx(expected, rel=4e-3, abs=2e-3)


def test_variant_5_is_infinite() -> None:
    assert chance([0.0, 1.0], [BELOW, ABOVE], 2.0, 0.0) == pytest.approx(0.1967, abs=1e-4)
    assert chance([1.0, 0.0], [BELOW, ABOVE], 2.0, 0.0) == 0.0


TRUTH = {
    "lyu-1": late(10),
    "lyu-2": late(10),
    "lyu-3": shown(5, 0.0),
    "lyu-4": half(2, 4.0, 4 / 3),
    "lyu-6": half(3, 2.0, 2.0),
    "no-threshold-noise": 0.25 * 6,
}
CEILING = {**TRUTH, "lyu-1": 1.0, "lyu-2": 1.0, "lyu-3": 3.0}
"""No outcome of these inputs has greater odds: variants 1 and 2 are private, and a value that variant 3 shows has odds
of e^((m + 1)/2) at most, m / 2 for what came before it and 1/2 for itself."""


@pytest.mark.parametrize("name", CONTROLS)
@in_two_sizes(short=400_000, full=None)
def test_the_verdict(name: str, size: int | None) -> None:
    """As each control has it; with the trials of an audit by name the bound comes near to the truth.

    Of the private ones a false alarm has probability 1e-6 over all seeds. Power: at full size the bounds are .90 (with
    a standard deviation of .02 over seeds), .91 (.03), 2.2 (.09), 2.27 (.06), 7.1, 2.30 (.04) and 1.34 (.01), and seven
    tenths of the truth are asked for.
    """
    control = CONTROLS[name]
    report = audit(control, size, seed=reseeded(1))
    assert report.refuted is control.broken
    assert (report.lower_bound > 1) is control.broken
    assert report.confidence == 1 - 1e-6
    assert report.lower_bound <= CEILING.get(name, math.inf)
    if size is None:
        assert report.lower_bound >= (0.7 * TRUTH[name] if name in TRUTH else 5)  # infinite: the trials are the limit


@pytest.mark.parametrize("name", BROKEN)
@in_two_sizes(short=600_000, full=4_000_000)
def test_broken_ones_are_found_without_hints(name: str, size: int) -> None:
    """Power: with 200,000 trials the bounds were 1.52 (with a standard deviation of .16 over seeds), 1.94 (.05), 7.1,
    1.74 (.13) and 1.09 (.02) where 1 is claimed, and they rise with the trials.
    """
    control = CONTROLS[name]
    blind = replace(control, pairs=[replace(pair, hints=()) for pair in control.pairs])
    assert audit(blind, size, seed=reseeded(3)).refuted


@pytest.mark.parametrize("name", ["lyu-1", "lyu-2"])
@in_two_sizes(short=2, full=50)
def test_a_tight_private_one_is_never_refuted(name: str, size: int) -> None:
    """Each audit errs with probability 1e-6 at most, and in truth far less: its limits keep a distance to the odds."""
    seeds = range(reseeded(0), reseeded(0) + size)
    assert not any(audit(CONTROLS[name], trials=100_000, seed=seed).refuted for seed in seeds)


def test_the_simulation_has_the_exact_chances() -> None:
    """Half a million trials: six standard errors, false alarm below 1e-8."""
    values, trials = [0.0, 0.0, 0.0, 1.0], 500_000
    told = compare(values, trials, np.random.default_rng(reseeded(1)), threshold_scale=2.0, query_scale=4.0, cutoff=1)
    for pattern in ([0, 0, 0, 1], [0, 0, 1], [1], [0, 0, 0, 0]):
        exact = chance(values[: len(pattern)], pattern, 2.0, 4.0)
        seen = float(exactly(pattern).holds(told).mean())
        assert abs(seen - exact) < 6 * math.sqrt(exact * (1 - exact) / trials)
    assert np.isnan(told[told[:, 0] == -np.inf, 1:]).all()
    assert not np.isnan(told[:, 0]).any()


def test_a_fresh_threshold_after_each_value_above() -> None:
    """Two instances one after the other are independent: chances multiply. Six standard errors."""
    trials = 500_000
    told = compare(
        [0.0, 1.0] * 2,
        trials,
        np.random.default_rng(reseeded(2)),
        threshold_scale=4.0,
        query_scale=8.0,
        cutoff=2,
        refreshed=True,
    )
    exact = chance([0.0, 1.0], [0, 1], 4.0, 8.0) ** 2
    seen = float(exactly([0, 1, 0, 1]).holds(told).mean())
    assert abs(seen - exact) < 6 * math.sqrt(exact / trials)
