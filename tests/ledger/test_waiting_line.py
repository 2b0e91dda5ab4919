"""Whoever is interrupted in line, wherever that is and however often, leaves nobody waiting for it."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from unworn.ledger import waiting_line as line_module
from unworn.ledger.waiting_line import Line, _Waiter

LINES = inspect.getsource(line_module).splitlines()
LONG = 30
"""Seconds after which a thread that waits is taken to wait for ever; nobody should need a hundredth of it."""


class Task:
    settled = False


class Desk:
    """A line whose work settles all that is queued."""

    def __init__(self) -> None:
        self.line = Line(self.work)
        self.queue: list[Task] = []
        self.at_once = self.most = 0

    def work(self) -> None:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            while self.queue:
                self.queue.pop().settled = True
        finally:
            self.at_once -= 1

    def enter(self) -> None:
        task = Task()
        while not task.settled:
            self.queue.append(task)
            self.line.wait(task)


def in_time(run: Callable[[], None]) -> bool:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


def interrupted_at(run: Callable[[], None], step: int) -> bool:
    """Whether ``run`` was interrupted before the given line that it runs of the module under test.

    ``with`` and ``try`` are left out: Python looks for signals after calls and at jumps, and there is none between the
    end of a block and the lock's release, or before a ``try`` begins, where a trace would come too.
    """
    seen = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename != line_module.__file__:
            return None
        if event == "line" and not LINES[frame.f_lineno - 1].lstrip().startswith(("with ", "try:")):
            seen += 1
            if seen == step:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interrupt_before_any_line_leaves_the_line_to_the_next() -> None:
    step, desk = 0, Desk()
    while True:
        step += 1
        if not interrupted_at(desk.enter, step):
            break
        assert desk.line.led_by is None
        assert in_time(desk.enter), f"interrupted at step {step}, and nobody leads any more"
    assert step > 15  # all the lines on the way of one who comes alone


@pytest.mark.parametrize("handed", [False, True])
def test_those_who_sleep_take_over_from_a_leader_that_left_without_a_word(
    handed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes when the leader is about to hand over, or has just named the next and woken nobody."""
    desk, begun, go_on, lost = Desk(), threading.Event(), threading.Event(), []
    hand_over, work = Line._hand_over, desk.work

    def leave(self: Line, me: _Waiter) -> None:
        if not lost:
            lost.append(me)
            if handed:
                monkeypatch.setattr(_Waiter, "wake", lambda bed: None)
                hand_over(self, me)
                monkeypatch.undo()
            raise KeyboardInterrupt
        hand_over(self, me)

    def slow() -> None:
        if not begun.is_set():
            begun.set()
            assert go_on.wait(LONG)
            return  # interrupted: nothing is done
        work()

    def lead() -> None:
        with pytest.raises(KeyboardInterrupt):
            desk.line.wait(Task())

    desk.line._work = slow
    monkeypatch.setattr(Line, "_hand_over", leave)
    leader = threading.Thread(target=lead, daemon=True)
    leader.start()
    assert begun.wait(LONG)
    others = [threading.Thread(target=desk.enter, daemon=True) for _ in range(4)]
    for other in others:
        other.start()
    while len(desk.line._sleepers) < len(others):
        pass
    go_on.set()
    for thread in (leader, *others):
        thread.join(LONG)
        assert not thread.is_alive()
    assert len(lost) == 1
    assert desk.most == 1
    assert desk.line.led_by is None


def test_a_leader_whose_frames_are_kept_is_gone_all_the_same() -> None:
    """A notebook keeps the last traceback, and with it every frame that an interrupt came through."""
    desk, kept = Desk(), []

    def interrupted() -> None:
        raise KeyboardInterrupt

    desk.line._work = interrupted
    try:
        desk.line.wait(Task())
    except KeyboardInterrupt as error:
        kept.append(error)
    desk.line._work = desk.work
    assert in_time(desk.enter)


def test_work_is_never_done_twice_at_once() -> None:
    desk = Desk()
    threads = [threading.Thread(target=lambda: [desk.enter() for _ in range(200)], daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    assert desk.most == 1
