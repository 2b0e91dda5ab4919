"""Importing: any file in, one Arrow file out, and the same rows to ask."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from tests.cli.conftest import Run, people
from unworn.rows import Sample, digests
from unworn.rows.mapped.mapped_rows import open_mapped

SECRET = bytes(32)


def source(folder: Path, form: str) -> Path:
    path = folder / f"people.{form}"
    table = pa.Table.from_pandas(people(), preserve_index=False)
    if form == "csv":
        people().to_csv(path, index=False)
    elif form == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=300)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    return path


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "feather"])
def test_the_rows_are_the_same_as_those_of_the_file(run: Run, tmp_path: Path, form: str) -> None:
    data, out = source(tmp_path, form), tmp_path / "holdout.arrow"
    told = json.loads(run("import", str(data), str(out), "--json").stdout)
    assert (told["rows"], told["columns"], told["left_out"]) == (2_000, 4, [])
    assert told["bytes"] == out.stat().st_size
    assert open_mapped(out) is not None
    assert digests(Sample.read(out), SECRET) == digests(Sample.read(data), SECRET)


def test_an_imported_file_keeps_the_ledger_of_its_source(run: Run, data: Path, ledger: str, tmp_path: Path) -> None:
    out = tmp_path / "holdout.arrow"
    assert run("ask", str(data), "age > 40", "--guess", "0.6").exit_code == 0
    assert run("import", str(data), str(out)).exit_code == 0
    told = json.loads(run("ask", str(out), "age > 40", "--ledger", ledger, "--json").stdout)
    assert (told["holdout"], told["repeat"], told["index"]) == ("people", True, 1)


def test_what_is_there_is_kept_unless_forced(run: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "holdout.arrow"
    out.write_bytes(b"mine")
    refused = run("import", str(data), str(out))
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert out.read_bytes() == b"mine"
    assert run("import", str(data), str(out), "--force").exit_code == 0
    assert "2,000 rows, 4 columns" in run("import", str(data), str(out), "--force").stdout


def test_nothing_is_left_behind_when_importing_fails(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    result = run("import", str(broken), str(tmp_path / "out.arrow"))
    assert result.exit_code == 2
    assert "could not be read as parquet" in result.stderr
    table = pa.table({"age": [1, 2, 3]})
    long = tmp_path / "long.parquet"
    pyarrow.parquet.write_table(table, long)
    long.write_bytes(long.read_bytes()[:8] + bytes(30) + long.read_bytes()[38:])
    assert run("import", str(long), str(tmp_path / "out.arrow")).exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.parquet", "long.parquet"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("people.csv", "out.parquet"), "out.arrow"),
        (("people.csv", "nowhere/out.arrow"), "no folder"),
        (("missing.csv", "out.arrow"), "no file"),
        (("people.txt", "out.arrow"), "give one of .parquet"),
    ],
)
def test_mistakes_are_named(run: Run, data: Path, arguments: tuple[str, str], says: str) -> None:
    result = run("import", *(str(data.parent / name) for name in arguments))
    assert result.exit_code == 2
    assert says in result.stderr


def test_columns_without_a_kind_are_left_out_and_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mixed.parquet"
    pyarrow.parquet.write_table(pa.table({"age": [1, 2], "tags": [["a"], ["b"]]}), path)
    result = run("import", str(path), str(tmp_path / "out.arrow"))
    assert result.exit_code == 0
    assert "tags" in result.stderr
    assert Sample.read(tmp_path / "out.arrow").left_out == Sample.read(path).left_out == ("tags",)


def test_types_of_a_csv_file_are_those_of_all_its_rows(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    rows = [f"{row},{row},{'true' if row % 2 else 'false'},,2020-01-01" for row in range(150_000)]
    rows[-1] = "0,0.5,maybe,x,2020-01-01 10:00:00"
    path.write_text("a,b,c,d,e\n" + "\n".join(rows) + "\n")
    assert path.stat().st_size > 2**20  # more than one block, so that the first does not know the last
    assert run("import", str(path), str(tmp_path / "out.arrow")).exit_code == 0
    assert digests(Sample.read(tmp_path / "out.arrow"), SECRET) == digests(Sample.read(path), SECRET)


TEXTS = {
    "string_view": pa.string_view(),
    "large_string": pa.large_string(),
    "coded": pa.dictionary(pa.int8(), pa.string()),
    "coded, large": pa.dictionary(pa.int64(), pa.large_string()),
    "coded, unsigned": pa.dictionary(pa.uint16(), pa.string()),
}


@pytest.mark.parametrize("form", ["arrow", "parquet"])
@pytest.mark.parametrize("kind", TEXTS)
def test_text_of_every_form_is_the_same_text(run: Run, tmp_path: Path, kind: str, form: str) -> None:
    words = ["a word that is too long to stand in place", "short", None, "", "ü"] * 400
    plain = pa.table({"word": words, "age": list(range(2_000))})
    column = pa.array(words).dictionary_encode().cast(TEXTS[kind]) if "coded" in kind else pa.array(words, TEXTS[kind])
    table, path = plain.set_column(0, "word", column), tmp_path / f"words.{form}"
    if form == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=300)
    else:
        pyarrow.parquet.write_table(table, path, row_group_size=300)
    assert run("import", str(path), str(tmp_path / "out.arrow")).exit_code == 0
    assert digests(Sample.read(tmp_path / "out.arrow"), SECRET) == digests(Sample.read(plain), SECRET)
    told = json.loads(run("ask", str(tmp_path / "out.arrow"), "word = 'short'", "--json").stdout)
    assert told["low"] < 0.2 < told["high"]


def test_an_arrow_file_that_lies_about_its_columns_is_refused(run: Run, tmp_path: Path) -> None:
    """Codes beyond the words there are: Arrow itself would read beside its memory."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 77], pa.int32()), pa.array(["a", "b"]), safe=False)
    path = tmp_path / "lies.arrow"
    with pa.ipc.new_file(path, pa.schema([("word", codes.type)])) as writer:
        writer.write_batch(pa.record_batch([codes], ["word"]))
    for command in (("import", str(path), str(tmp_path / "out.arrow")), ("ask", str(path), "word = 'a'")):
        refused = run(*command)
        assert refused.exit_code == 2
        assert "could not be read" in refused.stderr
    assert sorted(found.name for found in tmp_path.iterdir()) == ["lies.arrow"]
