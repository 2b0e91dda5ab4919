"""A board on the command line, from its labels to the signed summary."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Labels and predictions: y.csv, good.csv, bad.csv."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 1500)
    good = np.where(rng.random(1500) < 0.9, labels, 1 - labels)
    for name, column, values in (
        ("y", "label", labels),
        ("good", "prediction", good),
        ("poor", "prediction", 1 - good),
    ):
        lines = "".join(f"r{place},{value}\n" for place, value in enumerate(values))
        (tmp_path / f"{name}.csv").write_text(f"id,{column}\n{lines}")
    (tmp_path / "bad.csv").write_text("id,prediction\nr0,1\nr0,1\n")
    return tmp_path


def new(run: Run, files: Path, *more: str) -> Path:
    folder = files / "bench"
    result = run(
        "board", "new", str(folder), "--labels", str(files / "y.csv"), "--id", "id", "--target", "label", *more
    )
    assert result.exit_code == 0, result.output
    return folder


def test_two_commands_make_a_board_and_a_third_submits(run: Run, files: Path) -> None:
    made = new(run, files, "--metric", "f1")
    assert (made / "board.toml").is_file()
    told = run("board", "submit", str(made), str(files / "good.csv"), "--team", "blue")
    assert told.exit_code == 0
    assert "practice" in told.stdout
    assert "confirmed" in told.stdout
    assert "rank 1" in told.stdout
    again = json.loads(run("board", "submit", str(made), str(files / "good.csv"), "--team", "blue", "--json").stdout)
    assert (again["number"], again["status"], again["rank"]) == (1, "checked", 1)
    run("board", "submit", str(made), str(files / "poor.csv"), "--team", "red")
    shown = run("board", "standings", str(made), "--spending")
    assert shown.stdout.index("blue") < shown.stdout.index("red")
    assert "nats" in shown.stdout
    rows = json.loads(run("board", "standings", str(made), "--json").stdout)["rows"]
    assert [row["team"] for row in rows] == ["blue", "red"]


def test_what_a_board_can_promise_and_whether_a_file_can_be_scored(run: Run, files: Path) -> None:
    made = new(run, files)
    words = run("board", "check", str(made), "--submissions", "500")
    assert "500 submissions" in words.stdout
    assert "fresh test set" in words.stdout
    assert json.loads(run("board", "check", str(made), "--json").stdout)["rows"] == 750
    assert "can be scored: 1,500 rows" in run("board", "check", str(made), str(files / "good.csv")).stdout
    refused = run("board", "check", str(made), str(files / "bad.csv"))
    assert refused.exit_code == 2
    assert "line 3: the id 'r0' was there before, in line 2" in refused.stderr
    assert run("board", "check", str(made), "--submissions", "0").exit_code == 2


def test_a_board_is_closed_and_its_summary_verified(run: Run, files: Path) -> None:
    made = new(run, files)
    run("board", "submit", str(made), str(files / "good.csv"), "--team", "blue")
    assert run("board", "close", str(made)).exit_code == 2  # nobody said yes
    closed = run("board", "close", str(made), "--yes")
    assert closed.exit_code == 0
    assert "blue" in closed.stdout
    summary = made / "final" / "summary.json"
    checked = run("verify", str(summary))
    assert checked.exit_code == 0
    assert "all of it is what was signed" in checked.stdout
    assert json.loads(run("verify", str(summary), "--json").stdout)["ok"] is True
    assert run("verify", str(made / "final" / "cards" / "answer-000001.json")).exit_code == 0
    refused = run("board", "submit", str(made), str(files / "poor.csv"), "--team", "red")
    assert refused.exit_code == 3
    assert "closed" in refused.stderr
    summary.write_text(summary.read_text().replace('"blue"', '"red"'))
    assert run("verify", str(summary)).exit_code == 4


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--metric", "f11"), "did you mean f1"),
        (("--metric", "mae"), "range"),
        (("--rule", "best"), "practice-and-check"),
        (("--practice", "2"), "between 0 and 0.95"),
        (("--grader", "fuzzy"), "normalised"),
        (("--id", "row"), "no column 'row'"),
        (("--labels", "none.csv"), "no file of labels"),
        (("--positive", "yes", "--metric", "f1"), "positive is 'yes', and no label is"),
        (("--parameter", "step=0.1"), "--parameter is one of a mechanism"),
    ],
)
def test_what_a_beginner_gets_wrong_is_said_with_the_fix(
    run: Run, files: Path, more: tuple[str, ...], words: str
) -> None:
    given = ["--labels", str(files / "y.csv"), "--id", "id", "--target", "label", *more]
    result = run("board", "new", str(files / "bench"), *given)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not (files / "bench" / "board.toml").exists()
    assert run("board", "standings", str(files / "bench")).exit_code in (2, 3)


def test_any_mechanism_by_its_name(run: Run, files: Path) -> None:
    given = ["--rule", "mechanism", "--mechanism", "Rounding", "--parameter", "cells=20"]
    made = new(run, files, *given)
    assert 'name = "Rounding"' in (made / "board.toml").read_text()
    told = run("board", "submit", str(made), str(files / "good.csv"), "--team", "blue")
    assert "certified" in told.stdout
    wrong = run("board", "new", str(files / "other"), "--labels", "y", "--id", "i", "--target", "t", "--parameter", "x")
    assert wrong.exit_code == 2


def test_a_holdout_to_serve(run: Run, files: Path) -> None:
    made = run("holdout", "new", str(files / "people"), "--data", str(files / "y.csv"), "--target", "label", "--json")
    assert made.exit_code == 0
    told = json.loads(made.stdout)
    assert (told["rows"], told["practice_rows"]) == (1125, 375)
    assert (files / "people" / "holdout.toml").is_file()
    assert run("holdout", "new", str(files / "people"), "--data", str(files / "y.csv")).exit_code == 2


def test_files_are_scored_without_a_server(run: Run, files: Path) -> None:
    given = [str(files / "y.csv"), str(files / "good.csv"), "--id", "id"]
    first = run("score", *given, "--card", str(files / "card.json"))
    assert first.exit_code == 0, first.output
    assert "accuracy" in first.stdout
    assert run("verify", str(files / "card.json"), "--ledger", f"{files / 'y.csv'}.ledger.db").exit_code == 0
    again = json.loads(run("score", *given, "--json").stdout)
    assert again["repeat"] is True
    assert abs(again["value"] - 0.9) < 0.1
    other = json.loads(run("score", *given, "--metric", "f1", "--json").stdout)
    assert other["indexes"] == [2]
    bad = run("score", str(files / "y.csv"), str(files / "bad.csv"), "--id", "id")
    assert bad.exit_code == 2
    assert "line 3: the id 'r0'" in bad.stderr
    assert run("score", *given[:2], "--id", "row").exit_code == 2


def test_a_teams_own_history(run: Run, files: Path) -> None:
    made = new(run, files)
    assert (
        "there are no submissions of blue to show"
        in run("standings", "--to", str(made), "--mine", "--team", "blue").stdout
    )
    for name, team in (("good", "blue"), ("poor", "blue"), ("poor", "red")):
        run("submit", str(files / f"{name}.csv"), "--to", str(made), "--team", team, "--name", name, "-m", "a try")
    lines = run("standings", "--to", str(made), "--mine", "--team", "blue").stdout.splitlines()
    assert [("good" in lines[1], "poor" in lines[2], len(lines))] == [(True, True, 3)]
    assert "a try" in lines[1]
    told = json.loads(run("standings", "--to", str(made), "--mine", "--team", "red", "--json").stdout)
    assert [(each["team"], each["name"]) for each in told] == [("red", "poor")]


def test_what_a_board_needs_is_looked_at_before_anybody_submits(run: Run, files: Path) -> None:
    made = new(run, files)
    settings = made / "board.toml"
    settings.write_text(settings.read_text() + 'ledger = "other.db"\n')
    told = run("board", "check", str(made))
    assert told.exit_code == 2
    assert "the ledger other.db does not have the answers" in told.stderr


def test_labels_behind_a_board_are_not_scored_beside_it(run: Run, files: Path) -> None:
    """A board keeps them in the order of their ids: a file in another order went unnoticed, and got a second budget."""
    new(run, files)
    told = run("score", str(files / "y.csv"), str(files / "good.csv"), "--id", "id")
    assert told.exit_code == 3
    assert "sealed in another ledger" in told.stderr
    assert "unworn board submit" in told.stderr
    assert not list(files.glob("y.csv.ledger*"))


def test_no_board_is_made_of_labels_that_were_scored(run: Run, files: Path) -> None:
    assert run("score", str(files / "y.csv"), str(files / "good.csv"), "--id", "id").exit_code == 0
    folder = files / "bench"
    told = run("board", "new", str(folder), "--labels", str(files / "y.csv"), "--id", "id", "--target", "label")
    assert told.exit_code == 2
    assert "y.csv.ledger.db" in told.stderr
    assert not folder.exists()


def test_a_part_of_a_file_that_was_scored_is_not_scored_beside_it(run: Run, files: Path) -> None:
    rng = np.random.default_rng(9)
    lines = [f"{place},{rng.integers(0, 2)},{rng.normal()}" for place in range(1500)]
    for name, some in (("whole", lines), ("half", lines[::2])):
        (files / f"{name}.csv").write_text("\n".join(["id,label,x", *some]))
        rows = "\n".join(f"{line.partition(',')[0]},1" for line in some)
        (files / f"ones-{name}.csv").write_text(f"id,prediction\n{rows}")
    assert run("score", str(files / "whole.csv"), str(files / "ones-whole.csv"), "--id", "id").exit_code == 0
    told = run("score", str(files / "half.csv"), str(files / "ones-half.csv"), "--id", "id")
    assert told.exit_code == 3
    assert "about 750 of these 750 rows" in told.stderr


def test_files_of_other_labels_with_the_same_ids_are_scored(run: Run, files: Path) -> None:
    other = np.random.default_rng(9).integers(0, 2, 1500)
    (files / "z.csv").write_text("id,label\n" + "".join(f"r{place},{value}\n" for place, value in enumerate(other)))
    for name, repeat in (("y", False), ("z", False), ("z", True), ("y", True)):
        told = run("score", str(files / f"{name}.csv"), str(files / "good.csv"), "--id", "id", "--json")
        assert told.exit_code == 0, told.output
        document = json.loads(told.stdout)
        assert (document["holdout"], document["repeat"]) == (name, repeat)
        assert document["low"] < (0.9 if name == "y" else 0.5) < document["high"]
    copied = files / "copied.csv"
    copied.write_text((files / "z.csv").read_text().replace("r", "q"))  # other ids for the same labels
    (files / "q.csv").write_text((files / "good.csv").read_text().replace("r", "q").replace("pqediction", "prediction"))
    assert run("score", str(copied), str(files / "q.csv"), "--id", "id").exit_code == 3
