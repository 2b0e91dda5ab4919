"""Files that strangers send to a board, and what a board shows of the file that its labels came in."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidSubmission
from unworn.boards.files.table_files import read_table_file


def test_ids_do_not_come_in_the_order_of_the_labels(tmp_path: Path) -> None:
    names = [f"{each:06x}" for each in np.random.default_rng(0).permutation(2**24)[:600]]
    labels = np.sort(np.random.default_rng(1).integers(0, 3, 600))  # a file sorted by class, as many are
    with Board.create(tmp_path / "bench", {"id": names, "label": labels}, id="id", target="label") as board:
        assert list(board.ids) == sorted(names)
        right = dict(zip(names, labels.tolist(), strict=True))
        told = board.submit({"id": names, "prediction": labels}, team="a")
        again = board.submit({"id": list(board.ids), "prediction": [right[each] for each in board.ids]}, team="a")
        assert told.practice == 1.0
        assert again == told
        with pytest.raises(InvalidSubmission) as why:
            board.validate({"id": names[:1], "prediction": [0]})
        missing = [each for each in sorted(names) if each != names[0]]
        assert repr(missing[0]) in str(why.value)


@pytest.mark.parametrize("header", ["id," + ",".join(["a"] * 500_000), ",".join(map(str, range(150_000)))])
def test_a_header_of_very_many_columns_is_refused_at_once(header: str, tmp_path: Path) -> None:
    labels = {"id": [str(each) for each in range(50)], "label": [0, 1] * 25}
    with Board.create(tmp_path / "bench", labels, id="id", target="label") as board:
        began = time.process_time()
        with pytest.raises(InvalidSubmission):
            board.validate(f"{header}\n1\n".encode(), "csv")
        assert time.process_time() - began < 5


def test_ten_million_columns_are_refused_before_they_are_parsed() -> None:
    began = time.process_time()
    with pytest.raises(InvalidSubmission, match="column names alone"):
        read_table_file(b"a," * 10_000_000, "csv", max_bytes=2**28, max_rows=10)
    assert time.process_time() - began < 5
