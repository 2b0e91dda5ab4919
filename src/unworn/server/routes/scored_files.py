"""Predictions out of an uploaded file, in the order of the holdout's rows; or the model that makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unworn.boards.files.table_files import FileTable, read_table_file
from unworn.errors import Unaskable
from unworn.server.models.onnx_model import ModelLimits, OnnxModel, as_predictions, check_onnx_installed
from unworn.server.requests.request_body import UploadedFile
from unworn.server.server_errors import BodyTooLarge
from unworn.server.settings import ServerSettings

if TYPE_CHECKING:
    from unworn.holdout import Holdout

_PLACE = re.compile("p[0-9]{1,3}").fullmatch
_TRUTH = {"true": 1, "false": 0, "True": 1, "False": 0}


def predictions_of(holdout: Holdout, upload: UploadedFile, settings: ServerSettings) -> Any:
    """What a holdout scores: an array or columns out of a file, or a model."""
    if upload.format == "onnx":
        check_onnx_installed()
        if upload.size > settings.max_model:
            raise BodyTooLarge(f"a model has at most {settings.max_model:,} bytes here", limit=settings.max_model)
        limits = ModelLimits(settings.model_memory, settings.model_seconds)
        return as_predictions(OnnxModel(upload.read(), holdout.terms.schema, limits))
    rows = holdout.size + holdout.terms.practice_size
    most = 2 * max(rows, holdout._sample.length) + 1_000
    table = read_table_file(upload.path, upload.format, max_bytes=settings.max_upload, max_rows=most)
    schema = holdout.terms.schema
    target = None if schema.target is None else schema.of(schema.target).kind
    return read_prediction_columns(table, keep_text=target == "text")


def read_prediction_columns(table: FileTable, *, keep_text: bool) -> Any:
    """One column ``prediction``; or scores, in columns ``p0, p1, …`` or under the names of their classes.

    >>> table = FileTable({"prediction": ["1", "0"]}, 2, str, int)
    >>> read_prediction_columns(table, keep_text=False).tolist()
    [1, 0]
    """
    names = list(table.columns)
    if "prediction" in names:
        if len(names) > 1:
            raise Unaskable(
                "predictions stand in the order of the holdout's rows, and no other column is looked at: send the "
                "column 'prediction' alone"
            )
        return read_values(table.columns["prediction"], keep_text=keep_text)
    if len(names) == 1:
        return read_values(table.columns[names[0]], keep_text=keep_text)
    columns = {name: read_values(values, keep_text=False) for name, values in table.columns.items()}
    if any(values.dtype.kind not in "iufb" for values in columns.values()):
        raise Unaskable("with several columns each has the scores of one class: numbers, one column a class")
    return np.column_stack(list(columns.values())) if all(map(_PLACE, names)) else columns


def read_values(values: Sequence[Any], *, keep_text: bool) -> Any:
    """Values as whole numbers, numbers or text, whichever all of them are; labels that are text stay text."""
    kinds = set(map(type, values))
    if kinds <= {int, bool} or kinds <= {int, float, bool}:
        return np.array(values)
    if kinds != {str}:
        raise Unaskable("predictions are numbers or texts, all of one kind, and none is missing")
    try:
        whole = [_TRUTH[text] if text in _TRUTH else int(text) for text in values]
        return np.array(list(values), dtype=object) if keep_text else np.array(whole)
    except (ValueError, OverflowError):
        pass
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return np.array(list(values), dtype=object)
