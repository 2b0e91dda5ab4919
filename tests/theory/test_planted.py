"""The suite must be able to fail: mistakes are planted one at a time, and each is caught.

Caught means one of three things. *By simulation*: an analyst on a small world, through the real holdout, makes the
intervals miss so often that a mechanism which keeps its promise would do so with probability below 1e-7. *By the
exact sum*: what the law gives to nodes none of which follows another, read off the mechanism's own offers and prices,
passes 1 (for ledgers under Theorem C: the weights of all nodes), so that the theorem no longer gives the promise. *By
exact enumeration*: the best analyst of a small class makes it miss more often than it may. The same check passes
without the mistake. Mistakes with final values are in ``test_all_analysts.py``.

Everything is seeded, keys included. For the correct mechanism the chance of a false alarm over all possible seeds is
below 1e-7 a check. Power: 10 missed plays of 20 are enough. Of 60 other plays of each mistake 56 (uncharged places) to
60 missed, and where nine in ten miss, 9 or fewer of 20 do with a probability of 7e-7.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.mechanisms.changed_offers import with_numbers
from tests.mechanisms.synthetic.nodes import largest_antichain
from tests.theory.all_analysts import QUESTIONS, Game, Move, laws
from tests.two_sizes import reseeded
from unworn import accuracy
from unworn.bounds.compression import code_length
from unworn.bounds.numerics import log_choose
from unworn.holdout import Holdout
from unworn.lab import Analyst, FiniteWorld, Played, Result, SignWorld, World, run
from unworn.lab.analysts import EdgeGuesser, RollCall, SelectThenVote, SurpriseMaximiser
from unworn.lab.analysts.analyst import ask
from unworn.lab.worlds import FiniteScene, Rule, Scene
from unworn.mechanisms import Guess, GuessAndCheck, Offer, Published, State
from unworn.mechanisms.coded.coded_mechanism import price_offer
from unworn.mechanisms.coded.guess_and_check import GuessAndCheck as Original
from unworn.mechanisms.coded.guess_words import farthest
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event
from unworn.mechanisms.contract.mechanism import FinalPlace
from unworn.mechanisms.symbols.symbol_cells import locate
from unworn.queries.metrics.hit_metrics import Accuracy
from unworn.queries.query import Facts

CODE_LENGTH = "unworn.mechanisms.coded.coded_mechanism.code_length"
PRICED = "unworn.mechanisms.coded.guess_and_check.price_offer"
COST, INTERVAL = "unworn.mechanisms.GuessAndCheck.cost", "unworn.mechanisms.GuessAndCheck.reveal"
ALARM = 1e-7


def no_code(i: int, surprises: int, nats: float, planned: int | None = None) -> float:
    return 0.0


def without_places(i: int, surprises: int, nats: float, planned: int | None = None) -> float:
    return code_length(i, surprises, nats, planned) - log_choose(i - 1, surprises)


def nothing_charged(state: State, *given: Any, **payload: Any) -> Offer:
    """Planted: the level of the first ask, whatever was said before."""
    offer = price_offer(state, *given, **payload)
    return replace(offer, log_level=state.log_beta)


def only_words_charged(state: State, *given: Any, **payload: Any) -> Offer:
    """Planted: what surprises said is paid for, and not that they were, and where."""
    offer = price_offer(state, *given, **payload)
    assert offer.payload.place is not None
    place = (offer.payload.place[0], 0.0, 0.0, *offer.payload.place[3:])
    return with_numbers(replace(offer, log_level=state.log_beta - state.nats), place=place)


def free_offsets(self: GuessAndCheck, offer: Offer, symbol: Any) -> tuple[bool, float]:
    return PRICE(self, offer, symbol)[0], 0.0


PRICE, REVEAL = Original.cost, Original.reveal


def bare_agreement(self: GuessAndCheck, offer: Offer, symbol: Any) -> Published:
    """Agreement on |a − g| ≤ τ, published as [g − τ, g + τ]."""
    if offer.payload.guess is None or symbol != 0:
        return REVEAL(self, offer, symbol)
    low, high = (
        max(offer.payload.guess - offer.payload.slack, offer.low),
        min(offer.payload.guess + offer.payload.slack, offer.high),
    )
    return Published(offer.payload.guess, low, high, "guess")


# ---------------------------------------------------------------------------------- by simulation

# A valid configuration in which every symbol tells much: a mistake shows.
FINE = GuessAndCheck(z=0.1, cell=0.02, unguessed="cells")
POINTS = FiniteWorld(300)

# name: what to plant, who exploits it, where, with how many rows and asks
SIMULATED: dict[str, tuple[str, Any, Analyst, World, GuessAndCheck, int, int]] = {
    "1 nothing charged": (PRICED, nothing_charged, SelectThenVote(), SignWorld(), FINE, 100, 80),
    "1 at default cells": (PRICED, nothing_charged, SurpriseMaximiser(), SignWorld(), GuessAndCheck(), 100, 100),
    "1 by a roll call": (PRICED, nothing_charged, RollCall(), POINTS, FINE, 50, 120),
    "2 places uncharged": (PRICED, only_words_charged, RollCall(), POINTS, FINE, 50, 301),
    "4 offsets uncharged": (COST, free_offsets, SurpriseMaximiser(every=1000), SignWorld(), FINE, 100, 200),
    "4 by a roll call": (COST, free_offsets, RollCall(guess=1.0), POINTS, FINE, 50, 200),
    "5 the bare cell published": (INTERVAL, bare_agreement, EdgeGuesser(), SignWorld(), GuessAndCheck(), 100, 30),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_planted_mistake_is_caught_by_simulation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, planted, analyst, world, mechanism, rows, asks = SIMULATED[name]

    def play(repetitions: int) -> Result:
        return run(world, analyst, mechanism, rows, asks, repetitions, seed=reseeded(20))

    assert play(8).tail >= ALARM
    monkeypatch.setattr(where, planted)
    result = play(20)
    assert result.tail < ALARM, str(result)


class Present:
    """A model that is right everywhere but at one point (``None``: everywhere)."""

    def __init__(self, wrong: int | None) -> None:
        self.wrong = wrong

    def predict(self, X: dict[str, Any]) -> np.ndarray:
        points = np.asarray(X["point"])
        return np.where(points == self.wrong, 0, 1) if self.wrong is not None else np.ones(len(points), dtype=int)


SEALED: dict[str, Any] = {}


def keyed_on_predictions(question: Accuracy) -> dict[str, Any]:
    """Planted: a model known by what it says about the rows, so that saying the same is a free repeat."""
    said = question.source.model.predict(SEALED)  # type: ignore[union-attr]
    return {"ask": "metric", "metric": "accuracy", "said": hashlib.sha256(said.tobytes()).hexdigest()}


@dataclass(frozen=True)
class RepeatReader(Analyst):
    """Scores a model that errs at one point alone; a free repeat of the base model says the point is not there."""

    name: ClassVar[str] = "repeat_reader"

    def question(self, scene: FiniteScene, wrong: int | None) -> Rule:
        SEALED.update(scene.data or {})
        return Rule(accuracy(Present(wrong)), 1.0 - (0.0 if wrong is None else float(scene.world.chances[wrong])))

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        assert isinstance(scene, FiniteScene)
        base = ask(holdout, self.question(scene, None), 1.0)
        yield base
        absent = []
        for point in range(min(scene.world.points, asks - 2)):
            played = ask(holdout, self.question(scene, point), 1.0)
            yield played
            if played.answer.index == base.answer.index:
                absent.append(point)
        yield ask(holdout, scene.among(set(range(scene.world.points)) - set(absent)), 1.0)


def test_7_repeats_keyed_on_predictions_on_the_rows_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def play() -> Result:
        return run(FiniteWorld(150), RepeatReader(), GuessAndCheck(), 60, 152, 12, seed=reseeded(7))

    assert play().tail >= ALARM
    monkeypatch.setattr(Accuracy, "to_json", keyed_on_predictions)
    assert play().tail < ALARM


# ------------------------------------------------------------------------------- by the exact sum, Theorem C

ROWS = 200
TALKATIVE = GuessAndCheck(z=0.05, cell=1 / ROWS, law="C")  # every count has a symbol of its own
FACTS, GUESS = Facts("binary", 0.0, 1.0, zero_one=True), Guess(0.5)


def odds(mechanism: GuessAndCheck) -> tuple[float, float]:
    """The sum of e^-nats over the attainable symbols that agree, and over those that surprise."""
    offer = mechanism.offer(mechanism.begin(ROWS, 0.95, 1000), FACTS, GUESS)
    symbols = {locate(offer, count / ROWS) for count in range(ROWS + 1)}
    prices = [mechanism.cost(offer, symbol) for symbol in symbols]
    agree = math.fsum(math.exp(-nats) for surprise, nats in prices if not surprise)
    return agree, math.fsum(math.exp(-nats) for surprise, nats in prices if surprise)


def weight(mechanism: GuessAndCheck, asks: int, start: int, t: int, f: int) -> float:
    """omega of ask t, in a batch that starts at index ``start`` after f surprises whose nats are counted apart."""
    state = replace(mechanism.begin(ROWS, 0.95, asks), asked=start - 1, surprises=f)
    return math.exp(mechanism.offer(state, FACTS, GUESS, t - start).log_level - state.log_beta)


def tree_sum(mechanism: GuessAndCheck, asks: int) -> float:
    """The sum of omega over all nodes, for an asker who guesses every time, one ask at a time."""
    agree, surprise = odds(mechanism)
    return math.fsum(
        math.comb(i - 1, f) * agree ** (i - 1 - f) * surprise**f * weight(mechanism, asks, i, i, f)
        for i in range(1, asks + 1)
        for f in range(i)
    )


def batched_sum(mechanism: GuessAndCheck, asks: int) -> float:
    """The largest such sum over all askers who choose, knowing the past, how long a batch to send."""
    agree, surprise = odds(mechanism)
    best = np.zeros((asks + 2, asks + 1))
    for start in range(asks, 0, -1):
        for f in range(start):
            gain = 0.0
            for t in range(start, asks + 1):
                gain += weight(mechanism, asks, start, t, f)
                size = t + 1 - start
                more = np.arange(size + 1)
                paths = [math.comb(size, m) * agree ** (size - m) * surprise**m for m in range(size + 1)]
                reach = f + more <= asks
                later = float(np.dot(np.array(paths)[reach], best[t + 1, f + more[reach]]))
                best[start, f] = max(best[start, f], gain + later)
    return float(best[1, 0])


def test_the_real_mechanism_sums_to_at_most_one() -> None:
    assert 0.8 < tree_sum(TALKATIVE, 24) <= 1.0
    assert 0.8 < batched_sum(TALKATIVE, 24) <= 1.0


def test_1_code_length_zero_passes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CODE_LENGTH, no_code)
    assert tree_sum(TALKATIVE, 10) > 100


def test_2_places_uncharged_pass_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CODE_LENGTH, without_places)
    assert tree_sum(TALKATIVE, 10) > 2


class FrozenCount(GuessAndCheck):
    """Planted: in a batch, C(i-1, f) stays what it was at the batch's start."""

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        offer = super().offer(state, facts, guess, position)
        f = state.surprises
        freed = log_choose(offer.index - 1, f) - log_choose(state.asked, f)
        return replace(offer, log_level=offer.log_level + freed)


def test_3_places_frozen_over_a_batch_pass_one() -> None:
    assert batched_sum(FrozenCount(z=TALKATIVE.z, cell=TALKATIVE.cell, law="C"), 60) > 1.1


def test_4_offsets_uncharged_pass_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GuessAndCheck, "cost", free_offsets)
    assert tree_sum(TALKATIVE, 10) > 100


def test_6_levels_taken_after_the_answer_pass_one() -> None:
    """Then each symbol of a node has a level of its own, and the union bound must pay for each of them.

    Caught by the sum alone, which is what Theorem C asks for: a surprise only lowers a level, so the mistake makes
    intervals wider where it changes them, and no simulation can be expected to show it.
    """
    asks = 60
    agree, surprise = odds(TALKATIVE)

    def after(i: int, f: int) -> float:
        places = log_choose(i - 1, min(f, i - 1))
        return math.exp(-places) / (asks * (f + 1) * (f + 2))

    total = math.fsum(
        math.comb(i, f) * agree ** (i - f) * surprise**f * after(i, f) for i in range(1, asks + 1) for f in range(i + 1)
    )
    assert total > 1.05
    assert tree_sum(TALKATIVE, asks) <= 1.0


# ---------------------------------------------------------------------- Theorem C′: by the exact sum

NEWER = GuessAndCheck(z=0.3, cell=0.34)


@dataclass(frozen=True)
class OldWeights:
    """Planted: Theorem C's weights without its term for depth, 1 / ((f+1)(f+2) C(i, f)), as if they were a law."""

    asks: int = 0
    surprises: int = 0

    @property
    def nats(self) -> float:
        return math.log((self.surprises + 1) * (self.surprises + 2)) + log_choose(self.asks, self.surprises)

    def prices(self, origin: str) -> tuple[float, float]:
        calm, surprised = (self.after(origin, surprise).nats - self.nats for surprise in (False, True))
        return calm, surprised

    def after(self, origin: str, surprise: bool) -> OldWeights:
        return OldWeights(self.asks + 1, self.surprises + surprise)


def antichain(pattern: Any, asks: int) -> float:
    """The largest sum over histories none of which goes on from another, by counts: of one origin, in any order."""
    start = math.exp(-pattern.nats)
    level = {0: pattern}
    levels = [level]
    for _ in range(asks):
        level = {f + more: one.after("asker", bool(more)) for f, one in level.items() for more in (0, 1)}
        levels.append(level)
    best = {f: math.exp(-one.nats) for f, one in levels[-1].items()}
    for level in reversed(levels[1:-1]):
        best = {f: max(math.exp(-one.nats), best[f] + best[f + 1]) for f, one in level.items()}
    return (best[0] + best[1]) / start


def test_8_the_old_weights_without_depth_pass_one() -> None:
    for asks, known in ((100, 1.36), (300, 1.55)):
        assert antichain(OldWeights(), asks) * math.exp(-OldWeights().nats) == pytest.approx(known, abs=0.01)


def guessed_words(offer: Offer) -> list[Any]:
    return [0, *range(1, farthest(offer, 1) + 1), *range(-1, -farthest(offer, -1) - 1, -1), "raised", "stopped"]


def test_8_and_through_the_mechanism() -> None:
    """A tree of every word there is: under the real law no more than 1, with the old weights more."""

    def asked(state: State) -> list[Offer]:
        return [NEWER.offer(state, FACTS, GUESS)]

    real = NEWER.begin(5, 0.95)
    assert largest_antichain(NEWER, real, asked, guessed_words, 4) <= 1 + 1e-12
    # The sum starts from the weight of nothing said, which is one half: an asker gathers more than it.
    planted = replace(real, pattern=OldWeights())  # type: ignore[arg-type]
    assert largest_antichain(NEWER, planted, asked, guessed_words, 4) > 1.05


def sum_over_a_batch(mechanism: GuessAndCheck, size: int) -> float:
    """What the levels of a batch's last answers come to, over all that can be said: Q of an antichain."""

    def total(state: State, left: list[Offer]) -> float:
        offer = mechanism.reprice(left[0], state) if len(left) < size else left[0]
        found = 0.0
        for symbol in guessed_words(offer):
            surprise, nats = mechanism.cost(offer, symbol)
            side = mechanism.log_side(offer, surprise, nats)
            assert side is not None
            if len(left) == 1:
                found += math.exp(side - state.log_beta)
            else:
                found += total(follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol)), left[1:])
        return found

    state = mechanism.begin(5, 0.95)
    return total(state, [mechanism.offer(state, FACTS, GUESS, place) for place in range(size)])


class Unpaid(GuessAndCheck):
    """Planted: a batch is priced by what was said before it, as under Theorem C."""

    def reprice(self, offer: Offer, state: State) -> Offer:
        return offer


def test_9_a_batch_that_does_not_pay_for_itself_passes_one() -> None:
    for size in (1, 2, 3):
        assert 0.9 < sum_over_a_batch(NEWER, size) <= 1 + 1e-12
    assert sum_over_a_batch(Unpaid(z=NEWER.z, cell=NEWER.cell), 2) > 2


# ---------------------------------------------------------------------- Theorem C′: by exact enumeration


def single_asks(state: State, depth: int) -> list[Move]:
    return [Move((kinds,), guess=guess) for kinds in QUESTIONS for guess in (None, 0.3, 0.5)]


class OwnSymbolFree(GuessAndCheck):
    """Planted: the limits of a word at the level of the conversation before it, as if it said nothing itself."""

    def log_side(self, offer: Offer, surprise: bool, nats: float) -> float | None:
        return offer.log_level


def test_10_the_own_symbol_uncharged_is_caught() -> None:
    assert max(Game(NEWER, 6, 0.7, law, single_asks).worst(depth=1) for law in laws(12)) <= 1.0
    planted = OwnSymbolFree(z=NEWER.z, cell=NEWER.cell)
    assert max(Game(planted, 6, 0.7, law, single_asks).worst(depth=1) for law in laws(12)) > 1.1


def one_final(state: State, depth: int) -> list[Move]:
    return [Move((kinds,), final=True) for kinds in QUESTIONS]


class BothSidesFull(GuessAndCheck):
    """Planted: each limit of an exact value at the full level, as if it were a cell that pays for itself."""

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        offer = super().offer_final(state, facts, place)
        return replace(offer, log_level=offer.log_level + math.log(2))


def test_11_both_sides_of_an_exact_value_at_the_full_level_are_caught() -> None:
    assert max(Game(NEWER, 6, 0.7, law, one_final).worst(depth=1) for law in laws(24)) <= 1.0
    assert max(Game(BothSidesFull(), 6, 0.7, law, one_final).worst(depth=1) for law in laws(24)) > 1.3
