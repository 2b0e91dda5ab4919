"""Losses of one's own: what is declared is checked before rows are read, and what is certified holds."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Holdout
from unworn.errors import Unaskable
from unworn.learn import Ball, Box, Curvature, Gradient, L1Ball, Simplex, convex_loss, least_squares, logistic, minimise
from unworn.mechanisms import Gaussian, GuessAndCheck
from unworn.rows import Sample


def huber(residual: Any) -> Any:
    return np.where(np.abs(residual) < 0.5, residual**2 / 2, 0.5 * np.abs(residual) - 0.125)


def huber_slope(residual: Any) -> Any:
    return np.clip(residual, -0.5, 0.5)


def softplus_slope(margin: Any) -> Any:
    return -1 / (1 + np.exp(margin))


def huber_loss(**changes: Any) -> Any:
    given = {"range": (-1, 1), "of": "residual", "reach": 4.0, "lipschitz": 0.5, "smoothness": 1.0} | changes
    return convex_loss(
        given.pop("value", huber), given.pop("slope", huber_slope), {"x": (-1, 1)}, **given, intercept=False
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lipschitz": 0.4}, "lipschitz=0.5"),
        ({"smoothness": 0.5}, "smoothness=1"),
        ({"strongly": 0.1}, "bends by 0 somewhere"),
        ({"value": lambda r: r**2}, "do not belong together"),
        ({"value": lambda r: 1 / 0}, "value failed on 257 numbers from -4 to 4.*ZeroDivisionError"),
        ({"slope": lambda r: r[:3]}, "a finite number for each"),
        ({"slope": lambda r: np.log(-np.abs(r) - 1)}, "a finite number for each"),
        ({"slope": "steep"}, "function"),
        ({"slope": lambda r: -huber_slope(r), "value": lambda r: -huber(r)}, "not convex"),
        ({"of": "ratio"}, "margin"),
        ({"range": None}, "range"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_wrong_declarations_are_refused_before_any_row(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Unaskable, match=words):
        huber_loss(**changes)


@pytest.mark.parametrize(("name", "value"), [("reach", 0.0), ("reach", math.nan), ("lipschitz", -1.0), ("places", 2)])
def test_numbers_that_make_no_sense_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        huber_loss(**{name: value})


def test_a_region_beyond_the_reach_is_refused_before_anything_is_charged() -> None:
    holdout = Holdout({"x": np.zeros(50)}, np.zeros(50), mechanism=GuessAndCheck(), ledger=None)
    with pytest.raises(ValueError, match="reach=5"):
        minimise(holdout, huber_loss(), Ball(4.0), iterations=2)
    assert holdout.meter.asked == 0


def test_the_function_never_meets_a_row() -> None:
    """It is called once for each of the two, on public numbers, when the loss is made."""
    met: list[int] = []

    def watched(residual: Any) -> Any:
        met.append(len(residual))
        return huber_slope(residual)

    loss = huber_loss(slope=watched)
    holdout = Holdout({"x": np.linspace(-1, 1, 500)}, np.zeros(500), mechanism=GuessAndCheck(), ledger=None)
    minimise(holdout, loss, Ball(1.0), iterations=3)
    assert met == [257]


def test_the_distance_covers_the_function_between_the_places() -> None:
    at = np.linspace(-4, 4, 100_001)
    for places in (9, 65, 257):
        table = huber_loss(places=places, smoothness=None).table
        assert np.abs(table.values(at) - huber(at)).max() <= table.distance
    assert huber_loss().table.distance < 1e-3


def test_a_built_in_loss_written_by_hand_finds_the_same() -> None:
    """The same rows, questions and noise, but for what lies between the places of the table."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 20_000)
    y = rng.random(20_000) < 1 / (1 + np.exp(-2 * x))
    own = convex_loss(
        lambda m: np.logaddexp(0, -m), softplus_slope, {"x": (-1, 1)}, of="margin", reach=6.0, lipschitz=1.0,
        smoothness=0.25, places=1025,
    )  # fmt: skip
    found = []
    for loss in (own, logistic({"x": (-1, 1)})):
        holdout = Holdout({"x": x}, y, mechanism=GuessAndCheck(), practice=0.5, ledger=None)
        found.append(minimise(holdout, loss, Ball(3.0), iterations=15))
    mine, theirs = found
    assert np.allclose(mine.coefficients, theirs.coefficients, atol=0.15)
    assert mine.method == theirs.method == "smooth"
    assert abs(mine.risk[0] - theirs.risk[0]) < 0.05
    assert "tabulated" in mine.certificate["assumptions"][-1]
    assert f"{own.table.distance:g}" in mine.certificate["assumptions"][-1]
    assert "tabulated" not in theirs.certificate["assumptions"][-1]


def test_it_learns_from_noise() -> None:
    """Least squares as an exponential family, u²/2 with truth·score taken off: its values lie below 0 too.

    An answer is wrong by .03 at most, or all of this is, in one run of twenty; by three times as much hardly ever.
    """
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, 200_000)
    y = 0.2 + 0.6 * x + rng.uniform(-0.2, 0.2, x.size)
    loss = convex_loss(
        lambda u: u**2 / 2, lambda u: u, {"x": (-1, 1)}, of="score", reach=1.5, lipschitz=1.5, range=(-1, 1),
        smoothness=1.0, strongly=1.0,
    )  # fmt: skip
    holdout = Holdout({"x": x}, y, mechanism=Gaussian(), asks=44)
    found = minimise(holdout, loss, Ball(1.0), iterations=20, curved=True)
    assert found.excess < 0.1
    assert np.abs(np.array(found.coefficients) - [0.2, 0.6]).max() < 0.1
    assert found.risk is not None
    assert found.risk[1] < -0.08 < found.risk[2]  # -(.2² + .6²/3)/2


class World:
    """A population of a few kinds of rows, asked by an adversary who answers as wrongly as intervals allow."""

    def __init__(self, rng: np.random.Generator, loss: Any, wide: float) -> None:
        self.rng, self.loss, self.wide = rng, loss, wide
        rows = int(rng.integers(2, 8))
        self.rows = Sample.read(
            {"a": rng.uniform(-1, 1, rows), "b": rng.uniform(-1, 1, rows)}, rng.uniform(-1, 1, rows)
        )
        self.meter, self.confidence, self.name, self.size = SimpleNamespace(planned=None, asked=0), 0.95, "world", rows
        self.terms = SimpleNamespace(schema=self.rows.schema)

    def ask_many(self, asked: Any, by: Any = None) -> list[Any]:
        told = []
        for query, truth in zip(asked, self.rows.means(list(asked)), strict=True):
            off = self.wide * (query.bounds[1] - query.bounds[0]) * self.rng.choice([-1.0, 1.0])
            low, high = truth + off - abs(off), truth + off + abs(off)
            certificate = SimpleNamespace(assumptions=(), head="")
            told.append(SimpleNamespace(value=truth + off, low=low, high=high, index=1, certificate=certificate))
        return told

    def risk(self, at: Any, ridge: float) -> float:
        from unworn.learn import Risk

        return float(self.rows.means([Risk(self.loss, tuple(at))])[0]) + ridge / 2 * float(at @ at)


def quartic(strongly: float) -> Any:
    """u⁴/12 and a parabola: it bends by ``strongly`` at 0, and more elsewhere."""
    return convex_loss(
        lambda u: u**4 / 12 + strongly * u**2 / 2 - 1, lambda u: u**3 / 3 + strongly * u, {"a": (-1, 1), "b": (-1, 1)},
        of="residual", reach=4.0, lipschitz=64 / 3 + 4 * strongly, smoothness=16 + strongly, strongly=strongly,
        range=(-1, 1), intercept=False,
    )  # fmt: skip


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([1e-5, 1e-3, 1e-2]),
    st.sampled_from([Ball(2.0), Box(-1.0, 1.0), L1Ball(1.5), Simplex()]),
    st.sampled_from([0.0, 0.0, 0.1]),
    st.sampled_from([2, 10, 40]),
    st.booleans(),
)
def test_no_certificate_is_below_the_excess(
    seed: int, strongly: float, wide: float, over: Any, ridge: float, iterations: int, risk: bool
) -> None:
    """The least risk is found on a grid, so from above: an excess that is certified too low may go unseen by little."""
    loss = quartic(strongly)
    world = World(np.random.default_rng(seed), loss, wide)
    found: Any = minimise(
        world, loss, over, ridge=ridge, iterations=iterations, curved=strongly > 0, risk=risk  # type: ignore[arg-type]
    )  # fmt: skip
    at = np.array(found.coefficients)
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 13)] * 2), axis=-1).reshape(-1, 2)
    best = min(world.risk(over.project(point), ridge) for point in grid)
    assert world.risk(at, ridge) - best <= found.excess * (1 + 1e-9) + 1e-9, found.picked


def test_strongly_convex_losses_are_certified_by_their_curvature() -> None:
    loss = quartic(1.0)
    world = World(np.random.default_rng(3), loss, 1e-6)
    plain = minimise(world, loss, Ball(2.0), iterations=60, risk=False)  # type: ignore[arg-type]
    curved = minimise(world, loss, Ball(2.0), iterations=60, risk=False, curved=True)  # type: ignore[arg-type]
    assert curved.picked.endswith("by its curvature")
    assert curved.excess < plain.excess / 2


def test_curvature_is_not_asked_where_none_is_declared() -> None:
    with pytest.raises(Unaskable, match="strongly"):
        Curvature(quartic(0.0), (0.0, 0.0), 0, 1)
    with pytest.raises(ValueError, match="strongly convex"):
        minimise(World(np.random.default_rng(0), quartic(0.0), 0.1), quartic(0.0), Ball(1.0), iterations=1, curved=True)  # type: ignore[arg-type]


def test_engines_say_that_they_do_not_know_it() -> None:
    from unworn.rows.sql.sql_batch import plain_question

    with pytest.raises(Unaskable, match="read the rows"):
        plain_question(Gradient(huber_loss(), (0.0,), 0))
    plain_question(Gradient(least_squares({"x": (-1, 1)}, range=(0, 1), intercept=False), (0.0,), 0))
