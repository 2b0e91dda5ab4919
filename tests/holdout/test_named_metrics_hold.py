"""An interval covers the metric that its label names, and not something like it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn.metrics as theirs

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, col, compare, mae, mean, r2
from unworn.mechanisms import GuessAndCheck
from unworn.queries.combinations import COMBINATIONS

TRUTH = 0.85


def rare_world(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which 5 % are positive, and predictions with a recall of .8 and a specificity of .9."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.05).astype(int)
    right = rng.random(rows) < np.where(y == 1, 0.8, 0.9)
    return y, np.where(right, y, 1 - y)


@in_two_sizes(short=25, full=400)
@pytest.mark.parametrize("seen", ["practice", "train"])
def test_classes_weigh_the_same_whatever_visible_rows_had(seen: str, size: int) -> None:
    """Estimated shares missed in 13 % and 27 % of worlds. Of misses of 5 % at most, more than 9 of 25 (or 46 of 400)
    happen with a probability below 1e-6; true misses are far fewer."""
    missed = 0
    for seed in range(size):
        y, said = rare_world(20_500, reseeded(seed))
        given: dict[str, Any] = {"train": (np.zeros((500, 1)), y[20_000:])} if seen == "train" else {"practice": 0.25}
        holdout = Holdout(np.zeros((20_000, 1)), y[:20_000], ledger=None, **given)
        told = holdout.final(holdout._metric("balanced_accuracy", said[:20_000], None, {}))
        assert {part.certificate.record.facts.kind for part in told.parts} == {"conditional"}
        missed += not told.low <= TRUTH <= told.high
    assert missed <= (9 if size == 25 else 46)


@pytest.mark.parametrize("name", ["balanced_accuracy", "matthews_corrcoef", "cohen_kappa"])
def test_rows_without_a_label_are_left_out_by_all_parts(name: str) -> None:
    y, said = rare_world(20_000, 1)
    labels = y.astype(float)
    labels[np.random.default_rng(2).random(20_000) < 0.5] = np.nan
    holdout = Holdout({"x": np.zeros(20_000)}, labels, schema={"y": "number?"}, ledger=None, practice=0)
    kept = ~np.isnan(labels)
    score = {"cohen_kappa": theirs.cohen_kappa_score}.get(name) or getattr(theirs, f"{name}_score", None)
    expected = (score or theirs.matthews_corrcoef)(y[kept], said[kept])
    options = {"classes": [0, 1]} if name == "balanced_accuracy" else {}
    told = holdout.final(holdout._metric(name, said, None, options))
    assert told.value == pytest.approx(expected, abs=1e-9)
    assert told.low <= expected <= told.high


def test_a_subgroup_is_measured_against_its_own_mean() -> None:
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, 8_000)
    y = 10.0 * group + rng.normal(size=8_000)
    holdout = Holdout({"group": group}, y, ledger=None, practice=0.25)
    told = holdout.score(10.0 * group, metric="r2", range=(0, 200), where=col("group") == 1)
    assert told.low <= 0.0 <= told.high
    assert told.value == pytest.approx(0.0, abs=0.01)
    assert "against the constant 10.0" in told.label or "against the constant 9.9" in told.label


@pytest.mark.parametrize("gauge", [5.0, 10.0, 9.999])
def test_a_variance_as_large_as_can_be_is_no_declaration(gauge: float) -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=2_000)
    a, b = (y + rng.normal(0, 0.5, 2_000) for _ in range(2))
    holdout = Holdout(None, y, ledger=None, practice=0)
    question = compare(mae(a, range=(0, 10)), mae(b, range=(0, 10)))
    told = holdout.ask(question, guess=0.0, gauge=gauge)
    exact = float(np.mean(np.abs(a - y) - np.abs(b - y)))
    assert told.low <= exact <= told.high


def test_a_difference_told_both_ways_has_a_final_value() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=2_000)
    a, b = (y + rng.normal(0, 0.5, 2_000) for _ in range(2))
    question = compare(mae(a, range=(0, 10)), mae(b, range=(0, 10)))
    exact = float(np.mean(np.abs(a - y) - np.abs(b - y)))
    for place in (0, 1):
        holdout = Holdout(None, y, ledger=None, practice=0)
        told = holdout.ask(question, guess=0.0), holdout.ask(question, guess=0.0, gauge=0.4, again=True)
        assert {each.certificate.record.offer.kind for each in told} == {"paired", "unit"}
        final = holdout.final(told[place], close=False)
        assert final.low <= exact <= final.high
        assert final.high - final.low <= min(each.high - each.low for each in told) + 1e-12


def test_what_cannot_be_explained_leaves_everything_open() -> None:
    y, rng = np.full(500, 2.0), np.random.default_rng(6)
    a, b = rng.normal(2.0, 0.1, 500), rng.normal(2.0, 0.2, 500)
    holdout = Holdout(None, y, ledger=None, practice=0)
    told = holdout.final(r2(a, range=(0, 1), baseline=2.0) - r2(b, range=(0, 1), baseline=2.0))
    assert told.low == -np.inf
    assert told.high == np.inf


def test_terms_of_weight_0_say_nothing() -> None:
    image, value = COMBINATIONS["linear"].image, COMBINATIONS["linear"].value
    assert image([(-np.inf, 1.0), (0.0, 1.0)], (0.0, 2.0)) == (0.0, 2.0)
    assert value((-np.inf, 0.5), (0.0, 2.0)) == 1.0


def test_theorem_c_has_no_declared_variances() -> None:
    rng = np.random.default_rng(7)
    holdout = Holdout({"x": rng.random(2_000) ** 8}, ledger=None, practice=0, mechanism=GuessAndCheck(law="C"), asks=50)
    told = holdout.ask(mean(col("x").fill(0), range=(0, 1)), guess=0.11, gauge=0.05)
    assert told.certificate.record.offer.payload.gauge is None
