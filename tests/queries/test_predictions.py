"""Class labels in a byte each."""

from __future__ import annotations

import numpy as np
import pytest

from unworn.queries.predictions import small_labels
from unworn.queries.row_protocol import Column

KINDS = (np.bool, np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint64, np.float32, np.float64)


@pytest.mark.parametrize("dtype", KINDS, ids=lambda dtype: np.dtype(dtype).name)
def test_labels_of_every_type_are_a_byte_each(dtype: type) -> None:
    assert small_labels(Column("number", np.array([0, 1, 1], dtype))).tolist() == [0, 1, 1]


@pytest.mark.parametrize("dtype", KINDS[2:], ids=lambda dtype: np.dtype(dtype).name)
def test_what_does_not_fit_is_no_class(dtype: type) -> None:
    told = small_labels(Column("number", np.array([127, 128, 5], dtype)))
    assert (told.dtype, told.tolist()) == (np.int8, [127, -128, 5])
