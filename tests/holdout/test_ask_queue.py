"""Whoever is interrupted in line, wherever that is and however often, leaves nobody waiting for it."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from unworn.holdout import ask_queue
from unworn.holdout.ask_queue import AskQueue, Job, Place

LINES = inspect.getsource(ask_queue).splitlines()
LONG = 30
"""Seconds after which a thread that waits is taken to wait for ever; nobody should need a hundredth of it."""


def new_job() -> Job:
    rows = SimpleNamespace(has_parts=True)  # which nobody reads here
    return Job([], rows)  # type: ignore[arg-type]


class Clerk:
    """A queue whose work settles all that waits."""

    def __init__(self) -> None:
        self.queue, self.work = AskQueue(), self.settle_all
        self.at_once = self.most = 0

    def settle_all(self) -> None:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        jobs: list[Job] = []
        try:
            for job in self.queue.take_up(jobs):
                job.settle()
        finally:
            self.queue.put_back(jobs)
            self.at_once -= 1

    def wait(self, job: Job) -> None:
        """As the desk does."""
        place = Place(job)
        with place.stay:
            if self.queue.is_to_lead(place):
                try:
                    self.work()
                finally:
                    self.queue.hand_over(place)

    def enter(self) -> None:
        job = new_job()
        while not job.settled:
            self.queue.waiting.append(job)
            self.wait(job)


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
        if frame.f_code.co_filename != ask_queue.__file__:
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
    step, clerk = 0, Clerk()
    while True:
        step += 1
        if not interrupted_at(clerk.enter, step):
            break
        assert clerk.queue.led_by is None
        assert in_time(clerk.enter), f"interrupted at step {step}, and nobody leads any more"
    assert step > 15  # all the lines on the way of one who comes alone


@pytest.mark.parametrize("handed", [False, True])
def test_those_who_sleep_take_over_from_a_leader_that_left_without_a_word(
    handed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes when the leader is about to hand over, or has just named the next and woken nobody."""
    clerk, begun, go_on, lost = Clerk(), threading.Event(), threading.Event(), []
    hand_over, work = AskQueue.hand_over, clerk.work

    def leave(self: AskQueue, me: Place) -> None:
        if not lost:
            lost.append(me)
            if handed:
                monkeypatch.setattr(Place, "wake", lambda place: None)
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
            clerk.wait(new_job())

    clerk.work = slow
    monkeypatch.setattr(AskQueue, "hand_over", leave)
    leader = threading.Thread(target=lead, daemon=True)
    leader.start()
    assert begun.wait(LONG)
    others = [threading.Thread(target=clerk.enter, daemon=True) for _ in range(4)]
    for other in others:
        other.start()
    while len(clerk.queue._sleepers) < len(others):
        pass
    go_on.set()
    for thread in (leader, *others):
        thread.join(LONG)
        assert not thread.is_alive()
    assert len(lost) == 1
    assert clerk.most == 1
    assert clerk.queue.led_by is None


def test_a_leader_whose_frames_are_kept_is_gone_all_the_same() -> None:
    """A notebook keeps the last traceback, and with it every frame that an interrupt came through."""
    clerk, kept = Clerk(), []

    def interrupted() -> None:
        raise KeyboardInterrupt

    clerk.work = interrupted
    try:
        clerk.wait(new_job())
    except KeyboardInterrupt as error:
        kept.append(error)
    clerk.work = clerk.settle_all
    assert in_time(clerk.enter)


def test_work_is_never_done_twice_at_once() -> None:
    clerk = Clerk()
    threads = [threading.Thread(target=lambda: [clerk.enter() for _ in range(200)], daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    assert clerk.most == 1
