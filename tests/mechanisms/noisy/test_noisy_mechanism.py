"""Noisy mechanisms through the real holdout: one price a plan, integers released, and refusals that say what to do."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import Exhausted, Mismatch, Tampered, Unaskable
from unworn.events import Described, Noised
from unworn.ledger import GENESIS, Entry, Key
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import BoundedNoise, Gaussian, GuessAndCheck, Laplace, Offer, OneSample, Subsampled
from unworn.mechanisms.contract.conversation import publish_symbol, widest_width
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.noisy.noisy_mechanism import Noisy
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, price
from unworn.queries import function, statistic
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate

ROWS, ASKS = 20_000, 60
SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
NOISY: dict[str, Noisy] = {
    "bounded": BoundedNoise(),
    "gaussian": Gaussian(),
    "laplace": Laplace(),
    "subsampled": Subsampled(drawn=8_000),
    "subsampled, with replacement": Subsampled(drawn=8_000, replace=True),
}


def people(rows: int = ROWS, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 90, rows), "income": rng.gamma(2.0, 20_000, rows)}


def sealed(mechanism: Noisy | OneSample, asks: int = ASKS, **options: object) -> Holdout:
    options.setdefault("ledger", SeededStore(np.random.default_rng(5)))
    return Holdout(people(), mechanism=mechanism, asks=asks, **{"ledger": None, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NOISY)
def test_answers_come_with_the_width_of_the_plan_and_cover(name: str) -> None:
    """False alarm: the mechanism's own 5 % is far above what honest questions use; the draws are seeded anyway."""
    holdout = sealed(NOISY[name])
    answers = [holdout.ask(share(col("age") > limit)) for limit in range(30, 80, 2)]
    truths = [(89 - limit) / 72 for limit in range(30, 80, 2)]
    assert all(answer.low <= truth <= answer.high for answer, truth in zip(answers, truths, strict=True))
    assert {answer.source for answer in answers} == {"noise"}
    assert max(answer.width for answer in answers) < 0.25
    prices = {answer.certificate.record.offer.payload.price for answer in answers}
    assert len(prices) == 1  # the same for the first as for the last
    for answer in answers:
        assert isinstance(answer.certificate.record.symbol, int)  # nothing but a whole number is released


@pytest.mark.parametrize("name", NOISY)
def test_means_and_paired_questions_are_asked_in_their_own_units(name: str) -> None:
    holdout = sealed(NOISY[name], schema={"income": "number"})
    income = holdout.ask(mean(col("income"), range=(0, 200_000)))
    assert income.low <= 40_000 * 0.999 <= income.high  # clipping at 200,000 takes off less than a thousandth
    assert 1_000 < income.width < 50_000
    labels = np.random.default_rng(2).integers(0, 2, ROWS)
    board = Holdout(None, labels, mechanism=NOISY[name], asks=ASKS, ledger=SeededStore(np.random.default_rng(6)))
    worse = np.where(np.arange(ROWS) % 4 == 0, 1 - labels, labels)
    difference = board.compare(labels, worse)
    assert difference.low <= 0.25 <= difference.high
    assert -1 <= difference.low < difference.high <= 1


def test_the_plan_is_kept_to_the_ask_and_needed_from_the_start() -> None:
    holdout = sealed(Gaussian(0.05), asks=2)
    for limit in (30, 40):
        holdout.ask(share(col("age") > limit))
    assert holdout.ask(share(col("age") > 30)).index == 1  # a repeat is free
    with pytest.raises(Exhausted, match="2 planned asks"):
        holdout.ask(share(col("age") > 50))
    with pytest.raises(ValueError, match="asks="):
        Holdout(people(), mechanism=Gaussian(0.05), ledger=None)
    assert holdout.meter.currency == "mu"
    assert holdout.meter.spent == pytest.approx(math.sqrt(2) / (ROWS * 0.05))


def test_again_draws_fresh_noise_and_a_restart_repeats_it(tmp_path: Path) -> None:
    data, ledger = people(), str(tmp_path / "noise.db")
    holdout = Holdout(data, mechanism=Laplace(), asks=10, ledger=ledger)
    question = share(col("age") > 50)
    told = [holdout.ask(question, again=True).certificate.record.symbol for _ in range(5)]
    assert len(set(told)) > 1  # two draws are the same once in hundreds, five once in more than 1e8
    holdout.close()
    reopened = Holdout(data, mechanism=Laplace(), asks=10, ledger=ledger)  # the sealed scale stands in for None
    assert reopened.ask(question).certificate.record.symbol == told[-1]
    assert reopened.mechanism.scale is not None
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(data, mechanism=Laplace(0.3), asks=10, ledger=ledger)
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(data, mechanism=Gaussian(), asks=10, ledger=ledger)


@pytest.mark.parametrize("name", NOISY)
def test_a_card_is_checked_alone_and_against_the_ledger(name: str, tmp_path: Path) -> None:
    holdout = sealed(NOISY[name])
    answer = holdout.ask(share(col("age") > 50))
    card = answer.certificate.save(tmp_path / "card.json")
    entries = holdout.transcript.entries if hasattr(holdout, "transcript") else holdout._desk.transcript.entries
    Certificate.load(card).verify(entries)
    told = json.loads(card.read_text())
    assert told["numbers"]["noise"] > 0
    assert any("seed" in words for words in told["assumptions"])  # a simulation says that it is one
    told["entry"]["body"]["offer"] = [
        [0.0, 0.0, 0.0] if value == list(answer.certificate.record.offer.payload.price or ()) else value
        for value in told["entry"]["body"]["offer"]
    ]
    card.write_text(json.dumps(told))
    with pytest.raises(Tampered):
        Certificate.load(card).verify()


@pytest.mark.parametrize("mechanism", [*NOISY.values(), OneSample(0.2)])
def test_code_on_the_rows_is_refused_before_it_runs(mechanism: Noisy | OneSample) -> None:
    holdout, ran = Holdout({"age": np.zeros(ROWS)}, mechanism=mechanism, asks=ASKS, ledger=None), []

    def peek(columns: dict[str, np.ndarray]) -> np.ndarray:
        ran.append(1)
        return columns["age"]

    with pytest.raises(Unaskable, match="array"):
        holdout.ask(function(peek, range=(0, 1)))
    assert not ran
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("mechanism", [BoundedNoise(accounting="D2"), Gaussian(accounting="D2"), Laplace()])
def test_a_statistic_of_low_sensitivity(mechanism: Noisy) -> None:
    """The share of rows above 50 as a statistic: a truth is known. Rounded to steps of its sensitivity."""
    holdout = sealed(mechanism)
    above = statistic(lambda columns: float(np.mean(columns["age"] > 50)), sensitivity=1 / ROWS, range=(0, 1))
    answer = holdout.ask(above)
    assert answer.low <= 39 / 72 <= answer.high
    plain = holdout.ask(share(col("age") > 50))
    assert answer.width == pytest.approx(plain.width, rel=0.2)
    assert any("sensitivity" in words for words in answer.certificate.assumptions)
    wide = statistic(lambda columns: 0.5, sensitivity=10 / ROWS, range=(0, 1))
    assert holdout.quote(wide).width == pytest.approx(min(10 * plain.width, 0.5), rel=0.25)


def test_a_statistic_that_fails_counts_as_its_low_end() -> None:
    holdout = sealed(BoundedNoise(accounting="D2"))
    broken = statistic(lambda columns: 1 / 0, sensitivity=1 / ROWS, range=(0, 1))
    assert holdout.ask(broken).low == 0.0


def test_statistics_are_refused_where_they_have_no_answer() -> None:
    question = statistic(lambda columns: 0.5, sensitivity=0.1, range=(0, 1))
    with pytest.raises(Unaskable, match="BoundedNoise"):
        Holdout(people(), mechanism=GuessAndCheck(), ledger=None).ask(question)
    with pytest.raises(Unaskable, match="few of them"):
        sealed(Subsampled(drawn=100)).ask(question)


def test_one_sample_promises_a_coin() -> None:
    """Of 2,000 coins with chance within ± width of 3/4, the share of ones is within that and five standard errors."""
    rows, asks = 400_000, 2_000
    data = {"x": np.arange(rows) % 4}
    mechanism = OneSample.for_(rows=rows, asks=asks)
    holdout = Holdout(data, mechanism=mechanism, asks=asks, ledger=SeededStore(np.random.default_rng(8)))
    question = share(col("x") > 0)
    answers = [holdout.ask(question, again=True) for _ in range(asks)]
    width = answers[0].certificate.numbers["chance"]
    assert {answer.value for answer in answers} <= {0.0, 1.0}
    assert {(answer.low, answer.high) for answer in answers} == {(0.0, 1.0)}
    seen = np.mean([answer.value for answer in answers])
    assert abs(seen - 0.75) < width + 5 * math.sqrt(0.25 / asks)  # 5 sigma: false alarm below 1e-6
    assert width == pytest.approx(2 * mechanism.flip)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(0.0), "above 0"),
        (lambda: Gaussian(math.nan), "above 0"),
        (lambda: Laplace(-1.0), "above 0"),
        (lambda: BoundedNoise(math.inf), "finite"),
        (lambda: Subsampled(0.1, drawn=0), "at least 1"),
        (lambda: Subsampled(0.1, drawn=1.5), "whole number"),  # type: ignore[arg-type]
        (lambda: Subsampled(0.1, drawn=200).begin(100, 0.95, 10), "from 1 to the holdout's 100"),
        (lambda: OneSample(0.5), r"\(0, 0.5\)"),
        (lambda: OneSample(0.01).begin(1_000, 0.95, 10), "rows"),
        (lambda: Gaussian.for_(rows=1_000, asks=1_000, width=0.01), "bring more rows"),
        (lambda: BoundedNoise.for_(rows=0, asks=10), "rows"),
    ],
)
def test_bad_parameters_are_told_the_valid_range(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_an_event_of_another_plan_is_not_folded() -> None:
    mechanism = Gaussian(0.05)
    state = mechanism.begin(1_000, 0.95, 10)
    assert mechanism.after(state, Noised("gaussian", 50.0)).asked == 1
    for event in (Noised("gaussian", 60.0), Noised("laplace", 50.0), Described(False, 0.0)):
        with pytest.raises(TypeError):
            mechanism.after(state, event)


def test_the_price_is_computed_once() -> None:
    price.cache_clear()
    mechanism = Gaussian(0.05)
    state = mechanism.begin(10_000, 0.95, 1_000)
    for _ in range(50):
        mechanism.offer(state, SHARE, None)
    assert price.cache_info().misses == 1


def test_intervals_are_narrower_near_the_ends() -> None:
    mechanism = BoundedNoise.for_(rows=100_000, asks=5_000)
    offer = mechanism.offer(mechanism.begin(100_000, 0.95, 5_000), SHARE, None)
    middle, end = publish_symbol(mechanism, offer, 50_000), publish_symbol(mechanism, offer, 5_000)
    assert end.high - end.low < 0.97 * (middle.high - middle.low)
    assert widest_width(mechanism, offer) == pytest.approx((middle.high - middle.low) / 2)


def test_subsampled_for_a_goal_takes_no_more_rows_than_it_needs() -> None:
    goal = Subsampled.for_(rows=1_000_000, asks=100, width=0.05)
    assert price(goal, 1_000_000, 100, math.log(0.05)).width <= 0.05
    fewer = Subsampled(drawn=goal.drawn * 9 // 10)
    assert fewer.best(1_000_000, 100, 0.05)[1] > 0.05


@pytest.mark.parametrize("mechanism", [BoundedNoise(), Gaussian(), Laplace(), Subsampled(drawn=100)])
def test_a_plan_that_cannot_be_kept_is_refused_and_not_sealed_without_noise(mechanism: Noisy) -> None:
    with pytest.raises(ValueError, match="bring more rows"):
        Holdout(None, np.arange(300) % 2, mechanism=mechanism, asks=3_000, ledger=None)
    with pytest.raises(ValueError, match="bring more rows"):
        mechanism.for_(rows=300, asks=3_000)


@pytest.mark.parametrize("low", [-0.5, -0.05, 0.0, 0.05, 0.1, 1 / 3])
@pytest.mark.parametrize("rows", [10, 100, 1_000])
def test_one_row_moves_a_statistic_by_one_step(rows: int, low: float) -> None:
    """Shares that differ by one row, as floats: the difference may be more than the sensitivity by the last bit."""

    class Told:
        def __init__(self, value: float) -> None:
            self.value = value

        def statistic(self, query: object) -> float:
            return self.value

    payload = PlannedNoisePayload(rows, (0.0, 0.0, 0.0), 1 / rows)
    offer = Offer(1, rows, "statistic", low, 1.0, False, True, -3.0, payload)
    counts = [Laplace(0.1).count(offer, None, Told(max(row / rows, low)), None) for row in range(rows + 1)]  # type: ignore[arg-type]
    assert max(np.diff(counts)) <= 1


def test_parameters_of_any_kind_of_number_are_plain_numbers() -> None:
    assert Gaussian(np.float32(0.5)) == Gaussian(0.5)
    assert Subsampled(0.1, drawn=np.int64(10)) == Subsampled(0.1, drawn=10)
    assert json.dumps(mechanism_json(Subsampled(np.float64(0.25), drawn=np.int64(10))))
    for wrong in ("x", True, None):
        with pytest.raises(ValueError):
            Subsampled(0.1, drawn=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="number"):
        Gaussian("x")  # type: ignore[arg-type]


def test_the_price_is_recorded_with_the_terms_and_may_not_be_too_low() -> None:
    holdout = sealed(Gaussian(accounting="D2"))
    noise, tilt, floor = holdout.mechanism.price
    assert holdout.ask(share(col("age") > 50)).certificate.record.offer.payload.price == (noise, tilt, floor)
    wider = Gaussian(holdout.mechanism.scale, price=(noise + 0.01, tilt, floor))
    wider.begin(ROWS, 0.95, ASKS)  # another version may have found a wider one: it holds
    for cheap in ((noise * 0.99, tilt, floor), (noise, tilt * 0.9, floor), (noise, tilt, floor * 0.9)):
        with pytest.raises(ValueError, match="too low"):
            Gaussian(holdout.mechanism.scale, price=cheap).begin(ROWS, 0.95, ASKS)


def test_a_value_far_outside_the_range_says_that_nothing_is_known() -> None:
    mechanism = Gaussian(0.02)
    offer = mechanism.offer(mechanism.begin(ROWS, 0.95, ASKS), SHARE, None)
    told = publish_symbol(mechanism, offer, -offer.payload.steps)
    assert (told.value, told.low, told.high) == (0.0, 0.0, 1.0)


def test_a_search_is_refused_before_it_starts() -> None:
    labels = np.random.default_rng(2).integers(0, 2, ROWS)
    board = Holdout(people(), labels, mechanism=BoundedNoise(), asks=ASKS, ledger=None)
    with pytest.raises(Unaskable, match="array"):
        board.scorer("accuracy")


def test_code_cannot_look_at_the_holdout_that_runs_it() -> None:
    holdout, seen = sealed(BoundedNoise(accounting="D2")), []

    def peek(columns: dict[str, np.ndarray]) -> float:
        try:
            holdout.meter  # noqa: B018
        except Unaskable as why:
            seen.append(str(why))
        return 0.5

    holdout.ask(statistic(peek, sensitivity=1 / ROWS, range=(0, 1)))
    assert len(seen) == 1
    assert holdout.meter.asked == 1


@pytest.mark.parametrize("mechanism", [Laplace(), Gaussian(accounting="D2")])
def test_terms_that_leave_the_price_open_are_forged(mechanism: Noisy) -> None:
    """An offer at any price would follow from them."""
    holdout = sealed(mechanism)
    holdout.ask(share(col("age") > 50))
    first, entry = holdout._desk.transcript.entries[:2]
    key, terms, body = Key.new(), deepcopy(first.body), deepcopy(entry.body)
    terms["mechanism"]["price"], terms["public"] = None, key.public
    paid = list(holdout.mechanism.price)
    body["offer"] = [[0.0, 0.0, 0.0] if value == paid else value for value in body["offer"]]
    forged = Entry.seal(first.holdout, 0, GENESIS, terms, key)
    card = Certificate.of(forged, Entry.seal(first.holdout, 1, forged.hash, body, key))
    with pytest.raises(Tampered, match="leaves open"):
        card.verify()


def test_a_recorded_price_holds_if_it_promises_nothing_and_not_if_it_promises_too_much() -> None:
    """A floor of the whole range holds at any tilt; one of nothing at none."""
    settled = Laplace.for_(rows=1_000, asks=50).settled(1_000, 0.95, 50)
    assert settled.price is not None
    noise, tilt, floor = settled.price
    for told in ((noise, tilt, floor), (noise, tilt, 1.0), (noise, 2.0, 1.0), (noise, 0.0, 1.0)):
        replace(settled, price=told).begin(1_000, 0.95, 50)
    for told in ((noise, 0.0, 0.0), (0.5 * noise, tilt, 1.0), (noise, 2.0, 0.5), (noise, 2.5, 1.0)):
        with pytest.raises(ValueError, match="too low: it would not hold"):
            replace(settled, price=told).begin(1_000, 0.95, 50)
