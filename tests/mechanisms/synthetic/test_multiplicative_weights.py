"""The mechanism that keeps a synthetic distribution: how it learns, how often it can be wrong, and that all of it
follows from the ledger."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.mechanisms.changed_offers import with_numbers
from tests.mechanisms.synthetic.test_median_oracle import chain, forged, guesses
from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, col, mean, share
from unworn.errors import Exhausted, Mismatch, Tampered, Unaskable
from unworn.lab import ANALYSTS, Analyst, FiniteWorld, run
from unworn.lab.audit import audit
from unworn.lab.audit.catalogue import PLANS
from unworn.lab.audit.counted_rows import SHARE
from unworn.lab.worlds import FiniteScene, Rule
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Guess, GuessAndCheck, MultiplicativeWeights, Offer, State, from_json
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.record import Record
from unworn.mechanisms.synthetic.learned_weights import SLIP, LearnedWeights, Weights, _powers, most_updates
from unworn.mechanisms.synthetic.version_space import GRID, on_grid
from unworn.mechanisms.synthetic.wrong_guesses import FollowedRecords, Wrong
from unworn.mechanisms.threshold.secret_threshold import BELOW
from unworn.noise import Stream
from unworn.queries import Query, function, statistic
from unworn.record.certificate import Certificate, replay
from unworn.universe.domain.domain import Domain
from unworn.universe.model.contraction import tables

ROWS, ASKS = 100_000, 20_000  # planned; far fewer are asked
DOMAIN = {"age": [20, 40, 60], "plan": ["basic", "pro"], "new": [False, True]}
SHARES = np.array([0.3, 0.02, 0.1, 0.02, 0.2, 0.01, 0.05, 0.05, 0.1, 0.05, 0.05, 0.05])


@cache
def planned(rows: int = ROWS, asks: int = ASKS, confidence: float = 0.95) -> MultiplicativeWeights:
    return MultiplicativeWeights(domain=DOMAIN).settled(rows, confidence, asks)


def people(rows: int = ROWS, seed: int = 1) -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(seed).choice(12, rows, p=SHARES)
    return {
        "age": np.array([20, 40, 60])[drawn // 4],
        "new": (drawn // 2 % 2).astype(bool),
        "plan": np.array(["basic", "pro"])[drawn % 2],
    }


def questions() -> list[tuple[Query, float]]:
    """Questions and their truths. The axes are age, new, plan."""
    cube = SHARES.reshape(3, 2, 2)
    young, basic, new = col("age") == 20, col("plan") == "basic", col("new") == True  # noqa: E712
    return [
        (share(young), cube[0].sum()),
        (share(basic), cube[:, :, 0].sum()),
        (share(new), cube[:, 1].sum()),
        (share(young & basic), cube[0, :, 0].sum()),
        (share(young | new), cube[0].sum() + cube[1:, 1].sum()),
        (share((col("age") >= 40) & basic & ~new), cube[1:, 0, 0].sum()),
    ]


def sealed(mechanism: MultiplicativeWeights | None = None, seed: int = 5, **options: Any) -> Holdout:
    options.setdefault("ledger", SeededStore(np.random.default_rng(seed)))
    options.setdefault("asks", ASKS)
    return Holdout(
        options.pop("data", None) or people(), mechanism=mechanism or planned(), **{"ledger": None, **options}
    )


# ------------------------------------------------------------------ one step


def divergence(first: NDArray[Any], second: NDArray[Any]) -> float:
    """KL of one distribution from another."""
    held = first > 0
    return float(np.sum(first[held] * np.log(first[held] / second[held])))


def binary(first: float, second: float) -> float:
    return divergence(np.array([first, 1 - first]), np.array([second, 1 - second]))


@pytest.mark.parametrize("whole", [True, False])
def test_a_step_lowers_the_divergence_by_what_was_proved(whole: bool) -> None:
    """From any weights towards any rows, up or down: kl(t || g) at least, and that is 2(t - g)² at least."""
    rng = np.random.default_rng(8)
    shape, axes = (4, 3, 5), (0, 2)
    for _ in range(300):
        rows = rng.dirichlet(np.full(60, 0.1))
        weights = Weights(np.ceil(2.0**51 * rng.dirichlet(np.full(60, 0.2))).reshape(shape) + 1)
        values = rng.integers(0, 2, (4, 5)).astype(float) if whole else rng.random((4, 5))
        steps = on_grid(values)
        guess = float(weights.share(axes, steps))
        value = float((rows.reshape(shape).sum(axis=1) * steps).sum()) / GRID
        target = guess + (value - guess) * rng.uniform(0.01, 1.0)  # what the value has passed, seen from the guess
        if not 1e-6 < target < 1 - 1e-6 or not 0 < guess < 1:
            continue
        tilted = weights.tilted(axes, steps, Fraction(target))
        assert tilted.cells.min() >= 1
        assert (tilted.cells == np.rint(tilted.cells)).all()
        assert 2**50 <= tilted.total < 2**52
        before, after = (divergence(rows, each.cells.reshape(-1) / each.total) for each in (weights, tilted))
        assert before - after >= binary(target, guess) - SLIP - 1e-12
        assert binary(target, guess) >= 2 * (target - guess) ** 2 - 1e-12
        if whole:
            assert float(tilted.share(axes, steps)) == pytest.approx(target, abs=1e-9)


def test_shares_are_exact() -> None:
    """Against fractions, cell by cell, with weights as different as they can be."""
    rng = np.random.default_rng(2)
    cells = np.ceil(2.0 ** rng.uniform(0, 45, (3, 4, 2)))
    values = rng.random((3, 2))
    found = Weights(cells).share((0, 2), on_grid(values))
    sums = {
        (i, j, k): Fraction(int(cells[i, j, k])) * int(on_grid(values)[i, k])
        for i in range(3)
        for j in range(4)
        for k in range(2)
    }
    assert found == sum(sums.values()) / (GRID * sum(Fraction(int(cell)) for cell in cells.reshape(-1)))


def test_powers_come_from_square_roots() -> None:
    steps = np.array([0, 1, 1023, 1024, 1025, 2**19, 2**20 - 1, 2**20])
    for ratio in (1e-12, 0.3, 1.0, 7.0, 1e15):
        np.testing.assert_allclose(_powers(ratio, steps), ratio ** (steps / GRID), rtol=1e-14)
    assert _powers(7.3, steps)[[0, -1]].tolist() == [1.0, 7.3]


def test_weights_are_the_same_on_every_machine() -> None:
    """Found once, and noted: another number here means that ledgers made elsewhere would not be verified."""
    rng = np.random.default_rng(4)
    weights = Weights.uniform((7, 5, 3))
    for _ in range(50):
        steps = on_grid(rng.random((7, 3)) if rng.random() < 0.5 else rng.integers(0, 2, (7, 3)).astype(float))
        weights = weights.tilted((0, 2), steps, Fraction(int(rng.integers(1, 1000)), 1000))
    digest = hashlib.sha256(weights.cells.astype(np.int64).astype("<i8").tobytes()).hexdigest()
    assert digest[:16] == "90ee4062388a84f2"


def test_a_question_that_is_alike_everywhere_teaches_nothing() -> None:
    weights = Weights.uniform((4,))
    for value in (0.0, 0.3, 1.0):
        assert weights.tilted((0,), on_grid(np.full(4, value)), Fraction(1, 2)) is weights


@pytest.mark.parametrize("target", [Fraction(-3), Fraction(0), Fraction(1), Fraction(5, 2)])
def test_a_weight_never_vanishes(target: Fraction) -> None:
    """Answers that no rows of the domain could give, over and over."""
    weights, steps = Weights.uniform((2, 3)), on_grid(np.array([0.2, 0.3, 0.7]))
    for _ in range(50):
        weights = weights.tilted((1,), steps, target)
    assert weights.cells.min() >= 1
    assert float(weights.share((1,), steps)) == pytest.approx(0.2 if target <= 0 else 0.7, abs=1e-5)
    assert 2**50 <= weights.total < 2**52


def test_a_mean_of_a_narrow_range_is_learnt_at_once() -> None:
    """Its values fill a twentieth of the range: a step that took them for 0 and 1 would hardly move."""
    learned = LearnedWeights(Domain({"x": [0, 1, 2]}), 0.01, 10.0)
    told = Wrong(_text(mean(col("x"), range=(-10, 30))), -10.0, 30.0, 10**6, 275_000, 295_000, 0, False)
    axes, steps = (0,), on_grid(np.array([10, 11, 12]) / 40)
    share = learned.weights((told,)).share(axes, steps)
    assert 0.8 * (learned.bound(told) - Fraction(11, 40)) < share - Fraction(11, 40)


def test_an_answer_on_the_guess_or_already_known_teaches_nothing() -> None:
    learned = LearnedWeights(Domain({"x": [0, 1]}), 0.1, 10.0)
    question = _text(share(col("x") == 1))
    start = learned.weights(())
    assert learned.weights((Wrong(question, 0.0, 1.0, 1_000, 500, 500, 0),)) is start
    up = Wrong(question, 0.0, 1.0, 1_000, 500, 900, 0)
    once = learned.weights((up,))
    assert once is not start
    assert float(once.share((0,), on_grid(np.array([0.0, 1.0])))) == pytest.approx(0.9 - 0.16)
    assert learned.weights((up, up)) is once  # as the second of a batch: guessed before the first was learnt


def test_what_is_known_of_rows() -> None:
    """The gap at least, or what the answer says but for its noise; less where rows were rounded."""
    learned = LearnedWeights(Domain({"x": [0, 1]}), 0.1, 10.0)
    told = Wrong("", 0.0, 1.0, 10_000, 5_000, 6_100, 0)

    def rows(**changed: Any) -> float:
        return float(learned.bound(replace(told, **changed)) * 10_000)

    assert rows() == pytest.approx(6_000.5)
    assert rows(answer=5_001) == pytest.approx(6_000.5)
    assert rows(answer=7_200) == 7_040
    assert rows(answer=2_800) == 2_960
    assert rows(answer=7_200, counted=False) == 7_040 - 303
    assert rows(counted=False) == pytest.approx(6_000.5 - 303)
    assert rows(counted=False, rows=100, guess=50, answer=70) == pytest.approx(100 * 50 + 50 * 10.5)
    noisy = LearnedWeights(learned.domain, 0.1, 1e6)
    assert noisy.bound(replace(told, answer=9_000)) == Fraction(7, 10)  # half way


def _text(question: Query) -> str:
    from unworn.queries.query import canonical

    return canonical(question.to_json())


@pytest.mark.parametrize("gap", [0.001, 0.01, 0.1, 0.5])
def test_the_number_of_updates(gap: float) -> None:
    for cells in (2, 2**10, 2**22):
        textbook = 4 * math.log(cells) / gap**2
        assert most_updates(cells, gap) <= 1.01 * textbook / 8
        assert most_updates(cells, gap) >= math.floor(textbook / 8)
        assert most_updates(cells, gap) <= most_updates(2 * cells, gap)
        assert most_updates(cells, gap) >= most_updates(cells, min(2 * gap, 0.5))


# ------------------------------------------------------------------ answering


def test_answers_cover_and_the_guesses_become_right() -> None:
    """Planned for a confidence of 1 - 2e-7. False alarms: misses, and right guesses that fail, 2e-7 each at most."""
    sure = 1 - 2e-7
    mechanism = planned(10 * ROWS, ASKS, sure)
    holdout = sealed(mechanism, data=people(10 * ROWS), confidence=sure)
    asked = questions()
    first = [holdout.ask(question) for question, _ in asked]
    second = [holdout.ask(question, again=True) for question, _ in asked]
    third = [holdout.ask(question, again=True) for question, _ in asked]
    for (_, truth), answer in zip(asked * 3, first + second + third, strict=True):
        assert answer.low <= truth <= answer.high
    assert {answer.source for answer in first} == {"synthetic", "noise"}
    assert {answer.source for answer in third} == {"synthetic"}
    updates = sum(answer.source == "noise" for answer in first + second + third)
    assert updates <= mechanism.limit - 1 == most_updates(12, mechanism.gap or 1.0)
    truths = np.array([truth for _, truth in asked])
    told = np.array(guesses(holdout)).reshape(3, -1)
    assert np.abs(told[2] - truths).max() < np.abs(told[0] - truths).max()
    assert max(answer.width for answer in first + third) <= mechanism.reach(10 * ROWS, ASKS, sure) + 1e-9 < 0.5


def test_the_first_guess_is_that_of_the_uniform_distribution() -> None:
    holdout = sealed()
    answer = holdout.ask(share(col("age") == 20), guess=0.99)  # not used: the mechanism guesses
    assert answer.certificate.record.guess.origin == "mechanism"
    assert answer.certificate.record.guess.value == pytest.approx(1 / 3)


def test_means_are_guessed_in_their_own_units() -> None:
    holdout = sealed()
    for question, _ in questions() * 2:
        holdout.ask(question, again=True)
    answer = holdout.ask(mean(col("age"), range=(10, 60)))
    truth = float(SHARES.reshape(3, 4).sum(axis=1) @ [20, 40, 60])
    assert answer.low <= truth <= answer.high
    assert abs(answer.value - truth) < 6


@pytest.mark.parametrize("asks", [50, ASKS])
def test_means_teach_too(asks: int) -> None:
    """Every row is 60: a mean is asked over and over, until its guess passes but for one in ten, by its noise.

    That none of the last ten passes has a probability below 1e-8.
    """
    mechanism = MultiplicativeWeights(domain={"age": [20, 30, 40, 50, 60]}).settled(ROWS, 0.95, asks)
    data = {"age": np.full(ROWS, 60)}
    holdout = Holdout(data, mechanism=mechanism, asks=asks, ledger=SeededStore(np.random.default_rng(1)))
    question = mean(col("age"), range=(20, 60))
    told = [holdout.ask(question, again=True) for _ in range(20)]
    assert told[0].certificate.record.guess.value == pytest.approx(40)
    assert told[0].source == "noise"
    assert "synthetic" in {answer.source for answer in told[-10:]}
    assert all(answer.high >= 59.99 for answer in told)
    replay(chain(holdout))


def test_groups_are_asked_as_units() -> None:
    holdout = Holdout(
        people(2 * ROWS) | {"team": np.repeat(np.arange(ROWS), 2)},
        groups="team",
        mechanism=MultiplicativeWeights(domain=DOMAIN),
        asks=50,
        ledger=SeededStore(np.random.default_rng(2)),
    )
    for question, truth in questions():
        answer = holdout.ask(question)
        assert answer.low <= truth <= answer.high
    replay(chain(holdout))


# ------------------------------------------------------------------ from the ledger alone


def test_a_restart_has_the_same_weights_and_answers(tmp_path: Path) -> None:
    store = str(tmp_path / "weights.db")

    def open_() -> Holdout:
        return Holdout(data, mechanism=MultiplicativeWeights(domain=DOMAIN), asks=ASKS, ledger=store)

    data, asked = people(), [question for question, _ in questions()]
    holdout = open_()
    for question in asked[:4]:
        holdout.ask(question)
    quoted = [holdout.quote(question).guess for question in asked]
    weights = after(holdout)
    assert holdout.meter.surprises
    holdout.close()
    reopened = open_()
    assert [reopened.quote(question).guess for question in asked] == quoted
    np.testing.assert_array_equal(after(reopened).cells, weights.cells)
    answers = [reopened.ask(question) for question in asked[4:]]
    answers[-1].certificate.verify(chain(reopened))
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(data, mechanism=MultiplicativeWeights(domain={"age": [20, 40]}), asks=ASKS, ledger=store)
    reopened.close()


def after(holdout: Holdout) -> Weights:
    mechanism, records = holdout.mechanism, holdout._desk.transcript.records
    assert isinstance(mechanism, MultiplicativeWeights)
    return mechanism._learned.weights(mechanism._followed.wrong(records))


def test_every_wrong_guess_is_learnt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    once = Weights.tilted
    monkeypatch.setattr(Weights, "tilted", lambda self, *given: steps.append(given) or once(self, *given))
    holdout = sealed(replace(planned()))
    for question, _ in questions() * 3:
        holdout.ask(question, again=True)
        holdout.quote(question)
    assert 0 < len(steps) <= holdout.meter.surprises
    records, known = holdout._desk.transcript.records, len(steps)
    wrong = FollowedRecords(planned().level).wrong(records)
    mechanism = holdout.mechanism
    assert mechanism._learned.weights(wrong).total == after(holdout).total
    assert len(steps) == known
    before = mechanism._learned.weights(wrong[:-1])  # a ledger that was cut by one: still kept
    assert len(steps) == known
    np.testing.assert_array_equal(
        before.cells, LearnedWeights(Domain(DOMAIN), *_taught(mechanism)).weights(wrong[:-1]).cells
    )
    copied = pickle.loads(pickle.dumps(mechanism))  # what was learnt stays behind
    assert copied == mechanism
    np.testing.assert_array_equal(copied._learned.weights(wrong).cells, after(holdout).cells)


def _taught(mechanism: MultiplicativeWeights) -> tuple[float, float]:
    assert mechanism.gap is not None
    assert mechanism.epsilon is not None
    return mechanism.gap, 4.0 / mechanism.epsilon


def test_a_replay_finds_a_guess_that_the_mechanism_did_not_make() -> None:
    """Everything else in the entry fits the guess, and the card alone cannot tell; the ledger can."""
    holdout = sealed()
    for question, _ in questions():
        holdout.ask(question)
    entries, mechanism = chain(holdout), holdout.mechanism
    passed = next(place for place in range(1, 7) if entries[place].body["symbol"] == BELOW)
    wrong = next(place for place in range(1, 6) if entries[place].body["symbol"] != BELOW)

    def shift(body: dict[str, Any]) -> None:
        offer = Offer.from_json(body["offer"])
        body["guess"][0] += 0.01
        offer = with_numbers(offer, guess=body["guess"][0])
        body["offer"] = offer.to_json()
        publish(body, offer)

    def more(body: dict[str, Any]) -> None:
        body["symbol"] += 5 * mechanism.level(ROWS)
        publish(body, Offer.from_json(body["offer"]))

    def publish(body: dict[str, Any], offer: Offer) -> None:
        told = publish_symbol(mechanism, offer, body["symbol"])
        body["published"] = [told.value, told.low, told.high, told.source]

    replay(forged(entries, passed, lambda body: None))
    tampered = forged(entries, passed, shift)
    Certificate.of(tampered[0], tampered[passed]).verify()
    with pytest.raises(Tampered, match=rf"entry {passed} holds the guess"):
        replay(tampered)
    with pytest.raises(Tampered):  # after another answer all guesses would have been others
        replay(forged(entries, wrong, more))


def test_a_batch_is_guessed_from_what_was_told_before_it() -> None:
    holdout = sealed()
    asked = [question for question, _ in questions()]
    holdout.ask(asked[0])
    quoted = [holdout.quote(question).guess for question in asked[1:]]
    answers = holdout.ask_many(asked[1:])
    assert [answer.certificate.record.guess.value for answer in answers] == quoted
    for question, truth in questions():
        answer = holdout.ask(question, again=True)
        assert answer.low <= truth <= answer.high
    replay(chain(holdout))
    left = planned().limit - int(holdout.meter.surprises)
    many = [share(col("age") > age / 8) for age in range(left + 1)]
    with pytest.raises(Exhausted, match=f"ask at most {left}"):
        holdout.ask_many(many)
    assert holdout.meter.asked == 12  # refused as a whole, before any row was read


# ------------------------------------------------------------------ how often it can be wrong


@dataclass
class Histogram:
    """Rows of a domain by how many there are of each: all a mechanism here asks of rows."""

    domain: Domain
    counts: NDArray[np.int64]

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    def rounded(self, queries: Sequence[Query], noises: Sequence[Stream]) -> list[int]:
        axes, values = self.domain.weights(queries[0])
        return [int((tables(self.counts, [axes])[0] * values).sum())]


@dataclass
class Driver:
    """What a holdout does with a mechanism, without a ledger: a hundred thousand asks in minutes."""

    mechanism: MultiplicativeWeights
    rows: Histogram
    state: State
    key: bytes
    records: list[Record]

    def ask(self, question: Query) -> Record:
        guess = self.mechanism.own_guess(question, SHARE, self.records)
        offer = self.mechanism.offer(self.state, SHARE, guess)
        noise = Stream(self.key, "ask", offer.index)
        reply = self.mechanism.answer(self.state, offer, question, self.rows, noise)  # type: ignore[arg-type]
        self.state = self.mechanism.after(self.state, reply.event)
        published = publish_symbol(self.mechanism, offer, reply.symbol)
        name, at = question.to_json(), 0.0
        record = Record(name, "", question.fingerprint, None, guess, offer, reply.symbol, reply.event, published, at)
        self.records.append(record)
        return record


def driver(domain: Domain, counts: NDArray[np.int64], asks: int, seed: int, gap: float | None = None) -> Driver:
    rows, sure = Histogram(domain, counts), 1 - 2e-7
    mechanism = MultiplicativeWeights(domain=domain, gap=gap).settled(rows.size, sure, asks)
    key = np.random.default_rng(seed).bytes(32)
    return Driver(mechanism, rows, mechanism.begin(rows.size, sure, asks), key, [])


def mixture(bits: int, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows of yes/no columns that hang together: of a few kinds, each with its own inclinations."""
    cells = np.zeros((2,) * bits)
    for _ in range(4):
        kind = np.ones(())
        for yes in rng.random(bits):
            kind = np.multiply.outer(kind, [1 - yes, yes])
        cells += kind
    return rng.multinomial(rows, (cells / cells.sum()).reshape(-1)).reshape((2,) * bits)


def conjunctions(bits: int, rng: np.random.Generator) -> Iterator[Query]:
    """Any three columns, any values, joined in two ways."""
    while True:
        columns, values = rng.choice(bits, 3, replace=False), rng.integers(0, 2, 3)
        first, second, third = (col(f"x{at:02}") == int(value) for at, value in zip(columns, values, strict=True))
        yield share(first & second & third) if rng.random() < 0.5 else share((first & second) | third)


def many(bits: int, rows: int, asks: int, seed: int) -> tuple[int, int, float]:
    """Updates, how many there may be, and the largest error of a value, in units of the plan's width.

    False alarm: with a confidence of 1 - 2e-7, right guesses fail with that probability; and values are off the rows by
    more than the width promised for the population with no more.
    """
    rng = np.random.default_rng(seed)
    domain = Domain({f"x{at:02}": [0, 1] for at in range(bits)})
    made = driver(domain, mixture(bits, rows, rng), asks, seed)
    width, worst = made.mechanism.reach(rows, asks, 1 - 2e-7), 0.0
    for _, question in zip(range(asks), conjunctions(bits, rng), strict=False):
        told = made.ask(question).published.value
        worst = max(worst, abs(told - made.rows.rounded([question], [])[0] / rows) / width)
    return made.state.surprises, made.mechanism.limit - 1, worst


@in_two_sizes(short=(8, 300), full=(16, 100_000))
def test_many_questions_and_few_updates(size: tuple[int, int]) -> None:
    """At full size a hundred thousand on 65,536 cells; false alarm 4e-7, as ``many`` says.

    The first guesses are those of a uniform distribution, far off for rows of four kinds: there are updates.
    """
    bits, asks = size
    updates, most, worst = many(bits, rows=10**6, asks=asks, seed=reseeded(3))
    assert 0 < updates <= most
    assert worst <= 1


def hostile(points: int, asks: int, seed: int, style: str, gap: float) -> Driver:
    """Somebody who knows the rows and the weights asks for nothing but what is wrong.

    ``far``: all points of which the weights have too little, which is the question that is off most. ``near``: five of
    the eight points that the rows are at, with so many others that the guess is off by little more than the threshold,
    and near a half, where a step is worth least; the weights, spread over everything, learn about eight points.
    """
    rng, rows, held = np.random.default_rng(seed), 10**7, 8
    counts = np.zeros(points, dtype=np.int64)
    counts[rng.choice(points, held, replace=False)] = rows // held
    made = driver(Domain({"x": range(points)}), counts, asks, seed, gap)
    at, others = np.flatnonzero(counts), rng.permutation(np.flatnonzero(counts == 0))
    for _ in range(asks):
        weights = made.mechanism._learned.weights(made.mechanism._followed.wrong(made.records))
        shares = weights.cells / weights.total
        if style == "far":
            chosen = np.flatnonzero(counts / rows > shares)
        else:
            some = at[np.argsort(shares[at])[:5]]
            room = 5 / held - 1.05 * (made.mechanism.threshold or 0.0) - shares[some].sum()
            rest = rng.permutation(others)
            chosen = np.append(some, rest[: int(np.searchsorted(np.cumsum(shares[rest]), room))])
        made.ask(share(col("x").isin(sorted(int(point) for point in chosen))))
    return made


def forced(points: int, asks: int, seed: int, style: str, gap: float) -> float:
    """Which part of the updates that were planned for was forced; each must have taught what was proved."""
    made = hostile(points, asks, seed, style, gap)
    updates, most = made.state.surprises, made.mechanism.limit - 1
    assert 0 < updates <= most < asks
    held, kept = made.rows.counts / made.rows.size, made.mechanism._learned
    fresh, wrong = LearnedWeights(kept.domain, kept.gap, kept.scale), made.mechanism._followed.wrong(made.records)
    states = [fresh.weights(wrong[:place]) for place in range(updates + 1)]
    apart = [divergence(held, state.cells / state.total) for state in states]
    assert apart[0] <= math.log(points) + 1e-9
    assert min(-np.diff(apart)) >= 2 * gap**2 - SLIP
    return updates / most


@pytest.mark.parametrize("style", ["far", "near"])
@in_two_sizes(short=(256, 400, 0.1, 1), full=(1024, 2_000, 0.06, 4))
def test_whoever_knows_everything_cannot_force_more_updates_than_were_planned(
    style: str, size: tuple[int, int, float, int]
) -> None:
    """False alarm 2e-7 a run for a guess within the gap that fails; far less for noise on the wrong side of a guess."""
    points, asks, gap, runs = size
    for seed in range(reseeded(6), reseeded(6) + runs):
        assert (forced(points, asks, seed, style, gap) > 0.2) is (style == "near")


def test_rows_outside_the_domain_end_the_run_and_break_no_interval() -> None:
    """Nobody is 20 or 40, which no distribution over the domain allows: a question about both stays wrong."""
    mechanism = MultiplicativeWeights(domain={"age": [20, 40]}, gap=0.2).settled(ROWS, 0.95, ASKS)
    data, store = {"age": np.full(ROWS, 30)}, SeededStore(np.random.default_rng(4))
    holdout = Holdout(data, mechanism=mechanism, asks=ASKS, ledger=store)
    nobody = share((col("age") == 20) | (col("age") == 40))
    for _ in range(mechanism.limit):
        answer = holdout.ask(nobody, again=True)
        assert answer.low == 0.0
        assert answer.source == "noise"
    with pytest.raises(Exhausted, match=rf"(?s){mechanism.limit} guesses were wrong, and at most.*hold all the same"):
        holdout.ask(nobody, again=True)
    with pytest.raises(Exhausted):
        holdout.quote(share(col("age") > 10))
    assert holdout.meter.asked == mechanism.limit
    replay(chain(holdout))


# ------------------------------------------------------------------ refusals, and the plan


def test_questions_that_have_no_value_on_the_domain() -> None:
    data = people() | {"income": np.ones(ROWS), "y": np.zeros(ROWS, dtype=int)}
    holdout = Holdout(data, y="y", mechanism=planned(), asks=ASKS, ledger=None)
    with pytest.raises(Unaskable, match="no column 'income'"):
        holdout.ask(share(col("income") > 0))
    with pytest.raises(Unaskable, match="predictions, models and functions belong to rows"):
        holdout.score(np.zeros(ROWS, dtype=int))
    with pytest.raises(Unaskable, match="code that sees all the rows"):
        holdout.ask(function(lambda columns: columns["age"] > 3, range=(0, 1)))
    with pytest.raises(Unaskable, match="not a mean over rows"):
        holdout.ask(statistic(lambda columns: 0.5, sensitivity=1 / ROWS, range=(0, 1)))
    with pytest.raises(Unaskable, match="exact test would show"):
        holdout.test(share(col("age") == 20), above=0.4)
    assert holdout.meter.asked == 0
    with pytest.raises(Unaskable, match="nothing to sharpen"):
        holdout.sharpen(holdout.ask(share(col("age") == 20)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"domain": {f"x{at}": [0, 1] for at in range(23)}}, r"8,388,608 cells, and at most 4,194,304.*GuessAndCheck"),
        ({"domain": {"a": [1]}}, "single point"),
        ({"domain": Domain({"a": [1, 2]}, origin="rows")}, "read off the rows"),
        ({"domain": {"a": []}}, "none at all"),
        ({"domain": DOMAIN, "gap": 0.0}, r"gap is a share of the range, in \[0.001, 0.5\]"),
        ({"domain": DOMAIN, "gap": 0.6}, "gap is a share"),
        ({"domain": DOMAIN, "gap": float("nan")}, "gap is a share"),
        ({"domain": DOMAIN, "gap": True}, "gap"),
        ({"domain": DOMAIN, "threshold": 1.5}, "share of the range"),
        ({"domain": DOMAIN, "epsilon": 0.0}, "above 0"),
        ({"domain": DOMAIN, "epsilon": float("inf")}, "at most 700"),
    ],
)
def test_what_is_no_configuration_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){said}"):
        MultiplicativeWeights(**options)


def test_plans_that_promise_nothing_are_refused_with_the_numbers() -> None:
    with pytest.raises(ValueError, match=r"(?s)with 1,000 rows, 1,000 asks and a domain of 12 cells.*nothing"):
        MultiplicativeWeights.for_(rows=1_000, asks=1_000, domain=DOMAIN)
    with pytest.raises(ValueError, match="cannot do better than"):
        MultiplicativeWeights.for_(rows=ROWS, asks=ASKS, width=0.001, domain=DOMAIN)
    with pytest.raises(ValueError, match="give domain="):
        MultiplicativeWeights.for_(rows=ROWS, asks=ASKS)
    with pytest.raises(ValueError, match="give gap= too"):
        MultiplicativeWeights(0.2, domain=DOMAIN).settled(ROWS, 0.95, ASKS)
    with pytest.raises(ValueError, match="asks="):
        Holdout(people(), mechanism=MultiplicativeWeights(domain=DOMAIN), ledger=None)


def test_the_configuration_survives_entry_0() -> None:
    assert from_json(planned().to_json()) == planned()
    shuffled = {"plan": ["pro", "basic"], "new": [True, False], "age": [60, 20.0, 40]}
    assert MultiplicativeWeights(domain=shuffled).accepts(planned())
    assert not MultiplicativeWeights(domain=DOMAIN, gap=0.3).accepts(planned())
    assert not GuessAndCheck().accepts(planned())
    numbers = sealed().ask(share(col("age") == 20)).certificate.numbers
    assert (numbers["cells"], numbers["gap"], numbers["updates"]) == (12, planned().gap, planned().limit - 1)
    assert numbers["tops"] == planned().limit


@pytest.mark.parametrize(("rows", "asks", "bits"), [(10**5, 10**4, 4), (10**7, 10**6, 16)])
def test_the_plan_chooses_a_gap_near_the_best(rows: int, asks: int, bits: int) -> None:
    domain = Domain({f"x{at}": [0, 1] for at in range(bits)})
    best = MultiplicativeWeights.for_(rows=rows, asks=asks, domain=domain)
    assert best.gap is not None
    assert best.threshold is not None
    assert best.gap < best.threshold
    for factor in (0.7, 1.3):
        other = MultiplicativeWeights(domain=domain, gap=factor * best.gap).settled(rows, 0.95, asks)
        assert best.reach(rows, asks) <= 1.001 * other.reach(rows, asks)


def test_the_threshold_leaves_room_for_the_gap() -> None:
    """A guess within the gap is wrong with probability beta, over all asks of a plan.

    The rows are exactly as far from the guess as they may be: of 60 plays 5 % may have any wrong guess, and more than
    15 with probability 3e-8.
    """
    mechanism = planned(ROWS, 40, 0.95)
    assert mechanism.gap is not None
    domain = Domain({"x": [0, 1]})
    question = share(col("x") == 1)
    yes = ROWS // 2 + math.floor(mechanism.gap * ROWS)
    rows, begun, wrong = Histogram(domain, np.array([ROWS - yes, yes])), mechanism.begin(ROWS, 0.95, 40), 0
    for play in range(60):
        state, key = begun, np.random.default_rng([9, play]).bytes(32)
        for _ in range(40):
            offer = mechanism.offer(state, SHARE, Guess(0.5))
            reply = mechanism.answer(state, offer, question, rows, Stream(key, offer.index))  # type: ignore[arg-type]
            state = mechanism.after(state, reply.event)
        wrong += state.surprises > 0
    assert wrong <= 15


# ------------------------------------------------------------------ coverage


@dataclass(frozen=True)
class PointWorld(FiniteWorld):
    """A finite world whose every question is put in words, as a mechanism with a domain needs it."""

    forms: tuple[str, ...] = ("share",)

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> PointScene:
        drawn = super().draw(rows, probes, rng)
        return PointScene(drawn.data, drawn.labels, drawn.world, drawn.points, drawn.values)


@dataclass(frozen=True)
class PointScene(FiniteScene):
    """Its rows."""

    def ask(self, values: NDArray[Any], form: str, name: str) -> Rule:
        return super().ask(values, "share", name)

    def certain(self) -> Rule:
        return Rule(share(col("point") >= 0), 1.0)


POINTS = 40
WORLD = PointWorld(POINTS, tuple(1.0 + (place % 4) ** 2 for place in range(POINTS)))
_ELSEWHERE = ("boosting", "float_prober", "sharpener", "threshold_prober")
PLAYERS: dict[str, Analyst] = {name: kind() for name, kind in ANALYSTS.items() if name not in _ELSEWHERE}
"""Everybody but who compares metrics or asks for values in between, which this domain has none of, and who sharpens:
there is nothing to sharpen."""


@cache
def mechanism_for(rows: int, asks: int, confidence: float) -> MultiplicativeWeights:
    return MultiplicativeWeights(domain={"point": range(POINTS)}, gap=0.25).settled(rows, confidence, asks)


@pytest.mark.parametrize("name", PLAYERS)
@in_two_sizes(short=(40, 5, 0.95, 4), full=(200, 40, 0.5, 35))
def test_intervals_hold_against_the_labs_analysts(name: str, size: tuple[int, int, float, int]) -> None:
    """Promised: half of 40 plays miss. If so, more than 35 do with probability 1e-7; 5 of 5, at 0.95, with 3e-7."""
    asks, plays, confidence, most = size
    mechanism, seed = mechanism_for(40_000, asks, confidence), reseeded(500 + len(name))
    told = run(WORLD, PLAYERS[name], mechanism, 40_000, asks, plays, seed, confidence, planned=True)
    assert told.misses <= most


# ------------------------------------------------------------------ the audit


@dataclass(frozen=True)
class TellsTheCount(MultiplicativeWeights):
    """Releases the count of a wrong guess as it is."""

    def released_count(self, offer: Offer, count: int, noise: Stream) -> Any:
        return count


def test_a_count_that_is_told_as_it_is_is_refuted() -> None:
    plan = next(plan for plan in PLANS if isinstance(plan.mechanism, MultiplicativeWeights))
    assert not audit(plan.target(), trials=1_000).refuted
    told = TellsTheCount(0.1, 2.0, gap=0.45, domain={"x": [0, 1]})
    assert audit(replace(plan, mechanism=told).target(), trials=1_000).refuted
