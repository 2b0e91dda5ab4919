"""Answers: how they print, travel and compare."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from unworn import Answer, Holdout, col, mean, share

X = {"x": np.linspace(-1, 1, 501), "label<b>": np.linspace(0, 1, 501)}


@pytest.fixture(scope="module")
def answer() -> Answer:
    return Holdout(X, name="line", ledger=None).ask(share(col("x") > 0.5), guess=0.25)


def test_what_an_answer_is(answer: Answer) -> None:
    assert float(answer) == answer.value == 0.25
    assert answer.low < 0.25 < answer.high
    assert answer.width == (answer.high - answer.low) / 2
    assert (answer.confidence, answer.source, answer.index) == (0.95, "guess", 1)
    assert answer.label == "share of x > 0.5"
    assert answer.query == share(col("x") > 0.5)


def test_how_it_prints(answer: Answer) -> None:
    ending = "guess; the promise ends with this object"  # the ledger is in memory
    assert str(answer) == f"share of x > 0.5: 0.25 in [{answer.low:.4g}, {answer.high:.4g}] ({ending})"
    assert repr(answer).startswith("Answer(value=0.25, low=0.")
    assert "certificate" not in repr(answer)
    page = answer._repr_html_()
    assert "<b>0.25</b>" in page
    assert "95 % for all answers together" in page


def test_its_page_escapes_and_scales() -> None:
    holdout = Holdout(X, confidence=0.9999, ledger=None)
    page = holdout.ask(share(col("label<b>") > 0.5), guess=0.5)._repr_html_()
    assert "<b>)" not in page
    assert "label&lt;b&gt;" in page
    assert "99.99 %" in page  # never rounded up to certainty
    wide = holdout.ask(mean(col("x").fill(0), range=(-10, 30)), guess=0.0)
    assert "left:25.00%;width:2px" in wide._repr_html_()  # the value's place between -10 and 30


def test_it_travels_without_its_question(answer: Answer) -> None:
    for again in (pickle.loads(pickle.dumps(answer)), copy.copy(answer), copy.deepcopy(answer)):
        assert again == answer
        assert again.query is None
        again.certificate.verify()
        assert again.certificate == answer.certificate


def test_it_is_frozen(answer: Answer) -> None:
    with pytest.raises(AttributeError):
        answer.value = 0.3  # type: ignore[misc]


def test_its_row(answer: Answer) -> None:
    row = answer.row()
    assert row["question"] == "share of x > 0.5"
    assert (row["guess"], row["by"], row["index"]) == (0.25, None, 1)
    assert row["at"].endswith("+00:00")
