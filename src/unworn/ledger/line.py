"""A line in which those who wait do each other's work.

There is no background thread. The first to come leads: it does all the work that is queued, while the others queue
behind it. When it is done, those it served go on at once and one of the rest leads. (With a plain lock, those already
served would stand in line behind the next round.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol


class Item(Protocol):
    """Something to be done; ``settled`` once it is, well or badly."""

    @property
    def settled(self) -> bool: ...


class _Bed:
    """Where one of those who wait sleeps; ``woken`` once it was served, or chosen to lead."""

    def __init__(self, item: Item) -> None:
        self.item, self.woken, self.gate = item, False, threading.Lock()
        self.gate.acquire()

    def wake(self) -> None:
        if not self.woken:
            self.woken = True
            self.gate.release()


class Line:
    """Who leads, and who sleeps. ``work`` does everything that is queued; it is never run twice at once.

    An interrupt may come between any two steps, also of handing over. So these are such that they can be begun anew
    until they are done, or all who sleep would wait for a leader that is gone.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._turn = threading.Lock()
        self._leader: _Bed | None = None
        self._sleepers: list[_Bed] = []

    def wait(self, item: Item) -> None:
        """Return when a queued item is settled, by somebody else's work or by one's own."""
        me, leads = _Bed(item), False
        interrupt: BaseException | None = None
        try:
            with self._turn:
                if item.settled:
                    return
                leads = self._leader is None
                if leads:
                    self._leader = me
                else:
                    self._sleepers.append(me)
            if not leads:
                me.gate.acquire()
                leads = not item.settled  # woken without being served: it is our turn
            if leads:
                self._work()
        finally:  # here, because a call could be interrupted before it begins
            gone: bool = item.settled and not leads
            while not gone:
                try:
                    with self._turn:
                        if me in self._sleepers:  # interrupted asleep
                            self._sleepers.remove(me)
                        if self._leader is me:
                            self._hand_over()
                        gone = True
                except BaseException as error:
                    interrupt = error
        if interrupt is not None:
            raise interrupt

    def _hand_over(self) -> None:
        """Wake those who were served and one who was not, who leads from here on. Called under ``_turn``."""
        waiting = [bed for bed in self._sleepers if not bed.item.settled]
        for bed in self._sleepers:
            if bed.item.settled:
                bed.wake()
        chosen = waiting[0] if waiting else None
        if chosen is not None:
            chosen.wake()
        self._sleepers, self._leader = waiting[1:], chosen  # last, and at once: until here it can be begun anew
