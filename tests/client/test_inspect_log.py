"""Logs of Inspect AI as submissions: real ones, and ones that somebody meant ill with."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unworn.boards.board import Board
from unworn.client import inspect_log
from unworn.client.inspect_log import UnreadableLog, read_inspect_log

HEADER = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "mockllm/model"}}


def sample(name: Any, said: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    scores = {"match": {"value": "C", "answer": f"[{said}]", "explanation": None}}
    return {"id": name, "epoch": epoch, "output": {"completion": said}, "scores": scores, **more}


def write_eval(path: Path, samples: list[Any], header: Any = HEADER, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as log:
        log.writestr("_journal/start.json", "{}")
        for place, one in enumerate(samples):
            log.writestr(f"samples/{place}_epoch_1.json", one if isinstance(one, str) else json.dumps(one))
        if header is not None:
            log.writestr("header.json", json.dumps(header))
    return path


def write_zstandard(path: Path, files: dict[str, bytes], says: int | None = None) -> Path:
    """A zip file of entries that Python's own module cannot write."""
    whole, index = b"", b""
    for name, data in files.items():
        packed = pa.compress(data, codec="zstd", asbytes=True)
        size = len(data) if says is None else says
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 33, zlib.crc32(data), len(packed), size, len(name), 0)
        index += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + fields
            + struct.pack("<HHHII", 0, 0, 0, 0, len(whole))
            + name.encode()
        )
        whole += b"PK\x03\x04" + fields + name.encode() + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(files), len(files), len(index), len(whole), 0)
    path.write_bytes(whole + index + end)
    return path


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    samples = [sample("a", "1"), sample(7, "two\nlines"), sample("c", "")]
    log = read_inspect_log(write_eval(tmp_path / "a.eval", samples))
    assert (log.task, log.model) == ("sums", "mockllm/model")
    assert log.columns("id", "answer") == {"id": ["a", "7", "c"], "answer": ["1", "two\nlines", ""]}
    (tmp_path / "a.json").write_text(json.dumps({**HEADER, "samples": samples}))
    assert read_inspect_log(tmp_path / "a.json") == log
    assert read_inspect_log(tmp_path / "a.eval", answer="match").answers == ("[1]", "[two\nlines]", "[]")
    packed = {"samples/a.json": json.dumps(samples[0]).encode(), "header.json": json.dumps(HEADER).encode()}
    assert read_inspect_log(write_zstandard(tmp_path / "z.eval", packed)).ids == ("a",)


def test_attachments_epochs_and_nan(tmp_path: Path) -> None:
    kept = sample("a", "attachment://ab12", attachments={"ab12": "a long answer"})
    assert read_inspect_log(write_eval(tmp_path / "a.eval", [kept])).answers == ("a long answer",)
    twice = [sample("a", "1"), sample("a", "2", epoch=2)]
    with pytest.raises(UnreadableLog, match="epoch=1"):
        read_inspect_log(write_eval(tmp_path / "b.eval", twice))
    assert read_inspect_log(tmp_path / "b.eval", epoch=2).answers == ("2",)
    with pytest.raises(UnreadableLog, match="no samples of epoch 3"):
        read_inspect_log(tmp_path / "b.eval", epoch=3)
    odd = json.dumps({**sample("a", "1"), "scores": {"match": {"value": float("nan")}}})
    assert read_inspect_log(write_eval(tmp_path / "c.eval", [odd])).answers == ("1",)


@pytest.mark.parametrize(
    ("samples", "header", "words"),
    [
        ([sample("a", "1")], {**HEADER, "status": "error"}, "not with success"),
        ([sample("a", "1")], {**HEADER, "status": "started"}, "not with success"),
        ([sample("a", "1")], None, "not come to an end"),
        ([sample("a", "1")], {"status": "success"}, "of which eval"),
        ([sample("a", "1", error={"message": "x"})], HEADER, "ended in an error"),
        ([sample(None, "1")], HEADER, "has no id"),
        ([sample("a", None)], HEADER, "no answer"),
        ([sample("a", {"b": 1})], HEADER, "not text"),
        ([sample("a", "attachment://none")], HEADER, "no answer"),
        (["[1, 2]"], HEADER, "not a JSON object"),
        (["[" * 100_000], HEADER, "not a log of Inspect"),
        (["{"], HEADER, "not a log of Inspect"),
        ([], HEADER, "no samples"),
    ],
)
def test_what_cannot_be_submitted(tmp_path: Path, samples: list[Any], header: Any, words: str) -> None:
    with pytest.raises(UnreadableLog, match=words):
        read_inspect_log(write_eval(tmp_path / "a.eval", samples, header))


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK\x03\x04 and so on")
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "b.json").write_text(json.dumps(HEADER))
    for name in ("a.eval", "a.json", "b.json", "none.eval"):
        with pytest.raises(UnreadableLog):
            read_inspect_log(tmp_path / name)
    with pytest.raises(UnreadableLog, match="there are: match"):
        read_inspect_log(write_eval(tmp_path / "c.eval", [sample("a", "1")]), answer="model_graded")


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "MOST_SAMPLE", 100_000)
    monkeypatch.setattr(inspect_log, "MOST_IN_ALL", 150_000)
    large = json.dumps(sample("a", "x" * 200_000))
    with pytest.raises(UnreadableLog, match="are the most"):
        read_inspect_log(write_eval(tmp_path / "a.eval", [large]))
    header = json.dumps(HEADER).encode()
    with pytest.raises(UnreadableLog, match="not what the zip file says"):  # it says that it is small, and is not
        read_inspect_log(
            write_zstandard(tmp_path / "z.eval", {"header.json": header, "samples/a.json": b" " * 10**7}, 200)
        )
    several = [sample(name, "x" * 60_000) for name in "abc"]
    with pytest.raises(UnreadableLog, match="are the most"):
        read_inspect_log(write_eval(tmp_path / "b.eval", several))
    monkeypatch.setattr(inspect_log, "MOST_SAMPLES", 2)
    with pytest.raises(UnreadableLog, match="entries"):
        read_inspect_log(write_eval(tmp_path / "c.eval", [sample(str(name), "x") for name in range(9)]))
    with zipfile.ZipFile(tmp_path / "d.eval", "w", zipfile.ZIP_LZMA) as log:
        log.writestr("header.json", "{}")
    with pytest.raises(UnreadableLog, match="not read here"):
        read_inspect_log(tmp_path / "d.eval")


TASK = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

samples = [Sample(id=f"q{i}", input=f"{i} + 1 = ?", target=str(i + 1)) for i in range(400)]
outputs = [ModelOutput.from_content("mockllm/model", str(i + 1 if i % 4 else i)) for i in range(400)]
for output in outputs:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it counts them, by a download
model = get_model("mockllm/model", custom_outputs=outputs)
task = Task(dataset=samples, solver=generate(), scorer=match())
log = eval(task, model=model, log_dir=".", log_format=sys.argv[1], display="none", max_samples=1, max_connections=1)
print(log[0].location)
"""


@pytest.mark.slow
def test_a_real_log_is_a_submission(tmp_path: Path) -> None:
    """Inspect, in an environment of its own, makes a log with its mock model; the board scores what is in it."""
    python = tmp_path / "inspect" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "inspect")], check=True, timeout=300)
    made = subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--no-compile", "inspect-ai"],
        capture_output=True,
        timeout=900,
        check=False,
    )
    if made.returncode:
        pytest.skip("inspect-ai cannot be installed here")
    (tmp_path / "task.py").write_text(TASK)
    labels = {"id": [f"q{place}" for place in range(400)], "label": [str(place + 1) for place in range(400)]}
    settings: dict[str, Any] = {"id": "id", "target": "label", "grader": "exact", "metric": "accuracy", "name": "sums"}
    with Board.create(tmp_path / "sums", labels, **settings) as board:
        ids = set()
        for format in ("eval", "json"):
            subprocess.run([str(python), "task.py", format], cwd=tmp_path, check=True, timeout=300)
            (log,) = tmp_path.glob(f"*.{format}")
            told = board.submit(read_inspect_log(log).columns("id", "prediction"), team="blue")
            assert told.practice is not None
            assert 0.68 < told.practice < 0.82
            assert told.low is not None
            assert told.high is not None
            assert told.low < 0.75 < told.high
            ids.add(told.id)
        assert len(ids) == 1  # both formats say the same
