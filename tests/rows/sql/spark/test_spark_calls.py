"""How Spark is called: a statement that takes too long is called off, and pyspark's log is silent."""

from __future__ import annotations

import io
import logging
import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from unworn.errors import Mismatch
from unworn.rows.sql.spark import spark_calls
from unworn.rows.sql.spark.spark_calls import PATIENCE, hush_logging, limit_time
from unworn.rows.sql.spark.spark_sources import attempt


class Jobs:
    """What remembers tags, as a classic session's context and a Connect session do."""

    def __init__(self, patience: str | None) -> None:
        self.tags: set[str] = set()
        self.between = 0  # so many times nothing is found that could be stopped
        self.stopped = threading.Event()
        self.conf = SimpleNamespace(get=lambda key, default: patience if key == PATIENCE and patience else default)

    def add(self, tag: str) -> None:
        self.tags.add(tag)

    def remove(self, tag: str) -> None:
        self.tags.discard(tag)

    def stop(self, tag: str) -> None:
        assert tag in self.tags
        self.between -= 1
        if self.between < 0:
            self.stopped.set()

    def wait(self) -> None:
        """A statement that ends when it is called off, and quotes a row."""
        assert self.stopped.wait(60)
        raise RuntimeError("job cancelled at hunter2")


def session(classic: bool, patience: str | None = None) -> Any:
    jobs = Jobs(patience)
    if classic:
        jobs._sc = SimpleNamespace(addJobTag=jobs.add, removeJobTag=jobs.remove, cancelJobsWithTag=jobs.stop)  # type: ignore[attr-defined]
    else:
        jobs.addTag, jobs.removeTag, jobs.interruptTag = jobs.add, jobs.remove, jobs.stop  # type: ignore[attr-defined]
    return jobs


@pytest.mark.parametrize("classic", [True, False])
def test_what_takes_too_long_is_called_off(classic):
    jobs = session(classic, "0.05")
    with pytest.raises(Mismatch, match=r"within 0\.05 s.*\n.*spark\.unworn\.patience") as failed:
        attempt(jobs.wait, jobs)
    assert failed.value.__context__ is None
    assert failed.value.numbers == {"failure": "RuntimeError"}
    assert not jobs.tags


def test_what_is_called_off_between_two_jobs_is_called_off_again(monkeypatch):
    monkeypatch.setattr(spark_calls, "_AGAIN", 0.01)
    jobs = session(True, "0.05")
    jobs.between = 3
    with pytest.raises(Mismatch, match=r"spark\.unworn\.patience") as failed:
        attempt(jobs.wait, jobs)
    assert failed.value.numbers == {"failure": "RuntimeError"}
    assert jobs.between == -1


@pytest.mark.parametrize("classic", [True, False])
def test_what_is_done_in_time_is_let_be(classic):
    jobs = session(classic)
    assert attempt(lambda: len(jobs.tags), jobs) == 1
    assert not jobs.tags
    assert not jobs.stopped.is_set()


def test_a_failure_in_time_is_none_of_patience():
    jobs = session(True)
    jobs.stopped.set()
    with pytest.raises(Mismatch, match=r"could not read the rows \(RuntimeError\)"):
        attempt(jobs.wait, jobs)


@pytest.mark.parametrize("patience", ["soon", "0", "-1", "inf", "nan", "1e300"])
def test_patience_that_is_none_is_an_hour(patience):
    with limit_time(session(True, patience)) as limit:
        assert limit.seconds == 3600


@pytest.mark.parametrize("name", ["SQLQueryContextLogger", "pyspark.sql.connect.logging"])
def test_only_calls_from_here_are_not_logged(name, monkeypatch):
    """The second is the log of Connect, which its owner must have asked for."""
    if name.startswith("pyspark."):
        pytest.importorskip(name)
    logger = pytest.importorskip("pyspark.logger").PySparkLogger.getLogger(name)
    monkeypatch.setattr(logger, "disabled", False)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logger.addHandler(handler)
    try:
        logger.error("before")
        with hush_logging():
            logger.error("hunter2")
            beside = threading.Thread(target=logger.error, args=("beside",))
            beside.start()
            beside.join()
            with hush_logging():
                pass
            logger.error("hunter2 again")
        logger.error("after")
    finally:
        logger.removeHandler(handler)
    assert re.findall("hunter2|before|beside|after", written.getvalue()) == ["before", "beside", "after"]
