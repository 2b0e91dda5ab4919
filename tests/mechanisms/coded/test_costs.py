"""Prices: Kraft's inequality at every node, the slack's numbers, and the widest interval any symbol could get."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mechanisms.changed_offers import with_numbers
from tests.mechanisms.synthetic.nodes import Told, answered, largest_antichain, largest_miss, paired_laws, told_nats
from unworn import Unaskable
from unworn.bounds.code_length import Pattern, distance_nats, side_nats
from unworn.mechanisms import Guess, GuessAndCheck, Naive, Offer, Rounding, SampleSplitting
from unworn.mechanisms.coded.coded_payloads import SharpenedPayload
from unworn.mechanisms.coded.guess_slack import standard_error
from unworn.mechanisms.coded.guess_words import farthest
from unworn.mechanisms.contract.conversation import publish_symbol, published_width, widest_width
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED, State, Symbol
from unworn.mechanisms.symbols.symbol_cells import locate
from unworn.queries.query import Facts

MECHANISM = GuessAndCheck()
OLDER = GuessAndCheck(z=4.0, pieces=8, law="C")
FAR = 4_000
LAWS = pytest.mark.parametrize("law", ["C", "C'"])


def symbols(offer: Offer) -> list[Symbol]:
    """All the symbols that can be released at a node; of an older ledger's, offsets up to ``FAR``."""
    if offer.payload.guess is None:
        return list(range(offer.payload.cells))
    sizes = [(side, FAR if offer.payload.place is None else farthest(offer, side)) for side in (1, -1)]
    offsets = [side * size for side, far in sizes for size in range(1, far + 1)]
    found: list[Symbol] = [0]
    if offer.kind == "paired":
        octaves = range((offer.rows - 1).bit_length() + 1)
        return found + [[octave, offset] for octave in octaves for offset in (0, *offsets)]
    return found + offsets  # type: ignore[operator]


def kraft(offer: Offer, failures: bool = False) -> tuple[float, float]:
    """The sums of exp(-nats) over the symbols that are not surprises, and over those that are."""
    calm, surprised = [], []
    for symbol in [*symbols(offer), *([RAISED, STOPPED] if failures else [])]:
        surprise, nats = MECHANISM.cost(offer, symbol)
        (surprised if surprise else calm).append(math.exp(-nats))
    return math.fsum(calm), math.fsum(surprised)


def state_of(law: str, rows: int = 500, nats: float = 5.0) -> State:
    """After 17 asks with two surprises, on different sides, that cost so many nats in words."""
    older = State(rows, math.log(0.05), None, 17, 2, nats)
    return older if law == "C" else replace(older, pattern=Pattern.typical(17, 2), sides=(0, 2))


def node(kind: str, runs_code: bool, guess: Guess | None, rows: int = 500, law: str = "C'") -> Offer:
    low = -1.0 if kind == "paired" else 0.0
    facts = Facts(kind, low, 1.0, kind != "unit", runs_code)  # type: ignore[arg-type]
    return (OLDER if law == "C" else MECHANISM).offer(state_of(law, rows), facts, guess)


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 500, 513])
@pytest.mark.parametrize("kind", ["binary", "unit", "paired"])
@LAWS
def test_kraft_with_a_guess(kind: str, rows: int, runs_code: bool, law: str) -> None:
    offer = node(kind, runs_code, Guess(0.4), rows, law)
    calm, surprised = kraft(offer)
    assert calm == 1.0  # agreement is the only symbol that is no surprise, and costs nothing more
    share = 0.5 if runs_code else 1.0  # the other half is kept for code that fails
    if law == "C":
        assert share * (1 - 2 / FAR) < surprised <= share + 1e-12  # and the words of surprises waste nothing
    else:
        assert surprised <= share + 1e-12
        assert 0.5 * share < kraft(offer, failures=True)[1] <= 1.0


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("kind", ["binary", "unit"])
@LAWS
def test_kraft_on_the_grid(kind: str, runs_code: bool, law: str) -> None:
    offer = node(kind, runs_code, None, law=law)
    calm, surprised = kraft(offer)
    assert surprised == 0.0
    if law == "C":
        assert calm == pytest.approx(1.0, abs=1e-12)
    else:  # failures share the words with the cells: on the grid nothing is a surprise
        assert calm == pytest.approx(offer.payload.cells / (offer.payload.cells + runs_code), abs=1e-8)
        assert 1 - 1e-8 < sum(kraft(offer, failures=True)) <= 1 + 1e-12
        assert kraft(offer, failures=True)[1] == 0.0


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("kind", ["binary", "unit", "paired"])
@pytest.mark.parametrize("offset", [0, 3])
@LAWS
def test_kraft_when_sharpening(kind: str, runs_code: bool, offset: int, law: str) -> None:
    told = node(kind, runs_code, Guess(0.4), law=law)
    symbol: Symbol = [2, offset] if kind == "paired" and offset else offset
    offer = MECHANISM.sharpen(state_of(law), told, symbol)
    calm, surprised = kraft(offer)
    assert (calm, surprised) == (
        pytest.approx(1.0 if law == "C" else offer.payload.cells / (offer.payload.cells + runs_code)),
        0.0,
    )
    calm, surprised = kraft(offer, failures=True)
    assert max(calm, surprised) <= 1 + 1e-12


@pytest.mark.parametrize("kind", ["binary", "unit", "paired"])
@pytest.mark.parametrize("runs_code", [False, True])
def test_no_nodes_of_which_none_follows_another_weigh_more_than_one(kind: str, runs_code: bool) -> None:
    """Exactly, over all who choose at each step a guess of either origin, none, a test, or to sharpen."""
    low = -1.0 if kind == "paired" else 0.0
    facts = Facts(kind, low, 1.0, kind != "unit", runs_code)  # type: ignore[arg-type]
    coarse = GuessAndCheck(z=1.0, cell=0.7, pieces=2)

    def asked(state: State) -> list[Offer]:
        guessed = [coarse.offer(state, facts, Guess(0.2, 0.1, origin=origin)) for origin in ("asker", "train")]
        test = coarse.offer_test(state, replace(facts, null=(1, 0.1, math.exp(state.log_beta))))
        return [*guessed, coarse.offer(state, facts, None), test, coarse.sharpen(state, guessed[0], 0)]

    def words(offer: Offer) -> list[Symbol]:
        return [*(symbols(offer) if offer.null is None else [0, 1]), RAISED, STOPPED]

    state = coarse.begin(3, 0.95)
    depth = 2 if kind == "paired" else 3
    assert 0.99 < largest_antichain(coarse, state, asked, words, depth) <= 1 + 1e-12


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.sampled_from(["binary", "unit"]),
    st.integers(1, 40),
    st.floats(0, 1),
    st.sampled_from([0.05, 1.0, 3.5]),
    st.sampled_from([0.02, 0.2, None]),
    st.sampled_from([0.4, 0.5, 0.95, 0.999]),
    st.lists(st.integers(-2, 2), max_size=5),
)
def test_no_population_misses_with_more_than_what_the_law_gives_the_word(
    kind: Any, rows: int, guess: float, z: float, cell: float | None, confidence: float, before: list[int]
) -> None:
    """Exactly, by all counts; and the same without a guess, and for one cell of an answer that is sharpened."""
    mechanism, facts = GuessAndCheck(z=z, cell=cell), Facts(kind, 0.0, 1.0, kind == "binary")
    state, grid = mechanism.begin(rows, confidence), [step / 20 for step in range(21)]
    for symbol in before:
        offer = mechanism.offer(state, facts, Guess(0.5))
        reached = max(-farthest(offer, -1), min(symbol, farthest(offer, 1)))
        state = mechanism.after(state, mechanism.event(offer, reached))
    for offer in (mechanism.offer(state, facts, Guess(guess, 0.0)), mechanism.offer(state, facts, None)):
        assert largest_miss(mechanism, state, offer, grid) <= 1 + 1e-6
    sharp = mechanism.sharpen(state, mechanism.offer(state, facts, Guess(guess, 0.0)), 0)
    assert isinstance(sharp.payload, SharpenedPayload)
    sharp = sharp.with_payload(replace(sharp.payload, within=None))
    assert largest_miss(mechanism, state, sharp, grid) <= 1 + 1e-6


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("level", [-0.7, -3.0, -7.0])
@pytest.mark.parametrize("declared", [None, 0.1, 0.5])
def test_no_paired_population_misses_with_more_than_what_the_law_gives_the_word(
    zero_one: bool, level: float, declared: float | None
) -> None:
    """Exactly, over all that 20 rows can say, for 205 laws of a difference in {-1, 0, 1}."""
    rows, mechanism = 20, GuessAndCheck(z=1.0)
    state = mechanism.begin(rows, -math.expm1(level))
    offer = mechanism.offer(state, Facts("paired", -1.0, 1.0, zero_one), Guess(0.0, 0.0, declared))
    told: dict[str, tuple[Symbol, list[int]]] = {}
    for truth, seen, chances in paired_laws(rows):
        if not told:
            for place, (a, b, _) in enumerate(seen.tolist()):
                symbol = answered(mechanism, offer, Told((a - b) / rows, (a + b) / rows, rows, "paired"))
                told.setdefault(str(symbol), (symbol, []))[1].append(place)
        for symbol, places in told.values():
            published = publish_symbol(mechanism, offer, symbol)
            if not published.low - 1e-12 <= truth <= published.high + 1e-12:
                most = math.exp(level - told_nats(mechanism, state, offer, symbol))
                assert chances[places].sum() <= most * (1 + 1e-9), (truth, symbol)


def test_prices_that_are_quoted() -> None:
    pattern = Pattern.typical(17, 2)
    calm, surprised = pattern.prices("asker")
    for runs_code in (False, True):
        offer = node("binary", runs_code, Guess(0.4))
        word = math.log(2) * runs_code + side_nats((0, 2), 1) + distance_nats(1, farthest(offer, 1))
        assert MECHANISM.prices(offer) == (pytest.approx(calm), pytest.approx(surprised + word))
    assert MECHANISM.prices(node("binary", False, None))[0] == pytest.approx(math.log(12))
    assert OLDER.prices(node("binary", False, Guess(0.4), law="C")) == (0.0, pytest.approx(math.log(4)))
    assert OLDER.prices(node("binary", True, Guess(0.4), law="C")) == (0.0, pytest.approx(math.log(8)))
    assert OLDER.prices(node("binary", False, None, law="C"))[0] == pytest.approx(math.log(12))
    assert OLDER.prices(node("paired", False, None, law="C"))[1] == pytest.approx(math.log(10 * 2 * 4))


def test_the_rounding_code_is_uniform() -> None:
    """A symbol costs ln(cells), or one word more when code may fail: the words sum to one."""

    class Rows:
        def __init__(self, count: int) -> None:
            self.count = count

        def statistics(self, queries: object, part: object = None) -> list[int]:
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
        (Guess(0.9), math.sqrt(2 * 0.09 / 10_000)),  # without an error the holdout's own, twice
        (Guess(0.9, 0.0), math.sqrt(0.09 / 10_000)),
        (Guess(0.9, 0.01), math.sqrt(0.09 / 10_000 + 1e-4)),
        (Guess(0.5, 0.005), math.sqrt(0.25 / 10_000 + 0.005**2)),
        (Guess(1.0, 0.0), 1e-4),  # never below that of a single odd row
        (Guess(0.0), math.sqrt(2) * 1e-4),
    ],
)
def test_the_slack(guess: Guess, expected: float) -> None:
    facts = Facts("binary", 0.0, 1.0, True)
    for mechanism, planned, z in (
        (MECHANISM, None, 3.5),
        (MECHANISM, 300, -NormalDist().inv_cdf(0.075 / 300)),
        (OLDER, None, 4.0),
        (GuessAndCheck(law="C"), 300, 4.0),
        (GuessAndCheck(z=2.0), None, 2.0),
    ):
        offer = mechanism.offer(mechanism.begin(10_000, 0.95, planned), facts, guess)
        assert offer.payload.slack == pytest.approx(z * expected)
        assert offer.payload.cell == pytest.approx(z * expected / 3 if mechanism.law is None else 1 / 50)


def test_the_slack_grows_with_the_number_of_asks() -> None:
    state, facts = MECHANISM.begin(10_000, 0.95), Facts("binary", 0.0, 1.0, True)
    asked = [1, 30, 31, 3_000, 3_001, 10**6]
    slacks = [MECHANISM.offer(replace(state, asked=i - 1), facts, Guess(0.5, 0.0)).payload.slack for i in asked]
    assert slacks == pytest.approx([0.005 * z for z in (3.5, 3.5, 4.0, 4.0, 4.5, 4.5)])
    in_a_batch = MECHANISM.offer(replace(state, asked=29), facts, Guess(0.5, 0.0), position=1)
    assert in_a_batch.payload.slack == pytest.approx(0.02)


def test_the_slack_in_own_units() -> None:
    state = MECHANISM.begin(10_000, 0.95)
    euros = MECHANISM.offer(state, Facts("unit", 0.0, 200_000.0), Guess(180_000.0, 100.0))
    assert euros.payload.slack == pytest.approx(3.5 * math.hypot(200_000 * math.sqrt(0.09 / 10_000), 100.0))
    assert euros.payload.cell == pytest.approx(euros.payload.slack / 3)
    assert GuessAndCheck(cell=0.02).offer(state, Facts("unit", 0.0, 200_000.0), Guess(0.0)).payload.cell == 4_000
    shifted = MECHANISM.offer(state, Facts("unit", -100_000.0, 100_000.0), Guess(80_000.0, 100.0))
    assert shifted.payload.slack == pytest.approx(euros.payload.slack)
    paired = MECHANISM.offer(state, Facts("paired", -2.0, 2.0), Guess(0.1, None, 0.2))
    assert paired.payload.slack == pytest.approx(3.5 * math.sqrt(2) * 2 * math.sqrt((0.1 - 0.05**2) / 10_000))
    assert GuessAndCheck(z=7.0).offer(state, Facts("unit", 0.0, 200_000.0), Guess(180_000.0, 100.0)).payload.slack == (
        pytest.approx(2 * euros.payload.slack)
    )


def test_the_standard_error_of_one_row() -> None:
    assert standard_error(0.25, 1) == 1.0
    assert standard_error(0.0, 4) == 0.25


@pytest.mark.parametrize("bad", [{"z": 0}, {"z": math.nan}, {"cell": 0}, {"cell": 2}, {"pieces": 1}, {"law": "D"}])
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
        widths = [published_width(mechanism, offer, [octave, offset]) for octave, offset in told]
        return float(max([*widths, published_width(mechanism, offer, 0)]))
    count = offer.rows if offer.kind == "binary" else 400
    values = [offer.low + (offer.high - offer.low) * step / count for step in range(count + 1)]
    return float(
        max(published_width(mechanism, offer, symbol) for symbol in {locate(offer, value) for value in values})
    )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.sampled_from(["binary", "unit", "paired"]),
    st.integers(2, 300),
    st.none() | st.floats(0, 1),
    st.floats(0, 40),
    st.none() | st.floats(0, 0.1),
    st.sampled_from(["C", "C'"]),
)
def test_the_widest_bounds_every_symbol(
    kind: str, rows: int, guess: float | None, nats: float, error: float | None, law: str
) -> None:
    low = -1.0 if kind == "paired" else 0.0
    state = state_of(law, rows, nats)
    facts = Facts(kind, low, 1.0, kind != "unit")  # type: ignore[arg-type]
    offer = MECHANISM.offer(state, facts, None if guess is None else Guess(guess, error))
    assert widest_width(MECHANISM, offer) >= every_width(MECHANISM, offer) - 1e-9


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(["binary", "unit"]), st.integers(2, 300), st.integers(2, 60), st.floats(0, 20))
def test_the_widest_when_rounding(kind: str, rows: int, cells: int, nats: float) -> None:
    rounding = Rounding(cells=cells)
    for law in ("C", "C'"):
        offer = rounding.offer(state_of(law, rows, nats), Facts(kind, 0.0, 1.0, kind == "binary"), None)  # type: ignore[arg-type]
        assert widest_width(rounding, offer) >= every_width(rounding, offer) - 1e-9


@pytest.mark.parametrize(("kind", "low", "high"), [("binary", 0.0, 1.0), ("unit", -30.0, 90.0), ("paired", -1.0, 1.0)])
def test_rounding_expects_the_middle_of_the_range(kind: str, low: float, high: float) -> None:
    rounding = Rounding(cells=21)
    facts = Facts(kind, low, high, kind == "binary")  # type: ignore[arg-type]
    offer = rounding.offer(rounding.begin(400, 0.95, 5), facts, None)
    value = publish_symbol(rounding, offer, rounding.likely(offer)).value
    assert value == pytest.approx((low + high) / 2, abs=1e-9 * (high - low))


@pytest.mark.parametrize("mechanism", [Naive(), SampleSplitting()])
@pytest.mark.parametrize("rows", [20, 21, 100])
def test_the_widest_of_exact_values(mechanism: Any, rows: int) -> None:
    offer = mechanism.offer(mechanism.begin(rows, 0.95, 2), Facts("binary", 0.0, 1.0, True), None)
    widths = [published_width(mechanism, offer, count / offer.rows) for count in range(offer.rows + 1)]
    assert widest_width(mechanism, offer) >= max(widths) - 1e-12


@LAWS
def test_the_widest_when_sharpening(law: str) -> None:
    told = node("binary", False, Guess(0.4), 200, law)
    for symbol in (0, 1, -2):
        sharp = MECHANISM.sharpen(state_of(law, 200), told, symbol)
        widths = [published_width(MECHANISM, sharp, piece) for piece in range(sharp.payload.cells)]
        assert widest_width(MECHANISM, sharp) >= max(widths) - 1e-12
        free = with_numbers(sharp, within=None)
        assert (
            widest_width(MECHANISM, free) >= max(published_width(MECHANISM, free, piece) for piece in range(8)) - 1e-12
        )


def test_sharpening_has_more_pieces_the_more_was_spent() -> None:
    told = node("binary", False, Guess(0.4), 10_000)
    start = MECHANISM.begin(10_000, 0.95)
    pieces = [
        MECHANISM.sharpen(replace(start, nats=nats), told, 0).payload.cells
        for nats in (0.0, 4.9, 5.1, 24.0, 26.0, 900.0)
    ]
    assert pieces == [8, 8, 16, 16, 32, 32]
    assert GuessAndCheck(pieces=5).sharpen(replace(start, nats=90.0), told, 0).payload.cells == 5
    assert OLDER.sharpen(state_of("C"), told, 0).payload.cells == 8


def test_what_sharpening_would_not_narrow_is_not_sold() -> None:
    start, facts = MECHANISM.begin(10_000, 0.95), Facts("binary", 0.0, 1.0, True)
    told = MECHANISM.offer(start, facts, Guess(0.5))
    sharp = MECHANISM.sharpen(start, told, 0)
    MECHANISM.check_gain(told, 0, sharp)
    worth = max(published_width(MECHANISM, sharp, piece) for piece in range(sharp.payload.cells)) / published_width(
        MECHANISM, told, 0
    )
    assert worth < 0.9
    late = MECHANISM.sharpen(replace(start, nats=60.0), told, 0)
    with pytest.raises(Unaskable, match=r"gain next to nothing: ± 0\.\d+ would become ± 0\.\d+ at worst"):
        MECHANISM.check_gain(told, 0, late)
    with pytest.raises(Unaskable, match=r"sharpened already; holdout\.final releases the exact value"):
        MECHANISM.check_gain(sharp, 3, MECHANISM.sharpen(start, sharp, 3))
