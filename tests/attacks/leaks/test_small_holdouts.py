"""Few rows are announced when they are sealed, and a value that merely repeats the last answer says so."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unworn import Holdout, plan
from unworn.cli import app
from unworn.errors import SmallHoldout
from unworn.mechanisms import Gaussian, GuessAndCheck, SampleSplitting
from unworn.record.certificate import Certificate


def labels(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, rows)


def test_thirty_rows_are_announced_with_what_it_would_take() -> None:
    needed = plan(asks=1, width=0.05).rows
    with pytest.warns(SmallHoldout, match=rf"30 rows are few: .* ± 0\.49[\s\S]*{needed:,} rows"):
        Holdout(None, labels(30), ledger=None)


def test_groups_and_noise_count_too() -> None:
    with pytest.warns(SmallHoldout, match="20 groups are few"):
        Holdout({"x": np.arange(2_000)}, groups=np.arange(2_000) % 20, ledger=None)
    with pytest.warns(SmallHoldout):
        Holdout(None, labels(600), mechanism=Gaussian(), asks=20, ledger=None)


def test_enough_rows_are_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Holdout(None, labels(500), ledger=None, practice=0)


def test_it_is_said_at_sealing_and_by_the_command(tmp_path: Path) -> None:
    pd.DataFrame({"x": labels(40)}).to_csv(tmp_path / "few.csv", index=False)
    run = CliRunner().invoke
    said = [run(app, ["ask", str(tmp_path / "few.csv"), "x = 1", "--guess", "0.5"]) for _ in range(2)]
    assert [each.exit_code for each in said] == [0, 0]
    assert [each.output.count("are few") for each in said] == [1, 0]


def test_an_echo_of_the_last_answer_says_so(tmp_path: Path) -> None:
    """Where it is the guess for the next: in ledgers sealed under Theorem C."""
    y = labels(2_000)
    holdout = Holdout(None, y, mechanism=GuessAndCheck(law="C"), ledger=tmp_path / "ledger.db")
    first = holdout.score(y ^ (np.random.default_rng(1).random(2_000) < 0.3), guess=0.7)
    echo = holdout.score(y ^ (np.random.default_rng(2).random(2_000) < 0.3))
    assert (first.source, echo.source) == ("guess", "last answer")
    assert echo.value == first.value
    assert "(last answer)" in str(echo)
    assert "last answer" in echo._repr_html_()
    assert holdout.answers["source"][1] == "last answer"
    assert echo.certificate.record.published.source == "guess"  # what is entered is what it was
    holdout.verify(echo.certificate.save(tmp_path / "card.json"))
    holdout.verify()
    # A card that an earlier version wrote says "guess", and is as good as it was.
    card = json.loads((tmp_path / "card.json").read_text())
    card["answer"]["source"] = "guess"
    assert Certificate.from_json(card) == echo.certificate
    listed = CliRunner().invoke(app, ["ledger", str(tmp_path / "ledger.db"), "--json"])
    assert json.loads(listed.stdout)["holdouts"][0]["answers"][1]["source"] == "last answer"
    holdout.close()


def test_a_mechanism_that_wastes_many_rows_is_named_instead() -> None:
    needed = plan(asks=300, width=0.05).rows
    with pytest.warns(SmallHoldout, match=rf"9,000 rows are few for SampleSplitting[\s\S]*from {needed:,} rows"):
        Holdout(None, labels(9_000), ledger=None, asks=300, practice=0, mechanism=SampleSplitting())
