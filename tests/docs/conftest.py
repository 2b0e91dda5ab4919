"""Pages that start Spark start it with the settings of the tests."""

from __future__ import annotations

import pytest

from tests.rows.sql.spark.spark_sessions import submitted


@pytest.fixture(autouse=True)
def settings_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", submitted())
