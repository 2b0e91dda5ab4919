"""Files that change or go, between questions and in the middle of one: a clear error, nothing charged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rows.sql.duckdb.duckdb_faults import CHANGES, FIRST, MECHANISMS, SECOND, THIRD, refused
from unworn import Holdout
from unworn.rows.sql.duckdb.duckdb_sources import RelationSource


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_between_questions(people: Path, tmp_path: Path, how: str, kind: str) -> None:
    path, ledger, terms = tmp_path / "people.parquet", str(tmp_path / "ledger.db"), MECHANISMS[kind]
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    told = holdout.ask(FIRST)
    CHANGES[how](path)
    for query in (SECOND, THIRD):
        with refused(holdout):
            holdout.ask(query)
    assert holdout.ask(FIRST).index == told.index  # what was told is still told
    holdout.close()
    path.write_bytes(people.read_bytes())
    again = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    assert [again.ask(SECOND).index, again.ask(THIRD).index] == [2, 3]
    again.verify()
    again.close()


@pytest.mark.parametrize("kind", ["rounded", "drawn"])
@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_in_the_middle_of_a_question(
    people: Path, tmp_path: Path, how: str, kind: str, midway: Callable[[Any], list[str]]
) -> None:
    path, ledger, terms = tmp_path / "people.parquet", str(tmp_path / "ledger.db"), MECHANISMS[kind]
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    happened = midway(lambda: CHANGES[how](path))
    with refused(holdout):
        holdout.ask(THIRD)
    assert happened == ["done"]
    holdout.close()
    path.write_bytes(people.read_bytes())
    again = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    assert again.ask(THIRD).index == 1
    again.close()


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_just_before_a_scan(
    people: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was looked at, and is another when the statement runs."""
    path = tmp_path / "people.parquet"
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=str(tmp_path / "ledger.db"))
    real, looks = RelationSource.stamp, [0]

    def looked(source: RelationSource) -> Any:
        found = real(source)
        looks[0] += 1
        if looks[0] == 1:
            CHANGES[how](path)
        return found

    monkeypatch.setattr(RelationSource, "stamp", looked)
    with refused(holdout):
        holdout.ask(FIRST)
    assert looks[0] >= 1
    holdout.close()


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_samples_are_gathered(
    people: Path, tmp_path: Path, how: str, midway: Callable[[Any], list[str]]
) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=str(tmp_path / "ledger.db"), **MECHANISMS["drawn"])
    happened = midway(lambda: CHANGES[how](path))
    with refused(holdout):
        holdout.gather(4)
    assert happened == ["done"]
    assert holdout._desk.pool is not None
    assert len(holdout._desk.pool) == 0
    holdout.close()
