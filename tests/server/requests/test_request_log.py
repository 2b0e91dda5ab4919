"""Logs and counters: who, what kind of request, how long; never what it said."""

from __future__ import annotations

import json
import logging
import sys

from unworn.server.requests.counters import BOUNDS, Counters, memory_bytes
from unworn.server.requests.request_log import JsonLines


def test_a_mistake_is_logged_without_its_values() -> None:
    try:
        raise ValueError("row 7 has the label 1")
    except ValueError:
        record = logging.LogRecord("unworn.server", logging.ERROR, "f", 1, "mistake in %s", ("/api",), sys.exc_info())
    told = json.loads(JsonLines().format(record))
    assert told["message"] == "mistake in /api"
    assert told["error"] == "ValueError"
    assert "row 7" not in json.dumps(told)
    assert any("test_request_log.py" in place for place in told["where"])


def test_counters_add_up() -> None:
    counters = Counters()
    for status in (200, 200, 409, 500):
        counters.count_request("POST", '/api/"{place}"', status, 0.003)
    counters.count_request("GET", "/health", 200, 1e9)
    counters.count_answers(["guess", "surprise", "guess"])
    counters.count_submission("checked")
    text = counters.write({"open_places": 3.0})
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    told = {name.partition("{")[0] + "".join(name.partition(",")[1:]): float(value) for name, value in lines.items()}
    assert told['unworn_requests_total,method="POST",route="/api/\\"{place}\\"",status="200"}'] == 2
    assert told["unworn_refusals_total"] == 1
    assert told['unworn_answers_total,source="guess"}'] == 2
    assert told['unworn_request_seconds_bucket,le="+Inf"}'] == told["unworn_request_seconds_count"] == 5
    assert told[f'unworn_request_seconds_bucket,le="{BOUNDS[-1]}"}}'] == 4
    assert told["unworn_open_places"] == 3
    assert memory_bytes() > 2**20
