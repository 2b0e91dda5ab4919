"""A PostgreSQL server of one's own, for tests and benchmarks: private, on loopback, gone with whoever started it.

PostgreSQL refuses to run as root, so it runs as the user ``postgres`` where we are root. A small process waits beside
it for our end, however that comes, then stops the server and removes its folder.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 100
shared_buffers = 32MB
log_min_messages = panic
recovery_init_sync_method = syncfs
"""


def find_programs() -> Path | None:
    """The folder of initdb and postgres, of the newest version that is installed."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found and (on_path := shutil.which("initdb")):
        found = [Path(on_path).resolve()]
    return max(found, key=lambda each: int(each.parts[-3]) if each.parts[-3].isdigit() else 0).parent if found else None


class PostgresServer:
    """One server in a temporary folder."""

    def __init__(self, settings: str = "", folder: str | None = None) -> None:
        programs = find_programs()
        if programs is None:
            raise FileNotFoundError("no PostgreSQL is installed here: initdb was not found")
        self.programs, self.folder = programs, Path(folder or tempfile.mkdtemp(prefix="unworn-pg-"))
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        if os.geteuid() == 0:
            shutil.chown(self.folder, self.user)
        self._supervisor = subprocess.Popen(
            [sys.executable, __file__, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        made = [str(programs / "initdb"), "-D", str(self.data), "-N", "-A", "trust", "-E", "UTF8", "--locale=C", "-U"]
        subprocess.run(self._as_user([*made, self.user]), check=True, capture_output=True)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(_SETTINGS.format(port=self.port, folder=self.folder) + settings)
        self._names = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _as_user(self, command: list[str]) -> list[str]:
        if os.geteuid() != 0:
            return command
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", *command]

    def start(self, patience: float = 30.0) -> None:
        """Start, and wait until it answers: after a crash it first reads its log."""
        deadline = time.monotonic() + patience
        while True:
            with (self.folder / "log").open("ab") as log:
                command = self._as_user([str(self.programs / "postgres"), "-D", str(self.data)])
                self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, process_group=0)
            while time.monotonic() < deadline and self._process.poll() is None:
                if self._answers():
                    return
                time.sleep(0.05)
            if time.monotonic() > deadline:
                raise TimeoutError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.1)  # the shared memory of those who were killed is not free yet

    def _answers(self) -> bool:
        ask = [str(self.programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ask, check=False).returncode == 0

    def kill(self) -> None:
        """SIGKILL of the server and of all its processes, as a power failure would."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for child in self._children():  # each backend is the leader of a group of its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.wait()

    def _children(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError):
                    if os.readlink(entry / "cwd") == str(self.data):
                        found.append(int(entry.name))
        return found

    def stop(self) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)

    def new_database(self, settings: str = "") -> str:
        """The URL of an empty database."""
        name = f"test_{os.getpid()}_{next(self._names)}"
        self.run(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://{self.user}@127.0.0.1:{self.port}/{name}{settings}"

    def run(self, statement: str, database: str = "postgres") -> str:
        """What psql prints."""
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", self.user, "-d", database]
        command = [str(self.programs / "psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", *where, "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def close(self) -> None:
        """Stop, and remove all of it."""
        self.stop()
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        self._supervisor.wait(30)


@functools.cache
def shared_server() -> PostgresServer:
    """One for all tests of this process; it stops with the process."""
    import atexit

    server = PostgresServer()
    owner = os.getpid()
    atexit.register(lambda: server.close() if os.getpid() == owner else None)
    return server


@pytest.fixture
def postgres_server() -> PostgresServer:
    """The shared server; a test that kills one starts its own."""
    if find_programs() is None:
        pytest.skip("no PostgreSQL is installed here")
    pytest.importorskip("psycopg")
    return shared_server()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty database of its own."""
    url = postgres_server.new_database()
    yield url
    with contextlib.suppress(subprocess.CalledProcessError):
        postgres_server.run(f"DROP DATABASE {url.rsplit('/', 1)[1]} WITH (FORCE)")


def _wait_for_the_end(folder: Path) -> None:
    sys.stdin.buffer.read()
    with contextlib.suppress(OSError, ValueError):
        server = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGINT)
        for _ in range(100):
            os.kill(server, 0)
            time.sleep(0.05)
        os.kill(server, signal.SIGQUIT)
        time.sleep(1)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _wait_for_the_end(Path(sys.argv[1]))
