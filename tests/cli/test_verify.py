"""Cards and ledgers that are right, changed, cut off, or somebody else's."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, people


@pytest.fixture
def card(run: Run, data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "card.json"
    assert run("ask", str(data), "age > 40", "--guess", "0.68").exit_code == 0
    assert run("ask", str(data), "age > 65", "--guess", "0.33", "--card", str(path)).exit_code == 0
    return path


def test_a_card_alone(run: Run, card: Path) -> None:
    result = run("verify", str(card))
    assert result.exit_code == 0
    assert "The card is valid." in result.stdout
    assert "Theorem: code length" in result.stdout
    assert "independent draws" in result.stdout
    assert "--ledger" in result.stderr


def test_a_card_against_its_ledger(run: Run, card: Path, ledger: str) -> None:
    told = json.loads(run("verify", str(card), "--ledger", ledger, "--json").stdout)
    assert told["ok"] is True
    assert told["answer"]["value"] == 0.33
    assert any("entry 2" in line for line in told["checked"])


def test_a_whole_ledger_and_a_noted_head(run: Run, card: Path, ledger: str) -> None:
    told = json.loads(run("verify", "--ledger", ledger, "--json").stdout)
    (holdout,) = told["holdouts"]
    assert (holdout["name"], holdout["answers"]) == ("people", 2)
    head = json.loads(card.read_text())["head"]
    assert run("verify", "--ledger", ledger, "--head", head).exit_code == 0
    assert run("verify", str(card), "--ledger", ledger, "--head", head).exit_code == 0
    for arguments in ((), (str(card),)):
        unknown = run("verify", *arguments, "--ledger", ledger, "--head", "ab" * 32)
        assert unknown.exit_code == 4
        assert "find the ledger" in unknown.stderr


def _raised(card: dict[str, Any]) -> None:
    card["answer"]["value"] = 0.99


def _resigned(card: dict[str, Any]) -> None:
    card["entry"]["body"]["by"] = "somebody else"


def _stripped(card: dict[str, Any]) -> None:
    del card["entry"]


@pytest.mark.parametrize("change", [_raised, _resigned, _stripped])
def test_a_changed_card(run: Run, card: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(card.read_text())
    change(content)
    card.write_text(json.dumps(content))
    result = run("verify", str(card), "--json")
    assert result.exit_code == 4
    assert json.loads(result.stdout)["error"] == "Tampered"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"card"', "[" * 100_000, '{"format": "unworn certificate 1"}'])
def test_what_is_no_card(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.json"
    path.write_text(text)
    result = run("verify", str(path))
    assert result.exit_code == 4
    assert result.stderr.startswith("Tampered: ")
    assert result.stdout == ""


def test_another_holdouts_ledger(run: Run, card: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    people(seed=9).to_csv(other, index=False)
    run("ask", str(other), "age > 65")
    result = run("verify", str(card), "--ledger", f"{other}.ledger.db")
    assert result.exit_code == 3
    assert result.stderr.startswith("Mismatch: this card is of holdout 'people'")
    assert "'other'" in result.stderr


def _forge(ledger: str, *statements: str) -> None:
    """Change a ledger as a forger would: the rules that forbid it are put back."""
    connection = sqlite3.connect(ledger)
    rules = connection.execute("SELECT sql FROM sqlite_master WHERE name IN ('no_delete', 'no_update')").fetchall()
    script = ["DROP TRIGGER no_delete", "DROP TRIGGER no_update", *statements, *(sql for (sql,) in rules)]
    connection.executescript(";".join(script))
    connection.close()


def test_a_cut_ledger_is_found_by_the_card_and_by_what_lies_beside_the_key(run: Run, card: Path, ledger: str) -> None:
    _forge(ledger, "DELETE FROM entries WHERE idx = 2")
    result = run("verify", "--ledger", ledger)
    assert result.exit_code == 4
    assert "lacks answers that were given" in result.stderr
    shutil.rmtree(f"{ledger}.keys")
    assert run("verify", "--ledger", ledger).exit_code == 0
    result = run("verify", str(card), "--ledger", ledger)
    assert result.exit_code == 4
    assert "cut off or replaced" in result.stderr


def test_a_changed_ledger(run: Run, card: Path, ledger: str) -> None:
    _forge(ledger, "UPDATE entries SET body = replace(body, '0.68', '0.69') WHERE idx = 1")
    assert run("verify", "--ledger", ledger).exit_code == 4
    assert run("verify", str(card), "--ledger", ledger).exit_code == 4
    assert run("ledger", ledger).exit_code == 4
    assert run("verify", str(card)).exit_code == 0


def test_usage(run: Run, tmp_path: Path, card: Path) -> None:
    nothing = run("verify", "--json")
    assert nothing.exit_code == 2
    assert "Give a card, --ledger, or both" in nothing.stderr
    assert "Add --ledger" in run("verify", str(card), "--head", "ab").stderr
    assert "Check the path" in run("verify", str(tmp_path / "nowhere.json")).stderr
    assert run("verify", "--ledger", str(tmp_path / "nowhere.db")).exit_code == 2


def test_a_card_that_promises_nothing_says_so(run: Run, data: Path, tmp_path: Path) -> None:
    from unworn import Holdout
    from unworn.mechanisms import Naive

    holdout = Holdout(str(data), mechanism=Naive(), ledger=str(tmp_path / "naive.db"))
    holdout.ask("age > 65").certificate.save(tmp_path / "naive.json")
    holdout.close()
    shown = run("verify", str(tmp_path / "naive.json"), "--ledger", str(tmp_path / "naive.db")).stdout
    assert "promises nothing" in shown
    assert "Nothing is promised" in shown
    # The mechanism, too, is taken from the sealed terms.
    told = run("ask", str(data), "age > 66", "--ledger", str(tmp_path / "naive.db"))
    assert told.exit_code == 0
    assert "Nothing is promised" in told.stderr
