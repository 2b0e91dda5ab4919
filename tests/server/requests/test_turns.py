"""Large files are read a few at a time, and one of an account; small ones wait for nobody."""

from __future__ import annotations

import threading
import time

import pytest

from unworn.server.requests.turns import ReadingTurns, Turns

LARGE = 2**20


def most_at_once(turns: ReadingTurns, files: list[tuple[str, int]]) -> int:
    """How many of these files are read at the same time, each by a thread."""
    lock, now, most = threading.Lock(), 0, 0

    def read(account: str, size: int) -> None:
        nonlocal now, most
        with turns.take(account, size):
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.05)
            with lock:
                now -= 1

    threads = [threading.Thread(target=read, args=file) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return most


def test_large_files_take_turns() -> None:
    turns = ReadingTurns()
    assert most_at_once(turns, [("ann", LARGE)] * 6) == 1
    assert most_at_once(turns, [(f"team {number}", 64 * LARGE) for number in range(6)]) == 2
    assert most_at_once(turns, [("ann", LARGE - 1)] * 6) > 2


def test_an_account_that_sends_many_keeps_nobody_waiting_for_all_of_them() -> None:
    turns, done = ReadingTurns(), []

    def read(account: str) -> None:
        with turns.take(account, LARGE):
            time.sleep(0.05)
            done.append(account)

    threads = [threading.Thread(target=read, args=("ann",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    other = threading.Thread(target=read, args=("bob",))
    other.start()
    for thread in (*threads, other):
        thread.join(60)
    assert done.index("bob") < 10


def test_a_turn_ends_with_an_error() -> None:
    turns = Turns()

    def fail() -> None:
        with turns.take("ann"):
            raise ValueError("in the middle")

    for _ in range(3):
        with pytest.raises(ValueError, match="in the middle"):
            fail()
    assert len(turns) == 0
