"""Tests inside mechanisms: what they weigh in the tree, and that true hypotheses survive, by exact enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from tests.bounds.test_tree import KINDS, Path, Symbol, enumerate_tree
from tests.mechanisms.changed_offers import with_numbers
from tests.mechanisms.synthetic.nodes import told_nats
from unworn import Unaskable
from unworn.bounds.code_length import Pattern
from unworn.bounds.compression import code_length
from unworn.events import Described, Guessed
from unworn.mechanisms import (
    AboveThreshold,
    Guess,
    GuessAndCheck,
    Mechanism,
    Naive,
    Offer,
    Rounding,
    SampleSplitting,
    State,
)
from unworn.mechanisms.coded.coded_payloads import HypothesisPayload
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.declarations import offer_test
from unworn.mechanisms.contract.mechanism import RAISED
from unworn.mechanisms.symbols.hypothesis_symbols import rejects
from unworn.queries.query import Facts

TEST = Facts("binary", 0.0, 1.0, zero_one=True, null=(1, 0.5, 0.05))


# ---------------------------------------------------------------- weights


def words(mechanism: Mechanism, runs_code: bool) -> list[Symbol]:
    """All the outcomes of a test, with what they cost."""
    offer = mechanism.offer_test(mechanism.begin(100, 0.95), replace(TEST, runs_code=runs_code))
    told: list[Any] = [0, 1, RAISED] if runs_code else [0, 1]
    events = [mechanism.event(offer, symbol) for symbol in told]
    assert all(isinstance(event, Described | Guessed) for event in events)
    return [Symbol(event.surprise, event.nats) for event in events]  # type: ignore[union-attr]


@pytest.mark.parametrize("mechanism", [GuessAndCheck(), Rounding(5)])
def test_a_test_that_is_priced_again_keeps_the_level_it_was_asked_at(mechanism: GuessAndCheck | Rounding) -> None:
    """What was told before it in a batch is taken off its own level, 1 %, and not off the 5 % of the answers."""
    state = mechanism.begin(100, 0.95)
    offer = mechanism.offer_test(state, replace(TEST, null=(1, 0.5, 0.01)))
    assert mechanism.reprice(offer, replace(state, nats=3.0)).log_level == pytest.approx(math.log(0.01) - 3.0)


@pytest.mark.parametrize("mechanism", [GuessAndCheck(), Rounding(5), GuessAndCheck(law="C"), Rounding(5, law="C")])
@pytest.mark.parametrize("runs_code", [False, True])
def test_the_outcomes_of_a_test_are_a_code(mechanism: Mechanism, runs_code: bool) -> None:
    for surprise in (False, True):
        weights = [math.exp(-word.nats) for word in words(mechanism, runs_code) if word.surprise == surprise]
        assert sum(weights) <= 1 + 1e-12
    assert len({word.surprise for word in words(GuessAndCheck(), runs_code)}) == 2


@pytest.mark.parametrize("planned", [None, 6])
def test_a_tree_with_tests_among_the_asks_weighs_at_most_one(planned: int | None) -> None:
    """Theorem C, which older ledgers keep; that tests are part of the law in time is in ``test_costs.py``."""
    older = GuessAndCheck(law="C")
    kinds = [*KINDS, words(older, False), words(older, True)]

    def mixed(path: Path) -> list[list[Symbol]]:
        turn = sum((k + 1) * (round(8 * s.nats) + 3 * s.surprise + 1) for k, s in enumerate(path))
        return [kinds[(turn + len(path)) % len(kinds)]]

    only = words(older, False)
    for asker in (mixed, lambda path: [only]):
        assert 0.3 < enumerate_tree(lambda i, f, nats: code_length(i, f, nats, planned), asker, 6) <= 1.0
    # Were a rejection no surprise, or an ask that does not count, the sum would pass 1.
    free = [Symbol(False, 0.0), Symbol(False, 0.0)]
    assert enumerate_tree(lambda i, f, nats: code_length(i, f, nats, planned), lambda path: [free], 6) > 1.0


def test_levels_are_those_of_the_word_that_rejects() -> None:
    mechanism = GuessAndCheck()
    state = replace(mechanism.begin(1000, 0.95), asked=99, surprises=3, nats=7.5, pattern=Pattern.typical(99, 3))
    offer = mechanism.offer_test(state, replace(TEST, null=(1, 0.5, 0.01)))
    assert offer.log_level == pytest.approx(math.log(0.01) - mechanism.spent(state))
    assert mechanism.test_level(offer) == pytest.approx(offer.log_level - told_nats(mechanism, state, offer, 1))
    at_beta = mechanism.offer_test(state, TEST)
    assert at_beta.log_level == pytest.approx(mechanism.offer(state, replace(TEST, null=None), None).log_level)
    assert (offer.payload.guess, offer.payload.cells, offer.null) == (None, 0, (1, 0.5, 0.01))
    assert Offer.from_json(offer.to_json()) == offer
    rounding = Rounding(5)
    offer = rounding.offer_test(rounding.begin(1000, 0.95), TEST)
    assert rounding.test_level(offer) == pytest.approx(math.log(0.05 / 2))
    last = rounding.offer_test(rounding.begin(1000, 0.95, asks=1), TEST)
    assert rounding.test_level(last) == pytest.approx(math.log(0.05))  # nothing follows it
    splitting = SampleSplitting()
    part = splitting.offer_test(splitting.begin(1000, 0.95, asks=10), replace(TEST, null=(1, 0.5, 0.01)))
    assert splitting.test_level(part) == part.log_level == pytest.approx(math.log(0.001))
    assert (part.rows, part.payload.part) == (100, (0, 10))


def test_levels_of_an_older_ledger_are_those_of_the_node() -> None:
    mechanism = GuessAndCheck(law="C")
    state = replace(mechanism.begin(1000, 0.95), asked=99, surprises=3, nats=7.5)
    offer = mechanism.offer_test(state, TEST)
    assert mechanism.test_level(offer) == offer.log_level == pytest.approx(math.log(0.05) - code_length(100, 3, 7.5))


def test_an_outcome_tells_nothing_of_the_value() -> None:
    for mechanism in (GuessAndCheck(), Rounding(5), SampleSplitting()):
        state = mechanism.begin(100, 0.95, asks=5)
        offer = mechanism.offer_test(state, replace(TEST, kind="unit", low=-5.0, high=20.0, null=(-1, 3.0, 0.05)))
        for symbol in (0, 1):
            told = publish_symbol(mechanism, offer, symbol)
            assert (told.value, told.low, told.high, told.source) == (symbol, -5.0, 20.0, "test")
        for symbol in (2, -1, "yes", 0.5, [1]):
            with pytest.raises(ValueError, match="no outcome"):
                publish_symbol(mechanism, offer, symbol)  # type: ignore[arg-type]


def test_who_cannot_test_says_why() -> None:
    naive = Naive()
    with pytest.raises(Unaskable, match="nothing can be promised any more"):
        offer_test(naive, naive.begin(100, 0.95), TEST)
    with pytest.raises(ValueError, match="Naive tests no hypotheses"):
        publish_symbol(
            naive, Offer(1, 100, "binary", 0.0, 1.0, True, False, -3.0, HypothesisPayload((1, 0.5, 0.05))), 1
        )
    one_bit = AboveThreshold(0.5)
    with pytest.raises(Unaskable, match="seal rows with GuessAndCheck to test"):
        offer_test(one_bit, one_bit.begin(100, 0.95), TEST)


def test_every_kind_is_judged_by_its_own_test() -> None:
    log = math.log(0.01)

    def rejected(offer: Offer, value: float, spread: float) -> bool:
        return rejects(replace(offer, log_level=-1.0), *offer.null[:2], value, spread, log)  # type: ignore[index]

    unit = Offer(1, 400, "unit", 10.0, 30.0, False, False, log, HypothesisPayload((1, 20.0, 0.05)))
    assert rejected(unit, 22.0, 1.0)
    assert not rejected(unit, 21.0, 1.0)
    assert rejected(with_numbers(unit, null=(-1, 20.0, 0.05)), 18.0, 1.0)
    paired = Offer(1, 1000, "paired", -1.0, 1.0, True, False, log, HypothesisPayload((1, 0.0, 0.05)))
    assert rejected(paired, 0.03, 0.09)  # 60 to 30: McNemar's p is 0.001
    assert not rejected(paired, 0.03, 0.5)
    assert not rejected(with_numbers(paired, null=(-1, 0.0, 0.05)), 0.03, 0.09)
    assert rejected(with_numbers(paired, null=(-1, 0.0, 0.05)), -0.03, 0.09)
    assert rejected(with_numbers(paired, null=(1, -0.05, 0.05)), 0.03, 0.09)
    assert not rejected(with_numbers(paired, null=(1, 0.02, 0.05)), 0.03, 0.09)
    losses = replace(paired, low=-7.0, high=7.0, zero_one=False)
    assert rejected(losses, 0.5, 0.1)  # spread is a share of the span, the value is not
    assert not rejected(losses, 0.05, 0.1)


# ---------------------------------------------------------------- true hypotheses survive


@dataclass(frozen=True)
class Counted:
    """Rows of which only the numbers in each of a few classes matter, seen through sets of classes."""

    counts: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.counts)

    def value(self, classes: frozenset[int]) -> int:
        return sum(self.counts[c] for c in classes)


class Asked:
    """Stands for rows and question together: what ``exact_value`` and guess-and-check read."""

    def __init__(self, rows: Counted, classes: frozenset[int]) -> None:
        self.count = rows.value(classes)

    def statistics(self, queries: Any, part: Any = None) -> Any:
        return [self.count]


Law = tuple[float, ...]
SETS = [frozenset(c) for c in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))]


def play(mechanism: Mechanism, rows: Counted, law: Law, level: float, asks: int, corrected: bool) -> bool:
    """Whether an analyst who looks for luck gets a true hypothesis rejected.

    Every hypothesis is true, at its very edge. The analyst learns which questions the rows are extreme in, and tests
    those, at another level now and then.
    """
    state: State = mechanism.begin(rows.size, 0.5, asks)
    plain = Facts("binary", 0.0, 1.0, zero_one=True)
    high: list[frozenset[int]] = []
    low: list[frozenset[int]] = []
    for turn in range(asks):
        if turn % 3 == 0:
            classes = SETS[(turn // 3) % len(SETS)]
            truth = sum(law[c] for c in classes)
            offer = mechanism.offer(state, plain, Guess(truth, error=0.0))
        else:
            pile, side = (high, 1) if turn % 2 or not low else (low, -1)
            classes = pile[-1] if pile else SETS[turn % len(SETS)]
            truth = sum(law[c] for c in classes)
            at = level if turn % 4 else level / 2
            offer = mechanism.offer_test(state, replace(plain, null=(side, truth, at)))
            if not corrected:
                offer = with_numbers(replace(offer, log_level=math.log(at)), place=None)
        reply = mechanism.answer(state, offer, None, Asked(rows, classes))  # type: ignore[arg-type]
        if offer.null is not None and reply.symbol == 1:
            return True
        if offer.null is None and isinstance(reply.symbol, int):
            if offer.payload.guess is None:
                (high if reply.symbol >= offer.payload.cells / 2 else low).append(classes)
            elif reply.symbol:
                (high if reply.symbol > 0 else low).append(classes)
        state = mechanism.after(state, reply.event)
    return False


def chance(mechanism: Mechanism, law: Law, level: float, asks: int, rows: int = 24, corrected: bool = True) -> float:
    """The exact probability that any true hypothesis is rejected."""
    samples = [(a, b, rows - a - b) for a, b in product(range(rows + 1), repeat=2) if a + b <= rows]
    weights = multinomial.pmf(samples, rows, law)
    lost = [play(mechanism, Counted(sample), law, level, asks, corrected) for sample in samples]
    return float(np.sum(weights * lost))


@pytest.mark.parametrize("mechanism", [GuessAndCheck(z=0.3, cell=0.05), GuessAndCheck(), Rounding(6)])
@pytest.mark.parametrize("law", [(0.5, 0.3, 0.2), (0.9, 0.05, 0.05)])
@pytest.mark.parametrize("level", [0.9, 0.3, 0.05])
def test_true_hypotheses_are_rejected_no_more_often_than_the_level(
    mechanism: Mechanism, law: Law, level: float
) -> None:
    assert chance(mechanism, law, level, asks=12) <= level


def test_the_analyst_is_one_to_be_afraid_of() -> None:
    """At the uncorrected level the same analyst gets true hypotheses rejected well above the level."""
    talkative = GuessAndCheck(z=0.3, cell=0.05)
    for level in (0.3, 0.05):
        wrong = chance(talkative, (0.5, 0.3, 0.2), level, asks=12, corrected=False)
        assert wrong > 1.8 * level, (wrong, level)


def false_rejections(mechanism: GuessAndCheck, level: float, depth: int, corrected: bool) -> float:
    """The most that tests can lose, exactly: the largest sum of the chances that they reject at nodes of which none
    comes after another, where each node is visited with as much as its words may have.

    Every node is a test of a true share of one half, on one side or the other, at the level or at half of it. A
    rejection of a true hypothesis is one way to be the first; else the asker goes on, from whatever was said.
    """
    rows, place = 1_000, itertools.count()

    def lost(state: State, left: int) -> float:
        at = level / 2 if next(place) % 3 == 2 else level
        offer = mechanism.offer_test(state, replace(TEST, null=(1 if next(place) % 2 else -1, 0.5, at)))
        used = mechanism.test_level(offer) if corrected else math.log(at)
        # The fewest rows beyond one half that reject; both sides are alike.
        beyond = next(x for x in range(501) if rejects(offer, 1, 0.5, 0.5 + x / rows, 1.0, used))
        here = float(binom.sf(rows // 2 + beyond - 1, rows, 0.5))
        if left == 1:
            return here
        # "Not rejected" goes on; so may "rejected", of a hypothesis that was false: whichever loses more.
        calm, surprised = (lost(mechanism.after(state, mechanism.event(offer, word)), left - 1) for word in (0, 1))
        return calm + max(here, surprised)

    return lost(mechanism.begin(rows, 0.95), depth)


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_the_chances_at_first_rejections_add_up_to_no_more_than_the_level(level: float) -> None:
    assert 0.02 * level < false_rejections(GuessAndCheck(), level, 7, corrected=True) <= level
    assert false_rejections(GuessAndCheck(), level, 3, corrected=False) > level


def rejections_at_all_nodes(level: float, depth: int, planned: int | None) -> float:
    """Theorem C: the chances that the tests at *all* nodes reject, visited or not, by an older ledger's levels."""
    mechanism, rows = GuessAndCheck(law="C"), 1_000
    total, states = 0.0, [mechanism.begin(rows, 0.95, planned)]
    for _ in range(depth):
        later = []
        for place, state in enumerate(states):
            at = level / 2 if place % 3 == 2 else level
            offer = mechanism.offer_test(state, replace(TEST, null=(1, 0.5, at)))
            beyond = next(
                x for x in range(501) if rejects(offer, 1, 0.5, 0.5 + x / rows, 1.0, mechanism.test_level(offer))
            )
            total += float(binom.sf(rows // 2 + beyond - 1, rows, 0.5))
            later += [mechanism.after(state, mechanism.event(offer, symbol)) for symbol in (0, 1)]
        states = later
    return total


@pytest.mark.parametrize("planned", [None, 7])
@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_the_chances_at_all_nodes_of_an_older_ledger_add_up_to_no_more_than_the_level(
    level: float, planned: int | None
) -> None:
    assert 0.2 * level < rejections_at_all_nodes(level, 7, planned) <= level


def test_parts_looked_at_once_need_no_more_than_the_number_of_asks() -> None:
    """Sample splitting: k independent parts, each tested at level/k; all that can be lost is their sum."""
    law, level, asks, rows = (0.5, 0.3, 0.2), 0.5, 4, 40
    splitting = SampleSplitting()
    offer = splitting.offer_test(splitting.begin(rows, 0.95, asks), replace(TEST, null=(1, 0.5, level)))
    used = splitting.test_level(offer)
    counts = [x for x in range(offer.rows + 1) if rejects(offer, 1, 0.5, x / offer.rows, 1.0, used)]
    each = sum(binom.pmf(x, offer.rows, law[0]) for x in counts)
    assert 0 < each <= level / asks
