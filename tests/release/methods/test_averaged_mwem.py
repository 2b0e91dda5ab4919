"""AveragedMWEM, the version with a clean theorem: below its bound at every size, falling as the theorem says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.release.tables import InMemory
from tests.release.worlds import latent
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method
from unworn.release.methods.mwem import MWEM
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Marginals

SMALL = Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1, 2], "d": [0, 1]})


def largest_error(method: Method, rows: int, seed: int) -> tuple[float, float]:
    """The largest error over the workload, and its bound."""
    asked = Problem(rows, SMALL, Marginals(2), 1.0, 1e-6)
    tables = InMemory(latent(SMALL.shape, rows, seed), SMALL.shape)
    outcome = method.settled(asked).run(asked, tables, Stream(bytes(32), seed, rows))
    assert outcome.model is not None
    off = [
        np.abs(block.answers(outcome.model.table(block.axes)) - block.answers(tables.table(block.axes)) / rows).max()
        for block in asked.blocks
    ]
    return float(max(off)), float(max(errors.max() for errors in outcome.errors))


SIZES = (500, 2_000, 8_000, 32_000)


@pytest.fixture(scope="module")
def measured() -> dict[str, list[tuple[float, float]]]:
    """Mean error and bound for every size, over three seeds."""
    told: dict[str, list[tuple[float, float]]] = {}
    for name, method in (("seed", AveragedMWEM()), ("practical", MWEM())):
        told[name] = [
            tuple(np.mean([largest_error(method, rows, seed) for seed in range(3)], axis=0)) for rows in SIZES
        ]
    return told


def test_it_stays_below_its_bound(measured: dict[str, list[tuple[float, float]]]) -> None:
    assert all(error <= bound for error, bound in measured["seed"])  # far below: a mean above would need several misses
    assert measured["seed"][-1][1] < 0.5


def test_errors_fall_with_rows_as_the_theorem_says(measured: dict[str, list[tuple[float, float]]]) -> None:
    errors = [error for error, _ in measured["seed"]]
    slope = np.polyfit(np.log(SIZES), np.log(errors), 1)[0]
    assert slope <= -0.43


def test_the_practical_version_is_never_worse(measured: dict[str, list[tuple[float, float]]]) -> None:
    for (practical, _), (seeds, _) in zip(measured["practical"], measured["seed"], strict=True):
        assert practical <= seeds


def test_its_price_and_what_it_refuses() -> None:
    asked = Problem(1_000, SMALL, Marginals(2), 1.0, 1e-6)
    method = AveragedMWEM(rounds=30)
    assert float(method.profile(asked).delta(1.0)) <= 1e-6
    pure = Problem(1_000, SMALL, Marginals(2), 1.0, 0.0)
    assert float(method.profile(pure).delta(1.0)) == 0.0
    huge = Domain({f"x{place:02}": [0, 1, 2, 3] for place in range(20)})
    with pytest.raises(Unaskable, match="MWEM keeps such a distribution in factors"):
        method.check(Problem(1_000, huge, Marginals(2), 1.0, 1e-6))
    for rounds in (0, True, 2.5):
        with pytest.raises(ValueError, match="whole number"):
            AveragedMWEM(rounds=rounds)  # type: ignore[arg-type]
