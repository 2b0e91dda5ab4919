"""Whatever dies, whenever: no answer that a client saw is missing from the ledger, none is charged twice, the chain is
whole, and the service resumes by itself."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import socket
import subprocess
import time
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer, find_programs
from tests.server.asking_clients import PLACE, AskingClients, ask, check_ledger, make_holdout
from tests.server.server_process import ServerProcess
from tests.two_sizes import in_two_sizes, reseeded


@contextlib.contextmanager
def serving(root: Path, *options: str) -> Iterator[ServerProcess]:
    server = ServerProcess(root, "--rate", "0", "--quiet", *options)
    try:
        yield server
    finally:
        server.stop()


@in_two_sizes(short=2, full=100)
def test_a_server_that_is_killed_and_started_again(size: int, tmp_path: Path) -> None:
    """SQLite, one process; whoever watches over it starts it again, as systemd does."""
    rng, root = random.Random(reseeded(1)), tmp_path / "places"
    make_holdout(root)
    with serving(root) as server:
        clients = AskingClients(server)
        try:
            for _ in range(size):
                clients.wait_for(3)
                time.sleep(rng.uniform(0, 0.3))
                server.kill()
                server.start()
            clients.wait_for(5)
        finally:
            clients.stop()
    assert clients.failures == []
    assert clients.retries > 0
    charged = check_ledger(root, clients.answered)
    assert charged.keys() == clients.answered.keys()  # each was answered in the end, and stands there once


@in_two_sizes(short=2, full=50)
def test_workers_that_share_files_are_killed(size: int, tmp_path: Path) -> None:
    """SQLite, two workers: whoever holds a lock when it is killed lets go of it, and the other one goes on."""
    rng, root = random.Random(reseeded(3)), tmp_path / "places"
    make_holdout(root)
    with serving(root, "--workers", "2") as server:
        clients = AskingClients(server)
        try:
            for _ in range(size):
                clients.wait_for(3)
                time.sleep(rng.uniform(0, 0.3))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(server.workers()), signal.SIGKILL)
            clients.wait_for(5)
        finally:
            clients.stop()
    assert clients.failures == []
    charged = check_ledger(root, clients.answered)
    assert charged.keys() == clients.answered.keys()


@pytest.mark.postgres
@in_two_sizes(short=4, full=200)
def test_workers_and_their_database_are_killed(size: int, tmp_path: Path) -> None:
    """PostgreSQL, two workers: one of them or the database, at random; nobody starts the workers again but they."""
    if find_programs() is None:
        pytest.skip("no PostgreSQL is installed here")
    rng, root, postgres = random.Random(reseeded(2)), tmp_path / "places", PostgresServer()
    try:
        url = postgres.new_database()
        make_holdout(root, ledger=url)
        with serving(root, "--workers", "2", "--database", f"{url}?schema=server") as server:
            clients = AskingClients(server)
            try:
                for kill in range(size):
                    clients.wait_for(2)
                    time.sleep(rng.uniform(0, 0.3))
                    if kill % 2:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(rng.choice(server.workers()), signal.SIGKILL)
                    else:
                        postgres.kill()
                        postgres.start()
                clients.wait_for(5)
            finally:
                clients.stop()
        assert clients.failures == []
        assert clients.retries > 0
        charged = check_ledger(root, clients.answered)
        assert charged.keys() == clients.answered.keys()
    finally:
        postgres.close()


def test_a_full_disk(tmp_path: Path) -> None:
    """Nothing is told that is not kept; once there is space, asking goes on without a restart."""
    with _small_disk(tmp_path / "disk") as (root, fill):
        make_holdout(root)
        with serving(root) as server:
            before = {f"before {number}": _hash(server, f"before {number}") for number in range(3)}
            make_space = fill(server)
            refused = 0
            for number in range(3):
                try:
                    before[f"full {number}"] = _hash(server, f"full {number}")  # what fits is kept, and told
                except urllib.error.HTTPError as error:
                    told = error.read().decode()
                    refused += error.code == 503 and str(tmp_path) not in told
            assert refused == 3
            make_space()
            after = {f"after {number}": _hash(server, f"after {number}") for number in range(3)}
            again = {f"full {number}": _hash(server, f"full {number}") for number in range(3)}  # under the same keys
        charged = check_ledger(root, {**before, **after, **again})
        assert set(charged) == {*before, *after, *again}


def test_clients_that_leave_in_the_middle(tmp_path: Path) -> None:
    """Half a request is none; one whose answer nobody waited for was asked once, and is told under its key."""
    root = tmp_path / "places"
    make_holdout(root)
    with serving(root) as server:
        _hash(server, "first")
        for number in range(20):
            name = f"gone {number % 10}"  # the second time under the same key
            text = _request(server, name)
            with socket.create_connection(("127.0.0.1", server.port)) as wire:
                cut = len(text) if number % 2 else len(text) * (number + 1) // 40 + 1
                wire.sendall(text[:cut])
                if number % 4 == 3:
                    time.sleep(0.02)
        told = {f"gone {number}": _hash(server, f"gone {number}") for number in range(10)}
        told["last"] = _hash(server, "last")
        assert {name: _hash(server, name) for name in told} == told  # and again, as often as one likes
    charged = check_ledger(root, told)
    assert set(charged) == {"first", *told}


def _hash(server: ServerProcess, name: str) -> str:
    return str(ask(server, name)["entries"][0]["hash"])


def _request(server: ServerProcess, name: str) -> bytes:
    body = json.dumps({"question": "x > 0.5", "guess": 0.5, "again": True, "tags": {"name": name}}).encode()
    head = (
        f"POST /api/holdouts/{PLACE}/asks HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
        f"{server.tokens['analyst']}\r\nContent-Type: application/json\r\nIdempotency-Key: key {name}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


Fill = Callable[[ServerProcess], Callable[[], None]]


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[tuple[Path, Fill]]:
    """A folder, and a way to leave no space in it: a small file system where one can be mounted, else a limit."""
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(made, check=False, capture_output=True).returncode == 0

    def fill_disk(_: ServerProcess) -> Callable[[], None]:
        with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        return (folder / "filler").unlink

    def forbid_growth(server: ServerProcess) -> Callable[[], None]:
        before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return lambda: resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before) and None

    try:
        yield folder / "places", fill_disk if mounted else forbid_growth
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)
