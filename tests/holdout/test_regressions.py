"""What once went wrong, or nearly: answers that nobody paid for, and intervals that did not hold."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Failed, Holdout, Unaskable, accuracy, col, compare, function, mean, share
from unworn.errors import Mismatch
from unworn.holdout.desk import Desk
from unworn.mechanisms import Guess, GuessAndCheck, SampleSplitting
from unworn.mechanisms.contract.conversation import published_width
from unworn.queries.query import Facts
from unworn.rows import Sample

X = np.random.default_rng(0).normal(size=400)


def test_an_interrupt_before_rows_are_touched_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    holdout, question = Holdout({"x": X}, ledger=None), share(col("x") > 0)

    def interrupted(self: Desk, *args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Desk, "_hand_in", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        holdout.ask(question, 0.2)
    assert not hasattr(caught.value, "__notes__")
    monkeypatch.undo()
    assert holdout.meter.asked == 0
    holdout.ask(share(col("x") > 1), 0.2)
    assert holdout.meter.asked == 1  # the interrupted question is not asked behind its caller's back
    assert holdout.ask(question, 0.2).index == 2
    holdout.verify()


def test_an_interrupt_after_rows_were_read_loses_the_answer_and_not_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    holdout, question = Holdout({"x": X}, ledger=None), share(col("x") > 0)
    hand_in, times = Desk._hand_in, iter([True])

    def interrupted(self: Desk, *args: Any) -> Any:
        found = hand_in(self, *args)
        if next(times, False):
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Desk, "_hand_in", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        holdout.ask(question, 0.2)
    assert "Answer 1 is entered and charged" in caught.value.__notes__[0]
    assert holdout.meter.asked == 1
    assert holdout.ask(question, 0.2).index == 1
    holdout.verify()


def test_splitting_does_not_run_code_on_rows_it_has_not_shown() -> None:
    holdout = Holdout({"x": X}, mechanism=SampleSplitting(rounds=2), asks=10, ledger=None)
    with pytest.raises(Unaskable, match="does not run code"):
        holdout.ask(function(lambda columns: columns["x"] > 0, range=(0, 1)))
    assert holdout.meter.asked == 0


def test_predictions_belong_to_one_order_of_the_rows(tmp_path: Path) -> None:
    y = (X > 0).astype(int)
    first = Holdout({"x": X}, y, ledger=tmp_path / "a.db")
    answer = first.score(y, 1.0)
    by_question = first.ask(share(col("x") > 0), 0.5)
    again = Holdout({"x": X[::-1]}, y[::-1], ledger=tmp_path / "a.db")
    with pytest.raises(Unaskable, match="another order"):
        again.score(y)
    assert again.ask(share(col("x") > 0)).index == by_question.index
    assert Holdout({"x": X}, y, ledger=tmp_path / "a.db").score(y).index == answer.index


@pytest.mark.parametrize("disguise", [lambda y: y.astype(bool), lambda y: y.astype(float), lambda y: 1.0 * y])
def test_labels_in_disguise_are_recognised(tmp_path: Path, disguise: Any) -> None:
    y = np.random.default_rng(3).integers(0, 2, 500)
    Holdout(None, y, ledger=tmp_path / "a.db", practice=0).score(y * 0, 0.5)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(Mismatch):
        Holdout(None, pandas.Series(disguise(y), name="label"), ledger=tmp_path / "a.db", practice=0)


def test_sorted_labels_are_nobodys_own(tmp_path: Path) -> None:
    y = np.repeat([0, 1], 250)
    Holdout({"x": np.random.default_rng(1).normal(size=500)}, y, ledger=tmp_path / "a.db", name="one", practice=0)
    Holdout({"z": np.random.default_rng(2).normal(size=500)}, y, ledger=tmp_path / "a.db", name="two", practice=0)


def test_a_model_that_returns_no_columns_is_charged() -> None:
    class Hollow:
        classes_ = None

        def predict_proba(self, rows: Any) -> Any:
            return np.zeros((len(rows), 0))

    holdout = Holdout({"x": X}, (X > 0).astype(int), ledger=None)
    for metric, options in (("top_k_accuracy", {"k": 1}), ("log_loss", {})):
        with pytest.raises(Failed):
            holdout.score(Hollow(), 0.5, metric=metric, name=metric, **options)
    assert holdout.meter.asked == 2


def test_a_range_far_from_zero_is_refused() -> None:
    holdout = Holdout({"x": np.arange(400)}, ledger=None)
    with pytest.raises(Unaskable, match="subtract a constant"):
        holdout.ask(mean(col("x"), range=(1e15, 1e15 + 1)))
    assert holdout.ask(mean(col("x") - 100, range=(0, 300)), 150).index == 1


@pytest.mark.parametrize("discordance", [0.01, 0.05, 0.3])
def test_max_width_counts_the_symbol_for_discordance_alone(discordance: float) -> None:
    mechanism = GuessAndCheck()
    facts = Facts("paired", -1.0, 1.0, zero_one=True)
    offer = mechanism.offer(mechanism.begin(5000, 0.95), facts, Guess(0.0, None, discordance))
    assert mechanism.widest(offer) >= published_width(mechanism, offer, [0, 0])


def test_a_huge_standard_error_says_no_more_than_the_range() -> None:
    answer = Holdout({"x": X}, ledger=None).ask(share(col("x") > 0), 0.5, guess_se=1e308)
    assert (answer.low, answer.high) == (0.0, 1.0)


def test_a_model_cannot_change_the_features_of_a_dict() -> None:
    data = {"a": X.copy()}
    holdout = Holdout(data, (X > 0).astype(int), ledger=None)

    class Writer:
        def predict(self, rows: Any) -> Any:
            rows["a"][:] = 0
            return np.zeros(len(rows["a"]))

    class Honest:
        def predict(self, rows: Any) -> Any:
            return (rows["a"] > 0).astype(int)

    with pytest.raises(Failed):
        holdout.score(Writer(), 0.5, name="writer")
    data["a"] *= -1
    assert holdout.score(Honest(), 1.0, name="honest").source == "guess"


def test_repeats_stay_free_without_the_key(tmp_path: Path) -> None:
    import shutil

    path = tmp_path / "a.db"
    first = Holdout({"x": X}, name="people", ledger=path)
    answer = first.ask(share(col("x") > 0), 0.5)
    first.close()
    shutil.rmtree(tmp_path / "a.db.keys")
    assert Holdout({"x": X}, name="people", ledger=path).ask(share(col("x") > 0)).index == answer.index


def test_a_model_needs_features() -> None:
    holdout = Holdout(None, (X > 0).astype(int), ledger=None)

    class Model:
        def predict(self, rows: Any) -> Any:
            return np.zeros(len(rows))

    with pytest.raises(Unaskable, match="labels only"):
        holdout.score(Model(), name="m")
    assert holdout.ask(accuracy(np.ones(400, dtype=int)), 0.5).index == 1


def test_code_that_asks_the_holdout_it_runs_in_fails_like_any_other() -> None:
    holdout = Holdout({"x": X}, ledger=None)
    with pytest.raises(Failed):
        holdout.ask(function(lambda columns: holdout.ask(share(col("x") > 0), 0.5), range=(0, 1), name="nested"))
    assert holdout.meter.asked == 1
    assert holdout.ask(share(col("x") > 0), 0.5).index == 2


def test_an_interrupted_caller_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader is interrupted while others wait: one of them leads, and all of them are answered."""
    holdout, hand_in, done = Holdout({"x": X}, ledger=None), Desk._hand_in, threading.Event()
    interrupted: list[str] = []

    def slow(self: Desk, asks: Any, memo: Any) -> Any:
        if threading.current_thread().name == "leader":
            done.wait(20)
            raise KeyboardInterrupt
        return hand_in(self, asks, memo)

    def lead() -> None:
        try:
            holdout.ask(share(col("x") > 9), 0.0)
        except KeyboardInterrupt:
            interrupted.append("leader")

    monkeypatch.setattr(Desk, "_hand_in", slow)
    leader = threading.Thread(target=lead, name="leader")
    leader.start()
    others = [threading.Thread(target=holdout.ask, args=(share(col("x") > cut / 10), 0.5)) for cut in range(6)]
    for other in others:
        other.start()
    done.set()
    for thread in (leader, *others):
        thread.join(20)
        assert not thread.is_alive()
    assert interrupted == ["leader"]
    # The leader's own question may have been taken up before it could be withdrawn; the others' are all there.
    assert len({record.label for record in holdout._desk.transcript.records} - {"share of x > 9"}) == 6
    holdout.verify()


def test_a_batch_of_all_kinds_is_one_pass_and_says_what_single_asks_say() -> None:
    y, p = (X > 0).astype(int), (X > 0.1).astype(int)
    questions = [
        share(col("x") > 0),
        mean(col("x").fill(0), range=(-5, 5)),
        accuracy(p),
        compare(accuracy(p), accuracy(y)),
    ]
    sample = Sample.read({"x": X}, y)
    single = [sample.counts, sample.means, sample.counts, sample.differences]
    together = sample.statistics(questions)
    assert [np.ravel(value).tolist() for value in together] == [
        np.ravel(read([question])).tolist() for read, question in zip(single, questions, strict=True)
    ]
    passes: list[int] = []
    holdout = Holdout({"x": X}, y, ledger=None)
    read = holdout._sample.statistics
    holdout._sample.statistics = lambda queries, part=None: (passes.append(len(queries)), read(queries, part))[1]  # type: ignore[method-assign]
    holdout.ask_many(questions)
    assert passes == [4]
