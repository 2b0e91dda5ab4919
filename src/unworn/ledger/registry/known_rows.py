"""The registry's file: marks of rows, and the ledger that each set of rows was sealed in.

Every look and every change opens the file and closes it, in one transaction: no connection lives across a fork, and any
number of processes may use it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from unworn.errors import LedgerError
from unworn.ledger.forks import fork_gate
from unworn.ledger.keys import prepare_hmac
from unworn.ledger.registry.home import home_folder, make_home, read_secret
from unworn.ledger.registry.row_sketch import RowSketch

_FILE, _VERSION, _PATIENCE, _CHUNK = "registry.db", 1, 30.0, 500
_SCHEMA = (
    "CREATE TABLE known (id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, place TEXT NOT NULL, holdout TEXT NOT NULL, "
    "size INTEGER NOT NULL, whole TEXT, columns INTEGER NOT NULL, names BLOB NOT NULL, UNIQUE (ledger, place))",
    "CREATE TABLE marks (mark BLOB NOT NULL, id INTEGER NOT NULL, same INTEGER NOT NULL, PRIMARY KEY (mark, id)) "
    "WITHOUT ROWID",
    "CREATE INDEX sizes ON known (size)",
    "CREATE TABLE secret (mark TEXT NOT NULL)",
)
_SKETCHES = "CREATE TABLE IF NOT EXISTS sketches (id INTEGER PRIMARY KEY, words BLOB NOT NULL, times BLOB NOT NULL)"
_WORD = 8
"""Bytes that a column's name is known by: enough that no two names of one user are alike."""
_MARK = 16


@dataclass(frozen=True)
class RowMarks:
    """What the registry may know of rows: digests under the user's secret, and nothing else.

    Any of ``same`` means the very same rows; ``columns`` are digests of single columns that unrelated rows would not
    share, by name. ``whole`` is the digest of all columns together, where unrelated rows would have another, and
    ``place`` names the file of a ledger that nobody has named. ``sketch`` knows single rows, where they can be known.
    """

    size: int
    names: frozenset[str]
    same: tuple[str, ...]
    columns: Mapping[str, str]
    whole: str | None
    place: str
    sketch: RowSketch | None = None

    @cached_property
    def kept(self) -> dict[bytes, str]:
        """All marks by the bytes that are kept of them."""
        return {bytes.fromhex(mark)[:_MARK]: mark for mark in (*self.columns, *self.same)}


@dataclass(frozen=True)
class KnownRows:
    """Rows that a ledger has: ``same`` rows as those looked for, or rows that share the columns ``shared`` with them.

    Or about ``part`` ``of`` the rows looked for. ``holdout`` is empty while they are being sealed.
    """

    id: int
    ledger: str
    holdout: str
    same: bool
    shared: frozenset[str] = frozenset()
    part: int = 0
    of: int = 0


@dataclass(frozen=True)
class Candidate:
    """Rows of the same number, fewer columns: the same rows, perhaps, before columns were added."""

    known: KnownRows
    names: frozenset[str]
    whole: str


class Registry:
    """The registry in one per-user directory."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._path = folder, folder / _FILE
        self.secret = read_secret(folder)

    @classmethod
    def open(cls) -> Registry:
        """The user's registry, made if there is none; ``Unwritable`` where it cannot be."""
        return cls(make_home())

    @classmethod
    def existing(cls) -> Registry | None:
        """The user's registry, if there is one: looking makes none."""
        try:
            folder = home_folder()
        except RuntimeError:  # a user without a home
            return None
        return cls(folder) if os.path.exists(folder / _FILE) else None

    def find(self, marks: RowMarks) -> tuple[list[KnownRows], list[Candidate]]:
        """Whoever has these rows, or a column of them; and rows that may be these without some of their columns."""
        if not os.path.exists(self._path):  # whoever keeps the first rows makes it, in one transaction
            return [], []
        with self._transaction() as connection:
            return _find(connection, marks), self._candidates(connection, marks)

    def _candidates(self, connection: sqlite3.Connection, marks: RowMarks) -> list[Candidate]:
        """Fewer columns, as many rows: to be compared over the columns both have."""
        wanted = "SELECT id, ledger, holdout, whole, names FROM known WHERE size = ? AND columns < ? AND whole NOT NULL"
        chosen = connection.execute(wanted, (marks.size, len(marks.names))).fetchall()
        here = self._words(marks.names) if chosen else {}
        found = []
        for id_, ledger, holdout, whole, words in chosen:
            theirs = {bytes(words[place : place + _WORD]) for place in range(0, len(words), _WORD)}
            if theirs <= here.keys():
                known = KnownRows(id_, ledger, holdout, same=False)
                found.append(Candidate(known, frozenset(here[word] for word in theirs), whole))
        return found

    def sketches(self, marks: RowMarks) -> list[tuple[KnownRows, RowSketch]]:
        """Sealed rows with as many columns, of which some may be these."""
        if marks.sketch is None or not os.path.exists(self._path):
            return []
        wanted = (
            "SELECT id, ledger, holdout, size, words, times FROM known JOIN sketches USING (id) "
            "WHERE columns = ? AND holdout <> ''"
        )
        with self._transaction() as connection:
            found = connection.execute(wanted, (len(marks.names),)).fetchall()
        return [
            (KnownRows(id_, ledger, holdout, same=False), RowSketch(size, bytes(words), bytes(times)))
            for id_, ledger, holdout, size, words, times in found
        ]

    def claim(self, marks: RowMarks, ledger: str, seen: Collection[int]) -> bool:
        """Say that these rows are about to be sealed in a ledger; ``False`` where others have come meanwhile."""
        with self._transaction() as connection:
            if any(known.id not in seen for known in _find(connection, marks)):
                return False
            self._keep(connection, marks, ledger, "")
        return True

    def confirm(self, marks: RowMarks, ledger: str, holdout: str) -> KnownRows | None:
        """Say that they are sealed there. If another ledger has them by now nothing is kept, and that is returned."""
        with self._transaction() as connection:
            for known in _find(connection, marks):
                if known.ledger != ledger:
                    return known
            self._keep(connection, marks, ledger, holdout)
        return None

    def withdraw(self, marks: RowMarks, ledger: str) -> None:
        """They were not sealed after all."""
        with self._transaction() as connection:
            chosen = "SELECT id FROM known WHERE ledger = ? AND place = ? AND holdout = ''"
            _remove(connection, [id_ for (id_,) in connection.execute(chosen, (ledger, marks.place))])

    def move(self, known: KnownRows, ledger: str) -> None:
        """The ledger that has these rows lies elsewhere now."""
        with self._transaction() as connection:
            here = "SELECT 1 FROM known AS mine, known AS other WHERE mine.id = ? AND other.place = mine.place"
            if connection.execute(f"{here} AND other.ledger = ?", (known.id, ledger)).fetchone():
                _remove(connection, [known.id])
            else:
                connection.execute("UPDATE known SET ledger = ? WHERE id = ?", (ledger, known.id))

    def drop(self, known: KnownRows) -> None:
        """Forget one set of rows in one ledger."""
        with self._transaction() as connection:
            _remove(connection, [known.id])

    def forget(self, ledger: str, holdouts: Collection[str] | None = None) -> int:
        """Forget the rows of a ledger, or of some of its holdouts, and say how many sets of rows those were."""
        with self._transaction() as connection:
            known = connection.execute("SELECT id, holdout FROM known WHERE ledger = ?", (ledger,)).fetchall()
            chosen = [id_ for id_, holdout in known if holdouts is None or holdout in holdouts]
            _remove(connection, chosen)
        return len(chosen)

    def _keep(self, connection: sqlite3.Connection, marks: RowMarks, ledger: str, holdout: str) -> None:
        chosen = "SELECT id FROM known WHERE ledger = ? AND place = ?"
        found = connection.execute(chosen, (ledger, marks.place)).fetchone()
        if found is not None:
            if holdout:
                connection.execute("UPDATE known SET holdout = ? WHERE id = ? AND holdout = ''", (holdout, found[0]))
            _keep_sketch(connection, found[0], marks)
            return
        words = b"".join(sorted(self._words(marks.names)))
        row = (ledger, marks.place, holdout, marks.size, marks.whole, len(marks.names), words)
        inserted = (
            "INSERT INTO known (ledger, place, holdout, size, whole, columns, names) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        id_ = connection.execute(inserted, row).lastrowid
        _keep_sketch(connection, id_, marks)
        same = set(marks.same)
        connection.executemany(
            "INSERT INTO marks VALUES (?, ?, ?)", [(kept, id_, int(mark in same)) for kept, mark in marks.kept.items()]
        )

    def _words(self, names: Iterable[str]) -> dict[bytes, str]:
        """What names of columns are kept as, keyed."""
        keyed = prepare_hmac(self.secret)
        return {keyed(b"name\0" + name.encode("utf-8", "surrogatepass"))[:_WORD]: name for name in names}

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # A child that is forked in the middle of it would find SQLite locked for ever.
        with fork_gate(), self._opened() as connection:
            yield connection

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        connection = None
        try:
            if not os.path.exists(self._path):  # SQLite would make it readable by others
                os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self._path, _PATIENCE, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            self._prepare(connection)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._explain(error) from error
        except OSError as error:
            raise LedgerError(f"the registry {self._path} cannot be written: {error.strerror}") from error
        finally:
            if connection is not None:
                connection.close()  # and what was not committed never happened

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        mark = hmac.new(self.secret, b"registry", hashlib.sha256).hexdigest()
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in (*_SCHEMA, _SKETCHES):
                connection.execute(statement)
            connection.execute("INSERT INTO secret VALUES (?)", (mark,))
            connection.execute(f"PRAGMA user_version={_VERSION}")
            return
        if version > _VERSION:
            raise LedgerError(
                f"the registry {self._path} has format {version}, this unworn reads {_VERSION}: upgrade it"
            )
        connection.execute(_SKETCHES)
        if connection.execute("SELECT mark FROM secret").fetchall() != [(mark,)]:
            raise LedgerError(
                f"{self._path} was made with another key than the one in {self.folder}: it recognises no rows.\n"
                "  Bring the right registry.key back, or move registry.db away: it is rebuilt as ledgers are opened."
            )

    def _explain(self, error: sqlite3.Error) -> LedgerError:
        name = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR")):
            advice = "It is damaged. Move it away: it is rebuilt as ledgers are opened (until then a second ledger "
            advice += "of the same rows goes unnoticed)."
        else:
            advice = "Check the disk and the permissions of the directory, or set UNWORN_HOME to another."
        return LedgerError(f"the registry {self._path} cannot be used ({error}).\n  {advice}", reason=name)


def _find(connection: sqlite3.Connection, marks: RowMarks) -> list[KnownRows]:
    wanted = marks.kept
    same: dict[int, bool] = {}
    shared: dict[int, set[str]] = {}
    blobs = list(wanted)
    for start in range(0, len(blobs), _CHUNK):
        part = blobs[start : start + _CHUNK]
        chosen = f"SELECT mark, id, same FROM marks WHERE mark IN ({', '.join('?' * len(part))})"
        for mark, id_, exactly in connection.execute(chosen, part):
            same[id_] = same.get(id_, False) or bool(exactly)
            if not exactly:
                shared.setdefault(id_, set()).add(marks.columns[wanted[bytes(mark)]])
    found = []
    for id_ in sorted(same):
        ledger, holdout = connection.execute("SELECT ledger, holdout FROM known WHERE id = ?", (id_,)).fetchone()
        found.append(KnownRows(id_, ledger, holdout, same[id_], frozenset(shared.get(id_, ()))))
    return found


def _keep_sketch(connection: sqlite3.Connection, id_: int | None, marks: RowMarks) -> None:
    if marks.sketch is not None:
        kept = (id_, marks.sketch.words, marks.sketch.times)
        connection.execute("INSERT OR REPLACE INTO sketches VALUES (?, ?, ?)", kept)


def _remove(connection: sqlite3.Connection, chosen: Collection[int]) -> None:
    for id_ in chosen:
        connection.execute("DELETE FROM marks WHERE id = ?", (id_,))
        connection.execute("DELETE FROM sketches WHERE id = ?", (id_,))
        connection.execute("DELETE FROM known WHERE id = ?", (id_,))
