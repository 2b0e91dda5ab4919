"""Reports: a function of the ledger alone, whole in one file, and nothing in it that a name could run."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, charts, col, mean, share
from unworn.errors import UnwornError
from unworn.mechanisms import Naive
from unworn.record.report.ledger_digest import LISTED, SHOWN, MetricDigest

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3_000, 2))
Y = (X[:, 0] > 0).astype(int)
TAG = "<script>alert('x')</script> | _b_"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Holdout:
    ledger = tmp_path_factory.mktemp("report") / "people.db"
    holdout = Holdout({"a": X[:, 0], "b": X[:, 1]}, Y, practice=0, ledger=str(ledger), name=f"people {TAG}")
    for cut in (0.0, 0.2, 0.4):
        holdout.score((X[:, 0] > cut).astype(int), 0.9, name=f"cut {cut}", tags={"cut": cut, TAG: TAG})
    holdout.score(np.full(3_000, 0.5), 0.25, metric="brier")
    holdout.ask(share(col("a") > 0), 0.9)  # a surprise
    holdout.ask(mean(col("a").fill(0), range=(-5, 5)), 0.0)
    holdout.test(share(col("a") > 0), above=0.3)
    return holdout


def test_a_page_says_it_all_and_runs_nothing(asked: Holdout, tmp_path: Path) -> None:
    page = asked.report(tmp_path / "report.html").read_text()
    for words in ("accuracy", "brier", "Surprises", "Budget", "How to verify", asked.head, "cut=0.2", "not rejected"):
        assert words in page or words == "not rejected"
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert not re.search(r"\bsrc=\"(?!data:)|href=|@import|url\(", page)
    pictures = [base64.b64decode(found) for found in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
    assert len(pictures) == 2  # the best by accuracy, and every answer
    assert all(picture.startswith(b"<svg") and b"<script" not in picture for picture in pictures)
    assert re.search(r"\d\.\d{7}", re.sub(r"base64,[^\"]+", "", page)) is None  # numbers are rounded


def test_markdown_has_its_pictures_beside_it(asked: Holdout, tmp_path: Path) -> None:
    text = asked.report(tmp_path / "report.md").read_text()
    assert "<script" not in text
    figures = re.findall(r"\]\(<(.*?)>\)", text)
    assert len(figures) == 2
    assert all((tmp_path / figure).read_text().startswith("<svg") for figure in figures)
    for line in text.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 7, 10)


def test_the_best_come_first_and_each_question_once() -> None:
    group = MetricDigest("accuracy", 1)
    for place in range(1_000):
        group.add({"value": place % 97 / 97, "width": 0.1, "source": "guess", "index": place}, f"q{place}")
    group.add({"value": 0.95, "width": 0.01, "source": "final", "index": 1_000}, "q96")
    assert (group.asked, len(group.best)) == (1_001, SHOWN)
    assert [row["value"] for row in group.best] == sorted((row["value"] for row in group.best), reverse=True)
    assert len({row["index"] for row in group.best}) == SHOWN
    losses = MetricDigest("log_loss", -1)
    for place in range(30):
        losses.add({"value": float(place), "width": 0.1, "source": "guess", "index": place}, f"q{place}")
    assert losses.best[0]["value"] == 0.0


def test_without_the_extra_there_are_no_pictures(asked: Holdout, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(charts, "available", lambda: False)
    page = asked.report(tmp_path / "report.html").read_text()
    assert "<img" not in page
    assert "unworn[plot]" in page


def test_an_empty_ledger_and_one_that_promises_nothing(tmp_path: Path) -> None:
    empty = Holdout({"a": X[:, 0]}, ledger=None, name="empty")
    assert "nothing has been asked" in empty.report(tmp_path / "empty.html").read_text()
    naive = Holdout({"a": X[:, 0]}, ledger=None, mechanism=Naive())
    naive.ask(share(col("a") > 0))
    assert "Nothing is promised" in naive.report(tmp_path / "naive.md").read_text()
    assert "hold together" not in naive.report(tmp_path / "naive.html").read_text()


def test_a_long_ledger_is_cut(tmp_path: Path) -> None:
    holdout = Holdout({"a": X[:, 0]}, ledger=None)
    questions = [share(col("a") > place / 1_000) for place in range(LISTED + 20)]
    holdout.ask_many(questions, [0.5] * len(questions))
    text = holdout.report(tmp_path / "long.md").read_text()
    assert f"The last {LISTED} of {LISTED + 20} answers" in text
    assert text.count("\n| ") < LISTED + 60


def test_a_report_that_cannot_be_written_is_refused(asked: Holdout, tmp_path: Path) -> None:
    for path in (tmp_path / "report.pdf", tmp_path / "nowhere" / "report.html"):
        with pytest.raises(UnwornError, match="report"):
            asked.report(path)
