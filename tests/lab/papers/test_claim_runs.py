"""Claims are run, kept and read back; one that fails leaves the others alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unworn.lab.papers import claim_runs
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, UnfitClaim
from unworn.lab.papers.claim_page import claim_page, verdict_of
from unworn.lab.papers.claim_runs import ClaimRun, run_claim, run_claims, save_run, saved_runs
from unworn.lab.papers.overfitting.boosting_claim import CLAIM, LAW, PLAIN, _row

ROWS = tuple(_row(what, 1_000, k, 4, 0, 0.5 + k / 1e4, None, None) for what in (PLAIN, LAW) for k in (30, 300, 1_000))


def quick(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    return ClaimOutcome(True, f"{effort} with seed {seed} <b>", ROWS)


def broken(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    raise ZeroDivisionError("no rows at all")


@pytest.fixture
def claim(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Boosting with another experiment, wherever claims are looked up."""

    def replaced(measure: Any) -> PaperClaim:
        made = PaperClaim(**{**{name: getattr(CLAIM, name) for name in CLAIM.__match_args__}, "measure": measure})
        monkeypatch.setattr(claim_runs, "claim_named", lambda name: made)
        return made

    return replaced


def test_a_run_is_kept_with_its_figure_and_read_back(claim: Any, tmp_path: Path) -> None:
    claim(quick)
    run = run_claim("boosting", "quick", 7)
    assert (run.is_as_expected, run.command) == (True, "unworn lab run boosting --quick --seed 7")
    kept = save_run(run, tmp_path / "results")
    assert [path.suffix for path in kept] == [".json", ".svg", ".png"]
    (again,) = saved_runs(tmp_path / "results")
    assert again.outcome == run.outcome
    assert (again.seed, again.effort, again.version) == (7, "quick", run.version)


def test_a_run_that_fails_is_told_and_no_other_is_lost(claim: Any, tmp_path: Path) -> None:
    claim(broken)
    run = run_claim("boosting", "quick", 0)
    assert run.outcome is None
    assert not run.is_as_expected
    assert "no rows at all" in run.error
    assert verdict_of(run) == "failed"
    assert [path.name for path in save_run(run, tmp_path)] == ["boosting.json"]
    assert saved_runs(tmp_path)[0].error == run.error
    assert "no rows at all" in claim_page([run])


def test_a_page_has_figures_verdicts_and_seeds_and_loads_nothing(claim: Any) -> None:
    claim(quick)
    run = run_claim("boosting", "quick", 7)
    page = claim_page([run])
    assert "data:image/svg+xml;base64," in page
    assert "quick with seed 7 &lt;b&gt;" in page
    assert "unworn lab run boosting --quick --seed 7" in page
    assert "http" not in page.replace("http-equiv", "")
    unexpected = ClaimRun("boosting", "quick", 0, "0.1.0", 1.0, ClaimOutcome(False, "0.5", ROWS))
    assert "NOT as expected" in claim_page([unexpected])


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"form": "unworn claim run 2"},
        {"name": "nobody"},
        {"holds": 1},
        {"rows": []},
        {"rows": [{"a": [1]}]},
        {"rows": [1]},
        {"effort": "slow"},
        {"seed": "x"},
    ],
)
def test_what_is_no_saved_run_is_refused(claim: Any, tmp_path: Path, wrong: Any) -> None:
    claim(quick)
    good = run_claim("boosting", "quick", 0).to_json()
    if isinstance(wrong, dict) and wrong.get("name"):
        claim_runs.claim_named = __import__("unworn.lab.papers.claim_registry", fromlist=["x"]).claim_named
    text = json.dumps(wrong if isinstance(wrong, list) else {**good, **wrong})
    (tmp_path / "boosting.json").write_text(text)
    with pytest.raises(UnfitClaim, match=r"boosting\.json"):
        saved_runs(tmp_path)


def test_claims_run_one_by_one_or_together(claim: Any) -> None:
    claim(quick)
    assert [run.name for run in run_claims(["boosting"], "quick", 0, 4)] == ["boosting"]
    assert [run.seed for run in run_claims(["boosting", "boosting"], "quick", 3, 1)] == [3, 3]
