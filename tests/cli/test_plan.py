"""Plans on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("rows", ["10000", "1e4", "10_000", "10,000"])
def test_numbers_as_people_write_them(run: Run, rows: str) -> None:
    told = json.loads(run("plan", "--rows", rows, "--asks", "1e3", "--json").stdout)
    assert (told["rows"], told["asks"], told["best"]) == (10_000, 1_000, "GuessAndCheck")
    assert told["width"] == pytest.approx(0.0375, abs=1e-4)


def test_the_table_gives_reasons(run: Run) -> None:
    shown = run("plan", "--rows", "1e4", "--asks", "1000").stdout
    assert "SampleSplitting" in shown
    assert "10 rows per ask" in shown
    assert "Best: GuessAndCheck, if every guess is right; without guesses BoundedNoise, ± 0." in shown


def test_advice_comes_first_and_theorems_on_request(run: Run) -> None:
    shown = " ".join(run("plan", "--rows", "2e4", "--asks", "300").stdout.split())
    assert shown.startswith("Ask freely: 20,000 rows, 300 asks")
    advice, _, table = shown.partition("mechanism width")
    for words in (
        "Each wrong guess (a surprise) costs about 11 nats",
        "final number will be ± 0.0075",
        "± 0.0070",
        "asks= is a cap",
    ):
        assert words in advice
    assert "PrivateGuessAndCheck" in table
    assert "AboveThreshold" in table.partition("Other kinds of answer")[2]
    assert "for comparison" not in shown


def test_a_width_stays_beside_its_sign(run: Run) -> None:
    shown = run("plan", "--rows", "100", "--asks", "50", "--surprises", "1").stdout
    assert "if 1 guess is wrong" in shown
    assert not any(line.endswith("±") for line in shown.splitlines())


def test_mechanisms_come_before_other_theorems(run: Run) -> None:
    shown = run("plan", "--rows", "1e4", "--asks", "1000", "--theorems").stdout
    mechanisms, _, rest = shown.partition("for comparison")
    for name in ("GuessAndCheck", "BoundedNoise", "Gaussian", "Laplace", "Subsampled", "Rounding", "OneSample"):
        assert f"\n{name}" in mechanisms
    assert "JLNRSS20" not in mechanisms
    compared, _, unable = rest.partition("No interval at this size:")
    assert "Jung, Ligett, Neel and others 2020" in compared
    assert "DFHPRR15 (Gaussian)" in unable


def test_solving_for_asks_tells_them_for_each(run: Run) -> None:
    result = run("plan", "--rows", "1e4", "--width", "0.05")
    assert "asks in ± 0.05" in result.stdout
    assert "any number" in result.stdout
    assert "BoundedNoise, which answers 41 within that width" in " ".join(result.stdout.split())
    assert result.stderr == ""
    told = json.loads(run("plan", "--rows", "1e4", "--width", "0.05", "--json").stdout)
    assert {option["mechanism"]: option["asks"] for option in told["options"]}["Rounding"] == 9
    assert "asks in" not in run("plan", "--rows", "1e4", "--asks", "1000").stdout


def test_json_has_everything(run: Run) -> None:
    from unworn import plan

    told = json.loads(run("plan", "--rows", "1e6", "--asks", "1e5", "--surprises", "5000", "--json").stdout)
    expected = json.loads(json.dumps(plan(1e6, 1e5, None, 5_000).to_json()))
    assert told == {**expected, "figure": None}
    assert (told["best"], told["best_without_guesses"]) == ("BoundedNoise", "BoundedNoise")


def test_each_of_the_four_can_be_solved_for(run: Run) -> None:
    def solved(*arguments: str) -> dict[str, float]:
        return dict(json.loads(run("plan", *arguments, "--json").stdout))

    assert solved("--rows", "1e4", "--width", "0.05")["asks"] == 10**15
    assert solved("--asks", "1000", "--width", "0.05")["rows"] <= 10_000
    assert solved("--rows", "1e4", "--asks", "1e3", "--width", "0.07", "--surprises", "any")["surprises"] == 3


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


@pytest.mark.parametrize(
    ("suffix", "starts"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE"), (".json", b"{")]
)
def test_the_figure(run: Run, tmp_path: Path, suffix: str, starts: bytes) -> None:
    path = tmp_path / f"plan{suffix}"
    result = run("plan", "--rows", "300", "--asks", "10", "--figure", str(path), "--json")
    assert json.loads(result.stdout)["figure"] == str(path)
    drawn = path.read_bytes()
    assert drawn.lstrip()[: len(starts)] == starts
    if suffix == ".svg":
        for words in ("GuessAndCheck", "BoundedNoise", "published (JLNRSS20)", "fresh test set", "rows in the holdout"):
            assert words in drawn.decode()


@pytest.mark.parametrize(("name", "says"), [("plan.gif", ".svg"), ("no/plan.svg", "no folder")])
def test_a_figure_that_cannot_be_written_is_refused_before_the_plan(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.setattr(sys.modules["unworn.cli.plan"], "solve", None)
    wrong = run("plan", "--rows", "1e4", "--asks", "100", "--figure", str(tmp_path / name))
    assert wrong.exit_code == 2
    assert says in wrong.stderr
    assert wrong.stdout == ""
