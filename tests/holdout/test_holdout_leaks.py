"""Only what is released may be seen: questions are total, and no row or key is in anything that leaves.

Two holdouts that differ in one row are asked the same; whatever comes back must be the same up to a symbol that was
paid for. And rows with telltale values are put behind a holdout, and everything that leaves it is searched for them.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unworn import Holdout, col, function, mean, share
from unworn.errors import Failed, Unaskable
from unworn.mechanisms import GuessAndCheck, Rounding

ROWS = 400
TELLTALE = 0.123456789012345
SECRET = "xyzzy-plugh-4711"


def rows(present: bool, count: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.random(size=(count, 2)).round(3)
    if present:
        X[17, 0] = TELLTALE
    return X, (X[:, 1] > 0.5).astype(int)


class Prying:
    """A model that behaves unless a certain row is there."""

    def __init__(self, how: str) -> None:
        self.how = how

    def predict(self, X: Any) -> Any:
        right = (X[:, 1] > 0.5).astype(float)
        here = X[:, 0] == TELLTALE
        if not here.any():
            return right
        if self.how == "raise":
            raise ValueError(f"found {X[here]}")
        if self.how == "exit":
            sys.exit(3)
        if self.how == "chained":
            try:
                {}[float(X[here][0, 0])]
            except KeyError as error:
                raise RuntimeError("inner") from error
        if self.how == "short":
            return right[:-1]
        if self.how == "long":
            return np.append(right, 0)
        if self.how == "cube":
            return np.zeros((len(X), 2, 2))
        if self.how == "none":
            return None
        if self.how == "ragged":
            return [[1], [1, 2]] * (len(X) // 2)
        if self.how == "words":
            return np.where(here, "found", right.astype(int).astype(str))
        if self.how == "mixed":
            return np.where(here, np.array("found", dtype=object), right.astype(object))
        return right


FAILING = ["raise", "exit", "chained", "short", "long", "cube", "none", "ragged", "words", "mixed"]


def failure(holdout: Holdout, how: str) -> Failed:
    with pytest.raises(Failed) as caught:
        holdout.score(Prying(how), guess=0.9)
    return caught.value


@pytest.mark.parametrize("how", FAILING)
def test_a_failure_tells_nothing_and_is_charged(how: str) -> None:
    with_row, without = Holdout(*rows(True), ledger=None), Holdout(*rows(False), ledger=None)
    error = failure(with_row, how)
    assert without.score(Prying(how), guess=0.9).index == 1
    # What the asker sees is one fixed message, the same for every way to fail.
    assert str(error) == Failed.MESSAGE
    assert error.args == (Failed.MESSAGE,)
    assert error.numbers == {"index": 1}
    assert error.__cause__ is None
    assert error.__context__ is None
    # One entry of the common form, charged as the surprise that it is.
    (entry,) = with_row._desk.store.read(with_row.id)[1:]
    (other,) = without._desk.store.read(without.id)[1:]
    assert entry.body.keys() == other.body.keys()
    assert {k: v for k, v in entry.body.items() if k not in ("symbol", "event", "published", "at")} == {
        k: v for k, v in other.body.items() if k not in ("symbol", "event", "published", "at")
    }
    assert entry.body["symbol"] == "raised"
    event = {"event": "guessed", "origin": "asker", "surprise": True, "side": 0, "nats": pytest.approx(np.log(2))}
    assert entry.body["event"] == event
    assert entry.body["published"] == [0.5, 0.0, 1.0, "surprise"]
    assert with_row.meter.surprises == 1
    with_row.verify()


@pytest.mark.parametrize("how", ["raise", "chained", "short"])
def test_the_traceback_holds_no_row(how: str) -> None:
    error = failure(Holdout(*rows(True), ledger=None), how)
    shown = "".join(traceback.format_exception(error))
    assert str(TELLTALE) not in shown
    assert "found" not in shown
    frame: types.TracebackType | None = error.__traceback__
    seen = 0
    while frame is not None:
        parts = Path(frame.tb_frame.f_code.co_filename).parts
        if "unworn" in parts and "tests" not in parts:
            seen += 1
            for name, value in frame.tb_frame.f_locals.items():
                assert not isinstance(value, np.ndarray | pd.DataFrame), name
                assert str(TELLTALE) not in repr(value), name
        frame = frame.tb_next
    assert seen >= 2


@pytest.mark.parametrize("mechanism", [GuessAndCheck(), Rounding()])
def test_a_function_that_fails_on_a_row(mechanism: Any) -> None:
    holdout = Holdout(*rows(True), mechanism=mechanism, ledger=None)

    def pry(columns: Any) -> Any:
        if (columns["x0"] == TELLTALE).any():
            raise LookupError(str(columns["x0"][17]))
        return columns["x1"]

    with pytest.raises(Failed) as caught:
        holdout.ask(function(pry, range=(0, 1), name="pry"))
    assert str(caught.value) == Failed.MESSAGE
    assert holdout.meter.asked == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, 7.0])
@pytest.mark.parametrize(("metric", "options", "worst"), [("accuracy", {}, 0), ("mse", {"range": (0, 1)}, 1)])
def test_one_bad_prediction_takes_the_worst_value(bad: float, metric: str, options: Any, worst: int) -> None:
    """And no more than that: one row of four hundred moves the value by 1/400, inside any cell."""

    class OneBad:
        def predict(self, X: Any) -> Any:
            return np.where(X[:, 0] == TELLTALE, bad, (X[:, 1] > 0.5).astype(float))

    holdout = Holdout(*rows(True), ledger=None)
    query = holdout._metric(metric, OneBad(), "one bad", options)
    value = float(holdout._sample.means([query])[0])
    assert value == pytest.approx(1 - 1 / ROWS if worst == 0 else 1 / ROWS)
    answer = holdout.score(OneBad(), float(1 - worst), metric=metric, name="one bad", **options)
    assert answer.source == "guess"
    assert holdout.meter.surprises == 0


def test_a_model_cannot_change_the_rows() -> None:
    X, y = rows(True)

    class Spoiling:
        def predict(self, X: Any) -> Any:
            X[:, 0] = 1.0
            return np.zeros(len(X))

    holdout = Holdout(X, y, ledger=None)
    before = holdout._sample.means([mean(col("x0").fill(0), range=(0, 1))])[0]
    with pytest.raises(Failed):
        holdout.score(Spoiling(), name="spoiling")
    assert holdout._sample.means([mean(col("x0").fill(0), range=(0, 1))])[0] == before
    framed = Holdout(pd.DataFrame(X, columns=["a", "b"]), y, ledger=None)

    class SpoilingFrame:
        def predict(self, X: Any) -> Any:
            X["a"] = 1.0
            return np.zeros(len(X))

    framed.score(SpoilingFrame(), 0.5, name="spoiling")
    assert framed._sample.means([mean(col("a").fill(0), range=(0, 1))])[0] == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X.replace_column(0, -X["a"]),
        lambda X: X.drop_in_place("a"),
        lambda X: X.insert_column(0, pl.Series("z", [0] * len(X))),
        lambda X: setattr(X, "columns", ["b", "a"]),
    ],
    ids=["replace", "drop", "insert", "rename"],
)
@pytest.mark.parametrize("part", [0, 0.25])
def test_a_model_cannot_change_a_frame_of_polars(spoil: Any, part: float) -> None:
    """Polars changes frames in place: the next model would be shown what this one left of them."""
    a = np.random.default_rng(0).normal(size=ROWS)
    holdout = Holdout(pl.DataFrame({"a": a, "b": -a}), (a > 0).astype(int), practice=part, ledger=None)

    class Spoiling:
        def predict(self, X: Any) -> Any:
            spoil(X)
            return np.zeros(len(X))

    class Honest:
        def predict(self, X: Any) -> Any:
            return X["a"].to_numpy() > 0

    holdout.score(Spoiling(), 0.5, name="spoiling")
    assert holdout.score(Honest(), 1.0, name="honest").source == "guess"
    if part:
        holdout.practice.score(Spoiling(), name="spoiling")
        assert holdout.practice.score(Honest(), name="honest").value == 1.0


# ---------------------------------------------------------------- searching what leaves


@pytest.fixture
def kept(tmp_path: Path) -> Holdout:
    X, y = rows(True)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "who": [SECRET] + ["somebody"] * (ROWS - 1)})
    frame.loc[17, "a"] = TELLTALE
    holdout = Holdout(frame, pd.Series(y, name="y"), ledger=tmp_path / "ledger.db", name="kept")
    holdout.ask(share(col("a") > 0.5), 0.5)
    holdout.ask(mean(col("a").fill(0), range=(0, 1)), 0.9)
    holdout.ask(mean(col("b").fill(0), range=(0, 1)))
    holdout.ask(share(col("who") == "nobody"), 0.0)
    holdout.score(y, 1.0)
    holdout.sharpen(holdout.ask(mean(col("a").fill(0.0), range=(0, 2)), 0.5))
    with pytest.raises(Failed):
        holdout.ask(function(lambda columns: columns["a"][17] / 0 + columns["who"], range=(0, 1), name="fails"))
    return holdout


def needles(holdout: Holdout) -> list[bytes]:
    key = holdout._desk.key
    assert key is not None
    column = holdout._sample.columns["a"].values
    exact = [
        float(holdout._sample.means([question])[0])
        for question in (mean(col("a").fill(0), range=(0, 1)), mean(col("b").fill(0), range=(0, 1)))
    ]
    secret = bytes.fromhex(key.hex())
    derived = [key.derive(label) for label in ("unworn/noise", "unworn/rows", "unworn/parts", "unworn/ledger/ed25519")]
    return [
        str(TELLTALE).encode(),
        str(TELLTALE)[:9].encode(),
        np.float64(TELLTALE).tobytes(),
        SECRET.encode(),
        column[:4].tobytes(),
        *(repr(value)[:9].encode() for value in exact),
        *(np.float64(value).tobytes() for value in exact),
        secret,
        secret.hex().encode(),
        *derived,
        *(each.hex().encode() for each in derived),
    ]


def test_nothing_that_leaves_holds_a_row_the_key_or_an_exact_value(kept: Holdout, tmp_path: Path) -> None:
    answers = [kept._desk.answer(index) for index in range(1, kept.meter.asked + 1)]
    leaving: dict[str, bytes] = {
        "repr": repr(kept).encode(),
        "str": str(kept).encode(),
        "html": kept._repr_html_().encode(),
        "pickle": pickle.dumps(kept),
        "scorer": pickle.dumps(kept.scorer("accuracy")),
        "frame": kept.answers.to_json().encode(),
        "terms": repr(kept.terms).encode(),
        "sample": repr(kept._sample).encode(),
        "desk": repr(vars(kept._desk)["transcript"]).encode(),
        "answers": pickle.dumps(answers),
        "cards": json.dumps([answer.certificate.to_json() for answer in answers]).encode(),
        "pages": "".join(answer._repr_html_() + answer.certificate._repr_html_() for answer in answers).encode(),
        "shown": "".join(map(str, answers)).encode() + repr(answers).encode(),
        "wal": (tmp_path / "ledger.db-wal").read_bytes(),
        "file": (tmp_path / "ledger.db").read_bytes(),
    }
    assert len(leaving["wal"]) > 10_000
    for needle in needles(kept):
        for where, data in leaving.items():
            assert needle not in data, (where, needle)
    kept.close()
    assert not any(needle in (tmp_path / "ledger.db").read_bytes() for needle in needles(kept))
    (key,) = (tmp_path / "ledger.db.keys").glob("*.key")
    assert key.stat().st_mode & 0o077 == 0
    raw = sqlite3.connect(tmp_path / "ledger.db")
    bodies = "".join(body for (body,) in raw.execute("SELECT body FROM entries"))
    raw.close()
    assert not any(needle.decode("latin1") in bodies for needle in needles(kept))


ERRORS = {
    "column": lambda h: h.ask(share(col("nope") > 1)),
    "length": lambda h: h.score([1, 0]),
    "guess": lambda h: h.ask(share(col("a") > 0.2), 7),
    "sql": lambda h: h.ask("a > "),
    "terms": lambda h: Holdout(*rows(True), ledger=h._desk.store, confidence=1.5),
    "metric": lambda h: h.score([1] * ROWS, metric="average_precision"),
    "by": lambda h: h.ask(share(col("a") > 0.2), 0.5, by=object()),
    "model": lambda h: h.score(object()),
}


@pytest.mark.parametrize("what", ERRORS)
def test_no_error_holds_a_row_or_the_key(kept: Holdout, what: str) -> None:
    with pytest.raises(Exception) as caught:
        ERRORS[what](kept)
    shown = "".join(traceback.format_exception(caught.value)).encode() + pickle.dumps(caught.value)
    assert not any(needle in shown for needle in needles(kept))
    kept.close()


def test_agreement_shows_the_guess_itself_and_no_more() -> None:
    """Rows that differ, and agree: the answers are the same to the last bit."""
    shown = []
    for present in (True, False):
        holdout = Holdout(*rows(present), ledger=None)
        answer = holdout.ask(mean(col("x0").fill(0), range=(0, 1)), 0.5)
        shown.append((answer.value, answer.low, answer.high, answer.source, answer.certificate.record.offer))
    assert shown[0] == shown[1]
    assert shown[0][0] == 0.5


@pytest.mark.filterwarnings("error")
def test_arithmetic_on_rows_warns_of_nothing() -> None:
    """A division by zero in some row must not show as a warning."""
    holdout = Holdout({"a": np.array([0.0, 1.0, 1e308, np.nan, -1.0] * 100)}, ledger=None)
    holdout.ask(share((col("a") * 1e308 / (col("a") - 1)).fill(0) > 2), 0.5)
    holdout.ask(mean((1 / col("a")).fill(0), range=(0, 1)), 0.5)
    assert holdout.meter.asked == 2


@pytest.mark.parametrize("signs", [(1, -1), (-1, -1), (0, 0)])
def test_a_sum_that_no_float_may_hold_is_refused_whatever_the_rows(signs: tuple[int, int]) -> None:
    """Were it tried, rows would decide whether it comes out infinite, no number, or right."""
    holdout = Holdout({"x": np.repeat(8e307 * np.array(signs), 140_000)}, ledger=None)
    for questions in (
        [mean(col("x").fill(0), range=(-8e307, 8e307))],
        [mean((col("x") * 2).fill(0), range=(0, 1e308)), share(col("x") > 0)],
    ):
        with pytest.raises(Unaskable, match="too short or too long"):
            holdout.ask_many(questions)
    assert holdout.meter.asked == 0
    assert holdout.ask(mean(col("x").fill(0), range=(-1e302, 1e302))).index == 1
