"""Coded and noisy answers in one ledger: the exact optimum over all analysts at few rows, and how offers follow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from tests.mechanisms.changed_offers import number_in
from tests.mechanisms.synthetic.nodes import Told
from unworn import Certificate, Holdout, col, mean, share
from unworn.bounds import discordance
from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_agreement import surprise_nats, threshold_below
from unworn.bounds.one_currency import beats_cells, choose_noise, is_renewed, narrowed_radius, stretch
from unworn.errors import Exhausted, Tampered
from unworn.events import Blurred, Matched, Screened
from unworn.mechanisms import Guess, GuessAndCheck, Offer, Published, State
from unworn.mechanisms.coded import blurred_counts
from unworn.mechanisms.coded.blurred_counts import NoisyCountPayload
from unworn.mechanisms.coded.noisy_checks import agreeing_reach, guessed_count
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import RAISED, FinalPlace
from unworn.mechanisms.symbols.final_values import answer_final
from unworn.queries.query import Facts

FACTS = Facts("binary", 0.0, 1.0, zero_one=True)
BITS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""A row has two bits; a question says of each of the four kinds of rows yes or no."""
QUESTIONS = [np.array(answers) for answers in ((0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 1), (0, 1, 1, 0))]


@cache
def samples(rows: int) -> np.ndarray:
    """How often each kind of row can come up."""
    counts = (seen for seen in product(range(rows + 1), repeat=4) if sum(seen) == rows)
    return np.array(list(counts))


def populations() -> Iterator[np.ndarray]:
    for seed in range(2):
        yield np.random.default_rng(seed).dirichlet(np.full(4, 1.5))
    yield np.full(4, 0.25)
    yield np.array([0.97, 0.01, 0.01, 0.01])


def noise(radius: int) -> list[tuple[int, float]]:
    """The raised cosine, place by place."""
    return [(m, (1 + math.cos(math.pi * m / radius)) / (2 * radius)) for m in range(1 - radius, radius)]


def agreement_chances(offer: Offer) -> np.ndarray:
    """How likely each count is to be said to agree, from its definition."""
    reach, guess = agreeing_reach(offer, offer.payload), guessed_count(offer, offer.payload)
    threshold = threshold_below(
        reach, surprise_nats(offer.rows, offer.payload.kept, offer.payload.rate), offer.payload.rate
    )
    away = np.arange(offer.rows + 1) - guess
    log_weight = np.logaddexp(offer.payload.rate * (away - threshold), offer.payload.rate * (-away - threshold))
    return np.where(np.abs(away) <= reach, np.exp(-np.logaddexp(0.0, log_weight)), 0.0)


Turn = tuple[Offer, list[tuple[list[Any], float | np.ndarray]]]
"""An offer, and what is told of each count, with the chance of each noise: one for all counts, or one for each."""


class Play:
    """Everything that can happen to samples of one size, with the analyst's best next question at every turn."""

    def __init__(self, mechanism: GuessAndCheck, rows: int, beta: float) -> None:
        self.mechanism, self.rows, self.seen = mechanism, rows, samples(rows)
        self.counts = range(rows + 1)
        self.start = mechanism.begin(rows, 1 - beta)
        self._turns: dict[Any, Turn] = {}
        self._later: dict[Any, tuple[float, float, State]] = {}

    def most_misses(self, law: np.ndarray, asks: str) -> float:
        """The largest chance that any interval misses, over all analysts whose asks are of these kinds, in order."""
        return self._best(law, self.start, multinomial.pmf(self.seen, self.rows, law), asks)

    def _best(self, law: np.ndarray, state: State, weights: np.ndarray, asks: str) -> float:
        if not asks or weights.sum() < 1e-15:
            return 0.0
        guesses = {"g": (0.25, 0.6), "s": (0.0, 1.0), "c": (0.0, 0.25, 0.6)}.get(asks[0], (None,))
        return max(
            self._missed(law, state, weights, asks, question, self._turn(state, asks[0], guess))
            for question in QUESTIONS
            for guess in guesses
        )

    def _turn(self, state: State, kind: str, guess: float | None) -> Turn:
        if (state, kind, guess) not in self._turns:
            self._turns[state, kind, guess] = self._make_turn(state, kind, guess)
        return self._turns[state, kind, guess]

    def _make_turn(self, state: State, kind: str, guess: float | None) -> Turn:
        tellers: list[Any] = [Told(count / self.rows, 1.0, self.rows) for count in self.counts]
        if kind == "f":
            offer = self.mechanism.offer_final(state, FACTS, FinalPlace())
            return offer, [([answer_final(offer, None, rows).symbol for rows in tellers], 1.0)]  # type: ignore[arg-type]
        offer = self.mechanism.offer(state, FACTS, None if guess is None else Guess(guess, 0.0))
        if kind == "g":
            told = [self.mechanism.answer(state, offer, None, rows).symbol for rows in tellers]  # type: ignore[arg-type]
            return offer, [(told, 1.0)]
        if kind == "c":
            return self._matched_turn(offer)
        if kind == "s":
            return self._screened_turn(self.mechanism.offer_noise(state, FACTS, Guess(guess or 0.0, 0.0)))
        return offer, [([count + m for count in self.counts], chance) for m, chance in noise(offer.payload.radius)]

    def _screened_turn(self, offer: Offer) -> Turn:
        """Noise after a check: what each count leads to by the narrow noise, and by the wide one."""
        assert offer.payload.most in (1, -1)
        low = [count <= 1 if offer.payload.most > 0 else count >= self.rows - 1 for count in self.counts]
        narrow = blurred_counts.narrowed_radius(self.rows, offer.payload.radius, 1)
        assert narrow < offer.payload.radius
        inside = [([c + m if low[c] else None for c in self.counts], chance) for m, chance in noise(narrow)]
        outside = [
            ([None if low[c] else (1, c + m) for c in self.counts], chance) for m, chance in noise(offer.payload.radius)
        ]
        return offer, inside + outside

    def _matched_turn(self, offer: Offer) -> Turn:
        """A guess that is checked with noise: agreement, with the chance of each count, or a count with noise."""
        agreeing = agreement_chances(offer)
        surprises = [
            ([(1, c + m) for c in self.counts], (1.0 - agreeing) * chance) for m, chance in noise(offer.payload.radius)
        ]
        return offer, [([0 for _ in self.counts], agreeing), *surprises]

    def _missed(
        self, law: np.ndarray, state: State, weights: np.ndarray, asks: str, question: np.ndarray, turn: Turn
    ) -> float:
        """What is told decides the next state; all that was told the same way goes on together."""
        truth, counts = float(law @ question), self.seen @ question
        offer, outcomes = turn
        groups: dict[Any, np.ndarray] = {}
        for told, chance in outcomes:
            for symbol in dict.fromkeys(word for word in told if word is not None):
                here = np.isin(counts, [count for count, word in enumerate(told) if word == symbol])
                likely = np.broadcast_to(chance, len(self.counts))[counts]
                groups[symbol] = groups.get(symbol, 0.0) + likely * weights * here
        total = 0.0
        for symbol, part in groups.items():
            low, high, later = self._after(state, offer, symbol)
            if not low <= truth <= high:
                total += float(part.sum())
            elif len(asks) > 1:
                total += self._best(law, later, part, asks[1:])
        return total

    def _after(self, state: State, offer: Offer, symbol: Any) -> tuple[float, float, State]:
        name = (state, offer.payload.guess, offer.final, number_in(offer, "most"), symbol)
        if name not in self._later:
            word = list(symbol) if isinstance(symbol, tuple) else symbol
            published = publish_symbol(self.mechanism, offer, word)
            later = follow_event(self.mechanism, state, charge_symbol(self.mechanism, offer, word))
            self._later[name] = published.low, published.high, later
        return self._later[name]


NOISE = (0.4, 4)


@pytest.fixture
def small_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: NOISE)


def worst(mechanism: GuessAndCheck, rows: int, beta: float, asks: str) -> float:
    play = Play(mechanism, rows, beta)
    return max(play.most_misses(law, asks) for law in populations()) / beta


@pytest.mark.parametrize("asks", ["ng", "gn", "nf", "gnf"])
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_no_analyst_of_few_rows_passes_the_promise(small_noise: None, asks: str, beta: float) -> None:
    """Exact: every sample of four rows, every noise; questions, and the guesses at them, at their best."""
    mechanism = GuessAndCheck(z=0.5, cell=0.2, unguessed="noise")
    assert worst(mechanism, 4, beta, asks) <= 1.0


@pytest.mark.parametrize(
    "asks", ["s", "sf", "gs", "sg", *(pytest.param(a, marks=pytest.mark.slow) for a in ("ss", "gsf"))]
)
@pytest.mark.parametrize("beta", [0.5, 0.05])
def test_nor_where_low_counts_are_checked_before_noise(monkeypatch: pytest.MonkeyPatch, asks: str, beta: float) -> None:
    """The same, exactly, for five rows: one of them counts at most, or one at most does not, or it is a surprise."""
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: (0.5, 6))
    assert worst(GuessAndCheck(z=0.5, cell=0.2), 5, beta, asks) <= 1.0


def missed_after_check(truth: float, checked: bool) -> float:
    """The exact chance that one answer of 200 rows misses, of which a tenth at most is expected to count."""
    mechanism = GuessAndCheck()
    offer = mechanism.offer_noise(mechanism.begin(200, 0.95), FACTS, Guess(0.03, 0.0))
    narrow = narrowed_radius(200, offer.payload.radius, offer.payload.most)
    assert 6 < offer.payload.most < 20
    assert narrow < 0.7 * offer.payload.radius
    missed = 0.0
    for count, chance in enumerate(binom.pmf(np.arange(201), 200, truth)):
        inside = count <= offer.payload.most or not checked
        for m, likely in noise(narrow if inside else offer.payload.radius):
            blurred = min(count + m, offer.payload.most + narrow - 1) if inside else count + m
            published = publish_symbol(mechanism, offer, blurred if inside else [1, blurred])
            missed += chance * likely * (not published.low <= truth <= published.high)
    return missed


def test_a_checked_answer_holds_for_every_population() -> None:
    for truth in (0.005, 0.02, 0.04, 0.06, 0.08, 0.12, 0.25, 0.5, 0.9):
        assert missed_after_check(truth, checked=True) <= 0.05


def test_mistake_narrow_noise_without_the_check() -> None:
    """Noise that is priced, and limits that are cut, as if few rows counted, which nobody looked at."""
    assert missed_after_check(0.25, checked=False) > 0.5


def test_mistake_a_check_and_narrow_noise_that_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: (0.0, 6))
    monkeypatch.setattr(blurred_counts, "low_count", lambda *given: 1 if given[3] < 0.5 else -1)
    monkeypatch.setattr(blurred_counts, "narrowed_radius", lambda *_: 2)
    for price in ("cosine_nats", "low_count_nats"):
        monkeypatch.setattr(blurred_counts, price, lambda *_: 1e-12)
    monkeypatch.setattr(blurred_counts, "place_of", lambda *_: ("low counts", 0.0, 0.0, 0, 0))
    play = Play(GuessAndCheck(z=0.5, cell=0.2), 5, 0.5)
    assert max(play.most_misses(law, "sf") for law in populations()) > 0.5


def test_mistake_noise_that_costs_nothing(small_noise: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts with little noise, and neither their cost nor the stretching charged: then the promise is passed."""
    monkeypatch.setattr(blurred_counts, "choose_noise", lambda *_: (0.0, 2))
    monkeypatch.setattr(blurred_counts, "cosine_nats", lambda *_: 0.0)
    mechanism = GuessAndCheck(z=0.5, cell=0.2, unguessed="noise")
    assert worst(mechanism, 6, 0.5, "nnf") > 1.0


# ---------------------------------------------------------------- how it follows costs


def test_noise_is_renewed_when_as_many_answers_again_were_given() -> None:
    assert [noisy for noisy in range(700) if is_renewed(noisy)] == [0, 20, 60, 140, 300, 620]
    assert stretch(0.0) == 1.0
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(ValueError):
            stretch(bad)


@pytest.mark.parametrize("rows", [1, 2, 50, 10_000, 10**7])
def test_what_is_kept_never_falls(rows: int) -> None:
    kept = 0.0
    for noisy in (0, 20, 60, 140, 300):
        for nats in (3.0, 50.0):
            later, radius = choose_noise(rows, nats, noisy, kept)
            assert kept <= later < 1.0
            assert 2 <= radius <= max(rows, 2)
            kept = later


@pytest.mark.parametrize("kind", [Blurred, Screened, Matched])
def test_an_event_that_keeps_fewer_rows_is_refused(kind: type) -> None:
    """Theorem U needs rows that are kept once to be kept for good; a replay meets whatever an entry holds."""
    mechanism = GuessAndCheck(unguessed="noise")
    state = replace(mechanism.begin(1_000, 0.95), kept=0.4, noisy=3, radius=60)
    for kept in (0.39, 0.0, 1.0, math.nan):
        event = {Blurred: Blurred(60, kept, 0.1), Screened: Screened(False, 60, kept, 0.1)}.get(kind)
        with pytest.raises(TypeError, match="never falls"):
            mechanism.after(state, event or Matched(False, kept, 0.1))


def test_cells_first_and_then_noise_whose_cost_hardly_depends_on_the_rows() -> None:
    assert not beats_cells(10_000, 3.0, 2)
    assert beats_cells(10_000, 3.0, 3)
    assert not beats_cells(10_000, 300.0, 3)  # what is spent already is stretched by noise
    for rows in (2_000, 100_000):
        holdout = Holdout({"x": np.random.default_rng(1).random(rows)}, ledger=None)
        sources = [holdout.ask(share(col("x") < place / 100)).source for place in range(1, 30)]
        cells = sources.index("noise")
        assert 2 <= cells <= 5
        assert set(sources[cells:]) == {"noise"}
        assert holdout.meter.spent < 40  # 29 cells would be 90 nats and more


def made(rows: int = 3_000, ledger: Any = None, **options: Any) -> Holdout:
    values = np.random.default_rng(3).random(rows)
    mechanism = GuessAndCheck(unguessed="noise")
    return Holdout({"x": values}, ledger=ledger, mechanism=mechanism, schema={"x": "number"}, **options)


def test_answers_of_every_kind_in_one_ledger_cover_and_replay() -> None:
    holdout = made()
    answers = [
        (holdout.ask(share(col("x") < 0.3)), 0.3),
        (holdout.ask(share(col("x") < 0.4), guess=0.4), 0.4),
        (holdout.ask(mean(col("x"), range=(0, 2))), 0.5),
        *zip(
            holdout.ask_many([share(col("x") < t) for t in (0.5, 0.6, 0.7, 0.8)], [None, 0.6, None, 0.1]),
            (0.5, 0.6, 0.7, 0.8),
            strict=True,
        ),
    ]
    answers.append((holdout.final(answers[0][0], close=False), 0.3))
    answers.append((holdout.ask(share(col("x") < 0.9)), 0.9))
    answers.append((holdout.final(answers[2][0]), 0.5))
    sources = [answer.source for answer, _ in answers]
    assert sources == ["noise", "guess", "noise", "noise", "guess", "noise", "surprise", "final", "noise", "final"]
    assert all(answer.low <= truth <= answer.high for answer, truth in answers)
    assert answers[-1][0].width <= answers[2][0].width  # never wider than what was known
    assert "key" in " ".join(answers[0][0].certificate.assumptions)
    holdout.verify()
    with pytest.raises(Exhausted, match="final"):
        holdout.ask(share(col("x") < 0.95))


def test_cards_name_theorem_u_from_the_first_noisy_answer_on(tmp_path: Path) -> None:
    """Levels are its from there on. Earlier versions named C' on such cards, which still hold."""
    holdout = Holdout({"x": np.random.default_rng(3).random(3_000)}, ledger=None, schema={"x": "number"})
    before = holdout.ask(share(col("x") < 0.3), guess=0.3)
    noisy = holdout.ask(share(col("x") < 0.5), noise=True)
    after = holdout.ask(share(col("x") < 0.4), guess=0.4)
    theorems = [answer.certificate.theorem for answer in (before, noisy, after, holdout.final(after))]
    assert theorems == ["code length (Theorem C')", *["one currency (Theorem U)"] * 3]
    assert "one currency (Theorem U)" in Path(holdout.report(tmp_path / "report.md")).read_text()
    for answer in (noisy, after):
        told = answer.certificate.to_json()
        Certificate.from_json({**told, "theorem": "code length (Theorem C')"}).verify()
        with pytest.raises(Tampered):
            Certificate.from_json({**told, "theorem": "noisy means (Theorem F)"})
    with pytest.raises(Tampered):
        Certificate.from_json({**before.certificate.to_json(), "theorem": "one currency (Theorem U)"})


def test_every_charge_is_the_cost_so_far_stretched() -> None:
    holdout = made()
    first = holdout.ask(share(col("x") < 0.3)).certificate.record.offer
    noise = first.payload
    assert isinstance(noise, NoisyCountPayload)
    assert noise.radius > 1
    cost = cosine_nats(first.rows, noise.kept, noise.radius)
    assert holdout.meter.spent == pytest.approx(cost, abs=1e-8)
    later = holdout.ask(share(col("x") < 0.4), guess=0.4).certificate.record.offer
    assert later.payload.kept == noise.kept
    assert later.log_level == pytest.approx(math.log(0.05) - cost, abs=1e-8)
    side = holdout.mechanism.log_side(later, False, 0.0)  # type: ignore[attr-defined]
    assert side == pytest.approx((later.log_level - later.payload.place[1]) * stretch(noise.kept))  # type: ignore[index]


def test_final_values_are_stretched_as_well() -> None:
    """By the exact tails, worked out here: each limit of a final value has (ln(2/beta) + nats so far)/(1 - kept) nats,
    of a comparison, which has three, ln(4/beta) in place of ln(2/beta)."""
    mechanism = GuessAndCheck()
    state = replace(mechanism.begin(1_000, 0.95), kept=0.4, noisy=3, radius=60, nats=2.0)
    nats = (math.log(2 / 0.05) + 2.0) / (1.0 - 0.4)

    def final(facts: Facts, symbol: Any) -> Published:
        return publish_symbol(mechanism, mechanism.offer_final(state, facts, FinalPlace()), symbol)

    plain, some = final(FACTS, 0.3), final(Facts("conditional", 0.0, 1.0, zero_one=True), [60, 200])
    for told, count, rows in ((plain, 300, 1_000), (some, 60, 200)):
        assert binom.logsf(count - 1, rows, told.low) == pytest.approx(-nats, abs=1e-6)
        assert binom.logcdf(count, rows, told.high) == pytest.approx(-nats, abs=1e-6)
    mean_told = final(Facts("unit", 0.0, 1.0), 0.3)
    for end in (mean_told.low, mean_told.high):
        divergence = 0.3 * math.log(0.3 / end) + 0.7 * math.log(0.7 / (1.0 - end))
        assert 1_000 * divergence == pytest.approx(nats, rel=1e-5)
    paired = final(Facts("paired", -1.0, 1.0, zero_one=True), [0.02, 0.1])
    level = -(math.log(4 / 0.05) + 2.0) / (1.0 - 0.4)
    expected = discordance(0.02, 0.02, 0.1, 1_000, level, zero_one=True, shared=False)
    assert (paired.low, paired.high) == pytest.approx(expected, abs=1e-6)


def test_after_noise_every_kind_of_offer_is_stretched() -> None:
    mechanism, facts = GuessAndCheck(), replace(FACTS, runs_code=True)
    state = replace(mechanism.begin(1_000, 0.95), kept=0.4, noisy=3, radius=60, nats=2.0)
    guessed = mechanism.offer(state, FACTS, Guess(0.3))
    offers = [
        guessed,
        mechanism.offer(state, facts, None),  # one of equal cells
        mechanism.offer(state, Facts("paired", -1.0, 1.0, zero_one=True), None),
        mechanism.offer(state, Facts("conditional", 0.0, 1.0, zero_one=True), Guess(0.3, gauge=200.0)),
        mechanism.sharpen(state, guessed, 0),
        mechanism.offer_test(state, replace(FACTS, null=(1, 0.5, 0.05))),
        mechanism.offer_final(state, FACTS, FinalPlace()),
        mechanism.offer_final(state, FACTS, FinalPlace(last=False)),
    ]
    assert [offer.payload.kept for offer in offers] == [0.4] * len(offers)
    test = offers[5]
    rejected = mechanism.test_level(test)
    assert rejected == pytest.approx((math.log(0.05) - 2.0 - test.payload.place[2]) / 0.6, abs=1e-8)  # type: ignore[index]


def test_a_batch_pays_for_its_noise_in_order() -> None:
    alone, together = made(name="alone"), made(name="together")
    asks = [share(col("x") < t) for t in (0.2, 0.3, 0.4)]
    one_by_one = [alone.ask(ask).certificate.record.offer for ask in asks]
    batch = [answer.certificate.record.offer for answer in together.ask_many(asks)]
    assert [offer.log_level for offer in batch] == pytest.approx([offer.log_level for offer in one_by_one])
    together.verify()


def test_a_guess_behind_noise_in_one_batch_is_stretched() -> None:
    """The first noisy answer of all stretches what follows it in the same batch: offers made before it say so too."""
    alone, together = made(name="alone"), made(name="together")
    asks, guesses = [share(col("x") < t) for t in (0.2, 0.3, 0.4)], [0.2, None, 0.4]
    one_by_one = [alone.ask(ask, guess=guess) for ask, guess in zip(asks, guesses, strict=True)]
    batch = together.ask_many(asks, guesses)
    kept = [answer.certificate.record.offer.payload.kept for answer in batch]
    assert kept == [answer.certificate.record.offer.payload.kept for answer in one_by_one]
    assert kept[0] == 0.0 < kept[1] == kept[2]
    assert batch[2].width == pytest.approx(one_by_one[2].width, rel=1e-6)
    assert batch[2].width > 1.1 * batch[0].width


def test_it_goes_on_after_reopening(tmp_path: Any) -> None:
    path = tmp_path / "noisy.db"
    first = made(ledger=path)
    told = [first.ask(share(col("x") < t / 10)) for t in range(1, 5)]
    del first
    again = made(ledger=path)
    assert [again.ask(share(col("x") < t / 10)).value for t in range(1, 5)] == [answer.value for answer in told]
    assert again.meter.asked == 4
    again.ask(share(col("x") < 0.77))
    again.verify()


def test_what_fails_has_a_word_and_code_gets_cells() -> None:
    mechanism = GuessAndCheck(unguessed="noise")
    state = mechanism.begin(50, 0.95)
    offer = mechanism.offer(state, FACTS, None)
    nats = [charge_symbol(mechanism, offer, symbol).nats for symbol in (7, RAISED, "stopped")]  # type: ignore[union-attr]
    noise, raised, stopped = nats[0] - cosine_nats(50, offer.payload.kept, offer.payload.radius), *nats[1:]
    assert sum(math.exp(-word) for word in (noise, raised, stopped)) <= 1.0
    assert follow_event(mechanism, state, charge_symbol(mechanism, offer, RAISED)).kept == offer.payload.kept
    assert mechanism.offer(state, replace(FACTS, runs_code=True), None).payload.radius == 0
    with pytest.raises(ValueError, match="mean"):
        charge_symbol(mechanism, replace(offer, runs_code=True), 7)


def test_noise_that_no_rows_can_have_led_to_is_refused() -> None:
    mechanism = GuessAndCheck(unguessed="noise")
    offer = mechanism.offer(mechanism.begin(50, 0.95), FACTS, None)
    for symbol in (50 + offer.payload.radius, -offer.payload.radius, 2.5, True, "7", [1, 2]):
        with pytest.raises((ValueError, TypeError)):
            publish_symbol(mechanism, offer, symbol)  # type: ignore[arg-type]
    edge = publish_symbol(mechanism, offer, 50 + offer.payload.radius - 1)
    assert edge.high == 1.0


def test_a_batch_chooses_between_cells_and_noise_as_single_asks_do() -> None:
    values = np.random.default_rng(3).random(3_000)
    asks = [share(col("x") < t / 100) for t in range(20, 60)]
    alone, together = (
        Holdout({"x": values}, ledger=None, name=name, schema={"x": "number"}) for name in ("alone", "together")
    )
    one_by_one = [alone.ask(ask) for ask in asks]
    batch = together.ask_many(asks)
    assert [answer.source for answer in batch] == [answer.source for answer in one_by_one]
    assert {answer.certificate.record.offer.payload.radius for answer in batch} == {
        answer.certificate.record.offer.payload.radius for answer in one_by_one
    }
    assert together.meter.spent == pytest.approx(alone.meter.spent)
    together.verify()


@pytest.mark.parametrize(("nats", "kept"), [(0.0, 0.9999), (1e-12, 0.9999), (1e15, 0.0001)])
def test_some_rows_are_kept_and_never_all(nats: float, kept: float) -> None:
    """Where nothing was spent yet, or far too much: the law is for a chance strictly between 0 and 1."""
    assert choose_noise(10_000, nats, 20, 0.0)[0] == kept


def test_rows_once_kept_are_kept() -> None:
    assert choose_noise(10_000, 3.0, 0, 0.8)[0] == 0.8
