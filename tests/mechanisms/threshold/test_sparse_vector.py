"""SparseVector: what its own comparison reveals, computed exactly; and the run through the real holdout."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.mechanisms.threshold.sparse import (
    SHARE,
    Counted,
    Scripted,
    Table,
    folded,
    log_ratio,
    masses,
    neighbours,
    outcomes,
    scripted,
    tells,
)
from unworn import Holdout, col, mean, share
from unworn.bounds.privacy import Homogeneous
from unworn.bounds.sparse.sparse_vector_bounds import run_profile
from unworn.errors import Exhausted, Mismatch, Tampered, Unaskable
from unworn.events import Crossed, Noised
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import SparseVector
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.noisy.privacy_price import price
from unworn.noise import Stream
from unworn.noise.discrete_laplace import laplace
from unworn.queries import function, statistic
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate

ROWS, ASKS = 20_000, 60


# ---------------------------------------------------------------------- privacy, exactly, of the comparison itself


@pytest.fixture(scope="module")
def table() -> Table:
    """Two tops, each instance 2-private; noise beyond 40 has a probability below e^-20."""
    return Table(SparseVector(0.5, 2.0, tops=2), rows=60, far=40)


def test_every_tiny_case_is_within_epsilon(table: Table) -> None:
    """All counts of up to three asks at and around the threshold, all their neighbours, everything that can be told."""
    worst = 0.0
    for counts, moved in neighbours(3, (28, 30, 32)):
        for told in outcomes(3):
            asked = len(told)
            worst = max(worst, log_ratio(table.instance(counts[:asked], told), table.instance(moved[:asked], told)))
    assert 1.0 < worst <= 2.0 + 1e-9


@pytest.mark.parametrize("below", [1, 5, 12, 40])
def test_no_number_of_asks_costs_more_and_the_bound_is_reached(table: Table, below: int) -> None:
    """The row raises what is below and lowers what is above."""
    told, counts, moved = (*(False,) * below, True), (33,) * below + (30,), (34,) * below + (29,)
    ratio = log_ratio(table.instance(counts, told), table.instance(moved, told))
    assert ratio <= 2.0 + 1e-9
    if below >= 12:
        assert ratio > 1.98  # within a hundredth
    quiet = (False,) * below
    assert log_ratio(table.instance((33,) * below, quiet), table.instance((34,) * below, quiet)) <= 1.0 + 1e-9


def test_ties_count_as_above() -> None:
    sparse, script = SparseVector(0.5, 1.0), {"threshold": 4, "value": 0}
    state = sparse.begin(60, 0.95, 10)
    offer = sparse.offer(state, SHARE, None)
    with scripted(script):
        for count, expected in ((33, "below"), (34, "above"), (35, "above")):
            script["count"] = 0
            assert tells(sparse, state, offer, count) == expected
            script["count"] = -1
            assert tells(sparse, state, offer, count + 1) == expected


def test_planted_no_threshold_noise_is_found(table: Table) -> None:
    """Without noise on the threshold every "below" costs another quarter of epsilon: no bound holds."""
    still = np.zeros(2 * table.far + 1)
    still[table.far] = 1.0
    quiet = (False,) * 12
    ratio = log_ratio(table.instance((30,) * 12, quiet, still), table.instance((31,) * 12, quiet, still))
    assert ratio > 4.0  # claimed: 2
    assert log_ratio(table.instance((30,) * 12, quiet), table.instance((31,) * 12, quiet)) <= 1.0


def test_planted_threshold_that_is_not_drawn_again_is_found(table: Table) -> None:
    """Composition needs the second instance to be 2-private *whatever the first told*: with an old threshold it is not.

    In the first the row pushes one way, in the second, higher up, the other way.
    """
    told = (*(False,) * 12, True)
    first, second = ((30,) * 12 + (30,), (29,) * 12 + (31,)), ((37,) * 12 + (30,), (38,) * 12 + (29,))
    law = masses(table.mechanism.run(60).threshold, table.far)

    def both(which: int, fresh: bool) -> float:
        once = table.instance(first[which], told)
        if fresh:
            return once * table.instance(second[which], told)
        return table.instance(first[which] + second[which], told + told, law)

    alone = log_ratio(table.instance(first[0], told), table.instance(first[1], told))
    assert log_ratio(both(0, True), both(1, True)) - alone <= 2.0 + 1e-9
    assert log_ratio(both(0, False), both(1, False)) - alone > 3.5
    # As a single run whose noise is that of one top, it is not 2-private either.
    longer = (*(False,) * 12, *(True,) * 3)
    counts, moved = (33,) * 12 + (30,) * 3, (34,) * 12 + (29,) * 3
    assert log_ratio(table.instance(counts, longer), table.instance(moved, longer)) > 3.9  # (1 + c)/2 times 2, c = 3


def test_one_threshold_for_the_whole_run_has_noise_for_all_its_tops() -> None:
    sparse = SparseVector(0.5, 4.0, tops=3, refresh=False)
    once = Table(sparse, rows=60, far=60)
    told = (*(False,) * 30, *(True,) * 3)
    ratio = log_ratio(once.instance((33,) * 30 + (30,) * 3, told), once.instance((34,) * 30 + (29,) * 3, told))
    assert 3.96 < ratio <= 4.0 + 1e-9
    state = folded(sparse, sparse.begin(60, 0.95, 10), ["below", "above", "above"])
    assert (state.round, state.surprises, state.asked) == (0, 2, 3)  # the same threshold all along


# ---------------------------------------------------------------------- the secret threshold


def told_with(state_symbols: list[str], key: bytes) -> int:
    """The threshold's own noise in a state, found by moving a count until it is above."""
    sparse = SparseVector(0.5, 0.5, tops=5)
    state = folded(sparse, sparse.begin(2_000, 0.95, 50), state_symbols)
    return int(laplace(Stream(key, "threshold", state.round), sparse.run(2_000).threshold, 1)[0])


def test_the_threshold_outlives_an_ask_and_ends_with_an_above() -> None:
    key = bytes(range(32))
    first = told_with([], key)
    assert told_with(["below"], key) == first == told_with(["below"] * 20, key)
    # With an above at another ask, or another key, it is another: all twelve alike have a probability below 1e-8.
    after = {before: told_with(["below"] * before + ["above"], key) for before in range(12)}
    assert len(set(after.values())) > 1
    assert told_with(["above", "below", "below"], key) == after[0]
    assert told_with(["below", "above", "below"], key) == after[1]
    assert any(told_with(["below"] * before + ["above"], bytes(32)) != told for before, told in after.items())


def test_the_answer_is_a_function_of_key_state_and_count_alone() -> None:
    sparse = SparseVector(0.5, 0.05, tops=3)
    state = sparse.begin(1_000, 0.95, 20)
    offer = sparse.offer(state, SHARE, None)
    for count in (450, 500, 550):
        told = {
            sparse.answer(state, offer, None, Counted(1_000, count), Stream(b"k" * 32, "ask", 1)).symbol  # type: ignore[arg-type]
            for _ in range(5)
        }
        assert len(told) == 1
    with pytest.raises(TypeError, match="noise"):
        sparse.answer(state, offer, None, Counted(1_000, 5))  # type: ignore[arg-type]


def test_the_threshold_is_asked_for_by_the_ask_it_began_with() -> None:
    asked: list[tuple[object, ...]] = []

    class Listening(Scripted):
        def beside(self, *context: bytes | str | int) -> Stream:
            asked.append(context)
            return super().beside(*context)

    sparse = SparseVector(0.5, 1.0, tops=3)
    state = sparse.begin(60, 0.95, 10)
    with scripted({"threshold": 0, "count": 0, "value": 0}):
        for count in (10, 50, 10, 50):
            offer = sparse.offer(state, SHARE, None)
            reply = sparse.answer(state, offer, None, Counted(60, count), Listening("ask", offer.index))  # type: ignore[arg-type]
            state = sparse.after(state, reply.event)
    assert asked == [("threshold", 0), ("threshold", 0), ("threshold", 2), ("threshold", 2)]
    assert state.round == 4


# ---------------------------------------------------------------------- through the holdout


def people(rows: int = ROWS, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 90, rows), "income": rng.gamma(2.0, 20_000, rows)}


def sealed(mechanism: SparseVector, asks: int = ASKS, **options: object) -> Holdout:
    options.setdefault("ledger", SeededStore(np.random.default_rng(5)))
    return Holdout(people(), mechanism=mechanism, asks=asks, **{"ledger": None, **options})  # type: ignore[arg-type]


def test_answers_say_on_which_side_and_cover() -> None:
    """Seeded; honest questions use far less than the 5 % allowed."""
    holdout = sealed(SparseVector(0.5, tops=10))
    for limit in (80, 75, 70, 20, 65, 25):
        truth, answer = (89 - limit) / 72, holdout.ask(share(col("age") > limit))
        assert answer.low <= truth <= answer.high
        assert answer.low <= answer.value <= answer.high
        assert answer.source == ("above" if limit < 40 else "below")
        assert (answer.low == 0.0) == (answer.source == "below")
        assert (answer.high == 1.0) == (answer.source == "above")
        assert answer.certificate.record.symbol in ("below", "above")
    assert (holdout.meter.spent, holdout.meter.currency, holdout.meter.surprises) == (2.0, "tops", 2)
    numbers = holdout.ask(share(col("age") > 80)).certificate.numbers
    run = holdout.mechanism.run(ROWS)  # type: ignore[attr-defined]
    assert numbers["empirical_error"] == pytest.approx(
        ((run.threshold + run.question) * math.log(70 / 0.05) + 1) / ROWS
    )
    assert numbers["epsilon"] == pytest.approx(holdout.mechanism.epsilon)  # type: ignore[attr-defined]
    holdout.verify()


def test_the_interval_is_that_of_the_transfer_theorem() -> None:
    sparse = SparseVector(0.6, 0.02, tops=3)
    state = sparse.begin(100_000, 0.95, 1_000)
    offer = sparse.offer(state, SHARE, None)
    low, high = price(sparse, 100_000, 1_000, state.log_beta).limits(0.6)
    below, above = publish_symbol(sparse, offer, "below"), publish_symbol(sparse, offer, "above")
    assert (below.low, below.high) == (0.0, pytest.approx(high))
    assert (above.low, above.high) == (pytest.approx(low), 1.0)
    assert (below.value, above.value) == (
        pytest.approx(0.3),
        pytest.approx(0.8),
    )  # the middles of where rows should lie
    assert sparse.widest(offer) == pytest.approx(max(high, 1 - low) / 2)
    profile = run_profile(sparse.run(100_000))
    assert isinstance(profile, Homogeneous)
    assert (profile.epsilon, profile.k) == (pytest.approx(0.02), 3)


def test_thresholds_are_in_the_questions_own_units() -> None:
    holdout = sealed(SparseVector(60_000.0, tops=5), schema={"income": "number"})
    answer = holdout.ask(mean(col("income"), range=(0, 200_000)))
    assert answer.source == "below"
    assert 60_000 < answer.high < 120_000
    with pytest.raises(Unaskable, match="does not contain the threshold"):
        holdout.ask(share(col("age") > 50))
    facts = Facts("paired", -1.0, 1.0, True)
    sparse = SparseVector(0.0, 0.5)
    assert sparse.level(sparse.offer(sparse.begin(1_000, 0.95, 5), facts, None)) == 500


def test_it_stops_after_its_tops_and_after_its_asks() -> None:
    holdout = sealed(SparseVector(0.1, tops=2), asks=4)
    for limit in (20, 30):
        assert holdout.ask(share(col("age") > limit)).source == "above"
    with pytest.raises(Exhausted, match="2 of 2"):
        holdout.ask(share(col("age") > 40))
    assert holdout.meter.next_width is None
    patient = sealed(SparseVector(0.9, tops=2), asks=2)
    for limit in (70, 75):
        patient.ask(share(col("age") > limit))
    with pytest.raises(Exhausted, match="2 planned asks"):
        patient.ask(share(col("age") > 80))
    with pytest.raises(ValueError, match="asks="):
        Holdout(people(), mechanism=SparseVector(0.5, 0.1), ledger=None)


def test_a_batch_that_could_run_out_is_refused_as_a_whole() -> None:
    holdout = sealed(SparseVector(0.5, tops=3))
    questions = [share(col("age") > limit) for limit in (85, 86, 87, 88)]  # none of them is above
    with pytest.raises(Exhausted, match="at most 3 together"):
        holdout.ask_many(questions)
    assert holdout.meter.asked == 0
    assert [answer.source for answer in holdout.ask_many(questions[:3])] == ["below"] * 3
    told = holdout.ask_many([share(col("age") > limit) for limit in (20, 84, 21)])
    assert [answer.source for answer in told] == ["above", "below", "above"]
    with pytest.raises(Exhausted, match="at most 1 together"):
        holdout.ask_many([share(col("age") > limit) for limit in (82, 83)])
    holdout.verify()


def test_a_restart_and_another_process_agree(tmp_path: Path) -> None:
    """The secret is not drawn again for free: whoever opens the ledger holds counts against the same threshold."""
    data, ledger = people(2_000), str(tmp_path / "sparse.db")
    np.savez(tmp_path / "data.npz", **data)
    sparse = SparseVector(0.5, tops=4)
    holdout = Holdout(data, mechanism=sparse, asks=40, ledger=ledger)
    first = holdout.ask(share(col("age") > 80)).source
    asked = """
import sys, numpy as np
from unworn import Holdout, col, share
from unworn.mechanisms import SparseVector
data = dict(np.load(sys.argv[1]))
holdout = Holdout(data, mechanism=SparseVector(0.5, tops=4), asks=40, ledger=sys.argv[2])
noise = holdout._desk.noise_key
state = holdout._desk.transcript.state
from unworn.noise import Stream
from unworn.noise.discrete_laplace import laplace
print(int(laplace(Stream(noise, "threshold", state.round), holdout.mechanism.run(2000).threshold, 1)[0]))
print(holdout.ask(share(col("age") > 80)).source, holdout.ask(share(col("age") > 20)).source)
"""
    command = [sys.executable, "-c", asked, str(tmp_path / "data.npz"), ledger]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    here = laplace(Stream(holdout._desk.noise_key, "threshold", 0), holdout.mechanism.run(2_000).threshold, 1)  # type: ignore[attr-defined]
    assert int(out[0]) == int(here[0])
    assert out[1:] == [first, "above"]
    holdout.ask(share(col("age") > 81))  # takes in what the other process entered
    assert holdout._desk.transcript.state.round == 2
    assert (holdout.meter.asked, holdout.meter.surprises) == (3, 1)
    holdout.close()
    reopened = Holdout(data, mechanism=sparse, asks=40, ledger=ledger)
    assert reopened.ask(share(col("age") > 20)).index == 2
    assert reopened.mechanism.epsilon is not None  # type: ignore[attr-defined]
    reopened.verify()
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(data, mechanism=SparseVector(0.6, tops=4), asks=40, ledger=ledger)


def test_a_card_is_checked_alone_and_with_its_ledger(tmp_path: Path) -> None:
    holdout = sealed(SparseVector(0.5, tops=3))
    answer = holdout.ask(share(col("age") > 85))
    card = answer.certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify()
    Certificate.load(card).verify(holdout._desk.transcript.entries)
    for field, value in (("symbol", "above"), ("event", {"event": "crossed", "above": True})):
        told = json.loads(card.read_text())
        told["entry"]["body"][field] = value
        (tmp_path / "other.json").write_text(json.dumps(told))
        with pytest.raises(Tampered):
            Certificate.load(tmp_path / "other.json").verify()


def test_what_is_entered_too_cheaply_is_found_by_a_replay() -> None:
    """A signed entry that calls "above" below, or a price that was not the plan's."""
    sparse = SparseVector(0.5, 0.05, tops=3)
    offer = sparse.offer(sparse.begin(1_000, 0.95, 10), SHARE, None)
    assert sparse.event(offer, "above") == Crossed(True)
    assert sparse.event(offer, "below") == Crossed(False)
    for symbol in (1, 0, "beneath", None, [1]):
        with pytest.raises(TypeError, match="below"):
            publish_symbol(sparse, offer, symbol)  # type: ignore[arg-type]
    state = sparse.begin(1_000, 0.95, 10)
    with pytest.raises(TypeError):
        sparse.after(state, Noised("laplace", 5.0))


def test_code_and_statistics_are_refused() -> None:
    holdout, ran = sealed(SparseVector(0.5)), []

    def peek(columns: dict[str, np.ndarray]) -> np.ndarray:
        ran.append(1)
        return columns["age"] / 100

    with pytest.raises(Unaskable, match="array"):
        holdout.ask(function(peek, range=(0, 1)))
    with pytest.raises(Unaskable, match="BoundedNoise"):
        holdout.ask(statistic(lambda columns: 0.5, sensitivity=0.1, range=(0, 1)))
    assert not ran
    assert holdout.meter.asked == 0


def width(sparse: SparseVector, rows: int, asks: int) -> float:
    return price(sparse, rows, asks, math.log1p(-0.95)).width


def test_the_plan_chooses_the_noise() -> None:
    best = SparseVector(0.3, tops=4).settled(100_000, 0.95, 5_000)
    assert best.epsilon is not None
    for factor in (0.7, 1.4):
        assert width(SparseVector(0.3, factor * best.epsilon, 4), 100_000, 5_000) > width(best, 100_000, 5_000)
    with pytest.raises(ValueError, match="bring more rows"):
        SparseVector.for_(rows=1_000, asks=1_000, width=0.01)


@pytest.mark.parametrize(
    ("rows", "asks", "tops"), [(1, 1, 1), (2, 10**6, 50), (1_000, 5, 10**6), (10**9, 10**7, 10**6)]
)
def test_any_plan_has_a_price(rows: int, asks: int, tops: int) -> None:
    """Few rows promise nothing, and say so by the whole range; more tops than asks cost no more than the asks."""
    sparse = SparseVector(0.5, tops=tops).settled(rows, 0.95, asks)
    offer = sparse.offer(sparse.begin(rows, 0.95, asks), SHARE, None)
    assert 0.25 <= sparse.widest(offer) <= 0.5
    assert (rows < 10**9) == (sparse.widest(offer) > 0.3)


@pytest.mark.parametrize(("tops", "refresh"), [(5, False), (100, True)])
def test_few_tops_share_a_threshold_and_many_do_not(tops: int, refresh: bool) -> None:
    """One threshold needs noise in proportion to the tops; fresh ones compose like their root, at a dearer rate."""
    chosen = SparseVector.for_(rows=10**6, asks=10_000, tops=tops)
    assert (chosen.refresh, chosen.split) == (refresh, "best")
    for fresh in (True, False):
        for split in ("even", "best"):
            other = SparseVector(0.5, None, tops, fresh, split).settled(10**6, 0.95, 10_000)
            assert width(chosen, 10**6, 10_000) <= width(other, 10**6, 10_000)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SparseVector(math.nan), "finite"),
        (lambda: SparseVector(0.5, 0.0), "above 0"),
        (lambda: SparseVector(0.5, math.inf), "at most 700"),
        (lambda: SparseVector(0.5, tops=0), "whole number from 1"),
        (lambda: SparseVector(0.5, tops=1.5), "whole number from 1"),  # type: ignore[arg-type]
        (lambda: SparseVector(0.5, split="odd"), "even"),
        (lambda: SparseVector(0.5).begin(100, 0.95, 10), "epsilon="),
        (lambda: SparseVector.of(0.5, 1.0, 2.0, 3), "delta"),
        (lambda: SparseVector(0.5, tops=20, refresh=False).settled(100, 0.95, 10), "tops of at most 10"),
        (lambda: SparseVector(0.5, 1.0, tops=20, refresh=False).begin(100, 0.95, 10), "refresh=True"),
    ],
)
def test_bad_parameters_are_told_the_valid_range(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_coverage_of_shares_around_the_threshold() -> None:
    """400 answers about known shares, some next to the threshold and some far: none misses, though many are wrong.

    An interval reaches 19 scales of the noise past the threshold: a miss has probability e^-19, of 400 answers 1e-6.
    """
    rng, rows, asks = np.random.default_rng(3), 20_000, 40
    told = wrong = 0
    for _ in range(10):
        truths = 0.5 + np.concatenate([rng.uniform(-0.01, 0.01, asks // 2), rng.uniform(-0.4, 0.4, asks // 2)])
        data = {f"x{j}": (rng.random(rows) < truth).astype(int) for j, truth in enumerate(truths)}
        holdout = Holdout(data, mechanism=SparseVector(0.5, tops=asks), asks=asks, ledger=SeededStore(rng))
        for j, truth in enumerate(truths):
            answer = holdout.ask(share(col(f"x{j}") == 1))
            assert answer.low <= truth <= answer.high
            told += 1
            wrong += (answer.source == "above") != (truth >= 0.5)
    assert told == 400
    assert wrong > 40


def test_every_answer_above_in_a_batch_ends_its_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four questions that hold for all rows: each is held against a threshold of its own, as if asked one by one."""
    drawn: list[tuple[object, ...]] = []
    beside = Stream.beside

    def watched(stream: Stream, *context: bytes | str | int) -> Stream:
        drawn.append(context)
        return beside(stream, *context)

    monkeypatch.setattr(Stream, "beside", watched)
    store = SeededStore(np.random.default_rng(9))
    holdout = Holdout({"age": np.arange(20_000)}, mechanism=SparseVector(0.5, tops=4), asks=10, ledger=store)
    answers = holdout.ask_many([share(col("age") >= -limit) for limit in range(4)])
    assert [answer.source for answer in answers] == ["above"] * 4
    assert drawn == [("threshold", place) for place in range(4)]


# ---------------------------------------------------------------------- a numeric answer only above the threshold


def test_what_is_above_is_told_as_a_number_and_what_is_below_is_not() -> None:
    """Seeded; honest questions use far less than the 5 % allowed."""
    holdout = sealed(SparseVector(0.5, tops=3, values=True))
    for limit in (80, 70, 20, 65, 25):
        truth, answer = (89 - limit) / 72, holdout.ask(share(col("age") > limit))
        assert answer.low <= truth <= answer.high
        assert answer.source == ("above" if limit < 40 else "below")
        if answer.source == "above":
            assert answer.low > 0.5 > answer.width
            assert abs(answer.value - truth) < answer.width
            assert type(answer.certificate.record.symbol) is int
        else:
            assert (answer.low, answer.certificate.record.symbol) == (0.0, "below")
        answer.certificate.verify()
    assert holdout.meter.spent == 2.0
    holdout.verify()


def test_the_number_has_noise_of_its_own() -> None:
    sparse = SparseVector(0.5, 1.0, tops=2, values=True)
    state = sparse.begin(60, 0.95, 10)
    offer, script = sparse.offer(state, SHARE, None), {"threshold": 2, "count": 9, "value": -4}
    with scripted(script):
        assert tells(sparse, state, offer, 40) == 36  # not 40, and not 49
        assert tells(sparse, state, offer, 10) == "below"
    run = sparse.run(60)
    assert (run.threshold, run.question, run.value) == (2.0, 4.0, 4.0)
    assert sparse.event(offer, 36) == Crossed(True)
    for wrong in ("above", 1.5, True):
        with pytest.raises(TypeError, match="whole number"):
            sparse.reveal(offer, wrong)
    with pytest.raises(TypeError, match="'below' or 'above'"):
        SparseVector(0.5, 1.0, tops=2).reveal(SparseVector(0.5, 1.0, tops=2).offer(state, SHARE, None), 36)


def test_a_number_costs_a_quarter_more_and_its_own_noise_is_needed() -> None:
    """Exactly: every outcome of three asks, the number with it. The noise of the comparison again would cost far more.

    The classic mistake is to tell the very number that was compared: then all that was below says more about it.
    """
    sparse = SparseVector(0.5, 2.0, tops=2, values=True)
    table, worst = Table(sparse, rows=60, far=40), 0.0
    law = masses(sparse.run(60).value or 0.0, 40)
    for counts, moved in neighbours(3, (29, 31)):
        once, other = table.instance(counts, (False, False, True)), table.instance(moved, (False, False, True))
        shift = moved[2] - counts[2]
        told = law if shift == 0 else np.roll(law, shift)
        ratios = np.log(law[10:-10] / told[10:-10]) + math.log(once / other)
        worst = max(worst, float(abs(ratios).max()))
    assert 1.2 * 1.25 < worst <= 2.0 * 1.25 + 1e-9
    profile = run_profile(sparse.run(60))
    assert float(profile.delta(2 * 2.0 * 1.25)) == pytest.approx(0.0, abs=1e-9)
    assert float(profile.delta(2 * 2.0)) > 0.0
    # Released as compared, nu and all: for eight asks below, one above at the value that the threshold had to be under.
    threshold, question = sparse.run(60).threshold, sparse.run(60).question
    reach = np.arange(-400, 401)
    noise = {scale: np.exp(-abs(reach) / scale) / np.exp(-abs(reach) / scale).sum() for scale in (threshold, question)}

    def reused(count: int, last: int, value: int, below: int = 8) -> float:
        under = np.concatenate([[0.0], np.cumsum(noise[question])])
        rho = reach + 30
        each = under[np.clip(rho - count + 400, 0, 801)]  # P(count + nu < rho)
        return float((noise[threshold] * each**below * (rho <= value)).sum() * noise[question][value - last + 400])

    assert math.log(reused(30, 31, 0) / reused(31, 30, 0)) > 2.0 * 1.25


def test_values_need_fresh_thresholds_and_leave_older_ledgers_alone() -> None:
    with pytest.raises(ValueError, match="fresh threshold"):
        SparseVector(0.5, refresh=False, values=True)
    with pytest.raises(ValueError, match="values"):
        SparseVector(0.5, values=1)  # type: ignore[arg-type]
    assert "values" not in SparseVector(0.5).to_json()
    assert SparseVector(0.5, values=True).to_json()["values"] is True
    assert SparseVector.for_(rows=10**6, asks=1_000, tops=5, values=True).refresh
    plain, numeric = (SparseVector(0.5, tops=5, values=values).settled(10**5, 0.95, 1_000) for values in (False, True))
    assert plain.epsilon is not None
    assert numeric.epsilon is not None
    assert price(plain, 10**5, 1_000, math.log(0.05)).width < price(numeric, 10**5, 1_000, math.log(0.05)).width < 0.1
    holdout = sealed(SparseVector(0.5, tops=3, values=True))
    assert "values" in holdout._desk.transcript.first.body["mechanism"]
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(people(), mechanism=SparseVector(0.5, tops=3), asks=ASKS, ledger=holdout._desk.store)


def test_another_number_is_found_by_whoever_checks(tmp_path: Path) -> None:
    holdout = sealed(SparseVector(0.5, tops=3, values=True))
    card = holdout.ask(share(col("age") > 20)).certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify(holdout._desk.transcript.entries)
    for wrong in ("above", "below", 12):
        told = json.loads(card.read_text())
        told["entry"]["body"]["symbol"] = wrong
        (tmp_path / "other.json").write_text(json.dumps(told))
        with pytest.raises(Tampered):
            Certificate.load(tmp_path / "other.json").verify()
