"""Tests read off noisy answers: the verdict, what it costs, what a replay finds, and what is refused for nothing."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Certificate, Exhausted, Holdout, Unaskable, accuracy, col, compare, mean, share
from unworn.errors import Tampered
from unworn.ledger import GENESIS, Entry, Key
from unworn.mechanisms import BoundedNoise, Gaussian, Laplace, OneSample, SparseVector, Subsampled
from unworn.mechanisms.contract.conversation import likely_width, publish_symbol
from unworn.mechanisms.contract.offer import Offer
from unworn.mechanisms.contract.offer_codec import PLACE_OF, offer_list, read_offer
from unworn.mechanisms.noisy.noisy_mechanism import Noisy
from unworn.mechanisms.noisy.privacy_price import noise_payload
from unworn.queries.query import Facts
from unworn.queries.statistic import statistic
from unworn.record.certificate import replay

ROWS = 20_000
X = np.random.default_rng(0).normal(size=(ROWS, 2))
Y = (X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=ROWS) > 0).astype(int)
GOOD = (X[:, 0] > 0).astype(int)  # right on 85 %
ASKS = 20
NOISES: dict[str, Callable[[], Noisy]] = {
    "F bounded": BoundedNoise,
    "D2 bounded": lambda: BoundedNoise(accounting="D2"),
    "F Gaussian": Gaussian,
    "D2 Gaussian": lambda: Gaussian(accounting="D2"),
    "D2 Laplace": Laplace,
    "subsampled": lambda: Subsampled.for_(rows=ROWS, asks=ASKS),  # takes seconds: not while tests are collected
}
every_noise = pytest.mark.parametrize("noise", NOISES)


@cache
def mechanism_of(noise: str) -> Noisy:
    return NOISES[noise]()


def opened(noise: str, **given: Any) -> Holdout:
    return Holdout(X, Y, mechanism=mechanism_of(noise), asks=ASKS, **{"ledger": None, **given})


def cards(holdout: Holdout) -> list[Certificate]:
    entries = holdout._desk.store.read(holdout.id)
    return [Certificate.of(entries[0], entry) for entry in entries[1:]]


@every_noise
def test_real_effects_are_found_and_each_test_costs_an_ask(noise: str) -> None:
    holdout = opened(noise)
    assert holdout.test(accuracy(GOOD), above=0.6)
    assert not holdout.test(accuracy(GOOD), above=0.84)  # true, and nearer than the interval reaches
    assert holdout.test(accuracy(GOOD), 0.01, below=0.99)
    assert holdout.test(accuracy(GOOD), 0.5, above=0.6)
    assert holdout.test(compare(accuracy(GOOD), accuracy(1 - GOOD)))
    assert not holdout.test(compare(accuracy(1 - GOOD), accuracy(GOOD)))
    assert holdout.test(mean(col("x0").fill(0), range=(-5, 5)), below=2.5)
    assert not holdout.test(mean(col("x0").fill(0), range=(-5, 5)), above=0.0)
    assert holdout.meter.asked == 8
    assert holdout.test(accuracy(GOOD), above=0.6).index == 1  # again: free
    assert holdout.meter.asked == 8
    holdout.verify()
    for card in cards(holdout):
        card.verify()
    for _ in range(ASKS - 8):
        holdout.ask("x0 > 0", again=True)
    with pytest.raises(Exhausted, match="planned"):
        holdout.test("x0 > 0", above=0.3)


@every_noise
def test_at_its_own_level_a_test_is_what_the_interval_says(noise: str) -> None:
    """And at a larger level too; the number that is released decides, and no p-value is worked out."""
    mechanism = mechanism_of(noise).settled(ROWS, 0.95, ASKS)
    state = mechanism.begin(ROWS, 0.95, ASKS)
    facts = Facts("binary", 0.0, 1.0, zero_one=True)
    plain = mechanism.offer(state, facts, None)
    for level in (0.05 + 1e-12, 0.4):
        test = mechanism.offer_test(state, Facts("binary", 0.0, 1.0, True, False, None, (1, 0.5, level)))
        steps = noise_payload(plain).steps
        verdicts = [mechanism.is_rejected(test, steps * percent // 100) for percent in range(40, 100)]
        lows = [publish_symbol(mechanism, plain, steps * percent // 100).low for percent in range(40, 100)]
        assert verdicts == [low > 0.5 for low in lows]
        assert True in verdicts
        assert False in verdicts
        assert test.log_level == plain.log_level
        assert mechanism.test_level(test) == pytest.approx(math.log(0.05))


@every_noise
@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.floats(1e-4, 0.9), st.floats(1e-4, 0.9), st.floats(-0.1, 1.1), st.floats(0.05, 0.9), st.sampled_from([1, -1]))
def test_a_smaller_level_never_rejects_more(
    noise: str, one: float, other: float, released: float, null: float, side: int
) -> None:
    """Without this, "any test of a level up to a" would say more than is proved."""
    mechanism = mechanism_of(noise).settled(ROWS, 0.95, ASKS)
    state = mechanism.begin(ROWS, 0.95, ASKS)
    tested = []
    for level in sorted([one, other]):
        try:
            offer = mechanism.offer_test(state, Facts("binary", 0.0, 1.0, True, False, None, (side, null, level)))
        except Unaskable:
            tested.append(False)
        else:
            tested.append(mechanism.is_rejected(offer, round(released * noise_payload(offer).steps)))
    assert tested[0] <= tested[1]


def test_statistics_are_tested_under_d2() -> None:
    spread = statistic(lambda columns: float(np.mean(columns["x"])), sensitivity=1 / ROWS, range=(0, 1), name="level")
    rows = {"x": (X[:, 0] > 0).astype(float)}
    for mechanism in (BoundedNoise(accounting="D2"), Gaussian(accounting="D2"), Laplace()):
        holdout = Holdout(rows, mechanism=mechanism, asks=ASKS, ledger=None)
        assert holdout.test(spread, above=0.3)
        assert not holdout.test(spread, above=0.48)
        assert holdout.test(spread, 0.01, below=0.75)
        holdout.verify()
        for card in cards(holdout):
            card.verify()
    with pytest.raises(Unaskable, match="priced as means"):
        Holdout(rows, mechanism=BoundedNoise(), asks=ASKS, ledger=None).test(spread, above=0.3)


@pytest.mark.parametrize("engine", ["", "duckdb:"])
def test_rows_in_files_are_tested_too(engine: str, tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    if engine:
        pytest.importorskip("duckdb")
    parquet.write_table(table.table({"x0": X[:, 0], "x1": X[:, 1]}), tmp_path / "rows.parquet")
    for mechanism in (BoundedNoise(), mechanism_of("subsampled")):
        holdout = Holdout(f"{engine}{tmp_path / 'rows.parquet'}", mechanism=mechanism, asks=ASKS, ledger=None)
        assert holdout.test("x0 > 0", above=0.3)
        assert not holdout.test("x0 > 0", above=0.6)
        assert holdout.test(mean(col("x1").fill(0), range=(-5, 5)), 0.02, below=4.0)
        holdout.verify()
        holdout.close()


def test_verdicts_outlive_the_program(tmp_path: Path) -> None:
    holdout = opened("F bounded", ledger=tmp_path / "t.db")
    first = holdout.test(accuracy(GOOD), 0.01, above=0.6)
    assert first.corrected_level == pytest.approx(0.01)
    first.certificate.save(tmp_path / "card.json")
    holdout.close()
    again = opened("F bounded", ledger=tmp_path / "t.db")
    assert again.test(accuracy(GOOD), 0.01, above=0.6) == first
    assert again.meter.asked == 1
    again.verify(tmp_path / "card.json")
    assert str(again._desk.answer(1)).endswith("rejected at level 0.01? yes")


def test_what_no_rows_could_reject_is_refused_for_nothing() -> None:
    holdout = opened("D2 Gaussian")
    with pytest.raises(Unaskable, match="no rows could reject this at level 1e-09"):
        holdout.test("x0 > 0", 1e-9, above=0.3)
    with pytest.raises(Unaskable, match="even if every row spoke against it"):
        holdout.test("x0 > 0", above=0.99)
    assert (holdout.meter.asked, holdout.meter.refused) == (0, 2)
    assert not holdout.test("x0 > 0", above=0.6)


def test_who_cannot_still_refuses() -> None:
    for mechanism, match in ((OneSample(), "answers with coins"), (SparseVector(0.5), "by themselves")):
        holdout = Holdout(X, Y, mechanism=mechanism, asks=10, ledger=None)
        with pytest.raises(Unaskable, match=match):
            holdout.test("x0 > 0", above=0.4)
        assert holdout.meter.asked == 0


@every_noise
def test_offers_stand_in_the_ledger_as_they_are(noise: str) -> None:
    mechanism = mechanism_of(noise).settled(ROWS, 0.95, ASKS)
    state = mechanism.begin(ROWS, 0.95, ASKS)
    offer = mechanism.offer_test(state, Facts("binary", 0.0, 1.0, True, False, None, (-1, 0.7, 0.01)))
    assert read_offer(offer_list(offer)) == offer
    plain = mechanism.offer(state, Facts("binary", 0.0, 1.0, True), None)
    assert read_offer(offer_list(plain)) == plain
    assert mechanism.event(offer, 0) == mechanism.event(plain, 0)
    assert likely_width(mechanism, plain) < 0.5
    with pytest.raises(ValueError, match="tests no hypothesis"):
        mechanism.is_rejected(plain, 0)


# ---------------------------------------------------------------- replay and tampering


@pytest.fixture(scope="module", params=["F bounded", "D2 bounded", "F Gaussian", "D2 Laplace"])
def chain(request: pytest.FixtureRequest) -> list[Entry]:
    holdout = opened(request.param)
    holdout.ask("x0 > 0")
    assert holdout.test(accuracy(GOOD), 0.02, above=0.6)
    assert not holdout.test("x0 > 0", 0.02, above=0.5)
    assert holdout.test(compare(accuracy(GOOD), accuracy(1 - GOOD)))
    return holdout._desk.store.read(holdout.id)


def forged(chain: list[Entry], index: int, change: Callable[[dict[str, Any]], None]) -> list[Entry]:
    """The same chain with one body changed, sealed anew from there by somebody who has a key."""
    key, entries = Key(bytes(range(32))), list[Entry]()
    for place, entry in enumerate(chain):
        body = copy.deepcopy(entry.body)
        if place == 0:
            body["public"] = key.public
        if place == index:
            change(body)
        previous = entries[-1].hash if entries else GENESIS
        entries.append(Entry.seal(entry.holdout, place, previous, body, key))
    return entries


NULL, PRICE, LEVEL = PLACE_OF["null"], PLACE_OF["price"], PLACE_OF["log_level"]


def scaled(place: int, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        body["offer"][PRICE][place] *= factor

    return change


def lower_level(body: dict[str, Any]) -> None:
    body["question"]["level"] = body["offer"][NULL][2] = 0.01


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "the verdict": lambda body: body["published"].__setitem__(0, 1.0 - body["published"][0]),
    "the level asked for": lambda body: body["question"].update(level=0.01),
    "the level everywhere": lower_level,
    "the level of the plan": lambda body: body["offer"].__setitem__(LEVEL, math.log(0.5)),
    "the value tested": lambda body: body["offer"][NULL].__setitem__(1, 0.55),
    "the side": lambda body: body["offer"][NULL].__setitem__(0, -1),
    "less noise": scaled(0, 0.95),
    "far less noise": scaled(0, 0.5),
    "what is left open": scaled(2, 0.9),
    "the second number": scaled(1, 0.9),
    "an outcome that is not a number": lambda body: body.update(symbol="yes"),
    "the hypothesis left out": lambda body: body["offer"].__setitem__(NULL, None),
    "a guess": lambda body: body.update(guess=[0.5, None, None, "asker"]),
}


@pytest.mark.parametrize("index", [2, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_found_even_by_a_new_seal(chain: list[Entry], index: int, change: str) -> None:
    replay(chain)
    replay(forged(chain, 0, lambda body: None))
    with pytest.raises(Tampered):
        replay(forged(chain, index, CHANGES[change]))


ALONE = ["the verdict", "the level asked for", "the level everywhere", "far less noise", "what is left open"]


@pytest.mark.parametrize("change", [*ALONE, "the second number", "an outcome that is not a number"])
def test_a_card_alone_finds_what_does_not_follow(chain: list[Entry], change: str) -> None:
    entries = forged(chain, 2, CHANGES[change])
    with pytest.raises(Tampered):
        Certificate.of(entries[0], entries[2]).verify()


def test_a_tested_question_is_the_one_that_was_priced(chain: list[Entry]) -> None:
    def other_range(body: dict[str, Any]) -> None:
        body["question"]["of"] = mean(col("x0").fill(0), range=(0, 9)).to_json()

    with pytest.raises(Tampered, match="another question"):
        replay(forged(chain, 3, other_range))


def test_the_released_number_is_all_that_the_rows_say() -> None:
    """A test enters what an ask would: the same form, the same event, and a verdict that follows from it."""
    holdout = opened("F bounded")
    holdout.ask("x0 > 0")
    holdout.test("x0 > 0", above=0.3)
    asked, tested = (card.record for card in cards(holdout))
    assert asked.event == tested.event
    assert type(asked.symbol) is type(tested.symbol) is int
    assert asked.symbol != tested.symbol  # noise of its own
    offer: Offer = tested.offer
    assert publish_symbol(mechanism_of("F bounded").settled(ROWS, 0.95, ASKS), offer, tested.symbol) == tested.published
    assert (tested.published.value, tested.published.low, tested.published.high) == (1.0, 0.0, 1.0)
    assert share(col("x0") > 0).label in tested.label
