"""Many short columns are worked out together, and come out as each does alone."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unworn.ledger.keys import prepare_hmac
from unworn.queries.row_protocol import Column
from unworn.rows import Sample
from unworn.rows.fingerprints.column_blocks import SHORT, column_blocks
from unworn.rows.fingerprints.column_digest import canonical_block, canonical_column
from unworn.rows.fingerprints.fingerprint import digests
from unworn.rows.fingerprints.row_hashes import hash_runs

KEY = b"k" * 32


def values(rng: np.random.Generator, kind: int, rows: int) -> NDArray[Any]:
    """Columns of all sorts: different everywhere, of few values, evenly spaced, too large for floats, of signed 0."""
    made = [
        lambda: rng.normal(size=rows),
        lambda: rng.integers(-3, 3, rows),
        lambda: rng.integers(0, 2, rows).astype(bool),
        lambda: rng.normal(size=rows).astype(np.float32),
        lambda: rng.integers(2**60, 2**63 - 1, rows),
        lambda: rng.permutation(rows).astype(float),
        lambda: np.sort(rng.integers(0, 2, rows)).astype(np.int8),
        lambda: np.where(rng.random(rows) < 0.2, -0.0, rng.normal(size=rows)),
        lambda: np.where(rng.random(rows) < 0.2, np.inf, 3.0),
    ]
    found: NDArray[Any] = made[kind]()
    return found


def columns(rows: int, seed: int = 0) -> list[Column]:
    rng = np.random.default_rng(seed)
    made = []
    for kind in rng.integers(0, 9, 120).tolist():
        found = values(rng, kind, rows)
        several = [found.copy() for _ in range(rng.integers(1, 4))]
        made += [Column("bool" if found.dtype == bool else "number", one) for one in several]
        if kind == 0:
            made.append(Column("number", found, rng.random(rows) < 0.3))
    made.append(Column("text", rng.integers(0, 2, rows).astype(np.int32), None, np.array(["a", "b"], dtype=object)))
    made.append(Column("date", rng.integers(0, 9, rows).astype("datetime64[us]")))
    return made


@pytest.mark.parametrize("rows", [1, 2, 3, 50, SHORT, SHORT + 1])
@pytest.mark.parametrize("coarse", [False, True])
def test_hashes_of_rows(rows: int, coarse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = columns(rows)
    for lanes in ((0, 1), (1,)):
        together = [part for _, part in hash_runs(rows, KEY, made, lanes, coarse)]
        with monkeypatch.context() as alone:
            alone.setattr("unworn.rows.fingerprints.row_hashes.SHORT", 0)
            single = [part for _, part in hash_runs(rows, KEY, made, lanes, coarse)]
        assert np.array_equal(np.concatenate(together, axis=1), np.concatenate(single, axis=1))


@pytest.mark.parametrize("rows", [2, 3, 20, 50, 300])
def test_canonical_columns(rows: int) -> None:
    blocks = 0
    for seed in range(3):
        made = columns(rows, seed)
        for start, stop, together in column_blocks(made, rows):
            if together is None:
                continue
            blocks += 1
            found = canonical_block(made[start].kind, together)
            for one, column in zip(found, made[start:stop], strict=True):
                assert dataclasses.astuple(one) == dataclasses.astuple(canonical_column(column))
    assert blocks > 50


def test_every_column_is_in_one_block() -> None:
    made = columns(50)
    places = [(start, stop) for start, stop, _ in column_blocks(made, 50)]
    assert [start for start, _ in places] == [0, *(stop for _, stop in places[:-1])]
    assert places[-1][1] == len(made)


def test_digests_are_those_of_earlier_ledgers() -> None:
    """Known values: made column by column."""
    rng = np.random.default_rng(5)
    data = {f"c{place}": values(rng, place % 9, 40) for place in range(40)}
    told = digests(Sample.read(data), KEY)
    every = hashlib.sha256(repr((told.rows, told.order, sorted(told.columns.items()))).encode()).hexdigest()
    assert every == "eb391992fb86a6d8ecf68dc01059dc7ad0be184afa7bf280b70119802438feaa"


@pytest.mark.parametrize("size", [0, 1, 32, 64, 65, 200])
def test_a_prepared_hmac_is_an_hmac(size: int) -> None:
    secret = bytes(range(size))
    keyed = prepare_hmac(secret)
    for message in (b"", b"message", b"m" * 1_000):
        assert keyed(message) == hmac.digest(secret, message, "sha256")
