"""Fresh rows are uniform and independent on every engine; and the test that says so finds what is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql import uniformity
from tests.rows.sql.uniformity import Places, both, faults, inline, pooled
from unworn.rows import Sample
from unworn.rows.contract import Batch
from unworn.rows.mapped.mapped_writing import write_mapped
from unworn.rows.memory import draw_pool, row_draws, row_passes
from unworn.rows.sql import stored_pool, stored_rows
from unworn.rows.sql.duckdb import duckdb_engine as engine
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB
from unworn.rows.sql.stored_rows import Stored

N = 1_000
RUN = 128
TURNS = 200
BORDERS = range(RUN, N, RUN)
WAYS: dict[str, Callable[..., Iterator[Places]]] = {"inline": inline, "pooled": pooled, "both": both}


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows leave engines, and are gone through in memory, in runs so small that draws cross many of their borders."""
    monkeypatch.setattr(engine, "BATCH", RUN)
    monkeypatch.setattr(stored_rows, "BATCH", RUN)
    monkeypatch.setattr(row_passes, "CHUNK", RUN)


def table() -> pa.Table:
    return pa.table({"place": np.arange(N), "other": np.arange(N) % 7})


def memory(folder: Path) -> Any:
    return Sample.read(table())


def mapped(folder: Path) -> Any:
    write_mapped(folder / "rows.arrow", table().schema, N, table().to_batches(max_chunksize=RUN))
    return Sample.read(folder / "rows.arrow")


def parquet(folder: Path) -> Any:
    """Row groups, as a cluster has partitions: their borders lie among those of batches."""
    pq.write_table(table(), folder / "rows.parquet", row_group_size=RUN)
    return Stored.read(f"duckdb:{folder}/rows.parquet")


def files(folder: Path) -> Any:
    for part in range(4):
        pq.write_table(table().slice(part * 250, 250), folder / f"part {part}.parquet")
    return Stored.read(f"duckdb:{folder}/part *.parquet")


def relation(folder: Path) -> Any:
    return Stored.read(duckdb.sql(f"select range as place, range % 7 as other from range({N})"))


ENGINES: dict[str, Callable[[Path], Any]] = {
    "memory": memory,
    "mapped": mapped,
    "parquet": parquet,
    "files": files,
    "relation": relation,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("name", ENGINES)
def test_draws_are_uniform_and_independent(name: str, replace: bool, way: str, tmp_path: Path) -> None:
    """200 draws of 200 of 1,000 rows, some of them across several runs; a false alarm in less than 1 of 1e7 tries."""
    rows = ENGINES[name](tmp_path)
    assert faults(WAYS[way](rows, 200, replace, TURNS), N, replace, [*BORDERS, 250, 500, 750]) == []


@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("name", ["memory", "parquet"])
def test_most_rows_and_single_rows(name: str, replace: bool, tmp_path: Path) -> None:
    rows = ENGINES[name](tmp_path)
    assert faults(pooled(rows, 900, replace, 100), N, replace, BORDERS) == []
    few = Stored.read(duckdb.sql("select range as place from range(5)")) if name == "parquet" else None
    few = few or Sample.read({"place": np.arange(5)})
    assert faults(pooled(few, 1, replace, 2_000), 5, replace) == []
    assert faults(pooled(few, 2, replace, 2_000), 5, replace) == []


# ------------------------------------------------------------------ what is planted is found


def honest(units: int, replace: bool, turns: int, n: int = N) -> list[Places]:
    rng = np.random.default_rng(7)
    return [rng.choice(n, units, replace=replace) for _ in range(turns)]


def spoiled(how: str, replace: bool) -> list[Places]:
    """Draws as an engine with a fault would make them."""
    drawn, rng = honest(200, replace, TURNS), np.random.default_rng(8)
    if how == "every second draw is the one before":
        return [drawn[turn - turn % 2] for turn in range(TURNS)]
    if how == "a draw comes back after five":
        return [drawn[turn % 5] if turn % 10 < 5 else drawn[turn] for turn in range(TURNS)]
    if how == "half of a draw is kept for the next":
        return [np.concatenate([drawn[turn - 1][:100], drawn[turn][:100]]) for turn in range(TURNS)]
    if how == "the draw before, moved by one":
        return [(drawn[turn - turn % 2] + turn % 2) % N for turn in range(TURNS)]
    if how == "off by one where batches begin":
        return [np.where(np.isin(each, BORDERS), each - 1, each) for each in drawn]
    if how == "the last row of a batch is lost":
        return [np.where(np.isin(each + 1, BORDERS), each - 1, each) for each in drawn]
    if how == "the last row of all is lost":
        return [np.where(each == N - 1, 0, each) for each in drawn]
    if how == "a prefix of the sorted":
        return [np.sort(rng.choice(N, 220, replace=replace))[:200] for _ in range(TURNS)]
    if how == "modulo":
        return [rng.integers(0, 2**12, 200) % N for _ in range(TURNS)]
    if how == "blocks":
        return [(rng.integers(0, N) + np.arange(200)) % N for _ in range(TURNS)]
    if how == "whole row groups":
        return [(rng.choice(25, 5, replace=False)[:, None] * 40 + np.arange(40)).ravel() for _ in range(TURNS)]
    if how == "every fifth row from a random one":
        return [(rng.integers(0, 5) + 5 * np.arange(200)) % N for _ in range(TURNS)]
    if how == "slices of one permutation":
        order = rng.permutation(N)
        return [order[turn % 5 * 200 :][:200] for turn in range(TURNS)]
    raise AssertionError(how)


@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
@pytest.mark.parametrize(
    "how",
    [
        "every second draw is the one before",
        "a draw comes back after five",
        "half of a draw is kept for the next",
        "the draw before, moved by one",
        "off by one where batches begin",
        "the last row of a batch is lost",
        "the last row of all is lost",
        "a prefix of the sorted",
        "modulo",
        "blocks",
        "whole row groups",
        "every fifth row from a random one",
        "slices of one permutation",
    ],
)
def test_faulty_draws_are_found(how: str, replace: bool) -> None:
    assert faults(spoiled(how, replace), N, replace, BORDERS)


@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
def test_faultless_draws_pass(replace: bool) -> None:
    for units, turns in ((200, TURNS), (900, 60)):
        assert faults(honest(units, replace, turns), N, replace, BORDERS) == []


def test_what_was_drawn_without_replacement_is_not_taken_for_the_other() -> None:
    assert faults(honest(200, True, TURNS), N, False, BORDERS)
    assert faults(honest(900, False, TURNS), N, True, BORDERS)


class Skewed(DuckDB):
    """Counts the rows of each batch from one place too far."""

    def draw(self, rows: Any, columns: Any) -> Batch:
        return super().draw(np.where(rows % RUN == 0, np.maximum(rows - 1, 0), rows), columns)


def test_an_engine_that_is_off_at_borders_is_found(tmp_path: Path) -> None:
    good = parquet(tmp_path)
    rows = Stored(Skewed(f"duckdb:{tmp_path}/rows.parquet"), good.schema)
    for way in (inline, pooled):
        assert any("batches" in fault for fault in faults(way(rows, 200, True, TURNS), N, True, BORDERS))


@pytest.mark.parametrize("name", ["memory", "parquet"])
@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("how", ["same", "modulo", "prefix"])
def test_a_choice_of_places_that_is_off_is_found(
    name: str, replace: bool, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ENGINES[name](tmp_path)
    right = row_draws.indices

    def wrong(stream: Any, n: int, count: int, replace: bool) -> Places:
        if how == "same":
            return right(uniformity.Stream(bytes(32)), n, count, replace)
        if how == "modulo":
            several = right(stream, 3 * n // 2, count, replace) % n
            return several if replace else np.sort(several)
        return np.sort(right(stream, n, count + count // 10, replace))[:count]

    for place in (row_draws, draw_pool, stored_rows, stored_pool):
        monkeypatch.setattr(place, "indices", wrong)
    for way in (inline, pooled):
        assert faults(way(rows, 200, replace, TURNS), N, replace, BORDERS)


def test_a_pool_that_hands_out_a_draw_twice_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_pool.Pool, "take", _twice())
    assert any("1 before" in fault for fault in faults(pooled(parquet(tmp_path), 200, False, 150), N, False, BORDERS))


def _twice() -> Callable[..., Any]:
    kept: list[Any] = []

    def take(self: Any, used: Any) -> Any:
        if kept:
            return kept.pop()
        if self._ready:
            kept.append(self._ready.popleft())
            return kept[0]
        return None

    return take
