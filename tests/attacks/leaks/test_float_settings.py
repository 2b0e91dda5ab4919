"""NumPy's settings for overflow and the like are the caller's: they change nothing here, and are told nothing of rows.

``np.seterr(all="raise")`` is a good habit. It made opening noisy mechanisms and ``plan`` raise ``FloatingPointError``,
and under ``"call"``, ``"print"`` or ``"warn"`` whoever asked was told what underflowed while their answer was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unworn import Holdout, Unaskable, col, mean, mechanisms, plan, share
from unworn.mechanisms import Mechanism
from unworn.mechanisms.contract.conversation import make_reply
from unworn.queries import metric
from unworn.release import fit

ROWS = 3_000
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(ROWS, 3)), RNG.integers(0, 2, ROWS)
KINDS: dict[str, Mechanism | None] = {
    "guess and check": None,
    "bounded noise": mechanisms.BoundedNoise(),
    "Gaussian": mechanisms.Gaussian(),
    "Laplace": mechanisms.Laplace(),
    "subsampled": mechanisms.Subsampled(drawn=300),
    "sparse vector": mechanisms.SparseVector(tops=2),
}


@pytest.fixture
def events(request: pytest.FixtureRequest) -> Any:
    """What NumPy tells a caller who wants to be called; or, with ``raise``, nothing that could be told."""
    told: list[Any] = []
    before = np.geterrcall()
    np.seterrcall(lambda kind, flag: told.append(kind))
    with np.errstate(all=request.param):
        yield told
    np.seterrcall(before)


@pytest.mark.parametrize("events", ["raise", "call"], indirect=True)
@pytest.mark.parametrize("name", KINDS)
def test_asking_raises_and_tells_nothing(name: str, events: list[Any]) -> None:
    asks = None if KINDS[name] is None else 20
    holdout = Holdout(X, Y, mechanism=KINDS[name], asks=asks, ledger=None, practice=0)
    for edge in (0.0, 3.0, 99.0):
        answer = holdout.ask(share(col("x0") > edge), 0.0 if edge else 0.5)
        holdout.quote(share(col("x1") > edge), 0.5)
    holdout.ask(mean(col("x2").fill(0), range=(-3, 3)), 0.0, noise=KINDS[name] is None)
    if KINDS[name] is None:
        holdout.ask(share(col("x1") > 3), 0.0, noise=True)
        holdout.ask(share(col("x2") * 1e308 * 1e308 > 0))
        holdout.score(RNG.random(ROWS), metric="log_loss")
        holdout.final(holdout.score(RNG.random(ROWS), metric="roc_auc"))
    holdout.verify()
    answer.certificate.verify()
    assert holdout.meter.asked
    assert events == []


@pytest.mark.parametrize("events", ["raise", "call"], indirect=True)
def test_planning_raises_nothing(events: list[Any]) -> None:
    assert plan(rows=10_000, asks=100).options
    for kind in (mechanisms.BoundedNoise, mechanisms.Gaussian, mechanisms.Laplace, mechanisms.Subsampled):
        kind.for_(rows=10_000, asks=5)
    assert events == []


@pytest.mark.parametrize("events", ["raise", "call"], indirect=True)
def test_a_release_raises_and_tells_nothing(events: list[Any]) -> None:
    table = {name: RNG.integers(0, 3, ROWS) for name in "abcde"}
    released = fit(table, 2, epsilon=0.1, delta=1e-9, domain={name: [0, 1, 2] for name in table}, ledger=None)
    assert released.answer("a = 1").promised
    assert events == []


@pytest.mark.parametrize("events", ["raise", "call"], indirect=True)
def test_whatever_a_mechanism_meets_on_rows_is_its_own(events: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of somebody else's, whose sums are as careless as this."""

    def careless(*args: Any) -> Any:
        np.exp(np.float64(-1e4)), np.float64(1e308) * 10, np.float64(1) / np.float64(0)
        return make_reply(*args)

    monkeypatch.setattr("unworn.holdout.desk.make_reply", careless)
    holdout = Holdout(X, Y, ledger=None, practice=0)
    assert holdout.ask(share(col("x0") > 0), 0.5).source == "guess"
    assert events == []


class Careless:
    def predict(self, rows: Any) -> Any:
        return (np.exp(-1e4 - rows[:, 0]) >= 0).astype(int)


@pytest.mark.parametrize("events", ["raise"], indirect=True)
def test_code_on_visible_rows_runs_under_the_settings_of_its_author(events: list[Any]) -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    assert holdout.ask(metric("accuracy", Careless())).index == 1
    tried = Holdout(X, Y, train=(X + 9, Y), ledger=None)
    with pytest.raises(Unaskable, match="FloatingPointError: underflow"):
        tried.ask(metric("accuracy", Careless()))
    assert tried.meter.asked == 0


def test_a_range_with_no_room_for_a_guess_is_refused_in_words() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    with pytest.raises(Unaskable, match="other units"):
        holdout.compare(RNG.random(ROWS), RNG.random(ROWS), metric="mae", range=(0, 1e300))
    assert holdout.meter.asked == 0
