"""The Ladder: what it tells, what that costs, that scores hold, and that probing does not climb it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mechanisms.changed_offers import number_in
from tests.mechanisms.synthetic.nodes import (
    Told,
    answered,
    chance_of_a_miss,
    chance_of_words,
    largest_antichain,
    largest_miss,
    weight,
)
from unworn import Holdout, mae
from unworn.bounds import clopper_pearson
from unworn.bounds.code_length import Pattern, distance_nats
from unworn.bounds.compression import code_length
from unworn.errors import Exhausted, Failed, Tampered, Unaskable
from unworn.events import Climbed, Described, Looked
from unworn.lab import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Ladder, Naive, Offer, from_json
from unworn.mechanisms.coded.coded_payloads import CellsPayload
from unworn.mechanisms.coded.ladder import RungPayload
from unworn.mechanisms.coded.rungs import Rungs
from unworn.mechanisms.contract.conversation import publish_symbol, published_width
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED, State
from unworn.queries import accuracy, compare, function
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate

SCORE = Facts("binary", 0.0, 1.0, zero_one=True)
Y = np.random.default_rng(1).integers(0, 2, 2_000)


def submission(right: float) -> Any:
    """Predictions of which this share is right."""
    cut = round(right * Y.size)
    return accuracy(np.where(np.arange(Y.size) < cut, Y, 1 - Y))


def board(*terms: Any, **more: Any) -> Holdout:
    return Holdout(None, Y, mechanism=Ladder(*terms, **more), ledger=None)


# ---------------------------------------------------------------- rungs


@given(st.floats(1e-3, 1.0), st.floats(-50, 50), st.floats(0.1, 100), st.floats(0, 1), st.booleans())
@settings(derandomize=True, deadline=None, max_examples=100)
def test_every_score_has_one_rung_and_lies_in_its_cell(
    step: float, low: float, length: float, where: float, higher: bool
) -> None:
    rungs = Rungs(low, low + length, step, higher)
    score = min(max(low + where * length, rungs.low), rungs.high)
    rung = rungs.of(score)
    cell = rungs.cell(rung)
    assert 0 <= rung < rungs.count
    assert cell[0] <= score <= cell[1]
    if rung:
        below = rungs.cell(0, rung - 1)
        assert not below[0] <= score <= below[1]
    assert rungs.cell(0, rungs.count - 1) == (rungs.low, rungs.high)
    assert rungs.of(rungs.edge(rung)) == rung
    assert rungs.low <= rungs.middle(rung) <= rungs.high
    better = rungs.high if higher else rungs.low
    assert rungs.of(better) == rungs.count - 1
    assert (rungs.count - 1) * step < 1 + 1e-9 <= rungs.count * step + 1e-6


# ---------------------------------------------------------------- prices and widths


def words(ladder: Ladder, runs_code: bool) -> Any:
    def told(offer: Offer) -> list[Any]:
        least = 1 if number_in(offer, "best") is None else 0
        found: list[Any] = [*range(least, ladder._most(offer) + 1)]
        return [*found, RAISED] if runs_code else found

    return told


LADDERS = {
    "score": Ladder(0.25, baseline=0.1),
    "without a baseline": Ladder(0.3),
    "loss": Ladder(0.25, higher=False),
    "bit": Ladder(0.2, baseline=0.1, feedback="bit"),
}


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("runs_code", [False, True])
def test_no_nodes_of_which_none_follows_another_weigh_more_than_one(name: str, runs_code: bool) -> None:
    ladder = LADDERS[name]
    facts = Facts("binary", 0.0, 1.0, zero_one=True, runs_code=runs_code)

    def told(offer: Offer) -> list[Any]:
        return [*words(ladder, False)(offer), RAISED, STOPPED]

    state = ladder.begin(50, 0.95)
    total = largest_antichain(ladder, state, lambda state: [ladder.offer(state, facts, None)], told, 5)
    assert 0.9 < total <= 1 + 1e-12


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("planned", [None, 6])
@pytest.mark.parametrize("runs_code", [False, True])
def test_all_nodes_of_an_older_ledger_weigh_at_most_one(name: str, planned: int | None, runs_code: bool) -> None:
    ladder = replace(LADDERS[name], law="C")
    facts = Facts("binary", 0.0, 1.0, zero_one=True, runs_code=runs_code)
    total = weight(ladder, ladder.begin(50, 0.95, planned), facts, words(ladder, runs_code), 6)
    assert 0.2 < total <= 1.0


@pytest.mark.parametrize("runs_code", [False, True])
@pytest.mark.parametrize("best", [None, 0, 17, 198, 199])
def test_the_words_of_a_node_are_a_code(best: int | None, runs_code: bool) -> None:
    ladder, facts = Ladder(0.005), Facts("binary", 0.0, 1.0, zero_one=True, runs_code=runs_code)
    for law in ("C", "C'"):
        state = replace(Ladder(0.005, law=law).begin(100, 0.95), best=best)  # type: ignore[arg-type]
        offer = ladder.offer(state, facts, None)
        calm: list[float] = []
        surprised: list[float] = []
        for word in words(ladder, runs_code)(offer):
            event = ladder.event(offer, word)
            assert isinstance(event, Climbed | Described)
            later = ladder.after(state, event)
            assert later.nats == event.nats
            (surprised if later.surprises else calm).append(math.exp(-event.nats))
            assert later.best == (best if word in (0, RAISED) else word + (-1 if best is None else best))
        assert math.fsum(calm) == pytest.approx(1.0)
        assert math.fsum(surprised) <= 1.0
        if best == 0:
            assert math.fsum(surprised) > 0.99
    assert chance_of_words(ladder, state, offer, words(ladder, runs_code)(offer)) <= 1.0


@given(
    st.integers(1, 60),
    st.sampled_from([0.07, 0.1, 0.25, 0.5]),
    st.integers(-1, 20),
    st.booleans(),
    st.sampled_from(["score", "bit"]),
    st.sampled_from(["binary", "unit"]),
    st.floats(-12.0, -0.7),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_no_population_misses_with_more_than_the_level(
    rows: int, step: float, best: int, higher: bool, feedback: Any, kind: Any, level: float
) -> None:
    """Exactly, over all counts, at every node: better, not better, or the first score."""
    ladder = Ladder(step, baseline=0.5, higher=higher, feedback=feedback)
    cells = Rungs(0.0, 1.0, step, higher).count
    at = None if best < 0 and feedback == "score" else min(max(best, 0), cells - 1)
    state = replace(ladder.begin(rows, -math.expm1(level)), best=at)
    fresh = ladder.offer(state, Facts(kind, 0.0, 1.0, kind == "binary"), None)
    assert largest_miss(ladder, state, fresh, np.linspace(0, 1, 21)) <= 1 + 1e-6
    offer = Offer(1, rows, kind, 0.0, 1.0, kind == "binary", False, level, RungPayload(cells, at))
    assert chance_of_a_miss(ladder, offer, np.linspace(0, 1, 21)) <= math.exp(level) * (1 + 1e-6)
    for count in range(rows + 1):
        for made in (offer, fresh):
            told = publish_symbol(ladder, made, answered(ladder, made, Told(count / rows, rows=rows, kind=kind)))
            assert told.low <= told.value <= told.high
            assert told.low - 1e-9 <= count / rows <= told.high + 1e-9


TABLE = {  # with scores, one bit: of a loss of .1 and .3
    (1_000, 5): ((0.0351, 0.0495), (0.0294, 0.0425)),
    (1_000, 20): ((0.0611, 0.0837), (0.0500, 0.0702)),
    (100_000, 5): ((0.0439, 0.0614), (0.0387, 0.0553)),
    (100_000, 20): ((0.0809, 0.1084), (0.0715, 0.0975)),
}


def last(ladder: Ladder, asks: int, improvements: int, nats: float, best: int, rows: int = 10_000) -> Offer:
    """Under Theorem C: the offer of the last planned ask, after so many improvements."""
    state = State(rows, math.log(0.05), asks, asks - 1, improvements, nats, best=best)
    return ladder.offer(state, SCORE, None)


@pytest.mark.parametrize(("asks", "improvements"), TABLE)
@pytest.mark.parametrize("place", [0, 1])
def test_certified_widths(asks: int, improvements: int, place: int) -> None:
    """Under Theorem C: 10,000 rows, steps of .005, improvements by two steps on average, one at the last ask.

    A score is told as the cell just below the loss: the table's widths are from its middle to its upper limit.
    """
    loss = (0.1, 0.3)[place]
    (score, bit), ladder = TABLE[asks, improvements], Ladder(0.005, higher=False)
    rung = round((1 - loss) / 0.005)
    offer = last(ladder, asks, improvements, improvements * math.log(6), best=rung - 2)
    upper = float(clopper_pearson(round(loss * 10_000), 10_000, offer.log_level)[1])
    assert upper - loss + 0.0025 == pytest.approx(score[place], abs=6e-5)
    told = publish_symbol(ladder, offer, 2)
    assert told.value == pytest.approx(loss - 0.0025)
    assert told.high - told.value == pytest.approx(score[place], abs=6e-5)
    assert (told.high - told.low) / 2 < score[place]

    short = Ladder(0.005, baseline=0.5, higher=False, feedback="bit")
    offer = last(short, asks, improvements, 0.0, best=rung - 1)
    upper = float(clopper_pearson(round(loss * 10_000), 10_000, offer.log_level)[1])
    assert upper - loss == pytest.approx(bit[place], abs=6e-5)
    told = publish_symbol(short, offer, 1)
    assert told.value == pytest.approx(loss)
    assert 0.96 * bit[place] < told.high - loss < bit[place]  # one side has all of the level


def test_the_bar() -> None:
    """10,000 rows, 1,000 submissions, 5 improvements, a loss of .1: the best score is known to ± .036."""
    ladder = Ladder(0.005, higher=False)
    offer = last(ladder, 1_000, 5, 5 * math.log(6), best=177)
    told = publish_symbol(ladder, offer, 2)  # in [.1, .105], the first cell from .1 up
    assert told.value == pytest.approx(0.1025)
    assert (told.high - told.low) / 2 < max(told.high - told.value, told.value - told.low) <= 0.036
    anytime = State(10_000, math.log(0.05), None, 999, 5, 5 * math.log(6), best=177)
    wider = publish_symbol(ladder, ladder.offer(anytime, SCORE, None), 2)
    assert 1.0 < (wider.high - wider.low) / (told.high - told.low) < 1.06


def test_code_lengths_are_those_of_the_improvements() -> None:
    ladder, state, pattern = Ladder(0.05, baseline=0.2), Ladder(0.05, baseline=0.2).begin(1_000, 0.95), Pattern()
    assert state.best == 4
    words = 0.0
    for steps in [0, 2, 0, 0, 1, 3, 0, 0]:
        offer = ladder.offer(state, SCORE, None)
        assert offer.log_level == pytest.approx(math.log(0.05) - pattern.nats - words)
        assert (number_in(offer, "best"), offer.payload.place) == (
            state.best,
            ("asker", *pattern.prices("asker"), *[offer.payload.place[3]] * 2),
        )  # type: ignore[index]
        words += distance_nats(steps, 19 - state.best) if steps and state.best is not None else 0.0
        state, pattern = ladder.after(state, ladder.event(offer, steps)), pattern.after("asker", steps > 0)
    assert (state.best, state.surprises) == (10, 3)
    assert state.nats == pytest.approx(words)
    calm, surprised = pattern.prices("asker")
    assert ladder.prices(ladder.offer(state, SCORE, None)) == pytest.approx((calm, surprised + distance_nats(1, 9)))
    first = Ladder(0.05).offer(Ladder(0.05).begin(1_000, 0.95), SCORE, None)
    assert Ladder(0.05).prices(first) == pytest.approx((math.log(20), math.log(20)))


def test_code_lengths_of_an_older_ledger_are_those_of_theorem_c() -> None:
    ladder = Ladder(0.05, baseline=0.2, law="C")
    state, nats, improvements = ladder.begin(1_000, 0.95), 0.0, 0
    for index, steps in enumerate([0, 2, 0, 0, 1, 3, 0, 0], start=1):
        offer = ladder.offer(state, SCORE, None)
        assert offer.log_level == pytest.approx(math.log(0.05) - code_length(index, improvements, nats))
        state = ladder.after(state, ladder.event(offer, steps))
        nats, improvements = nats + math.log(max(1, steps * (steps + 1))), improvements + (steps > 0)
    assert (state.best, state.surprises) == (10, 3)
    assert state.nats == pytest.approx(math.log(2 * 6 * 12))
    assert ladder.prices(offer) == pytest.approx((0.0, math.log(2)))


@pytest.mark.parametrize("best", [None, 0, 9, 10, 18, 19])
def test_the_widest_score(best: int | None) -> None:
    for rows in (30, 1_000):
        ladder = Ladder(0.05)
        older = Offer(3, rows, "binary", 0.0, 1.0, True, False, -8.0, RungPayload(20, best))
        newer = ladder.offer(replace(ladder.begin(rows, 0.95), nats=5.0, best=best), SCORE, None)
        for offer, more in ((older, 3 / rows), (newer, 0.1)):  # the longest word stands for all of them
            most = ladder._most(offer)
            widths = [published_width(ladder, offer, steps) for steps in range(1, most + 1)]
            assert max(widths, default=0.5) - 1e-12 <= ladder.widest(offer) <= max(widths, default=0.5) + more


# ---------------------------------------------------------------- on a board


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_board(kept: str, tmp_path: Path) -> None:
    ledger = str(tmp_path / "board.db") if kept == "file" else None
    ladder = Ladder(0.05, baseline=0.5)
    made = Holdout(None, Y, mechanism=ladder, ledger=ledger)
    rights = [0.4, 0.549, 0.55, 0.81, 0.84, 0.85]
    told = [made.ask(submission(right)) for right in rights[:4]]
    if kept == "file":
        made.close()
        made = Holdout(None, Y, mechanism=ladder, ledger=ledger)
    told += [made.ask(submission(right)) for right in rights[4:]]
    assert [answer.source for answer in told] == [
        "not better",
        "not better",
        "ladder",
        "ladder",
        "not better",
        "ladder",
    ]
    assert [answer.certificate.record.symbol for answer in told] == [0, 0, 1, 5, 0, 1]
    assert [answer.value for answer in told] == pytest.approx([0.525, 0.525, 0.575, 0.825, 0.825, 0.875])
    assert all(answer.low <= right <= answer.high for answer, right in zip(told, rights, strict=True))
    assert [answer.low == 0 for answer in told] == [answer.source == "not better" for answer in told]
    assert made._desk.transcript.state.best == 17
    assert made.ask(submission(0.55)).index == 3  # a repeat is free, and no submission
    assert (made.meter.asked, made.meter.surprises) == (6, 3)
    assert made.meter.next_width == pytest.approx(made.quote(submission(0.99)).width)
    made.verify()
    made.close()


def test_the_first_score_without_a_baseline() -> None:
    made = board(0.05)
    first = made.ask(submission(0.62))
    assert first.source == "ladder"
    assert first.value == pytest.approx(0.625)
    event = first.certificate.record.event
    assert isinstance(event, Climbed)
    assert (event.steps, event.nats) == (13, pytest.approx(math.log(20), abs=2e-9))
    assert made.meter.surprises == 0
    assert made._desk.transcript.state.best == 12
    assert made.ask(submission(0.64)).source == "not better"
    made.verify()


def test_a_perfect_score_ends_the_climb() -> None:
    made = board(0.25, 0.3)
    assert made.ask(submission(1.0)).certificate.record.symbol == 2
    again = made.ask(submission(0.99))
    assert (again.source, again.low, again.high) == ("not better", 0.0, 1.0)
    assert made.meter.next_width == 0.5
    made.verify()


def test_losses_climb_downwards() -> None:
    made = board(0.05, 0.5, higher=False)
    told = [made.ask(submission(right)) for right in (0.6, 0.45, 0.41, 0.4, 0.1)]
    assert [answer.source for answer in told] == ["not better", "ladder", "not better", "ladder", "ladder"]
    assert [answer.value for answer in told] == pytest.approx([0.475, 0.425, 0.425, 0.375, 0.075])
    assert [answer.high == 1 for answer in told] == [True, False, True, False, False]
    made.verify()


def test_one_bit_moves_one_step() -> None:
    made = board(0.05, 0.5, feedback="bit")
    told = [made.ask(submission(right)) for right in (0.9, 0.8, 0.56, 0.7)]
    assert [answer.source for answer in told] == ["ladder", "ladder", "not better", "ladder"]
    assert [answer.value for answer in told] == pytest.approx([0.55, 0.6, 0.6, 0.65])
    assert [answer.high == 1 for answer in told] == [True, True, False, True]
    assert all(answer.low <= right <= answer.high for answer, right in zip(told, (0.9, 0.8, 0.56, 0.7), strict=True))
    assert made._desk.transcript.state.nats < 1e-8
    made.verify()


def test_other_ranges_have_to_be_declared() -> None:
    made = board(0.1, 4.0, higher=False, range=(0, 5))
    worst = np.full(Y.size, 5.0)
    told = made.ask(mae(worst, range=(0, 5)))
    assert (told.source, told.value) == ("not better", 3.75)  # at 4 rung 2 is reached, whose cell is [3.5, 4]
    better = made.ask(mae(np.full(Y.size, 2.0), range=(0, 5)))
    assert better.source == "ladder"
    assert better.low < np.abs(2.0 - Y).mean() < better.high < 2.0
    for other in (submission(0.9), mae(worst, range=(0, 10))):
        with pytest.raises(Unaskable, match=r"scores lie in \[0, 5\]"):
            made.ask(other)
    assert made.meter.asked == 2
    assert made.meter.next_width is not None
    made.verify()


def test_what_a_board_refuses() -> None:
    made = board(0.05)
    with pytest.raises(Unaskable, match="one submission at a time"):
        made.ask_many([submission(0.6), submission(0.7)])
    with pytest.raises(Unaskable, match="PairedLadder compares two"):
        made.ask(compare(submission(0.6), submission(0.7)))
    with pytest.raises(Unaskable, match="GuessAndCheck to test"):
        made.test(submission(0.6), above=0.5)
    assert made.meter.asked == 0
    strict = Holdout(None, Y, mechanism=Ladder(0.05, baseline=0.5), max_width=0.04, asks=3, ledger=None)
    with pytest.raises(Exhausted, match="max_width"):
        strict.ask(submission(0.6))
    wide = Holdout(None, Y, mechanism=Ladder(0.05, baseline=0.5), max_width=0.08, asks=1, ledger=None)
    assert wide.ask(submission(0.4)).source == "not better"  # one-sided, and no score
    with pytest.raises(Exhausted, match="all 1 planned asks"):
        wide.ask(submission(0.6))


def test_code_that_fails_is_paid_for() -> None:
    x = np.random.default_rng(3).random(500)
    made = Holdout({"x": x}, mechanism=Ladder(0.1, baseline=0.3), ledger=None)
    with pytest.raises(Failed):
        made.ask(function(lambda columns: 1 / 0, range=(0, 1), name="broken"))
    state = made._desk.transcript.state
    assert (state.best, state.surprises, state.nats) == (3, 1, math.log(2))
    better = made.ask(function(lambda columns: columns["x"], range=(0, 1), name="fine"))
    steps = better.certificate.record.symbol
    assert isinstance(steps, int)
    assert better.certificate.record.event == Climbed(steps, math.log(2) + distance_nats(steps, 9 - 3))
    unsure = Holdout({"x": x}, mechanism=Ladder(0.1), ledger=None)
    with pytest.raises(Failed):
        unsure.ask(function(lambda columns: 1 / 0, range=(0, 1), name="broken"))
    assert unsure._desk.transcript.state.best is None
    assert unsure.ask(function(lambda columns: columns["x"], range=(0, 1), name="fine")).source == "ladder"
    for holdout in (made, unsure):
        holdout.verify()


def test_a_card_alone_with_its_ledger_and_forged(tmp_path: Path) -> None:
    made = board(0.05, 0.5)
    made.ask(submission(0.6))
    answer = made.ask(submission(0.8))
    card = answer.certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify()
    Certificate.load(card).verify(made._desk.transcript.entries)
    assert (answer.certificate.numbers["step"], answer.certificate.numbers["best"]) == (0.05, 12.0)
    told = json.loads(card.read_text())
    told["entry"]["body"]["symbol"] = told["numbers"]["symbol"] = 5
    card.write_text(json.dumps(told))
    with pytest.raises(Tampered):
        Certificate.load(card).verify()
    offer = answer.certificate.record.offer
    for symbol in (-1, 8, True, 1.0, "1"):
        with pytest.raises(ValueError, match="words here are 0 to 7"):
            made.mechanism.event(offer, symbol)
    first = Offer(1, 100, "binary", 0.0, 1.0, True, False, -3.0, CellsPayload(20))
    with pytest.raises(ValueError, match="first score reaches some rung"):
        made.mechanism.event(first, 0)
    with pytest.raises(TypeError, match="does not know"):
        made.mechanism.after(made.mechanism.begin(10, 0.95), Looked(0, 0))
    for ladder in (made.mechanism, Ladder(0.1, 4.0, False, range=(0, 5))):
        assert from_json(json.loads(json.dumps(mechanism_json(ladder)))) == ladder


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"step": 0}, "from 1e-09 to 1"),
        ({"step": math.nan}, "from 1e-09 to 1"),
        ({"step": 1.5}, "from 1e-09 to 1"),
        ({"step": True}, "from 1e-09 to 1"),
        ({"step": 0.1, "baseline": 1.5}, r"range \[0, 1\]"),
        ({"step": 0.1, "baseline": math.nan}, r"range \[0, 1\]"),
        ({"step": 0.1, "feedback": "both"}, "'score' or 'bit'"),
        ({"step": 0.1, "feedback": "bit"}, "give baseline="),
        ({"step": 0.1, "range": (1.0, 1.0)}, "both finite"),
        ({"step": 0.1, "range": (0.0, math.inf)}, "both finite"),
    ],
)
def test_parameters_are_checked(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Ladder(**bad)


def test_goals() -> None:
    assert Ladder.for_(rows=400, asks=10) == Ladder(1 / 40)
    assert Ladder.for_(rows=10_000, asks=1_000, width=0.035).step == 0.005
    with pytest.raises(ValueError, match=r"Ladder cannot do better than ± 0\.03"):
        Ladder.for_(rows=10_000, asks=1_000, width=0.03)


# ---------------------------------------------------------------- against the boosting attack


def boosted(holdout: Holdout, scene: Any, asks: int) -> tuple[list[Any], Any]:
    """Blum and Hardt's attack: random submissions, of which those that did well vote; the vote is submitted last.

    It also submits the vote so far at every hundredth ask, to climb from there.
    """
    told: list[Any] = []
    naive = isinstance(holdout.mechanism, Naive)
    kept: list[float] = []
    for j in range(asks):
        answer = holdout.ask(scene.probe(j).question)
        kept.append(answer.value - 0.5 if naive else float(answer.source == "ladder"))
        told.append(answer)
        if j % 100 == 99 and any(kept):
            told.append(holdout.ask(scene.vote(kept).question))
    return told, told[-1]


def test_the_boosting_attack_climbs_a_naive_board() -> None:
    """Ten submissions a row, all of them worth 1/2: a naive board shows .9 and more.

    False alarm: the vote of 2,000 is wrong on a row with probability .001: on 20 of 200 with one below 1e-20.
    """
    rng = np.random.default_rng(5)
    scene = SignWorld().draw(200, 2_000, rng)
    _, shown = boosted(Holdout(None, scene.labels, mechanism=Naive(), ledger=SeededStore(rng)), scene, 2_000)
    assert shown.value - 0.5 >= 0.4
    assert not shown.low <= 0.5 <= shown.high


@pytest.mark.parametrize("feedback", ["score", "bit"])
def test_the_boosting_attack_does_not_climb_the_ladder(feedback: Any) -> None:
    """The same against the Ladder, which shows what it promises.

    False alarm: its confidence is 1 - 1e-7, which bounds the chance that an interval misses. Its best is off by .25 if
    one of 2,000 random submissions has 148 of 200 rows right, below 1e-7; or a vote of the few that it let know.
    """
    rows = 200
    asks = 10 * rows
    rng = np.random.default_rng(5)
    scene = SignWorld().draw(rows, asks, rng)
    ladder = Ladder(1 / 28, baseline=0.5, feedback=feedback)
    terms: dict[str, Any] = {"mechanism": ladder, "confidence": 1 - 1e-7, "ledger": SeededStore(rng)}
    holdout = Holdout(None, scene.labels, **{"ledger": None, **terms})
    told, best = boosted(holdout, scene, asks)
    assert len(told) >= asks
    assert all(answer.low <= 0.5 <= answer.high for answer in told)
    assert abs(best.value - 0.5) < 0.25
    assert 1 <= holdout.meter.surprises < 15
