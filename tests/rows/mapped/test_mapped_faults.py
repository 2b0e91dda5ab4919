"""Mapped files that are cut, replaced, unlinked or hostile, in the middle of a question too: a clear error, or none."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import Subsampled
from unworn.noise import Stream
from unworn.rows import Sample
from unworn.rows.mapped import mapped_lease, mapped_rows
from unworn.rows.mapped.mapped_lease import Lease
from unworn.rows.mapped.mapped_writing import write_mapped

ROWS = 300_000
OLD = share(col("age") > 65)
INCOME = mean(col("income").fill(0), range=(0, 1))


def table(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(3)
    plans = np.array(["basic", "pro", None], dtype=object)[rng.integers(0, 3, rows)]
    paid = pa.array(rng.random(rows) < 0.4, mask=rng.random(rows) < 0.05)
    return pa.table({"age": rng.integers(18, 90, rows), "income": rng.random(rows), "plan": plans, "paid": paid})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = table()
    write_mapped(tmp_path / "rows.arrow", rows.schema, rows.num_rows, rows.to_batches())
    return tmp_path / "rows.arrow"


@pytest.fixture
def leases(path: Path) -> None:
    """Skips where the system gives no lease on a file of one's own."""
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (AttributeError, OSError):
        pytest.skip("no lease is to be had here")
    finally:
        os.close(file)


class Middle:
    """Does something once, in another thread, in the middle of a question: the file was looked at, rows come next."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, what: Any) -> None:
        self.done = threading.Thread(target=what, daemon=True)
        self.before: bool | None = None
        real = mapped_rows.FileWatch.__call__

        def looked(watch: mapped_rows.FileWatch) -> None:
            real(watch)
            if self.before is None:
                self.done.start()
                self.done.join(0.5)
                self.before = not self.done.is_alive()

        monkeypatch.setattr(mapped_rows.FileWatch, "__call__", looked)


# ------------------------------------------------------------------ in the middle of a question


WAIT = """
    import os, sys, threading
    from unworn import Holdout, col, share
    from unworn.rows.mapped import mapped_rows as mapped
    from unworn.errors import Mismatch, Unaskable
    path, ledger = sys.argv[1:]
    holdout = Holdout(path, ledger=ledger)
    truth = holdout._sample.counts([share(col("age") > 65)])
    looked, cut = mapped.FileWatch.__call__, threading.Thread(target=os.truncate, args=(path, 4_096))
    def once(watch):
        looked(watch)
        if cut.ident is None:
            cut.start()
            cut.join(0.5)
            print("waits" if cut.is_alive() else "cut", flush=True)
    mapped.FileWatch.__call__ = once
    assert holdout._sample.counts([share(col("age") > 65)]) == truth
    cut.join(30)
    print(os.stat(path).st_size, flush=True)
    try:
        holdout.ask(share(col("age") > 65))
    except Mismatch as error:
        print("Nothing was charged" in str(error), holdout.meter.asked, flush=True)
"""


@pytest.mark.usefixtures("leases")
def test_who_cuts_the_file_in_the_middle_of_a_pass_waits(path: Path, tmp_path: Path) -> None:
    """In a process of its own, since it would be the end of one that has no lease."""
    code = [sys.executable, "-c", textwrap.dedent(WAIT), str(path), str(tmp_path / "ledger.db")]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["waits", "4096", "True", "0"], done.stderr


@pytest.mark.usefixtures("leases")
def test_a_lease_ends_with_the_last_reader(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    lease = Lease(file)
    cut = threading.Thread(target=os.truncate, args=(path, 10), daemon=True)
    with lease:
        with lease:
            cut.start()
        cut.join(0.3)
        assert cut.is_alive()
    cut.join(30)
    assert not cut.is_alive()
    os.close(file)


def test_files_that_cannot_be_leased_are_read_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with path.open("r+b"):  # somebody has it open for writing: no lease
        assert Sample.read(path).counts([OLD])[0] > 0
    monkeypatch.setattr(mapped_lease, "_fcntl", None)
    assert Sample.read(path).counts([OLD])[0] > 0


def test_a_change_in_the_middle_of_a_question_is_told_and_charges_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lease: rows are overwritten while they are read, and what was read is thrown away."""
    monkeypatch.setattr(mapped_lease, "_fcntl", None)
    holdout = Holdout(path, ledger=str(tmp_path / "ledger.db"))
    whole = path.read_bytes()

    def change() -> None:
        with path.open("r+b") as file:
            file.seek(len(whole) // 2)
            file.write(b"\1" * 64)

    middle = Middle(monkeypatch, change)
    with pytest.raises(Mismatch, match="Nothing was charged"):
        holdout.ask(OLD)
    assert middle.before
    assert holdout.meter.asked == 0
    holdout.verify()
    holdout.close()
    path.write_bytes(whole)
    again = Holdout(path, ledger=str(tmp_path / "ledger.db"))
    assert again.ask(OLD).index == 1
    again.close()


@pytest.mark.parametrize("how", ["unlink", "replace"])
def test_a_file_that_loses_its_name_in_the_middle_is_still_the_one_that_was_opened(
    path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = Sample.read(path)
    expected = sample.statistics([OLD, INCOME])

    def change() -> None:
        if how == "unlink":
            path.unlink()
        else:
            other = table(50)
            write_mapped(path, other.schema, 50, other.to_batches(), force=True)

    middle = Middle(monkeypatch, change)
    assert sample.statistics([OLD, INCOME]) == expected
    assert middle.before
    assert sample.drawn(OLD, 100, Stream(bytes(32))) > 0


CUT = """
    import os, sys, threading
    from pathlib import Path
    from unworn import Holdout, col, share
    from unworn.rows.mapped import mapped_rows as mapped, mapped_lease
    from unworn.mechanisms import Subsampled
    path, ledger, kind = sys.argv[1:]
    mapped_lease._fcntl = None
    mechanism = {"mechanism": Subsampled(0.05, 5_000), "asks": 9} if kind == "draws" else {}
    holdout = Holdout(path, ledger=ledger, **mechanism)
    holdout.ask(share(col("age") > 65))
    print("first", flush=True)
    looked = mapped.FileWatch.__call__
    def cut(watch):
        looked(watch)
        os.truncate(path, 4_096)
    mapped.FileWatch.__call__ = cut
    holdout.ask(share(col("age") > 40))
    print("second", flush=True)
"""


@pytest.mark.parametrize("kind", ["scan", "draws"])
def test_a_process_that_dies_by_sigbus_leaves_a_whole_ledger(path: Path, tmp_path: Path, kind: str) -> None:
    """Where no lease is to be had, a cut in the middle ends the process; the question it was at is not even charged."""
    whole, ledger = path.read_bytes(), tmp_path / "ledger.db"
    code = [sys.executable, "-c", textwrap.dedent(CUT), str(path), str(ledger), kind]
    died = subprocess.run(code, capture_output=True, text=True, check=False)
    assert died.stdout == "first\n"
    assert died.returncode in (-signal.SIGBUS, -signal.SIGSEGV)
    path.write_bytes(whole)
    terms: dict[str, Any] = {"mechanism": Subsampled(0.05, 5_000), "asks": 9} if kind == "draws" else {}
    again = Holdout(path, ledger=str(ledger), **terms)
    again.verify()
    assert again.meter.asked == 1
    assert again.ask(share(col("age") > 40)).index == 2
    again.close()


# ------------------------------------------------------------------ hostile files


def small(folder: Path) -> bytes:
    rows = table(200)
    write_mapped(folder / "small.arrow", rows.schema, 200, rows.to_batches(max_chunksize=70))
    return (folder / "small.arrow").read_bytes()


FUZZ = """
    import resource, sys
    from pathlib import Path
    import numpy as np
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    from unworn import col, mean, share
    from unworn.errors import UnwornError
    from unworn.noise import Stream
    from unworn.rows import Sample
    from unworn.rows.fingerprints.stored_digests import digests
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    data = (folder / "small.arrow").read_bytes()
    asked = [share(col("age") > 65), share(col("plan") == "basic"), share(col("paid")),
             mean(col("income").fill(0), range=(0, 1))]
    for turn in range(first, first + count):
        rng = np.random.default_rng(turn)
        hurt = bytearray(data)
        head = rng.random() < 0.5
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(0, 1500) if head else rng.integers(0, len(data)))
            how = rng.integers(0, 4)
            if how == 0:
                hurt[place] = int(rng.integers(0, 256))
            elif how == 1:
                hurt[place : place + 4] = b"\\xff\\xff\\xff\\x7f"
            elif how == 2:
                hurt[place : place + 8] = int(rng.integers(-2**62, 2**62)).to_bytes(8, "little", signed=True)
            else:
                hurt[place] ^= 1 << int(rng.integers(0, 8))
        path = folder / f"hurt {first}.arrow"
        path.write_bytes(bytes(hurt[: len(data)]))
        print(turn, flush=True)
        try:
            sample = Sample.read(path)
        except UnwornError:
            continue
        if sample.rows > 10**7:
            print("huge", flush=True)
            continue
        for query in asked:
            try:
                sample.statistics([query])
                sample.drawn(query, min(20, sample.rows), Stream(bytes(32)))
            except UnwornError:
                pass
        try:
            digests(sample, bytes(32))
        except UnwornError:
            pass
    print("done", flush=True)
"""


def fuzzed(folder: Path, first: int, count: int) -> str:
    small(folder)
    code = [sys.executable, "-c", textwrap.dedent(FUZZ), str(folder), str(first), str(count)]
    done = subprocess.run(code, capture_output=True, text=True, check=False, timeout=600)
    turn = ([line for line in done.stdout.splitlines() if line.isdigit()] or ["none"])[-1]
    assert done.returncode == 0, f"turn {turn} ended with {done.returncode}: {done.stderr[-2000:]}"
    assert "huge" not in done.stdout
    assert done.stdout.endswith("done\n")
    return done.stdout


@pytest.mark.parametrize("column", ["plan", "paid"])
def test_values_that_no_import_writes_are_refused_when_rows_are_sealed(tmp_path: Path, column: str) -> None:
    """Opening reads no row; what is sealed is read, and a code without a word or a truth of 255 is told as damage."""
    small(tmp_path)
    path = tmp_path / "small.arrow"
    found = mapped_rows.open_mapped(path)
    assert found is not None
    values = found.columns[column].values
    start = values.__array_interface__["data"][0] - np.frombuffer(found.watch.memory, np.uint8).ctypes.data
    hurt = bytearray(path.read_bytes())
    hurt[start + 3] = 255 if column == "paid" else 127
    del found, values
    path.write_bytes(bytes(hurt))
    with pytest.raises(Unaskable, match="is damaged: write it again"):
        Holdout(path, ledger=str(tmp_path / "ledger.db"))


def test_hurt_files_are_refused_or_read_and_never_harm(tmp_path: Path) -> None:
    """Bytes of the parts that say what lies where: whatever they claim, there is an error of ours or there are rows."""
    fuzzed(tmp_path, 0, 400)


@pytest.mark.slow
def test_many_hurt_files(tmp_path: Path) -> None:
    fuzzed(tmp_path, 10_000, 10_000)
