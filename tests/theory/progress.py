"""What ``make theory`` prints: each test as it ends, how many of how many, and what is running when nothing ends.

A plugin (``-p tests.theory.progress``), because pytest's own dots say neither which test nor how long, and with
workers only percentages. It prints in the process that collects the reports. Without ``-n`` that process runs the
tests too, and pytest holds back what is printed meanwhile: then only the lines at the end of each test appear.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

QUIET = 60.0
"""After so many seconds without a line the tests that are running are named."""


def clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock(61.4), clock(3600)
    ('1:01', '60:00')
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Counts reports, and says what they say."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started = self._spoken = time.monotonic()
        self._running: dict[str, float] = {}
        self._done, self._total = 0, 0
        self._over = threading.Event()

    # ------------------------------------------------------------------ how many there are

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._total = max(self._total, len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self._total = max(self._total, len(ids))

    # ------------------------------------------------------------------ what happens

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._done += 1
            self._running.pop(report.nodeid, None)
            self._say(f"{report.outcome} in {report.duration:.1f} s  {report.nodeid}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Iterator[None]:
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        try:
            return (yield)
        finally:
            self._over.set()
            watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(QUIET / 4):
            now = time.monotonic()
            if self._running and now - self._spoken >= QUIET:
                told = [f"{name} for {clock(now - since)}" for name, since in list(self._running.items())]
                self._say("still running: " + ", ".join(told))

    def _say(self, words: str) -> None:
        self._spoken = time.monotonic()
        line = f"{self._done:4} of {self._total}  {clock(self._spoken - self._started):>6}  {words}"
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(line, flush=True)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker's reports are told by whoever started it
        config.pluginmanager.register(Progress(config), "unworn-progress")


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """The lines above stand for the dots."""
    return (report.outcome, "", "") if report.when == "call" else None
