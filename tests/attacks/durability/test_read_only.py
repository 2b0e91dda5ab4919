"""Listing and checking a ledger works where nothing can be written, and on a copy; and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from unworn import Holdout, col, share
from unworn.cli import app
from unworn.errors import LedgerError
from unworn.ledger.stores.sqlite_store import SQLiteStore

DATA = {"a": np.random.default_rng(0).normal(size=500)}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def media() -> Iterator[Path]:
    """A folder with a ledger of three answers, closed, and beside it one as a kill leaves it.

    The user is one who may only read the first: root, who may write everywhere, becomes nobody meanwhile.
    """
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:  # not tmp_path, which only its owner can enter
        Path(name).chmod(0o755)
        folder = Path(os.path.realpath(name)) / "media"
        folder.mkdir()
        holdout = Holdout(DATA, ledger=folder / "x.db")
        holdout.ask_many([share(col("a") > number) for number in range(3)])
        shutil.copytree(folder, folder.with_name("killed"))
        holdout.close()
        for keys in folder.parent.glob("*/x.db.keys"):
            shutil.rmtree(keys)
        for command in (["ledger"], ["verify", "--ledger"]):  # nobody may be unable to import what they need
            assert run(*command, folder / "x.db").exit_code == 0
        (folder / "x.db").chmod(0o444)
        folder.chmod(0o555)
        os.seteuid(65534 if user == 0 else user)
        try:
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o755)


@contextmanager
def as_owner() -> Iterator[None]:
    user = os.geteuid()
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_ledger_on_media_that_cannot_be_written(media: Path) -> None:
    listed = run("ledger", media / "x.db", "--json")
    assert listed.exit_code == 0, listed.output
    (holdout,) = json.loads(listed.stdout)["holdouts"]
    assert len(holdout["answers"]) == 3
    assert not holdout["can_be_asked"]
    checked = run("verify", "--ledger", media / "x.db")
    assert checked.exit_code == 0, checked.output
    assert "is whole" in checked.stdout
    assert os.listdir(media) == ["x.db"]


@pytest.mark.filterwarnings("ignore:.*cannot be written:UserWarning")  # nor can this user write its home
def test_it_cannot_be_asked_there(media: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be written"):
        Holdout(DATA, ledger=media / "x.db")
    store = SQLiteStore(media / "x.db", write=False)
    (holdout,) = store.holdouts()
    last = store.read(holdout)[-1]
    with pytest.raises(LedgerError, match="opened to be read"):
        store.append([last], expect=last.previous)
    store.close()
    assert os.listdir(media) == ["x.db"]


def test_a_log_that_was_left_there(media: Path) -> None:
    """Killed, then put on read-only media: without its index the log cannot be read there, and that is said."""
    killed = media.with_name("killed")
    with as_owner():
        (killed / "x.db-shm").unlink()
        killed.chmod(0o555)
    result = run("ledger", killed / "x.db")
    assert result.exit_code == 4
    assert "Copy both files to a folder you can write to" in result.stderr
    with as_owner():
        killed.chmod(0o755)
        assert len(json.loads(run("ledger", killed / "x.db", "--json").stdout)["holdouts"][0]["answers"]) == 3
        assert os.listdir(killed) == ["x.db"]


def test_a_log_that_was_left_there_with_its_index(media: Path) -> None:
    killed = media.with_name("killed")
    with as_owner():
        for lock in ("x.db-open", "x.db-lock"):
            (killed / lock).unlink()
        killed.chmod(0o555)
    listed = run("ledger", killed / "x.db", "--json")
    assert listed.exit_code == 0, listed.output
    assert len(json.loads(listed.stdout)["holdouts"][0]["answers"]) == 3
    with as_owner():
        killed.chmod(0o755)


def test_a_copy_without_keys(media: Path) -> None:
    with as_owner():
        copy = media.with_name("copies") / "x.db"
        copy.parent.mkdir()
        shutil.copy(media / "x.db", copy)
        copy.chmod(0o644)
        assert run("ledger", copy).exit_code == 0
        assert run("verify", "--ledger", copy).exit_code == 0
        assert os.listdir(copy.parent) == ["x.db"]


def test_exit_codes(tmp_path: Path) -> None:
    """2: no such file; 3: nothing to check; 4: not a ledger, or changed, or cut."""
    for command in (["ledger"], ["verify", "--ledger"]):
        assert run(*command, tmp_path / "missing.db").exit_code == 2
        assert not (tmp_path / "missing.db").exists()
        (tmp_path / "text.db").write_text("no ledger\n" * 100)
        assert run(*command, tmp_path / "text.db").exit_code == 4
        assert run(*command, tmp_path).exit_code == 4
    SQLiteStore(tmp_path / "empty.db").close()
    assert run("ledger", tmp_path / "empty.db").exit_code == 0
    assert run("verify", "--ledger", tmp_path / "empty.db").exit_code == 3
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    assert run("verify", "--ledger", tmp_path / "other.db").exit_code == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "other.db", "text.db"]
