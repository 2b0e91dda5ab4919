"""A storm of interrupts on one holdout, in a process of its own: ``python storm.py <ledger> <interrupts> <threads>``.

Interrupts come by a timer, several of them within a fraction of a millisecond, wherever the main thread is: asking,
committing, handing over, or still cleaning up after the one before. Other threads ask all the while. Prints what
happened; who waits for ever is for the caller to notice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import traceback
from types import CodeType, FrameType
from typing import Any

import numpy as np

from unworn import Holdout, col, share
from unworn.errors import UnwornError

_SHORTEST, _LONGEST = 2e-6, 6e-4


class Storm:
    """Interrupts whoever is inside of ``asking``, and nobody else: this script must not be hit while it cleans up."""

    def __init__(self) -> None:
        self.asking: CodeType | None = None
        self.count = 0
        self._striking = False

    def strike(self, _: int, frame: FrameType | None) -> None:
        if self._striking:  # on a busy machine the next one comes before this one is through, and so on without end
            return
        self._striking = True
        try:
            self._interrupt(frame)
        finally:
            self._striking = False

    def _interrupt(self, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not self.asking:
            frame = frame.f_back
        if frame is not None:
            self.count += 1
            raise KeyboardInterrupt


def run(ledger: str | None, interrupts: int, threads: int) -> dict[str, Any]:
    rows = {"a": np.random.default_rng(0).normal(size=200)}
    holdout, storm, dice = Holdout(rows, ledger=ledger), Storm(), random.Random(7)
    told: dict[int, float] = {}
    errors: list[str] = []
    over = threading.Event()

    def ask(cut: float) -> None:
        answer = holdout.ask(share(col("a") > cut), 0.5)
        told[answer.index] = answer.value

    def others(number: int) -> None:
        place = 0
        while not over.is_set():
            place += 1
            try:
                ask(number + 1 / place)
            except UnwornError as error:
                errors.append(f"{type(error).__name__}: {error}")
            over.wait(0.002)

    for cut in (-1.0, 0.0, 3.0):  # whatever is imported on the way: Python itself may keep its import lock for ever
        ask(cut)
    company = [threading.Thread(target=others, args=(10 + place,), daemon=True) for place in range(threads)]
    for thread in company:
        thread.start()
    storm.asking = ask.__code__
    signal.signal(signal.SIGALRM, storm.strike)
    calls = 0
    while storm.count < interrupts:
        calls += 1
        gap = dice.choice((1e-5, 3e-5, 1e-4, 2e-4))
        signal.setitimer(signal.ITIMER_REAL, dice.uniform(_SHORTEST, _LONGEST), gap)
        try:
            ask(dice.randrange(40 + calls // 50) / 100 if calls % 3 else -1.0)
        except KeyboardInterrupt:
            pass
        except UnwornError as error:
            errors.append(f"{type(error).__name__}: {error}")
        signal.setitimer(signal.ITIMER_REAL, 0)
    over.set()
    for thread in company:
        thread.join()
    last = threading.Thread(target=ask, args=(99.0,))  # a thread that was never interrupted: is anything still held?
    last.start()
    last.join()
    holdout.verify()
    entered = {entry.index: entry.body for entry in holdout._desk.store.read(holdout.id)[1:]}
    lost = [index for index, value in told.items() if entered[index]["published"][0] != value]
    stopped = sum(body["symbol"] == "stopped" for body in entered.values())
    failed = sum(body["symbol"] == "raised" for body in entered.values())
    return {
        "interrupts": storm.count, "calls": calls, "entries": len(entered), "stopped": stopped, "failed": failed,
        "lost": len(lost), "errors": sorted(set(errors))[:3],
    }  # fmt: skip


if __name__ == "__main__":
    where, count, company = sys.argv[1:4]
    said, sys.stderr = sys.stderr, open(os.devnull, "w")  # noqa: SIM115
    try:
        print(json.dumps(run(None if where == "memory" else where, int(count), int(company))))
    except BaseException:
        traceback.print_exc(file=said)
        raise SystemExit(1) from None
