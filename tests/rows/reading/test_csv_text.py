"""CSV files are the same rows whether a frame library reads them or the core alone."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.rows.reading.csv_text import read_csv_text
from unworn.rows.reading.frame_reading import Table
from unworn.rows.reading.row_files import read_path

_COLUMNS = {
    "whole": ["1", "", "-3", "00012"],
    "large": ["9007199254740993", "NA", "-9007199254740993", "0"],
    "beyond": ["9223372036854775808", "1", "2", "3"],
    "spaced": [" 5", "6 ", "7", "8"],
    "real": ["1.5", "nan", "-inf", "+2e-3"],
    "truth": ["true", "FALSE", "", "True"],
    "digits": ["1", "0", "1", "0"],
    "day": ["2024-01-31", "", "1969-12-31", "2000-02-29"],
    "moment": ["2024-01-31 10:00:00", "2024-01-31", "", "1960-05-05T23:59:59.123456"],
    "zoned": ["2024-01-31 10:00:00Z", "2024-01-31 10:00:00+01:00", "", "2024-01-31 10:00:00-0530"],
    "impossible": ["2024-02-30", "2024-01-01", "", "2024-01-02"],
    "text": ["a,b", 'say "x"', "", "two\nlines"],
    "mixed": ["1", "x", "NA", ""],
    "nothing": ["", "NULL", "n/a", ""],
    "clock": ["10:00:00", "11:30:00", "", "23:59:59"],
}


def _write(path: Path, columns: dict[str, list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


def _told(table: Table) -> dict[str, object]:
    told: dict[str, object] = {"left out": sorted(table.left_out), "rows": table.rows}
    for name, read in table.columns.items():
        column = read.column
        values = column.values if column.vocabulary is None else column.vocabulary[column.values]
        missing = np.zeros(len(values), bool) if column.missing is None else column.missing
        told[name] = (column.kind, read.nullable, missing.tolist(), values[~missing].tolist())
    return told


def test_every_kind_of_column_is_read_as_arrow_reads_it(tmp_path: Path) -> None:
    path = _write(tmp_path / "kinds.csv", _COLUMNS)
    assert _told(read_csv_text(path)) == _told(read_path(path))


_CELLS = st.one_of(
    st.sampled_from(sorted({cell for cells in _COLUMNS.values() for cell in cells})),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
    st.datetimes().map(str),
    st.dates().map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=4),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.lists(_CELLS, min_size=3, max_size=3), min_size=1, max_size=4))
def test_any_column_is_read_as_arrow_reads_it(
    tmp_path_factory: pytest.TempPathFactory, columns: list[list[str]]
) -> None:
    named = {"id": ["1", "2", "3"], **{f"c{place}": cells for place, cells in enumerate(columns)}}
    path = _write(tmp_path_factory.mktemp("csv") / "some.csv", named)
    assert _told(read_csv_text(path)) == _told(read_path(path))


def test_a_model_is_shown_gaps_as_gaps(tmp_path: Path) -> None:
    path = _write(tmp_path / "gaps.csv", {"whole": ["1", "", "3"], "day": ["2024-01-31", "", "2024-02-01"]})
    shown = read_csv_text(path).native
    assert np.isnan(shown["whole"]).tolist() == np.isnat(shown["day"]).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n", "has no rows"),
        ("", "has no rows"),
        ("a,a\n1,2\n", "appear twice: a"),
        ("a,b\n1,secret\n2\n", "not every line"),
        ('a,b\n1,"secret\n', "could not be read as csv"),
    ],
)
def test_what_is_no_table_is_refused_without_quoting_it(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(Unaskable, match=reason) as refused:
        read_csv_text(path)
    assert "secret" not in str(refused.value)
