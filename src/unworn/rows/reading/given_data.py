"""What somebody gave as rows, labels and groups: brought into columns, or refused in words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.arrays import is_missing
from unworn.queries.code.callables import plain
from unworn.queries.row_protocol import Column
from unworn.rows.reading.frame_reading import Read, Table, as_numpy, read_column, read_table, series_name
from unworn.rows.reading.row_files import read_path
from unworn.rows.reading.row_order import check_row_order


def read_given(data: Any) -> Table:
    """A table of what was given: None, a path, or anything that holds columns."""
    if data is None:
        return Table({}, (), None, 0)
    if isinstance(data, str | os.PathLike):
        return _mapped(Path(data)) or read_path(Path(data))
    return read_table(data)


def _mapped(path: Path) -> Table | None:
    """The rows of a file that can be mapped; None for any other."""
    if path.suffix.lower() not in (".arrow", ".feather"):
        return None
    from unworn.rows.mapped.mapped_rows import open_mapped

    found = open_mapped(path)
    if found is None:
        return None
    # Of an Arrow column nothing says that it cannot be missing, here as when it is read into memory.
    columns = {name: Read(column, nullable=True) for name, column in found.columns.items()}
    return Table(columns, found.left_out, found.table, found.rows, found.watch)


def check_order(table: Table, y: Any, groups: Any) -> None:
    """Refuse rows, labels and groups whose own indexes say that they are in different orders."""
    given = table.native if isinstance(table.native, Mapping) else {"the data": table.native}
    columns = {name if name == "the data" else f"column {str(name)!r}": part for name, part in given.items()}
    check_row_order({**columns, "y": y, "groups": groups})


def add_target(table: Table, y: Any) -> tuple[dict[str, Read], str | None]:
    """The columns with the labels among them, and the labels' name."""
    columns = dict(table.columns)
    if y is None:
        if table.native is None:
            raise Unaskable("there is nothing to read: give data, or data=None and labels y")
        return columns, None
    if isinstance(y, str):
        if y not in columns:
            why = "its dtype has no kind" if y in table.left_out else f"the columns are: {', '.join(columns)[:200]}"
            raise Unaskable(f"there is no column {y!r} to be the target; {why}")
        return columns, y
    name = series_name(y) or "y"
    if name in columns or name in table.left_out:
        raise Unaskable(f"the data has a column {name!r} too: rename it, or give y={name!r} if it is the target")
    read = read_column(y, "y")
    if read is None:
        raise Unaskable("y must be numbers, booleans, text or dates")
    if table.native is not None and len(read.column.values) != table.rows:
        raise Unaskable(
            f"there are {len(read.column.values)} labels for {table.rows} rows",
            labels=len(read.column.values),
            rows=table.rows,
        )
    columns[name] = read
    return columns, name


def read_unit(columns: dict[str, Read], groups: Any, rows: int) -> Column:
    """The sampled unit of each row."""
    if isinstance(groups, str):
        if groups not in columns:
            raise Unaskable(f"there is no column {groups!r} to group by; the columns are: {', '.join(columns)[:200]}")
        read: Read | None = columns[groups]
    else:
        read = read_column(groups, "groups")
    if read is None:
        raise Unaskable("groups must be numbers, booleans, text or dates")
    if len(read.column.values) != rows:
        raise Unaskable(f"there are {len(read.column.values)} groups for {rows} rows", rows=rows)
    if read.column.missing is not None:
        raise Unaskable("some rows have no group: fill groups before sealing")
    return read.column


def read_train_columns(train: Any, target: str | None) -> dict[str, Column] | None:
    """The columns of rows the asker may see, the labels under the target's name; None where there are no such rows."""
    if train is None:
        return None
    if isinstance(train, tuple) and len(train) == 2:
        table, labels = read_given(train[0]), train[1]
        columns = {name: read.column for name, read in table.columns.items()}
        if target is not None and labels is not None and not isinstance(labels, str):
            read = read_column(labels, "the labels of train")
            if read is not None:
                columns[target] = read.column
        return columns
    return {name: read.column for name, read in read_given(train).columns.items()}


def _frozen(values: Any) -> NDArray[Any]:
    copy = np.array(as_numpy(values))
    copy.setflags(write=False)
    return copy


def drop_columns(native: Any, names: list[str]) -> Any:
    """The owner's object without these columns."""
    if native is None or isinstance(native, np.ndarray):
        return native
    if isinstance(native, dict):
        return {name: _frozen(values) for name, values in native.items() if str(name) not in names}
    import narwhals as nw

    frame = nw.from_native(native)
    places = [place for place, name in enumerate(frame.columns) if str(name) not in names]
    # All at once: one by one, each looks through all the columns again.
    return frame.select(nw.nth(*places) if places else []).to_native()


def find_classes(labels: Column) -> tuple[Any, ...]:
    """The labels that occur, but for missing ones."""
    values = plain(labels)
    if values.dtype == object:
        values = values[~np.array([is_missing(label) for label in values.tolist()], dtype=bool)]
    elif values.dtype.kind == "f":
        values = values[np.isfinite(values)]
    return tuple(np.unique(values).tolist())


def protect_features(native: Any) -> Any:
    """A model that changes its input must not change the rows: a matrix is read-only, a frame a copy.

    Polars, too, changes frames in place; its copies share the columns' memory, which nobody can write to.
    """
    if type(native).__module__.partition(".")[0] == "pandas":
        import pandas

        return native.copy(deep=int(pandas.__version__.partition(".")[0]) < 3)
    if isinstance(native, dict):
        return native.copy()
    return native.clone() if type(native).__module__.partition(".")[0] == "polars" else native
