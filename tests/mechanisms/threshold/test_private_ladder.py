"""PrivateLadder: a board behind a secret threshold."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.mechanisms.threshold.sparse import SHARE, Table, folded, log_ratio, scripted, tells
from unworn import Holdout
from unworn.errors import Exhausted, Unaskable
from unworn.events import Climbed, Crossed
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import PrivateLadder
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.noisy.privacy_price import price
from unworn.queries.query import Facts

ROWS = 100_000
BOARD = PrivateLadder(step=0.02, epsilon=0.02, tops=4, baseline=0.5)


def labels(seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, ROWS)


def submission(right: float, seed: int) -> np.ndarray:
    """Predictions that are right in this share of the cases."""
    return np.where(np.random.default_rng(seed).random(ROWS) < right, labels(), 1 - labels())


def test_the_comparison_is_as_private_as_a_sparse_vector() -> None:
    """60 rows, baseline 30, step 3: counts are held against 33."""
    table = Table(PrivateLadder(step=0.05, epsilon=2.0, tops=2, baseline=0.5), rows=60, far=40)
    told = (*(False,) * 12, True)
    ratio = log_ratio(table.instance((36,) * 12 + (33,), told), table.instance((37,) * 12 + (32,), told))
    assert 1.98 < ratio <= 2.0 + 1e-9


def test_the_best_moves_by_whole_steps_and_never_down() -> None:
    state = BOARD.begin(ROWS, 0.95, 100)
    assert BOARD.best(BOARD.offer(state, SHARE, None)) == 50_000
    for symbol, steps in (("below", 0), (61_100, 6), (61_900, 1), (40_000, 1), ("below", 0)):
        offer = BOARD.offer(state, SHARE, None)
        before = BOARD.best(offer)
        event = BOARD.event(offer, symbol)
        assert event == Climbed(steps, 0.0)
        state = BOARD.after(state, event)
        after = BOARD.best(BOARD.offer(state, SHARE, None))
        assert after - before == steps * 2_000
    assert (state.best, state.surprises, state.asked, state.round) == (8, 3, 5, 4)
    assert BOARD.event(BOARD.offer(state, SHARE, None), 10**9).steps == 17  # type: ignore[union-attr]
    for event in (Crossed(True), Climbed(-1, 0.0)):
        with pytest.raises(TypeError):
            BOARD.after(state, event)


def test_a_climb_is_released_with_noise_of_its_own() -> None:
    state = BOARD.begin(ROWS, 0.95, 100)
    offer, script = BOARD.offer(state, SHARE, None), {"threshold": -5, "count": 10, "value": 77}
    with scripted(script):
        assert tells(BOARD, state, offer, 60_000) == 60_077
        assert tells(BOARD, state, offer, 51_984) == "below"
        assert tells(BOARD, state, offer, 51_985) == 52_062  # 51,985 + 10 = 52,000 - 5


def test_losses_are_climbed_downwards() -> None:
    board = PrivateLadder(step=0.02, epsilon=0.02, tops=4, baseline=0.5, higher=False)
    state = board.begin(ROWS, 0.95, 100)
    offer, script = board.offer(state, SHARE, None), {"threshold": 0, "count": 0, "value": 0}
    with scripted(script):
        assert tells(board, state, offer, 60_000) == "below"
        symbol = tells(board, state, offer, 40_000)
    assert symbol == 60_000
    better, worse = publish_symbol(board, offer, symbol), publish_symbol(board, offer, "below")
    assert better.value == pytest.approx(0.4)
    assert better.low < 0.4 < better.high
    assert worse.high == 1.0
    assert worse.low == pytest.approx(1 - price(board, ROWS, 100, state.log_beta).limits(0.52)[1])
    assert board.best(board.offer(folded(board, state, [symbol]), SHARE, None)) == 60_000


def test_a_board_through_the_holdout() -> None:
    """Seeded; a miss is many noises away."""
    board = Holdout(None, labels(), mechanism=BOARD, asks=100, ledger=SeededStore(np.random.default_rng(2)))
    first = board.score(submission(0.7, 3))
    assert first.source == "ladder"
    assert first.low <= 0.7 <= first.high
    for seed in range(4, 10):
        told = board.score(submission(0.65, seed))
        assert told.source == "not better"
        assert (told.low, told.low <= 0.65 <= told.high) == (0.0, True)
        assert told.high < 0.85
    better = board.score(submission(0.8, 11))
    assert better.source == "ladder"
    assert better.low <= 0.8 <= better.high
    assert (board.meter.spent, board.meter.currency) == (2.0, "tops")
    assert board._desk.transcript.state.best == 15
    with pytest.raises(Unaskable, match="one submission at a time"):
        board.ask_many([*(board_question(seed) for seed in (20, 21))])
    for right in (0.9, 0.99):
        board.score(submission(right, 12))
    with pytest.raises(Exhausted, match="4 of 4"):
        board.score(submission(0.5, 13))
    board.verify()


def board_question(seed: int) -> object:
    from unworn.queries import metric

    return metric("accuracy", submission(0.6, seed))


def test_a_restart_keeps_the_best(tmp_path: Path) -> None:
    ledger, board = str(tmp_path / "board.db"), PrivateLadder(tops=5, baseline=0.5)
    holdout = Holdout(None, labels(), mechanism=board, asks=50, ledger=ledger)
    holdout.score(submission(0.8, 3))
    state = holdout._desk.transcript.state
    assert state.best is not None
    assert state.best > 0
    holdout.close()
    reopened = Holdout(None, labels(), mechanism=board, asks=50, ledger=ledger)
    assert reopened._desk.transcript.state == state
    assert reopened.score(submission(0.6, 4)).source == "not better"
    reopened.verify()


def test_the_plan_chooses_noise_and_a_step_that_noise_does_not_climb() -> None:
    board = PrivateLadder.for_(rows=10**6, asks=10_000, tops=20)
    assert board.step is not None
    assert board.epsilon is not None
    assert 0.001 < board.step < 0.1
    assert board.widest(board.offer(board.begin(10**6, 0.95, 10_000), SHARE, None)) < 0.1
    with pytest.raises(ValueError, match="bring more rows"):
        PrivateLadder.for_(rows=1_000, asks=1_000, width=0.01)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PrivateLadder(step=0.0), "above 0"),
        (lambda: PrivateLadder(step=2.0), "share"),
        (lambda: PrivateLadder(epsilon=math.nan), "above 0"),
        (lambda: PrivateLadder(tops=0), "whole number"),
        (lambda: PrivateLadder(baseline=1.5), "baseline"),
        (lambda: PrivateLadder(range=(1.0, 0.0)), "range"),
        (lambda: PrivateLadder().begin(100, 0.95, 10), "step=, epsilon="),
    ],
)
def test_bad_parameters_are_told_the_valid_range(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_other_questions_are_refused() -> None:
    for facts, words in (
        (Facts("paired", -1.0, 1.0, True), "one score per submission"),
        (Facts("unit", 0.0, 5.0), r"\[0, 5\]"),
        (Facts("binary", 0.0, 1.0, True, runs_code=True), "array"),
        (Facts("statistic", 0.0, 1.0, sensitivity=0.1), "BoundedNoise"),
    ):
        with pytest.raises(Unaskable, match=words):
            BOARD.check(facts)
