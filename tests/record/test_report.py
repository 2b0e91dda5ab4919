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
from unworn.record.report import ledger_digest
from unworn.record.report.ledger_digest import LISTED, SHOWN, LedgerDigest, MetricDigest

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
    for words in ("accuracy", "brier", "Surprises", "Budget", "How to verify", asked.head, "cut=0.2"):
        assert words in page
    assert "The mechanism is GuessAndCheck, at 95 %" in page
    assert re.search(r"<h2[^>]*>Tests</h2>", page)
    assert re.search(r"<td[^>]*>(not )?rejected</td>", page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert not re.search(r"\bsrc=\"(?!data:)|href=|@import|url\(", page)
    pictures = [base64.b64decode(found) for found in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
    assert len(pictures) == 2  # the best by accuracy, and every answer
    assert all(picture.startswith(b"<svg") and b"<script" not in picture for picture in pictures)
    assert re.search(r"\d\.\d{7}", re.sub(r"base64,[^\"]+", "", page)) is None  # numbers are rounded


def test_who_asked_for_f1_or_rmse_is_told_what_they_are_made_of(tmp_path: Path) -> None:
    """A composite has no answer of its own: its parts are under other names."""
    holdout = Holdout({"a": X[:, 0]}, Y, practice=0, ledger=None)
    holdout.score(Y, metric="accuracy")
    before = holdout.report(tmp_path / "before.md").read_text()
    holdout.score(Y, metric="f1")
    holdout.score(X[:, 0], metric="rmse", range=(0, 4))
    after = holdout.report(tmp_path / "after.md").read_text()
    for words in ("F1 is made of it", "RMSE is its root"):
        assert words in after
        assert words not in before


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
    page = empty.report(tmp_path / "empty.html").read_text()
    assert "nothing has been asked" in page
    assert "Tests</h2>" not in page
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


def test_what_stands_in_for_a_loss_in_a_subgroup_is_explained(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    holdout = Holdout({"a": rng.random(4_000)}, rng.normal(size=4_000), ledger=None, practice=0.25)
    for said in (np.zeros(4_000), np.ones(4_000)):
        holdout.score(said, metric="mse", range=(0, 20), where="a > 0.5")
    holdout.score(said, metric="r2", range=(0, 20), where="a > 0.5")
    text = holdout.report(tmp_path / "part.md").read_text()
    assert "mse (range 0 to 20) less a constant times a" in text
    assert "the mean in the subgroup is the constant plus the value over the subgroup's share" in text
    assert "over its share it is the mean in the subgroup" in text
    assert "RMSE is its root" not in text
    assert "the best: the lowest" in text  # of whole losses
    assert "e-05" not in text


def test_a_rejected_hypothesis_is_a_surprise_that_is_listed_elsewhere(tmp_path: Path) -> None:
    holdout = Holdout({"a": X[:, 0]}, ledger=None)
    assert holdout.test(share(col("a") > -9), above=0.1).rejected
    assert "A hypothesis that was rejected is one too." in holdout.report(tmp_path / "tests.md").read_text()


def test_of_many_answers_a_few_are_drawn_all_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_digest, "DRAWN", 10)
    holdout = Holdout({"a": X[:, 0]}, Y, practice=0, ledger=None)
    answers = [holdout.ask(share(col("a") > cut), 0.5).label for cut in np.linspace(-1, 1, 25)]
    drawn = LedgerDigest.of(holdout._desk.transcript).drawn
    assert [row["question"] for row in drawn] == answers[::3]
