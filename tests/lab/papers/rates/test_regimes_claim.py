"""Noise, projection and MW-EM: each part of the verdict can fail, and a method that does not do its work turns it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import ClaimOutcome, TableRow
from unworn.lab.papers.rates.regimes_claim import (
    CELLS,
    FINER,
    MEASURED,
    MWEM,
    NEEDED,
    NOISE,
    NOISE_RMS,
    PROJECTION,
    RELEASES,
    Release,
    _onto_simplex,
    judge,
    project_answers,
    sweep,
    with_noise,
)


def unheard(done: int, total: int) -> None:
    assert 0 < done <= total


def short_run(releases: Mapping[str, Release] = RELEASES) -> ClaimOutcome:
    # Bounds are missed with 1e-6 a run; the errors compared differ by a factor of two and more, and their means over
    # hundreds of cells or queries by a few per cent from run to run.
    return sweep((10, 3_000), 1, reseeded(1), unheard, releases)


@pytest.fixture(scope="module")
def outcome() -> ClaimOutcome:
    return short_run()


def changed(outcome: ClaimOutcome, panel: str, what: str, power: float = 0.0, factor: float = 1.0) -> list[TableRow]:
    """The table with one line of it tilted or moved."""
    rows: list[TableRow] = []
    for row in outcome.rows:
        tilt = float((row["alpha"] if panel == FINER else row["questions"]) or 1)
        is_meant = (row["panel"], row["what"]) == (panel, what)
        rows.append({**row, "number": float(row["number"] or 0) * factor * tilt**power} if is_meant else row)
    return rows


def test_each_method_has_its_regime(outcome: ClaimOutcome) -> None:
    assert outcome.holds, outcome.measured
    assert judge(changed(outcome, NEEDED, NOISE)).holds


@pytest.mark.parametrize("what", [NOISE, NOISE_RMS, PROJECTION, MWEM])
@pytest.mark.parametrize(("panel", "power"), [(NEEDED, 0.25), (NEEDED, -0.25), (FINER, 0.5), (FINER, -0.5)])
def test_another_power_turns_the_verdict(outcome: ClaimOutcome, what: str, panel: str, power: float) -> None:
    assert not judge(changed(outcome, panel, what, power)).holds


@pytest.mark.parametrize(("what", "factor"), [(NOISE, 20.0), (NOISE, 0.2), (MWEM, 10.0), (PROJECTION, 10.0)])
def test_another_error_turns_the_verdict(outcome: ClaimOutcome, what: str, factor: float) -> None:
    assert not judge(changed(outcome, MEASURED, what, factor=factor)).holds


def uniform(queries: np.ndarray, histogram: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """MW-EM that never learns."""
    return np.asarray(queries @ np.full(CELLS, 1.0 / CELLS))


@pytest.mark.parametrize(
    "broken", [{MWEM: uniform}, {PROJECTION: with_noise}, {NOISE: uniform}], ids=["MW-EM", "P", "N"]
)
def test_a_broken_method_turns_the_verdict(broken: dict[str, Release]) -> None:
    assert not short_run({**RELEASES, **broken}).holds


def test_the_nearest_distribution_is_the_nearest() -> None:
    assert _onto_simplex(np.array([0.9, 0.5, -3.0])).tolist() == pytest.approx([0.7, 0.3, 0.0])
    rng = np.random.default_rng(reseeded(2))
    queries, histogram = rng.integers(0, 2, (2_000, CELLS)).astype(float), rng.dirichlet(np.ones(CELLS))
    drawn, again = np.random.default_rng(5), np.random.default_rng(5)
    noisy, found = with_noise(queries, histogram, drawn), project_answers(queries, histogram, again)
    # The projection onto a convex set is nearer to every point of the set than what was projected.
    assert ((found - queries @ histogram) ** 2).sum() < ((noisy - queries @ histogram) ** 2).sum()
