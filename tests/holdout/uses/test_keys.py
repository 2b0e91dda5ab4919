"""The key that parts the rows among uses: lost, brought back, and not its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.holdout.uses.support import QUESTION, ROWS, THREE, USES, people
from unworn import Holdout
from unworn.errors import Mismatch, ReadOnly


def lose(tmp_path: Path, holdout: str) -> Path:
    return Path(shutil.move(tmp_path / "ledger.db.keys" / f"{holdout}.key", tmp_path / "lost.key"))


def test_without_the_first_key_every_use_is_read_only(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first, second = (Holdout(people(), "y", ledger=ledger, uses=THREE, use=use) for use in ("asks", "release"))
    told = {"asks": first.ask(QUESTION, 0.5), "release": second.ask(QUESTION, 0.5)}
    first.close()
    second.close()
    kept = lose(tmp_path, first.id)
    for use, answer in told.items():
        reading = Holdout(people(), "y", ledger=ledger, uses=THREE, use=use)
        assert reading.read_only
        assert reading.size == (200 if use == "asks" else 120)
        assert reading._sample.rows == 0  # nobody can tell which are its rows, so it holds none
        assert reading.ask(QUESTION) == answer
        assert "share" in repr(reading)
        with pytest.raises(ReadOnly, match="Bring the key back"):
            reading.ask("a > 1", 0.5)
        with pytest.raises(ReadOnly, match="Bring the key back"):
            reading.score(np.zeros(ROWS, dtype=int))
        reading.verify()
        reading.close()
    with pytest.raises(ReadOnly, match="which rows each use gets"):
        Holdout(people(), "y", ledger=ledger, uses=THREE, use="board")
    with pytest.raises(Mismatch, match="uses: sealed with"):
        Holdout(people(), "y", ledger=ledger)
    shutil.move(kept, tmp_path / "ledger.db.keys" / f"{first.id}.key")
    third = Holdout(people(), "y", ledger=ledger, uses=THREE, use="board")
    assert not third.read_only
    assert len(third._desk.store.holdouts()) == 3
    third.close()


def test_without_its_own_key_a_later_use_is_read_only_and_not_sealed_again(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first, second = (Holdout(people(), "y", ledger=ledger, uses=USES, use=use) for use in USES)
    answer = second.ask(QUESTION, 0.5)
    first.close()
    second.close()
    lose(tmp_path, second.id)
    reading = Holdout(people(), "y", ledger=ledger, uses=USES, use="release")
    assert (reading.id, reading.read_only) == (second.id, True)
    assert reading.ask(QUESTION) == answer
    with pytest.raises(ReadOnly):
        reading.ask("a > 1", 0.5)
    asking = Holdout(people(), "y", ledger=ledger, uses=USES)
    asking.ask("a > 1", 0.5)
    other = Holdout(people(seed=3), "y", ledger=ledger)  # as many rows; but the family's rows are known, and others
    assert len(other._desk.store.holdouts()) == 3
    for holdout in (reading, asking, other):
        holdout.close()


def test_without_any_key(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for use in USES:
        Holdout(people(), "y", ledger=ledger, uses=USES, use=use, name=use).close()
    shutil.rmtree(tmp_path / "ledger.db.keys")
    for terms in ({}, {"uses": USES}, {"uses": USES, "name": "fresh"}):
        with pytest.raises(Mismatch, match=r"key of holdout '(asks|release)' is missing, and these 400 rows"):
            Holdout(people(), "y", ledger=ledger, **terms)
    with pytest.raises(Mismatch, match="uses: sealed with"):
        Holdout(people(), "y", ledger=ledger, name="asks")
    with pytest.raises(Mismatch, match="use: sealed with 'asks', opened with 'release'"):
        Holdout(people(), "y", ledger=ledger, name="asks", uses=USES, use="release")
    reading = Holdout(people(), "y", ledger=ledger, name="release", uses=USES, use="release")
    assert (reading.name, reading.read_only, reading._sample.rows) == ("release", True, 0)
    reading.close()
    assert not (tmp_path / "ledger.db.keys").exists()
    shutil.rmtree(tmp_path / "ledger.db.keys", ignore_errors=True)
    other = Holdout(people(seed=1).iloc[:280], "y", ledger=ledger)  # as many as a part, but not as the whole
    assert not other.read_only
    other.close()
