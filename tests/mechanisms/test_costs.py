"""Prices: Kraft's inequality at every node, the slack's numbers, and the widest interval any symbol could get."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.mechanisms import Guess, GuessAndCheck, Naive, Offer, Rounding, SampleSplitting
from unworn.mechanisms.base import State, Symbol
from unworn.mechanisms.cells import locate
from unworn.mechanisms.guess_and_check import standard_error
from unworn.queries.query import Facts

MECHANISM = GuessAndCheck()
FAR = 4_000


def symbols(offer: Offer) -> list[Symbol]:
    """All the symbols that can be released at a node, offsets up to ``FAR``."""
    found: list[Symbol] = []
    if offer.guess is None:
        found = list(range(offer.cells))
    else:
        offsets = [sign * size for size in range(1, FAR + 1) for sign in (1, -1)]
        found = [0]
        if offer.kind == "paired":
            octaves = range((offer.rows - 1).bit_length() + 1)
            found += [[octave, offset] for octave in octaves for offset in (0, *offsets)]
        else:
            found += offsets
    return found


def kraft(offer: Offer) -> tuple[float, float]:
    """The sums of exp(-nats) over the symbols that are not surprises, and over those that are."""
    calm, surprised = [], []
    for symbol in symbols(offer):
        surprise, nats = MECHANISM.cost(offer, symbol)
        (surprised if surprise else calm).append(math.exp(-nats))
    return math.fsum(calm), math.fsum(surprised)


def node(kind: str, runs_code: bool, guess: Guess | None, rows: int = 500) -> Offer:
    low = -1.0 if kind == "paired" else 0.0
    state = State(rows, math.log(0.05), None, 17, 2, 5.0)
    return MECHANISM.offer(state, Facts(kind, low, 1.0, kind != "unit", runs_code), guess)  # type: ignore[arg-type]


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 500, 513])
@pytest.mark.parametrize("kind", ["binary", "unit", "paired"])
def test_kraft_with_a_guess(kind: str, rows: int, runs_code: bool) -> None:
    calm, surprised = kraft(node(kind, runs_code, Guess(0.4), rows))
    assert calm == 1.0  # agreement is the only symbol that is no surprise, and costs nothing more
    share = 0.5 if runs_code else 1.0  # the other half is kept for code that fails
    assert share * (1 - 2 / FAR) < surprised <= share + 1e-12  # and the words of surprises waste nothing


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("kind", ["binary", "unit"])
def test_kraft_on_the_grid(kind: str, runs_code: bool) -> None:
    calm, surprised = kraft(node(kind, runs_code, None))
    assert calm == pytest.approx(1.0, abs=1e-12)
    assert surprised == 0.0


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("kind", ["binary", "unit", "paired"])
@pytest.mark.parametrize("offset", [0, 3])
def test_kraft_when_sharpening(kind: str, runs_code: bool, offset: int) -> None:
    told = node(kind, runs_code, Guess(0.4))
    symbol: Symbol = [2, offset] if kind == "paired" and offset else offset
    calm, surprised = kraft(MECHANISM.sharpen(State(500, -3.0, None, 18, 2, 5.0), told, symbol))
    assert calm == pytest.approx(1.0, abs=1e-12)
    assert surprised <= 0.5


def test_prices_that_are_quoted() -> None:
    assert MECHANISM.prices(node("binary", False, Guess(0.4))) == (0.0, pytest.approx(math.log(4)))
    assert MECHANISM.prices(node("binary", True, Guess(0.4))) == (0.0, pytest.approx(math.log(8)))
    assert MECHANISM.prices(node("binary", False, None))[0] == pytest.approx(math.log(12))
    assert MECHANISM.prices(node("paired", False, None))[1] == pytest.approx(math.log(10 * 2 * 4))


def test_the_rounding_code_is_uniform() -> None:
    """A symbol costs ln(cells), or one word more when code may fail: the words sum to one."""

    class Rows:
        def __init__(self, count: int) -> None:
            self.count = count

        def counts(self, queries: object, part: object = None) -> list[int]:
            return [self.count]

    rounding, state = Rounding(cells=20), Rounding(cells=20).begin(100, 0.95, 10)
    for runs_code, words in ((False, 20), (True, 21)):
        offer = rounding.offer(state, Facts("binary", 0.0, 1.0, True, runs_code), None)
        reply = rounding.answer(state, offer, None, Rows(30))  # type: ignore[arg-type]
        assert reply.symbol in (5, 6)
        assert reply.event.nats == pytest.approx(math.log(words), abs=2e-9)  # type: ignore[union-attr]
        assert not reply.event.surprise  # type: ignore[union-attr]


# ---------------------------------------------------------------- the slack


@pytest.mark.parametrize(
    ("guess", "expected"),
    [
        (Guess(0.9), 4 * math.sqrt(2 * 0.09 / 10_000)),  # without an error the holdout's own, twice
        (Guess(0.9, 0.0), 4 * math.sqrt(0.09 / 10_000)),
        (Guess(0.9, 0.01), 4 * math.sqrt(0.09 / 10_000 + 1e-4)),
        (Guess(0.5, 0.005), 4 * math.sqrt(0.25 / 10_000 + 0.005**2)),
        (Guess(1.0, 0.0), 4 * 1e-4),  # never below that of a single odd row
        (Guess(0.0), 4 * math.sqrt(2) * 1e-4),
    ],
)
def test_the_slack(guess: Guess, expected: float) -> None:
    state = MECHANISM.begin(10_000, 0.95)
    assert MECHANISM.offer(state, Facts("binary", 0.0, 1.0, True), guess).slack == pytest.approx(expected)


def test_the_slack_in_own_units() -> None:
    state = MECHANISM.begin(10_000, 0.95)
    euros = MECHANISM.offer(state, Facts("unit", 0.0, 200_000.0), Guess(180_000.0, 100.0))
    assert euros.slack == pytest.approx(4 * math.hypot(200_000 * math.sqrt(0.09 / 10_000), 100.0))
    assert euros.cell == pytest.approx(200_000 / 50)
    shifted = MECHANISM.offer(state, Facts("unit", -100_000.0, 100_000.0), Guess(80_000.0, 100.0))
    assert shifted.slack == pytest.approx(euros.slack)
    paired = MECHANISM.offer(state, Facts("paired", -2.0, 2.0), Guess(0.1, None, 0.2))
    assert paired.slack == pytest.approx(4 * math.sqrt(2) * 2 * math.sqrt((0.1 - 0.05**2) / 10_000))
    assert GuessAndCheck(z=2.0).offer(state, Facts("unit", 0.0, 200_000.0), Guess(180_000.0, 100.0)).slack == (
        pytest.approx(euros.slack / 2)
    )


def test_the_standard_error_of_one_row() -> None:
    assert standard_error(0.25, 1) == 1.0
    assert standard_error(0.0, 4) == 0.25


@pytest.mark.parametrize("bad", [{"z": 0}, {"z": math.nan}, {"cell": 0}, {"cell": 2}, {"pieces": 1}])
def test_parameters_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        GuessAndCheck(**bad)


# ---------------------------------------------------------------- the widest


def every_width(mechanism: Any, offer: Offer) -> float:
    """The half-width of the widest interval, by trying all that the rows could say (but failing)."""
    if offer.kind == "paired":
        steps, octaves = range(-80, 81), range((offer.rows - 1).bit_length() + 1)
        # A mean difference is never larger than the mean absolute difference: other pairs cannot come up.
        told = {(o, locate(offer, s / 80)) for s in steps for o in octaves if abs(s) / 80 <= 2.0**-o}
        widths = [mechanism.publish_width(offer, [octave, offset]) for octave, offset in told]
        return float(max([*widths, mechanism.publish_width(offer, 0)]))
    count = offer.rows if offer.kind == "binary" else 400
    values = [offer.low + (offer.high - offer.low) * step / count for step in range(count + 1)]
    return float(max(mechanism.publish_width(offer, symbol) for symbol in {locate(offer, value) for value in values}))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.sampled_from(["binary", "unit", "paired"]),
    st.integers(2, 300),
    st.none() | st.floats(0, 1),
    st.floats(0, 40),
    st.none() | st.floats(0, 0.1),
)
def test_the_widest_bounds_every_symbol(
    kind: str, rows: int, guess: float | None, nats: float, error: float | None
) -> None:
    low = -1.0 if kind == "paired" else 0.0
    state = State(rows, math.log(0.05), None, 3, 0, nats)
    facts = Facts(kind, low, 1.0, kind != "unit")  # type: ignore[arg-type]
    offer = MECHANISM.offer(state, facts, None if guess is None else Guess(guess, error))
    assert MECHANISM.widest(offer) >= every_width(MECHANISM, offer) - 1e-9


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(["binary", "unit"]), st.integers(2, 300), st.integers(2, 60), st.floats(0, 20))
def test_the_widest_when_rounding(kind: str, rows: int, cells: int, nats: float) -> None:
    rounding = Rounding(cells=cells)
    state = State(rows, math.log(0.05), 10, 3, 0, nats)
    offer = rounding.offer(state, Facts(kind, 0.0, 1.0, kind == "binary"), None)  # type: ignore[arg-type]
    assert rounding.widest(offer) >= every_width(rounding, offer) - 1e-9


@pytest.mark.parametrize("mechanism", [Naive(), SampleSplitting()])
@pytest.mark.parametrize("rows", [20, 21, 100])
def test_the_widest_of_exact_values(mechanism: Any, rows: int) -> None:
    offer = mechanism.offer(mechanism.begin(rows, 0.95, 2), Facts("binary", 0.0, 1.0, True), None)
    widths = [mechanism.publish_width(offer, count / offer.rows) for count in range(offer.rows + 1)]
    assert mechanism.widest(offer) >= max(widths) - 1e-12


def test_the_widest_when_sharpening() -> None:
    told = node("binary", False, Guess(0.4), 200)
    for symbol in (0, 1, -2):
        sharp = MECHANISM.sharpen(State(200, -3.0, None, 18), told, symbol)
        widths = [MECHANISM.publish_width(sharp, piece) for piece in range(8)]
        assert MECHANISM.widest(sharp) >= max(widths) - 1e-12
        free = replace(sharp, within=None)
        assert MECHANISM.widest(free) >= max(MECHANISM.publish_width(free, piece) for piece in range(8)) - 1e-12
