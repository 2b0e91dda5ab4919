"""Asking rows that stay in DuckDB, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Run, people


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    return path


@pytest.fixture
def base(parquet: Path, tmp_path: Path) -> Path:
    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table people as from '{parquet}'")
        connection.execute("create view old as select * from people where age > 40")
        connection.execute("create view chance as select *, random() as x from people")
    return path


def test_a_file_keeps_its_ledger_wherever_its_rows_lie(run: Run, parquet: Path) -> None:
    first = json.loads(run("ask", f"duckdb:{parquet}", "age > 65", "--guess", "0.3", "--json").stdout)
    assert (first["holdout"], first["index"], first["repeat"]) == ("people", 1, False)
    assert first["ledger"] == f"{parquet}.ledger.db"
    second = json.loads(run("ask", str(parquet), "age > 65", "--json").stdout)
    assert (second["index"], second["repeat"], second["value"]) == (1, True, first["value"])
    third = json.loads(run("ask", f"duckdb:{parquet}", "plan = 'basic'", "--json").stdout)
    assert (third["index"], third["repeat"]) == (2, False)
    assert run("verify", "--help").exit_code == 0
    assert "people" in run("ledger", f"{parquet}.ledger.db").stdout


def test_tables_and_views_of_a_database(run: Run, base: Path) -> None:
    for name in ("people", "old"):
        told = json.loads(run("ask", f"duckdb:{base}#{name}", "age > 65", "--json").stdout)
        assert (told["holdout"], told["index"]) == (name, 1)
        assert told["ledger"] == f"{base}.{name}.ledger.db"
        again = json.loads(run("ask", f"duckdb:{base}#{name}", "age > 65", "--json").stdout)
        assert again["repeat"]
    assert run("ask", f"duckdb:{base}#people", "age > 65", "--again").exit_code == 0


def test_several_files_need_a_ledger_by_name(run: Run, parquet: Path, tmp_path: Path) -> None:
    (tmp_path / "people 2.parquet").write_bytes(parquet.read_bytes())
    refused = run("ask", f"duckdb:{tmp_path}/people*.parquet", "age > 65")
    assert refused.exit_code == 2
    assert "--ledger" in refused.stderr
    told = run("ask", f"duckdb:{tmp_path}/people*.parquet", "age > 65", "--ledger", str(tmp_path / "l.db"), "--json")
    assert json.loads(told.stdout)["rows"] == 4_000


@pytest.mark.parametrize(
    ("place", "question", "says"),
    [
        ("duckdb:{here}/nothing.parquet", "age > 1", "there is no file"),
        ("duckdb:", "age > 1", "there is no file"),
        ("duckdb:{here}", "age > 1", "there is no file"),
        ("duckdb:{here}/base.duckdb", "age > 1", "name one table"),
        ("duckdb:{here}/base.duckdb/people", "age > 1", "base.duckdb#table"),
        ("duckdb:{here}/base.duckdb#nobody", "age > 1", "no table or view of this name"),
        ("duckdb:{here}/base.duckdb#chance", "age > 1", "put such rows into a table"),
        ("duckdb:{here}/people.parquet#people", "age > 1", "name one table"),
        ("duckdb:{here}/people.parquet", "nope > 1", "there is no column 'nope'"),
        ("duckdb:{here}/people.parquet", "age >", "SQL"),
        ("duckdb:{here}/people.parquet", "age in (select 1)", ""),
        ("duckdb:{here}/people.parquet; drop table x", "age > 1", "there is no file"),
        ("duckdb:{here}/cut.parquet", "age > 1", "could not open"),
        ("duckdb:{here}/text.txt", "age > 1", "DuckDB reads .parquet"),
    ],
)
def test_mistakes_are_named_and_nothing_is_made(
    run: Run, base: Path, parquet: Path, place: str, question: str, says: str
) -> None:
    here = base.parent
    (here / "cut.parquet").write_bytes(parquet.read_bytes()[:500])
    (here / "text.txt").write_text("age\n1\n")
    before = sorted(path.name for path in here.iterdir())
    result = run("ask", place.format(here=here), question)
    assert result.exit_code == (3 if "#chance" in place else 2)
    assert says in result.stderr
    assert "mistake in unworn" not in result.stderr
    assert sorted(path.name for path in here.iterdir()) == before


def test_what_needs_rows_in_memory_is_said(run: Run, parquet: Path) -> None:
    refused = run("ask", f"duckdb:{parquet}", "age > 65", "--groups", "team")
    assert refused.exit_code == 2
    assert "read into memory" in refused.stderr


def test_a_quote_makes_nothing(run: Run, base: Path) -> None:
    assert "nats" in run("ask", f"duckdb:{base}#people", "age > 65", "--quote").stdout
    assert [path.name for path in base.parent.iterdir() if "ledger" in path.name] == []
