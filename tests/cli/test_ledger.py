"""Listing, backing up and bringing back a ledger."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, people


@pytest.fixture
def asked(run: Run, data: Path, ledger: str) -> str:
    for age in (30, 40, 50):
        assert run("ask", str(data), f"age > {age}", "--guess", "0.6", "--by", "blue").exit_code == 0
    return ledger


def test_answers_and_meter_are_listed(run: Run, asked: str) -> None:
    shown = run("ledger", asked).stdout
    assert "people · 2,000 rows · GuessAndCheck · 95 %" in shown
    assert "share of age > 40" in shown
    assert "asked 3" in shown
    assert "\x1b" not in shown
    (last,) = [line for line in run("ledger", asked, "--last", "1").stdout.splitlines() if "share of" in line]
    assert "age > 50" in last


def test_json_has_everything_and_agrees_with_the_holdout(run: Run, asked: str, data: Path) -> None:
    from unworn import Holdout

    told = json.loads(run("ledger", asked, "--last", "1", "--json").stdout)
    (holdout,) = told["holdouts"]
    opened = Holdout(str(data), ledger=asked)
    meter = opened.meter.to_json()
    assert holdout["meter"] == {name: value for name, value in meter.items() if name != "refused"}
    assert (holdout["head"], holdout["id"], len(holdout["answers"])) == (opened.head, opened.id, 3)
    opened.close()


def test_backup_and_return(run: Run, asked: str, data: Path, tmp_path: Path) -> None:
    backup, key, copy = (str(tmp_path / name) for name in ("backup.jsonl", "people.key", "copy.db"))
    assert run("ledger", asked, "--export", backup, "--export-key", key).exit_code == 0
    assert Path(key).stat().st_mode & 0o777 == 0o600
    told = json.loads(run("ledger", copy, "--restore", backup, "--json").stdout)
    assert (told["restored"], told["holdouts"][0]["can_be_asked"]) == (4, False)
    assert "read-only" in run("ledger", copy).stdout
    assert run("ledger", copy, "--import-key", key).exit_code == 0
    assert "in another ledger" in run("ask", str(data), "age > 60", "--ledger", copy).stderr  # there are two of them
    Path(asked).unlink()
    assert json.loads(run("ask", str(data), "age > 60", "--ledger", copy, "--json").stdout)["index"] == 4


def test_a_backup_never_goes_back_or_over(run: Run, asked: str, data: Path, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup.jsonl")
    assert run("ledger", asked, "--export", backup).exit_code == 0
    assert run("ledger", asked, "--export", backup).exit_code == 4
    run("ask", str(data), "age > 60")
    behind = run("ledger", asked, "--restore", backup)
    assert behind.exit_code == 4
    assert "budget that was spent" in behind.stderr
    Path(backup).write_text(Path(backup).read_text().replace('"age"', '"aged"'))
    assert run("ledger", str(tmp_path / "new.db"), "--restore", backup).exit_code == 4


def test_the_wrong_key_is_refused(run: Run, asked: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    people(seed=9).to_csv(other, index=False)
    run("ask", str(other), "age > 65")
    key = str(tmp_path / "other.key")
    assert run("ledger", f"{other}.ledger.db", "--export-key", key).exit_code == 0
    shutil.rmtree(f"{asked}.keys")
    assert run("ledger", asked, "--import-key", key).exit_code in (3, 4)
    assert run("ledger", asked, "--import-key", str(tmp_path / "nowhere.key")).exit_code == 4


def test_several_holdouts_need_a_name(run: Run, asked: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    people(seed=9).to_csv(other, index=False)
    assert run("ask", str(other), "age > 65", "--ledger", asked).exit_code == 0
    assert len(json.loads(run("ledger", asked, "--json").stdout)["holdouts"]) == 2
    (found,) = json.loads(run("ledger", asked, "--name", "other", "--json").stdout)["holdouts"]
    assert found["name"] == "other"
    vague = run("ledger", asked, "--export-key", str(tmp_path / "k"))
    assert vague.exit_code == 2
    assert "--name" in vague.stderr
    assert run("ledger", asked, "--figure", str(tmp_path / "f.svg")).exit_code == 2
    nobody = run("ledger", asked, "--name", "nobody")
    assert nobody.exit_code == 3
    assert "'people'" in nobody.stderr


def test_the_figure_is_drawn_from_the_ledger_alone(run: Run, asked: str, data: Path, tmp_path: Path) -> None:
    data.unlink()
    path = tmp_path / "answers.png"
    assert run("ledger", asked, "--figure", str(path)).exit_code == 0
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_a_missing_ledger_is_not_made(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "nowhere.db"
    result = run("ledger", str(path))
    assert result.exit_code == 2
    assert "Check the path" in result.stderr
    assert not path.exists()


def test_labels_are_kept_and_listed(run: Run, data: Path, ledger: str) -> None:
    told = run(
        "ask", str(data), "age > 30", "--guess", "0.8", "--label", "adults", "--tag", "year=2026", "--tag", "id=007"
    )
    assert told.stdout.startswith("adults · share of age > 30 · id=007, year=2026")
    assert "adults · share of age > 30 · id=007" in " ".join(run("ledger", ledger).stdout.split())
    (row,) = json.loads(run("ledger", ledger, "--json").stdout)["holdouts"][0]["answers"]
    assert (row["name"], row["tags"], row["metric"]) == ("adults", {"id": "007", "year": 2026}, "share")
    for bad in ("year", "=3", f"year={'x' * 300}"):
        assert run("ask", str(data), "age > 40", "--tag", bad).exit_code == 2
    assert run("ask", str(data), "age > 40", "--tag", "a=1", "--tag", "a=2").exit_code == 2


def test_a_report_is_written_from_the_ledger_alone(run: Run, asked: str, data: Path, tmp_path: Path) -> None:
    data.unlink()
    page, text = tmp_path / "report.html", tmp_path / "report.md"
    assert run("report", asked, "--out", str(page)).exit_code == 0
    told = json.loads(run("report", asked, "--out", str(text), "--json").stdout)
    assert (told["report"], told["answers"]) == (str(text), 3)
    assert "share of age &gt; 40" in page.read_text()
    assert f"unworn verify --ledger {asked} --head" in text.read_text()
    assert run("report", asked, "--out", str(tmp_path / "report.pdf")).exit_code == 2
    assert run("report", str(tmp_path / "none.db")).exit_code == 2
