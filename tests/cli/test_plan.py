"""Plans on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("rows", ["10000", "1e4", "10_000", "10,000"])
def test_numbers_as_people_write_them(run: Run, rows: str) -> None:
    told = json.loads(run("plan", "--rows", rows, "--asks", "1e3", "--json").stdout)
    assert (told["rows"], told["asks"], told["best"]) == (10_000, 1_000, "GuessAndCheck")
    assert told["width"] == pytest.approx(0.0492, abs=1e-4)


def test_the_table_gives_reasons(run: Run) -> None:
    shown = run("plan", "--rows", "1e4", "--asks", "1000").stdout
    assert "SampleSplitting" in shown
    assert "10 rows an ask" in shown


def test_each_of_the_four_can_be_solved_for(run: Run) -> None:
    def solved(*arguments: str) -> dict[str, float]:
        return dict(json.loads(run("plan", *arguments, "--json").stdout))

    assert solved("--rows", "1e4", "--width", "0.05")["asks"] == 1_980
    assert solved("--asks", "1000", "--width", "0.05")["rows"] <= 10_000
    assert solved("--rows", "1e4", "--asks", "1e3", "--width", "0.07", "--surprises", "any")["surprises"] == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--rows", "1e4", "--asks", "10", "--width", "0.1"), "add --surprises any"),
        (("--rows", "1e4"), "--asks and --width are left out"),
        (("--rows", "1e4", "--surprises", "any"), "must be given"),
        (("--rows", "1e4", "--asks", "0"), "whole number"),
        (("--rows", "1e4", "--asks", "1.5"), "whole number"),
        (("--rows", "nan", "--asks", "10"), "whole number"),
        (("--rows", "1e4", "--width", "0.7"), "half-width in (0, 0.5]"),
        (("--rows", "10", "--width", "0.001"), "larger width"),
        (("--rows", "1e4", "--asks", "10", "--surprises", "10"), "do not fit"),
        (("--rows", "1e4", "--asks", "10", "--confidence", "95"), "between 0 and 1"),
        (("--rows", "many", "--asks", "10"), "write 10000, 1e4 or 10_000"),
    ],
)
def test_impossible_plans_say_what_to_change(run: Run, arguments: tuple[str, ...], says: str) -> None:
    result = run("plan", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_the_figure(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "plan.svg"
    result = run("plan", "--rows", "1e4", "--asks", "100", "--surprises", "2", "--figure", str(path), "--json")
    assert json.loads(result.stdout)["figure"] == str(path)
    assert "GuessAndCheck" in path.read_text()
    wrong = run("plan", "--rows", "1e4", "--asks", "100", "--figure", str(tmp_path / "plan.gif"))
    assert wrong.exit_code == 2
    assert ".svg" in wrong.stderr
