"""AboveThreshold: one bit, only the yeses cost, and one side has all of the level."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests.mechanisms.synthetic.nodes import Told, answered, chance_of_a_miss, largest_antichain, largest_miss, weight
from unworn import Holdout, col, mean, share
from unworn.bounds import clopper_pearson
from unworn.bounds.code_length import Pattern
from unworn.bounds.compression import code_length
from unworn.errors import Exhausted, Failed, Tampered, Unaskable
from unworn.events import Climbed, Described
from unworn.lab import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import AboveThreshold, Guess, Mechanism, Offer, from_json
from unworn.mechanisms.coded.above_threshold import BELOW, TOP
from unworn.mechanisms.coded.coded_mechanism import typical_state
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED, State
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.queries import accuracy, compare, function
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate

SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
X = np.random.default_rng(1).random(2_000)


def sealed(mechanism: Mechanism, **terms: Any) -> Holdout:
    return Holdout({"x": X}, mechanism=mechanism, **{"ledger": None, **terms})


def above(cut: float) -> Any:
    return share(col("x") > cut)


# ---------------------------------------------------------------- prices and widths


@pytest.mark.parametrize("runs_code", [False, True])
def test_no_nodes_of_which_none_follows_another_weigh_more_than_one(runs_code: bool) -> None:
    mechanism = AboveThreshold(0.5, tops=None)
    facts = Facts("binary", 0.0, 1.0, zero_one=True, runs_code=runs_code)
    words: list[Any] = [BELOW, TOP, RAISED, STOPPED]
    state = mechanism.begin(50, 0.95)
    total = largest_antichain(mechanism, state, lambda state: [mechanism.offer(state, facts, None)], lambda _: words, 6)
    assert 1 - 1e-8 < total <= 1 + 1e-12


@pytest.mark.parametrize("planned", [None, 7])
@pytest.mark.parametrize("runs_code", [False, True])
def test_all_nodes_of_an_older_ledger_weigh_at_most_one(planned: int | None, runs_code: bool) -> None:
    mechanism = AboveThreshold(0.5, tops=None, law="C")
    facts = Facts("binary", 0.0, 1.0, zero_one=True, runs_code=runs_code)
    words: list[Any] = [BELOW, TOP, RAISED] if runs_code else [BELOW, TOP]
    total = weight(mechanism, mechanism.begin(50, 0.95, planned), facts, lambda offer: words, 7)
    assert 0.3 < total <= 1.0


@pytest.mark.parametrize("law", ["C", "C'"])
def test_the_code_is_that_of_the_tops(law: Any) -> None:
    mechanism = AboveThreshold(0.5, tops=None, law=law)
    state, pattern = mechanism.begin(1_000, 0.95), Pattern()
    for index in range(1, 40):
        offer = mechanism.offer(state, SHARE, Guess(0.5))  # a guess changes nothing
        tops = len([i for i in range(1, index) if i % 7 == 3])
        nats = pattern.nats if law == "C'" else code_length(index, tops, 0.0)
        assert offer.log_level == pytest.approx(math.log(0.05) - nats)
        assert mechanism.spent(state) == pytest.approx(nats)
        state = mechanism.after(state, mechanism.event(offer, TOP if index % 7 == 3 else BELOW))
        pattern = pattern.after("asker", index % 7 == 3)


TABLE = {
    (1_000, 1): (0.0288, 0.0182),
    (1_000, 5): (0.0452, 0.0294),
    (1_000, 20): (0.0734, 0.0500),
    (100_000, 1): (0.0358, 0.0229),
    (100_000, 5): (0.0583, 0.0387),
    (100_000, 20): (0.1003, 0.0715),
}


@pytest.mark.parametrize(("asks", "tops"), TABLE)
def test_widths_around_the_threshold(asks: int, tops: int) -> None:
    """The table of Theorem C's two-sided limits at the last planned ask, after so many tops.

    One side with all the level is within it, and so, without a plan, is Theorem C′, wherever the tops fell.
    """
    for threshold, known in zip((0.5, 0.1), TABLE[asks, tops], strict=True):
        mechanism = AboveThreshold(threshold, tops=None)
        state = State(10_000, math.log(0.05), asks, asks - 1, tops)
        offer = mechanism.offer(state, SHARE, None)
        two_sided = clopper_pearson(round(threshold * 10_000), 10_000, offer.log_level)
        assert float(two_sided[1]) - threshold == pytest.approx(known, abs=6e-5)
        below, top = publish_symbol(mechanism, offer, BELOW), publish_symbol(mechanism, offer, TOP)
        assert 0.96 * known < below.high - threshold < known
        assert two_sided[0] < top.low < threshold
        assert (below.low, top.high) == (0.0, 1.0)
        newer = typical_state(mechanism.begin(10_000, 0.95), asks - 1, tops, 0.0)
        assert publish_symbol(mechanism, mechanism.offer(newer, SHARE, None), BELOW).high <= below.high


def test_while_nothing_is_above_nothing_wears_out() -> None:
    mechanism = AboveThreshold(0.5, tops=None)
    state = mechanism.begin(10_000, 0.95)
    reach = [publish_symbol(mechanism, mechanism.offer(state, SHARE, None), BELOW).high]
    for _ in range(2_000):
        state = mechanism.after(state, mechanism.event(mechanism.offer(state, SHARE, None), BELOW))
        reach.append(publish_symbol(mechanism, mechanism.offer(state, SHARE, None), BELOW).high)
    assert reach == sorted(reach)
    plain, last = 0.5 + 1.645 * 0.005, 0.5 + 1.98 * 0.005  # one side at .05, and at .025
    assert reach[0] == pytest.approx(plain, abs=3e-4)
    assert reach[-1] < last


@given(
    st.integers(1, 60),
    st.sampled_from([0.0]) | st.floats(1e-12, 1.0),
    st.floats(-12.0, -0.7),
    st.sampled_from(["binary", "unit", "paired"]),
    st.integers(0, 3),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_no_population_misses_with_more_than_the_level(
    rows: int, where: float, level: float, kind: Any, tops: int
) -> None:
    """Exactly, over all counts: with 0/1 values at the ends of the range, whatever the kind is taken for."""
    low = 0.0 if kind == "binary" else -1.0
    mechanism = AboveThreshold(low + where * (1.0 - low), tops=None)
    facts, grid = Facts(kind, low, 1.0, kind == "binary"), np.linspace(low, 1, 21)
    state = mechanism.begin(rows, -math.expm1(level))
    for symbol in [BELOW] * 3 + [TOP] * tops:
        state = mechanism.after(state, mechanism.event(mechanism.offer(state, facts, None), symbol))
    assert largest_miss(mechanism, state, mechanism.offer(state, facts, None), grid) <= 1 + 1e-6
    offer = Offer(1, rows, kind, low, 1.0, kind == "binary", False, level)
    assert chance_of_a_miss(mechanism, offer, grid) <= math.exp(level) * (1 + 1e-6)


def ceiling(offer: Offer, value: float) -> float:
    return interval(offer, (offer.low, value), 1.0, offer.log_level)[1]


def floor(offer: Offer, value: float) -> float:
    return interval(offer, (value, offer.high), 1.0, offer.log_level)[0]


def test_the_level_is_used_up() -> None:
    """At a limit of a 0/1 question the chance is the level itself, not half of it."""
    offer = Offer(1, 400, "binary", 0.0, 1.0, True, False, math.log(1e-3))
    for value in (0.1, 0.5, 0.9):
        count = round(value * 400)
        assert binom.cdf(count, 400, ceiling(offer, value)) == pytest.approx(1e-3, rel=1e-6)
        assert binom.sf(count - 1, 400, floor(offer, value)) == pytest.approx(1e-3, rel=1e-6)
    assert (ceiling(offer, 1.0), floor(offer, 0.0)) == (1.0, 0.0)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-40, -1), st.integers(2, 3_000), st.sampled_from(["binary", "unit"]))
@settings(derandomize=True, deadline=None)
def test_one_sided_limits_move_the_right_way(a: float, b: float, level: float, rows: int, kind: Any) -> None:
    def offer(log_level: float, n: int) -> Offer:
        return Offer(1, n, kind, 0.0, 1.0, kind == "binary", False, log_level)

    low, high = sorted((a, b))
    here = offer(level, rows)
    assert floor(here, low) <= floor(here, high)
    assert ceiling(here, low) <= ceiling(here, high)
    assert floor(here, high) <= math.ceil(high * rows) / rows + 1e-9
    assert ceiling(here, low) >= math.floor(low * rows) / rows - 1e-9
    stricter = offer(level - 1, rows)
    assert floor(stricter, high) <= floor(here, high)
    assert ceiling(stricter, low) >= ceiling(here, low)
    if kind == "unit":
        more = offer(level, 2 * rows)
        assert floor(more, high) >= floor(here, high) - 1e-12
        assert ceiling(more, low) <= ceiling(here, low) + 1e-12


def test_the_threshold_itself_is_a_top() -> None:
    mechanism = AboveThreshold(0.3, tops=None)
    offer = mechanism.offer(mechanism.begin(10, 0.95), SHARE, None)
    told = [answered(mechanism, offer, Told(count / 10, rows=10)) for count in range(11)]
    assert told == [BELOW] * 3 + [TOP] * 8
    for kind, low in (("unit", -2.0), ("paired", -1.0)):
        offer = mechanism.offer(mechanism.begin(10, 0.95), Facts(kind, low, 1.0), None)  # type: ignore[arg-type]
        values = (-0.5, math.nextafter(0.3, 0), 0.3, 0.9)
        told = [answered(mechanism, offer, Told(value, kind=kind)) for value in values]
        assert told == [BELOW, BELOW, TOP, TOP]


def last_reach(threshold: float, tops: int, rows: int = 10_000, asks: int = 1_000) -> float:
    """How far past the threshold the last answer of a plan reaches, when all tops but one have been given."""
    mechanism = AboveThreshold(threshold, tops)
    state = typical_state(mechanism.begin(rows, 0.95, asks), asks - 1, tops - 1, 0.0)
    return mechanism.beyond(mechanism.offer(state, SHARE, None))


def test_goals() -> None:
    assert AboveThreshold.for_(rows=1_000, asks=10) == AboveThreshold(0.5)
    for width, threshold in ((0.03, 0.5), (0.045, 0.5), (0.03, 0.1)):
        found = AboveThreshold.for_(rows=10_000, asks=1_000, width=width, threshold=threshold).tops
        assert found is not None
        assert last_reach(threshold, found) <= width < last_reach(threshold, found + 1)
    assert AboveThreshold.for_(rows=10_000, asks=1_000, width=0.5).tops == 501
    with pytest.raises(ValueError, match="bring more rows"):
        AboveThreshold.for_(rows=100, asks=1_000, width=0.01)
    assert AboveThreshold.for_(rows=10_000, asks=1, width=0.03).tops == 1


# ---------------------------------------------------------------- in a holdout


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_search_stops_after_its_tops(kept: str, tmp_path: Path) -> None:
    ledger = str(tmp_path / "search.db") if kept == "file" else None
    mechanism = AboveThreshold(0.5, tops=2)
    holdout = sealed(mechanism, ledger=ledger)
    cuts = [0.9, 0.7, 0.4, 0.8]
    answers = [holdout.ask(above(cut)) for cut in cuts]
    assert [answer.source for answer in answers] == ["below", "below", "above", "below"]
    assert [answer.value for answer in answers] == [0.25, 0.25, 0.75, 0.25]
    assert all(answer.low <= 1 - cut <= answer.high for answer, cut in zip(answers, cuts, strict=True))
    if kept == "file":
        holdout.close()
        holdout = sealed(mechanism, ledger=ledger)
    assert holdout.ask(above(0.4)).index == 3  # a repeat is free, and no top
    assert holdout.meter.surprises == 1
    assert holdout.ask(above(0.2)).source == "above"
    with pytest.raises(Exhausted, match=r"all 2 tops have been given\.\n  Seal fresh rows"):
        holdout.ask(above(0.3))
    assert holdout.meter.asked == 5
    assert holdout.meter.next_width is None
    assert holdout.ask(above(0.9)).index == 1
    holdout.verify()
    holdout.close()


def test_a_batch_that_could_run_out_is_refused_up_front() -> None:
    holdout = sealed(AboveThreshold(0.5, tops=2))
    with pytest.raises(Exhausted, match=r"only 2 of 2 tops are left.*\n.*batches of at most 2"):
        holdout.ask_many([above(0.9), above(0.8), above(0.7)])  # none would be a top, but that is not public
    assert holdout.meter.asked == 0
    told = holdout.ask_many([above(0.9), above(0.1)])
    assert [answer.source for answer in told] == ["below", "above"]
    holdout.ask(above(0.8))
    holdout.verify()
    endless = sealed(AboveThreshold(0.5, tops=None))
    assert len(endless.ask_many([above(cut / 10) for cut in range(10)])) == 10
    endless.verify()


def test_thresholds_are_in_the_questions_own_units() -> None:
    holdout = sealed(AboveThreshold(40.0, tops=None))
    euros = holdout.ask(mean(col("x").fill(0) * 100, range=(0, 100)))
    assert euros.source == "above"
    assert 30 < euros.low < 40 < euros.high == 100
    with pytest.raises(Unaskable, match=r"range \[0, 1\] does not contain the threshold 40"):
        holdout.ask(above(0.5))
    assert holdout.meter.asked == 1
    assert holdout.meter.next_width == pytest.approx(0.5)  # of a 0/1 question, which nobody can ask here
    labels = (X > 0.5).astype(int)
    board = Holdout(None, labels, mechanism=AboveThreshold(0.1, tops=None), ledger=None)
    worse = np.where(np.arange(X.size) % 4 == 0, 1 - labels, labels)
    difference = board.ask(compare(accuracy(labels), accuracy(worse)))
    assert (difference.source, difference.high) == ("above", 1.0)
    assert 0 < difference.low < 0.1
    with pytest.raises(Unaskable, match="GuessAndCheck to test"):
        board.test(accuracy(labels), above=0.5)


def test_code_that_fails_is_paid_for_and_uses_up_a_top() -> None:
    holdout = sealed(AboveThreshold(0.5, tops=2))
    with pytest.raises(Failed):
        holdout.ask(function(lambda columns: 1 / 0, range=(0, 1), name="broken"))
    record = holdout._desk.transcript.records[-1]
    half = pytest.approx(math.log(2), abs=2e-9)
    assert isinstance(record.event, Described)
    assert (record.event.surprise, record.event.nats) == (True, half)
    assert (record.published.low, record.published.high) == (0.0, 1.0)
    fine = holdout.ask(function(lambda columns: columns["x"] > 0.1, range=(0, 1), name="fine"))
    event = fine.certificate.record.event
    assert isinstance(event, Described)
    assert (event.surprise, event.nats) == (True, half)
    with pytest.raises(Exhausted, match="all 2 tops"):
        holdout.ask(above(0.9))
    holdout.verify()


def test_a_card_alone_with_its_ledger_and_forged(tmp_path: Path) -> None:
    holdout = sealed(AboveThreshold(0.5, tops=3))
    holdout.ask(above(0.2))
    answer = holdout.ask(above(0.7))
    entries = holdout._desk.transcript.entries
    card = answer.certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify()
    Certificate.load(card).verify(entries)
    assert answer.certificate.numbers["threshold"] == 0.5
    text = card.read_text()
    for old, new in (('"symbol": 0', '"symbol": 1'), ('"source": "below"', '"source": "above"')):
        assert old in text
        card.write_text(text.replace(old, new))
        with pytest.raises(Tampered):
            Certificate.load(card).verify()
    for symbol in (2, -1, True, 0.0, "yes", [0]):
        with pytest.raises(ValueError, match="words here are 0 to 1"):
            holdout.mechanism.event(answer.certificate.record.offer, symbol)
    assert from_json(json.loads(json.dumps(mechanism_json(holdout.mechanism)))) == holdout.mechanism


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"threshold": math.nan}, "finite number"),
        ({"threshold": math.inf}, "finite number"),
        ({"threshold": True}, "must be a number"),
        ({"threshold": 0.5, "tops": 0}, "at least 1"),
        ({"threshold": 0.5, "tops": 1.5}, "whole number"),
        ({"threshold": 0.5, "tops": True}, "whole number"),
    ],
)
def test_parameters_are_checked(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AboveThreshold(**bad)
    with pytest.raises(TypeError, match="does not know"):
        AboveThreshold(0.5).after(AboveThreshold(0.5).begin(10, 0.95), Climbed(1, 0.0))


def test_it_holds_where_the_rows_are_mined_for_tops() -> None:
    """Coins that look right more often than not are kept, and their vote is asked. All truths are one half.

    Confidence is 1 - 1e-7, so by the promise itself a false alarm has a chance below 1e-7 a run.
    """
    rows, asks = 200, 1_000
    for seed in range(2):
        rng = np.random.default_rng([11, seed])
        scene = SignWorld().draw(rows, asks, rng)
        terms: dict[str, Any] = {"confidence": 1 - 1e-7, "asks": asks + 1, "ledger": SeededStore(rng)}
        holdout = Holdout(None, scene.labels, mechanism=AboveThreshold(0.55, tops=None), **{"ledger": None, **terms})
        told = [holdout.ask(scene.probe(j).question) for j in range(asks)]
        vote = holdout.ask(scene.vote([float(answer.source == "above") for answer in told]).question)
        assert all(answer.low <= 0.5 <= answer.high for answer in [*told, vote])
        assert holdout.meter.surprises > 40
        assert vote.source == "above"  # overfitted, and the interval knows
