"""Numbers as people read them, and values that format like numbers."""

from __future__ import annotations

import re

import numpy as np

from unworn import Holdout, col, mean, share

ROWS = {"a": np.random.default_rng(3).random(2_000), "b": np.arange(2_000) % 2}
LONG = re.compile(r"\d\.\d{7}")


def test_answers_format_as_numbers() -> None:
    holdout = Holdout(ROWS, "b", practice=0.25, ledger=None)
    answer = holdout.ask(share(col("a") > 0.5), 0.512345678)
    assert f"{answer:.3f}" == "0.512"
    assert f"{answer:8.1%}" == "   51.2%"
    assert f"{answer}" == str(answer)
    estimate = holdout.practice.ask(share(col("a") > 0.5))
    assert f"{estimate:.2f}" == format(estimate.value, ".2f")


def test_no_repr_and_no_page_shows_seventeen_digits() -> None:
    holdout = Holdout(ROWS, "b", practice=0.25, ledger=None)
    answer = holdout.ask(share(col("a") > 0.35), 0.512345678901234)  # a surprise
    prices = [
        holdout.quote(share(col("a") > 0.9), 1 / 7),
        holdout.quote(share(col("a") > 0.35)),
        holdout.quote(mean(col("a").fill(0), range=(0, 70_000)), 23.3333333333),
        holdout.quote_final(answer),
        holdout.quote_final(answer, close=False),
    ]
    verdict = holdout.test(share(col("a") > 0.5), above=0.75)
    fitted = holdout.score(lambda rows: rows["a"] / 3, metric="r2", range=(0, 1))  # against practice rows' mean
    for shown in (answer, verdict, fitted, holdout.meter, holdout.practice.ask(share(col("a") > 0.5)), *prices):
        html = re.sub(r"style='[^']*'", "", shown._repr_html_())
        for text in (repr(shown), str(shown), html):
            assert LONG.search(text) is None, text
    assert holdout.meter.spent == float(repr(holdout.meter.spent))  # the field itself keeps all its digits
    assert "at worst" in prices[0]._repr_html_()
    assert "comes back, free" in prices[1]._repr_html_()
