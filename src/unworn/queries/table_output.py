"""Frames in and out: the columns of whatever frame rows come in, and a frame of that kind to hand others out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from unworn.errors import Unaskable

_LIBRARIES = ("pandas", "polars", "pyarrow")


def to_frame(columns: Mapping[str, Sequence[Any]], like: str | None = None) -> Any:
    """A frame of named columns; a plain dict of lists when no frame library is installed.

    >>> to_frame({"a": [1, 2]}, like="polars")["a"].to_list()
    [1, 2]
    """
    from importlib.util import find_spec

    preferred = [like] if like in _LIBRARIES else []
    for library in [*preferred, *_LIBRARIES]:
        if find_spec(library) is not None:
            import narwhals

            return narwhals.from_dict(dict(columns), backend=cast(Any, library)).to_native()
    return {name: list(values) for name, values in columns.items()}


def as_frame(data: Any) -> Any | None:
    """A narwhals frame in memory, or None when ``data`` is no frame."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except nw.exceptions.DuplicateError:
        raise Unaskable("column names must differ; at least one appears twice") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def series_of(frame: Any) -> dict[str, Any]:
    """The columns of a narwhals frame by their names, which must differ also as texts."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        raise Unaskable(f"column names must differ; these appear twice: {', '.join(twice[:10])}")
    return dict(zip(names, frame.iter_columns(), strict=True))
