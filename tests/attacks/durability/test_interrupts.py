"""Interrupts: nothing is charged if no row was touched; else there is an entry, and it is said so. Nobody is stuck."""

from __future__ import annotations

import contextlib
import inspect
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tests.attacks.leaks.test_own_errors import opened, question
from unworn import Failed, Holdout, col, function, share
from unworn.errors import LedgerError, Unaskable
from unworn.holdout import ask_queue, asks, desk, ledger_book, memo
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.mechanisms import kinds
from unworn.rows import Sample

ROWS = {"a": np.random.default_rng(0).normal(size=200)}
MODULES = {
    module.__file__: inspect.getsource(module).splitlines() for module in (desk, ledger_book, memo, asks, ask_queue)
}


@pytest.mark.parametrize("name", sorted(kinds()))
def test_an_interrupt_while_rows_are_read_is_an_entry_and_closes_nothing(name: str) -> None:
    holdout = opened(name)

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt("row 17 is 42")

    with pytest.MonkeyPatch.context() as patch:
        for verb in ("statistics", "counts", "means", "differences", "rounded", "drawn"):
            patch.setattr(Sample, verb, interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            holdout.ask(question(name), 0.5)
    assert caught.value.args == ()
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert "entered and charged as answer 1" in caught.value.__notes__[0]
    assert all(frame.name not in ("_read", "interrupted", "answer") for frame in caught.traceback)
    assert holdout._desk.transcript.records[0].symbol == "stopped"
    with pytest.raises(Failed, match="again=True"):
        holdout.ask(question(name), 0.5)
    assert holdout.ask(question(name), 0.5, again=True).index == 2
    assert holdout.meter.asked == 2
    holdout.verify()


def test_an_interrupt_of_the_askers_code_has_a_word_of_its_own() -> None:
    """Code that raises one error for some rows and an interrupt for others would else tell two things for one price."""
    nats = []
    for error in (KeyboardInterrupt, ValueError):
        holdout = Holdout(ROWS, ledger=None)

        def code(columns: Any, error: type[BaseException] = error) -> Any:
            raise error

        with pytest.raises((KeyboardInterrupt, Failed)):
            holdout.ask(function(code, range=(0, 1), name="code"), 0.5)
        record = holdout._desk.transcript.records[0]
        nats.append((record.symbol, record.event))
        holdout.verify()
    assert [symbol for symbol, _ in nats] == ["stopped", "raised"]
    assert nats[0][1] != nats[1][1]


def test_an_interrupted_batch_ends_there() -> None:
    holdout = Holdout(ROWS)
    ran: list[str] = []

    def asked(name: str, error: BaseException | None) -> Any:
        def code(columns: Any) -> Any:
            ran.append(name)
            if error is not None:
                raise error
            return columns["a"] > 0

        return function(code, range=(0, 1), name=name)

    with pytest.raises(KeyboardInterrupt):
        holdout.ask_many([asked("one", None), asked("two", KeyboardInterrupt()), asked("three", None)])
    assert ran == ["one", "two"]
    assert holdout.meter.asked == 2
    holdout.verify()


def test_a_signal_that_ends_the_program_still_does(monkeypatch: pytest.MonkeyPatch) -> None:
    holdout = Holdout(ROWS)

    def terminated(*_: Any) -> Any:
        raise SystemExit(143)  # as a handler of SIGTERM does

    monkeypatch.setattr(Sample, "counts", terminated)
    monkeypatch.setattr(Sample, "statistics", terminated)
    with pytest.raises(SystemExit) as caught:
        holdout.ask(share(col("a") > 0), 0.5)
    assert caught.value.code == 143
    assert holdout.meter.asked == 1


# ---------------------------------------------------------------- before every line of the way


class Interrupting:
    """Raises before the line with this number that is run of the modules between a question and its entry."""

    def __init__(self, step: int) -> None:
        self.step, self.seen = step, 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        lines = MODULES.get(frame.f_code.co_filename)
        if lines is None:
            return None
        # Python looks for signals after calls and at jumps: not between a block's end and its lock's release.
        if event == "line" and not lines[frame.f_lineno - 1].lstrip().startswith(("with ", "try:")):
            self.seen += 1
            if self.seen == self.step:
                raise KeyboardInterrupt
        return self


@pytest.fixture(params=["memory", "sqlite"])
def holdout(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdout]:
    made = Holdout(ROWS, ledger=None if request.param == "memory" else tmp_path / "ledger.db")
    made.ask(share(col("a") > 0), 0.5)
    yield made
    made.close()


def test_an_interrupt_before_any_line_charges_what_was_read_and_holds_nobody_up(
    holdout: Holdout, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    statistics = Sample.statistics

    def noted(self: Sample, *args: Any) -> Any:
        read.append(1)
        return statistics(self, *args)

    monkeypatch.setattr(Sample, "statistics", noted)
    step, asked, charged = 0, holdout.meter.asked, 0
    while True:
        step += 1
        read.clear()
        fresh = share(col("a") > step / 1000)
        sys.settrace(Interrupting(step))
        try:
            holdout.ask(fresh, 0.5)
        except KeyboardInterrupt:
            pass
        else:
            break
        finally:
            sys.settrace(None)
        now = holdout.meter.asked
        assert now - asked == 1 if read else now - asked <= 1
        charged, asked = charged + now - asked, now
        other = threading.Thread(target=holdout.ask, args=(share(col("a") > 0),), daemon=True)
        other.start()
        other.join(30)
        assert not other.is_alive(), f"interrupted at step {step}, and everybody waits"
    assert step > 100
    assert charged > 20
    holdout.verify()


# ---------------------------------------------------------------- storms


def storm(ledger: str, interrupts: int, threads: int, seconds: int) -> dict[str, Any]:
    script = Path(__file__).with_name("storm.py")
    command = [sys.executable, str(script), ledger, str(interrupts), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any], interrupts: int) -> None:
    assert found["interrupts"] >= interrupts
    assert found["lost"] == found["failed"] == 0
    assert found["entries"] > 3
    assert all("was interrupted while the rows were read" in error for error in found["errors"])


@pytest.mark.skipif(sys.platform == "win32", reason="no interval timers")
@pytest.mark.parametrize(("kind", "threads"), [("memory", 0), ("memory", 2), ("sqlite", 2)])
def test_a_short_storm_of_interrupts_leaves_nobody_waiting(kind: str, threads: int, tmp_path: Path) -> None:
    check(storm("memory" if kind == "memory" else str(tmp_path / "l.db"), 300, threads, 300), 300)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no interval timers")
@pytest.mark.parametrize(
    ("kind", "interrupts", "threads"), [("memory", 40_000, 0), ("memory", 20_000, 3), ("sqlite", 40_000, 2)]
)
def test_storms_of_100_000_interrupts_leave_nobody_waiting(
    kind: str, interrupts: int, threads: int, tmp_path: Path
) -> None:
    check(storm("memory" if kind == "memory" else str(tmp_path / "l.db"), interrupts, threads, 1_800), interrupts)


class Striking:
    """A lock under which a signal arrives, once, whose handler does something."""

    def __init__(self, lock: Any, handler: Callable[[], object]) -> None:
        self._lock, self._handlers = lock, [handler]

    def __enter__(self) -> None:
        self._lock.__enter__()
        while self._handlers:
            self._handlers.pop()()

    def __exit__(self, *error: object) -> None:
        self._lock.__exit__(*error)

    def _is_owned(self) -> bool:
        owned: bool = self._lock._is_owned()
        return owned


@pytest.mark.parametrize("of", ["queue", "store"])
def test_a_signals_handler_may_ask_while_its_thread_stands_in_line(of: str, tmp_path: Path) -> None:
    holdout = Holdout({"a": np.arange(200.0)}, ledger=tmp_path / "x.db")
    told: list[int] = []

    def ask(cut: float) -> None:
        with contextlib.suppress(Unaskable):  # the handler's question, where the thread answers one already
            told.append(holdout.ask(share(col("a") > cut), 0.5).index)

    def strike(lock: Any) -> Striking:
        return Striking(lock, lambda: ask(10.0))

    if of == "queue":
        holdout._desk._queue._turn = strike(holdout._desk._queue._turn)  # type: ignore[assignment]
    else:
        store = holdout._desk.store
        assert isinstance(store, SQLiteStore)
        store._lock = strike(store._lock)  # type: ignore[assignment]
    thread = threading.Thread(target=ask, args=(20.0,), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert sorted(told) == ([1, 2] if of == "queue" else [1])
    holdout.close()


def test_a_signals_handler_that_asks_another_holdout_of_the_same_store_is_refused(tmp_path: Path) -> None:
    """In the midst of a commit of its own thread: what it interrupted is durable, and nothing else is charged."""
    store = SQLiteStore(tmp_path / "x.db")
    one, other = (Holdout({"a": np.arange(200.0) + shift}, ledger=store) for shift in (0, 1000))
    refused: list[str] = []

    def ask_other() -> None:
        with pytest.raises(LedgerError, match="signal handler") as caught:
            other.ask(share(col("a") > 1010), 0.5)
        refused.append(caught.value.message)

    lock = store._lock
    store._lock = Striking(lock, ask_other)  # type: ignore[assignment]
    assert one.ask(share(col("a") > 10), 0.5).index == 1
    store._lock = lock
    assert len(refused) == 1
    assert other.meter.asked == 0
    assert other.ask(share(col("a") > 1010), 0.5).index == 1
    for holdout in (one, other):
        holdout.verify()
    store.close()
