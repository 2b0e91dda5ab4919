"""What a beginner, a hurry or an enemy brings: a clear error that names the fix, nothing charged, nothing lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unworn import Holdout, accuracy, col, compare, function, mean, mse, share
from unworn.errors import Exhausted, LedgerError, Refused, Tampered, Unaskable
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.queries import parse

ROWS = 500
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"age": RNG.integers(18, 90, ROWS), "plan": RNG.choice(["basic", "pro"], ROWS), "income": RNG.normal(size=ROWS)}
)
Y = RNG.integers(0, 2, ROWS)


@pytest.fixture
def holdout() -> Iterator[Holdout]:
    made = Holdout(FRAME, Y, name="churn", ledger=None, practice=0)
    made.ask(share(col("age") > 65), 0.33)
    before = made.meter
    head = made.head
    yield made
    after = made.meter
    assert (after.asked, after.surprises, after.spent) == (before.asked, before.surprises, before.spent)
    assert made.head == head
    assert made.ask(share(col("age") > 65)).index == 1  # nothing lost
    assert made.ask(share(col("age") > 30), 0.8).index == 2  # still usable
    made.verify()


class NoPredict:
    pass


class Sheet:
    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


QUESTIONS: dict[str, tuple[Callable[[Holdout], Any], str]] = {
    "wrong column": (lambda h: h.ask(share(col("agee") > 65)), "no column 'agee'; the columns are: age, plan, income"),
    "wrong column in SQL": (lambda h: h.ask("wage > 3"), "no column 'wage'"),
    "text as a number": (lambda h: h.ask(share(col("plan") > 3)), "plan"),
    "mean of text": (lambda h: h.ask(mean(col("plan"), range=(0, 1))), "plan"),
    "may be missing": (lambda h: h.ask(mean(col("income"), range=(0, 1))), "fill"),
    "too short": (lambda h: h.score(Y[:-1]), "499 predictions for 500 rows"),
    "too long": (lambda h: h.score(np.append(Y, 0)), "501 predictions for 500 rows"),
    "NaN submitted": (lambda h: h.score(np.where(Y == 1, np.nan, 0.0)), "missing or infinite; fill them"),
    "infinity submitted": (lambda h: h.score(np.full(ROWS, np.inf)), "missing or infinite"),
    "None submitted": (lambda h: h.score([None] * ROWS), "missing"),
    "nothing submitted": (lambda h: h.score(None), "supply an array"),
    "three dimensions": (lambda h: h.score(np.zeros((ROWS, 2, 2))), "dimensions"),
    "objects": (lambda h: h.score(np.array([object()] * ROWS).reshape(ROWS, 1, 1)), "predictions"),
    "complex": (lambda h: h.score(np.zeros(ROWS, dtype=complex)), "numbers, booleans or text"),
    "no predict": (lambda h: h.score(NoPredict()), "predictions must be|no method|numbers"),
    "no predict_proba": (lambda h: h.score(Sheet(), metric="log_loss"), "predict_proba"),
    "not probabilities": (lambda h: h.score(np.full(ROWS, 1.5), metric="brier"), "probabilities"),
    "unpicklable": (lambda h: h.score(local_model()), "name="),
    "weighted f1": (lambda h: h.score(Y, metric="f1_weighted"), "f1_macro"),
    "average precision": (lambda h: h.score(Y, metric="average_precision"), "roc_auc"),
    "a typo": (lambda h: h.score(Y, metric="accurracy"), "did you mean accuracy"),
    "no range": (lambda h: h.score(Y, metric="mae"), "range="),
    "a bad range": (lambda h: h.score(Y, metric="mae", range=(1, 0)), "range must be"),
    "a bad option": (lambda h: h.score(Y, metric="accuracy", sharpness=3), "sharpness"),
    "guess above": (lambda h: h.ask(share(col("age") > 40), 1.5), r"guess 1.5 lies outside .* \[0, 1\]"),
    "guess below": (lambda h: h.ask(share(col("age") > 40), -0.1), "lies outside"),
    "guess NaN": (lambda h: h.ask(share(col("age") > 40), float("nan")), "lies outside"),
    "guess in percent": (lambda h: h.score(Y, 89), "in the question's own units"),
    "guess of text": (lambda h: h.ask(share(col("age") > 40), "about half"), "a guess is a number"),
    "guess of a list": (lambda h: h.ask(share(col("age") > 40), [0.5]), "a guess is a number"),
    "error below 0": (lambda h: h.ask(share(col("age") > 40), 0.5, guess_se=-1), "standard error must be"),
    "error NaN": (lambda h: h.ask(share(col("age") > 40), 0.5, guess_se=float("nan")), "standard error must be"),
    "error without guess": (lambda h: h.ask(share(col("age") > 40), guess_se=0.1), "give guess= too"),
    "discordance": (lambda h: h.compare(Y, 1 - Y, discordance=-0.1), "discordance must be"),
    "two metrics": (lambda h: h.ask(compare(accuracy(Y), mse(Y, range=(0, 1)))), "one metric"),
    "no question": (lambda h: h.ask(3), "a question is share"),
    "a lambda": (lambda h: h.ask(lambda rows: rows), "a question is share"),
    "a function without range": (lambda h: h.ask(function(len)), "range="),
    "by a number": (lambda h: h.ask(share(col("age") > 40), 0.5, by=3), "the asker's name, is a text"),
    "by half a character": (lambda h: h.ask(share(col("age") > 40), 0.5, by="\ud800"), "the asker's name, is a text"),
    "half a character": (lambda h: h.score(Sheet(), name="\ud800"), "name= is a text"),
    "guesses and questions": (lambda h: h.ask_many([share(col("age") > 40)], [0.1, 0.2]), "1 questions but 2 guesses"),
    "one bad in a batch": (lambda h: h.ask_many([share(col("age") > 40), share(col("no") > 1)]), "no column 'no'"),
    "one bad guess": (lambda h: h.ask_many([share(col("age") > 40), share(col("age") > 50)], [0.5, 2]), "outside"),
}


def local_model() -> Any:
    class Local:
        def __init__(self) -> None:
            self.stream = (row for row in range(3))

        def predict(self, X: Any) -> Any:
            return np.zeros(len(X))

    return Local()


@pytest.mark.parametrize("what", QUESTIONS)
def test_a_question_that_cannot_be_asked(holdout: Holdout, what: str) -> None:
    attempt, said = QUESTIONS[what]
    with pytest.raises(Unaskable, match=said):
        attempt(holdout)


HOSTILE = [
    "",
    " ",
    "age > ",
    "age > 65; DROP TABLE entries",
    "age > 65 -- and more\n; DELETE FROM entries",
    "1 = 1 UNION SELECT * FROM entries",
    "age IN (SELECT age FROM rows)",
    "EXISTS (SELECT 1)",
    "read_csv('/etc/passwd') = 1",
    "age > 65 OR sleep(100) = 1",
    "pg_sleep(5) IS NULL",
    "CAST(age AS TEXT) LIKE '%'",
    "count(*) > 3",
    "age > (SELECT avg(age))",
    "age > $1",
    "age > ?",
    "random() > 0.5",
    "COPY rows TO '/tmp/x'",
    "ATTACH 'x'",
    "age = age = age = age",
    "(" * 500 + "age > 1" + ")" * 500,
    " AND ".join(["age > 1"] * 5_000),
    "age > " + "9" * 5_000,
    "age > 1e999",
    "age > 'sixty'",
    "plan",
    "not a question at all",
    "🙂 > 3",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_sql(holdout: Holdout, text: str) -> None:
    with pytest.raises(Unaskable) as caught:
        holdout.ask(text)
    assert len(str(caught.value)) < 1_000


BAD_JSON: list[Any] = [
    None,
    [],
    {},
    "share",
    3,
    {"ask": "share"},
    {"ask": "shares", "of": {}},
    {"ask": "share", "where": {"op": "eval", "code": "1"}},
    {"ask": ["share"]},
    {"ask": "metric", "metric": "accuracy"},
    {"ask": "metric", "metric": "f1", "predictions": {"digest": "00", "shape": [1]}},
    {"ask": "metric", "metric": "mae", "range": "wide", "predictions": {"digest": "00", "shape": [1]}},
    {"ask": "callable", "name": "os.system", "range": [0, 1], "binary": False},
    {"ask": "difference", "a": 1, "b": 2},
]


@pytest.mark.parametrize("data", BAD_JSON, ids=range(len(BAD_JSON)))
def test_bad_json(holdout: Holdout, data: Any) -> None:
    with pytest.raises(Unaskable):
        holdout.ask(parse(data))


@pytest.mark.parametrize("depth", [1, 300, 100_000])
def test_a_name_that_holds_itself_or_has_no_end(holdout: Holdout, depth: int) -> None:
    """Refused before rows are read, and never by the end of the stack."""
    inner: list[Any] = []
    name = inner
    for _ in range(depth):
        name = [name]
    if depth < 1_000:
        inner.append(name)
    with pytest.raises(Unaskable, match="is a text"):
        holdout.ask(function(lambda columns: columns["age"] / 100, range=(0, 1), name=name))  # type: ignore[arg-type]


def test_a_recorded_question_without_its_predictions(holdout: Holdout) -> None:
    with pytest.raises(Unaskable, match="supply them"):
        holdout.ask(parse(accuracy(Y).to_json()))


@pytest.mark.parametrize(
    ("data", "y", "said"),
    [
        ({"a": []}, None, "no rows"),
        (pd.DataFrame({"a": []}), None, "no rows"),
        (pd.DataFrame(), None, "no columns"),
        ({}, None, "no columns"),
        (None, None, "nothing to read"),
        (np.zeros((0, 3)), None, "no rows"),
        (np.zeros((3, 3)), [1, 2], "2 labels for 3 rows"),
        ({"a": [1, 2], "b": [1]}, None, "equally many"),
        (FRAME, "label", "no column 'label' to be the target"),
        ("nowhere.parquet", None, "no file"),
        ("rows.xlsx", None, "cannot read"),
        (3, None, "as rows"),
        (FRAME.assign(y=1), Y, "has a column 'y' too"),
    ],
)
def test_rows_that_cannot_be_read(data: Any, y: Any, said: str) -> None:
    with pytest.raises(Unaskable, match=said):
        Holdout(data, y, ledger=None)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"asks": 0}, "asks is a whole number of at least 1"),
        ({"asks": -3}, "asks is a whole number"),
        ({"asks": 2.5}, "asks is a whole number"),
        ({"asks": True}, "asks is a whole number"),
        ({"asks": "many"}, "asks is a whole number"),
        ({"confidence": 1.0}, "confidence is a number between 0 and 1"),
        ({"confidence": 0.0}, "confidence is a number between 0 and 1"),
        ({"confidence": 95}, "such as 0.95, not 95"),
        ({"confidence": float("nan")}, "confidence is a number between 0 and 1"),
        ({"max_width": 0}, "max_width is a finite half-width"),
        ({"max_width": float("nan")}, "max_width is a finite half-width"),
        ({"max_width": float("inf")}, "max_width is a finite half-width"),
        ({"schema": {"agee": "number"}}, "no column 'agee'"),
        ({"schema": {"age": "numeric"}}, "say one of number"),
        ({"schema": {"age": "text"}}, "its dtype is number"),
        ({"groups": "household"}, "no column 'household' to group by"),
        ({"groups": [1, 2]}, "2 groups for 500 rows"),
        ({"train": (FRAME,)}, "pair"),
        ({"train": FRAME.assign(age="old")}, "in train"),
    ],
)
def test_terms_that_cannot_be_kept(tmp_path: Path, terms: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Holdout(FRAME, Y, ledger=tmp_path / "ledger.db", **terms)
    store = SQLiteStore(tmp_path / "ledger.db")
    assert store.holdouts() == {}
    store.close()


@pytest.mark.parametrize("ledger", ["postgresql://host/db", "sqlite://two", "", "/no/such/folder/x.db", 3, "/tmp"])
def test_ledgers_that_cannot_be_opened(ledger: Any) -> None:
    with pytest.raises(LedgerError):
        Holdout(FRAME, Y, ledger=ledger)


# ---------------------------------------------------------------- refusals from the offer


def test_too_wide() -> None:
    holdout = Holdout(FRAME, Y, name="churn", max_width=0.05, ledger=None, practice=0)
    with pytest.raises(Exhausted) as caught:
        holdout.ask(share(col("age") > 65), 0.3)
    first, second, third = str(caught.value).split("\n")
    assert first.startswith("the next answer would be ± 0.")
    assert first.endswith("wider than max_width = 0.05.")
    assert second == "  churn · 500 rows · asked 0 · surprises 0 · 95 %"
    assert third == "  Raise max_width, add rows, or bring better guesses: agreement is nearly free."
    assert caught.value.numbers["max_width"] == 0.05
    assert caught.value.numbers["width"] > 0.05
    assert (holdout.meter.asked, holdout.meter.refused) == (0, 1)
    with pytest.raises(Exhausted):
        holdout.ask_many([share(col("age") > 65)])
    assert (holdout.meter.asked, holdout.meter.refused) == (0, 2)


def test_past_the_plan() -> None:
    holdout = Holdout(FRAME, Y, asks=2, ledger=None, practice=0)
    told = holdout.ask(share(col("age") > 65), 0.3)
    holdout.ask(share(col("age") > 66), 0.3)
    for _ in range(2):
        with pytest.raises(Exhausted, match="all 2 planned asks are spent") as caught:
            holdout.ask(share(col("age") > 67), 0.3)
        assert "seal a holdout without `asks=`" in str(caught.value)
    assert holdout.meter.asked == 2
    assert holdout.ask(share(col("age") > 65)) == told  # repeats go on
    with pytest.raises(Exhausted):
        holdout.quote(share(col("age") > 67))
    with pytest.raises(Exhausted):
        holdout.sharpen(told)
    holdout.verify()


def test_a_refusal_reads_no_row() -> None:
    holdout = Holdout(FRAME, Y, asks=1, ledger=None, practice=0)
    holdout.ask(share(col("age") > 65), 0.3)
    ran: list[int] = []

    class Spy:
        def predict(self, X: Any) -> Any:
            ran.append(len(X))
            return np.zeros(len(X))

    for attempt in (
        lambda: holdout.score(Spy(), name="spy"),
        lambda: holdout.score(Spy(), 7.0, name="spy"),
        lambda: holdout.score(Spy(), 0.5, by=3, name="spy"),  # type: ignore[arg-type]
        lambda: holdout.score(Spy(), metric="f1_weighted", name="spy"),
        lambda: holdout.quote(accuracy(Spy())),
    ):
        with pytest.raises(Refused):
            attempt()
    assert ran == []


# ---------------------------------------------------------------- a ledger that is not what it was


def spoil(path: Path, statement: str) -> None:
    """Change a ledger's file behind its back."""
    raw = sqlite3.connect(path)
    for trigger in ("no_update", "no_delete", "only_next"):
        raw.execute(f"DROP TRIGGER {trigger}")
    raw.execute(statement)
    raw.commit()
    raw.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, '\"symbol\":0', '\"symbol\":1') WHERE idx = 2",
        "UPDATE entries SET body = replace(body, '0.95', '0.5') WHERE idx = 0",
        "UPDATE entries SET body = '{}' WHERE idx = 1",
        "UPDATE entries SET body = 'no json' WHERE idx = 1",
        "UPDATE entries SET hash = replace(hash, 'a', 'b') WHERE idx = 2",
        "UPDATE entries SET signature = replace(signature, 'a', 'b') WHERE idx = 3",
        "DELETE FROM entries WHERE idx = 2",
        "UPDATE entries SET idx = 7 WHERE idx = 3",
    ],
)
def test_a_tampered_ledger(tmp_path: Path, statement: str) -> None:
    holdout = Holdout(FRAME, Y, ledger=tmp_path / "ledger.db", practice=0)
    for cut in (30, 40, 50):
        holdout.ask(share(col("age") > cut), (90 - cut) / 72)
    holdout.close()
    spoil(tmp_path / "ledger.db", statement)
    with pytest.raises(LedgerError) as caught:  # Tampered; or no whole ledger, for want of the triggers
        Holdout(FRAME, Y, ledger=tmp_path / "ledger.db")
    assert isinstance(caught.value, Tampered) or "not a whole ledger" in str(caught.value)


def test_a_tampered_ledger_whose_triggers_were_put_back(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    holdout = Holdout(FRAME, Y, ledger=path, practice=0)
    holdout.ask(share(col("age") > 30), 0.8)
    raw = sqlite3.connect(path)
    schema = dict(raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    raw.execute("DROP TRIGGER no_update")
    raw.execute("UPDATE entries SET body = replace(body, '0.8', '0.7') WHERE idx = 1")
    raw.execute(schema["no_update"])
    raw.commit()
    raw.close()
    with pytest.raises(Tampered, match="entry 1 was changed"):
        holdout.verify()
    holdout.close()
    with pytest.raises(Tampered, match="entry 1 was changed"):
        Holdout(FRAME, Y, ledger=path, practice=0)


# ---------------------------------------------------------------- a full disk


def test_a_full_file(tmp_path: Path) -> None:
    holdout = Holdout(FRAME, Y, ledger=tmp_path / "ledger.db", practice=0)
    store: Any = holdout._desk.store
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    told: list[Any] = []

    def ask_on() -> None:
        while True:
            told.append(holdout.ask(share(col("age") > len(told)), 0.5))

    with pytest.raises(LedgerError, match="disk is full: free some space"):
        ask_on()
    asked = holdout.meter.asked
    assert asked == len(told)
    with pytest.raises(LedgerError, match="Nothing was charged"):
        holdout.ask_many([share(col("age") > cut) for cut in range(100)])
    assert holdout.meter.asked == asked
    assert holdout.ask(share(col("age") > 0)) == told[0]
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert holdout.ask(share(col("age") > 99), 0.0).index == asked + 1
    holdout.verify()
    holdout.close()


FULL_DISK = """
import resource, signal, sys
import numpy as np
from unworn import Holdout, col, share
from unworn.errors import LedgerError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
holdout = Holdout({"x": np.arange(300.0)}, ledger=sys.argv[1])
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, hard))
told = {}
failed = 0
for cut in range(60):
    try:
        told[cut] = holdout.ask(share(col("x") > cut), 0.5).certificate.head
    except LedgerError as error:
        assert "Nothing was charged" in str(error) and "free some space" in str(error), error
        failed += 1
assert failed, "the disk was never full"
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
asked = holdout.meter.asked
assert asked == len(told), (asked, len(told))
holdout.ask(share(col("x") > 250), 0.1)
heads = {entry.hash for entry in holdout._desk.store.read(holdout.id)}
assert heads >= set(told.values())
holdout.verify()
print("ok", failed > 0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path / "ledger.db"], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "ok True", done.stderr
    again = Holdout({"x": np.arange(300.0)}, ledger=tmp_path / "ledger.db")
    again.verify()
    again.close()
