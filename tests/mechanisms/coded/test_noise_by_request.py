"""Noise that was asked for, whatever guess there is, and the check of low counts before it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.mechanisms.changed_offers import with_numbers
from unworn import Holdout, col, mean, share
from unworn.bounds.covers import cosine_nats, low_count_nats
from unworn.bounds.one_currency import low_count, narrowed_radius
from unworn.errors import Exhausted, Tampered, Unaskable
from unworn.events import Screened
from unworn.mechanisms import BoundedNoise, Guess, GuessAndCheck, Ladder, Mechanism, Offer
from unworn.mechanisms.coded import blurred_counts
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol, published_width
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED
from unworn.mechanisms.contract.record import Record
from unworn.noise import Stream
from unworn.queries import accuracy
from unworn.queries.query import Facts

FACTS = Facts("binary", 0.0, 1.0, zero_one=True)
FEW, HALF, MOST = share(col("x") < 0.03), share(col("x") < 0.5), share(col("x") < 0.96)


class Model:
    def predict(self, rows: Any) -> Any:
        return np.ones(len(rows))


def made(rows: int = 20_000, **options: Any) -> Holdout:
    values = np.random.default_rng(3).random(rows)
    return Holdout({"x": values}, **{"ledger": None, "schema": {"x": "number"}, **options})


def offer_of(answer: Any) -> Offer:
    found: Offer = answer.certificate.record.offer
    return found


# ---------------------------------------------------------------- the request


def test_noise_that_was_asked_for_is_given_whatever_the_guess() -> None:
    holdout = made()
    assert holdout.ask(share(col("x") < 0.4), guess=0.4).source == "guess"
    quoted = holdout.quote(HALF, guess=0.5, noise=True)
    answer = holdout.ask(HALF, guess=0.5, noise=True)
    assert answer.source == "noise"
    assert answer.low < 0.5 < answer.high
    assert answer.width == pytest.approx(quoted.width, rel=0.01)
    assert holdout.ask(share(col("x") < 0.7), guess=0.7).source == "guess"  # one question, and no other
    holdout.verify()


def test_without_the_request_nothing_changes() -> None:
    plain, asked = made(name="plain"), made(name="asked")
    first = plain.ask(HALF, guess=0.5)
    assert offer_of(first) == offer_of(asked.ask(HALF, guess=0.5, noise=False))
    assert not offer_of(first).payload.requested
    assert len(offer_of(first).to_json()) == 22  # as many numbers as ever


def test_a_wrong_guess_costs_no_surprise_where_noise_was_asked_for() -> None:
    holdout = made()
    answer = holdout.ask(HALF, guess=0.9, guess_se=0.2, noise=True)  # too unsure to be worth a check
    assert answer.low < 0.5 < answer.high
    assert holdout.meter.surprises == 0
    assert holdout.meter.spent < 1


def test_a_guess_that_says_nothing_is_no_check() -> None:
    for error in (1e300, 1.7e308):
        answer = made().ask(FEW, guess=0.03, guess_se=error, noise=True)
        assert offer_of(answer).payload.most == 0
        assert answer.low < 0.03 < answer.high


def test_a_batch_by_noise_costs_what_single_asks_do() -> None:
    asks = [FEW, HALF, MOST, mean(col("x"), range=(0, 1))]
    guesses = [0.03, None, 0.96, 0.5]
    alone, together = made(name="alone"), made(name="together")
    one_by_one = [alone.ask(ask, guess, noise=True) for ask, guess in zip(asks, guesses, strict=True)]
    batch = together.ask_many(asks, guesses, noise=True)
    assert {answer.source for answer in batch} == {"noise"}
    assert [offer_of(one).payload.most for one in batch] == [offer_of(one).payload.most for one in one_by_one]
    levels = [offer_of(one).log_level for one in one_by_one]
    assert [offer_of(one).log_level for one in batch] == pytest.approx(levels)
    assert together.meter.spent == pytest.approx(alone.meter.spent)
    alone.verify()
    together.verify()


def test_predictions_in_an_array_are_scored_by_noise() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 5_000)
    holdout = Holdout({"x": rng.random(5_000)}, labels, ledger=None, practice=0)
    right = np.where(rng.random(5_000) < 0.98, labels, 1 - labels)
    answer = holdout.score(right, guess=0.98, noise=True)
    assert answer.source == "noise"
    assert offer_of(answer).payload.most < 0
    assert answer.low < 0.98 < answer.high
    with pytest.raises(Unaskable, match="leave out noise="):
        holdout.score(Model(), noise=True)


def test_where_noise_cannot_serve_it_is_refused_and_nothing_is_charged() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 2_000)
    holdout = Holdout({"x": rng.random(2_000)}, labels, ledger=None, practice=0)
    with pytest.raises(Unaskable, match="code that sees all the rows"):
        holdout.ask(accuracy(Model()), noise=True)
    from unworn.queries import compare

    pair = compare(accuracy(labels), accuracy(1 - labels))
    with pytest.raises(Unaskable, match="comparison"):
        holdout.ask(pair, noise=True)
    with pytest.raises(Unaskable, match="comparison"):
        holdout.quote(pair, noise=True)
    for word in (1, "yes", None):
        with pytest.raises(Unaskable, match="noise= is True or False"):
            holdout.ask(HALF, noise=word)  # type: ignore[arg-type]
    assert holdout.meter.asked == 0
    holdout.final(HALF)
    with pytest.raises(Exhausted, match="final"):
        holdout.ask(share(col("x") < 0.2), noise=True)


@pytest.mark.parametrize("mechanism", [BoundedNoise(), Ladder(0.01)], ids=["noise", "ladder"])
def test_mechanisms_of_one_kind_of_answer_refuse_the_request(mechanism: Mechanism) -> None:
    holdout = made(mechanism=mechanism, asks=20)
    with pytest.raises(Unaskable, match="leave out noise="):
        holdout.ask(HALF, noise=True)
    assert holdout.meter.asked == 0


def test_ledgers_under_theorem_c_have_no_price_for_it() -> None:
    holdout = made(mechanism=GuessAndCheck(law="C"))
    with pytest.raises(Unaskable, match="Theorem C"):
        holdout.ask(HALF, noise=True)


def test_it_goes_on_after_reopening_and_noise_is_repeated(tmp_path: Any) -> None:
    first = made(ledger=tmp_path / "asked.db")
    told = [first.ask(question, guess, noise=True) for question, guess in ((FEW, 0.03), (HALF, None), (MOST, 0.1))]
    first.close()
    again = made(ledger=tmp_path / "asked.db")
    assert [again.ask(question).value for question in (FEW, HALF, MOST)] == [answer.value for answer in told]
    assert again.meter.surprises == 1
    again.verify()


# ---------------------------------------------------------------- the check of low counts


def test_a_guess_near_an_end_makes_noise_narrower_at_the_same_cost() -> None:
    plain, checked = made(name="plain"), made(name="checked")
    wide, narrow = plain.ask(FEW, noise=True), checked.ask(FEW, guess=0.03, noise=True)
    assert narrow.width < 0.75 * wide.width
    assert checked.meter.spent == pytest.approx(plain.meter.spent, rel=0.1)
    assert isinstance(narrow.certificate.record.event, Screened)
    assert narrow.certificate.numbers["most"] == offer_of(narrow).payload.most > 0.03 * 20_000
    high = checked.ask(MOST, guess=0.96, noise=True)
    assert offer_of(high).payload.most < 0
    assert high.low < 0.96 < high.high
    assert high.width < 0.75 * wide.width


def test_the_goal_at_a_hundred_thousand_rows() -> None:
    """2,000 answers near .03, of which nobody knew how many there would be."""
    mechanism, widths = GuessAndCheck(), []
    for guess in (None, Guess(0.03, 0.0005)):
        state = mechanism.begin(100_000, 0.95)
        for _ in range(2_000):
            offer = mechanism.offer_noise(state, FACTS, guess)
            state = follow_event(mechanism, state, charge_symbol(mechanism, offer, 3_000))
        widths.append(published_width(mechanism, offer, 3_000))
    assert widths[0] == pytest.approx(0.0282, abs=1e-4)
    assert widths[1] == pytest.approx(0.0162, abs=1e-4)


def test_rows_that_are_more_than_was_checked_are_a_surprise_and_still_answered() -> None:
    holdout = made()
    quoted = holdout.quote(share(col("x") < 0.2), guess=0.03, noise=True)
    answer = holdout.ask(share(col("x") < 0.2), guess=0.03, noise=True)
    offer, symbol = offer_of(answer), answer.certificate.record.symbol
    assert isinstance(symbol, list)
    assert answer.low < 0.2 < answer.high
    assert answer.low > offer.payload.most / 20_000 / 2
    assert answer.width <= quoted.widest
    assert holdout.meter.surprises == 1
    assert holdout.meter.spent == pytest.approx(quoted.surprise_cost, rel=1e-6)
    holdout.verify()


def test_every_word_of_a_check_is_paid_for() -> None:
    """The check's two words share 1 by the law of surprises; the noise of each, and what fails, its own."""
    mechanism = GuessAndCheck()
    state = mechanism.begin(20_000, 0.95)
    offer = mechanism.offer_noise(state, FACTS, Guess(0.03, 0.001))
    narrow = narrowed_radius(20_000, offer.payload.radius, offer.payload.most)
    low = low_count_nats(20_000, offer.payload.kept, narrow, offer.payload.most)
    high = cosine_nats(20_000, offer.payload.kept, offer.payload.radius)
    spent = {}
    for word in (600, [1, 5_000], RAISED, STOPPED):
        later = follow_event(mechanism, state, charge_symbol(mechanism, offer, word))
        spent[str(word)] = mechanism.spent(later) - mechanism.spent(state)
        assert (later.kept, later.radius, later.noisy) == (offer.payload.kept, offer.payload.radius, 1)
    chances = [spent["600"] - low, spent["[1, 5000]"] - high, spent[RAISED], spent[STOPPED]]
    assert 1 - 1e-6 < math.fsum(math.exp(-nats) for nats in chances) <= 1.0
    assert mechanism.log_side(offer, *mechanism.cost(offer, 600)) == pytest.approx(
        (state.log_beta - spent["600"]) / (1 - offer.payload.kept)
    )


def test_asks_that_check_something_else_share_no_noise() -> None:
    """The same question at the same place in two copies of a ledger, with other guesses: twenty draws of each."""

    class Fifty:
        def rounded(self, queries: Any, noises: Any) -> list[int]:
            return [50]

    def draws(offer: Offer) -> tuple[int, ...]:
        streams = (Stream(bytes(32), "ask", key, "head", "question") for key in range(20))
        told = (blurred_counts.blurred_count(offer, offer.payload, FEW, Fifty(), noise) for noise in streams)  # type: ignore[arg-type]
        return tuple(symbol[1] if isinstance(symbol, list) else symbol for symbol in told)  # type: ignore[misc]

    mechanism, checking = GuessAndCheck(), GuessAndCheck(surprises=25)
    state = mechanism.begin(100, 0.95)
    plain = mechanism.offer_noise(state, FACTS, None)
    offers = [plain, *(with_numbers(plain, most=most) for most in (5, 6, -5))]
    offers += [checking.offer(checking.begin(100, 0.95), FACTS, Guess(guess)) for guess in (0.01, 0.99)]
    assert all(offer.payload.radius > 5 for offer in offers)
    assert len({draws(offer) for offer in offers}) == len(offers)


def test_whether_it_agrees_and_the_count_are_drawn_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem U adds the costs of the two because their draws are independent."""
    streams: list[Stream] = []
    monkeypatch.setattr(blurred_counts, "draw_agreement", lambda *given: streams.append(given[-1]))  # None: they do not
    monkeypatch.setattr("unworn.noise.cosine.raised_cosine", lambda noise, *_: streams.append(noise) or [0])

    class Fifty:
        def rounded(self, queries: Any, noises: Any) -> list[int]:
            return [50]

    checking = GuessAndCheck(surprises=25)
    offer = checking.offer(checking.begin(100, 0.95), FACTS, Guess(0.5))
    noise = Stream(bytes(32), "ask", 1, "head", "question")
    assert blurred_counts.blurred_count(offer, offer.payload, HALF, Fifty(), noise) == [1, 50]  # type: ignore[arg-type]
    words = [stream.words(4).tolist() for stream in (noise, *streams)]
    assert len({tuple(each) for each in words}) == 3


def test_the_noise_drawn_is_the_noise_that_is_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow where the check holds, wide where it does not; and not the noise of the same question unchecked."""
    asked: list[int] = []

    def drawn(stream: Any, radius: int, size: int) -> list[int]:
        asked.append(radius)
        return [radius - 1]

    monkeypatch.setattr("unworn.noise.cosine.raised_cosine", drawn)

    class Rows:
        def __init__(self, count: int) -> None:
            self.count = count

        def rounded(self, queries: Any, noises: Any) -> list[int]:
            return [self.count]

    class Noise:
        def within(self, *context: Any) -> Noise:
            return self

    mechanism = GuessAndCheck()
    for guess, inside, outside in ((0.03, (0, 5), (6, 40, 100)), (0.97, (95, 100), (94, 50, 0))):
        offer = mechanism.offer_noise(mechanism.begin(100, 0.95), FACTS, Guess(guess, 0.0))
        offer = with_numbers(offer, most=5 if guess < 0.5 else -5)
        narrow = narrowed_radius(100, offer.payload.radius, 5)
        for count in (*inside, *outside):
            asked.clear()
            symbol = blurred_counts.blurred_count(offer, offer.payload, FEW, Rows(count), Noise())  # type: ignore[arg-type]
            radius = narrow if count in inside else offer.payload.radius
            assert asked == [radius]
            assert symbol == (count + radius - 1 if count in inside else [1, count + radius - 1])


def test_words_that_a_check_has_not_are_refused() -> None:
    mechanism = GuessAndCheck()
    offer = mechanism.offer_noise(mechanism.begin(1_000, 0.95), FACTS, Guess(0.03, 0.0))
    narrow = narrowed_radius(1_000, offer.payload.radius, offer.payload.most)
    for symbol in (
        offer.payload.most + narrow,
        -narrow,
        [1, offer.payload.most - offer.payload.radius],
        [2, 500],
        [1],
        [1, 2.5],
        [1, True],
        2.5,
    ):
        with pytest.raises((ValueError, TypeError)):
            publish_symbol(mechanism, offer, symbol)  # type: ignore[arg-type]
    edge = publish_symbol(mechanism, offer, [1, offer.payload.most])
    assert edge.low > 0


def test_no_check_is_made_where_it_would_not_pay() -> None:
    assert low_count(10_000, 0.6, 187, 0.3, 0.02) == 0
    assert low_count(10_000, 0.95, 187, 0.09, 0.01) == 0  # a tenth is more than a twentieth, and nothing is known
    assert low_count(10_000, 0.6, 187, 0.0, 0.0) == 0
    assert 0 < low_count(10_000, 0.6, 187, 0.09, 0.01) < 1_100


def test_a_forged_check_is_found_out() -> None:
    """A narrower noise than the guess allows, or a check at a price that it does not have."""
    holdout = made()
    record = holdout.ask(FEW, guess=0.03, noise=True).certificate.record
    mechanism = holdout.mechanism
    offer, symbol = record.offer, record.symbol
    assert record.matches(offer, charge_symbol(mechanism, offer, symbol), publish_symbol(mechanism, offer, symbol))
    body = Record.from_body(holdout._desk.transcript.entries[1].body)
    assert body.offer == offer
    numbers = offer.to_json()
    for place, forged in ((25, 0), (25, 10**9), (25, 200.5), (26, False), (24, 0)):
        changed = [*numbers[:place], forged, *numbers[place + 1 :]]
        try:
            other = Offer.from_json(changed)
        except (ValueError, TypeError):
            continue
        assert other != offer
        with pytest.raises((AssertionError, ValueError, Tampered)):
            assert record.matches(
                other, charge_symbol(mechanism, other, symbol), publish_symbol(mechanism, other, symbol)
            )
