"""Two who seal uses of the same rows at once end up with one family."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.holdout.uses.support import ROWS, THREE, USES, people
from unworn import Holdout
from unworn.errors import Mismatch, Tampered
from unworn.holdout.uses import check_uses
from unworn.ledger import MemoryStore
from unworn.ledger.backup import export, restore
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.record.transcript import Terms

RACER = """
import pickle, sys
import unworn.holdout.opening as opening
from unworn import Holdout
path, ledger, use, digit = sys.argv[1:]
seal = opening._seal
def wait_and_seal(*args):
    print("ready", flush=True)
    sys.stdin.readline()
    opening._seal = seal
    return seal(*args)
opening._seal = wait_and_seal
usual = opening.derive_id
opening.derive_id = lambda key: digit + usual(key)[1:]
with open(path, "rb") as file:
    rows = pickle.load(file)
holdout = Holdout(rows, ledger=ledger, uses={"asks": 0.7, "release": 0.3}, use=use)
print(holdout.id, *holdout._sample.origin.tolist(), flush=True)
holdout.close()
"""


def race(folder: Path, digit: str, use: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RACER, str(folder / "rows.pickle"), str(folder / "ledger.db"), use, digit]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("uses", "digits"), [(("asks", "release"), "f0"), (("release", "release"), "0f")])
def test_two_processes_seal_at_once(tmp_path: Path, uses: tuple[str, str], digits: str) -> None:
    """Both looked, both found nothing: they must end up with one family, and one holdout for each use."""
    # Arrays: a process that reads them imports no library of frames.
    rows = {name: column.to_numpy() for name, column in people().items()}
    (tmp_path / "rows.pickle").write_bytes(pickle.dumps(rows))
    SQLiteStore(tmp_path / "ledger.db").close()
    racers = [race(tmp_path, digit, use) for digit, use in zip(digits, uses, strict=True)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=120)[0].split() for racer in racers]
    ids, parts = [one[0] for one in told], [set(map(int, one[1:])) for one in told]
    store = SQLiteStore(tmp_path / "ledger.db")
    known = {holdout: Terms.from_body(first.body) for holdout, first in store.holdouts().items()}
    store.close()
    check_uses(known)
    assert set(known) == set(ids)
    assert sum(terms.first is None for terms in known.values()) == 1
    if uses[0] == uses[1]:
        assert ids[0] == ids[1]
        assert parts[0] == parts[1]
    else:
        assert ids[0] != ids[1]
        assert sorted([*parts[0], *parts[1]]) == list(range(ROWS))


def test_the_first_use_comes_in_between(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked, found nothing, and meanwhile another use and then this one were sealed."""
    from unworn.holdout import opening

    seal = opening._seal
    made: list[Holdout] = []

    def late(*arguments: Any) -> None:
        monkeypatch.setattr(opening, "_seal", seal)
        made.extend(Holdout(people(), "y", ledger=store, uses=THREE, use=use) for use in ("board", "asks"))
        seal(*arguments)

    monkeypatch.setattr(opening, "_seal", late)
    holdout = Holdout(people(), "y", ledger=store, uses=THREE)
    assert holdout.id == made[1].id
    assert holdout.terms.first == made[0].id
    assert len(store.holdouts()) == 2


def test_backups_that_were_sealed_apart_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ledgers on two machines, one copied before the second use was sealed in each: together, nothing is asked."""
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    Holdout(people(), "y", ledger=one, uses=USES).close()
    shutil.copy(one, two)
    shutil.copytree(tmp_path / "one.db.keys", tmp_path / "two.db.keys")
    Holdout(people(), "y", ledger=one, uses=USES, use="release").close()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("UNWORN_HOME", str(tmp_path / "elsewhere"))
        Holdout(people(), "y", ledger=two, uses=USES, use="release").close()
    stores = [SQLiteStore(place) for place in (one, two)]
    export(stores[1], tmp_path / "backup.jsonl")
    restore(tmp_path / "backup.jsonl", stores[0])
    for use in USES:
        with pytest.raises(Tampered, match="both use 'release' of the same rows"):
            Holdout(people(), "y", ledger=stores[0], uses=USES, use=use)
    for store in stores:
        store.close()


def test_rows_sealed_twice_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [SQLiteStore(tmp_path / name) for name in ("one.db", "two.db")]
    Holdout(people(), "y", ledger=stores[0], uses=USES, name="one")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("UNWORN_HOME", str(tmp_path / "elsewhere"))
        twin = Holdout(people(), "y", ledger=stores[1], name="two")
    export(stores[1], tmp_path / "backup.jsonl")
    restore(tmp_path / "backup.jsonl", stores[0])
    key = stores[1].key(twin.id)
    assert key is not None
    stores[0].keep_key(twin.id, key)
    for terms in ({}, {"uses": USES}, {"uses": USES, "use": "release"}):
        with pytest.raises(Mismatch, match="sealed twice in this ledger"):
            Holdout(people(), "y", ledger=stores[0], **terms)
    for store in stores:
        store.close()
