"""What a user names to be written never replaces a ledger, its key, the rows, or anything else of another sort."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Run, people, run  # noqa: F401  a fixture
from unworn import Holdout, charts, col, share
from unworn.errors import UnwornError
from unworn.ledger import open_store
from unworn.ledger.backup import export, export_key
from unworn.record.certificate import Certificate
from unworn.rows.mapped.mapped_writing import write_mapped

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, or has pipes with names")
CHART = [{"mechanism": "GuessAndCheck", "asks": asks, "width": 0.04} for asks in (1, 10)]


def write_arrow(path: Any) -> None:
    import pyarrow as pa

    batch = pa.record_batch({"age": [1, 2]})
    write_mapped(path, batch.schema, 2, [batch], force=True)


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    holdout = Holdout({"x": np.linspace(0, 1, 2_000)}, ledger=tmp_path / "live.db", name="rows")
    holdout.ask(share(col("x") > 0.5), 0.5)
    yield holdout
    holdout.close()


def writers(holdout: Holdout) -> dict[str, tuple[str, Callable[[Any], Any]]]:
    """By name: the ending that a name needs, and what writes."""
    answer = holdout.ask(share(col("x") > 0.5), 0.5)
    return {
        "card": ("", answer.certificate.save),
        "html": (".html", holdout.report),
        "markdown": (".md", holdout.report),
        **{
            f"figure{ending}": (ending, lambda path: charts.save(charts.widths(CHART, title="Widths"), path))
            for ending in charts.SUFFIXES
        },
        "rows": (".arrow", write_arrow),
        "entries": ("", lambda path: export(open_store(holdout.ledger_url, write=False), path)),
        "key": ("", lambda path: export_key(open_store(holdout.ledger_url, write=False), holdout.id, path)),
    }


NAMES = ("card", "html", "markdown", *(f"figure{ending}" for ending in charts.SUFFIXES), "rows", "entries", "key")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_another_sort_is_replaced(name: str, asked: Holdout, tmp_path: Path) -> None:
    ending, write = writers(asked)[name]
    ledger = tmp_path / f"other{ending or '.db'}"
    Holdout({"y": np.arange(500.0)}, ledger=ledger).close()
    others = {
        "ledger": ledger,
        "text": tmp_path / f"text{ending or '.txt'}",
        "parquet": tmp_path / f"people{ending or '.parquet'}",
        "json": tmp_path / f"settings{ending or '.json'}",
        "backup": tmp_path / f"backup{ending or '.jsonl'}",
    }
    others["text"].write_text("dear diary\n")
    people(10).to_parquet(others["parquet"])
    others["json"].write_text('{"format": "mine", "card": true}')
    export(open_store(ledger, write=False), others["backup"])
    link = tmp_path / f"link{ending or '.lnk'}"
    link.symlink_to(ledger)
    if name == "rows":
        del others["text"]  # --force says that it may be replaced
    for path in (*others.values(), link):
        before = path.read_bytes()
        with pytest.raises(UnwornError):
            write(path)
        assert path.read_bytes() == before
    assert not [left for left in os.listdir(tmp_path) if left.startswith(".")]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_a_ledgers_files_and_no_names_are_refused(name: str, asked: Holdout, tmp_path: Path) -> None:
    ending, write = writers(asked)[name]
    keys = tmp_path / "live.db.keys"
    before = sorted(os.listdir(tmp_path)), sorted(os.listdir(keys))
    wrong: list[Any] = [3, None, b"x", f"{tmp_path}/a\0{ending}", f"{tmp_path}/\ud800{ending}", tmp_path, "", 0.5]
    wrong += [keys / f"new{ending}", tmp_path / f"a.keys/b{ending}", tmp_path / "no" / f"such{ending}"]
    wrong += [f"{tmp_path}/future.db{end}" for end in ("-wal", "-shm", "-journal", ".keys")]
    for path in wrong:
        with pytest.raises(UnwornError):
            write(path)
    assert (sorted(os.listdir(tmp_path)), sorted(os.listdir(keys))) == before


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("entries", "key")])
def test_its_own_sort_is_replaced_whole(name: str, asked: Holdout, tmp_path: Path) -> None:
    ending, write = writers(asked)[name]
    path = tmp_path / f"again{ending or '.json'}"
    write(path)
    first = path.read_bytes()
    write(path)
    link = tmp_path / f"link{ending or '.json'}"
    link.symlink_to(path)
    write(link)
    assert link.is_symlink() or name == "rows"
    path.write_bytes(b"")  # as tempfile leaves it
    write(path)
    assert len(path.read_bytes()) == len(first) > 0


@LINUX
def test_a_stream_is_written_to_and_never_replaced(asked: Holdout, tmp_path: Path) -> None:
    """By a pipe of the test's own: what goes wrong with a device of the machine goes wrong for all who use it."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with pytest.raises(UnwornError, match="is there already"):
        write_arrow(pipe)
    with ThreadPoolExecutor(1) as others:
        read = others.submit(pipe.read_text)
        asked.ask(share(col("x") > 0.5), 0.5).certificate.save(pipe)
        assert json.loads(read.result(timeout=60))["format"] == "unworn certificate 1"
    assert pipe.is_fifo()


@LINUX
def test_looking_at_a_live_ledger_leaves_its_locks(asked: Holdout, tmp_path: Path) -> None:
    card = asked.ask(share(col("x") > 0.5), 0.5).certificate
    ledger = tmp_path / "live.db"

    def locks() -> int:
        return Path("/proc/locks").read_text().count(f":{os.stat(ledger).st_ino} ")

    def descriptors() -> int:
        links = (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd"))
        return sum(os.path.realpath(link) == str(ledger) for link in links)

    before, held = locks(), descriptors()
    for _ in range(3):
        with pytest.raises(UnwornError):
            card.save(ledger)
    assert locks() == before
    assert descriptors() == held + 1  # opened once, and never closed: closing would drop the locks
    assert asked.ask(share(col("x") > 0.25), 0.75).index == 2


@pytest.mark.parametrize("end", ["", ".ledger.db", ".ledger.db-wal", ".ledger.db.keys"])
@pytest.mark.parametrize("sealed", [False, True])
def test_a_card_is_refused_before_it_is_paid_for(run: Run, tmp_path: Path, end: str, sealed: bool) -> None:  # noqa: F811
    data = tmp_path / "people.parquet"
    people().to_parquet(data)
    if sealed:
        assert run("ask", str(data), "age > 50", "--guess", "0.5").exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run("ask", str(data), "age > 70", "--guess", "0.3", "--card", f"{data}{end}")
    assert result.exit_code == 2, result.output
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("existing", [False, True])
def test_an_answer_whose_card_cannot_be_saved_is_told(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    existing: bool,
) -> None:
    data, card = tmp_path / "people.parquet", tmp_path / "card.json"
    people().to_parquet(data)
    question = ("ask", str(data), "age > 50", "--guess", "0.55", "--card", str(card))
    if existing:
        assert run("ask", str(data), "age > 60", "--guess", "0.4", "--card", str(card)).exit_code == 0
    before = card.read_bytes() if existing else None

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr("unworn.basics.output_files.write_durably", fail)
        result = run(*question)
        assert result.exit_code == 4
        assert "0.55" in result.stdout
        assert "could not be written: No space left on device" in result.stderr
        assert "mistake in unworn" not in result.stderr
        result = run(*question, "--json")
        assert result.exit_code == 4
        told = json.loads(result.stdout)
        assert (told["value"], told["card"], told["repeat"]) == (0.55, None, True)
    assert (card.read_bytes() if card.exists() else None) == before
    assert run(*question).exit_code == 0
    Certificate.load(card).verify()
