"""Whether a domain has room for rows is a fact about them: of rows that have a ledger it is not told for nothing.

A release that is refused because "some rows lie outside the domain" answers a question of the asker's own making, once
per column and as often as they like. Where rows have a ledger the refusal is the ledger's, whatever the domain.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from unworn import Holdout
from unworn.cli import app
from unworn.errors import Mismatch, SecondLedger, Unaskable
from unworn.release import fit
from unworn.universe.domain.domain import Domain

RNG = np.random.default_rng(3)
ROWS = {"plan": RNG.choice(["basic", "pro", "secret"], 3_000), "age": RNG.normal(40, 10, 3_000)}
TOO_NARROW = {"plan": ["basic", "pro"], "age": [40.0, 41.0]}


def narrow(rows: dict[str, Any]) -> dict[str, Any]:
    return {name: TOO_NARROW[name] for name in rows}


@pytest.mark.parametrize("kept", [["age", "plan"], ["age"]], ids=["the rows", "one column of them"])
@pytest.mark.parametrize("named", [False, True])
def test_rows_that_have_a_ledger_are_refused_whatever_the_domain(kept: list[str], named: bool, tmp_path: Path) -> None:
    Holdout(ROWS, ledger=tmp_path / "asks.db").close()
    rows = {name: ROWS[name] for name in kept}
    place: dict[str, Any] = {"ledger": tmp_path / "release.db"} if named else {}
    with pytest.raises(Mismatch):
        fit(rows, 1, epsilon=1.0, domain=narrow(rows), **place)
    assert not (tmp_path / "release.db").exists()


def test_memory_beside_a_ledger_is_warned_of_before_anything_is_told(tmp_path: Path) -> None:
    Holdout(ROWS, ledger=tmp_path / "asks.db").close()
    with pytest.warns(SecondLedger), pytest.raises(Unaskable, match="outside the domain"):
        fit(ROWS, 1, epsilon=1.0, domain=TOO_NARROW, ledger=None)


def test_unknown_rows_are_refused_before_there_is_a_ledger(tmp_path: Path) -> None:
    with pytest.raises(Unaskable, match="outside the domain"):
        fit(ROWS, 1, epsilon=1.0, domain=TOO_NARROW, ledger=tmp_path / "release.db")
    assert not (tmp_path / "release.db").exists()


@pytest.mark.parametrize("kept", [["age", "plan"], ["age"]], ids=["the rows", "one column of them"])
def test_no_domain_is_read_off_rows_that_are_sealed_for_questions(
    kept: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is then refused or predicted, as a table that is too large, tells how many values there are."""
    Holdout(ROWS, ledger=tmp_path / "asks.db").close()
    monkeypatch.setattr(Domain, "of_rows", lambda *_: pytest.fail("the rows were read"))
    rows = {name: ROWS[name] for name in kept}
    with pytest.raises(Mismatch):
        fit(rows, 1, epsilon=1.0, domain="rows")


def test_a_rehearsal_reads_no_domain_off_them_either(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rows.parquet")
    rehearsal = ["synth", str(tmp_path / "rows.parquet"), "--marginals", "1", "--epsilon", "1", "--dry-run"]
    told = CliRunner().invoke(app, [*rehearsal, "--domain", "rows"])
    assert "read off the rows" in told.output  # of rows that nobody has sealed
    Holdout(tmp_path / "rows.parquet", ledger=tmp_path / "asks.db").close()
    told = CliRunner().invoke(app, [*rehearsal, "--domain", "rows"])
    assert isinstance(told.exception, SystemExit | Mismatch)
    assert "cells" not in told.output


def test_a_release_over_a_domain_of_the_rows_is_made_again(tmp_path: Path) -> None:
    one, two = (fit(ROWS, 1, epsilon=1.0, domain="rows", ledger=tmp_path / "release.db") for _ in range(2))
    assert one.certificate.said["digest"] == two.certificate.said["digest"]
