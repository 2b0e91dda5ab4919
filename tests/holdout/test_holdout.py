"""Holdout: repeats, quotes, batches, sharpening, groups, and how it shows itself."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unworn import Holdout, accuracy, col, function, mean, share
from unworn.errors import Failed, Unaskable
from unworn.events import Guessed
from unworn.mechanisms import GuessAndCheck, Naive, Rounding, SampleSplitting
from unworn.queries.predictions import FromModel

ROWS = 2_000


class Cut:
    """A model: 1 where x0 is above the cut."""

    def __init__(self, cut: float, beyond: float = 0.0) -> None:
        self.cut, self.beyond = cut, beyond

    def predict(self, X: Any) -> Any:
        return ((X[:, 0] > self.cut) ^ (X[:, 0] > 1e6 + self.beyond)).astype(int)


def rows(seed: int = 0, count: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    return X, (X[:, 0] > 0.1).astype(int)


HIGH = share(col("x0") > 0.5)


# ---------------------------------------------------------------- repeats


def test_a_repeat_is_free_whatever_the_guess() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    first = holdout.ask(HIGH, guess=0.3)
    for guess in (None, 0.3, 0.9, 0.0):
        again = holdout.ask(HIGH, guess=guess, by="somebody else")
        assert again == first
        assert again.index == 1
    assert holdout.ask("x0 > 0.5") == first
    assert holdout.meter.asked == 1
    second = holdout.ask(HIGH, guess=0.3, again=True)
    assert second.index == 2
    assert holdout.ask(HIGH).index == 2  # the latest
    assert holdout.meter.asked == 2
    holdout.verify()


def test_a_value_of_zero_is_not_taken_for_a_miss() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    never = share(col("x0") > 1e9)
    first = holdout.ask(never, guess=0.0)
    assert (first.value, first.index) == (0.0, 1)
    assert holdout.ask(never).index == 1
    assert holdout.ask_many([never, never])[1].index == 1
    assert holdout.meter.asked == 1


def test_repeats_inside_a_batch_are_one_ask() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    told = holdout.ask(HIGH, guess=0.3)
    other = share(col("x1") > 0)
    answers = holdout.ask_many(
        [other, HIGH, other, mean(col("x0").fill(0), range=(-5, 5)), other], [0.5, None, 0.1, 0, None]
    )
    assert [answer.index for answer in answers] == [2, 1, 2, 3, 2]
    assert answers[1] == told
    assert answers[0] == answers[2] == answers[4]
    assert holdout.meter.asked == 3
    assert [entry.body["batch"] for entry in holdout._desk.store.read(holdout.id)[2:]] == [[0, 2], [1, 2]]
    holdout.verify()


def test_each_of_a_batch_pays_for_those_before_it() -> None:
    """As if they had been asked one by one; under Theorem C, which older ledgers keep, a batch shared its past."""
    questions = [share(col("x0") > cut) for cut in (0.0, 0.2, 0.4)]
    for law in ("C'", "C"):
        mechanism = GuessAndCheck(law=law)  # type: ignore[arg-type]
        holdout, one_by_one = (Holdout(*rows(), mechanism=mechanism, ledger=None) for _ in range(2))
        batch = holdout.ask_many(questions, [0.99, 0.98, 0.97])
        single = [
            one_by_one.ask(question, guess) for question, guess in zip(questions, [0.99, 0.98, 0.97], strict=True)
        ]
        assert [answer.source for answer in batch] == ["surprise"] * 3
        levels = [answer.certificate.record.offer.log_level for answer in batch]
        alone = [answer.certificate.record.offer.log_level for answer in single]
        assert levels[0] == alone[0]
        assert levels[0] > levels[1]
        assert (levels[2] > alone[2]) == (law == "C")
        if law == "C'":
            assert levels == alone
            assert [(answer.low, answer.high) for answer in batch] == [(answer.low, answer.high) for answer in single]
            assert holdout.meter.spent == one_by_one.meter.spent
        holdout.verify()


def test_a_batch_is_all_or_none() -> None:
    holdout = Holdout(*rows(), asks=2, ledger=None, practice=0)
    from unworn.errors import Exhausted

    with pytest.raises(Exhausted):
        holdout.ask_many([share(col("x0") > cut) for cut in (0.0, 0.2, 0.4)])
    assert holdout.meter.asked == 0
    with pytest.raises(Unaskable, match="2 questions but 1 guesses"):
        holdout.ask_many([HIGH, HIGH], [0.5])
    assert holdout.ask_many([]) == []
    assert holdout.ask_many(iter([HIGH]))[0].index == 1


def test_repeats_survive_reopening(tmp_path: Path) -> None:
    first = Holdout(*rows(), ledger=tmp_path / "ledger.db", practice=0)
    told = first.ask(HIGH, guess=0.3)
    scored = first.score(Cut(0.1), guess=1.0)
    first.close()
    again = Holdout(*rows(), ledger=f"sqlite:///{tmp_path}/ledger.db", practice=0)
    assert again.ask(HIGH, guess=0.9) == told
    assert again.score(Cut(0.1)) == scored
    assert again.meter.asked == 2
    again.verify()
    again.close()


ASK_ELSEWHERE = """
import sys
from unworn import Holdout
holdout = Holdout(sys.argv[1], ledger=sys.argv[2])
answer = holdout.ask("x > 0.5", guess=float(sys.argv[3]))
print(answer.index, answer.value, holdout.meter.asked)
holdout.close()
"""


def test_repeats_across_processes(tmp_path: Path) -> None:
    pl.DataFrame({"x": np.random.default_rng(0).normal(size=500)}).write_parquet(tmp_path / "rows.parquet")
    told = [
        subprocess.run(
            [sys.executable, "-c", ASK_ELSEWHERE, tmp_path / "rows.parquet", tmp_path / "ledger.db", guess],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for guess in ("0.3", "0.6")
    ]
    assert told[0] == told[1]
    assert told[0].split()[0] == "1"


def test_a_failure_is_repeated_free() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)

    def fails(columns: Any) -> Any:
        raise ValueError("no")

    question = function(fails, range=(0, 1), name="fails")
    for _ in range(3):
        with pytest.raises(Failed) as caught:
            holdout.ask(question)
        assert caught.value.numbers["index"] == 1
    assert holdout.meter.asked == 1
    assert holdout.meter.surprises == 0  # without a guess there is none; it has a word among those of the cells
    assert holdout.meter.spent > 3
    answer = holdout.ask_many([question])[0]
    assert (answer.low, answer.high, answer.index) == (0.0, 1.0, 1)
    with pytest.raises(Failed) as caught:
        holdout.ask(question, again=True)
    assert caught.value.numbers["index"] == 2
    holdout.verify()


def test_a_fingerprint_never_depends_on_rows() -> None:
    model = Cut(0.2)
    prints = set()
    for seed in (1, 2):
        holdout = Holdout(*rows(seed), ledger=None, practice=0)
        prints.add(holdout.score(model, guess=0.9).certificate.record.fingerprint)
    assert len(prints) == 1
    # These two agree on every row there is, and differ on a row that is not: two questions, two charges.
    holdout = Holdout(*rows(), ledger=None, practice=0)
    same = holdout.score(Cut(0.2, beyond=0.0), guess=0.9), holdout.score(Cut(0.2, beyond=7.0), guess=0.9)
    assert [answer.index for answer in same] == [1, 2]
    X, _ = rows()
    assert (Cut(0.2, 0.0).predict(X) == Cut(0.2, 7.0).predict(X)).all()
    # And their predictions as an array are a third, known by the asker's own numbers.
    assert holdout.score(Cut(0.2).predict(X), guess=0.9).index == 3


def test_names_stand_for_models() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    unpicklable = Cut(0.1)
    unpicklable.stream = (row for row in range(3))  # type: ignore[attr-defined]
    with pytest.raises(Unaskable, match="name="):
        holdout.score(unpicklable)
    assert holdout.meter.asked == 0
    assert holdout.score(unpicklable, name="v1", guess=1.0).index == 1
    assert holdout.score(FromModel(unpicklable, name="v1")).index == 1
    assert holdout.score(unpicklable, name="v2", guess=1.0).index == 2


# ---------------------------------------------------------------- quotes, guesses, meters


def test_a_quote_charges_nothing_and_tells_the_truth() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    quote = holdout.quote(HIGH, 0.3)
    assert (quote.index, quote.repeat, quote.guess) == (1, False, 0.3)
    assert 0 < quote.cost < 0.01
    assert quote.widest >= quote.width
    assert quote.surprise_cost > 0
    assert "ask 1: ±" in str(quote)
    assert holdout.meter.asked == 0
    answer = holdout.ask(HIGH, 0.3)
    assert answer.width == pytest.approx(quote.width)
    assert holdout.meter.spent == pytest.approx(quote.cost)
    after = holdout.quote(HIGH, 0.9)
    assert after.repeat
    assert (after.index, after.width, after.cost) == (1, answer.width, 0.0)
    assert str(after) == "asked before: answer 1 comes back, free"
    no_guess = holdout.quote(share(col("x1") > 0))
    assert no_guess.guess is None
    assert no_guess.cost > 0
    assert holdout.meter.asked == 1


def test_a_quote_knows_what_others_asked(tmp_path: Path) -> None:
    one, two = (Holdout(*rows(), ledger=tmp_path / "ledger.db", practice=0) for _ in range(2))
    one.ask(HIGH, 0.3)
    assert two.quote(HIGH).repeat
    assert two.quote(share(col("x1") > 0)).index == 2
    assert one.head == two.head
    one.close()
    two.close()


def test_guesses_come_from_train() -> None:
    train = rows(9, 500)
    holdout = Holdout(*rows(), train=train, ledger=None)
    answer = holdout.score(Cut(0.4))
    told = answer.certificate.record.guess
    assert told is not None
    assert told.origin == "train"
    assert told.value == np.mean(Cut(0.4).predict(train[0]) == train[1])
    event = answer.certificate.record.event
    assert isinstance(event, Guessed)
    assert event.origin == "train"


def test_without_train_the_last_answer_is_no_guess() -> None:
    """In a search every better model would be a surprise. Under Theorem C, which older ledgers keep, it was one."""
    plain = Holdout(*rows(), ledger=None, practice=0)
    for cut in (0.4, 0.3):
        answer = plain.score(Cut(cut))
        assert (answer.source, answer.certificate.record.guess) == ("grid", None)
    assert plain.meter.surprises == 0
    older = Holdout(*rows(), mechanism=GuessAndCheck(law="C"), ledger=None)
    assert older.score(Cut(0.4)).source == "grid"
    second = older.score(Cut(0.3)).certificate.record.guess
    assert second is not None
    assert (second.origin, second.value) == ("ledger", older.answers["value"].iloc[0])


def test_a_failure_is_no_guess_for_the_next() -> None:
    class Broken:
        def predict(self, X: Any) -> Any:
            raise RuntimeError

    holdout = Holdout(*rows(), mechanism=GuessAndCheck(law="C"), ledger=None)
    holdout.score(Cut(0.1), guess=1.0)
    with pytest.raises(Failed):
        holdout.score(FromModel(Broken(), name="broken"))
    guess = holdout.score(Cut(0.0)).certificate.record.guess
    assert guess is not None
    assert guess.value == 1.0


def test_the_meter_counts() -> None:
    holdout = Holdout(*rows(), asks=5, max_width=0.4, ledger=None, practice=0)
    assert (holdout.meter.asked, holdout.meter.planned, holdout.meter.refused) == (0, 5, 0)
    before = holdout.meter.spent
    holdout.ask(HIGH, 0.99)
    meter = holdout.meter
    assert (meter.asked, meter.surprises) == (1, 1)
    assert meter.spent > before
    assert "asked 1 of 5 · surprises 1" in str(meter)
    for cut in range(4):
        holdout.ask(share(col("x1") > cut / 10), 0.5)
    assert holdout.meter.next_width is None
    assert "none left" in str(holdout.meter)
    assert "<table>" in meter._repr_html_()


# ---------------------------------------------------------------- sharpening


def test_sharpening_narrows_and_is_repeated_free() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    answer = holdout.ask(HIGH, guess=0.3)
    sharp = holdout.sharpen(answer)
    assert answer.low <= sharp.low <= sharp.high <= answer.high
    assert sharp.width < answer.width
    assert holdout.sharpen(answer) == sharp
    with pytest.raises(Unaskable, match=r"sharpened already; holdout\.final releases"):
        holdout.sharpen(sharp)
    assert [entry.body["parent"] for entry in holdout._desk.store.read(holdout.id)[1:]] == [None, 1]
    assert holdout.ask(HIGH) == answer  # the question itself is still the coarse one
    holdout.verify()


def test_only_an_answers_own_question_is_sharpened() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    answer = holdout.ask(HIGH, guess=0.3)
    swapped = dataclasses.replace(answer, query=share(col("x1") > 0))
    with pytest.raises(Unaskable, match="another question"):
        holdout.sharpen(swapped)
    with pytest.raises(Unaskable, match="another holdout"):
        Holdout(*rows(5), ledger=None, practice=0).sharpen(answer)
    assert holdout.meter.asked == 1
    assert holdout.sharpen(pickle.loads(pickle.dumps(answer))).index == 2  # an expression can be read back


def test_sharpening_an_answer_that_another_process_got(tmp_path: Path) -> None:
    one, two = (Holdout(*rows(), ledger=tmp_path / "ledger.db", practice=0) for _ in range(2))
    assert two.sharpen(one.ask(HIGH, guess=0.3)).index == 2
    one.close()
    two.close()


def test_what_cannot_be_sharpened_says_so() -> None:
    holdout = Holdout(*rows(), ledger=None, practice=0)
    failed = holdout.ask_many([function(lambda columns: None, range=(0, 1), name="none")])[0]
    with pytest.raises(Unaskable, match="no answer to build on"):
        holdout.sharpen(failed)
    rounded = Holdout(*rows(), mechanism=Rounding(), ledger=None)
    with pytest.raises(Unaskable, match="Rounding has nothing to sharpen"):
        rounded.sharpen(rounded.ask(HIGH))
    scored = pickle.loads(pickle.dumps(holdout.score(Cut(0.1), guess=1.0)))
    with pytest.raises(Unaskable, match="supply them"):
        holdout.sharpen(scored)
    assert holdout.meter.asked == 2


# ---------------------------------------------------------------- groups


def test_groups_are_the_unit() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 6, size=300)
    groups = np.repeat(np.arange(300), sizes)
    x = rng.random(len(groups))
    holdout = Holdout({"x": x}, groups=groups, mechanism=Naive(), ledger=None)
    assert holdout.size == 300
    assert "300 groups" in repr(holdout)
    expected = np.mean([x[groups == group].mean() for group in range(300)])
    assert holdout.ask(mean(col("x").fill(0), range=(0, 1))).value == pytest.approx(expected)
    answer = holdout.ask(share(col("x") > 0.5))
    assert answer.value == pytest.approx(np.mean([(x[groups == group] > 0.5).mean() for group in range(300)]))
    assert answer.certificate.record.facts.kind == "unit"
    assert answer.certificate.record.offer.rows == 300
    checked = Holdout({"x": x}, groups=groups, ledger=None).ask(share(col("x") > 0.5), guess=0.5)
    assert checked.certificate.record.facts.kind == "unit"
    assert checked.certificate.numbers["rows"] == 300


def test_groups_by_name_and_scores() -> None:
    frame = pd.DataFrame({"x": np.linspace(0, 1, 90), "who": np.repeat(np.arange(30), 3), "y": [0, 1, 1] * 30})
    holdout = Holdout(frame, "y", groups="who", mechanism=Naive(), ledger=None)
    assert holdout.score(np.ones(90, dtype=int)).value == pytest.approx(2 / 3)
    difference = holdout.compare(np.ones(90, dtype=int), np.zeros(90, dtype=int))
    assert difference.value == pytest.approx(1 / 3)
    assert difference.certificate.record.facts.kind == "paired"
    assert not difference.certificate.record.facts.zero_one


# ---------------------------------------------------------------- frames, copies, closing


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (pd.DataFrame, pd.DataFrame),
        (pl.DataFrame, pl.DataFrame),
        (pa.table, pa.Table),
        (dict, pd.DataFrame),
        (lambda columns: columns["x0"].reshape(-1, 1), pd.DataFrame),
    ],
)
def test_answers_come_as_the_rows_did(make: Any, kind: type) -> None:
    holdout = Holdout(make({"x0": rows()[0][:, 0]}), ledger=None)
    empty = holdout.answers
    assert isinstance(empty, kind)
    assert len(empty) == 0
    holdout.ask(HIGH, 0.3, by="anna")
    holdout.ask_many([share(col("x0") > 0)])
    answers = holdout.answers
    assert isinstance(answers, kind)
    assert len(answers) == 2
    assert str(next(iter(answers["by"]))) == "anna"
    names = answers.column_names if kind is pa.Table else list(answers.columns)
    assert names[:10] == ["index", "question", "value", "low", "high", "width", "source", "guess", "by", "at"]
    assert names[10:] == ["metric", "name"]


def test_answers_for_labels_only() -> None:
    y = rows()[1]
    holdout = Holdout(None, y, ledger=None, practice=0)
    holdout.score(y, guess=1.0)
    assert len(holdout.answers) == 1
    with pytest.raises(Unaskable, match="labels only"):
        holdout.score(Cut(0.1))
    assert holdout.meter.asked == 1


def test_closing_leaves_nothing_behind(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        holdout = Holdout(*rows(), ledger=tmp_path / "ledger.db", practice=0)
        holdout.ask(HIGH, 0.3)
        pickle.dumps(holdout)  # starts the listener
        holdout.close()
        holdout.close()
        assert "asked 1" in repr(holdout)
        del holdout
        gc.collect()
        forgotten = Holdout(*rows(), ledger=tmp_path / "ledger.db", practice=0)
        pickle.dumps(forgotten)
        del forgotten
        gc.collect()


def test_a_forked_child_cannot_spend_memory() -> None:
    code = (
        "import os, sys, numpy as np\n"
        "from unworn import Holdout\n"
        "from unworn.errors import LedgerError\n"
        "holdout = Holdout({'x': np.arange(50.0)}, ledger=None)\n"
        "holdout.ask('x > 3', 0.9)\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        holdout.ask('x > 5', 0.9)\n"
        "    except LedgerError as error:\n"
        "        print('refused', 'forked' in str(error), holdout.meter.asked, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('parent', holdout.ask('x > 5', 0.9).index)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["refused True 1", "parent 2"]


def test_a_forked_child_shares_a_file(tmp_path: Path) -> None:
    """Even when the fork happens while another thread holds the desk's lock."""
    code = (
        "import os, sys, threading, numpy as np\n"
        "from unworn import Holdout\n"
        f"holdout = Holdout({{'x': np.arange(50.0)}}, ledger={str(tmp_path / 'ledger.db')!r})\n"
        "holdout.ask('x > 3', 0.9)\n"
        "held, done = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with holdout._desk._lock:\n"
        "        held.set(); done.wait()\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "held.wait()\n"
        "if os.fork() == 0:\n"
        "    print('child', holdout.ask('x > 5', 0.9).index, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait(); done.set()\n"
        "print('parent', holdout.ask('x > 7', 0.9).index, holdout.meter.asked)\n"
        "holdout.verify()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["child 2", "parent 3 3"]


def test_how_it_looks() -> None:
    holdout = Holdout(*rows(), name="a<b", confidence=0.999, ledger=None, practice=0)
    assert repr(holdout) == "Holdout(a<b · 2 000 rows · asked 0 · surprises 0 · 99.9 %)"
    assert "a&lt;b" in holdout._repr_html_()
    answer = holdout.ask(HIGH, 0.3)
    assert "99.9 %" in answer._repr_html_()
    assert copy.copy(holdout) is holdout
    assert (holdout.name, holdout.confidence, holdout.size, holdout.path, holdout.ledger_url) == (
        "a<b",
        0.999,
        ROWS,
        None,
        None,
    )
    assert holdout.mechanism == GuessAndCheck(law="C'")
    assert repr(holdout.mechanism) == repr(GuessAndCheck())
    assert not holdout.read_only
    assert holdout.max_width is None


def test_planned_numbers_may_be_numpys(tmp_path: Path) -> None:
    holdout = Holdout(*rows(), asks=np.int64(7), ledger=tmp_path / "ledger.db", practice=0)
    assert holdout.terms.asks == 7
    holdout.close()
    Holdout(*rows(), asks=7, ledger=tmp_path / "ledger.db", practice=0).close()


@pytest.mark.parametrize("mechanism", [Naive(), Rounding(), SampleSplitting(), GuessAndCheck()])
def test_every_mechanism_verifies(mechanism: Any) -> None:
    X, y = rows()
    holdout = Holdout(X, y, mechanism=mechanism, asks=10, ledger=None)
    holdout.ask(HIGH)
    holdout.ask_many([share(col("x0") > 0), mean(col("x1").fill(0), range=(-6, 6)), accuracy(y)])
    if isinstance(mechanism, SampleSplitting):
        holdout.compare(Cut(0.1).predict(X), Cut(0.3).predict(X))
        with pytest.raises(Unaskable, match="does not run code"):
            holdout.compare(Cut(0.1), Cut(0.3))
    else:
        holdout.compare(Cut(0.1), Cut(0.3))
        with pytest.raises(Failed):
            holdout.ask(function(lambda columns: 1 / 0, range=(0, 1), name="fails"))
    holdout.verify()
    assert holdout.meter.asked == 5 + (not isinstance(mechanism, SampleSplitting))
