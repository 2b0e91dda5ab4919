"""Practice rows are free to look at, so nothing that looks at them may come upon a sealed row."""

from __future__ import annotations

import json
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from tests.holdout.practice.support import ROWS, Sign, people, places, practice_rows, split
from unworn import Holdout, function
from unworn.cli import app
from unworn.errors import PracticeRows, Unaskable
from unworn.rows import Sample
from unworn.rows.memory import row_split

FORMS: dict[str, Any] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.table({name: pa.array(frame[name]) for name in frame}),
    "dictionary": lambda frame: {name: frame[name].to_numpy() for name in frame},
}


class Spy:
    """Keeps whatever it is shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def predict(self, X: Any) -> Any:
        self.seen.append(X)
        return np.zeros(len(X["a"]), dtype=int)


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The same split for all samples: without this other values, under another key, fall into other parts."""
    order = np.random.default_rng(1).permutation(ROWS)
    monkeypatch.setattr("unworn.rows.memory.sample.shuffle_units", lambda sample, secret, purpose: order)
    return order


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_practice_values_do_not_move_with_sealed_rows(form: Any, fixed: np.ndarray) -> None:
    frame, sealed = people(), fixed[ROWS // 4 :]
    changed = frame.copy()
    changed.loc[sealed, ["a", "y"]] = [0.5, 1]
    changed.loc[sealed, "word"] = [f"secret {place}" for place in range(len(sealed))]
    told = []
    for each in (frame, changed):
        holdout, spy = Holdout(form(each), "y", practice=0.25, ledger=None), Spy()
        assert sorted(places(holdout._sample)) == sorted(sealed.tolist())
        assert practice_rows(holdout).rows == ROWS // 4
        told.append(
            (
                holdout.practice.score(Sign()),
                holdout.practice.score(frame["y"].to_numpy()),
                holdout.practice.compare(Sign(), Sign(0.3)),
                holdout.practice.ask("a > 0"),
                holdout.practice.ask("word = 'w5-0'"),
                holdout.practice.score(Sign(), metric="balanced_accuracy"),
                holdout.practice.score(spy, name="spy"),
                holdout.quote("a > 0").guess,
                json.dumps(
                    pd.DataFrame(
                        dict(
                            spy.seen[0].items()
                            if isinstance(spy.seen[0], dict)
                            else zip(["a", "word", "team"], np.asarray(spy.seen[0]).T, strict=True)
                        )
                    ).to_dict("list"),
                    default=str,
                ),
            )
        )
    assert told[0] == told[1]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_code_that_talks_sees_practice_rows_only(form: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """What code says over sealed rows is withheld; what it says over practice rows is shown, and is of those alone."""
    frame = people().assign(word=[f"word{place:04}" for place in range(ROWS)])
    frame["kind"] = frame["word"].astype("category")
    holdout = Holdout(form(frame), "y", practice=0.25, ledger=None)
    aside, sealed = split(holdout)

    class Talking:
        def predict(self, X: Any) -> Any:
            words = X["word"].to_pylist() if hasattr(X["word"], "to_pylist") else list(X["word"])
            print(words, getattr(getattr(X["kind"], "dtype", None), "categories", ""), X["kind"])
            warnings.warn(f"warned of {words}", stacklevel=1)
            return np.zeros(len(words), dtype=int)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        holdout.practice.score(Talking(), name="talk")
        holdout.score(Talking(), guess=0.5, name="talk")
    told = capfd.readouterr().out + "".join(str(each.message) for each in caught)
    assert all(f"word{place:04}" in told for place in aside)
    assert not any(f"word{place:04}" in told for place in sealed)


def test_errors_are_shown_in_full_and_come_from_practice_rows() -> None:
    frame = people().assign(word=[f"word{place:04}" for place in range(ROWS)])
    holdout = Holdout(frame, "y", practice=0.25, ledger=None)
    _, sealed = split(holdout)

    class Failing:
        def predict(self, X: Any) -> Any:
            raise ValueError(" ".join(X["word"]))

    failing = function(lambda columns: 1 / 0 if len(columns["a"]) > 5 else columns["a"] > 0, binary=True, name="f")
    for ask in (
        lambda: holdout.practice.score(Failing(), name="one"),
        lambda: holdout.score(Failing(), guess=0.5, name="two"),
        lambda: holdout.compare(Failing(), Sign()),
        lambda: holdout.ask(failing, 0.5),
        lambda: holdout.test(failing, above=0.2),
        lambda: holdout.quote(failing),
    ):
        with pytest.raises(Unaskable, match="cannot be asked") as caught:
            ask()
        told = "".join(traceback.format_exception(caught.value))
        assert not any(f"word{place:04}" in told for place in sealed)
    assert holdout.meter.asked == 0


def test_features_share_no_memory_with_the_sealed_rows() -> None:
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    holdout = Holdout(X, (X[:, 0] > 0).astype(int), practice=0.25, ledger=None)
    shown = practice_rows(holdout).features
    assert shown.base is None or len(shown.base) == len(shown)
    assert not np.shares_memory(shown, X)
    assert not np.shares_memory(shown, holdout._sample.features)
    for column in practice_rows(holdout).columns.values():
        assert len(column.values) == ROWS // 4
        assert column.vocabulary is None


@pytest.mark.parametrize("rows", ["frame", "table"])
def test_categories_of_sealed_rows_are_not_told(rows: str) -> None:
    frame = people().assign(kind=[f"kind{place:04}" for place in range(ROWS)])
    if rows == "frame":
        data: Any = frame.assign(kind=frame["kind"].astype("category"))
    else:
        data = pa.table({name: pa.array(frame[name]) for name in frame})
        data = data.set_column(data.column_names.index("kind"), "kind", data["kind"].dictionary_encode())
    holdout = Holdout(data, "y", practice=0.25, ledger=None)
    aside, _ = split(holdout)
    kind = practice_rows(holdout).features["kind"]
    words = list(kind.cat.categories) if rows == "frame" else kind.combine_chunks().dictionary.to_pylist()
    assert sorted(words) == sorted(f"kind{place:04}" for place in aside)
    kept = holdout._sample.features["kind"]  # what is withheld stays as it came: a model may go by its codes
    assert rows == "table" or len(kept.cat.categories) == ROWS


def test_the_split_does_not_depend_on_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the rows hold, the units are put in an order by a permutation that has seen none of them."""
    asked: list[int] = []
    real = row_split.Stream.permutation

    def noted(stream: Any, size: int) -> Any:
        asked.append(size)
        return real(stream, size)

    monkeypatch.setattr(row_split.Stream, "permutation", noted)
    secret = b"k" * 32
    orders = []
    for frame in (people(), people(seed=1)):
        sample = Sample.read(frame, "y")
        order = row_split.shuffle_units(sample, secret, "uses")
        canonical = row_split.canonical_order(sample, secret)
        orders.append(np.argsort(canonical)[order])  # what was added to the canonical order
    assert asked == [ROWS, ROWS]
    assert np.array_equal(*orders)


def test_a_row_in_both_parts_needs_no_word() -> None:
    frame = pd.DataFrame({"a": np.arange(ROWS) % 2, "y": np.arange(ROWS) % 2})
    holdout = Holdout(frame, "y", practice=0.25, ledger=None)
    assert holdout.practice.ask("a > 0").value == pytest.approx(0.5, abs=0.2)


def test_a_price_before_sealing_tells_nothing_of_rows(tmp_path: Path) -> None:
    """Each rehearsal draws a key of its own: were its practice rows shown, all rows could be seen bit by bit."""
    people().to_csv(tmp_path / "people.csv", index=False)
    command = ["ask", str(tmp_path / "people.csv"), "a > 0", "--target", "y", "--quote", "--json"]
    told = {CliRunner().invoke(app, command).stdout for _ in range(3)}
    assert len(told) == 1
    assert json.loads(told.pop())["quote"]["guess"] is None
    assert CliRunner().invoke(app, command[:-2]).exit_code == 0
    assert (
        json.loads(CliRunner().invoke(app, [*command[:2], "a > 1", *command[3:]]).stdout)["quote"]["guess"] is not None
    )


def test_sealed_answers_hold_after_fitting_the_practice_rows() -> None:
    """Whoever fits the practice rows without end is contradicted by the sealed ones: the practice value wears out."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 2_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PracticeRows)
        holdout = Holdout(None, labels, ledger=None)
    guesses = rng.integers(0, 2, (800, 2_000))
    votes = np.zeros(2_000)
    for guess in guesses:
        votes += (holdout.practice.score(guess).value - 0.5) * (2 * guess - 1)
    fitted = (votes > 0).astype(int)
    assert holdout.practice.score(fitted).value > 0.7  # on 500 coins; the truth is .5
    answer = holdout.score(fitted)
    assert answer.source == "surprise"
    assert answer.low <= 0.5 <= answer.high
