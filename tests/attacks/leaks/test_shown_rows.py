"""What travels with picked rows is often about all of them: practice rows are shown as if no others had been read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.holdout.practice.support import ROWS, places, practice_rows, split
from unworn import Holdout

LABELS = np.arange(ROWS) % 2

WORDS = [f"word{place:04}" for place in range(ROWS)]


def coded(words: list[str] = WORDS) -> Any:
    return pa.array(words).dictionary_encode()


def noted(dtype: str = "i4") -> np.ndarray:
    """As h5py notes the names of an enumeration."""
    return np.arange(ROWS).astype(np.dtype(dtype, metadata={"names": WORDS}))


def table(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": np.linspace(-1, 1, ROWS), **more})


def arrow_backed(values: Any) -> Any:
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([values]))


def lists(values: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array(range(ROWS + 1), pa.int32()), values)


def structs(values: Any) -> Any:
    return pa.StructArray.from_arrays([values], ["inner"])


def with_notes() -> pd.DataFrame:
    frame = table()
    frame.attrs = {"source": WORDS}
    return frame


class Subclass(pd.DataFrame):
    _metadata = ("note",)

    @property
    def _constructor(self) -> type:
        return Subclass


def subclass() -> pd.DataFrame:
    frame = Subclass(table(k=pd.Categorical(WORDS)))
    frame.note = WORDS
    return frame


POLARS = pl.DataFrame({"a": np.linspace(-1, 1, ROWS), "k": WORDS})
ENUM = pl.col("k").cast(pl.Enum(WORDS))
VIEWS = list(np.array(WORDS)[:, None])
"""Cells that are views of one array, as of a matrix kept row by row in one column."""

ABOUT_ALL: dict[str, tuple[Any, Any]] = {
    "category": (lambda: table(k=pd.Categorical(WORDS)), lambda X: X["k"].cat.categories),
    "category in a subclass": (subclass, lambda X: [*X["k"].cat.categories, *(getattr(X, "note", None) or [])]),
    "index of categories": (lambda: table().set_axis(pd.CategoricalIndex(WORDS)), lambda X: X.index.categories),
    "levels": (
        lambda: table().set_axis(pd.MultiIndex.from_arrays([WORDS, range(ROWS)])),
        lambda X: X.index.levels[0],
    ),
    "levels of categories": (
        lambda: table().set_axis(pd.MultiIndex.from_arrays([pd.Categorical(WORDS), range(ROWS)])),
        lambda X: X.index.levels[0].categories,
    ),
    "coded index": (
        lambda: table().set_axis(pd.Index(arrow_backed(coded()))),
        lambda X: pa.chunked_array(X.index.array.__arrow_array__()).combine_chunks().dictionary,
    ),
    "notes on a frame": (with_notes, lambda X: X.attrs.values()),
    "notes on a dtype": (lambda: table(k=noted()), lambda X: (X["k"].dtype.metadata or {}).values()),
    "notes on an array's dtype": (
        lambda: {"a": np.linspace(-1, 1, ROWS), "k": noted()},
        lambda X: (X["k"].dtype.metadata or {}).values(),
    ),
    "notes on a matrix's dtype": (lambda: noted("f8").reshape(-1, 1), lambda X: (X.dtype.metadata or {}).values()),
    "coded in pandas": (
        lambda: table(k=arrow_backed(coded())),
        lambda X: X["k"].array.__arrow_array__().combine_chunks().dictionary,
    ),
    "coded in structs in pandas": (
        lambda: table(k=arrow_backed(structs(coded()))),
        lambda X: X["k"].array.__arrow_array__().combine_chunks().field(0).dictionary,
    ),
    "coded in structs": (
        lambda: pa.table({"a": np.linspace(-1, 1, ROWS), "k": structs(coded())}),
        lambda X: X["k"].combine_chunks().field(0).dictionary,
    ),
    "coded in lists": (
        lambda: pa.table({"a": np.linspace(-1, 1, ROWS), "k": lists(coded())}),
        lambda X: X["k"].combine_chunks().values.dictionary,
    ),
    "Arrow's notes": (
        lambda: pa.table({"a": np.linspace(-1, 1, ROWS)}).replace_schema_metadata({"words": str(WORDS)}),
        lambda X: (X.schema.metadata or {}).values(),
    ),
    "Enum": (lambda: POLARS.with_columns(ENUM), lambda X: X["k"].dtype.categories.to_list()),
    "Enum in structs": (
        lambda: POLARS.select("a", k=pl.struct(ENUM)),
        lambda X: X["k"].struct.field("k").dtype.categories.to_list(),
    ),
    "Enum in lists": (
        lambda: POLARS.select("a", k=pl.concat_list(ENUM)),
        lambda X: X["k"].dtype.inner.categories.to_list(),
    ),
    "text in Polars": (
        lambda: POLARS.with_columns(pl.col("k") + " and long"),
        lambda X: [bytes(part) for part in X["k"].to_arrow(compat_level=pl.CompatLevel.newest()).buffers()[2:] if part],
    ),
    "views in cells": (lambda: table(k=VIEWS), lambda X: [cell.base for cell in X["k"]]),
    "views in an array's cells": (
        lambda: {"a": np.linspace(-1, 1, ROWS), "k": pd.Series(VIEWS)},
        lambda X: [cell.base for cell in X["k"]],
    ),
}


@pytest.mark.parametrize(("data", "tell"), ABOUT_ALL.values(), ids=ABOUT_ALL)
def test_nothing_travels_with_practice_rows_that_is_about_all_rows(data: Any, tell: Any) -> None:
    holdout = Holdout(data(), LABELS, practice=0.25, ledger=None)
    told: list[str] = []

    class Telling:
        def predict(self, X: Any) -> Any:
            words = tell(X)
            told.append("" if words is None else str([str(word) for word in words]))
            return np.zeros(len(X if isinstance(X, np.ndarray) else X["a"]), dtype=int)

    holdout.practice.score(Telling(), name="telling")
    assert told
    assert not [place for place in split(holdout)[1] if WORDS[place] in "".join(told)]


def test_the_widest_text_of_all_is_not_told() -> None:
    words = np.array([*WORDS[:-1], "x" * 500])
    for turn in range(60):  # until the long one is sealed, as it is 3 times of 4
        holdout = Holdout({"k": np.roll(words, turn)}, LABELS, practice=0.25, ledger=None)
        if (turn - 1) % ROWS in places(holdout._sample):
            break
    assert practice_rows(holdout).features["k"].dtype.str == "<U8"


FORMS: dict[str, Any] = {
    "arrow in pandas": lambda: table(k=arrow_backed(coded()), n=pd.array([1, None] * (ROWS // 2), dtype="Int64")),
    "pandas": lambda: table(k=pd.Categorical(WORDS, ordered=True), d=pd.date_range("2000", periods=ROWS), v=VIEWS),
    "text and gaps": lambda: table(k=[*WORDS[1:], None], o=pd.Series([*WORDS[1:], None], dtype=object)),
    "arrow": lambda: pa.table({"a": range(ROWS), "k": coded(), "s": structs(coded()), "l": lists(coded())}),
    "polars": lambda: POLARS.select("a", "k", e=ENUM, c=pl.col("k").cast(pl.Categorical), l=pl.concat_list(ENUM, "k")),
    "arrays": lambda: {"a": np.arange(ROWS), "k": np.array(WORDS), "o": pd.Series(VIEWS), "n": noted()},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_is_made_anew_is_the_same_to_look_at(form: Any) -> None:
    """Names, kinds, values and their order: a model finds what it would find in all the rows."""
    data = form()
    holdout = Holdout(data, LABELS, practice=0.25, ledger=None)
    aside, shown = split(holdout)[0], practice_rows(holdout).features
    names = list(data) if isinstance(data, dict) else data.schema.names if isinstance(data, pa.Table) else data.columns
    for name in names:
        whole, part = data[name], shown[name]
        assert [cells(whole)[place] for place in aside] == cells(part)
        if hasattr(part, "type"):
            assert part.type == whole.type
        elif not isinstance(data, dict) and name != "e":
            assert str(part.dtype)[:8] == str(whole.dtype)[:8]


def cells(column: Any) -> list[str]:
    return [str(cell) for cell in (column.to_pylist() if hasattr(column, "to_pylist") else column)]


def test_a_categorical_of_practice_rows_keeps_its_order() -> None:
    data = table(k=pd.Categorical(WORDS, categories=WORDS[::-1], ordered=True))
    holdout = Holdout(data, LABELS, practice=0.25, ledger=None)
    kind = practice_rows(holdout).features["k"].cat
    assert kind.ordered
    assert list(kind.categories) == [WORDS[place] for place in reversed(split(holdout)[0])]
    words = POLARS.select("a", e=pl.col("k").cast(pl.Enum(WORDS[::-1])))
    holdout = Holdout(words, LABELS, practice=0.25, ledger=None)
    assert practice_rows(holdout).features["e"].dtype.categories.to_list() == [
        WORDS[place] for place in reversed(split(holdout)[0])
    ]
