"""Final values that fail, are interrupted, or are asked for by two at once."""

from __future__ import annotations

import itertools
import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.holdout.test_final import CLOSED, HIGH, LOW, ROWS, count_of, sealed
from unworn import Holdout, col, function, share
from unworn.errors import Exhausted, Failed
from unworn.events import Finished, Stopped
from unworn.holdout import desk


def test_code_that_fails_is_the_last_word_all_the_same() -> None:
    holdout = sealed()

    def fails(columns: Any) -> Any:
        raise ValueError("no")

    broken = function(fails, range=(0, 1), name="fails")
    with pytest.raises(Failed):
        holdout.final(broken)
    with pytest.raises(Exhausted, match=CLOSED):  # that it failed is a fact about the rows, and nothing was paid for it
        holdout.ask(HIGH, guess=0.3)
    with pytest.raises(Failed):
        holdout.final(broken)
    assert holdout.meter.asked == 1
    holdout.verify()
    going_on = sealed()
    with pytest.raises(Failed):
        going_on.final(broken, close=False)
    assert going_on.meter.spent > math.log(2)
    going_on.ask(HIGH, guess=0.3)
    going_on.verify()


def test_the_others_come_where_one_fails() -> None:
    holdout = sealed()
    broken = function(lambda columns: 1 / 0, range=(0, 1), name="fails")
    told = holdout.final([HIGH, broken, LOW])
    assert [answer.source for answer in told] == ["final", "failed", "final"]
    assert (told[1].low, told[1].high) == (0.0, 1.0)
    holdout.verify()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_interrupt_ends_nothing_unless_a_value_was_told(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while the question at this place is read, after those before it."""
    holdout = sealed()
    questions = [HIGH, LOW, share(col("x1") > 0)]
    reply, asked = desk.make_reply, itertools.count()

    def interrupted(*given: Any) -> Any:
        if next(asked) == place:
            raise KeyboardInterrupt
        return reply(*given)

    monkeypatch.setattr(desk, "make_reply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        holdout.final(questions)
    monkeypatch.undo()
    events = [record.event for record in holdout._desk.transcript.records]
    assert events == [*[Finished(True, 0.0)] * place, Stopped()]
    holdout.verify()
    if place:
        with pytest.raises(Exhausted, match=CLOSED):
            holdout.ask(share(col("x1") > 1), guess=0.16)
        assert holdout.final(HIGH).value == count_of(0.5) / ROWS
        assert holdout.final(HIGH).certificate.record.offer.final == (0, 3, True)
    else:
        assert holdout.ask(share(col("x1") > 1), guess=0.16).source == "guess"
        assert holdout.meter.spent < 0.02
        assert [answer.source for answer in holdout.final(questions)] == ["final"] * 3  # what was interrupted comes
    holdout.verify()


def test_code_that_interrupts_itself_is_told_and_ends_it() -> None:
    """It may have done so because of the rows."""
    holdout = sealed()

    def stops(columns: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        holdout.final(function(stops, range=(0, 1), name="stops"))
    with pytest.raises(Exhausted, match=CLOSED):
        holdout.ask(HIGH, guess=0.3)
    holdout.verify()


def test_two_who_end_it_at_once() -> None:
    """Whoever is second is refused, or told the same; and the ledger is whole."""
    holdout = sealed()
    found: list[Any] = []

    def end(question: Any) -> None:
        try:
            found.append(holdout.final(question))
        except Exhausted as error:
            found.append(error)

    threads = [threading.Thread(target=end, args=(question,)) for question in (HIGH, HIGH, LOW, LOW)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers = [each for each in found if not isinstance(each, Exhausted)]
    assert len(found) == 4
    assert len({answer.index for answer in answers}) == 1
    assert holdout.meter.asked == 1
    holdout.verify()


def test_what_was_fixed_together_while_others_told_some_of_it(tmp_path: Path) -> None:
    """The place of each is that of when it is entered, not of when it was prepared."""
    one, two = (sealed(ledger=tmp_path / "ledger.db") for _ in range(2))
    middle = share(col("x1") > 0)
    asks = one._final_asks(one._listed([HIGH, LOW, middle])[1], True, None)
    two.final(HIGH, close=False)  # which is no last word, and no repeat of one
    told = one._desk.enter(asks)
    assert [answer.certificate.record.offer.final for answer in told] == [(0, 3, True), (1, 3, True), (2, 3, True)]
    for each in (one, two):
        each.verify()
        each.close()


@pytest.mark.parametrize("share_of_rows", [0.0, 0.02, 0.5, 0.98])
@pytest.mark.parametrize("guess", [0.0, 1.0])
@pytest.mark.parametrize("close", [False, True])
def test_a_final_value_follows_noise_whose_check_failed(share_of_rows: float, guess: float, close: bool) -> None:
    """The check says whether few rows count; what it says is no octave of anything, and was taken for one."""
    columns = {"a": (np.arange(2_000) % 100 < 100 * share_of_rows).astype(float)}
    holdout = Holdout(columns, schema={"a": "number"}, ledger=None)
    noisy = holdout.ask(share(col("a") > 0.5), guess, noise=True)
    final = holdout.final(noisy, close=close)
    assert final.low <= share_of_rows <= final.high
    assert noisy.low <= final.low
    assert final.high <= noisy.high
    holdout.verify()
