"""``holdout.test``: verdicts, repeats, restarts, replay and tampering, and what a verdict does not tell."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from unworn import (
    Certificate,
    Exhausted,
    Failed,
    Holdout,
    Unaskable,
    Verdict,
    accuracy,
    col,
    compare,
    function,
    mean,
    share,
)
from unworn.bounds.code_length import Pattern
from unworn.cli import app
from unworn.errors import Tampered
from unworn.ledger import GENESIS, Entry, Key, MemoryStore
from unworn.mechanisms import GuessAndCheck, Mechanism, Naive, Rounding, SampleSplitting
from unworn.mechanisms.contract.offer_codec import PLACE_OF
from unworn.queries import Hypothesis, parse
from unworn.record.certificate import replay

ROWS = 2_000
X = np.random.default_rng(0).normal(size=(ROWS, 2))
Y = (X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=ROWS) > 0).astype(int)
GOOD, POOR = (X[:, 0] > 0).astype(int), (X[:, 0] > 0.4).astype(int)
LOSS = mean(col("x1").fill(0), range=(-5, 5))


class Cut:
    def __init__(self, cut: float) -> None:
        self.cut = cut

    def predict(self, rows: Any) -> Any:
        return (rows[:, 0] > self.cut).astype(int)


# ---------------------------------------------------------------- verdicts


def test_real_effects_are_found_and_others_are_not() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    found = holdout.test(accuracy(GOOD), above=0.7)
    assert found
    assert found.rejected
    assert isinstance(found, Verdict)
    assert not holdout.test(accuracy(GOOD), above=0.9)
    assert holdout.test(accuracy(GOOD), below=0.95)
    assert not holdout.test(accuracy(GOOD), below=0.7)
    assert holdout.test("x0 > 0", above=0.4)
    assert holdout.test(LOSS, 0.01, above=-1)
    assert not holdout.test(LOSS, 0.01, above=0.5)
    assert holdout.test(compare(accuracy(GOOD), accuracy(POOR)))
    assert not holdout.test(compare(accuracy(POOR), accuracy(GOOD)))
    assert holdout.test(compare(accuracy(POOR), accuracy(GOOD)), below=0)
    assert not holdout.test(compare(accuracy(GOOD), accuracy(POOR)), above=0.3)
    assert holdout.meter.asked == 11
    assert holdout.meter.surprises == 6
    holdout.verify()


def test_power_lasts_while_hypotheses_survive() -> None:
    """After 400 tests that reject nothing, an effect of a tenth is still found among 2,000 rows."""
    holdout = Holdout(X, Y, ledger=None, practice=0)
    for cut in np.linspace(-1, 1, 400):
        assert not holdout.test(f"x1 > {cut:.4f}", above=0.95)
    verdict = holdout.test(accuracy(GOOD), above=0.73)
    assert verdict
    assert verdict.index == 401
    assert 1e-6 < verdict.corrected_level < 1e-4
    assert holdout.meter.surprises == 1


def test_what_a_verdict_says() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    verdict = holdout.test(accuracy(GOOD), 0.02, above=0.7, by="ann")
    assert verdict.hypothesis == f"{accuracy(GOOD).label} is at most 0.7"
    assert str(verdict) == f"rejected at level 0.02: {verdict.hypothesis}"
    assert (verdict.level, verdict.index) == (0.02, 1)
    rejected = Pattern().after("test", True).nats  # what the law gives to "rejected", which is why it is no more
    assert verdict.log_corrected_level == pytest.approx(math.log(0.02) - rejected)
    assert verdict.corrected_level == pytest.approx(0.02 * math.exp(-rejected))
    assert "not rejected" not in verdict._repr_html_()
    other = holdout.test("x0 > 0", above=0.6)
    assert "<b>not rejected</b> · share of x0 &gt; 0 is at most 0.6<br>" in other._repr_html_()
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    with pytest.raises(AttributeError):
        verdict.rejected = False  # type: ignore[misc]
    assert verdict.certificate.record.by == "ann"
    assert verdict.certificate.numbers["level"] == 0.02
    tiny = replace(verdict, log_corrected_level=-2000.0)
    assert tiny.corrected_level == 0.0
    assert "e^-2000.0" in tiny._repr_html_()
    with pytest.raises(ValueError, match="not the outcome of a test"):
        Verdict.of(holdout.ask("x0 > 0", 0.5).certificate)


@pytest.mark.parametrize(
    "mechanism", [GuessAndCheck(), Rounding(10), SampleSplitting(), SampleSplitting(rounds=3)], ids=repr
)
def test_every_mechanism_that_can_does(mechanism: Mechanism) -> None:
    holdout = Holdout(X, Y, mechanism=mechanism, asks=10, ledger=None)
    assert holdout.test(accuracy(GOOD), above=0.6)
    assert not holdout.test(accuracy(GOOD), above=0.86)
    assert holdout.test(compare(accuracy(GOOD), accuracy(1 - GOOD)))
    holdout.verify()
    for card in cards(holdout):
        card.verify()
    assert holdout.meter.asked == 3


def test_who_cannot_refuses_and_charges_nothing() -> None:
    holdout = Holdout(X, Y, mechanism=Naive(), ledger=None)
    with pytest.raises(Unaskable, match="nothing can be promised any more"):
        holdout.test("x0 > 0", above=0.4)
    assert (holdout.meter.asked, holdout.meter.refused) == (0, 1)
    splitting = Holdout(X, Y, mechanism=SampleSplitting(), asks=5, ledger=None)
    with pytest.raises(Unaskable, match="does not run code"):
        splitting.test(accuracy(Cut(0.0)), above=0.5)
    assert splitting.meter.asked == 0


def test_groups_are_the_units() -> None:
    groups = np.repeat(np.arange(ROWS // 20), 20)
    holdout = Holdout(X, Y, groups=groups, ledger=None)
    assert holdout.test("x0 > 0", above=0.25)
    assert not holdout.test("x0 > 0", above=0.4)  # a hundred groups do not know what 2,000 rows would
    assert holdout.test(compare(accuracy(GOOD), accuracy(1 - GOOD)))
    assert cards(holdout)[0].record.offer.kind == "unit"
    holdout.verify()


def test_past_the_plan_is_refused_and_max_width_is_not_asked() -> None:
    holdout = Holdout(X, Y, asks=2, max_width=1e-6, ledger=None, practice=0)
    with pytest.raises(Exhausted):
        holdout.ask("x0 > 0", 0.5)
    holdout.test("x0 > 0", above=0.4)
    holdout.test("x0 > 0", above=0.6)
    with pytest.raises(Exhausted, match="planned"):
        holdout.test("x0 > 0", above=0.7)
    assert holdout.meter.asked == 2


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"above": 0.5, "below": 0.5},
        {"above": 1.0},
        {"above": -0.1},
        {"below": 0.0},
        {"above": math.nan},
        {"above": 0.5, "level": 0.0},
        {"above": 0.5, "level": 1.0},
        {"above": 0.5, "level": math.nan},
        {"above": 0.5, "by": 7},
    ],
    ids=repr,
)
def test_mistakes_cost_nothing(given: dict[str, Any]) -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    with pytest.raises(Unaskable):
        holdout.test("x0 > 0", **given)
    with pytest.raises(Unaskable):
        holdout.test(7, above=0.5)  # type: ignore[arg-type]
    assert holdout.meter.asked == 0


def test_a_hypothesis_is_tested_and_not_asked() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    verdict = holdout.test("x0 > 0", above=0.4)
    question = parse(verdict.certificate.record.question)
    assert isinstance(question, Hypothesis)
    for verb in (holdout.ask, holdout.quote, lambda q: holdout.ask_many([q])):
        with pytest.raises(Unaskable, match="tested"):
            verb(question)
    with pytest.raises(Unaskable, match="already"):
        holdout.test(question, above=0.5)
    (answer,) = [holdout._desk.answer(1)]
    with pytest.raises(Unaskable, match="nothing to sharpen"):
        holdout.sharpen(answer)
    assert holdout.test(question.query, question.level, above=question.null).index == 1
    assert holdout.meter.asked == 1


# ---------------------------------------------------------------- repeats, restarts, failures


def test_the_same_test_again_is_free_and_another_is_not(tmp_path: Path) -> None:
    holdout = Holdout(X, Y, ledger=tmp_path / "t.db", practice=0)
    first = holdout.test("x0 > 0", above=0.4)
    assert holdout.test("x0 > 0", above=0.4, by="somebody else") == first
    others = [{"above": 0.41}, {"below": 0.4}, {"above": 0.4, "level": 0.01}]
    assert [holdout.test("x0 > 0", **other).index for other in others] == [2, 3, 4]
    assert holdout.ask("x0 > 0", 0.5).index == 5  # the question itself is another one too
    holdout.close()
    again = Holdout(X, Y, ledger=tmp_path / "t.db", practice=0)
    assert again.test("x0 > 0", above=0.4) == first
    assert again.meter.asked == 5
    again.verify()


def test_a_lost_answer_is_not_a_lost_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the entry is durable and before the verdict is out: it is there, once, and free."""
    holdout = Holdout(X, Y, ledger=tmp_path / "t.db", practice=0)
    with monkeypatch.context() as patch:
        patch.setattr(Verdict, "of", classmethod(lambda cls, card: (_ for _ in ()).throw(MemoryError)))
        with pytest.raises(MemoryError):
            holdout.test("x0 > 0", above=0.4)
    holdout.close()
    again = Holdout(X, Y, ledger=tmp_path / "t.db", practice=0)
    assert again.meter.asked == 1
    assert again.test("x0 > 0", above=0.4).index == 1
    assert again.meter.asked == 1


def test_models_are_run_and_failures_are_charged() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    assert holdout.test(accuracy(Cut(0.0)), above=0.7)
    fails = function(lambda columns: 1 / 0, range=(0, 1), name="fails")
    with pytest.raises(Failed):
        holdout.test(fails, above=0.5)
    with pytest.raises(Failed):
        holdout.test(fails, above=0.5)
    assert (holdout.meter.asked, holdout.meter.surprises) == (2, 2)
    events = [card.record.event for card in cards(holdout)]
    assert [event.nats for event in events] == pytest.approx([math.log(2)] * 2, abs=1e-8)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="not the outcome"):
        Verdict.of(cards(holdout)[1])
    holdout.verify()


def test_a_verdict_is_never_a_guess() -> None:
    train = (X[:500], Y[:500])
    holdout = Holdout(X[500:], Y[500:], train=train, ledger=None)
    holdout.test(accuracy(GOOD[500:]), above=0.5)
    assert cards(holdout)[0].record.guess is None
    answer = holdout.score(POOR[500:])
    assert answer.source == "grid"  # no guess: an array is not portable, and a verdict is no score
    assert holdout.score(GOOD[500:]).certificate.record.guess is None
    holdout.verify()
    # In a ledger sealed under Theorem C the last answer was a guess; a verdict never.
    older = Holdout(X[500:], Y[500:], train=train, mechanism=GuessAndCheck(law="C"), ledger=None)
    older.test(accuracy(GOOD[500:]), above=0.5)
    answer = older.score(POOR[500:])
    assert answer.source == "grid"
    assert older.score(GOOD[500:]).certificate.record.guess.value == answer.value  # type: ignore[union-attr]
    older.verify()


ASK = st.tuples(st.just("ask"), st.integers(0, 3), st.sampled_from([None, 0.1, 0.5]))
TEST = st.tuples(st.just("test"), st.integers(0, 3), st.sampled_from([0.2, 0.45, 0.6]), st.sampled_from([0.05, 0.5]))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.one_of(ASK, TEST), max_size=12), st.sampled_from([GuessAndCheck(), Rounding(10)]))
def test_asks_and_tests_in_any_order_replay_and_count_once(steps: list[Any], mechanism: Mechanism) -> None:
    holdout = Holdout(X[:300], mechanism=mechanism, ledger=None)
    seen: dict[Any, Any] = {}
    for kind, which, number, *level in steps:
        question = share(col("x0") > which / 4)
        if kind == "ask":
            told: Any = holdout.ask(question, number)
            name: Any = which
        else:
            told = holdout.test(question, level[0], above=number)
            name = (which, number, level[0])
            assert told.corrected_level <= level[0]
        assert seen.setdefault(name, told) == told
    assert holdout.meter.asked == len(seen)
    holdout.verify()
    for card in cards(holdout):
        card.verify()


# ---------------------------------------------------------------- what is shown


def test_tests_stand_among_the_answers(tmp_path: Path) -> None:
    ledger = tmp_path / "t.db"
    holdout = Holdout({"a": X[:, 0]}, Y, ledger=ledger, name="churn", practice=0)
    holdout.ask("a > 0", 0.5)
    holdout.test(mean(col("a").fill(0), range=(-9, 9)), above=-1)
    verdict = holdout.test("a > 0", above=0.6)
    frame = {name: list(values) for name, values in holdout.answers.items()}
    assert frame["source"] == ["guess", "test", "test"]
    assert frame["value"] == [0.5, 1.0, 0.0]
    assert frame["low"][1:] == [-9.0, 0.0]
    answer = holdout._desk.answer(2)
    assert str(answer).endswith("rejected at level 0.05? yes")
    assert "<b>rejected</b>" in answer._repr_html_()
    assert "<b>not rejected</b>" in holdout._desk.answer(3)._repr_html_()
    verdict.certificate.save(tmp_path / "card.json")
    holdout.close()
    runner = CliRunner()
    told = runner.invoke(app, ["ledger", str(ledger)])
    assert told.exit_code == 0
    assert "yes" in told.output
    assert "test" in told.output
    as_json = json.loads(runner.invoke(app, ["ledger", str(ledger), "--json"]).output)
    assert [row["source"] for row in as_json["holdouts"][0]["answers"]] == ["guess", "test", "test"]
    card = runner.invoke(app, ["verify", str(tmp_path / "card.json"), "--ledger", str(ledger)])
    assert card.exit_code == 0
    assert "not rejected" in card.output
    assert "is at most 0.6" in card.output


def test_nothing_but_the_outcome_depends_on_the_rows() -> None:
    """Rows that make the same decision with quite another p-value leave the same entry behind."""

    def body(share: float, **given: Any) -> dict[str, Any]:
        rows = (np.arange(1000) < 1000 * share).astype(float)
        holdout = Holdout({"x": rows}, ledger=MemoryStore())
        holdout.test("x > 0.5", **given)
        holdout.test(mean(col("x").fill(0), range=(0, 1)), **given)
        told = [copy.deepcopy(entry.body) for entry in holdout._desk.store.read(holdout.id)[1:]]
        for entry in told:
            del entry["at"]
        return {"told": told}

    assert body(0.7, above=0.5) == body(0.95, above=0.5)
    assert body(0.1, above=0.5) == body(0.5, above=0.5)
    assert body(0.7, above=0.5) != body(0.5, above=0.5)
    assert body(0.1, below=0.5) == body(0.3, below=0.5)


# ---------------------------------------------------------------- replay and tampering


def cards(holdout: Holdout) -> list[Certificate]:
    entries = holdout._desk.store.read(holdout.id)
    return [Certificate.of(entries[0], entry) for entry in entries[1:]]


@pytest.fixture(scope="module")
def chain() -> list[Entry]:
    holdout = Holdout(X, Y, name="churn", ledger=None, practice=0)
    holdout.ask("x0 > 0", 0.5)
    holdout.test("x0 > 0", above=0.4)
    holdout.test("x0 > 0", above=0.6)
    holdout.test(mean(col("x1").fill(0) * 1e6, range=(-1e9, 1e9)), below=1e9)
    holdout.ask("x0 > 0.5", 0.3)
    return holdout._desk.store.read(holdout.id)


def forged(chain: list[Entry], index: int, change: Callable[[dict[str, Any]], None]) -> list[Entry]:
    """The same chain with one body changed, sealed anew from there by somebody who has a key."""
    key, entries = Key(bytes(range(32))), []
    for place, entry in enumerate(chain):
        body = copy.deepcopy(entry.body)
        if place == 0:
            body["public"] = key.public
        if place == index:
            change(body)
        previous = entries[-1].hash if entries else GENESIS
        entries.append(Entry.seal(entry.holdout, place, previous, body, key))
    return entries


OFFER_NULL, OFFER_LEVEL = PLACE_OF["null"], PLACE_OF["log_level"]


def flip(body: dict[str, Any]) -> None:
    body["symbol"] = 1 - body["symbol"]


def flip_all(body: dict[str, Any]) -> None:
    flip(body)
    body["published"][0] = float(body["symbol"])


def lower_all(body: dict[str, Any]) -> None:
    body["question"]["level"] = body["offer"][OFFER_NULL][2] = 0.01


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "the verdict": flip,
    "the verdict and what was published": flip_all,
    "the level asked for": lambda body: body["question"].update(level=0.01),
    "the level offered": lambda body: body["offer"][OFFER_NULL].__setitem__(2, 0.01),
    "both": lower_all,
    "the corrected level": lambda body: body["offer"].__setitem__(OFFER_LEVEL, body["offer"][OFFER_LEVEL] - 1e-3),
    "the value tested": lambda body: body["offer"][OFFER_NULL].__setitem__(1, 0.45),
    "the side": lambda body: body["offer"][OFFER_NULL].__setitem__(0, -body["offer"][OFFER_NULL][0]),
    "the hypothesis left out": lambda body: body["offer"].__setitem__(OFFER_NULL, None),
    "another question": lambda body: body.update(question={"ask": "share"}),
    "the event": lambda body: body["event"].update(nats=0.1),
    "a surprise": lambda body: body["event"].update(surprise=not body["event"]["surprise"]),
    "an outcome there is not": lambda body: body.update(symbol=2),
    "a guess": lambda body: body.update(guess=[0.5, None, None, "asker"]),
    "a parent": lambda body: body.update(parent=1),
    "an interval": lambda body: body["published"].__setitem__(1, 0.3),
    "nonsense": lambda body: body["offer"].__setitem__(OFFER_NULL, [1, "x", 0.05]),
    "too little": lambda body: body["offer"].__setitem__(OFFER_NULL, [1]),
}


def test_offers_are_as_this_file_takes_them(chain: list[Entry]) -> None:
    offer = Certificate.of(chain[0], chain[2]).record.offer
    assert chain[2].body["offer"][OFFER_NULL] == [1, 0.4, 0.05]
    assert chain[2].body["offer"][OFFER_LEVEL] == offer.log_level
    replay(chain)
    replay(forged(chain, 0, lambda body: None))


@pytest.mark.parametrize("index", [2, 3, 4])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_found_even_by_a_new_seal(chain: list[Entry], index: int, change: str) -> None:
    with pytest.raises(Tampered):
        replay(forged(chain, index, CHANGES[change]))


def test_a_question_is_not_turned_into_a_test_after_the_fact(chain: list[Entry]) -> None:
    def pretend(body: dict[str, Any]) -> None:
        body["question"] = {"ask": "hypothesis", "of": body["question"], "at_most": 0.4, "level": 0.05}

    for index in (1, 5):
        with pytest.raises(Tampered):
            replay(forged(chain, index, pretend))
    with pytest.raises(Tampered):  # a mechanism that shows everything cannot have tested anything
        replay(forged(chain, 0, lambda body: body.update(mechanism={"name": "Naive"})))


@pytest.mark.parametrize("change", ["the verdict", "the level asked for", "the side", "an outcome there is not"])
def test_a_card_alone_finds_what_does_not_follow(chain: list[Entry], change: str, tmp_path: Path) -> None:
    entries = forged(chain, 2, CHANGES[change])
    with pytest.raises(Tampered):
        Certificate.of(entries[0], entries[2]).verify()
    card = Certificate.of(chain[0], chain[2])
    Certificate.load(card.save(tmp_path / "card.json")).verify()
    told = json.loads((tmp_path / "card.json").read_text())
    told["numbers"]["level"] = 0.01
    with pytest.raises(Tampered):
        Certificate.from_json(told)
