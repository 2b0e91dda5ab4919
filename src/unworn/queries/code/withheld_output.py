"""Nothing that user code says while it sees sealed rows gets out: no print, no warning, no log record.

A warning that "these rows hold an unknown category" is an answer that nobody entered or paid for. So for as long as the
code runs, standard output and standard error (the Python streams, and the file descriptors under them), warnings,
logging, the displays of a notebook and the interpreter's hooks for stray exceptions lead nowhere. All of this belongs
to the process and not to a thread: what other threads print meanwhile is lost as well.

Warnings are neither shown nor raised as errors, and afterwards the interpreter remembers none of them: whether the same
warning is shown the next time must not tell whether it arose on the rows.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from unworn.queries.code.withheld_displays import mute_displays

_DESCRIPTORS = (1, 2)
_lock = threading.Lock()
_inside: dict[object, int] = {}
"""Everybody who is inside, and in which thread."""
_undo: list[Callable[[], object]] = []
"""What brings output back, last first. Each may run twice: an interrupt can come between any two steps."""


@contextlib.contextmanager
def withhold_output() -> Iterator[None]:
    """For as long as this lasts, nothing in this process is printed, warned of or logged."""
    me = object()
    try:
        _enter(me)
        yield
    finally:
        interrupt: BaseException | None = None
        while me is not None:
            try:
                _leave(me)
                me = None
            except BaseException as error:  # whatever a signal's handler raises: not before output is back
                interrupt = error
        if interrupt is not None:
            raise interrupt


def _enter(me: object) -> None:
    with _lock:
        _inside[me] = threading.get_ident()
        if len(_inside) == 1:
            _mute()


def _leave(me: object) -> None:
    from_outside: Exception | None = None
    with _lock:
        _inside.pop(me, None)
        while not _inside and _undo:
            try:
                _undo[-1]()
            except Exception as error:
                # A stream that is closed fails again, and must not keep the others mute. What fails but once came from
                # outside, as the error of a timer does.
                with contextlib.suppress(Exception):
                    _undo[-1]()
                    from_outside = error
            _undo.pop()
    if from_outside is not None:
        raise from_outside


def _mute() -> None:
    every = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    streams = list({id(stream): stream for stream in every if stream is not None}.values())
    _flush(streams)  # what was said before is said
    _mute_descriptors()
    for stream in streams:
        _mute_stream(stream)
    _undo.append(partial(_flush, streams))  # what the code left in a buffer goes where the descriptors lead: nowhere
    _mute_warnings()
    _put(logging.Logger, "callHandlers", _drop)
    _put(sys, "unraisablehook", _drop)
    _put(sys, "excepthook", _drop)
    _put(sys, "displayhook", _drop)
    _put(threading, "excepthook", _drop)
    mute_displays(_put, _undo.append)
    if not gc.get_freeze_count():
        _undo.append(gc.unfreeze)
        gc.freeze()
        # Garbage in cycles would speak from its __del__ when it is collected. Only what is new is looked through.
        _undo.append(gc.collect)


def _drop(*args: Any, **options: Any) -> None:
    """In place of whatever would tell."""


def _put(owner: Any, name: str, value: Any) -> None:
    before = getattr(owner, name)

    def undo() -> None:
        setattr(owner, name, before)

    _undo.append(undo)
    setattr(owner, name, value)


class _Sink:
    """``write`` of a stream that leads nowhere: says that all was written."""

    def __call__(self, text: Any = "", *rest: Any) -> int:
        return len(text) if hasattr(text, "__len__") else 0


def _mute_stream(stream: Any) -> None:
    """In place: whoever kept the stream, as handlers and progress bars do, has the same object before and after."""
    sink = _Sink()
    for name in ("write", "writelines"):
        own = getattr(stream, "__dict__", {}).get(name)
        try:
            setattr(stream, name, sink)
        except (AttributeError, TypeError):  # a stream that takes no attributes
            _replace_stream(stream)
            return

        def undo(name: str = name, own: Any = own) -> None:
            if getattr(stream, name, None) is not sink:
                return  # somebody else's by now
            if own is None:
                delattr(stream, name)
            else:
                setattr(stream, name, own)

        _undo.append(undo)


def _replace_stream(stream: Any) -> None:
    nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  closed when output is back
    _undo.append(nowhere.close)
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        if getattr(sys, name) is stream:
            _put(sys, name, nowhere)


def _mute_descriptors() -> None:
    there: list[int] = []
    for descriptor in _DESCRIPTORS:
        try:
            kept = os.dup(descriptor)
        except OSError:  # closed, as a daemon's may be: then nothing comes out of it
            continue
        _undo.append(partial(_close_once, [kept]))
        _undo.append(partial(os.dup2, kept, descriptor))
        there.append(descriptor)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for descriptor in there:
            os.dup2(nowhere, descriptor)
    finally:
        os.close(nowhere)


def _close_once(descriptors: list[int]) -> None:
    while descriptors:  # forgotten first: closed twice, it might be somebody else's
        os.close(descriptors.pop())


def _mute_warnings() -> None:
    """As ``catch_warnings(record=True)`` does, so that code that records its own warnings still can.

    Ignored warnings leave no mark in the registries of modules, and entering and leaving makes all of those start anew.
    """
    once = dict(getattr(warnings, "onceregistry", {}))
    caught = warnings.catch_warnings(record=True)
    caught.__enter__()
    left: list[bool] = []

    def undo() -> None:
        if not left:
            left.append(True)
            caught.__exit__(None, None, None)
        registry = getattr(warnings, "onceregistry", None)
        if registry is not None and registry != once:
            registry.clear()
            registry.update(once)

    _undo.append(undo)
    warnings.simplefilter("ignore")


def _flush(streams: list[Any]) -> None:
    """Python's buffers and those of C, where they lead to the two descriptors."""
    for stream in streams:
        with contextlib.suppress(Exception):
            if stream.fileno() in _DESCRIPTORS:
                stream.flush()
    for flush in _C_FLUSHES:
        flush()


def _c_flushes() -> list[Callable[[], object]]:
    """``fflush`` for C's two streams. Not for all of them at once: that waits for whoever waits for input."""
    found: list[Callable[[], object]] = []
    with contextlib.suppress(Exception):  # no such library or name on this system: then this is left out
        if sys.platform == "win32":
            library = ctypes.CDLL("ucrtbase")
            library.__acrt_iob_func.restype = ctypes.c_void_p
            files = [ctypes.c_void_p(library.__acrt_iob_func(descriptor)) for descriptor in _DESCRIPTORS]
        else:
            library = ctypes.CDLL(None)
            names = ("__stdoutp", "__stderrp") if sys.platform == "darwin" else ("stdout", "stderr")
            files = [ctypes.c_void_p.in_dll(library, name) for name in names]
        found += [partial(library.fflush, file) for file in files]
    return found


_C_FLUSHES = _c_flushes()


def _after_fork() -> None:
    """In a child: stay mute only where the code that sees rows is what forked. The lock may have been another's."""
    global _lock
    _lock = threading.Lock()
    me = threading.get_ident()
    for token in [token for token, thread in _inside.items() if thread != me]:
        del _inside[token]
    _leave(None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
