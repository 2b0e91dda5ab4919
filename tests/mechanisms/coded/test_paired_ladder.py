"""PairedLadder: every yes of the exact rule is true; of the heuristic one, only the interval is."""

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

from tests.mechanisms.synthetic.nodes import largest_antichain, paired_laws, told_nats, weight
from unworn import Holdout, mae
from unworn.errors import Failed, Tampered, Unaskable
from unworn.events import Climbed, Described, Looked
from unworn.lab import SignWorld
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Offer, PairedLadder, from_json
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.declarations import mechanism_json
from unworn.mechanisms.contract.mechanism import RAISED, STOPPED
from unworn.queries import accuracy, compare
from unworn.queries.predictions import NamedPredictions
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate

PAIRED = Facts("paired", -1.0, 1.0, zero_one=True)
Y = np.random.default_rng(1).integers(0, 2, 2_000)
EXACT, HEURISTIC = PairedLadder(), PairedLadder("heuristic")


def right(share: float, start: int = 0) -> np.ndarray:
    """Predictions of which this share is right, counted from a place."""
    place = (np.arange(Y.size) - start) % Y.size
    return np.where(place < round(share * Y.size), Y, 1 - Y)


@pytest.mark.parametrize("runs_code", [False, True])
def test_no_nodes_of_which_none_follows_another_weigh_more_than_one(runs_code: bool) -> None:
    facts, words = replace(PAIRED, runs_code=runs_code), [0, 1, RAISED, STOPPED]
    state = EXACT.begin(50, 0.95)
    total = largest_antichain(EXACT, state, lambda state: [EXACT.offer(state, facts, None)], lambda _: words, 6)
    assert 1 - 1e-8 < total <= 1 + 1e-12


@pytest.mark.parametrize("planned", [None, 7])
@pytest.mark.parametrize("runs_code", [False, True])
def test_all_nodes_of_an_older_ledger_weigh_at_most_one(planned: int | None, runs_code: bool) -> None:
    words: list[Any] = [0, 1, RAISED] if runs_code else [0, 1]
    facts, older = replace(PAIRED, runs_code=runs_code), PairedLadder(law="C")
    total = weight(older, older.begin(50, 0.95, planned), facts, lambda offer: words, 7)
    assert 0.3 < total <= 1.0


@pytest.mark.parametrize("rule", ["exact", "heuristic"])
@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("level", [-0.7, -2.0, -6.0])
@pytest.mark.parametrize("law", ["C", "C'"])
def test_no_population_misses_with_more_than_the_level(
    rule: Any, zero_one: bool, higher: bool, level: float, law: Any
) -> None:
    """Exactly, over all that 24 rows can say, for 205 laws of a difference in {-1, 0, 1}.

    Under Theorem C′ a word misses with at most what the law gives it; under C both words with the node's level.
    """
    rows, ladder = 24, PairedLadder(rule, higher, law=law)
    state = ladder.begin(rows, -math.expm1(level))
    offer = ladder.offer(state, replace(PAIRED, zero_one=zero_one), None)
    if law == "C":
        offer = replace(offer, log_level=level)
    levels = [level - told_nats(ladder, state, offer, symbol) * (law != "C") for symbol in (0, 1)]
    told = [publish_symbol(ladder, offer, symbol) for symbol in (0, 1)]
    announced, most, wrongly = None, 0.0, 0.0
    for truth, seen, chances in paired_laws(rows):
        if announced is None:
            announced = np.array([ladder.improves(offer, (a - b) / rows, (a + b) / rows) for a, b, _ in seen])
        yes = float(chances @ announced)
        for symbol, chance in ((0, 1 - yes), (1, yes)):
            if not told[symbol].low <= truth <= told[symbol].high:
                most = max(most, chance / math.exp(levels[symbol]))
        if (truth if higher else -truth) <= 1e-12:
            wrongly = max(wrongly, yes)
    assert most <= 1.0
    if rule == "exact":
        assert wrongly <= math.exp(levels[1])  # a yes that is not so
    else:
        assert wrongly > 0.1  # which is why it is called that


@given(st.integers(2, 70), st.floats(-14.0, -0.7), st.booleans(), st.sampled_from([EXACT, HEURISTIC]))
@settings(derandomize=True, deadline=None, max_examples=25)
def test_what_was_not_announced_is_within_what_is_published(
    rows: int, level: float, zero_one: bool, ladder: PairedLadder
) -> None:
    offer = Offer(1, rows, "paired", -1.0, 1.0, zero_one, False, level)
    most, step = ladder._unannounced(offer), max(1, rows // 12)
    found = [
        (a - b) / rows
        for a in range(rows + 1)
        for b in range(0, rows + 1 - a, step)
        if not ladder.improves(offer, (a - b) / rows, (a + b) / rows)
    ]
    assert max(found) <= most
    assert most <= max(found) + 3 / math.sqrt(rows)


def test_the_heuristic_is_one_standard_error() -> None:
    offer = Offer(1, 1_000, "paired", -1.0, 1.0, True, False, -5.0)
    differences = np.repeat([1.0, -1.0, 0.0], [60, 45, 895])
    for extra in range(-30, 30):
        ahead = np.concatenate([differences[max(0, -extra) :], np.full(max(0, -extra), 0.0)])
        ahead[-max(0, extra) or len(ahead) :] = 1.0
        told = HEURISTIC.improves(offer, float(ahead.mean()), float(np.abs(ahead).mean()))
        assert told == (ahead.mean() > ahead.std() / math.sqrt(1_000))


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_board(kept: str, tmp_path: Path) -> None:
    ledger = str(tmp_path / "board.db") if kept == "file" else None
    made = Holdout(None, Y, mechanism=PairedLadder(), ledger=ledger)
    better = made.compare(right(0.9), right(0.8))
    worse = made.compare(right(0.8), right(0.9))
    assert (better.source, better.low, better.high, better.value) == ("better", 0.0, 1.0, 1 / Y.size)
    assert (worse.source, worse.low, worse.value) == ("not better", -1.0, 0.0)
    assert 0 < worse.high < 0.2
    if kept == "file":
        made.close()
        made = Holdout(None, Y, mechanism=PairedLadder(), ledger=ledger)
    # A hair better is not told apart from no better; and few rows suffice where few differ.
    few, many = made.compare(right(0.81), right(0.8)), made.compare(right(0.81), right(0.8, start=777))
    assert (few.source, many.source) == ("better", "not better")
    assert made.compare(right(0.9), right(0.8)).index == 1
    assert (made.meter.asked, made.meter.surprises) == (4, 2)
    assert better.certificate.numbers["improvements_are_proved"] == 1
    made.verify()
    made.close()


def test_losses_and_ranges() -> None:
    made = Holdout(None, Y.astype(float), mechanism=PairedLadder(higher=False), ledger=None)
    near, far = mae(np.abs(Y - 0.5), range=(0, 10)), mae(Y + 3.0, range=(0, 10))
    better, worse = made.ask(compare(near, far)), made.ask(compare(far, near))
    assert (better.source, better.low, better.high, better.value) == ("better", -10.0, 0.0, -10 / Y.size)
    assert (worse.source, worse.high) == ("not better", 10.0)
    assert -3 < worse.low < 0
    made.verify()


def test_each_of_a_batch_pays_for_those_before_it() -> None:
    made = Holdout(None, Y, mechanism=PairedLadder(), ledger=None)
    pairs = [(0.9, 0.8), (0.8, 0.9), (0.95, 0.7)]
    told = made.ask_many([compare(accuracy(right(a)), accuracy(right(b))) for a, b in pairs])
    assert [answer.source for answer in told] == ["better", "not better", "better"]
    assert made.meter.surprises == 2
    made.verify()
    single = Holdout(None, Y, mechanism=PairedLadder(), ledger=None)
    one_by_one = [single.compare(right(a), right(b)) for a, b in pairs]
    levels = [[answer.certificate.record.offer.log_level for answer in some] for some in (told, one_by_one)]
    assert levels[0] == pytest.approx(levels[1])
    assert levels[0][1] < levels[0][0] - 4  # the first was a surprise


def test_what_is_refused() -> None:
    made = Holdout(None, Y, mechanism=PairedLadder(), ledger=None)
    with pytest.raises(Unaskable, match=r"compare\(new, best\)"):
        made.score(right(0.9))
    with pytest.raises(Unaskable, match="GuessAndCheck to test"):
        made.test(compare(accuracy(right(0.9)), accuracy(right(0.8))), above=0)
    assert made.meter.asked == 0
    assert made.meter.next_width is not None
    with pytest.raises(ValueError, match="'exact' or 'heuristic'"):
        PairedLadder("guess")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="does not know"):
        EXACT.after(EXACT.begin(10, 0.95), Looked(0, 0))
    for ladder in (EXACT, PairedLadder("heuristic", higher=False)):
        assert from_json(json.loads(json.dumps(mechanism_json(ladder)))) == ladder


def test_code_that_fails_is_paid_for() -> None:
    class Model:
        def __init__(self, says: Any) -> None:
            self.predict = says

    made = Holdout({"x": Y * 1.0}, Y, mechanism=PairedLadder(), ledger=None)
    good, poor = Model(lambda features: Y), Model(lambda features: 1 - Y)
    models = [accuracy(NamedPredictions(model, name)) for model, name in ((good, "good"), (poor, "poor"))]
    broken = accuracy(NamedPredictions(Model(lambda features: 1 / 0), "broken"))
    with pytest.raises(Failed):
        made.ask(compare(broken, models[1]))
    event = made._desk.transcript.records[-1].event
    assert isinstance(event, Described)
    assert (event.surprise, event.nats) == (True, pytest.approx(math.log(2), abs=2e-9))
    better = made.ask(compare(*models))
    assert better.source == "better"
    climbed = better.certificate.record.event
    assert isinstance(climbed, Climbed)
    assert (climbed.steps, climbed.nats) == (1, pytest.approx(math.log(2), abs=2e-9))
    made.verify()


def test_a_heuristic_card_says_so(tmp_path: Path) -> None:
    made = Holdout(None, Y, mechanism=HEURISTIC, ledger=None)
    answer = made.compare(right(0.82), right(0.8, start=777))
    assert answer.source == "heuristically better"
    assert answer.low < 0 < answer.value < answer.high
    card = answer.certificate.save(tmp_path / "card.json")
    Certificate.load(card).verify(made._desk.transcript.entries)
    told = json.loads(card.read_text())
    assert told["answer"]["source"] == "heuristically better"
    assert told["numbers"]["improvements_are_proved"] == 0
    card.write_text(card.read_text().replace("heuristically better", "better"))
    with pytest.raises(Tampered):
        Certificate.load(card).verify()
    for symbol in (2, -1, False, 1.0):
        with pytest.raises(ValueError, match="words here are 0 to 1"):
            HEURISTIC.event(answer.certificate.record.offer, symbol)


@pytest.mark.parametrize("rule", ["exact", "heuristic"])
def test_nobody_climbs_by_chance(rule: Any) -> None:
    """A thousand random submissions, none better than another, each held against the best so far.

    False alarm: confidence is 1 - 1e-7, by which a false yes or a missing interval has a chance below 1e-7. The
    heuristic rule says a false yes with a chance of about 1/6 a submission: none among 1,000 below 1e-70.
    """
    rng = np.random.default_rng(4)
    scene = SignWorld().draw(150, 1_000, rng)
    terms: dict[str, Any] = {"confidence": 1 - 1e-7, "ledger": SeededStore(rng)}
    made = Holdout(None, scene.labels, mechanism=PairedLadder(rule), **{"ledger": None, **terms})
    best, climbed = scene.probe(0).question, 0
    for j in range(1, 1_000):
        new = scene.probe(j).question
        answer = made.ask(compare(new, best))
        assert answer.low <= 0 <= answer.high
        if answer.value > 0:
            best, climbed = new, climbed + 1
    assert (climbed == 0) == (rule == "exact")
