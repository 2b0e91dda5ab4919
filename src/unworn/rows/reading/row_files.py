"""Rows from a file, through whichever frame library is here; CSV files need none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unworn.errors import MissingExtra, Unaskable
from unworn.ledger.open_ledgers import check_not_live
from unworn.rows.reading.csv_text import read_csv_text
from unworn.rows.reading.frame_reading import Table, read_table

_BACKENDS = ("pyarrow", "polars", "pandas")
_READERS = {".parquet": "parquet", ".csv": "csv", ".arrow": "ipc", ".feather": "ipc"}


def read_path(path: Path) -> Table:
    """The rows of a Parquet, CSV, Arrow or Feather file.

    A CSV file has no dtypes, so its reader takes them from the values: give ``schema=`` to fix what may be
    missing.
    """
    form = _READERS.get(path.suffix.lower())
    if form is None:
        raise Unaskable(f"cannot read {path.name}: give one of {', '.join(_READERS)}, or a frame")
    if not path.is_file():
        raise Unaskable(f"there is no file {path}", path=str(path))
    check_not_live(path)
    backend = next((name for name in _BACKENDS if find_spec(name) is not None), None)
    if backend is None and form == "csv":
        return read_csv_text(path)
    if backend is None:
        raise MissingExtra.of("sql", f"reading {path.name}")
    try:
        frame = _read(path, form, backend)
    except Exception as error:
        # The reader's own message may quote a cell, so only its type is kept.
        name = type(error).__name__
    else:
        return read_table(frame)
    raise Unaskable(f"{path} could not be read as {form} ({name})", path=str(path))


def _read(path: Path, form: str, backend: Any) -> Any:
    import narwhals as nw

    if form == "parquet":
        return nw.read_parquet(str(path), backend=backend).to_native()
    if form == "csv":
        return nw.read_csv(str(path), backend=backend).to_native()
    if backend == "pyarrow":
        from pyarrow import feather

        table = feather.read_table(str(path))
        table.validate(full=True)  # Arrow believes what a file says of itself, and would read beside its columns
        return table
    if backend == "polars":
        import polars

        return polars.read_ipc(path)
    import pandas

    return pandas.read_feather(path)
