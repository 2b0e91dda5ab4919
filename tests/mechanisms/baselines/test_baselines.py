"""Sample splitting, rounding and the naive control, inside a holdout."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.mechanisms.synthetic.nodes import chance_of_a_miss, largest_antichain, largest_miss
from unworn import Holdout, col, share
from unworn.bounds import clopper_pearson, log_transcripts
from unworn.errors import Exhausted
from unworn.events import Described
from unworn.mechanisms import GuessAndCheck, Mechanism, Naive, Offer, Rounding, SampleSplitting, State, from_json
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.queries.query import Facts

ROWS = 120
BINARY = Facts("binary", 0.0, 1.0, True)


def holdout(mechanism: Mechanism, **terms: Any) -> Holdout:
    return Holdout({"x": np.random.default_rng(1).random(ROWS)}, mechanism=mechanism, **{"ledger": None, **terms})


def parts(made: Holdout, count: int) -> list[set[int]]:
    members = [made._sample.members((place, count)) for place in range(count)]
    return [set(np.flatnonzero(member)) for member in members if member is not None]


# ---------------------------------------------------------------- splitting


def test_parts_are_disjoint_and_equal() -> None:
    made = holdout(SampleSplitting(), asks=7)
    found = parts(made, 7)
    assert [len(part) for part in found] == [ROWS // 7] * 7
    assert len(set().union(*found)) == 7 * (ROWS // 7)
    assert parts(made, 7) == found
    assert parts(holdout(SampleSplitting(), asks=7), 7) != found  # another key, other parts


def test_parts_are_the_same_after_reopening(tmp_path: Any) -> None:
    one = holdout(SampleSplitting(), asks=5, ledger=tmp_path / "ledger.db")
    found = parts(one, 5)
    one.close()
    two = holdout(SampleSplitting(), asks=5, ledger=tmp_path / "ledger.db")
    assert parts(two, 5) == found
    two.close()


def test_every_ask_has_a_part_of_its_own() -> None:
    made = holdout(SampleSplitting(), asks=4)
    x = made._sample.columns["x"].values
    cuts = [0.2, 0.4, 0.6, 0.8]
    answers = [made.ask(share(col("x") > cuts[0])), *made.ask_many([share(col("x") > cut) for cut in cuts[1:]])]
    for place, (answer, cut) in enumerate(zip(answers, cuts, strict=True)):
        rows = sorted(parts(made, 4)[place])
        assert answer.certificate.record.offer.payload.part == (place, 4)
        assert answer.value == np.mean(x[rows] > cut)
        low, high = clopper_pearson(int(np.sum(x[rows] > cut)), 30, math.log(0.05 / 4))
        assert (answer.low, answer.high) == (pytest.approx(float(low)), pytest.approx(float(high)))
    assert made.meter.spent == 4
    with pytest.raises(Exhausted, match="all 4 planned asks are spent"):
        made.ask(share(col("x") > 0.9))
    made.verify()


def test_a_round_shares_a_part_and_the_next_moves_on() -> None:
    made = holdout(SampleSplitting(rounds=2), asks=50)
    first = made.ask_many([share(col("x") > cut / 10) for cut in range(5)])
    second = made.ask_many([share(col("x") > cut / 10 + 0.05) for cut in range(3)])
    assert {answer.certificate.record.offer.payload.part for answer in first} == {(0, 2)}
    assert {answer.certificate.record.offer.payload.part for answer in second} == {(1, 2)}
    assert {answer.certificate.record.offer.rows for answer in first + second} == {60}
    assert made.ask(share(col("x") > 0)) == first[0]  # a repeat is free, even in a later round
    with pytest.raises(Exhausted, match="all 2 parts of the rows have been looked at"):
        made.ask(share(col("x") > 0.77))
    assert made.meter.asked == 8
    made.verify()


def test_splitting_needs_a_plan_that_fits() -> None:
    with pytest.raises(ValueError, match="asks="):
        SampleSplitting().begin(100, 0.95)
    with pytest.raises(ValueError, match="100 rows cannot be cut into 101 parts"):
        SampleSplitting().begin(100, 0.95, 101)
    with pytest.raises(ValueError, match="rounds must be"):
        SampleSplitting(rounds=0)
    SampleSplitting(rounds=3).begin(100, 0.95, 10_000)


# ---------------------------------------------------------------- rounding


@pytest.mark.parametrize("planned", [None, 4])
@pytest.mark.parametrize("runs_code", [False, True])
def test_rounding_is_a_law_in_time(planned: int | None, runs_code: bool) -> None:
    """Every cell has the same chance; the last answer of a plan is not charged, and nothing can follow it."""
    rounding, facts = Rounding(cells=5), Facts("binary", 0.0, 1.0, True, runs_code)
    words: list[Any] = [*range(5), RAISED, STOPPED]

    def asked(state: State) -> list[Offer]:
        null = replace(facts, null=(1, 0.5, math.exp(state.log_beta)))
        return [rounding.offer(state, facts, None), rounding.offer_test(state, null)]

    def told(offer: Offer) -> list[Any]:
        return words if offer.null is None else [0, 1, RAISED, STOPPED]

    state = rounding.begin(ROWS, 0.95, planned)
    assert 1 - 1e-8 < largest_antichain(rounding, state, asked, told, 4) <= 1 + 1e-12


def test_rounding_levels_with_a_plan() -> None:
    """Each pays for itself and for those before it, but the last one, which shares what is left by its two sides."""
    rounding = Rounding(cells=10)
    state, word = rounding.begin(ROWS, 0.95, 6), math.log(10)
    for asked in range(6):
        offer = rounding.offer(state, BINARY, None)
        assert offer.log_level == pytest.approx(math.log(0.05) - asked * word)
        side = math.log(0.05) - (asked + 1) * word if asked < 5 else math.log(0.05) - asked * word - math.log(2)
        cell = publish_symbol(rounding, offer, 4)
        low, high = interval(offer, (0.4, 0.5), 1.0, side)
        assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))
        state = rounding.after(state, Described(False, word))
    with pytest.raises(Exhausted):
        rounding.offer(state, BINARY, None)


def test_rounding_levels_of_an_older_ledger() -> None:
    """With a plan every node of the tree of transcripts gets the same weight: 1 / (1 + m + … + m^(k-1))."""
    rounding = Rounding(cells=10, law="C")
    state = rounding.begin(ROWS, 0.95, 6)
    uniform = math.log(0.05) - log_transcripts(10, 6)
    for _ in range(6):
        offer = rounding.offer(state, BINARY, None)
        assert offer.log_level == pytest.approx(uniform)
        state = rounding.after(state, Described(False, math.log(10)))
    with pytest.raises(Exhausted):
        rounding.offer(state, BINARY, None)
    # Without one the weights of all nodes, depth by depth, sum to at most one.
    state, total = rounding.begin(ROWS, 0.95), 0.0
    for depth in range(200):
        level = rounding.offer(state, BINARY, None).log_level - math.log(0.05)
        total += math.exp(level + depth * math.log(10))
        state = rounding.after(state, Described(False, math.log(10)))
    assert 0.8 < total <= 1 + 1e-9


@pytest.mark.parametrize("planned", [None, 3])
@pytest.mark.parametrize("rows", [1, 7, 30])
@pytest.mark.parametrize("cells", [2, 5, 9])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_no_population_misses_with_more_than_the_level(
    planned: int | None, rows: int, cells: int, confidence: float
) -> None:
    """Exactly: by what the law gives each word; of the last planned answer, by what is left for all words together."""
    rounding = Rounding(cells)
    state = rounding.begin(rows, confidence, planned)
    for _ in range(3):
        offer = rounding.offer(state, BINARY, None)
        if offer.payload.place is None:
            assert chance_of_a_miss(rounding, offer, np.linspace(0, 1, 41)) <= math.exp(offer.log_level) * (1 + 1e-6)
        else:
            assert largest_miss(rounding, state, offer, np.linspace(0, 1, 41)) <= 1 + 1e-6
        state = rounding.after(state, rounding.event(offer, 0))


def test_rounding_in_a_batch_pays_for_its_depth() -> None:
    made = holdout(Rounding(cells=10))
    batch = made.ask_many([share(col("x") > cut / 10) for cut in range(3)])
    levels = [answer.certificate.record.offer.log_level for answer in batch]
    assert levels == pytest.approx([math.log(0.05) - asked * math.log(10) for asked in range(3)])
    made.ask(share(col("x") > 0.55))
    made.verify()
    assert made.meter.spent == pytest.approx(4 * math.log(10))


def test_a_batch_that_ends_a_plan_of_rounding_pays_for_itself() -> None:
    """Its last answer follows others that nobody had seen when it was offered: it is charged like them."""
    rounding = Rounding(cells=10)
    state = rounding.begin(ROWS, 0.95, 3)
    offers = [rounding.offer(state, BINARY, None, place) for place in range(3)]
    for told, offer in enumerate(offers):
        later = rounding.reprice(offer, state)
        assert later.log_level == pytest.approx(math.log(0.05) - told * math.log(10))
        low, high = interval(later, (0.4, 0.5), 1.0, math.log(0.05) - (told + 1) * math.log(10))
        cell = publish_symbol(rounding, later, 4)
        assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))
        state = rounding.after(state, rounding.event(later, 4))


def test_rounding_shows_the_middle_of_a_cell() -> None:
    answer = holdout(Rounding(cells=10)).ask(share(col("x") > 0.5), guess=0.123)
    assert (answer.value * 20) % 2 == pytest.approx(1)  # guesses are not used
    assert answer.source == "grid"


# ---------------------------------------------------------------- naive, and names


def test_naive_shows_the_value_itself() -> None:
    made = holdout(Naive())
    x = made._sample.columns["x"].values
    answer = made.ask(share(col("x") > 0.5))
    assert answer.value == np.mean(x > 0.5)
    assert answer.source == "exact"
    assert made.meter.currency == "none"
    assert made.terms.mechanism.promises is False


@pytest.mark.parametrize(
    "mechanism",
    [GuessAndCheck(), GuessAndCheck(z=3.0, cell=0.01, pieces=4), Naive(), Rounding(7), SampleSplitting(rounds=3)],
)
def test_mechanisms_are_read_back(mechanism: Mechanism) -> None:
    assert from_json(mechanism_json(mechanism)) == mechanism
    for kind in (GuessAndCheck, Rounding, SampleSplitting, Naive):
        assert isinstance(kind.for_(rows=1_000, asks=10), kind)
