"""Clients that go on whatever happens to the server: each ask under a key of its own, sent again until it is answered.

Every ask is asked *anew* (``again``), so that one that was answered twice would stand in the ledger twice.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from tests.server.server_process import ServerProcess
from unworn.boards.holdout_folder import create_holdout_folder, open_holdout_folder
from unworn.holdout import Holdout
from unworn.ledger import verify

PLACE = "people"


def make_holdout(root: Path, ledger: str | None = None, rows: int = 500) -> None:
    """A folder with one holdout."""
    root.mkdir(exist_ok=True)
    data = root / "people.csv"
    data.write_text("x\n" + "\n".join(f"{row / rows!r}" for row in range(rows)) + "\n")
    create_holdout_folder(root / PLACE, data, practice=0, ledger=ledger).close()
    data.unlink()


class AskingClients:
    """Several threads that ask one after the other, and remember which entry each ask was answered with."""

    def __init__(self, server: ServerProcess, number: int = 4, patience: float = 120.0) -> None:
        self.server, self._patience = server, patience
        self.answered: dict[str, str] = {}
        """The hash of the entry, by the name of the ask."""
        self.retries, self.failures = 0, list[str]()
        self.refusals: Counter[str] = Counter()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._go_on, args=(each,)) for each in range(number)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish what it asks."""
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * self._patience)
            assert not thread.is_alive()

    def wait_for(self, more: int) -> None:
        """Until so many further asks were answered: the service has resumed by itself."""
        goal, deadline = len(self.answered) + more, time.monotonic() + self._patience
        while len(self.answered) < goal:
            assert not self.failures, self.failures
            assert time.monotonic() < deadline, f"nothing was answered any more: {self.refusals}"
            time.sleep(0.02)

    def _go_on(self, client: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            name = f"{client}-{number}"
            deadline = time.monotonic() + self._patience
            while (reply := self._try(name)) is None:
                self.retries += 1
                if time.monotonic() > deadline:
                    self.failures.append(f"{name} was not answered within {self._patience} s")
                    return
                time.sleep(0.05)
            if "entries" not in reply:
                self.failures.append(f"{name}: {reply}")
                return
            self.answered[name] = reply["entries"][0]["hash"]

    def _try(self, name: str) -> dict[str, Any] | None:
        """A reply; none where it has to be sent again."""
        try:
            return ask(self.server, name)
        except urllib.error.HTTPError as error:
            told: dict[str, Any] = json.loads(error.read() or b"{}")
            self.refusals[str(told)] += 1
            return None if error.code >= 500 or told.get("title") == "StillBusy" else told
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.refusals[type(error).__name__] += 1
            return None


def ask(server: ServerProcess, name: str, timeout: float = 60.0) -> dict[str, Any]:
    """One ask, whose name is its key and a tag of its entry."""
    body = {"question": "x > 0.5", "guess": 0.5, "again": True, "tags": {"name": name}}
    headers = {
        "Authorization": f"Bearer {server.tokens['analyst']}",
        "Content-Type": "application/json",
        "Idempotency-Key": f"key {name}",
    }
    url = f"{server.url}/api/holdouts/{PLACE}/asks"
    with urllib.request.urlopen(
        urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=timeout
    ) as reply:
        told: dict[str, Any] = json.loads(reply.read())
    return told


def check_ledger(root: Path, answered: dict[str, str]) -> Counter[str]:
    """No answer that was seen is missing, none was charged twice, and the chain is whole; how often each ask stands."""
    holdout: Holdout = open_holdout_folder(root / PLACE)
    try:
        entries = holdout._desk.store.read(holdout.id)
        verify(entries, public=entries[0].body["public"])
        holdout.verify()
    finally:
        holdout.close()
    there = {entry.hash for entry in entries}
    assert [name for name, hashed in answered.items() if hashed not in there] == []
    charged = Counter(str(entry.body["tags"]["name"]) for entry in entries[1:])
    assert {name: count for name, count in charged.items() if count > 1} == {}
    return charged
