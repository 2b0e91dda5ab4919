"""Files are looked at before they are read: too wide, too long, or too much once they are unpacked."""

from __future__ import annotations

import resource
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from tests.server.served_site import ROWS, Site, predictions_csv
from unworn.server.requests.upload_checks import check_lines, check_parquet
from unworn.server.server_errors import BodyTooLarge, Malformed
from unworn.server.settings import ServerSettings


@pytest.fixture
def settings(tmp_path: Path) -> ServerSettings:
    return ServerSettings(tmp_path, max_unpacked=64 * 2**20)


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def test_ten_million_columns_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(b"id," + b"c," * 10_000_000 + b"end\n")
    began, memory = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BodyTooLarge, match="more than 1,000 columns"):
        check_lines(path, 1_000)
    assert time.perf_counter() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 64 * 2**10


def test_ten_million_columns_over_http(site: Site) -> None:
    wide = b"id," + b"c," * 10_000_000 + b"end\nr0,1\n"
    for path in ("/api/boards/bench/validate", "/api/boards/bench/submissions"):
        reply = site.send("ann", path, wide)
        assert (reply.status_code, reply.json()["title"]) == (413, "BodyTooLarge")


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"id": 1}\n' * 1000 + b"[" * 2**21)
    with pytest.raises(BodyTooLarge, match="line 1001"):
        check_lines(path, None)
    path.write_bytes(b'{"id": 1}\n' * 300_000)
    check_lines(path, None)


def test_sound_parquet_is_taken(tmp_path: Path, settings: ServerSettings) -> None:
    check_parquet(write_parquet(tmp_path / "a.parquet", {"id": ["a", "b"], "prediction": [1, 0]}), settings)


def test_parquet_with_too_many_columns(tmp_path: Path, settings: ServerSettings) -> None:
    path = write_parquet(tmp_path / "wide.parquet", {f"c{place}": [1] for place in range(1_001)})
    with pytest.raises(BodyTooLarge):
        check_parquet(path, settings)


def test_a_dictionary_that_becomes_gigabytes(tmp_path: Path, settings: ServerSettings) -> None:
    """A long word once in the file and ten thousand times in the table: 1 MB that would become 10 GB."""
    word = "a" * 2**20
    coded = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 10_000, pyarrow.int32()), pyarrow.array([word]))
    # A reader is not told that it was a dictionary, and makes plain text of it.
    path = write_parquet(tmp_path / "bomb.parquet", {"prediction": coded}, store_schema=False)
    assert path.stat().st_size < 3 * 2**20
    with pytest.raises(BodyTooLarge):
        check_parquet(path, settings)


def test_zeros_that_unpack_to_gigabytes(tmp_path: Path, settings: ServerSettings) -> None:
    numbers = pyarrow.array(np.zeros(12_000_000))
    path = write_parquet(tmp_path / "zeros.parquet", {"prediction": numbers}, compression="zstd")
    assert path.stat().st_size < 2**20
    with pytest.raises(BodyTooLarge):
        check_parquet(path, settings)


@pytest.mark.parametrize(
    "body", [b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"PK\x03\x04" + b"\0" * 100, b"\x1f\x8b" * 9]
)
def test_what_is_no_parquet(site: Site, body: bytes) -> None:
    reply = site.send("ann", "/api/boards/bench/validate", body, "application/vnd.apache.parquet")
    assert (reply.status_code, reply.json()["title"]) == (400, "Malformed")
    reply = site.send("ann", "/api/boards/bench/validate", body)
    assert reply.status_code in (400, 413, 422)


def test_what_is_no_parquet_is_said(tmp_path: Path, settings: ServerSettings) -> None:
    path = tmp_path / "no.parquet"
    path.write_bytes(b"id,prediction\n")
    with pytest.raises(Malformed):
        check_parquet(path, settings)


def test_each_format_is_taken(site: Site, tmp_path: Path) -> None:
    labels = site.truth["bench"]
    ids = [f"r{row}" for row in range(ROWS)]
    lines = "\n".join(f'{{"id": "r{row}", "prediction": {label}}}' for row, label in enumerate(labels))
    packed = write_parquet(tmp_path / "p.parquet", {"id": ids, "prediction": [int(label) for label in labels]})
    for content, kind in (
        (predictions_csv(labels), "text/csv"),
        (predictions_csv(labels), "text/csv; charset=utf-8"),
        (lines, "application/x-ndjson"),
        (packed.read_bytes(), "application/vnd.apache.parquet"),
    ):
        reply = site.send("ann", "/api/boards/bench/validate", content, kind)
        assert reply.json() == {"valid": True, "rows": ROWS}
    for kind in ("application/json", "application/zip", "text/plain", "application/onnx", ""):
        assert site.send("ann", "/api/boards/bench/validate", b"x", kind).status_code == 415


def test_few_files_are_unpacked_at_the_same_time(
    tmp_path: Path, settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def unpack(*_: Any, **__: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(subprocess, "run", unpack)
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda _: check_parquet(tmp_path / "any.parquet", settings), range(12)))
    assert 1 <= most <= 4
