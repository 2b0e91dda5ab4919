"""Guesses behind a secret threshold: PrivateGuessAndCheck and Thresholdout, one machine with three scales."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.mechanisms.threshold.sparse import (
    SHARE,
    Counted,
    Table,
    folded,
    log_ratio,
    neighbours,
    outcomes,
    scripted,
    tells,
)
from unworn import Holdout, col, mean, share
from unworn.bounds.sparse.sparse_vector_bounds import run_profile
from unworn.errors import Exhausted, Tampered, Unaskable
from unworn.events import Crossed
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Guess, PrivateGuessAndCheck, Thresholdout
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.noisy.privacy_price import price
from unworn.mechanisms.threshold.checked_guess import CheckedGuess
from unworn.noise import Stream
from unworn.queries import function
from unworn.record.certificate import Certificate

ROWS = 200_000
BOTH = [PrivateGuessAndCheck(tops=5), Thresholdout(budget=5)]
IDS = ["PrivateGuessAndCheck", "Thresholdout"]


def people(rows: int = ROWS, seed: int = 1) -> dict[str, np.ndarray]:
    return {"age": np.random.default_rng(seed).integers(18, 90, rows)}


def truth(limit: int) -> float:
    return (89 - limit) / 72


def sealed(mechanism: CheckedGuess, asks: int = 50, **options: object) -> Holdout:
    options.setdefault("ledger", SeededStore(np.random.default_rng(5)))
    return Holdout(people(), mechanism=mechanism, asks=asks, **{"ledger": None, **options})  # type: ignore[arg-type]


# ---------------------------------------------------------------------- privacy


@pytest.mark.parametrize(
    "mechanism", [PrivateGuessAndCheck(0.1, 2.0, tops=2), Thresholdout(0.1, 1 / 120, budget=2)], ids=IDS
)
def test_comparing_with_a_guess_is_as_private_as_comparing(mechanism: CheckedGuess) -> None:
    """The distance from a guess moves by one with the count, on either side of the guess; 60 rows, guess 30, T = 6."""
    table = Table(mechanism, rows=60, far=40)
    epsilon = mechanism.run(60).epsilon
    assert epsilon == pytest.approx(2.0)
    worst = 0.0
    for counts, moved in neighbours(2, (24, 30, 36)):
        for told in outcomes(2):
            asked = len(told)
            worst = max(worst, log_ratio(table.instance(counts[:asked], told), table.instance(moved[:asked], told)))
    assert 0.5 < worst <= epsilon + 1e-9
    told = (*(False,) * 12, True)
    for counts, moved in (((39,) * 12 + (36,), (40,) * 12 + (35,)), ((21,) * 12 + (36,), (20,) * 12 + (35,))):
        ratio = log_ratio(table.instance(counts, told), table.instance(moved, told))
        assert 0.99 * epsilon < ratio <= epsilon + 1e-9


@pytest.mark.parametrize(("mechanism", "released"), [(BOTH[0], 4.0), (BOTH[1], 1.0)], ids=IDS)
def test_what_is_released_has_fresh_noise_of_its_own_scale(mechanism: CheckedGuess, released: float) -> None:
    settled = mechanism.settled(ROWS, 0.95, 50)
    state = settled.begin(ROWS, 0.95, 50)
    offer = settled.offer(state, SHARE, Guess(0.5))
    run, script = settled.run(ROWS), {"threshold": 3, "count": 50_000, "value": -7}
    assert run.value == pytest.approx(released * run.threshold / 2)
    assert run.question == pytest.approx(2 * run.threshold)
    with scripted(script):
        assert tells(settled, state, offer, 123_456) == 123_456 - 7  # not the noise that it was compared with
        script["count"] = -200_000
        assert tells(settled, state, offer, 123_456) == "below"


def test_published_short_cuts_are_not_there() -> None:
    """Laplace noise, a fresh threshold after every overfit answer, a budget that ends."""
    mechanism = Thresholdout(0.04, 0.01, budget=2)
    run = mechanism.run(10_000)
    assert (run.threshold, run.question, run.value, run.fresh, run.tops) == (200.0, 400.0, 100.0, True, 2)
    assert float(run_profile(run).delta(2 * 2 / (0.01 * 10_000) + 1e-9)) == 0.0
    assert float(run_profile(run).delta(0.99 * 4 / (0.01 * 10_000))) > 0.0
    state = mechanism.begin(10_000, 0.95, 10)
    later = folded(mechanism, state, ["below", 5_000])
    assert (state.round, later.round, later.surprises) == (0, 2, 1)
    with pytest.raises(Exhausted, match="2 of 2"):
        mechanism.offer(folded(mechanism, later, [5_000]), SHARE, Guess(0.5))


# ---------------------------------------------------------------------- through the holdout


@pytest.mark.parametrize("mechanism", BOTH, ids=IDS)
def test_right_guesses_are_the_answer_and_wrong_ones_cost(mechanism: CheckedGuess) -> None:
    """Seeded; a miss is many noises away."""
    holdout = sealed(mechanism)
    for limit in range(30, 80, 3):
        answer = holdout.ask(share(col("age") > limit), guess=truth(limit) + 0.002)
        assert (answer.value, answer.source) == (truth(limit) + 0.002, "guess")
        assert answer.low <= truth(limit) <= answer.high
    assert holdout.meter.spent == 0.0
    wrong = holdout.ask(share(col("age") > 35), guess=0.05)
    assert wrong.source == "noise"
    assert wrong.low <= truth(35) <= wrong.high
    assert wrong.width < answer.width < 0.2  # the threshold is no part of it
    assert isinstance(wrong.certificate.record.symbol, int)
    assert wrong.certificate.record.event == Crossed(True)
    assert (holdout.meter.spent, holdout.meter.surprises) == (1.0, 1)
    assert {"epsilon", "empirical_error", "tops", "noise", "tilt", "floor"} <= set(wrong.certificate.numbers)
    holdout.verify()


def test_guesses_come_from_training_rows_or_the_asker() -> None:
    holdout = sealed(Thresholdout(budget=3), train=people(seed=2))
    assert holdout.ask(share(col("age") > 50)).source == "guess"
    with pytest.raises(Unaskable, match=r"guess=, or Holdout\(train="):
        sealed(Thresholdout(budget=3)).ask(share(col("age") > 50))


def test_a_mean_is_guessed_in_its_own_units() -> None:
    data = {"income": np.random.default_rng(3).gamma(2.0, 20_000, ROWS)}
    store = SeededStore(np.random.default_rng(4))
    holdout = Holdout(data, mechanism=PrivateGuessAndCheck(tops=2), asks=5, ledger=store, schema={"income": "number"})
    question = mean(col("income"), range=(0, 200_000))
    near = holdout.ask(question, guess=40_300)
    assert (near.value, near.source) == (40_300, "guess")
    assert near.low <= 40_000 * 0.999 <= near.high
    far = holdout.ask(question, guess=150_000, again=True)
    assert far.source == "noise"
    assert far.low <= 40_000 * 0.999 <= far.high


@pytest.mark.parametrize("mechanism", BOTH, ids=IDS)
def test_it_ends_after_so_many_wrong_guesses_and_batches_count_as_wrong(mechanism: CheckedGuess) -> None:
    holdout = sealed(mechanism)
    questions = [share(col("age") > limit) for limit in range(30, 42, 2)]
    with pytest.raises(Exhausted, match="at most 5 together"):
        holdout.ask_many(questions, [truth(limit) for limit in range(30, 42, 2)])
    assert holdout.meter.asked == 0
    told = holdout.ask_many(questions[:5], [0.01, truth(32), 0.01, truth(36), 0.01])
    assert [answer.source for answer in told] == ["noise", "guess", "noise", "guess", "noise"]
    for limit in (60, 62):
        holdout.ask(share(col("age") > limit), guess=0.99)
    with pytest.raises(Exhausted, match="5 of 5"):
        holdout.ask(share(col("age") > 64), guess=truth(64))
    holdout.verify()


@pytest.mark.parametrize("mechanism", BOTH, ids=IDS)
def test_a_restart_goes_on_with_the_same_threshold(mechanism: CheckedGuess, tmp_path: Path) -> None:
    data, ledger = people(), str(tmp_path / "guesses.db")
    holdout = Holdout(data, mechanism=mechanism, asks=50, ledger=ledger)
    holdout.ask(share(col("age") > 50), guess=truth(50))
    holdout.ask(share(col("age") > 60), guess=0.9)
    state, secret = holdout._desk.transcript.state, holdout._desk.noise_key
    holdout.close()
    reopened = Holdout(data, mechanism=mechanism, asks=50, ledger=ledger)  # what was left open is as it was sealed
    assert reopened._desk.transcript.state == state
    assert reopened._desk.noise_key == secret
    assert state.round == 2
    card = reopened.ask(share(col("age") > 60)).certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify(reopened._desk.transcript.entries)
    told = json.loads(card.read_text())
    told["entry"]["body"]["symbol"] += 1
    card.write_text(json.dumps(told))
    with pytest.raises(Tampered):
        Certificate.load(card).verify()


def test_the_answer_needs_nothing_but_its_arguments() -> None:
    settled = BOTH[0].settled(1_000, 0.95, 10)
    state = settled.begin(1_000, 0.95, 10)
    offer = settled.offer(state, SHARE, Guess(0.5))
    rows = Counted(1_000, 990)
    told = {settled.answer(state, offer, None, rows, Stream(b"s" * 32, "ask")).symbol for _ in range(4)}  # type: ignore[arg-type]
    assert len(told) == 1


def test_right_guesses_pass_as_often_as_they_should() -> None:
    """300 runs of 20 guesses off by the tolerance: a false alarm in at most 5 % of them; 15 expected at the most.

    38 or more at 5 % each have a probability below 1e-6.
    """
    checked = PrivateGuessAndCheck(tops=5, tolerance=0.01).settled(20_000, 0.95, 20)
    state = checked.begin(20_000, 0.95, 20)
    offer, rows, alarms = checked.offer(state, SHARE, Guess(0.5)), Counted(20_000, 10_200), 0
    for run in range(300):
        key = run.to_bytes(32, "big")
        told = [checked.answer(state, offer, None, rows, Stream(key, "ask", j)).symbol for j in range(20)]  # type: ignore[arg-type]
        alarms += any(symbol != "below" for symbol in told)
    assert 0 < alarms < 38


def test_the_plan_chooses_noise_and_threshold() -> None:
    free = PrivateGuessAndCheck(tops=20, tolerance=0.01).settled(10**6, 0.95, 10**5)
    assert free.threshold is not None
    assert free.epsilon is not None
    assert free.threshold > 0.01
    for factor in (0.75, 1.3):
        other = PrivateGuessAndCheck(None, factor * free.epsilon, 20, 0.01).settled(10**6, 0.95, 10**5)
        assert other.reach(10**6, 10**5) > free.reach(10**6, 10**5)
    given = PrivateGuessAndCheck(0.05, tops=20).settled(10**6, 0.95, 10**5)
    assert given.threshold == 0.05
    assert Thresholdout.for_(rows=10**6, asks=1_000).scale is not None
    with pytest.raises(ValueError, match="bring more rows"):
        Thresholdout.for_(rows=1_000, asks=1_000, width=0.05)


def test_the_width_is_that_of_the_theorem() -> None:
    mechanism = PrivateGuessAndCheck(0.02, 0.01, tops=3)
    state = mechanism.begin(ROWS, 0.95, 100)
    offer = mechanism.offer(state, SHARE, Guess(0.5))
    paid = price(mechanism, ROWS, 100, state.log_beta)
    agreed, noisy = publish_symbol(mechanism, offer, "below"), publish_symbol(mechanism, offer, ROWS // 2)
    assert agreed.high - noisy.high == pytest.approx(0.02, rel=0.05)
    assert noisy.high == pytest.approx(paid.limits(0.5)[1])
    assert mechanism.reach(ROWS, 100) == pytest.approx(0.02 + paid.width)
    assert mechanism.widest(offer) <= mechanism.reach(ROWS, 100)
    far = publish_symbol(mechanism, offer, 10**9)
    assert far.low == pytest.approx(1.0)
    assert far.high == far.value == 1.0
    for symbol in ("above", 1.5, True, None):
        with pytest.raises(TypeError):
            publish_symbol(mechanism, offer, symbol)  # type: ignore[arg-type]


def test_code_is_refused() -> None:
    with pytest.raises(Unaskable, match="array"):
        sealed(BOTH[0]).ask(function(lambda columns: columns["age"] / 100, range=(0, 1)), guess=0.5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PrivateGuessAndCheck(1.5), "share of the range"),
        (lambda: PrivateGuessAndCheck(0.1, math.nan), "above 0"),
        (lambda: PrivateGuessAndCheck(tops=0), "whole number"),
        (lambda: PrivateGuessAndCheck(tolerance=-0.1), "share"),
        (lambda: PrivateGuessAndCheck().begin(100, 0.95, 10), "threshold=, epsilon="),
        (lambda: Thresholdout(0.04, -1.0), "above 0"),
        (lambda: Thresholdout(0.04, 0.01, budget=True), "whole number"),
        (lambda: Thresholdout(0.04, 0.01).begin(100, 0.95), "asks="),
    ],
)
def test_bad_parameters_are_told_the_valid_range(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]
