"""A server process on loopback, as ``unworn serve`` starts it, and Debian's chromium to look at it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_PATIENCE = 180.0


@dataclass(frozen=True)
class Served:
    """Where a server is, and what it printed when it started."""

    address: str
    link: str
    tokens: dict[str, str]


def run_unworn(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A command line in a process of its own."""
    command = [sys.executable, "-m", "unworn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=_environment(home), check=False)


@contextmanager
def serve(folder: Path, home: Path) -> Iterator[Served]:
    """``unworn serve FOLDER`` until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = folder / "serve.txt"
    command = [sys.executable, "-m", "unworn", "serve", str(folder), "--port", str(port), "--quiet"]
    with told.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=_environment(home))
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(f"{address}/ready", process, told)
        text = told.read_text()
        link = re.search(rf"{address}/sign-in/\S+", text.replace("\n", " "))
        assert link is not None, text
        yield Served(address, link.group(), dict(re.findall(r"Token of (\w+), shown this once:\s+(unw_\S+)", text)))
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=180_000)
        try:
            yield browser
        finally:
            browser.close()


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "UNWORN_HOME": str(home), "COLUMNS": "400", "NO_COLOR": "1"}


def _wait(address: str, process: subprocess.Popen[bytes], told: Path) -> None:
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        if process.poll() is not None:
            raise AssertionError(f"the server ended: {told.read_text()}")
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {told.read_text()}")
