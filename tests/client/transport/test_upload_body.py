"""Predictions as a body: from files, frames, arrays and models of ONNX, each the same when it is sent again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unworn.client.transport import upload_body
from unworn.client.transport.upload_body import (
    CSV,
    LINES,
    ONNX,
    PARQUET,
    Upload,
    make_form,
    make_upload,
    upload_progress,
)
from unworn.errors import Unaskable


def test_files_are_known_by_their_names_and_read_while_they_are_sent(tmp_path: Path) -> None:
    for name, kind in [
        ("a.csv", CSV),
        ("a.jsonl", LINES),
        ("a.NDJSON", LINES),
        ("a.parquet", PARQUET),
        ("m.onnx", ONNX),
    ]:
        path = tmp_path / name
        path.write_bytes(b"x" * 600_000)
        upload = make_upload(path)
        assert (upload.content_type, upload.size, upload.data) == (kind, 600_000, None)
        assert upload.read() == upload.read() == b"x" * 600_000
    with pytest.raises(Unaskable, match="CSV, JSON lines or Parquet"):
        make_upload(tmp_path / "a.csv", "pickle")
    (tmp_path / "a.pkl").write_bytes(b"x")
    with pytest.raises(Unaskable, match="CSV, JSON lines or Parquet"):
        make_upload(tmp_path / "a.pkl")
    with pytest.raises(Unaskable, match="there is no file"):
        make_upload(tmp_path / "none.csv")


def test_frames_and_dicts_become_the_same_csv() -> None:
    columns = {"id": ["a", "b,c"], "prediction": [0.1, 1e-300]}
    told = {make_upload(source).data for source in (columns, pd.DataFrame(columns), pl.DataFrame(columns))}
    assert told == {b'id,prediction\r\na,0.1\r\n"b,c",1e-300\r\n'}


def test_numbers_are_read_back_as_they_were() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    told = pd.read_csv(io.BytesIO(make_upload(values).data or b""))
    assert np.array_equal(told["prediction"].to_numpy(), values)
    assert make_upload(np.array([True, False])).data == b"prediction\r\n1\r\n0\r\n"
    assert make_upload(np.array(["a", "b"])).data == b"prediction\r\na\r\nb\r\n"
    assert make_upload(np.zeros((1, 2))).data == b"p0,p1\r\n0.0,0.0\r\n"


@pytest.mark.parametrize("source", [3, {"a": [1, 2], "b": [1]}, {"a": 3}, np.zeros((2, 2, 2)), object()])
def test_what_is_no_predictions_is_refused(source: Any) -> None:
    with pytest.raises(Unaskable):
        make_upload(source)


def test_bytes_and_models_in_memory() -> None:
    assert make_upload(b"{}", "jsonl") == Upload(LINES, b"{}")

    class Model:
        def SerializeToString(self) -> bytes:
            return b"onnx"

    assert make_upload(Model()) == Upload(ONNX, b"onnx")


def test_a_form_has_both_files() -> None:
    form = make_form({"first": Upload(CSV, b"1"), "second": Upload(CSV, b"2")})
    boundary = form.content_type.partition("boundary=")[2]
    body = form.read()
    assert body.count(boundary.encode()) == 3
    assert b'name="second"' in body
    assert body.endswith(f"--{boundary}--\r\n".encode())


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(upload_body, "SHOWN_FROM", 10)
    for stream, shown in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr("sys.stderr", stream)
        with upload_progress("sending", 1000) as tick:
            tick(500)
        assert ("sending" in stream.getvalue()) is shown
