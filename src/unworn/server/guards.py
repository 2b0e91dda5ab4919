"""Who may do what: every request is somebody's, and a door that is not open looks like one that is not there."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio.to_thread

from unworn.server.account import ANYBODY, PASSER_BY, Account
from unworn.server.accounts import Accounts
from unworn.server.server_errors import Malformed, NotAllowed, NotSignedIn, NotThere

if TYPE_CHECKING:
    from litestar.connection import ASGIConnection
    from litestar.handlers.base import BaseRouteHandler

    from unworn.server.services import Services

    Connection = ASGIConnection[Any, Any, Any, Any]

COOKIE = "unworn_session"
SECURE_COOKIE = "__Host-unworn_session"
"""Its name where it is for HTTPS only: no sibling of this host can then set one, for a browser would not take it."""
_SAFE = ("GET", "HEAD", "OPTIONS")
_ONCE = frozenset((b"host", b"authorization", b"content-type", b"idempotency-key", b"x-csrf-token"))
"""Headers of which a second one is refused: a proxy and this server might each believe another."""


def services_of(connection: Connection) -> Services:
    """What the server is made of."""
    return cast("Services", connection.app.state.services)


def caller_of(connection: Connection) -> Account:
    """Whose request this is; nobody's where no sign-in is needed and none was made."""
    return cast(Account, connection.scope["state"].get("unworn_caller", ANYBODY))


def method_of(connection: Connection) -> str:
    """The method of a request; a socket that is opened counts as a look."""
    return str(connection.scope.get("method", "GET"))


def cookie_of(connection: Connection) -> str:
    """What the cookie is called that holds a session."""
    return SECURE_COOKIE if services_of(connection).settings.secure_cookies else COOKIE


def session_of(connection: Connection) -> str | None:
    """The session that a browser brought."""
    return connection.cookies.get(cookie_of(connection))


async def admit(connection: Connection, handler: BaseRouteHandler) -> None:
    """Find out whose request it is, and refuse it if it is nobody's. ``opt={"open": True}`` opens a route to all.

    A request that changes something and comes with a cookie must show the session's form token, in the header
    ``X-CSRF-Token``; a form route (``opt={"form": True}``) checks the field itself, with :func:`check_form`.
    """
    services = services_of(connection)
    if "\0" in connection.scope["path"]:  # nothing is called so, and PostgreSQL would not even look
        raise NotThere("there is nothing at this address")
    check_headers(connection)
    if is_remembered(connection, services.accounts):
        caller = find_caller(connection, services.accounts)
    else:  # the tables are asked in a thread: they may be far away, and others must not wait
        caller = await anyio.to_thread.run_sync(find_caller, connection, services.accounts)
    if caller is not None:
        connection.scope["state"]["unworn_caller"] = caller
        services.rates.count(caller.name)
    elif services.settings.public and method_of(connection) in _SAFE and "authorization" not in connection.headers:
        connection.scope["state"]["unworn_caller"] = PASSER_BY
    elif not handler.opt.get("open"):
        if "authorization" in connection.headers:
            raise NotSignedIn("this token is not valid: it is unknown, has ended, or was cut off when it was copied")
        raise NotSignedIn("there is no account for this request: send 'Authorization: Bearer unw_…' or sign in")
    if is_by_cookie(connection) and method_of(connection) not in _SAFE and not handler.opt.get("form"):
        check_form(connection, connection.headers.get("x-csrf-token"))


def check_headers(connection: Connection) -> None:
    """Refuse a request that says twice who asks, or what."""
    given = [name for name, _ in connection.scope["headers"] if name in _ONCE]
    if len(given) != len(set(given)):
        raise Malformed("a header came twice of which there is one: Host, Authorization, Content-Type or a key")


def find_caller(connection: Connection, accounts: Accounts) -> Account | None:
    """The account of a token or, without one, of a session."""
    header = connection.headers.get("authorization")
    if header is not None:
        kind, _, token = header.partition(" ")
        return accounts.account_of_token(token.strip()) if kind.lower() == "bearer" else None
    session = session_of(connection)
    return None if session is None else accounts.account_of_session(session)


def is_remembered(connection: Connection, accounts: Accounts) -> bool:
    """Whether it is known without the tables whose request this is: most come from somebody who was here just now."""
    header = connection.headers.get("authorization")
    if header is not None:
        return accounts.remembers("token", header.partition(" ")[2].strip())
    session = session_of(connection)
    return session is None or accounts.remembers("session", session)


def is_by_cookie(connection: Connection) -> bool:
    """Whether a browser's cookie speaks for the caller."""
    return "authorization" not in connection.headers and session_of(connection) is not None


def check_form(connection: Connection, token: str | None) -> None:
    """Refuse what another site made a browser send: it cannot know the session's form token."""
    session = session_of(connection)
    if session is None or token is None or not hmac.compare_digest(Accounts.csrf_of(session).encode(), token.encode()):
        raise NotAllowed("this form is not from a page of this session: go back, load the page again and send it again")


def check_origin(connection: Connection) -> None:
    """Refuse a form that a browser says was sent from elsewhere; older ones, and those without TLS, name its origin."""
    site, origin = connection.headers.get("sec-fetch-site"), connection.headers.get("origin")
    own = {connection.headers.get("host", ""), urlsplit(services_of(connection).settings.address).netloc}
    is_elsewhere = site not in (None, "same-origin", "none")
    if is_elsewhere or (site is None and origin is not None and _host_of(origin) not in own):
        raise NotAllowed("this form was sent from another site: open the page here and send it again")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def check_may(caller: Account, verb: str, kind: str, name: str) -> None:
    """Refuse what an account may not do: in the same words whether the place exists or not."""
    if not caller.may(verb, kind, name):
        if not caller.name:
            raise NotSignedIn(f"sign in to {verb} here: this needs an account")
        raise NotAllowed(f"this account may not {verb} a {kind} of that name")


def check_manager(caller: Account) -> None:
    """Refuse all but owners of everything: for accounts, tokens and backups."""
    if not caller.is_manager:
        raise NotAllowed("only an owner of the whole server may do this")
