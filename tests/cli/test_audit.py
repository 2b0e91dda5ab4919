"""Audits on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unworn.bounds.privacy import Homogeneous
from unworn.lab.audit import Claim, Pair, Target, controls


def test_the_list(run: Run) -> None:
    told = json.loads(run("audit", "--list", "--json").stdout)
    named = {entry["name"]: entry for entry in told}
    assert {"bounded-noise", "gaussian", "laplace", "subsampled", "one-sample", "sparse-vector"} <= named.keys()
    assert all(list(entry) == ["name", "claimed", "broken"] for entry in told)
    assert [name for name, entry in named.items() if entry["broken"]] == [
        "lyu-3",
        "lyu-4",
        "lyu-5",
        "lyu-6",
        "no-threshold-noise",
    ]
    assert named["lyu-1"]["claimed"] == 1.0
    shown = run("audit", "--list").stdout
    assert "lyu-3" in shown
    assert "broken" in shown


def test_a_broken_control_is_refuted_and_that_is_no_error(run: Run, tmp_path: Path) -> None:
    figure = tmp_path / "audit.svg"
    result = run("audit", "lyu-5", "--json", "--figure", str(figure), "--seed", "3")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert {"name", "claimed", "lower_bound", "confidence", "refuted"} <= told.keys()
    assert (told["name"], told["claimed"], told["refuted"], told["seed"]) == ("lyu-5", 1.0, True, 3)
    assert told["lower_bound"] > 5
    assert "is refuted" in figure.read_text()
    shown = run("audit", "lyu-5")
    assert "REFUTED" in shown.stdout
    assert "known to be broken" in shown.stdout
    assert run("audit", "lyu-5", "--seed", "3", "--json").stdout.replace("null", f'"{figure}"') == result.stdout


def test_a_private_mechanism_is_not(run: Run) -> None:
    result = run("audit", "laplace", "--trials", "400")
    assert result.exit_code == 0
    assert "Not refuted" in result.stdout
    assert "no proof" in result.stdout
    told = json.loads(run("audit", "gaussian", "--trials", "400", "--json").stdout)
    assert (told["refuted"], told["unit"], told["trials"]) == (False, "mu", 400)


def test_a_refuted_claim_that_somebody_relies_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = replace(controls.lyu_5.target(), name="ours", broken=False)
    monkeypatch.setattr("unworn.lab.audit.find", lambda name: claimed)
    result = run("audit", "ours", "--trials", "20000")
    assert result.exit_code == 5
    assert "REFUTED" in result.stdout
    assert "known to be broken" not in result.stdout


def test_a_violated_profile_is_shown_where_the_quoted_number_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight answers, each with less noise than 1/2 takes: far from 4 = 8/2 in odds, and yet more than is allowed."""
    claim, pairs = Claim(Homogeneous(0.5, 0.0, 8)), [Pair(0.0, 1.0)]
    made = Target("ours", claim, pairs, lambda count, trials, rng: count + rng.laplace(0.0, 1.4, (trials, 8)))
    monkeypatch.setattr("unworn.lab.audit.find", lambda name: made)
    result = run("audit", "ours", "--trials", "20000")
    assert result.exit_code == 5
    assert "the most that the whole profile allows" in " ".join(result.stdout.split())
    assert "and 4 is claimed" not in result.stdout


def test_the_help_lists_the_exit_codes(run: Run) -> None:
    told = run("audit", "--help").stdout
    assert "2  no such name, or options that cannot be used" in told


def test_too_few_trials_for_a_broken_one(run: Run) -> None:
    result = run("audit", "lyu-3", "--trials", "200")
    assert result.exit_code == 0
    assert "takes more trials" in result.stdout


def test_coverage(run: Run) -> None:
    told = json.loads(run("audit", "naive", "--coverage", "--json", "--trials", "3").stdout)
    assert told["name"] == "naive"
    assert len(told["plays"]) > 5
    assert max(play["misses"] for play in told["plays"]) == 3
    result = run("audit", "rounding", "--coverage", "--trials", "1")
    assert result.exit_code == 0
    assert "select_then_vote" in result.stdout
    assert "Not refuted" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nothing",), "There are: bounded-noise"),
        (("laplace", "--trials", "50"), "trials"),
        (("--seed", "1"), "name what to audit"),
        (("nothing", "--coverage"), "There are:"),
        (("rounding", "--coverage", "--figure", "a.svg"), "no figure"),
        (("lyu-5", "--figure", "a.gif"), ".svg"),
    ],
)
def test_what_cannot_be_meant(run: Run, arguments: tuple[str, ...], says: str) -> None:
    result = run("audit", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""
