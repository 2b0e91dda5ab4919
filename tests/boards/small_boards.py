"""Boards for tests: labels, predictions that are right so often, and predictions that have overfitted practice rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.boards.board import Board

ROWS = 2_000


def make_board(folder: Path, rows: int = ROWS, seed: int = 0, **settings: Any) -> tuple[Board, NDArray[Any]]:
    """A board of 0/1 labels, and the labels."""
    labels = np.random.default_rng(seed).integers(0, 2, rows)
    board = Board.create(folder, {"id": np.arange(rows), "label": labels}, id="id", target="label", **settings)
    return board, labels


def right_so_often(labels: NDArray[Any], share: float, seed: int) -> dict[str, Any]:
    """A submission that is right on this share of the rows."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(len(labels)) < share, labels, 1 - labels)
    return {"id": np.arange(len(labels)), "prediction": values}


def overfitted(board: Board, labels: NDArray[Any], seed: int) -> dict[str, Any]:
    """A submission that is right on every practice row and a coin on the others: whoever makes it has cheated."""
    rng = np.random.default_rng(10_000 + seed)
    values = rng.integers(0, 2, len(labels))
    practice = board.holdout._practice_rows
    assert practice is not None
    assert practice.origin is not None
    seen = [int(board.ids[place]) for place in practice.origin]
    values[seen] = labels[seen]
    return {"id": np.arange(len(labels)), "prediction": values}
