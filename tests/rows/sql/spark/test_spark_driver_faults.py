"""What the session itself stands on dies under a question: the Connect server, or the Java beside the driver."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rows.sql.spark.spark_sessions import CONNECT, connect_session, end, remote_session
from tests.rows.sql.spark.test_spark_faults import FIRST, Gate, asked_while, check_goes_on, check_refused, people, write
from unworn import Holdout

pytestmark = pytest.mark.spark

# In a process of its own, since a process has one Java for all its sessions.
ORPHANED = """
import os, signal, sys
from pathlib import Path
from tests.rows.sql.spark.spark_sessions import local_session
from tests.rows.sql.spark.test_spark_faults import FIRST, Gate, asked_while, check_refused
from unworn import Holdout
from pyspark import SparkContext

folder = Path(sys.argv[1])
with local_session() as spark:
    gate = Gate(folder / "gate")
    holdout = Holdout(gate.before(spark.read.parquet(str(folder / "people"))), ledger=folder / "people.db")
    holdout.ask(FIRST)
    java = SparkContext._gateway.proc.pid
    check_refused(asked_while(holdout, gate, lambda: os.kill(java, signal.SIGKILL), tasks=1), holdout)
    print("refused", flush=True)
    os._exit(0)  # there is nothing left to stop
"""


def test_a_connect_server_that_dies(tmp_path):
    pytest.importorskip("pyspark")
    from pyspark.sql.connect.client.retries import DefaultPolicy

    gate, ledger = Gate(tmp_path / "gate"), tmp_path / "people.db"
    write(tmp_path / "people", people())
    url, process = CONNECT.lent()
    with remote_session(url) as spark:
        spark.client.set_retry_policies([DefaultPolicy(max_retries=2)])  # of its own accord it tries for ten minutes
        holdout = Holdout(gate.before(spark.read.parquet(str(tmp_path / "people"))), ledger=ledger)
        holdout.ask(FIRST)
        check_refused(asked_while(holdout, gate, lambda: end(process), tasks=1), holdout)
        spark.client.set_retry_policies([DefaultPolicy(max_retries=0)])  # nor need it say goodbye
    with connect_session() as spark:
        check_goes_on(spark.read.parquet(str(tmp_path / "people")), ledger, holdout)


def test_java_that_dies_beside_the_driver(tmp_path):
    write(tmp_path / "people", people())
    command = [sys.executable, "-W", "ignore", "-c", ORPHANED, str(tmp_path)]
    root = Path(__file__).parents[4]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=400, check=False)
    assert done.stdout.strip() == "refused", done.stderr
