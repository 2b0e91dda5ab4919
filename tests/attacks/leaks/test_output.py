"""Nothing that code says while it sees sealed rows comes out: prints, warnings, logs, C's buffers, children, hooks.

:mod:`emitting` lists the ways. They are tried in a process of their own, whose real standard output and standard error
are compared with and without the row that makes the code speak.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tests.attacks.leaks.emitting import SECRET, WAYS
from unworn import Holdout
from unworn.holdout.asking import code_on_train
from unworn.queries.code import withheld_output
from unworn.queries.code.withheld_output import withhold_output
from unworn.queries.row_protocol import Raised, run_guarded

HERE = Path(__file__).parent


def run_script(folder: Path, *args: str) -> tuple[str, str]:
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, str(HERE / "emitting.py"), *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


def test_every_way_speaks_where_nothing_withholds_it(tmp_path: Path) -> None:
    told: dict[str, str] = dict.fromkeys(WAYS, "")
    for stream in run_script(tmp_path, "speak"):
        for part in stream.split("-- ")[1:]:
            way, _, text = part.partition("\n")
            told[way] += text.replace("heard 0", "")
    silent = [way for way, text in told.items() if not text.strip()]
    assert silent == []


def test_nothing_depends_on_the_rows(tmp_path: Path) -> None:
    with_row, without = (run_script(tmp_path, f"{how} the row") for how in ("with", "without"))
    for told, other in zip(with_row, without, strict=True):
        assert told.splitlines() == other.splitlines()
    assert SECRET not in with_row[0]


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_nothing_comes_out_of_workers(kind: str, tmp_path: Path) -> None:
    out, err = run_script(tmp_path, "workers", kind)
    assert out.count("-- ") == 6  # each was asked
    assert SECRET not in out + err


def test_an_encoder_does_not_tell_which_values_occur() -> None:
    """Group testing by warnings about unknown categories would find every value in the rows."""
    values = np.random.default_rng(0).integers(0, 50, 100).astype(float)
    holdout = Holdout(values.reshape(-1, 1), np.arange(100) % 2)
    told = []
    for value in range(50):
        known = np.append(np.setdiff1d(np.arange(50.0), [value]), 99.0)
        encoder = OneHotEncoder(categories=[known], handle_unknown="warn").fit([[99.0]])
        model = make_pipeline(encoder, DummyClassifier(strategy="constant", constant=1).fit(np.zeros((2, 1)), [0, 1]))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            holdout.score(model, guess=0.5)
        told.append(len(seen))
    assert told == [0] * 50


# ---------------------------------------------------------------- all of it comes back


class Quiet:
    """A stream that takes no attributes."""

    __slots__ = ("told",)

    def __init__(self) -> None:
        self.told: list[str] = []

    def write(self, text: str) -> int:
        self.told.append(text)
        return len(text)

    def flush(self) -> None: ...


@pytest.mark.parametrize("stream", [io.StringIO(), Quiet(), None], ids=["in memory", "without attributes", "none"])
def test_replaced_streams_are_silent_and_come_back(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with withhold_output():
        print("withheld")
    assert sys.stdout is stream
    print("told")
    if stream is not None:
        assert (stream.getvalue() if isinstance(stream, io.StringIO) else "".join(stream.told)) == "told\n"


def hooks() -> list[Any]:
    return [
        sys.stdout,
        sys.stdout.write,
        sys.unraisablehook,
        sys.excepthook,
        sys.displayhook,
        threading.excepthook,
        logging.Logger.callHandlers,
        list(warnings.filters),
        warnings.showwarning,
        os.fstat(1).st_ino,
        os.fstat(2).st_ino,
        len(os.listdir("/dev/fd")),
    ]


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError])
def test_everything_comes_back_whatever_is_raised(error: type[BaseException]) -> None:
    before = hooks()

    def fail() -> Any:
        warnings.simplefilter("always")
        sys.displayhook = print
        raise error

    with pytest.raises(Raised):
        run_guarded(fail)
    sys.displayhook = before[4]
    assert hooks() == before


@pytest.mark.parametrize("error", [TimeoutError, SystemExit, KeyboardInterrupt])
def test_everything_comes_back_if_a_signal_comes_while_it_does(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler raises whatever it likes, wherever the main thread is: here, when output is about to come back."""
    before, dup2 = hooks(), os.dup2
    struck: list[int] = []

    def strike(*descriptors: int) -> int:
        if withheld_output._inside == {} and not struck:
            struck.append(1)
            raise error
        return dup2(*descriptors)

    monkeypatch.setattr(os, "dup2", strike)
    with pytest.raises(error), withheld_output.withhold_output():
        pass
    monkeypatch.undo()
    assert struck
    assert hooks() == before


def test_everything_comes_back_after_nested_and_parallel_use(capfd: pytest.CaptureFixture[str]) -> None:
    before = hooks()
    inside, leave = threading.Barrier(5), threading.Event()

    def work() -> None:
        with withhold_output(), withhold_output():
            inside.wait(10)
            print("withheld")
            leave.wait(10)
            print("withheld")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    os.write(1, b"withheld")
    leave.set()
    for thread in threads:
        thread.join()
    os.write(1, b"told")
    assert hooks() == before
    assert capfd.readouterr() == ("told", "")


def test_a_child_forked_by_another_thread_can_speak(capfd: pytest.CaptureFixture[str]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with withhold_output():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        os.write(1, b"child")
        os._exit(0)
    os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert capfd.readouterr().out == "child"


def test_code_that_records_its_own_warnings_still_can() -> None:
    def careful() -> int:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.warn("mine", stacklevel=1)
        return len(seen)

    assert run_guarded(careful) == 1


def test_it_is_said_once_and_before_any_row_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    code_on_train.say_what_is_withheld.cache_clear()
    heard: list[int] = []

    class Model:
        def predict(self, X: Any) -> Any:
            heard.append(len(caplog.records))
            return np.zeros(len(X))

    holdout = Holdout(np.zeros((100, 1)), np.zeros(100))
    holdout.score(np.zeros(100), guess=0.9)
    assert caplog.records == []
    for name in ("a", "b"):
        holdout.score(Model(), guess=0.9, name=name)
    assert heard == [1, 1]
    assert [record.name for record in caplog.records] == ["unworn"]
    assert "train=" in caplog.text
