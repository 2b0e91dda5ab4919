"""Rows of the holdout that are in ``train`` too, and rows that occur twice in the holdout."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unworn import Holdout
from unworn.errors import RepeatedRows, Unaskable
from unworn.rows.fingerprints import shared_rows as comparing
from unworn.rows.fingerprints.shared_rows import compare

ROWS = 1_000


def world(seed: int, columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2 * ROWS, columns)), rng.integers(0, 2, 2 * ROWS)


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, ROWS), (0, 2 * ROWS), (ROWS - 40, 2 * ROWS), (ROWS // 2, ROWS // 2 + 100)],
    ids=["the holdout itself", "all the data", "forty rows of it", "a hundred rows, and no others"],
)
def test_shared_rows_are_refused_with_their_number(start: int, stop: int) -> None:
    X, y = world(0)
    shared = min(stop, ROWS) - start
    with pytest.raises(Unaskable, match=f"{shared:,} of 1,000 rows are in both") as caught:
        Holdout(X[:ROWS], y[:ROWS], train=(X[start:stop][::-1], y[start:stop][::-1]), ledger=None)
    assert caught.value.numbers["shared"] == shared
    assert "Split the data again" in str(caught.value)


def test_refused_rows_are_not_sealed(tmp_path: Path) -> None:
    X, y = world(0)
    with pytest.raises(Unaskable):
        Holdout(X, y, train=(X, y), ledger=tmp_path / "ledger.db")
    assert not (tmp_path / "ledger.db").exists()


def test_also_when_known_rows_are_opened_again(tmp_path: Path) -> None:
    X, y = world(0)
    Holdout(X[:ROWS], y[:ROWS], train=(X[ROWS:], y[ROWS:]), ledger=tmp_path / "ledger.db").close()
    with pytest.raises(Unaskable, match="in both"):
        Holdout(X[:ROWS], y[:ROWS], train=(X, y), ledger=tmp_path / "ledger.db")


@pytest.mark.parametrize("signs", [2, 800])
def test_the_same_rows_of_few_values(signs: int) -> None:
    """Coins in the same order, or more of them than coincide by chance: the repro is one of these."""
    rng = np.random.default_rng(1)
    X, y = rng.choice([-1.0, 1.0], size=(ROWS, signs)), rng.integers(0, 2, ROWS)
    with pytest.raises(Unaskable, match="in both"):
        Holdout(X, y, train=(X, y), ledger=None)


def test_frames_without_labels_and_with_more_columns() -> None:
    X, y = world(2)
    frame = pd.DataFrame(X, columns=list("abc")).assign(town=np.where(X[:, 0] > 0, "x", "y"), y=y)
    with pytest.raises(Unaskable, match="in both"):
        Holdout(frame[:ROWS], "y", train=frame.drop(columns="y").assign(other=1), ledger=None)


def test_rows_in_duckdb_are_compared_too(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    X, y = world(3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame[:ROWS].to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(Unaskable, match="in both"):
        Holdout(f"duckdb:{tmp_path / 'rows.parquet'}", "y", train=frame, ledger=None)


def test_of_many_rows_a_part_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_COMPARED", 300)
    X, y = world(4)
    with pytest.raises(Unaskable, match=r"about [0-9,]+ of 1,000 rows") as caught:
        Holdout(X[:ROWS], y[:ROWS], train=(X, y), ledger=None)
    assert 500 < caught.value.numbers["shared"] < 1_500  # 8 deviations of a sample of one in eight


@pytest.mark.parametrize("population", ["coins", "cells", "words", "continuous", "mixed"])
@pytest.mark.parametrize(("n", "m"), [(200, 200), (50, 2_000), (2_000, 50), (1_000, 1_000)])
def test_independent_samples_are_let_in(population: str, n: int, m: int) -> None:
    """Refused by chance once in 10^6 at most, whatever the population; these 400 seeded draws always come out the same.

    In 4,800 draws of such populations the bound on the chance was never below e^-1.5, where e^-13.8 is refused.
    """
    make: dict[str, Any] = {
        "coins": lambda rng, k: rng.integers(0, 4, k),
        "cells": lambda rng, k: rng.integers(0, n, k),
        "words": lambda rng, k: np.minimum(rng.zipf(1.5, k), 10**6),
        "continuous": lambda rng, k: rng.integers(0, 2**62, k),
        "mixed": lambda rng, k: np.where(rng.random(k) < 0.5, rng.integers(0, 20, k), rng.integers(0, 2**62, k)),
    }
    for seed in range(20):
        rng = np.random.default_rng([seed, n, m])
        here, there = (make[population](rng, k).astype(np.uint64) for k in (n, m))
        assert compare(here, there).log_chance > np.log(1e-6)


def test_a_toy_of_two_coins_is_let_in() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (1_000, 2)), rng.integers(0, 2, 1_000)
        Holdout(X[:500], y[:500], train=(X[500:], y[500:]), ledger=None)


# ---------------------------------------------------------------- twice in the holdout


def test_repeated_rows_are_announced_once_with_their_number(tmp_path: Path) -> None:
    X, y = world(5)
    rows, labels = np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]])
    with pytest.warns(RepeatedRows, match=r"30 of 2,030 rows repeat[\s\S]*groups="):
        Holdout(rows, labels, ledger=tmp_path / "ledger.db", practice=0).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Holdout(
            rows, labels, ledger=tmp_path / "ledger.db", practice=0
        ).close()  # they were told when the rows were sealed
        Holdout(rows + 1.0, labels[::-1], groups=np.arange(2_030) % 2_000, ledger=None, practice=0)


def test_as_many_copies_of_each_row_are_announced() -> None:
    X, y = world(7)
    for copies in (2, 20):
        with pytest.warns(RepeatedRows, match=f"{2_000 * (copies - 1):,} of"):
            Holdout(np.repeat(X, copies, axis=0), np.repeat(y, copies), ledger=None, practice=0)
    rng = np.random.default_rng(8)
    with pytest.warns(RepeatedRows):  # a bootstrap: more draws than there were rows
        Holdout(rng.choice(X, 2_000), ledger=None)


def test_rows_that_chance_repeats_are_not() -> None:
    rng = np.random.default_rng(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Holdout({"age": rng.integers(18, 90, 5_000)}, ledger=None)
        Holdout({"x": rng.choice(rng.normal(size=100), 5_000)}, ledger=None)  # a population of a hundred rows
        Holdout({"price": rng.gamma(2, 10, 5_000).round(2)}, ledger=None)
        Holdout({"x": rng.normal(size=20_000), "plan": rng.choice(["a", "b"], 20_000)}, ledger=None)
