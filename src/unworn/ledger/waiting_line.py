"""A line in which those who wait do each other's work.

There is no background thread. The first to come leads: it does all the work that is queued, while the others queue
behind it. When it is done, those it served go on at once and one of the rest leads. (With a plain lock, those already
served would stand in line behind the next round.)

An interrupt may come between any two steps, and several may come one after another, so that no step of handing over,
and no cleaning up, is sure to be done. Only one thing is: a lock of C that is held by ``with`` is let go however the
block is left. So everybody in line holds a lock of their own while they stay, and leads only while it is held: whoever
left without handing over is seen to be gone, and somebody who waits takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

_LOOK = 0.05
"""Seconds after which those who sleep look, for the first time, whether their leader is still there."""
_SELDOM = 1.0
"""Seconds between two looks at most."""


class Item(Protocol):
    """Something to be done; ``settled`` once it is, well or badly."""

    @property
    def settled(self) -> bool: ...


class _Waiter:
    """Where one of those who wait sleeps, until it was served or is to lead. ``stay`` is held while it is in line."""

    def __init__(self, item: Item) -> None:
        self.item, self.thread, self.stay = item, threading.get_ident(), threading.Lock()
        self.gate: threading.Lock | None = None

    def lie_down(self) -> threading.Lock:
        """The gate to sleep before: closed, until somebody wakes this one."""
        if self.gate is None:
            gate = threading.Lock()
            gate.acquire()
            self.gate = gate
        return self.gate

    @property
    def is_there(self) -> bool:
        return self.stay.locked()

    def wake(self) -> None:
        if (
            self.gate is not None and self.gate.locked()
        ):  # only under the line's lock, so that nobody else is about to do the same
            self.gate.release()


class Line:
    """Who leads, and who sleeps. ``work`` does everything that is queued; it is never run twice at once."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._turn = threading.RLock()  # reentrant, because a signal's handler may ask, wherever its thread is
        self._first: _Waiter | None = None
        self._sleepers: list[_Waiter] = []

    @property
    def led_by(self) -> int | None:
        """The thread that leads just now, if it is still there."""
        first = self._first
        return first.thread if first is not None and first.is_there else None

    def wait(self, item: Item) -> None:
        """Return when a queued item is settled, by somebody else's work, or when one has led oneself."""
        if item.settled:
            return
        me, patience = _Waiter(item), _LOOK
        with me.stay:
            while not item.settled:
                with self._turn:
                    first = self._first
                    leads = first is None or first is me or not first.is_there
                    if leads:
                        self._first = me
                    elif me not in self._sleepers:
                        me.lie_down()
                        self._sleepers.append(me)
                if leads:
                    try:
                        self._work()
                    finally:
                        self._hand_over(me)
                    return
                if not me.lie_down().acquire(timeout=patience):
                    patience = min(2 * patience, _SELDOM)
            # Served, and not chosen to lead; but an item may be settled just when its owner is chosen.
            if self._first is me:
                self._hand_over(me)

    def _hand_over(self, me: _Waiter) -> None:
        """Wake those who were served and one who was not, who leads from here on."""
        with self._turn:
            if self._first is not me:  # somebody has taken over, and wakes the others
                return
            if not self._sleepers:
                self._first = None
                return
            there = [bed for bed in self._sleepers if bed.is_there and bed is not me]
            waiting = [bed for bed in there if not bed.item.settled]
            chosen = waiting[0] if waiting else None
            self._sleepers, self._first = waiting[1:], chosen
            for bed in there:
                if bed is chosen or bed.item.settled:
                    bed.wake()
