"""Boards and holdouts are found, opened once, shared, and closed when others are wanted more."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from unworn.server import workspace as module
from unworn.server.server_errors import CannotOpen, NotThere
from unworn.server.workspace import Workspace


class FakeBoard:
    """Stands for a board: knows whether it is open."""

    opened = 0

    def __init__(self, folder: Path) -> None:
        self.folder, self.is_open = folder, True
        FakeBoard.opened += 1

    def release(self) -> None:
        self.is_open = False


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def open_place(kind: str, folder: Path) -> Any:
        if folder.name == "broken":
            raise OSError(f"{folder}/labels.npz is damaged")
        time.sleep(0.01)
        return FakeBoard(folder)

    FakeBoard.opened = 0
    monkeypatch.setattr(module, "_open", open_place)
    for name in [*(f"b{number}" for number in range(20)), "broken", ".hidden", "with space"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "board.toml").touch()
    (tmp_path / "plain").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "b0")
    return tmp_path


def test_only_plain_folders_with_their_file_are_places(places: Path) -> None:
    workspace = Workspace(places)
    assert workspace.boards() == sorted([*(f"b{number}" for number in range(20)), "broken"])
    assert workspace.holdouts() == []
    for name in ("..", "../b0", "link", "plain", ".hidden", "b0/", "b0\0", "", "B0", "with space"):
        with pytest.raises(NotThere):
            workspace.board(name)


def test_a_folder_that_is_a_board_is_the_only_place(places: Path) -> None:
    assert Workspace(places / "b3").boards() == ["b3"]


def test_a_new_board_is_found_without_a_restart(places: Path) -> None:
    now = [0.0]
    workspace = Workspace(places, clock=lambda: now[0])
    assert "new" not in workspace.boards()
    (places / "new").mkdir()
    (places / "new" / "board.toml").touch()
    now[0] += 3
    assert "new" in workspace.boards()
    now[0] += 1_000
    assert "late" not in workspace.boards()
    (places / "late").mkdir()
    now[0] += 3
    assert "late" not in workspace.boards()  # its file is still being written
    (places / "late" / "board.toml").touch()
    now[0] += 3
    assert "late" in workspace.boards()


def test_many_threads_open_a_place_once(places: Path) -> None:
    workspace, ready = Workspace(places), threading.Barrier(16)

    def want(_: int) -> Any:
        ready.wait()
        return workspace.board("b1")

    with ThreadPoolExecutor(16) as pool:
        assert len(set(map(id, pool.map(want, range(16))))) == 1
    assert FakeBoard.opened == 1


def test_what_is_idle_is_closed_and_what_is_leased_is_not(places: Path) -> None:
    now = [0.0]
    workspace = Workspace(places, most=4, clock=lambda: now[0])
    with workspace.lease_board("b0") as leased:
        first = [workspace.board(f"b{number}") for number in range(1, 6)]
        assert all(board.is_open for board in first)  # given out a moment ago: they linger
        now[0] += 61
        later = [workspace.board(f"b{number}") for number in range(6, 12)]
        assert leased.is_open  # type: ignore[attr-defined]
        assert not any(board.is_open for board in first)
        assert all(board.is_open for board in later)
    workspace.close()
    assert workspace.open_count == 0
    assert not leased.is_open  # type: ignore[attr-defined]


def test_why_a_place_cannot_be_opened_is_for_the_log(places: Path, caplog: pytest.LogCaptureFixture) -> None:
    workspace = Workspace(places)
    with pytest.raises(CannotOpen) as refusal:
        workspace.board("broken")
    assert "labels" not in str(refusal.value)
    assert str(places) not in str(refusal.value)
    assert "labels.npz is damaged" in caplog.text
    assert workspace.board("b0").is_open  # type: ignore[attr-defined]
