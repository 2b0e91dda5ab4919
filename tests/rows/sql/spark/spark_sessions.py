"""Spark for tests: a local session, a Connect server of its own process, and a cluster of three processes on loopback.

A process has one Spark context, so none of these begins while another runs. Starting takes many seconds, so what is
not broken by a test is lent to the next: all local sessions have one context, each with settings of its own, and
Connect and cluster have a server and workers in common. Whatever is started is ended: with its block, or with the
tests' process. Nothing listens beyond this machine.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

T = TypeVar("T")

LOOPBACK = "127.0.0.1"
PATIENCE = 300.0
"""How many seconds a process may take to be there, on however busy a machine."""

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""Tests are short: Java that starts quickly is better than Java that runs fast."""

SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.driver.memory": "768m",
    "spark.log.level": "OFF",
}
COMPILED = {
    True: {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"},
    False: {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
}
"""Whether Spark compiles a statement, which it does of its own accord and takes longer over than over a few rows."""

# A process that is killed is known to be gone by its connections. Who is only slow, on a busy machine, is waited for;
# but nobody is asked again and again for what went with him.
HASTE = {
    "spark.network.timeout": "120s",
    "spark.rpc.askTimeout": "60s",
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "1s",
}


class Common(Generic[T]):
    """What tests have in common: started for the first who asks, and again once it is gone."""

    def __init__(self, start: Callable[[], AbstractContextManager[T]], there: Callable[[T], bool]) -> None:
        self._start, self._there = start, there
        self._held: list[T] = []
        self._stack = ExitStack()

    def lent(self) -> T:
        if not (self._held and self._there(self._held[0])):
            self.end()
            self._held = [self._stack.enter_context(self._start())]
        return self._held[0]

    def end(self) -> None:
        self._held = []
        self._stack.close()


@contextmanager
def local_session(**conf: str) -> Iterator[Any]:
    """A classic session on two threads of this process's own Java, with settings that are its own."""
    with _own(LOCAL.lent(), conf) as spark:
        yield spark


@contextmanager
def cluster_session(**conf: str) -> Iterator[Any]:
    """A classic session of the cluster that tests have in common, with settings that are its own."""
    CLUSTER.lent().complete()
    with _own(ON_CLUSTER.lent(), conf) as spark:
        yield spark


@contextmanager
def connect_session() -> Iterator[Any]:
    """A session of Spark Connect: the server is another process, and nothing but its port is known of it."""
    url, _ = CONNECT.lent()
    with remote_session(url) as spark:
        yield spark


@contextmanager
def connect_server(master: str = "local[2]", **conf: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of Spark Connect: its address, and the process it is."""
    port = free_port()
    conf = {**SETTINGS, "spark.connect.grpc.binding.port": str(port), **conf}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unworn-connect-")))
        chosen = [part for key, value in _placed(conf, folder).items() for part in ("--conf", f"{key}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = ["org.apache.spark.deploy.SparkSubmit", "--master", master, *chosen, "--class", server]
        process = stack.enter_context(spark_process([*command, "spark-internal"], folder / "connect.log"))
        _await(lambda: _listens(port), process, folder / "connect.log")
        yield f"sc://{LOOPBACK}:{port}", process


@contextmanager
def remote_session(url: str) -> Iterator[Any]:
    """A session of a server that is there."""
    _nobody_else()
    from pyspark.sql import SparkSession

    mode = "SPARK_CONNECT_MODE_ENABLED"  # set by pyspark, and left behind
    with _environment({mode: "1"}):
        spark = SparkSession.builder.remote(url).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


@dataclass(frozen=True)
class Cluster:
    """A master and its workers: where it is asked, and which processes they are."""

    url: str
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]
    start_workers: Callable[[int], None]
    size: int

    @contextmanager
    def session(self, **conf: str) -> Iterator[Any]:
        """A classic session that has this cluster's every core, and begins when it has them."""
        cores = {
            "spark.cores.max": str(len(self.alive)),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{PATIENCE:.0f}s",
        }
        with _classic(self.url, {"spark.executor.memory": "512m", **HASTE, **cores, **conf}) as spark:
            yield spark

    @property
    def alive(self) -> list[int]:
        """The workers that are there."""
        return [place for place, worker in enumerate(self.workers) if worker.poll() is None]

    def kill(self, worker: int) -> None:
        """End a worker and what it started, as when a machine goes dark."""
        end(self.workers[worker])

    def complete(self) -> None:
        """Have as many workers as at the beginning."""
        if missing := self.size - len(self.alive):
            self.start_workers(missing)


@contextmanager
def standalone_cluster(workers: int = 2) -> Iterator[Cluster]:
    """A standalone master and some workers, of one core each, on loopback."""
    port, page = free_port(), free_port()
    url = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unworn-cluster-")))
        log = folder / "master.log"
        place = ["--host", LOOPBACK, "--port", str(port), "--webui-port", str(page)]
        master = stack.enter_context(spark_process(["org.apache.spark.deploy.master.Master", *place], log))
        _await(lambda: _alive_workers(page) == 0, master, log)
        started: list[subprocess.Popen[bytes]] = []

        def start_workers(count: int) -> None:
            for _ in range(count):
                own = folder / f"worker-{len(started)}"
                own.mkdir()
                size = ["--cores", "1", "--memory", "700m", "--work-dir", str(own)]
                place = ["--host", LOOPBACK, "--port", "0", "--webui-port", "0"]
                command = ["org.apache.spark.deploy.worker.Worker", *place, *size, url]
                started.append(stack.enter_context(spark_process(command, own / "worker.log")))
            _await(lambda: _alive_workers(page) == living(), started[-1], own / "worker.log")

        def living() -> int:
            return sum(worker.poll() is None for worker in started)

        start_workers(workers)
        yield Cluster(url, master, started, start_workers, workers)


@contextmanager
def spark_process(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One of Spark's own programs, in a group of its own, ended with the block and at the latest with this process."""
    pyspark = pytest.importorskip("pyspark")
    home = Path(pyspark.__file__).parent
    java = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "768m"}
    java["SPARK_DAEMON_JAVA_OPTS"] = f"{JAVA} -Djava.io.tmpdir={log.parent}"  # killed processes clear nothing away
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            env={**outside, **java, "SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=log.parent,
            start_new_session=True,
        )
    stop = atexit.register(lambda: end(process))
    try:
        yield process
    finally:
        end(process)
        atexit.unregister(stop)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group, which for a worker has its executors too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def _classic(master: str, conf: dict[str, str]) -> Iterator[Any]:
    _nobody_else()
    from pyspark.sql import SparkSession

    chosen = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK}
    with tempfile.TemporaryDirectory(prefix="unworn-spark-") as folder, _environment(chosen):
        builder = SparkSession.builder.master(master).appName("unworn tests")
        for key, value in _placed({**SETTINGS, **conf}, Path(folder)).items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def _own(spark: Any, conf: dict[str, str]) -> Iterator[Any]:
    """Another session of the same context."""
    own = spark.newSession()
    for name, value in conf.items():
        own.conf.set(name, value)
    try:
        yield own
    finally:
        if _runs(own):
            own.catalog.clearCache()


def _runs(spark: Any) -> bool:
    """Whether nobody has stopped the context of a classic session."""
    return spark._sc._jsc is not None


LOCAL = Common(lambda: _classic("local[2]", {}), _runs)
CONNECT = Common(connect_server, lambda server: server[1].poll() is None)
CLUSTER = Common(standalone_cluster, lambda cluster: cluster.master.poll() is None)
ON_CLUSTER = Common(lambda: CLUSTER.lent().session(), _runs)


def end_common() -> None:
    """End whatever tests have in common, sessions first."""
    for common in (LOCAL, ON_CLUSTER, CONNECT, CLUSTER):
        common.end()


def submitted() -> str:
    """The same settings for a session that somebody else starts, as PYSPARK_SUBMIT_ARGS takes them."""
    return shlex.join([*(part for pair in SETTINGS.items() for part in ("--conf", "=".join(pair))), "pyspark-shell"])


def _nobody_else() -> None:
    pytest.importorskip("pyspark")
    from pyspark import SparkContext

    LOCAL.end()
    ON_CLUSTER.end()
    if SparkContext._active_spark_context is not None or "SPARK_CONNECT_MODE_ENABLED" in os.environ:
        raise RuntimeError("this process has a Spark session already: end it before another begins")


def _placed(conf: dict[str, str], folder: Path) -> dict[str, str]:
    return {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.local.dir": str(folder), **conf}


@contextmanager
def _environment(chosen: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _await(there: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not there():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{log.stem} did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((LOOPBACK, port)) == 0


def _alive_workers(page: int) -> int | None:
    """How many workers the master knows; None while it cannot be asked."""
    with suppress(OSError, ValueError), urllib.request.urlopen(f"http://{LOOPBACK}:{page}/json/", timeout=5) as told:
        alive: int = json.load(told)["aliveworkers"]
        return alive
    return None
