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


class Line:
    """Who leads, and who sleeps. ``work`` does everything that is queued; it is never run twice at once."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._turn = threading.Lock()
        self._leading = False
        self._sleepers: list[tuple[Item, threading.Lock]] = []

    def wait(self, item: Item) -> None:
        """Return when a queued item is settled, by somebody else's work or by one's own."""
        leads, bed = False, None
        try:
            with self._turn:
                if item.settled:
                    return
                if self._leading:
                    bed = (item, threading.Lock())
                    bed[1].acquire()
                    self._sleepers.append(bed)
                else:
                    leads = self._leading = True
            if bed is not None:
                self._sleep(bed)
                leads = not item.settled  # woken without being served: it is our turn
            if leads:
                self._work()
        finally:
            if leads:
                with self._turn:
                    self._hand_over()

    def _sleep(self, bed: tuple[Item, threading.Lock]) -> None:
        try:
            bed[1].acquire()
        except BaseException:  # interrupted: nobody may wait for a leader that is gone
            with self._turn:
                if bed in self._sleepers:
                    self._sleepers.remove(bed)
                elif not bed[0].settled:
                    self._hand_over()
            raise

    def _hand_over(self) -> None:
        """Wake those who were served and one who was not, who leads from here on. Called under ``_turn``."""
        if not self._sleepers:
            self._leading = False
            return
        served = [bed for bed in self._sleepers if bed[0].settled]
        self._sleepers = [bed for bed in self._sleepers if not bed[0].settled]
        self._leading = bool(self._sleepers)
        if self._sleepers:
            served.append(self._sleepers.pop(0))
        for _, gate in served:
            gate.release()
