"""Where DuckDB finds the rows: a relation of the owner's, files, or a table of a database file.

Files and databases are opened on a connection of their own that may read these files and nothing else, and whose
settings are locked. Of a relation the connection is the owner's, and stays as it is: what it may do is theirs to say.
No text of an asker's ever reaches either.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unworn.engines.writing import sqlglot_exp
from unworn.errors import MissingExtra, Unaskable

SCHEME = "duckdb:"
_READERS = {".parquet": "read_parquet", ".csv": "read_csv"}
_DATABASES = (".duckdb", ".db", ".ddb")
_MEMORY = "4GB"
Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Source:
    """A relation, the files behind it (none where they are the owner's affair), and how to let go of them."""

    relation: Any
    files: tuple[Path, ...]
    close: Callable[[], None]

    def stamp(self) -> Stamp:
        """What shows that a file was replaced or written to; an error where one is gone."""
        found = (os.stat(file) for file in self.files)
        return tuple((each.st_size, each.st_mtime_ns, each.st_ino) for each in found)


def is_duckdb(data: Any) -> bool:
    """Whether these rows are DuckDB's to keep: a relation, or a text like ``duckdb:people.parquet``.

    >>> is_duckdb("duckdb:people.parquet"), is_duckdb("people.parquet")
    (True, False)
    """
    if isinstance(data, str):
        return data.startswith(SCHEME)
    return type(data).__name__ == "DuckDBPyRelation"


def open_source(data: Any) -> Source:
    """A relation as it is; ``duckdb:rows.parquet``, ``duckdb:parts/*.csv`` or ``duckdb:base.duckdb#table`` opened."""
    if not isinstance(data, str):
        return Source(data, (), lambda: None)
    place, _, table = data.removeprefix(SCHEME).partition("#")
    files = tuple(Path(name).resolve() for name in sorted(glob.glob(place, recursive=True)) if os.path.isfile(name))
    if not files:
        raise Unaskable(f"there is no file {place}: write duckdb:rows.parquet, or duckdb:base.duckdb#table", path=place)
    endings = {file.suffix.lower() for file in files}
    ending = endings.pop()
    if endings or ending not in (*_READERS, *_DATABASES):
        raise Unaskable(f"DuckDB reads {', '.join((*_READERS, *_DATABASES))} here, all files alike, not {place}")
    if (ending in _DATABASES) != bool(table) or (table and len(files) > 1):
        raise Unaskable(
            f"name one table of one database, as in duckdb:base.duckdb#people, and none of files; not {data}"
        )
    return _opened(files, ending, table)


def _opened(files: tuple[Path, ...], ending: str, table: str) -> Source:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra.of("sql", "rows that stay in DuckDB") from None
    exp = sqlglot_exp()
    paths = exp.Array(expressions=[exp.Literal.string(str(file)) for file in files]).sql(dialect="duckdb")
    name = ""
    try:
        connection = duckdb.connect(
            str(files[0]) if table else ":memory:",
            read_only=bool(table),
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": _MEMORY,
            },
        )
        # What was opened here may be read on; nothing else, and no setting can be changed back.
        connection.execute(f"SET allowed_paths = {paths}")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        if table:
            parts = [exp.to_identifier(part, quoted=True) for part in table.split(".")]
            chosen = exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))
            relation = connection.sql(exp.select("*").from_(chosen).sql(dialect="duckdb"))
        else:
            relation = connection.sql(f"SELECT * FROM {_READERS[ending]}({paths})")
    except duckdb.Error as error:
        name = type(error).__name__  # its message may quote a row
    if name:
        raise Unaskable(f"DuckDB could not open {files[0]}{'#' if table else ''}{table} ({name})", path=str(files[0]))
    return Source(relation, files, connection.close)
