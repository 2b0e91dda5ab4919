"""``unworn serve``: boards and holdouts behind HTTP, rows and key on one side, verbs on the other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.output import BadInput, say


def serve(
    path: Annotated[Path, typer.Argument(help="The folder of a board, of a holdout, or of several of them.")],
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is every one this machine has.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8765,
    database: Annotated[
        str | None, typer.Option(help="Where accounts and tokens are kept, if not in PATH/server.db: a URL.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer side by side.")] = 1,
    address: Annotated[
        str | None, typer.Option(help="How people reach this server, such as https://bench.example.org.")
    ] = None,
    max_upload: Annotated[int, typer.Option(min=1, help="The largest file that is accepted, in megabytes.")] = 64,
    rate: Annotated[float, typer.Option(min=0, help="Requests per second per account; 0 for no limit.")] = 200.0,
    public: Annotated[bool, typer.Option("--public", help="Let everybody read standings and rules.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log mistakes only, not every request.")] = False,
) -> None:
    """Serve boards and holdouts to people, programs and agents who never get to see a row.

    The first start makes accounts and prints their tokens, once; every start prints a link that signs the owner in,
    once. Everything is kept in the folder: ledgers, submissions, and in server.db accounts and the hashes of tokens.
    Send SIGTERM (or press Ctrl+C) to stop it: what has begun is finished first.

    \b
    Examples:
      unworn serve bench/
      unworn serve boards/ --host 0.0.0.0 --address https://bench.example.org --public
      unworn serve boards/ --database postgresql+psycopg://unworn@db/unworn --workers 4
    """
    from unworn.server.first_start import prepare_server
    from unworn.server.process import run_server
    from unworn.server.settings import ServerSettings

    if not path.is_dir():
        raise BadInput(f"there is no folder {path}: make a board with 'unworn board new', or a holdout")
    shown = address or f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"
    settings = ServerSettings(
        path.resolve(),
        database=database,
        max_upload=max_upload * 2**20,
        rate=rate,
        public=public,
        address=shown.rstrip("/"),
        secure_cookies=shown.startswith("https://"),
        log_requests=not quiet,
    )
    welcome = prepare_server(settings)
    if not welcome.boards and not welcome.holdouts:
        raise BadInput(
            f"{path} has no board.toml or holdout.toml, and neither has a folder in it.\n"
            "  Make one: unworn board new bench/ --labels y.csv --id id --target label --metric accuracy"
        )
    say(f"Serving {_count(welcome.boards, 'board')} and {_count(welcome.holdouts, 'holdout')} at {settings.address}")
    say(f"  Sign in as owner (once, within a day): {welcome.link}")
    for name, token in welcome.tokens.items():
        say(f"  Token of {name}, shown this once: {token}")
    run_server(settings, host, port, workers)


def _count(places: list[str], kind: str) -> str:
    return f"{len(places):,} {kind}{'' if len(places) == 1 else 's'}"
