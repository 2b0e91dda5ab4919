"""The queue of asks: those who wait do each other's work, so that one commit serves many.

There is no background thread. The first to come leads: it answers and enters all that is queued, while the others queue
behind it. When it is done, those it served go on at once and one of the rest leads. (With a plain lock, those already
served would stand in line behind the next round.)

An interrupt may come between any two steps, and several may come one after another, so that no step of handing over,
and no cleaning up, is sure to be done. Only one thing is: a lock of C that is held by ``with`` is let go however the
block is left. So everybody in line holds a lock of their own while they stay, and leads only while it is held: whoever
left without handing over is seen to be gone, and somebody who waits takes over.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from unworn.holdout.asks import Ask
from unworn.holdout.memo import Memo
from unworn.ledger import Entry
from unworn.queries.row_protocol import Rows
from unworn.record.answer import Answer

_LOOK = 0.05
"""Seconds after which those who sleep look, for the first time, whether their leader is still there."""
_SELDOM = 1.0
"""Seconds between two looks at most."""
_TOGETHER = 64
"""Callers served at once from which on late ones wait for the next turn, or a stream of them would hold all up."""
_LATE = 0.25
"""Seconds for which late ones are taken up: where rows are far away, one question takes longer than many commits."""


class Job:
    """One caller's questions, until they are settled: answered, or refused with an error of the caller's own."""

    def __init__(self, asks: Sequence[Ask], rows: Rows) -> None:
        self.asks = asks
        self.memo = Memo(rows)
        self.places: list[int] = []
        self.written: list[Entry] = []
        self.answers: list[Answer] = []
        self.error: Exception | None = None
        self.settled = False

    @property
    def short(self) -> bool:
        """Whether this is one question that runs no code of the asker's, who may have all day."""
        return len(self.asks) == 1 and not self.asks[0].facts.runs_code

    def settle(self, error: Exception | None = None) -> None:
        self.error = error
        self.settled = True  # last, because another thread may be looking


class Place:
    """One caller's place in line. ``stay`` is held, by ``with``, as long as the caller is there."""

    def __init__(self, job: Job) -> None:
        self.job, self.thread, self.stay = job, threading.get_ident(), threading.Lock()
        self.gate: threading.Lock | None = None

    def close_gate(self) -> threading.Lock:
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
        """Only under the queue's lock, so that nobody else is about to do the same."""
        if self.gate is not None and self.gate.locked():
            self.gate.release()


class AskQueue:
    """The jobs that wait, in their order, and who leads: never two at once."""

    def __init__(self) -> None:
        self.waiting: deque[Job] = deque()
        self._turn = threading.RLock()  # reentrant, because a signal's handler may ask, wherever its thread is
        self._first: Place | None = None
        self._sleepers: list[Place] = []

    @property
    def led_by(self) -> int | None:
        """The thread that leads just now, if it is still there."""
        first = self._first
        return first.thread if first is not None and first.is_there else None

    # ---- who leads

    def is_to_lead(self, me: Place) -> bool:
        """Sleep until one's job is settled, by somebody else's work, or until one is to do the work oneself.

        To be called while ``me.stay`` is held. Whoever leads hands over when the work is done.
        """
        patience = _LOOK
        while not me.job.settled:
            with self._turn:
                first = self._first
                leads = first is None or first is me or not first.is_there
                if leads:
                    self._first = me
                elif me not in self._sleepers:
                    me.close_gate()
                    self._sleepers.append(me)
            if leads:
                return True
            if not me.close_gate().acquire(timeout=patience):
                patience = min(2 * patience, _SELDOM)
        # Served, and not chosen to lead; but a job may be settled just when its owner is chosen.
        if self._first is me:
            self.hand_over(me)
        return False

    def hand_over(self, me: Place) -> None:
        """Wake those who were served and one who was not, who leads from here on."""
        with self._turn:
            if self._first is not me:  # somebody has taken over, and wakes the others
                return
            if not self._sleepers:
                self._first = None
                return
            there = [place for place in self._sleepers if place.is_there and place is not me]
            unserved = [place for place in there if not place.job.settled]
            chosen = unserved[0] if unserved else None
            self._sleepers, self._first = unserved[1:], chosen
            for place in there:
                if place is chosen or place.job.settled:
                    place.wake()

    # ---- what is queued

    def take_up(self, jobs: list[Job]) -> Iterator[Job]:
        """Whoever waits and, one by one, whoever comes meanwhile and is soon done; all of them are added to ``jobs``.

        One commit more would cost all of them more than one short question more.
        """
        waiting = self.waiting
        try:
            for _ in range(len(waiting)):
                job = waiting.popleft()
                if not (job.settled or job in jobs):  # put back, and come again, after an interrupt
                    jobs.append(job)
                    yield job
            if not waiting:
                return
            until = time.monotonic() + _LATE
            while len(jobs) < _TOGETHER and time.monotonic() < until and waiting[0].short:
                job = waiting.popleft()
                if not (job.settled or job in jobs):
                    jobs.append(job)
                    yield job
        except IndexError:  # nobody is left, or the last one has just given up
            return

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Those that were taken up and are not settled are the first of the next turn."""
        self.waiting.extendleft(reversed([job for job in jobs if not job.settled]))

    def withdraw(self, job: Job) -> None:
        """Nobody would hear the answer."""
        with suppress(ValueError):
            while True:
                self.waiting.remove(job)
