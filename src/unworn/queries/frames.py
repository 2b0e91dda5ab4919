"""Tables out: the kind of frame the rows came in, or the first library that is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

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
