from __future__ import annotations

from pathlib import Path

import pytest

from unworn.ledger import heads
from unworn.ledger.heads import NotedHeads


@pytest.mark.parametrize("has_pwrite", [True, False])
def test_a_note_is_written_over_the_one_before(
    has_pwrite: bool, tmp_path: Path, holdout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the system cannot write at a place without going there."""
    monkeypatch.setattr(heads, "_HAS_PWRITE", has_pwrite and heads._HAS_PWRITE)
    noted, other = NotedHeads(tmp_path), "f" * 32
    for index in (0, 1, 2, 10**18):
        noted.note(holdout, index, f"{index:064x}")
        noted.note(other, index + 1, f"{index + 1:064x}")
        assert NotedHeads(tmp_path).read() == {
            holdout: (index, f"{index:064x}"),
            other: (index + 1, f"{index + 1:064x}"),
        }
    assert {path.stat().st_size for path in tmp_path.iterdir()} == {19 + 1 + 64 + 1}
    noted.close()


def test_no_place_for_notes_is_none_to_make(tmp_path: Path, holdout: str) -> None:
    noted = NotedHeads(tmp_path / "x.db.keys")
    noted.note(holdout, 3, "0" * 64)
    assert noted.read() == {}
    assert list(tmp_path.iterdir()) == []
