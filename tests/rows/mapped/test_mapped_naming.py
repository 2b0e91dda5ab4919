"""A file appears when it is whole: killed, full or failing, an import leaves nothing, and what was there stays."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unworn.errors import Unaskable
from unworn.rows.mapped import mapped_naming
from unworn.rows.mapped.mapped_naming import appearing
from unworn.rows.mapped.mapped_rows import open_mapped
from unworn.rows.mapped.mapped_writing import write_mapped

BATCH = pa.record_batch({"age": list(range(1_000)), "plan": ["basic", None] * 500})


def written(path: Path, force: bool = False) -> None:
    write_mapped(path, BATCH.schema, 3_000, [BATCH] * 3, force=force)


@pytest.fixture(params=["nameless", "hidden"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "hidden":
        monkeypatch.setattr(mapped_naming, "_nameless", lambda beside: False)
    return str(request.param)


def test_the_file_appears_whole_and_alone(tmp_path: Path, way: str) -> None:
    path = tmp_path / "rows.arrow"
    with appearing(path, False) as file:
        os.write(file, b"half")
        assert not path.exists()
        if way == "nameless" and hasattr(os, "O_TMPFILE"):
            assert list(tmp_path.iterdir()) == []
    assert path.read_bytes() == b"half"
    with appearing(path, True) as file:
        os.write(file, b"other")
        assert path.read_bytes() == b"half"
    assert path.read_bytes() == b"other"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("way")
def test_a_name_that_is_taken_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    with pytest.raises(Unaskable, match="appeared in the meantime"), appearing(path, False):
        path.write_bytes(b"mine")
    assert path.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(Unaskable, match="is there already"):
        written(path)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Unaskable, match="is a folder"):
        written(folder, force=True)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("when", [0, 2, 5])
def test_a_disk_that_is_full_or_broken_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, when: int
) -> None:
    old, new = tmp_path / "old.arrow", tmp_path / "new.arrow"
    written(old)
    kept, real, count = old.read_bytes(), os.pwrite, [0]

    def pwrite(*given: Any) -> int:
        count[0] += 1
        if count[0] > when:
            raise OSError(code, os.strerror(code))
        return real(*given)

    monkeypatch.setattr(os, "pwrite", pwrite)
    for path, force in ((new, False), (old, True)):
        count[0] = 0
        with pytest.raises(Unaskable, match=f"could not be written: {os.strerror(code)}"):
            written(path, force)
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_bytes() == kept


def test_a_limit_on_the_size_of_files_is_said(tmp_path: Path) -> None:
    """A real limit of the system's, in a process of its own."""
    code = """
        import resource, sys
        from tests.rows.mapped.test_mapped_naming import written
        from unworn.errors import Unaskable
        from pathlib import Path
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
        try:
            written(Path(sys.argv[1]))
        except Unaskable as error:
            print(error)
    """
    place = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "rows.arrow")],
        capture_output=True,
        text=True,
        check=True,
        cwd=place,
    )
    assert "could not be written: File too large. Nothing is left of it" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no nameless files")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_import_leaves_nothing_and_can_be_done_again(tmp_path: Path, number: int) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from tests.rows.mapped.test_mapped_naming import BATCH
        from unworn.rows.mapped.mapped_writing import write_mapped
        def batches():
            yield BATCH
            print("half", flush=True)
            time.sleep(60)
        write_mapped(Path(sys.argv[1]), BATCH.schema, 3_000, batches())
    """
    path = tmp_path / "rows.arrow"
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        child.send_signal(number)
        assert child.wait(30) == -number
    assert list(tmp_path.iterdir()) == []
    written(path)
    found = open_mapped(path)
    assert found is not None
    assert found.rows == 3_000
