"""Symbols and cells: the value lies in its symbol's cell, and what is published holds for every value in it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mechanisms.changed_offers import with_numbers
from unworn.bounds import chernoff_kl, clopper_pearson, discordance
from unworn.mechanisms import Guess, GuessAndCheck, Offer, Rounding
from unworn.mechanisms.coded.coded_payloads import GuessPayload
from unworn.mechanisms.contract.conversation import publish_symbol, published_width
from unworn.mechanisms.contract.mechanism import RAISED, FinalPlace, State
from unworn.mechanisms.symbols.cell_limits import attainable, interval
from unworn.mechanisms.symbols.symbol_cells import edges, is_inside, locate
from unworn.queries.query import Facts

MECHANISM = GuessAndCheck()
QUICK = settings(derandomize=True, deadline=None, max_examples=100)
unit = st.floats(0, 1)
ranges = st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def offers(draw: st.DrawFn, kind: str = "any") -> Offer:
    """An offer as guess-and-check makes them: any number of rows, any past, with a guess or without."""
    rows = draw(st.integers(1, 3_000))
    asked = draw(st.integers(0, 10_000))
    surprises = draw(st.integers(0, min(asked, 30)))
    state = State(rows, math.log(draw(st.floats(1e-6, 0.5))), None, asked, surprises, draw(st.floats(0, 60)))
    chosen = draw(st.sampled_from(["binary", "unit"])) if kind == "any" else kind
    low, high = (0.0, 1.0) if chosen == "binary" else draw(ranges)
    guess = None
    if draw(st.booleans()):
        guess = Guess(low + draw(unit) * (high - low), draw(st.none() | st.floats(0, 0.3)))
        guess = replace(guess, value=min(max(guess.value, low), high))
    return MECHANISM.offer(state, Facts(chosen, low, high, chosen == "binary"), guess)  # type: ignore[arg-type]


@st.composite
def located(draw: st.DrawFn) -> tuple[Offer, float]:
    """An offer and a value the rows could have, most often one at the edge of a cell."""
    offer = draw(offers())
    if offer.kind == "binary":
        return offer, draw(st.integers(0, offer.rows)) / offer.rows
    near = edges(offer, locate(offer, offer.low + draw(unit) * (offer.high - offer.low)))[draw(st.integers(0, 1))]
    for _ in range(draw(st.integers(0, 2))):
        near = math.nextafter(near, draw(st.sampled_from([-math.inf, math.inf])))
    value = draw(st.sampled_from([near, offer.low + draw(unit) * (offer.high - offer.low), offer.low, offer.high]))
    return offer, min(max(value, offer.low), offer.high)


@QUICK
@given(located())
def test_a_value_lies_in_the_cell_of_its_symbol(pair: tuple[Offer, float]) -> None:
    offer, value = pair
    symbol = locate(offer, value)
    low, high = edges(offer, symbol)
    assert low <= value <= high
    if offer.payload.guess is None:
        assert 0 <= symbol < offer.payload.cells
    elif symbol != 0:
        beyond = abs(value - offer.payload.guess) - offer.payload.slack
        assert abs(symbol) == pytest.approx(math.ceil(beyond / offer.payload.cell), abs=1)
        assert (symbol > 0) == (value > offer.payload.guess)


@QUICK
@given(located())
def test_what_is_published_holds_for_the_value(pair: tuple[Offer, float]) -> None:
    offer, value = pair
    published = publish_symbol(MECHANISM, offer, locate(offer, value))
    if offer.kind == "binary":
        low, high = clopper_pearson(round(value * offer.rows), offer.rows, offer.log_level)
    else:
        span = offer.high - offer.low
        low, high = chernoff_kl(min(max((value - offer.low) / span, 0.0), 1.0), offer.rows, offer.log_level)
        low, high = offer.low + span * low, offer.low + span * high
    fuzz = 1e-12 * (offer.high - offer.low)
    assert published.low <= low + fuzz
    assert published.high >= high - fuzz
    assert offer.low <= published.low <= published.value <= published.high <= offer.high


@QUICK
@given(offers("binary"))
def test_a_cells_interval_holds_for_every_count_in_it(offer: Offer) -> None:
    """Not for one value: for all that would have given the same symbol."""
    offer = replace(offer, rows=min(offer.rows, 60))
    by_symbol: dict[int, list[int]] = {}
    for count in range(offer.rows + 1):
        by_symbol.setdefault(locate(offer, count / offer.rows), []).append(count)
    for symbol, counts in by_symbol.items():
        published = publish_symbol(MECHANISM, offer, symbol)
        first, last = attainable(edges(offer, symbol), offer.rows)
        if offer.payload.guess is not None:
            # Cells of a grid share their edges; a count on one belongs to either, and both must hold for it.
            assert (first, last) == (counts[0], counts[-1]) or first <= counts[0] <= counts[-1] <= last
        assert first <= counts[0]
        assert counts[-1] <= last
        assert published.low <= clopper_pearson(counts[0], offer.rows, offer.log_level)[0] + 1e-12
        assert published.high >= clopper_pearson(counts[-1], offer.rows, offer.log_level)[1] - 1e-12


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 10, 49, 1_000, 12_345])
def test_attainable_counts(rows: int) -> None:
    rng = np.random.default_rng(rows)
    shares = np.arange(rows + 1) / rows
    for _ in range(200):
        low, high = sorted(rng.random(2) * 1.2 - 0.1)
        if rng.random() < 0.5:  # exactly on attainable values, where a rounding would show
            low, high = sorted(rng.choice(shares, 2))
        inside = np.flatnonzero((shares >= low) & (shares <= high))
        if len(inside):
            assert attainable((low, high), rows) == (inside[0], inside[-1])
        else:
            first, last = attainable((low, high), rows)
            assert first == last
            assert 0 <= first <= rows


# ---------------------------------------------------------------- agreement, grid, sharpening


@QUICK
@given(offers())
def test_agreement_returns_the_guess_itself(offer: Offer) -> None:
    if offer.payload.guess is None:
        return
    published = publish_symbol(MECHANISM, offer, 0)
    assert (published.value, published.source) == (offer.payload.guess, "guess")
    assert published.low <= offer.payload.guess <= published.high
    assert MECHANISM.cost(offer, 0) == (False, 0.0)


@QUICK
@given(offers())
def test_a_grid_is_no_surprise(offer: Offer) -> None:
    if offer.payload.guess is not None:
        return
    assert offer.payload.cells == math.ceil(math.sqrt(offer.rows) / 2)
    for symbol in {0, offer.payload.cells // 2, offer.payload.cells - 1}:
        assert MECHANISM.cost(offer, symbol) == (False, math.log(offer.payload.cells))
        assert publish_symbol(MECHANISM, offer, symbol).source == "grid"


def test_failure_publishes_the_whole_range() -> None:
    offer = Offer(1, 100, "unit", -3.0, 5.0, False, True, -4.0, GuessPayload(0.0, 0.1, 0.1))
    for mechanism in (MECHANISM, Rounding()):
        published = publish_symbol(mechanism, offer, RAISED)
        assert (published.value, published.low, published.high, published.source) == (1.0, -3.0, 5.0, "surprise")


@QUICK
@given(located(), st.integers(0, 40), st.floats(0, 1))
def test_sharpening_never_widens_and_stays_inside(pair: tuple[Offer, float], later: int, where: float) -> None:
    offer, value = pair
    symbol = locate(offer, value)
    published = publish_symbol(MECHANISM, offer, symbol)
    state = State(offer.rows, offer.log_level, None, later, 0, 0.0)
    for _ in range(3):
        sharp = MECHANISM.sharpen(state, offer, symbol)
        assert (sharp.payload.cells, sharp.payload.guess, sharp.index) == (8, None, later + 1)
        assert is_inside(sharp, value)
        finer = locate(sharp, value)
        assert 0 <= finer < 8
        assert MECHANISM.cost(sharp, finer) == (False, math.log(8))
        assert MECHANISM.cost(sharp, RAISED) == (True, math.log(2))
        again = publish_symbol(MECHANISM, sharp, finer)
        assert published.low <= again.low <= again.high <= published.high
        assert again.low <= again.value <= again.high
        # And it still holds for the value, at the level of its own ask.
        alone = interval(with_numbers(sharp, within=None), edges(sharp, finer))
        assert again.low <= max(alone[0], published.low) + 1e-12 * sharp.span
        offer, symbol, published = sharp, finer, again


def test_sharpening_code_that_runs_again_does_not_lean_on_the_first_run() -> None:
    """User code may answer otherwise the second time: its two intervals are not intersected."""
    offer = Offer(1, 1_000, "binary", 0.0, 1.0, False, True, -4.0, GuessPayload(0.5, 0.06, 0.06))
    assert MECHANISM.sharpen(State(1_000, -3.0, None, 1), offer, 0).payload.within is None
    assert MECHANISM.sharpen(State(1_000, -3.0, None, 1), replace(offer, runs_code=False), 0).payload.within is not None


def test_nor_does_its_final_value() -> None:
    mechanism = GuessAndCheck()
    state = mechanism.begin(1_000, 0.95)
    for runs_code in (True, False):
        told = mechanism.offer(state, Facts("binary", 0.0, 1.0, True, runs_code), Guess(0.5))
        final = mechanism.offer_final(state, told.facts, FinalPlace(told=(told, 0)))
        assert (final.payload.within is None) is runs_code


def test_a_value_that_left_its_cell_is_a_failure() -> None:
    from unworn.noise import Stream  # noqa: F401  (the mechanism's signature)

    class Moved:
        size = 1_000

        def statistics(self, queries: object, part: object = None) -> list[int]:
            return [700]

    offer = Offer(1, 1_000, "binary", 0.0, 1.0, False, True, -4.0, GuessPayload(0.5, 0.06, 0.06))
    state = State(1_000, -3.0, None, 1)
    sharp = MECHANISM.sharpen(state, offer, 0)
    reply = MECHANISM.answer(state, sharp, None, Moved())  # type: ignore[arg-type]
    assert reply.symbol == RAISED
    assert reply.event.surprise  # type: ignore[union-attr]


# ---------------------------------------------------------------- paired


@st.composite
def paired(draw: st.DrawFn) -> tuple[Offer, float, float]:
    """A paired offer with a difference and a discordance that rows could have (in own units)."""
    rows = draw(st.integers(2, 2_000))
    state = State(rows, math.log(0.05), None, draw(st.integers(0, 500)), 0, draw(st.floats(0, 30)))
    zero_one = draw(st.booleans())
    reach = 1.0 if zero_one else draw(st.floats(0.01, 100))
    guess = Guess(reach * draw(st.floats(-1, 1)), None, draw(st.none() | st.floats(0, 1).map(lambda s: s * reach)))
    offer = MECHANISM.offer(state, Facts("paired", -reach, reach, zero_one), guess)
    spread = draw(st.floats(0, 1))
    if zero_one:
        spread = round(spread * rows) / rows
    return offer, reach * spread * draw(st.floats(-1, 1)), reach * spread


class PairedRows:
    size = 0

    def __init__(self, difference: float, spread: float) -> None:
        self.told = np.array([[difference, spread]])

    def statistics(self, queries: object, part: object = None) -> np.ndarray:
        return self.told


@QUICK
@given(paired())
def test_a_paired_answer_holds_for_what_gave_it(case: tuple[Offer, float, float]) -> None:
    offer, difference, spread = case
    state = State(offer.rows, math.log(0.05))
    reply = MECHANISM.answer(state, offer, None, PairedRows(difference, spread))  # type: ignore[arg-type]
    published = publish_symbol(MECHANISM, offer, reply.symbol)
    share, mean = spread / offer.span, difference / offer.span
    if isinstance(reply.symbol, list):
        octave, offset = reply.symbol
        assert 0 <= octave <= (offer.rows - 1).bit_length()
        assert share <= 2.0**-octave + 1e-15
        assert share > 2.0 ** -(octave + 1) or octave == (offer.rows - 1).bit_length()
        assert offset == locate(offer, difference)
        assert offset != 0 or share > offer.payload.discordance
    else:
        assert reply.symbol == 0
        assert share <= offer.payload.discordance
        assert published.value == offer.payload.guess
    low, high = discordance(mean, mean, share, offer.rows, offer.log_level, offer.zero_one)
    fuzz = 1e-9 * offer.span
    assert published.low <= max(low * offer.span, offer.low) + fuzz
    assert published.high >= min(high * offer.span, offer.high) - fuzz


def test_paired_defaults() -> None:
    state = MECHANISM.begin(1_000, 0.95)
    offer = MECHANISM.offer(state, Facts("paired", -1.0, 1.0, True), None)
    assert (offer.payload.guess, offer.payload.discordance) == (0.0, 1.0)
    assert MECHANISM.offer(state, Facts("paired", -4.0, 4.0), Guess(0.0, None, 1.0)).payload.discordance == 0.25
    assert MECHANISM.offer(state, Facts("paired", -4.0, 4.0), Guess(0.0, None, 9.0)).payload.discordance == 1.0


def test_a_small_declared_discordance_is_far_sharper() -> None:
    state = MECHANISM.begin(10_000, 0.95)
    wide, narrow = (
        published_width(MECHANISM, MECHANISM.offer(state, Facts("paired", -1.0, 1.0, True), Guess(0.0, None, s)), 0)
        for s in (1.0, 0.01)
    )
    assert narrow < wide / 5
