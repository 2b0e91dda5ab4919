"""Guesses checked with noise: the exact optimum over all analysts at few rows, exact draws, ledgers and widths."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.mechanisms.changed_offers import number_in
from tests.mechanisms.coded.test_one_currency import FACTS, agreement_chances, worst
from unworn import Holdout, col, mean, plan, share
from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_agreement import AgreementTerms, surprise_nats
from unworn.errors import SmallHoldout, Tampered, Unaskable
from unworn.events import Matched
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Guess, GuessAndCheck, Offer, from_json
from unworn.mechanisms.coded import noisy_checks
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload, agreeing_reach, draw_agreement, guessed_count
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import RAISED
from unworn.mechanisms.contract.offer_codec import _PLACES, HEADER
from unworn.noise import Stream
from unworn.plan.guess_price import guess_width, noisy_check_width
from unworn.plan.option_prices import noise_width

CHECKED = GuessAndCheck(z=0.5, cell=0.2, surprises=1)


def small_terms(monkeypatch: pytest.MonkeyPatch, kept: float, rate: float, radius: int, reach: int) -> None:
    monkeypatch.setattr(noisy_checks, "choose_agreement", lambda *_: AgreementTerms(kept, rate, radius))
    monkeypatch.setattr(noisy_checks, "agreement_reach", lambda *_: reach)


@pytest.mark.parametrize("asks", ["c", "cf", "cc"])
@pytest.mark.parametrize("terms", [(0.4, 0.8, 3, 1), (0.5, 2.5, 2, 0), (0.05, 3.0, 2, 1)])
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_no_analyst_of_few_rows_passes_the_promise(
    monkeypatch: pytest.MonkeyPatch, asks: str, terms: tuple[float, float, int, int], beta: float
) -> None:
    """Exact: every sample of four rows, every noise; questions, and the guesses at them, at their best."""
    small_terms(monkeypatch, *terms)
    assert worst(CHECKED, 4, beta, asks) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_nor_in_longer_conversations(monkeypatch: pytest.MonkeyPatch, beta: float) -> None:
    small_terms(monkeypatch, 0.05, 3.0, 2, 1)
    assert worst(CHECKED, 4, beta, "ccf") <= 1.0


@pytest.mark.parametrize("charged", [True, False])
def test_mistake_surprises_that_cost_nothing(monkeypatch: pytest.MonkeyPatch, charged: bool) -> None:
    """Neither the check nor the noise that follows charged: then the promise is passed, and only then."""
    small_terms(monkeypatch, 0.1, 2.0, 2, 0)
    if not charged:
        free = lambda offer, payload, symbol: (isinstance(symbol, list), 0.0)  # noqa: E731
        monkeypatch.setattr("unworn.mechanisms.coded.blurred_counts.matched_cost", free)
        monkeypatch.setattr(noisy_checks, "matched_cost", free)
    assert (worst(CHECKED, 6, 0.5, "cf") <= 1.0) is charged


def checked(offer: Offer) -> NoisyCheckPayload:
    assert isinstance(offer.payload, NoisyCheckPayload)
    return offer.payload


def missed_at(truth: float, cut: bool) -> float:
    """The exact chance that one answer of 200 rows misses; without the cut, agreement may be told of any count."""
    mechanism = GuessAndCheck(surprises=25)
    offer = mechanism.offer(mechanism.begin(200, 0.95), FACTS, Guess(0.5, 0.0))
    agreeing = agreement_chances(offer)
    assert 10 < agreeing_reach(offer, checked(offer)) < 90
    if not cut:
        agreeing = np.where(agreeing > 0, agreeing, 1.0)
    told, missed = publish_symbol(mechanism, offer, 0), 0.0
    for count, chance in enumerate(binom.pmf(np.arange(201), 200, truth)):
        missed += chance * agreeing[count] * (not told.low <= truth <= told.high)
        for m in range(1 - offer.payload.radius, offer.payload.radius):
            likely = (1 + math.cos(math.pi * m / offer.payload.radius)) / (2 * offer.payload.radius)
            noisy = publish_symbol(mechanism, offer, [1, count + m])
            missed += chance * (1 - agreeing[count]) * likely * (not noisy.low <= truth <= noisy.high)
    return float(missed)


def test_a_checked_answer_holds_for_every_population() -> None:
    for truth in (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 0.99):
        assert missed_at(truth, cut=True) <= 0.05


def test_mistake_agreement_that_is_not_cut() -> None:
    """Limits as if agreement showed surely that the count is near, which it does not."""
    assert max(missed_at(truth, cut=False) for truth in (0.01, 0.99)) > 0.5


def test_agreement_is_drawn_with_the_chances_that_are_priced() -> None:
    """4,000 draws at each of some counts: none further off than one in 10^8 would be."""
    mechanism = GuessAndCheck(surprises=25)
    offer = mechanism.offer(mechanism.begin(1_000, 0.95), FACTS, Guess(0.3))
    payload = checked(offer)
    chances, guess, reach = agreement_chances(offer), guessed_count(offer, payload), agreeing_reach(offer, payload)
    for away in (0, 60, -90, reach, -reach, reach + 1, -reach - 1):
        chance, count = float(chances[guess + away]), guess + away
        streams = (Stream(bytes(32), "test", away, turn) for turn in range(4_000))
        drawn = sum(draw_agreement(offer, payload, count, stream) for stream in streams)
        assert min(binom.cdf(drawn, 4_000, chance), binom.sf(drawn - 1, 4_000, chance)) > 1e-9
    assert chances[guess] > 0.98
    assert 0.0 < chances[guess + reach] < 0.5


# ---------------------------------------------------------------- in a ledger


def made(ledger: Any = None, surprises: int | None = 25, rows: int = 3_000, **options: Any) -> Holdout:
    """With a key that is always the same, unless a ledger is given: what is drawn can be asserted."""
    values = np.random.default_rng(3).random(rows)
    mechanism = GuessAndCheck(surprises=surprises)
    ledger = SeededStore(np.random.default_rng(5)) if ledger is None else ledger
    return Holdout({"x": values}, ledger=ledger, mechanism=mechanism, schema={"x": "number"}, **options)


def test_answers_of_every_kind_cover_and_replay() -> None:
    holdout = made()
    quote = holdout.quote(share(col("x") < 0.3), guess=0.3)
    answers = [
        (holdout.ask(share(col("x") < 0.3), guess=0.3), 0.3),
        (holdout.ask(share(col("x") < 0.4), guess=0.9), 0.4),
        (holdout.ask(mean(col("x"), range=(0, 2)), guess=0.5), 0.5),
        (holdout.ask(share(col("x") < 0.45)), 0.45),
        (holdout.ask(share(col("x") < 0.03), guess=0.03, noise=True), 0.03),
        *zip(
            holdout.ask_many(
                [*(share(col("x") < t) for t in (0.5, 0.6, 0.7)), mean(col("x") * col("x"), range=(0, 1))],
                [0.5, 0.1, None, 0.9],
            ),
            (0.5, 0.6, 0.7, 1 / 3),
            strict=True,
        ),
    ]
    assert answers[0][0].width == pytest.approx(quote.width)
    holdout.test(share(col("x") < 0.5), above=0.3)
    answers.append((holdout.final(answers[2][0]), 0.5))
    sources = [answer.source for answer, _ in answers]
    assert sources == [
        "guess",
        "surprise",
        "guess",
        "noise",
        "noise",
        "guess",
        "surprise",
        "noise",
        "surprise",
        "final",
    ]
    assert all(answer.low <= truth <= answer.high for answer, truth in answers)
    assert holdout.meter.surprises == 4  # one is the test's
    holdout.verify()
    card = answers[1][0].certificate
    assert card.theorem == "one currency (Theorem U)"
    assert card.numbers["rate"] > 0
    assert "key" in " ".join(card.assumptions)


def test_agreement_costs_nothing_and_a_surprise_its_check_and_its_noise() -> None:
    holdout = made()
    agreed = holdout.ask(share(col("x") < 0.3), guess=0.3).certificate.record.offer.payload
    assert isinstance(agreed, NoisyCheckPayload)
    assert holdout.meter.spent < 1e-8
    holdout.ask(share(col("x") < 0.4), guess=0.9)
    cost = surprise_nats(3_000, agreed.kept, agreed.rate) + cosine_nats(3_000, agreed.kept, agreed.radius)
    assert holdout.meter.spent == pytest.approx(cost, abs=1e-8)
    assert 0.05 < cost < 0.5
    later = holdout.ask(share(col("x") < 0.5), guess=0.5).certificate.record.offer
    assert (checked(later).kept, checked(later).rate) == (agreed.kept, agreed.rate)
    side = holdout.mechanism.log_side(later, False, 0.0)  # type: ignore[attr-defined]
    assert side == pytest.approx((math.log(0.05) - cost) / (1 - checked(later).kept))


def test_it_goes_on_after_reopening_and_a_ledger_that_charges_less_is_found(tmp_path: Any) -> None:
    path = tmp_path / "checked.db"
    first = made(path)
    told = [first.ask(share(col("x") < t / 10), guess=0.3) for t in range(1, 6)]
    del first
    again = Holdout({"x": np.random.default_rng(3).random(3_000)}, ledger=path, schema={"x": "number"})
    assert again.mechanism.surprises == 25  # type: ignore[attr-defined]
    assert [again.ask(share(col("x") < t / 10)).value for t in range(1, 6)] == [answer.value for answer in told]
    again.ask(share(col("x") < 0.77), guess=0.77)
    again.verify()


def test_a_replay_finds_a_surprise_that_was_charged_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    holdout = made()
    with monkeypatch.context() as patch:
        patch.setattr("unworn.mechanisms.coded.blurred_counts.matched_cost", lambda offer, payload, symbol: (True, 0.0))
        patch.setattr(noisy_checks, "matched_cost", lambda offer, payload, symbol: (True, 0.0))
        holdout.ask(share(col("x") < 0.4), guess=0.9)
    with pytest.raises(Tampered):
        holdout.verify()


def test_more_surprises_than_planned_are_half_of_a_longer_plan() -> None:
    mechanism = GuessAndCheck(surprises=2)
    state = mechanism.begin(3_000, 0.95)
    rates = []
    for _ in range(12):
        offer = mechanism.offer(state, FACTS, Guess(0.5))
        rates.append(offer.payload.rate)
        state = follow_event(mechanism, state, charge_symbol(mechanism, offer, [1, 900]))
    assert state.surprises == 12
    assert len(set(rates)) == 4  # for 2, 4, 8 and 16
    assert rates == sorted(rates, reverse=True)
    assert state.kept >= offer.payload.kept > 0
    with pytest.raises(TypeError, match="never falls"):
        follow_event(mechanism, state, Matched(False, state.kept / 2, 0.0))


def test_what_nobody_asked_for_is_written_as_before() -> None:
    plain = GuessAndCheck(law="C'")
    assert "surprises" not in plain.to_json()
    assert from_json(plain.to_json()) == plain
    assert from_json(GuessAndCheck(surprises=7, law="C'").to_json()).surprises == 7  # type: ignore[attr-defined]
    state = plain.begin(500, 0.95)
    requested = plain.offer_noise(state, FACTS, Guess(0.02, 0.0))
    assert len(requested.to_json()) == 27  # as long as it was when noise by request came
    assert len(plain.offer(state, FACTS, Guess(0.5)).to_json()) == 22
    matched = GuessAndCheck(surprises=7).offer(state, FACTS, Guess(0.5))
    assert Offer.from_json(json.loads(json.dumps(matched.to_json()))) == matched
    for mistake in ({"rate": -1.0}, {"radius": 0}, {"guess": None}, {"most": 3}):
        forged = matched.to_json()
        for name, value in mistake.items():
            forged[HEADER + list(_PLACES).index(name)] = value
        with pytest.raises(ValueError):
            Offer.from_json(forged)


def test_comparisons_code_and_tests_are_checked_exactly() -> None:
    mechanism = GuessAndCheck(surprises=25)
    state = mechanism.begin(1_000, 0.95)
    for facts in (
        replace(FACTS, runs_code=True),
        replace(FACTS, kind="paired", low=-1.0, high=1.0),
    ):
        assert number_in(mechanism.offer(state, facts, Guess(0.1)), "rate") is None
    assert mechanism.offer(state, FACTS, Guess(0.1)).payload.rate > 0.0


def test_what_fails_has_a_word_and_symbols_that_cannot_be_are_refused() -> None:
    mechanism = GuessAndCheck(surprises=25)
    offer = mechanism.offer(mechanism.begin(50, 0.95), FACTS, Guess(0.5))
    raised, stopped = (charge_symbol(mechanism, offer, symbol).nats for symbol in (RAISED, "stopped"))  # type: ignore[union-attr]
    agreed = charge_symbol(mechanism, offer, 0).nats  # type: ignore[union-attr]
    assert sum(math.exp(-word) for word in (agreed, raised, stopped)) <= 1.0
    for symbol in (1, True, "7", [2, 3], [1], [1, 2.5], [1, 50 + offer.payload.radius], [1, -offer.payload.radius]):
        with pytest.raises((ValueError, TypeError)):
            publish_symbol(mechanism, offer, symbol)  # type: ignore[arg-type]
    assert publish_symbol(mechanism, offer, [1, 50 + offer.payload.radius - 1]).high == 1.0


@pytest.mark.parametrize("surprises", [0, -1, True, 2.5, "25", 10**30])
def test_planned_surprises_are_a_whole_number(surprises: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        GuessAndCheck(surprises=surprises)


def test_theorem_c_has_no_price_for_it_and_noise_nobody_can_sharpen() -> None:
    with pytest.raises(ValueError, match="Theorem C"):
        GuessAndCheck(surprises=5, law="C")
    holdout = made()
    answer = holdout.ask(share(col("x") < 0.3), guess=0.3)
    with pytest.raises(Unaskable, match="noisy answer"):
        holdout.sharpen(answer)


# ---------------------------------------------------------------- what it is worth


@pytest.mark.parametrize("rows", [10_000, 100_000])
def test_it_is_narrower_than_codes_from_three_surprises_in_a_thousand_asks(rows: int) -> None:
    """And than noise for every answer up to fifty: the table of ``docs/theory/one-currency.md``."""
    widths = {
        wrong: (guess_width(rows, 1_000, wrong, 0.05), noisy_check_width(rows, 1_000, wrong, 0.05) or 1.0)
        for wrong in (1, 2, 3, 5, 10, 25, 50, 100)
    }
    assert widths[1][1] > widths[1][0]
    assert all(noisy < codes for wrong, (codes, noisy) in widths.items() if wrong >= 3)
    assert widths[25][1] < 0.72 * widths[25][0]
    noise_alone = noise_width("F bounded", rows, 1_000, 0.05) or 0.0
    assert widths[50][1] < noise_alone < widths[100][1]


def conversation(surprises: int | None, asks: int = 400, rows: int = 4_000) -> tuple[Holdout, float]:
    """Every twentieth guess is wrong; the others are as good as a second sample's. The last is asked at one half."""
    rng, holdout = np.random.default_rng(11), made(surprises=surprises, rows=rows)
    error = 0.5 / math.sqrt(rows)
    for place in range(asks):
        truth = 0.2 + 0.6 * place / asks
        guess = truth + float(rng.normal(0, error)) + (0.15 if place % 20 == 19 else 0.0)
        answer = holdout.ask(share(col("x") < truth), guess=guess, guess_se=error)
        assert answer.low <= truth <= answer.high
    return holdout, holdout.ask(share(col("x") < 0.5), guess=0.5, guess_se=error).width


def test_a_conversation_with_many_surprises_ends_narrower_than_with_codes() -> None:
    codes, coded_width = conversation(None)
    noisy, noisy_width = conversation(20)
    assert codes.meter.surprises >= 20
    assert 20 <= noisy.meter.surprises < 45  # those planned, and some by chance: on one sample they come together
    assert noisy.meter.spent < codes.meter.spent / 8
    assert noisy_width < 0.85 * coded_width
    noisy.verify()


def test_a_plan_says_when_it_is_worth_it() -> None:
    assert "GuessAndCheck(surprises=25)" in plan(rows=10_000, asks=1_000, surprises=25).advice
    assert "surprises=" not in plan(rows=10_000, asks=1_000, surprises=1).advice
    assert plan(rows=10_000, asks=1_000).noisy_check_width is None


@pytest.mark.parametrize("rows", [900, 1_100, 1_300, 2_000])
def test_rows_are_called_few_where_stretched_nats_make_them_so(rows: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        holdout = made(rows=rows, surprises=100)
    wide = (holdout.meter.next_width or 1.0) > 0.2
    assert any(issubclass(warning.category, SmallHoldout) for warning in caught) is wide
