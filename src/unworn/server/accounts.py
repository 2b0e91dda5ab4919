"""Accounts, their tokens, one-time links and sessions. Whatever opens a door is kept only as its SHA-256."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from unworn.basics.display import show_value
from unworn.server.account import EVERYWHERE, Account, TokenNote
from unworn.server.account_checks import check_name, check_role, check_scopes, looks_of
from unworn.server.server_errors import Malformed, NotThere

if TYPE_CHECKING:
    from unworn.database import Database, RunSQL

TOKEN_MARK: Final = "unw_"
LINK_SECONDS: Final = 24 * 3600.0
_REMEMBERED = 2.0
"""Seconds for which a token that was looked up is believed: a token revoked by another worker ends within these."""
_MOST_REMEMBERED = 10_000
MIGRATIONS: Final = (
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, team TEXT NOT NULL, role TEXT NOT NULL, scopes TEXT NOT NULL, "
    "created DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE tokens (id TEXT PRIMARY KEY, account TEXT NOT NULL, kind TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, "
    "scopes TEXT NOT NULL, label TEXT, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION, "
    "revoked DOUBLE PRECISION)",
    "ALTER TABLE tokens ADD COLUMN origin TEXT",
)
"""Tokens, links and sessions are one table: each is a secret that stands for an account until it ends. A session that
was begun with a token names it as its origin, and ends with it."""
_MOST_KEPT: Final = {"session": 50, "link": 50}
"""Sessions and links that an account has: the oldest makes room for a new one, or a table would grow without end."""


class Accounts:
    """All accounts of a server. Safe for threads, and for several processes with one database."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock
        self._known: dict[tuple[str, str], tuple[float, Account | None]] = {}
        self._lock = threading.Lock()
        database.migrate("accounts", list(MIGRATIONS))

    def add(self, name: str, team: str | None = None, role: str = "participant", scopes: Sequence[str] = ()) -> Account:
        """Make an account, or refuse a name that is taken."""
        account = Account(
            check_name(name, "name"),
            check_name(name if team is None else team, "team"),
            check_role(role),
            check_scopes(scopes),
        )
        self._check_alike(account, joins=team is not None)
        written = self._database.transact(
            lambda run: run(
                "INSERT INTO accounts (name, team, role, scopes, created) VALUES (:name, :team, :role, :scopes, :now) "
                "ON CONFLICT (name) DO NOTHING RETURNING name",
                name=account.name,
                team=account.team,
                role=account.role,
                scopes=json.dumps(account.scopes),
                now=self._clock(),
            )
        )
        if not written:
            raise Malformed(f"there is an account {show_value(account.name)} already: choose another name")
        return account

    def _check_alike(self, account: Account, *, joins: bool) -> None:
        """Refuse names that people would take for another's, and joining a team without saying so.

        A team sees what its members sent, and has one share of surprises: ``Blue`` beside ``blue`` would be a second.
        """
        for other in self.accounts():
            for own, taken in ((account.name, other.name), (account.team, other.team)):
                if own != taken and looks_of(own) == looks_of(taken):
                    raise Malformed(f"{show_value(own)} looks like {show_value(taken)}, which is there already")
            if other.team == account.team and not joins and other.name != account.name:
                raise Malformed(
                    f"there is a team {show_value(account.team)} already: say team= to join it, or choose another name"
                )

    def account(self, name: str) -> Account:
        """An account by its name."""
        found = self._database.select("SELECT name, team, role, scopes FROM accounts WHERE name = :name", name=name)
        if not found:
            raise NotThere("there is no account of that name")
        return _account(found[0])

    def accounts(self) -> list[Account]:
        """All accounts, by name."""
        rows = self._database.select("SELECT name, team, role, scopes FROM accounts ORDER BY name")
        return [_account(row) for row in rows]

    # ------------------------------------------------------------------ tokens

    def issue_token(
        self,
        name: str,
        *,
        scopes: Sequence[str] = (EVERYWHERE,),
        seconds: float | None = None,
        label: str | None = None,
    ) -> str:
        """A new token, shown this once. ``scopes`` may be fewer than the account's; it ends after ``seconds``."""
        return TOKEN_MARK + self._issue(name, "token", TOKEN_MARK, check_scopes(scopes), seconds, label)

    def account_of_token(self, token: str) -> Account | None:
        """Whose token this is, or nobody's: unknown, expired and revoked ones are the same."""
        return self._find("token", token) if token.startswith(TOKEN_MARK) else None

    def tokens(self, name: str) -> list[TokenNote]:
        """The tokens of an account, without what opens a door."""
        rows = self._database.select(
            "SELECT id, account, scopes, label, created, expires, revoked FROM tokens "
            "WHERE account = :name AND kind = 'token' ORDER BY created",
            name=name,
        )
        return [TokenNote(row[0], row[1], tuple(json.loads(row[2])), *row[3:]) for row in rows]

    def revoke_token(self, id: str) -> None:
        """End a token, and the sessions that were begun with it, now and for good."""
        self._end("id = :value OR origin = :value", id)

    def revoke_all(self, name: str) -> None:
        """End every token, link and session of an account."""
        self._end("account = :value", name)

    # ------------------------------------------------------------------ links and sessions

    def issue_link(self, name: str, seconds: float = LINK_SECONDS) -> str:
        """The code of a one-time sign-in link (``/sign-in/{code}``)."""
        return self._issue(name, "link", "", (EVERYWHERE,), seconds, None)

    def peek_link(self, code: str) -> Account | None:
        """Whom a link signs in, without using it up: a mail program that looks at links must not."""
        return self._find("link", code)

    def redeem_link(self, code: str, seconds: float) -> str | None:
        """A new session for the code of a link, which is then used up; none if it does not hold (any more)."""
        if self.peek_link(code) is None:  # whoever tries codes has nobody wait for the tables
            return None
        digest, now = digest_of(code), self._clock()

        def use_up(run: Any) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]] = run(
                "UPDATE tokens SET revoked = :now WHERE digest = :digest AND kind = 'link' AND revoked IS NULL "
                "AND expires > :now RETURNING account",
                digest=digest,
                now=now,
            )
            return found

        found = self._database.transact(use_up)
        self._forget()
        return self._issue(found[0][0], "session", "", (EVERYWHERE,), seconds, None) if found else None

    def begin_session(self, token: str, seconds: float) -> str | None:
        """A new session for a token that stands for its whole account; it never outlives the token."""
        account = self.account_of_token(token)
        if account is None or account != self.account(account.name):
            return None  # a token for some of the places must not open the others
        found = self._database.select(
            "SELECT id, expires FROM tokens WHERE digest = :digest AND kind = 'token' AND revoked IS NULL",
            digest=digest_of(token),
        )
        if not found:
            return None
        id, expires = found[0]
        left = seconds if expires is None else min(seconds, expires - self._clock())
        return self._issue(account.name, "session", "", (EVERYWHERE,), left, None, id) if left > 0 else None

    def account_of_session(self, session: str) -> Account | None:
        """Whose session this is."""
        return self._find("session", session)

    def end_session(self, session: str) -> None:
        """Sign out."""
        self._end("digest = :value", digest_of(session))

    @staticmethod
    def csrf_of(session: str) -> str:
        """What a form sent within a session must carry: nobody can tell it who does not have the cookie."""
        return hashlib.sha256(b"form\0" + session.encode()).hexdigest()

    # ------------------------------------------------------------------ the table

    def _issue(
        self,
        name: str,
        kind: str,
        mark: str,
        scopes: tuple[str, ...],
        seconds: float | None,
        label: str | None,
        origin: str | None = None,
    ) -> str:
        self.account(name)
        if seconds is not None and not 0 < seconds < 1e10:
            raise Malformed(f"a {kind} ends after a positive number of seconds, not {show_value(seconds)}")
        secret, now = secrets.token_urlsafe(32), self._clock()
        told = {
            "id": secrets.token_hex(8),
            "name": name,
            "kind": kind,
            "digest": digest_of(mark + secret),
            "scopes": json.dumps(scopes),
            "label": None if label is None else check_name(label, "label"),
            "now": now,
            "expires": None if seconds is None else now + seconds,
            "origin": origin,
        }

        def write(run: RunSQL) -> None:
            if kind in _MOST_KEPT:
                run(
                    "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE account = :name AND kind = :kind "
                    "ORDER BY created DESC, id LIMIT 1000 OFFSET :most)",
                    name=name,
                    kind=kind,
                    most=_MOST_KEPT[kind] - 1,
                )
            run(
                "INSERT INTO tokens (id, account, kind, digest, scopes, label, created, expires, origin) "
                "VALUES (:id, :name, :kind, :digest, :scopes, :label, :now, :expires, :origin)",
                **told,
            )

        self._database.transact(write)
        return secret

    def remembers(self, kind: str, secret: str) -> bool:
        """Whether it was looked up a moment ago whose secret this is."""
        known = self._known.get((kind, digest_of(secret)))
        return known is not None and 0 <= self._clock() - known[0] < _REMEMBERED

    def _find(self, kind: str, secret: str) -> Account | None:
        digest, now = digest_of(secret), self._clock()
        known = self._known.get((kind, digest))
        if known is not None and 0 <= now - known[0] < _REMEMBERED:
            return known[1]
        found = self._look_up(kind, digest, now)
        with self._lock:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[kind, digest] = now, found
        return found

    def _look_up(self, kind: str, digest: str, now: float) -> Account | None:
        rows = self._database.select(
            "SELECT a.name, a.team, a.role, a.scopes, t.digest, t.scopes FROM tokens t JOIN accounts a "
            "ON a.name = t.account WHERE t.digest = :digest AND t.kind = :kind AND t.revoked IS NULL "
            "AND (t.expires IS NULL OR t.expires > :now)",
            digest=digest,
            kind=kind,
            now=now,
        )
        if not rows or not hmac.compare_digest(rows[0][4], digest):
            return None
        return _account(rows[0]).within(tuple(json.loads(rows[0][5])))

    def _end(self, which: str, value: str) -> None:
        now = self._clock()
        self._database.transact(
            lambda run: run(
                f"UPDATE tokens SET revoked = :now WHERE ({which}) AND revoked IS NULL RETURNING id",
                now=now,
                value=value,
            )
        )
        self._forget()

    def _forget(self) -> None:
        with self._lock:
            self._known.clear()


def digest_of(secret: str) -> str:
    """What is kept of a secret of 256 bits: nobody finds it from this."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _account(row: Sequence[Any]) -> Account:
    return Account(row[0], row[1], row[2], tuple(json.loads(row[3])))
