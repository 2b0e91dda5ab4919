"""How Spark is called: nobody overhears a row, and nobody waits for ever.

When a statement fails, pyspark itself logs what went wrong, and that may quote a row; so its log is silent about calls
that are made here. And when every worker is gone, Spark waits for others to come, without end; so a statement that is
not done in time is called off.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

PATIENCE = "spark.unworn.patience"
"""The setting of a session that says how many seconds one statement may take."""
_SECONDS = 3600.0
_AGAIN = 5.0
_TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
_here = threading.local()


class _Hush(logging.Filter):
    """Lets nothing pass that is logged by a thread while it calls from here."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_here, "calling", False)


_HUSH = _Hush()


@contextmanager
def hush_logging() -> Iterator[None]:
    """What this thread does now is not logged by pyspark."""
    with suppress(ImportError):
        from pyspark.logger import PySparkLogger  # it must make these loggers itself, or its own calls of them fail

        for name in _TALKATIVE:
            PySparkLogger.getLogger(name).addFilter(_HUSH)  # once is enough, and again does nothing
    before, _here.calling = getattr(_here, "calling", False), True
    try:
        yield
    finally:
        _here.calling = before


@dataclass
class Limit:
    """How many seconds a statement has, and whether it took longer."""

    seconds: float
    passed: bool = False


@contextmanager
def limit_time(session: Any) -> Iterator[Limit]:
    """What this thread starts now in Spark is called off when it takes longer than the session's patience."""
    limit = Limit(_patience(session))
    tag = f"unworn-{uuid.uuid4().hex}"
    context = getattr(session, "_sc", None)  # a classic session has one, and its jobs are known there to every thread
    if context is not None:
        add, remove, stop = context.addJobTag, context.removeJobTag, context.cancelJobsWithTag
    else:
        add, remove, stop = session.addTag, session.removeTag, session.interruptTag

    ended = threading.Event()

    def call_off() -> None:
        wait = limit.seconds
        while not ended.wait(wait):  # more than once: what comes between two jobs of a statement stops neither
            limit.passed, wait = True, _AGAIN
            with suppress(Exception):  # Spark may be gone altogether, and then says so where it was called
                stop(tag)

    add(tag)
    threading.Thread(target=call_off, daemon=True).start()
    try:
        yield limit
    finally:
        ended.set()
        with suppress(Exception):
            remove(tag)


def _patience(session: Any) -> float:
    """The seconds that the owner allows, or an hour."""
    try:
        seconds = float(session.conf.get(PATIENCE, str(_SECONDS)))
    except ValueError:
        return _SECONDS
    return seconds if 0 < seconds < threading.TIMEOUT_MAX else _SECONDS
