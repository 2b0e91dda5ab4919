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
from weakref import WeakSet

from unworn.errors import MissingExtra, Unaskable
from unworn.ledger.open_ledgers import check_not_live
from unworn.rows.sql.sql_expressions import sqlglot_exp

SCHEME = "duckdb:"
_READERS = {".parquet": "read_parquet", ".csv": "read_csv"}
_DATABASES = (".duckdb", ".db", ".ddb")
_MEMORY = "4GB"
_WHY = {
    "CatalogException": "there is no table or view of this name in it",
    "PermissionException": "a view in it reads other files, and here nothing but this file is read",
    "IOException": "it is gone, cut off, or open for writing in another process",
    "ConnectionException": "it is open in this process already: close that connection, or give a relation of it",
}
Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class RelationSource:
    """A relation, the files behind it (none where they are the owner's affair), and how to let go of them.

    ``alive`` are rows that may change though no file does: of somebody's connection, or of a view, made anew each time.
    """

    relation: Any
    files: tuple[Path, ...]
    close: Callable[[], None]
    alive: bool

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


def place_of(data: str) -> tuple[str, str]:
    """Which file or files a text names, and which table in it, if any.

    >>> place_of("duckdb:people.parquet"), place_of("duckdb:base.duckdb#people")
    (('people.parquet', ''), ('base.duckdb', 'people'))
    """
    text = data.removeprefix(SCHEME)
    if "#" not in text or os.path.isfile(text):
        return text, ""
    place, _, table = text.rpartition("#")
    return place, table


def title_of(data: Any) -> str:
    """What rows are called, unless somebody says otherwise: as their file, or as their table.

    >>> title_of("duckdb:people.parquet"), title_of("duckdb:base.duckdb#main.clients"), title_of("duckdb:parts/*.csv")
    ('people', 'clients', 'holdout')
    """
    place, table = place_of(data) if isinstance(data, str) else ("", "")
    name = table.rpartition(".")[2] or Path(place).stem
    return "holdout" if not name or glob.has_magic(name) else name


def open_source(data: Any) -> RelationSource:
    """A relation as it is; ``duckdb:rows.parquet``, ``duckdb:parts/*.csv`` or ``duckdb:base.duckdb#table`` opened."""
    if not isinstance(data, str):
        return RelationSource(data, (), lambda: None, alive=True)
    place, table = place_of(data)
    names = [place] if os.path.isfile(place) else sorted(glob.glob(place, recursive=True))
    files = tuple(Path(name).resolve() for name in names if os.path.isfile(name))
    if not files:
        raise Unaskable(f"there is no file {place}: write duckdb:rows.parquet, or duckdb:base.duckdb#table", path=place)
    for file in files:
        check_not_live(file)
    endings = {file.suffix.lower() for file in files}
    ending = endings.pop()
    if endings or ending not in (*_READERS, *_DATABASES):
        raise Unaskable(f"DuckDB reads {', '.join((*_READERS, *_DATABASES))} here, all files alike, not {place}")
    if (ending in _DATABASES) != bool(table) or (table and len(files) > 1):
        raise Unaskable(
            f"name one table of one database, as in duckdb:base.duckdb#people, and none of files; not {data}"
        )
    return _opened(files, ending, table)


def _opened(files: tuple[Path, ...], ending: str, table: str) -> RelationSource:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra.of("sql", "rows that stay in DuckDB") from None
    exp = sqlglot_exp()
    paths = exp.Array(expressions=[exp.Literal.string(str(file)) for file in files]).sql(dialect="duckdb")
    name, alive = "", False
    connection: Any = None
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
        # What was opened here may be read on; nothing else, and no setting can be changed back. A database that is open
        # in this process already is one and the same to DuckDB, so that all this was done the first time.
        if connection.execute("SELECT NOT current_setting('lock_configuration')").fetchall() == [(True,)]:
            connection.execute("SET enable_progress_bar = false")  # where nobody runs a script it is on, and prints
            connection.execute(f"SET allowed_paths = {paths}")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
        if table:
            parts = table.split(".")
            quoted = [exp.to_identifier(part, quoted=True) for part in parts]
            chosen = exp.Table(**dict(zip(("this", "db", "catalog"), reversed(quoted), strict=False)))
            relation = connection.sql(exp.select("*").from_(chosen).sql(dialect="duckdb"))
            alive = not _kept(connection, parts[-1])
        else:
            relation = connection.sql(f"SELECT * FROM {_READERS[ending]}({paths})")
    except duckdb.Error as error:
        name = type(error).__name__  # its message may quote a row
    if name:
        if connection is not None:
            connection.close()
        why = _WHY.get(name, "the file may be cut off, or no file of its kind")
        raise Unaskable(
            f"DuckDB could not open {files[0]}{'#' if table else ''}{table} ({name}): {why}", path=str(files[0])
        )
    source = RelationSource(relation, files, connection.close, alive)
    _open.add(source)
    return source


_open: WeakSet[RelationSource] = WeakSet()


def _let_be() -> None:
    """In a fork: what is open is the parent's, and to end it here would wait for threads that stayed there, or crash.

    The interpreter ends whatever it lets go of; so one reference more than it can drop.
    """
    import ctypes

    for source in list(_open):
        for held in (source.relation, source.close):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_be)


def _kept(connection: Any, name: str) -> bool:
    """Whether these are rows that a database keeps, and no view by this name and no column made while it is read."""
    found = connection.execute(
        "SELECT sql FROM duckdb_tables() WHERE lower(table_name) = lower($1) "
        "UNION ALL SELECT NULL FROM duckdb_views() WHERE lower(view_name) = lower($1)",
        [name],
    ).fetchall()
    return len(found) > 0 and all(text is not None and "GENERATED ALWAYS" not in text.upper() for (text,) in found)
