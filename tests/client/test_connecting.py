"""Connections in threads, in other processes, and across a restart of the server."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.client.real_server import RunningServer, serve_everything, serve_folder
from unworn import Answer, connect
from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.connecting import open_connection
from unworn.client.transport.retry_policy import RetryPolicy

_UNPICKLE = "import pickle, sys; holdout = pickle.load(sys.stdin.buffer); print(holdout.ask('age > 70').index)"


def test_threads_share_a_connection(server: RunningServer) -> None:
    holdout = connect(server.holdout, server.tokens["ann"])
    assert isinstance(holdout, ConnectedHoldout)
    before = holdout.meter.asked
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda age: holdout.ask(f"age > {age}", guess=(90 - age) / 72), range(20, 44)))
    indexes = {answer.index for answer in answers if isinstance(answer, Answer)}
    assert len(indexes) == 24
    assert holdout.meter.asked == before + 24
    assert all(answer.label.endswith(str(age)) for answer, age in zip(answers, range(20, 44), strict=True))
    holdout.close()


def test_another_process_takes_the_token_from_its_environment(server: RunningServer) -> None:
    holdout = connect(server.holdout, server.tokens["ann"])
    assert isinstance(holdout, ConnectedHoldout)
    answer = holdout.ask("age > 70")
    assert isinstance(answer, Answer)
    ticket = pickle.dumps(holdout)
    bare = {name: value for name, value in os.environ.items() if name != "UNWORN_TOKEN"}
    command = [sys.executable, "-c", _UNPICKLE]
    known = {**bare, "UNWORN_TOKEN": server.tokens["ann"]}
    done = subprocess.run(command, input=ticket, env=known, capture_output=True, timeout=120, check=True)
    assert int(done.stdout) == answer.index
    refused = subprocess.run(command, input=ticket, env=bare, capture_output=True, timeout=120, check=False)
    assert refused.returncode != 0
    assert b"SignInNeeded" in refused.stderr


def test_a_restart_of_the_server_is_waited_for(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "served"
    with serve_everything(folder, seeds=(7, 8), port=port) as first:
        token = first.tokens["ann"]
        holdout = open_connection(first.holdout, token, retry=RetryPolicy(tries=20, longest=1.0))
        assert isinstance(holdout, ConnectedHoldout)
        before = holdout.ask("age > 65", guess=0.33)
    told: list[object] = []

    def ask() -> None:
        told.append(holdout.ask("age > 66", guess=0.32))

    waiting = threading.Thread(target=ask)
    waiting.start()
    time.sleep(0.5)
    assert not told
    with serve_folder(folder, accounts=False, port=port):
        waiting.join(60)
        assert isinstance(told[0], Answer)
        assert isinstance(before, Answer)
        assert told[0].index == before.index + 1
        holdout.verify()
        holdout.close()


def test_a_missing_transport_names_its_extra() -> None:
    code = "import sys; sys.modules['httpx'] = None\nfrom unworn import connect\nconnect('http://localhost')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False, text=True)
    assert "MissingExtra: connecting to a server needs the extra 'agents'" in done.stderr
