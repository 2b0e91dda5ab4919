"""Where a PostgreSQL database is, and what of that may be written down."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from unworn.database.database_errors import DatabaseError

SCHEME = "postgresql+psycopg"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}").fullmatch
_passwords: dict[str, str] = {}
"""By the address without them: so that what is written down, which never has one, opens again in this process."""


def is_postgres(url: str) -> bool:
    """Whether this is the URL of a PostgreSQL database."""
    return url.lower().startswith(f"{SCHEME}://")


@dataclass(frozen=True)
class PostgresUrl:
    """One database, and the schema in it that is meant.

    >>> place = PostgresUrl.parse("postgresql+psycopg://ada:secret@host:5433/lab?schema=bench")
    >>> place.url, place.schema
    ('postgresql+psycopg://ada@host:5433/lab?schema=bench', 'bench')
    >>> place
    PostgresUrl(url='postgresql+psycopg://ada@host:5433/lab?schema=bench')
    """

    url: str
    """Without a password: may be shown and kept."""
    schema: str = field(repr=False)
    """The schema of the tables; empty for the one that the server chooses."""
    keys: str = field(repr=False)
    """A folder for the keys of a ledger that is kept here; empty where they are in a table."""
    address: str = field(repr=False)
    """The database as libpq is told it, without a password."""

    @classmethod
    def parse(cls, text: str, schema: str = "") -> PostgresUrl:
        """Read a URL; its password is remembered by this process, and by nobody else.

        A password may be left out: libpq then takes it from PGPASSWORD or from ~/.pgpass.
        """
        if not is_postgres(text) or "\0" in text:
            raise _wrong()
        try:
            parts = urlsplit(text)
            named = parts.hostname, parts.port
            pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else []
        except ValueError:  # the message would quote the URL, and a password in it
            raise _wrong() from None
        ours = {"password": unquote(parts.password) if parts.password else "", "schema": "", "keys": ""}
        ours |= {name: value for name, value in pairs if name in ours}
        schema = "_".join(filter(None, (ours["schema"], schema)))
        if schema and not _NAME(schema):
            raise DatabaseError(f"a schema has small letters, digits and _ only, at most 63, not {schema!r:.80}")
        kept = sorted((name, value) for name, value in pairs if name not in ours)
        host = f"[{named[0]}]" if ":" in (named[0] or "") else named[0] or ""
        where = f"{quote(unquote(parts.username))}@" if parts.username else ""
        where += host + (f":{named[1]}" if named[1] else "") + quote(unquote(parts.path))
        address = f"postgresql://{where}" + (f"?{urlencode(kept)}" if kept else "")
        shown = [*kept, *(pair for pair in (("keys", ours["keys"]), ("schema", schema)) if pair[1])]
        if ours["password"]:
            _passwords[address] = ours["password"]
        return cls(f"{SCHEME}://{where}" + (f"?{urlencode(shown)}" if shown else ""), schema, ours["keys"], address)

    @property
    def password(self) -> str | None:
        """What was given with this address, in this process; ``None`` leaves it to libpq."""
        return _passwords.get(self.address)


def _wrong() -> DatabaseError:
    return DatabaseError(f"this is not the URL of a PostgreSQL database: write {SCHEME}://user@host:5432/database")
