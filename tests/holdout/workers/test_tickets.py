"""Tickets and the loopback connection: who may ask from another process, and what comes back."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unworn import Holdout, col, errors, share
from unworn.errors import Exhausted, Failed, LedgerError, Mismatch, Unaskable, UnwornError
from unworn.holdout.workers import tickets
from unworn.holdout.workers.remote_holdout import RemoteHoldout, Server

X = np.random.default_rng(0).normal(size=(600, 2))
Y = (X[:, 0] > 0).astype(int)


class Sign:
    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0).astype(int)


class Failing:
    def predict(self, X: Any) -> Any:
        raise ValueError(f"row {X[0]}")


class Stopping:
    def predict(self, X: Any) -> Any:
        raise KeyboardInterrupt


class Unreadable:
    """Pickles, and cannot be unpickled: as a class only the worker knows."""

    def __reduce__(self) -> Any:
        return explode, ()


def explode() -> None:
    raise ModuleNotFoundError("No module named 'workers_own'")


@pytest.fixture
def holdout() -> Iterator[Holdout]:
    made = Holdout(X, Y, asks=20, ledger=None, practice=0)
    yield made
    made.close()


@pytest.fixture
def remote(holdout: Holdout) -> RemoteHoldout:
    return RemoteHoldout(address_of(holdout))


def address_of(holdout: Holdout) -> Any:
    return holdout.__reduce__()[1][-1]


# ---------------------------------------------------------------- the same verbs


def test_the_same_answers(holdout: Holdout, remote: RemoteHoldout) -> None:
    answer = remote.score(Sign(), 0.99, metric="accuracy")
    assert answer == holdout.score(Sign())
    assert remote.ask(share(col("x0") > 0.5), 0.3) == holdout.ask("x0 > 0.5")
    assert remote.ask("x0 > 0.5", by="worker").index == 2
    assert remote.meter["asked"] == 2
    answer.certificate.verify()
    assert remote.fold_guess(Sign(), X, Y, "accuracy", {}) == holdout.fold_guess(Sign(), X, Y, "accuracy", {})
    assert copy.deepcopy(remote) is remote
    assert copy.copy(remote) is remote


def test_errors_are_raised_again_as_they_are(holdout: Holdout, remote: RemoteHoldout) -> None:
    with pytest.raises(Unaskable, match="no column 'no'"):
        remote.ask(share(col("no") > 1))
    with pytest.raises(Unaskable, match="lies outside"):
        remote.score(Sign(), 7.0)
    with pytest.raises(Unaskable, match="average_precision"):
        remote.score(Sign(), metric="average_precision")
    assert holdout.meter.asked == 0
    with pytest.raises(Failed) as failed:
        remote.score(Failing(), 0.5)
    assert str(failed.value) == Failed.MESSAGE
    assert failed.value.numbers == {"index": 1}
    with pytest.raises(Failed):
        remote.score(Stopping(), 0.5)  # the parent goes on, whatever the worker's model does on its rows
    assert holdout.meter.asked == 2
    for cut in range(18):
        remote.ask(share(col("x0") > cut / 10), 0.5)
    with pytest.raises(Exhausted, match="all 20 planned") as spent:
        remote.ask(share(col("x1") > 0), 0.5)
    assert spent.value.numbers == {"asked": 20, "planned": 20}


@pytest.mark.parametrize(
    "name", [n for n, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, UnwornError)]
)
def test_every_error_of_ours_arrives_as_itself(
    holdout: Holdout, remote: RemoteHoldout, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kind = getattr(errors, name)

    def ask(*args: Any, **options: Any) -> None:
        raise kind("said so", number=3, hidden=object())

    monkeypatch.setattr(holdout, "ask", ask)
    with pytest.raises(kind, match="said so") as caught:
        remote.ask("x0 > 0")
    assert type(caught.value) is kind
    assert caught.value.numbers == {"number": 3}


def test_what_the_parent_cannot_read(holdout: Holdout, remote: RemoteHoldout) -> None:
    with pytest.raises(Unaskable, match="Define the model in a module that both can import"):
        remote.score(Unreadable(), 0.5)
    assert remote.ask("x0 > 0", 0.5).index == 1


def test_an_error_that_is_not_ours_arrives_too(
    holdout: Holdout, remote: RemoteHoldout, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(holdout, "ask", lambda *_, **__: 1 / 0)
        with pytest.raises(UnwornError, match="ZeroDivisionError"):
            remote.ask("x0 > 0")
    assert remote.ask("x0 > 0", 0.5).index == 1


# ---------------------------------------------------------------- strangers


def test_a_wrong_secret_is_turned_away_and_survived(holdout: Holdout, remote: RemoteHoldout) -> None:
    host, port, _ = address_of(holdout)
    for _ in range(3):
        with pytest.raises(AuthenticationError):
            Client((host, port), authkey=b"guess")
        with pytest.raises(LedgerError, match="does not answer"):
            RemoteHoldout((host, port, b"guess")).ask("x0 > 0")
    assert holdout.meter.asked == 0
    assert remote.ask("x0 > 0", 0.5).index == 1


@pytest.mark.parametrize(
    "words", [b"GET / HTTP/1.1\r\n\r\n", b"", b"\x00" * 64, b"\xff" * 64, b"\x00\x00\x00\x05hello"]
)
def test_nonsense_is_survived(holdout: Holdout, remote: RemoteHoldout, words: bytes) -> None:
    host, port, _ = address_of(holdout)
    for _ in range(3):
        with socket.create_connection((host, port), timeout=5) as stranger:
            stranger.sendall(words)
    assert remote.ask("x0 > 0", 0.5).index == 1


def test_one_who_says_nothing_keeps_nobody_waiting(holdout: Holdout) -> None:
    host, port, secret = address_of(holdout)
    silent = [socket.create_connection((host, port), timeout=5) for _ in range(3)]
    answers: list[int] = []
    worker = threading.Thread(
        target=lambda: answers.append(RemoteHoldout((host, port, secret)).ask("x0 > 0", 0.5).index), daemon=True
    )
    worker.start()
    worker.join(10)
    assert answers == [1]
    for stranger in silent:
        stranger.close()


def test_an_interrupted_call_does_not_answer_the_next(remote: RemoteHoldout, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.ask("x0 > 0", 0.5)
    connection: Any = remote._connection
    monkeypatch.setattr(connection, "recv_bytes", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        remote.ask("x0 > 1", 0.2)
    assert remote.ask("x0 > 2", 0.02).label == "share of x0 > 2"


def test_the_address_shows_nowhere(holdout: Holdout, remote: RemoteHoldout) -> None:
    _, _, secret = address_of(holdout)
    assert str(secret) not in repr(remote) + repr(holdout) + repr(holdout.scorer())


# ---------------------------------------------------------------- the end


def test_a_closed_holdout_answers_no_more(holdout: Holdout, remote: RemoteHoldout) -> None:
    remote.ask("x0 > 0", 0.5)
    other = RemoteHoldout(address_of(holdout))
    holdout.close()
    with pytest.raises(LedgerError, match="does not answer"):
        other.ask("x0 > 0.1", 0.5)
    again = RemoteHoldout(address_of(holdout))  # a new ticket listens again
    assert again.ask("x0 > 0.1", 0.5).index == 2


def test_a_forgotten_holdout_says_so() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    remote = RemoteHoldout(address_of(holdout))
    remote.ask("x0 > 0", 0.5)
    del holdout
    gc.collect()
    with pytest.raises(LedgerError, match=r"closed in the parent|does not answer"):
        remote.ask("x0 > 1", 0.5)


def test_threads_end_with_the_holdout() -> None:
    before = {thread.ident for thread in threading.enumerate()}
    holdout = Holdout(X, Y, ledger=None, practice=0)
    remote = RemoteHoldout(address_of(holdout))
    remote.ask("x0 > 0", 0.5)
    holdout.close()
    remote._connection.close()  # type: ignore[union-attr]
    deadline = time.monotonic() + 10
    while any(thread.ident not in before for thread in threading.enumerate()):
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)


# ---------------------------------------------------------------- redeeming


def test_many_threads_of_workers(holdout: Holdout) -> None:
    address = address_of(holdout)
    indices: list[int] = []

    def work(number: int) -> None:
        mine = RemoteHoldout(address)
        indices.extend(mine.ask(share(col("x0") > (number * 4 + step) / 10), 0.5).index for step in range(4))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(indices) == list(range(1, 21))
    holdout.verify()


def test_a_fork_takes_its_own_connection(holdout: Holdout, remote: RemoteHoldout) -> None:
    remote.ask("x0 > 0", 0.5)
    if not hasattr(os, "fork"):
        pytest.skip("needs os.fork")
    code = (
        "import os, pickle, sys\n"
        "from unworn.holdout.workers.remote_holdout import RemoteHoldout\n"
        "remote = RemoteHoldout(eval(sys.argv[1]))\n"
        "remote.ask('x0 > 0.1', 0.5)\n"
        "child = os.fork()\n"
        "for step in range(3):\n"
        "    os.write(1, (remote.ask(f'x0 > {step + (0.5 if child else 0.25)}', 0.5).label + chr(10)).encode())\n"
        "os.wait() if child else os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, repr(address_of(holdout))], capture_output=True, text=True, timeout=60, check=True
    )
    assert sorted(done.stdout.split("\n")[:-1]) == [
        f"share of x0 > {step + part}" for step in range(3) for part in (0.25, 0.5)
    ]
    assert holdout.meter.asked == 8


def test_a_ticket_by_path_is_opened_again(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": X[:, 0], "y": Y})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.head(100).with_columns(pl.col("a") - 7).write_parquet(tmp_path / "train.parquet")
    holdout = Holdout(
        tmp_path / "rows.parquet",
        "y",
        ledger=tmp_path / "ledger.db",
        train=tmp_path / "train.parquet",
        asks=9,
        confidence=0.9,
        max_width=0.4,
        schema={"a": "number"},
        name="rows",
    )
    redeem, ticket = holdout.__reduce__()
    assert ticket[-1] is None  # no address
    assert str(tmp_path / "rows.parquet") in repr(ticket)
    number = ticket[1]
    del tickets._live[number]  # as in another process
    elsewhere = redeem(*ticket)
    assert elsewhere is not holdout
    assert elsewhere.id == holdout.id
    assert elsewhere.max_width == 0.4
    assert redeem(*ticket) is elsewhere  # opened once
    assert elsewhere.ask("a > 0", 0.5) == holdout.ask("a > 0")
    elsewhere.close()
    holdout.close()
    tickets._redeemed.clear()
    frame.with_columns(a=pl.col("a") + 1).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(Mismatch):
        redeem(*ticket)


def test_workers_keep_few_holdouts(tmp_path: Path) -> None:
    tickets._redeemed.clear()
    holdouts = [Holdout(X + shift, Y, ledger=None, practice=0) for shift in range(6)]
    for holdout in holdouts:
        redeem, ticket = holdout.__reduce__()
        redeem(*ticket[:1], "another", *ticket[2:])
    assert len(tickets._redeemed) == 4
    tickets._redeemed.clear()
    for holdout in holdouts:
        holdout.close()


def in_another_process(data: bytes) -> tuple[str, int]:
    holdout = pickle.loads(data)
    return type(holdout).__name__, holdout.ask("x0 > 0.3", 0.4).index


def test_a_ticket_in_a_spawned_process(holdout: Holdout) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(in_another_process, (pickle.dumps(holdout),)) == ("RemoteHoldout", 1)
    assert isinstance(holdout._ticket._server, Server)
