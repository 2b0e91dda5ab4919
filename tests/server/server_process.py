"""``unworn serve`` as a process of its own, to load it, to kill it, and to start it again."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

_TOKEN = re.compile(r"Token of (\w+), shown this once: (unw_\S+)")


class ServerProcess:
    """A server over a folder, on a free port of loopback. Its tokens are those of its first start."""

    def __init__(self, folder: Path, *options: str, log: Path | None = None) -> None:
        self.folder, self._options = folder, options
        self._log = log or folder.parent / f"{folder.name}.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.tokens: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, patience: float = 120.0) -> None:
        """Start, and wait until it is ready."""
        before = self._log.stat().st_size if self._log.exists() else 0
        bound = (
            ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        )  # it does not outlive a killed test
        command = [*bound, sys.executable, "-m", "unworn", "serve", str(self.folder), "--port", str(self.port)]
        with self._log.open("ab") as log:
            told = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
            self._process = subprocess.Popen(
                [*command, *self._options], stdout=log, stderr=log, env=told, process_group=0
            )
        deadline = time.monotonic() + patience
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self._log.read_text()[-3000:]}")
            time.sleep(0.1)
        with self._log.open("rb") as file:
            file.seek(before)
            self.tokens |= dict(_TOKEN.findall(file.read().decode()))

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/ready", timeout=10) as reply:
                return bool(reply.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def workers(self) -> list[int]:
        """The processes that answer: its children, or itself where there is one only."""
        text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        names = {int(each): Path(f"/proc/{each}/cmdline").read_bytes() for each in text}
        return [each for each, line in names.items() if b"spawn_main" in line] or [self.pid]

    def memory(self) -> int:
        """Bytes of memory that it has, workers and all."""
        total = 0
        for each in {self.pid, *self.workers()}:
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{each}/status").read_text())
            total += 1024 * int(found[1]) if found else 0
        return total

    def kill(self) -> None:
        """SIGKILL, with all of its processes."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def wait(self, seconds: float) -> int:
        """How it ended."""
        assert self._process is not None
        return self._process.wait(seconds)

    def stop(self) -> None:
        """As one is asked to end; whoever does not is killed."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(45)
        except subprocess.TimeoutExpired:
            self.kill()
