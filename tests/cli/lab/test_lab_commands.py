"""The lab on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from unworn.lab.papers import claim_runs
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, Progress
from unworn.lab.papers.claim_registry import claim_files, claim_named
from unworn.lab.papers.claim_runs import ClaimRun
from unworn.lab.papers.overfitting.boosting_claim import LAW, PLAIN, _row

__all__ = ["run"]

ROWS = tuple(_row(what, 1_000, k, 4, 0, 0.5 + k / 1e4, None, None) for what in (PLAIN, LAW) for k in (30, 300))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Effort, int]]:
    """Claims that are not measured: boosting holds, all others do not."""
    asked: list[tuple[str, Effort, int]] = []

    def instead(name: str, effort: Effort, seed: int, progress: Progress | None = None) -> ClaimRun:
        claim_named(name)
        asked.append((name, effort, seed))
        outcome = ClaimOutcome(name == "boosting", "0.71", ROWS)
        return ClaimRun(name, effort, seed, "0.1.0", 1.0, outcome if name == "boosting" else None, "it broke")

    monkeypatch.setattr(claim_runs, "run_claim", instead)
    return asked


def test_the_list_names_every_claim(run: Run) -> None:
    told = json.loads(run("lab", "list", "--json").stdout)
    assert [entry["name"] for entry in told] == list(claim_files())
    assert all(entry["statement"] and entry["expected"] and entry["citation"] for entry in told)
    assert "boosting" in run("lab", "list").stdout


def test_one_claim_is_run_told_and_kept(run: Run, measured: list[object], tmp_path: Path) -> None:
    result = run("lab", "run", "boosting", "--quick", "--seed", "3", "--out", str(tmp_path / "new" / "results"))
    assert result.exit_code == 0
    assert measured == [("boosting", "quick", 3)]
    assert "boosting: holds (quick, seed 3" in result.stdout
    assert "Measured: 0.71" in result.stdout
    assert sorted(path.name for path in (tmp_path / "new" / "results").iterdir()) == [
        "boosting.json",
        "boosting.png",
        "boosting.svg",
    ]
    told = json.loads(run("lab", "run", "boosting", "--json").stdout)
    assert (told["as_expected"], told["claims"][0]["effort"]) == (True, "full")


def test_a_verdict_that_is_not_as_expected_is_an_exit_code(run: Run, measured: list[object]) -> None:
    result = run("lab", "run", "freedman", "--quick")
    assert result.exit_code == 5
    assert "freedman: failed" in result.stdout
    assert "it broke" in result.stderr
    told = run("lab", "run", "all", "--quick", "--processes", "1", "--json")
    assert told.exit_code == 5
    document = json.loads(told.stdout)
    assert [entry["name"] for entry in document["claims"]] == list(claim_files())
    assert not document["as_expected"]


def test_a_claim_that_is_not_there(run: Run) -> None:
    result = run("lab", "run", "bosting")
    assert result.exit_code == 2
    assert "did you mean boosting?" in result.stderr


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(
    run: Run, measured: list[object], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert run("lab", "run", "boosting", "--out", str(tmp_path / "file")).exit_code == 2
    assert measured == []


def test_a_lecture_is_shown_section_by_section(run: Run) -> None:
    shown = run("lab", "lecture", "000")
    assert shown.exit_code == 0
    for words in ("Sparse vector", "unworn.mechanisms.SparseVector", "$ unworn audit sparse-vector"):
        assert words in shown.stdout
    told = json.loads(run("lab", "lecture", "000", "--json").stdout)
    assert told["number"] == "000"
    assert {"section", "kind", "says", "ours", "command", "claim", "page", "measured", "note", "erratum"} == set(
        told["rows"][0]
    )
    assert "000" in run("lab", "lecture").stdout
    assert json.loads(run("lab", "lecture", "--json").stdout)[0]["number"] == "000"
    assert run("lab", "lecture", "24").exit_code == 2


def test_a_page_is_made_of_what_was_kept(run: Run, measured: list[object], tmp_path: Path) -> None:
    results, page = tmp_path / "results", tmp_path / "lab.html"
    run("lab", "run", "boosting", "--quick", "--out", str(results))
    result = run("lab", "report", str(results), "--out", str(page))
    assert result.exit_code == 0
    assert "Random labels climb a plain board" in page.read_text()
    assert run("lab", "report", str(results), "--out", str(page)).exit_code == 0  # over its like
    told = json.loads(run("lab", "report", str(results), "--out", str(page), "--json").stdout)
    assert told["page"] == str(page)


def test_a_page_of_all_claims_runs_them(run: Run, measured: list[object], tmp_path: Path) -> None:
    page = tmp_path / "lab.html"
    result = run("lab", "report", "--quick", "--processes", "1", "--out", str(page))
    assert result.exit_code == 5
    assert len(measured) == len(claim_files())
    assert "it broke" in page.read_text()


@pytest.mark.parametrize("out", ["lab.txt", "nowhere/lab.html", "theirs.html"])
def test_a_page_that_cannot_be_written_is_refused_first(
    run: Run, measured: list[object], tmp_path: Path, out: str
) -> None:
    (tmp_path / "theirs.html").write_text("<p>mine</p>")
    result = run("lab", "report", "--out", str(tmp_path / out))
    assert result.exit_code == 2
    assert measured == []


def test_a_folder_without_runs_makes_no_page(run: Run, tmp_path: Path) -> None:
    assert run("lab", "report", str(tmp_path / "nothing")).exit_code == 2
    assert run("lab", "report", str(tmp_path), "--out", str(tmp_path / "lab.html")).exit_code == 2
