"""Boards: leaderboards over a holdout that cannot be climbed by probing, and the gate for loops that keep or revert.

The names below are loaded when they are first used: standings are shown by code that must not reach rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.boards.board_config import BoardConfig
    from unworn.boards.board_errors import BoardClosed, InvalidBoard, InvalidSubmission, UnknownBoard
    from unworn.boards.holdout_folder import create_holdout_folder, open_holdout_folder
    from unworn.boards.standings import Standing, Standings
    from unworn.boards.submission import Submission

_HOMES = {
    "Board": "board",
    "BoardClosed": "board_errors",
    "BoardConfig": "board_config",
    "InvalidBoard": "board_errors",
    "InvalidSubmission": "board_errors",
    "Standing": "standings",
    "Standings": "standings",
    "Submission": "submission",
    "UnknownBoard": "board_errors",
    "create_holdout_folder": "holdout_folder",
    "open_holdout_folder": "holdout_folder",
}

__all__ = [
    "Board",
    "BoardClosed",
    "BoardConfig",
    "InvalidBoard",
    "InvalidSubmission",
    "Standing",
    "Standings",
    "Submission",
    "UnknownBoard",
    "create_holdout_folder",
    "open_holdout_folder",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
