"""Ways in which code can speak while it sees rows. Run as a script: each of them through each verb, in one process.

Every way speaks only if a certain row is there. The asker then does what an asker would: looks at what was recorded,
and runs the same code on rows of their own, to see whether it is still silent. The test compares all that this process
prints with what it prints when the row is not there.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import logging
import multiprocessing
import os
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

SECRET = "SECRET"
TELLTALE = 0.123456789

_stdout, _stderr = sys.stdout, sys.stderr
"""Kept from before, as handlers and progress bars keep them."""
_libc = ctypes.CDLL(None)
_errors: list[str] = []
"""What the asker's own hooks and handlers heard."""
_log = logging.getLogger("asker.child")
_own = logging.getLogger("asker.own")
_own.addHandler(logging.StreamHandler(sys.stderr))
_own.propagate = False


class Listening(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _errors.append(record.getMessage())


class Falling:
    def __init__(self, cycle: bool) -> None:
        self.me = self if cycle else None

    def __del__(self) -> None:
        raise RuntimeError(SECRET)


def _raise() -> None:
    raise RuntimeError(SECRET)


def in_thread(run: Callable[..., Any], *args: Any) -> None:
    thread = threading.Thread(target=run, args=args)
    thread.start()
    thread.join()


def fork() -> None:
    child = multiprocessing.get_context("fork").Process(target=print, args=(SECRET,))
    child.start()
    child.join()


def warn(category: type[Warning]) -> None:
    warnings.warn(SECRET, category, stacklevel=1)


def warn_always() -> None:
    warnings.simplefilter("always")
    warnings.warn(SECRET, stacklevel=1)


def print_traceback() -> None:
    try:
        _raise()
    except RuntimeError:
        traceback.print_exc()


def divide(**errors: Any) -> None:
    with np.errstate(**errors):
        np.ones(1) / np.zeros(1)


def divide_and_call() -> None:
    np.seterrcall(lambda *told: print(SECRET))
    divide(all="call")


WAYS: dict[str, Callable[[], Any]] = {
    "print": lambda: print(SECRET),
    "print without an end": lambda: print(SECRET, end=""),
    "print to standard error": lambda: print(SECRET, file=sys.stderr),
    "print to a stream kept from before": lambda: print(SECRET, file=_stdout),
    "write lines to a stream kept from before": lambda: _stderr.writelines([SECRET]),
    "the first standard output": lambda: sys.__stdout__.write(SECRET),  # type: ignore[union-attr]
    "bytes": lambda: sys.stdout.buffer.write(SECRET.encode()),
    "descriptor 1": lambda: os.write(1, SECRET.encode()),
    "descriptor 2": lambda: os.write(2, SECRET.encode()),
    "C's puts, left in its buffer": lambda: _libc.puts(SECRET.encode()),
    "a shell": lambda: os.system(f"echo {SECRET}; echo {SECRET} >&2"),
    "another program": lambda: subprocess.run(["echo", SECRET], check=True),
    "a fork": fork,
    "a thread": lambda: in_thread(print, SECRET),
    "a thread that fails": lambda: in_thread(_raise),
    "a warning": lambda: warn(UserWarning),
    "a deprecation": lambda: warn(DeprecationWarning),
    "a runtime warning": lambda: warn(RuntimeWarning),
    "a warning that insists": warn_always,
    "a warning from a thread": lambda: in_thread(warn, UserWarning),
    "showing a warning": lambda: warnings.showwarning(SECRET, UserWarning, "f", 1),  # type: ignore[arg-type]
    "the root log": lambda: logging.error(SECRET),
    "a child's log": lambda: _log.critical(SECRET),
    "a log of its own": lambda: _own.error(SECRET),
    "a log above all levels": lambda: _log.log(1_000, SECRET),
    "a record handed in": lambda: _log.handle(logging.makeLogRecord({"msg": SECRET, "levelno": 50})),
    "a display": lambda: sys.displayhook(SECRET),
    "a hook for exceptions": lambda: sys.excepthook(RuntimeError, RuntimeError(SECRET), None),
    "a traceback": print_traceback,
    "an object that fails to die": lambda: Falling(cycle=False) and None,
    "a cycle of objects that fail to die": lambda: Falling(cycle=True) and None,
    "NumPy's warnings": lambda: divide(all="warn"),
    "NumPy's prints": lambda: divide(all="print"),
    "NumPy's call": divide_and_call,
}


class Model(ClassifierMixin, BaseEstimator):
    """Right on every row; and speaks if the row is there."""

    def __init__(self, way: str) -> None:
        self.way = way

    def fit(self, X: Any, y: Any) -> Model:
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        X = np.asarray(X)
        if (X[:, 0] == TELLTALE).any():
            vars(sys.modules[__name__])["WAYS"][self.way]()  # found at run time: some of it cannot be fingerprinted
        return (X[:, 1] > 0).astype(int)


def look(way: str, columns: Any) -> Any:
    """The same as a function of columns."""
    return Model(way).predict(np.stack([columns["x0"], columns["x1"]], axis=1))


def share(way: str, columns: Any) -> Any:
    return look(way, columns).mean()


ROWS = 5_000


def rows(with_row: bool) -> tuple[Any, Any]:
    X = np.random.default_rng(5).normal(size=(ROWS, 2))
    if with_row:
        X[17, 0] = TELLTALE
    return X, (X[:, 1] > 0).astype(int)


WARNINGS = frozenset(way for way in WAYS if "warning" in way or way == "a deprecation") - {"NumPy's warnings"}
FILTERS = ("default", "always", "once", "module", "error", "ignore")


def speak() -> None:
    """Each way with nobody listening but the test: to see that it does speak."""
    _listen()
    for way in WAYS:
        for stream in (sys.stdout, sys.stderr):
            print("--", way, file=stream, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            WAYS[way]()
        gc.collect()
        _libc.fflush(None)
        print("heard", len(_errors), flush=True)
        _errors.clear()


def _listen() -> None:
    logging.getLogger().addHandler(Listening())
    sys.unraisablehook = lambda told: _errors.append("unraisable")
    threading.excepthook = lambda told: _errors.append("thread")


def ask_everything(with_row: bool) -> None:
    """Each way through each verb, and what the asker can see of it."""
    from unworn import Holdout, function, statistic
    from unworn.mechanisms import Gaussian
    from unworn.queries import FromModel, accuracy

    X, Y = rows(with_row)
    holdout = Holdout(X, Y, practice=0, ledger=None)
    noisy = Holdout(X, Y, asks=200, mechanism=Gaussian(accounting="D2"), ledger=None)

    def model(way: str, name: str) -> FromModel:
        return FromModel(Model(way), name=name)

    def search(way: str, name: str) -> None:
        estimator = Model(way)
        estimator.serial = name  # type: ignore[attr-defined]
        holdout.scorer("accuracy")(estimator, *rows(False))

    def ask_statistic(way: str, name: str) -> None:
        noisy.ask(statistic(partial(share, way), sensitivity=1 / ROWS, range=(0, 1), name=name))

    verbs: dict[str, Callable[[str, str], Any]] = {
        "score": lambda way, name: holdout.score(Model(way), guess=0.9, name=name),
        "sharpen": lambda way, name: holdout.sharpen(holdout.score(Model(way), guess=0.9, guess_se=0.1, name=name)),
        "compare": lambda way, name: holdout.compare(model(way, name), Y),
        "ask_many": lambda way, name: holdout.ask_many([accuracy(model(way, name))], [0.9]),
        "test": lambda way, name: holdout.test(accuracy(model(way, name)), above=0.5),
        "function": lambda way, name: holdout.ask(function(partial(look, way), binary=True, name=name), 0.5),
        "statistic": ask_statistic,
        "scorer": search,
    }
    _listen()
    number = 0
    for verb, way in itertools.product(verbs, WAYS):
        for state in FILTERS if way in WARNINGS and verb == "score" else FILTERS[:1]:
            print("--", verb, "·", way, "·", state)
            number += 1
            with warnings.catch_warnings():
                warnings.simplefilter(state)  # type: ignore[arg-type]
                verbs[verb](way, f"{number} a")
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter(state)  # type: ignore[arg-type]
                verbs[verb](way, f"{number} b")
            if "to die" in way:
                gc.collect()
            print("recorded", len(seen), "heard", len(_errors), "NumPy", np.geterr())
            _errors.clear()
            if way in WARNINGS and state != "error":  # is the same warning still new to this process?
                with warnings.catch_warnings():
                    warnings.simplefilter(state)  # type: ignore[arg-type]
                    warn(UserWarning)


def search_in_workers(kind: str) -> None:
    """The rows in memory, where workers send their models; or in a file, where workers open it themselves."""
    from sklearn.model_selection import cross_val_score

    from unworn import Holdout

    X, Y = rows(True)
    if kind == "memory":
        holdout = Holdout(X, Y, practice=0, ledger=None)
    else:
        import polars as pl

        pl.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": Y}).write_parquet("rows.parquet")
        holdout = Holdout("rows.parquet", "y", practice=0, ledger="rows.db")
    for way in ("print", "descriptor 2", "C's puts, left in its buffer", "a warning", "the root log", "a fork"):
        told = cross_val_score(Model(way), *rows(False), scoring=holdout.scorer("accuracy"), n_jobs=2, cv=2)
        print("--", way, len(told), holdout.meter.asked)
    holdout.close()


if __name__ == "__main__":
    import emitting  # the module and not the script, whose classes workers could not find

    if sys.argv[1] == "speak":
        emitting.speak()
    elif sys.argv[1] == "workers":
        emitting.search_in_workers(sys.argv[2])
    else:
        emitting.ask_everything(sys.argv[1] == "with the row")
