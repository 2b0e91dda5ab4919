"""Rows that may be seen, as a model is shown them: nothing is left in them that was made of other rows.

What user code says about rows that may be seen is shown in full, and much that travels with picked rows is about all of
them: the categories of a column or of an index, the words of a dictionary-encoded column, the notes on a frame or on a
dtype, the array that a cell is a view of, the width of the widest text. Any of it would tell of sealed rows.

Two things stay. What has a name of its own is the schema, and public: columns, index levels, classes of Python. And
Polars keeps the categories of categorical columns (not of an Enum) for the whole process, where any code finds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def without_other_rows(native: Any) -> Any:
    """The same rows as if no others had been read; objects of libraries that are not known here as they are."""
    if isinstance(native, np.ndarray):
        return own_values(native)
    if isinstance(native, dict):
        return {name: own_values(values) for name, values in native.items()}
    library = type(native).__module__.partition(".")[0]
    if _is_pandas(native):
        from unworn.rows.memory.shown.shown_frame import shown_frame

        return shown_frame(native)
    if library == "pyarrow":
        from unworn.rows.memory.shown.shown_arrow import shown_table

        return shown_table(native)
    if library == "polars":
        from unworn.rows.memory.shown.shown_polars import shown_polars

        return shown_polars(native)
    return native


def _is_pandas(native: Any) -> bool:
    """Also a class of somebody else's that is made of one of pandas'."""
    return any(kind.__module__.partition(".")[0] == "pandas" for kind in type(native).__mro__)


def own_values(values: NDArray[Any]) -> NDArray[Any]:
    """An array that is as wide as its own text, with no notes on its dtype and no views in its cells; read-only.

    >>> own_values(np.array(["a", "long"])[:1]).dtype.str
    '<U1'
    """
    dtype, own = values.dtype, values
    if dtype.kind in "US" and values.size:
        width = max(int(np.strings.str_len(values).max()), 1)
        own = values.astype(dtype.str[:2] + str(width))
    elif dtype.kind == "O":
        if any(isinstance(cell, np.ndarray) for cell in values.flat):
            cells = np.empty(values.size, dtype=object)
            for place, cell in enumerate(values.flat):
                cells[place] = own_values(cell.copy()) if isinstance(cell, np.ndarray) else cell
            own = cells.reshape(values.shape)
    elif has_notes(dtype):
        own = values.astype(bare_dtype(dtype))
    if own is not values:
        own.setflags(write=False)
    return own


def has_notes(dtype: np.dtype[Any]) -> bool:
    """Whether anything was noted on a dtype or on a part of it, as h5py notes the names of an enumeration."""
    if dtype.metadata is not None:
        return True
    if dtype.subdtype is not None:
        return has_notes(dtype.subdtype[0])
    return any(has_notes(part[0]) for part in (dtype.fields or {}).values())


def bare_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same dtype with nothing noted on it."""
    form: Any = dtype.str
    if dtype.subdtype is not None:
        form = bare_dtype(dtype.subdtype[0]), dtype.subdtype[1]
    elif dtype.fields is not None:
        names, parts = list(dtype.names or ()), [dtype.fields[name] for name in dtype.names or ()]
        form = {"names": names, "formats": [bare_dtype(part[0]) for part in parts]}
        form |= {"offsets": [part[1] for part in parts], "itemsize": dtype.itemsize}
    bare: np.dtype[Any] = np.dtype(form)
    return bare
