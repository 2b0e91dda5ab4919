"""``unworn login``: keep the token of a server, so that no command needs it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from unworn.cli.output import BadInput, Json, count, emit, note, say


def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="The server, or a board or holdout of it.")],
    forget: Annotated[bool, typer.Option("--forget", help="Remove the token that is kept, and leave.")] = False,
    forget_keys: Annotated[
        bool,
        typer.Option("--forget-keys", help="Forget the keys of its holdouts, and take those that it shows next."),
    ] = False,
    json: Json = False,
) -> None:
    """Sign in to a server: enter its token without its being shown; it is tried, and kept for you alone.

    The token is what the server printed when it was started, or what its owner gave you (unw_…). It is kept in a file
    that only you can read, in the per-user directory (UNWORN_HOME); UNWORN_TOKEN in the environment takes precedence
    over it. From a pipe, the token is read from standard input.

    The public key of each board and holdout is noted when it is first seen. If it changes, answers are refused until
    you say --forget-keys: ask whoever runs the server first.

    \b
    Examples:
      unworn login http://127.0.0.1:8765
      unworn login https://bench.example.org < token.txt
      unworn login https://bench.example.org --forget
    """
    from unworn.client.connecting import open_connection
    from unworn.client.remote_server import RemoteServer
    from unworn.client.transport.credentials import check_token, forget_token, store_token
    from unworn.client.transport.pinned_keys import forget_keys as forget_pins
    from unworn.client.transport.server_address import parse_address

    origin = parse_address(url).origin
    if forget or forget_keys:
        known = forget and forget_token(origin)
        pins = forget_pins(origin) if forget_keys else 0
        if json:
            emit({"server": origin, "token_forgotten": known, "keys_forgotten": pins})
            return
        if forget:
            say(f"the token of {origin} is gone from this machine" if known else f"no token was kept for {origin}")
        if forget_keys:
            say(f"forgot {count(pins, 'key')} of {origin}: the next contact is the first")
        return
    typed = typer.prompt("Token", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline(1000)
    token = check_token(typed)
    server = open_connection(origin, token.reveal())
    if not isinstance(server, RemoteServer):
        raise BadInput(f"{origin} is not a server")
    try:
        account = server.account
    finally:
        server.close()
    where = store_token(origin, token)
    if json:
        emit(
            {"server": origin, "account": account["account"], "team": account.get("team"), "role": account.get("role")}
        )
        return
    say(f"signed in to {origin} as {account['account']} ({account.get('role')})")
    note(f"  The token is kept in {where}, for you alone. unworn login {origin} --forget removes it.")
