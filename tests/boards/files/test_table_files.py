from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn.boards.board_errors import InvalidSubmission, TooLarge
from unworn.boards.files import table_files
from unworn.boards.files.table_files import FileTable, read_table_file


def read(source: Any, format: str | None = None, max_bytes: int = 10**6, max_rows: int = 1000) -> FileTable:
    return read_table_file(source, format, max_bytes=max_bytes, max_rows=max_rows)


def parquet(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


CSV = b'\xef\xbb\xbfid,prediction\n1,"two\nlines"\n\n2,x\n'


@pytest.mark.parametrize(
    "source",
    [
        b"id,prediction\r\n1,a\r\n2,b\r\n",
        b'{"id": "1", "prediction": "a"}\n\n{"prediction": "b", "id": "2"}\n',
        parquet({"id": ["1", "2"], "prediction": ["a", "b"]}),
        {"id": ["1", "2"], "prediction": np.array(["a", "b"])},
        pa.table({"id": ["1", "2"], "prediction": ["a", "b"]}),
    ],
)
def test_every_form_is_the_same_table(source: Any, tmp_path: Path) -> None:
    table = read(source)
    assert table.rows == 2
    assert {name: list(values) for name, values in table.columns.items()} == {
        "id": ["1", "2"],
        "prediction": ["a", "b"],
    }
    if isinstance(source, bytes):
        path = tmp_path / "preds"
        path.write_bytes(source)
        assert read(path).rows == 2


def test_lines_are_those_an_editor_shows() -> None:
    table = read(CSV)
    assert list(table.columns["prediction"]) == ["two\nlines", "x"]
    assert [table.place(0), table.place(1)] == ["line 2", "line 5"]
    assert read(b'\n{"id": 1}\n\n{"id": 2}').place(1) == "line 4"
    assert read({"id": [1, 2]}).place(1) == "row 2"


@pytest.mark.parametrize(
    ("source", "format", "words"),
    [
        (b"", None, "empty"),
        (b" \n ", None, "empty"),
        (b"id;prediction\n1;2\n", None, "separated by ';'"),
        (b"id\tprediction\n1\t2\n", None, "separated by tabs"),
        (b"id,id\n1,2\n", None, "appears twice"),
        (b"id,prediction\n1,2\n3\n4,5,6\n", None, "line 3: 1 value for 2 columns"),
        (b'id,prediction\n1,"2\n3,4\n', None, "line 2: a quotation mark opens a value here, and none closes it"),
        (b'id,prediction\n1,"2"3\n', None, "line 2: ',' expected"),
        (b"\x1f\x8b\x08\x00", "csv", "this is a gzip file: send it unpacked"),
        (b"PK\x03\x04" + bytes(50), None, "a zip archive, or a spreadsheet: send CSV"),
        ("id,prediction\n".encode("utf-16"), None, "line 1: this is UTF-16 text; save the file as UTF-8"),
        (b"\x80\x04\x95\x05", None, "this is a pickle, which is a program and is never read"),
        (b"id,prediction\n1,\xff\n", None, "line 2: this is not UTF-8"),
        (b'{"id": 1}\n{"id": }\n[1]\n', None, "line 2: this is not JSON"),
        (b'{"id": NaN}\n', None, "line 1: this is not JSON"),
        (b'{"id": 1},{"id": 2}\n', None, "line 1: this is not JSON"),
        (b"{" * 100_000, None, "line 1: this is not JSON"),
        (b'{"id": 1}\n{"id": 2, "prediction": 0, "prediction": 1}\n', None, "line 2: 'prediction' appears twice"),
        (b'[{"id": 1},\n{"id": 2}]', None, "line 1: this is one JSON list"),
        (b"\xef\xbb\xbf\r\n", None, "the file is empty"),
        (b"\xef\xbb\xbf", None, "the file is empty"),
        (b"PAR1 and nothing else", None, "not a Parquet file"),
        (b"id\n1\n", "xlsx", "there is no format 'xlsx'"),
        (3, None, "not as a int"),
        ({"id": [1], "prediction": [1, 2]}, None, "equally long"),
        ({"id": 1, "prediction": 2}, None, "the column 'id' is not a list of values but 1"),
        ({"id": ["a"], "prediction": "1"}, None, "the column 'prediction' is not a list of values"),
        ({"id": ["a"], 1: [0], "1": [1]}, None, "two columns have the same name"),
    ],
)
def test_what_is_no_table_is_told_in_words(source: Any, format: str | None, words: str) -> None:
    with pytest.raises(InvalidSubmission, match=words):
        read(source, format)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSubmission, match="cannot be read"):
        read(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"x" * 10**6 + b"y", "larger than the 1,000,000 bytes"),
        (b"id\n" + b"1\n" * 1001, "more than 1,000 rows"),
        (b'{"id": 1}\n' * 1001, "more than 1,000 rows"),
        (parquet({"id": np.zeros(1001)}), "more than 1,000 rows"),
        ({"id": np.zeros(1001)}, "more than 1,000 rows"),
    ],
)
def test_what_is_too_large_is_refused(source: Any, words: str) -> None:
    with pytest.raises(TooLarge, match=words):
        read(source)


def test_many_columns_are_refused_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge, match="column names alone"):
        read(b"a," * 2**20, max_bytes=2**30)
    monkeypatch.setattr(table_files, "_MOST_CELLS", 1000)
    with pytest.raises(TooLarge, match="more than 1,000 cells"):
        read(b"id" + b",x" * 10 + b"\n" + (b"1" + b",2" * 10 + b"\n") * 100)


def test_a_small_parquet_file_does_not_become_a_large_table() -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 1000), pa.array(["x" * 10**6]))
    bomb = parquet({"id": np.arange(1000), "prediction": words})
    assert len(bomb) < 2**21
    values = read(bomb, max_bytes=2**22).columns["prediction"]
    assert len({id(value) for value in values}) == 1


def test_a_parquet_file_that_unpacks_to_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = parquet({"id": np.arange(1000), "p": np.zeros(1000)})
    monkeypatch.setattr(table_files, "_MOST_UNPACKED", 1000)
    with pytest.raises(TooLarge, match="unpacks to more than 1,000 bytes"):
        read(packed)


@pytest.mark.parametrize("place", [8, 40, 100, 200])
def test_a_broken_parquet_file_is_told_as_one(place: int) -> None:
    sound = parquet({"id": np.arange(1000), "p": np.random.default_rng(0).random(1000)})
    with pytest.raises(InvalidSubmission, match="Parquet"):
        read(sound[:-place])
    for start in (40, len(sound) - place - 8):
        with contextlib.suppress(InvalidSubmission):  # may be read as other numbers, or not at all: nothing else
            assert read(sound[:start] + b"\xff" * place + sound[start + place :]).rows == 1000


def test_missing_and_plain_values_of_parquet() -> None:
    table = read(parquet({"id": [1, 2, None], "p": [0.5, None, 1.0], "t": ["a", None, "b"]}))
    assert table.columns["id"] == [1, 2, None]
    assert table.columns["t"] == ["a", None, "b"]
    assert json.dumps(table.columns["p"]) == "[0.5, null, 1.0]"


def test_a_small_file_of_many_names_is_no_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that stands in one line is a column for all of them: a megabyte could be gigabytes."""
    lines = "\n".join(f'{{"a{row % 500}": 1}}' for row in range(1000)).encode()
    monkeypatch.setattr("unworn.boards.files.table_files._MOST_CELLS", 400_000)
    with pytest.raises(TooLarge, match="500 different names"):
        read(lines)
    monkeypatch.undo()
    wide = "{" + ", ".join(f'"a{place}": 1' for place in range(10_001)) + "}"
    with pytest.raises(TooLarge, match="10,001 different names"):
        read(wide.encode())


def test_many_lines_are_counted_before_they_are_taken_apart() -> None:
    lines = b"{}\n" * 1000
    with pytest.raises(TooLarge, match="more than 10 rows"):
        read(lines, max_rows=10)
    assert read(b'{"a": 1}\n\n' * 10, max_rows=10).rows == 10


def test_parquet_of_lists_is_refused_and_repeated_texts_are_kept_once() -> None:
    ids = list(range(10))
    pairs = pa.array([[("a", 1)]] * 10, pa.map_(pa.string(), pa.int8()))
    for column in (pa.array([[0] * 1000] * 10), pa.array([{"a": 1}] * 10), pairs):
        with pytest.raises(InvalidSubmission, match="one value per row"):
            read(parquet({"id": ids, "prediction": column}))
    for kind in (pa.string(), pa.large_string(), pa.binary()):
        word = b"same" if kind == pa.binary() else "same"
        found = read(parquet({"id": ids, "prediction": pa.array([word, None] * 5, kind)})).columns["prediction"]
        assert list(found) == [word, None] * 5
        assert len({id(each) for each in found}) == 2
