"""A server under load: beside the same asks in one process, over an hour's worth of them, and with a thousand boards.

The load comes from ``wrk`` on loopback; server, load and comparison share one machine and run in turns. Without ``wrk``
or PostgreSQL what needs them is left out, and says so.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from table import Row, compared, run
from unworn import Holdout
from unworn.boards.board import Board
from unworn.boards.holdout_folder import create_holdout_folder

sys.path.append(str(Path(__file__).parent.parent))

from tests.postgres_server import PostgresServer, find_programs
from tests.server.server_process import ServerProcess

ROWS = 10_000
THREADS, CONNECTIONS = 8, 64
FASTEST = 0.5
"""The share of the asks of one process that must come through the server."""
_BLOCK = 10_000_000
_blocks = count(1)
"""Whoever asks takes a block of numbers for its own: a question that was asked before would be free."""

_seeds = count(1)
"""The same rows would be known from the ledger that they had before."""

LUA = """
function init(args) token = args[1]; number = tonumber(args[2]) end
function request()
  number = number + 1
  local cut = number / 1e11
  local body = string.format('{"question":"x > %.13f","guess":%.13f}', cut, 1 - cut)
  local told = {["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json"}
  return wrk.format("POST", "/api/holdouts/served/asks", told, body)
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("TOLD %d %d %d %d %d\\n", summary.requests, summary.duration,
    e.status + e.connect + e.read + e.write + e.timeout, latency:percentile(50), latency:percentile(99)))
end
"""


@dataclass(frozen=True)
class Load:
    """What a load came to: microseconds per ask, and of a single one."""

    asks: int
    each: float
    p50: float
    p99: float


def load(server: ServerProcess, connections: int, seconds: float) -> Load:
    """Ask new questions over so many connections, for a while. An error ends the benchmark: it would be quick."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA)
        script.flush()
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{max(round(seconds), 1)}s",
            "--timeout",
            "60s",
            "-s",
            script.name,
        ]
        told = [server.url, "--", server.tokens["analyst"], str(_BLOCK * next(_blocks))]
        text = subprocess.run([*command, *told], capture_output=True, text=True, check=True).stdout
    asks, spent, errors, p50, p99 = (int(word) for word in text.split("TOLD ")[1].split())
    if errors:
        raise RuntimeError(f"{errors} of {asks} asks were not answered")
    return Load(asks, spent / asks, p50, p99)


def open_place(server: ServerProcess) -> None:
    """The first request opens the holdout, and loads what asking needs."""
    headers = {"Authorization": f"Bearer {server.tokens['analyst']}", "Content-Type": "application/json"}
    url, body = f"{server.url}/api/holdouts/served/asks", b'{"question": "x > 0.5", "guess": 0.5}'
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120) as reply:
        reply.read()


def ask_next(holdout: Holdout, number: int) -> None:
    cut = number / 1e11
    holdout.ask(f"x > {cut:.13f}", 1 - cut)


def ask_alone(holdout: Holdout, seconds: float) -> list[float]:
    """Microseconds of each ask of one thread."""
    numbers, spent, ends = count(_BLOCK * next(_blocks)), list[float](), time.perf_counter() + seconds
    while time.perf_counter() < ends:
        start = time.perf_counter()
        ask_next(holdout, next(numbers))
        spent.append(1e6 * (time.perf_counter() - start))
    return spent


def ask_in_threads(holdout: Holdout, seconds: float) -> float:
    """Microseconds per ask of eight threads together."""
    asked, ends = [0] * THREADS, time.perf_counter() + seconds

    def work(worker: int) -> None:
        for number in count(_BLOCK * next(_blocks)):
            if time.perf_counter() > ends:
                return
            ask_next(holdout, number)
            asked[worker] += 1

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(THREADS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1e6 * (time.perf_counter() - started) / sum(asked)


def people(seed: int) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {"x": rng.random(ROWS).tolist(), "y": rng.random(ROWS).tolist()}


@contextmanager
def serving(folder: Path, ledger: str | None, *options: str) -> Iterator[tuple[ServerProcess, Holdout]]:
    """A served holdout, and one like it in this process; both ledgers are at the same kind of place."""
    kept = (None, folder / "mine.db") if ledger is None else (f"{ledger}?schema=served", f"{ledger}?schema=mine")
    create_holdout_folder(folder / "places" / "served", _file(folder, next(_seeds)), practice=0, ledger=kept[0]).close()
    mine = Holdout(people(next(_seeds)), ledger=kept[1], practice=0)
    server = ServerProcess(folder / "places", "--rate", "0", "--quiet", *options)
    try:
        yield server, mine
    finally:
        server.stop()
        mine.close()


def _file(folder: Path, seed: int) -> Path:
    data, path = people(seed), folder / f"people{seed}.csv"
    path.write_text("x,y\n" + "\n".join(f"{x!r},{y!r}" for x, y in zip(data["x"], data["y"], strict=True)) + "\n")
    return path


def durable(kind: str, ledger: str | None, quick: bool) -> Iterator[Row]:
    """Asks over 64 connections and over one, in turns with the same in this process."""
    seconds, rounds = (1.5, 2) if quick else (10.0, 5)
    with tempfile.TemporaryDirectory() as folder, _quiet():
        options = () if ledger is None else ("--database", f"{ledger}?schema=accounts")
        with serving(Path(folder), ledger, *options) as (server, mine):
            open_place(server)
            load(server, CONNECTIONS, seconds / 2)
            ask_alone(mine, seconds / 4)
            many, alone, threads, single = list[Load](), list[Load](), list[float](), list[float]()
            for _ in range(rounds):
                threads.append(ask_in_threads(mine, seconds))
                many.append(load(server, CONNECTIONS, seconds))
                single += ask_alone(mine, seconds / 2)
                alone.append(load(server, 1, seconds / 2))
    ours, against = statistics.median(each.each for each in many), statistics.median(threads)
    what = f"{kind}, µs per ask over {CONNECTIONS} connections, against {THREADS} threads in one process"
    yield compared(what, ours, against, 1 / FASTEST)
    ours, against = statistics.median(each.p50 for each in alone), statistics.median(single)
    yield compared(f"{kind}, p50 of an ask over one connection, against one in the process", ours, against, 3.0)
    for name, told in ((f"{CONNECTIONS} connections", many), ("one connection", alone)):
        yield Row(f"{kind}, p99 over {name}", statistics.median(each.p99 for each in told), None, None, None, None)


def memory(quick: bool) -> Row:
    """What the server has after all asks, beside what it had after a fifth of them."""
    asks = 4_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as folder, _quiet(), serving(Path(folder), None) as (server, _):
        asked, early = 0, 0
        open_place(server)
        while asked < asks:
            asked += load(server, CONNECTIONS, 2.0 if quick else 10.0).asks
            early = early or (server.memory() if asked >= asks / 5 else 0)
        late = server.memory()
    what = f"MB of the server after {asks:,} asks, against {asks // 5:,}"
    return compared(what, late / 2**20, early / 2**20, 1.1)


def boards(quick: bool) -> Row:
    """A submission to one of very many boards, beside one to the only board of a server."""
    number, submissions = (30, 20) if quick else (1_000, 300)
    with tempfile.TemporaryDirectory() as folder, _quiet():
        times = {}
        for many in (1, number):
            root = Path(folder) / f"places{many}"
            for board in range(many):
                _make_board(root / f"board{board}", many + board)
            server = ServerProcess(root, "--rate", "0", "--quiet")
            try:
                for board in range(many):
                    _submit(server, board, 0)
                times[many] = [_submit(server, place % many, 1 + place // many) for place in range(submissions)]
            finally:
                server.stop()
    what = f"p50 of a submission to any of {number:,} boards, against the only one"
    return compared(what, statistics.median(times[number]), statistics.median(times[1]), 1.5)


def _make_board(folder: Path, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 2, 200).tolist()
    Board.create(
        folder, {"id": list(range(200)), "label": labels}, id="id", target="label", metric="accuracy"
    ).release()


def _submit(server: ServerProcess, board: int, seed: int) -> float:
    """Microseconds of a submission."""
    told = np.random.default_rng([board, seed]).integers(0, 2, 200)
    body = "id,prediction\n" + "\n".join(f"{row},{value}" for row, value in enumerate(told)) + "\n"
    headers = {"Authorization": f"Bearer {server.tokens['participant']}", "Content-Type": "text/csv"}
    url = f"{server.url}/api/boards/board{board}/submissions"
    start = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers), timeout=60) as reply:
        reply.read()
    return 1e6 * (time.perf_counter() - start)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def rows(quick: bool) -> Iterator[Row]:
    if shutil.which("wrk"):
        yield from durable("SQLite", None, quick)
        if find_programs() is not None:
            server = PostgresServer()
            try:
                yield from durable("PostgreSQL", server.new_database(), quick)
            finally:
                server.close()
        yield memory(quick)
    else:
        print("wrk is not installed: asks under load are left out", file=sys.stderr)
    yield boards(quick)


if __name__ == "__main__":
    run(__doc__ or "", "A server under load (times in µs)", rows)
