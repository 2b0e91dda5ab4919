"""Rows with the same schema look alike from outside: all but the answers is the same, whatever they hold.

The same questions are put to ordinary rows and to rows that hold nothing but extremes. What is refused and in which
words, what is warned of or logged, and what another kind of error says must not depend on which of them were asked.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from unworn import Failed, Holdout, UnwornError, col, mean, mechanisms, share
from unworn.mechanisms import Mechanism
from unworn.queries import Query, metric

ROWS = 300
SCHEMA = {"a": "number?", "b": "bool", "t": "text?", "d": "date?", "i": "number"}
EXTREMES = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, -0.0]
WORDS = {"plain": ["u", "v", "w"], "extreme": ["", "\x00", "nan", "True", "é", "x" * 3_000], "alike": ["u"]}
DAYS = ["2020-06-01", "1970-01-01", "0001-01-01", "9999-12-31", "NaT"]
LABELS: dict[str, dict[str, list[Any]]] = {
    "numbers": {"plain": [0, 1], "extreme": [-(2**62), 0, 1, 400, 2**62], "alike": [0]},
    "floats": {"plain": [0.25, 0.5, 1.0], "extreme": EXTREMES, "alike": [np.nan]},
    "words": WORDS,
    "truths": {"plain": [True, False], "extreme": [True], "alike": [False]},
}
Ask = Callable[[Holdout], Any]


def opened(style: str, labels: str, mechanism: Mechanism | None) -> Holdout:
    rng = np.random.default_rng(len(style))

    def drawn(plain: list[Any], extreme: list[Any], alike: list[Any]) -> Any:
        values = {"plain": plain, "extreme": extreme, "alike": alike}[style]
        dtype = object if isinstance(values[0], str) else None
        return np.array(values, dtype)[rng.integers(0, len(values), ROWS)]

    rows = {
        "a": drawn(rng.normal(size=50).tolist(), EXTREMES, [np.nan]),
        "b": drawn([True, False], [True], [False]),
        "t": drawn(*WORDS.values()),
        "d": np.array(drawn(DAYS[:2], DAYS, ["NaT"]).tolist(), "datetime64[us]"),
        "i": drawn([-1, 0, 2], [-(2**62), 2**53 + 1, 0], [0]),
    }
    options = {} if mechanism is None else {"mechanism": mechanism, "asks": 30}
    return Holdout(rows, drawn(*LABELS[labels].values()), schema=SCHEMA, practice=0, ledger=None, **options)


class Questions:
    """An endless, repeatable sequence of questions, most of them such as can be asked."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)

    def number(self, depth: int) -> Any:
        if depth == 0:
            return col(self.rng.choice(["a", "i"]))
        left = self.number(depth - 1)
        right = self.rng.choice([self.number(depth - 1), 0, 1e308, 5e-324, 2.0**53])
        return self.rng.choice([left + right, left * right, left / right, -left, left.fill(1e308)])

    def condition(self) -> Any:
        number = self.number(self.rng.randrange(3))
        found = self.rng.choice([
            number > 0, number == 1e308, number.between(-1, 1e308), number.is_null(), col("t") == "u", col("b"),
            col("t").isin(["", "nan"]), col("d") > np.datetime64("1970-01-01"), col("d").is_null(),
        ])  # fmt: skip
        return found if self.rng.random() < 0.6 else self.rng.choice([~found, found & col("b"), found | col("b")])

    def query(self) -> Query:
        rng, place = np.random.default_rng(self.rng.randrange(9)), self.rng.randrange(8)
        chance, word = rng.random(ROWS), np.array(["u", "v"], object)[rng.integers(0, 2, ROWS)]
        answers = self.rng.choice([word, rng.integers(0, 2, ROWS), rng.random(ROWS) < 0.5])
        if place < 2:
            return share(self.condition())
        if place == 2:
            return share(self.condition(), given=self.condition())
        if place == 3:
            return mean(self.number(2).fill(0), range=self.rng.choice([(0, 1), (-1e300, 1e300)]))
        if place == 4:
            return metric("accuracy", answers)
        if place == 5:
            return metric(self.rng.choice(["mae", "mse"]), chance, range=self.rng.choice([(0, 1), (0, 1e300)]))
        positive = self.rng.choice([1, "u", True])
        if place == 6:
            return metric(self.rng.choice(["brier", "log_loss", "roc_auc"]), chance, positive=positive)
        return metric(self.rng.choice(["recall", "precision"]), answers, positive=positive)

    def ask(self) -> Ask:
        query, guess = self.query(), self.rng.choice([None, 0.0, 0.5, 0.97])
        verbs: list[Ask] = [
            lambda holdout: holdout.ask(query, guess), lambda holdout: holdout.ask(query, guess),
            lambda holdout: holdout.ask(query, guess, noise=True), lambda holdout: holdout.test(query, above=0.5),
            lambda holdout: holdout.final(query, close=False),
        ]  # fmt: skip
        return self.rng.choice(verbs)


def face(ask: Callable[[], Ask], holdout: Holdout, caplog: pytest.LogCaptureFixture) -> tuple[Any, ...]:
    """All that an asker sees, but for the answer; and how far asks have come, which earlier answers decide."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            ask()(holdout)
            told: tuple[Any, ...] = ("answered",)
        except Failed:
            raise AssertionError("no question of ours fails on rows") from None
        except UnwornError as why:
            told = type(why), re.sub(r"(surprises|asked|±|spent) [\d.e-]+", r"\1", str(why))
    return *told, [str(each.message) for each in warned], [record.getMessage() for record in caplog.records]


@pytest.mark.filterwarnings("ignore::unworn.errors.RepeatedRows")
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", ["guess and check", "noise", "cells"])
def test_rows_of_one_schema_look_alike(name: str, labels: str, caplog: pytest.LogCaptureFixture) -> None:
    mechanism = {"guess and check": None, "noise": mechanisms.BoundedNoise(), "cells": mechanisms.Rounding()}[name]
    caplog.set_level(logging.DEBUG)
    holdouts = [opened(style, labels, mechanism) for style in WORDS]
    questions, answered = Questions(len(name) + len(labels)), 0
    with np.errstate(all="warn"):
        for _ in range(60):
            state = questions.rng.getstate()

            def again(state: Any = state) -> Ask:
                questions.rng.setstate(state)
                return questions.ask()

            try:
                again()
            except UnwornError:
                continue  # no question: there are no rows yet
            first, *others = (face(again, holdout, caplog) for holdout in holdouts)
            assert all(other == first for other in others), first
            answered += first[0] == "answered"
    assert answered >= 10
