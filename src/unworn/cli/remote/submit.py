"""``unworn submit``: a file of predictions to a board, on a server or in a folder; one line comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.cli.output import REFUSED, BadInput, Json, complain, emit, note, say
from unworn.errors import Refused, Unaskable, UnwornError

To = Annotated[str, typer.Option("--to", metavar="URL|FOLDER", help="The board: on a server, or its folder.")]


def submit(
    predictions: Annotated[Path, typer.Argument(metavar="PREDS", help="CSV, JSON lines or Parquet, joined by id.")],
    to: To,
    team: Annotated[
        str | None, typer.Option(help="With a folder: who submits. On a server it is the token's.  [default: me]")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the submission is called.")] = None,
    message: Annotated[str | None, typer.Option("--message", "-m", help="What was tried.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, jsonl or parquet.  [default: by the file's name]")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check whether the file can be scored: free.")] = False,
    json: Json = False,
    answer: Annotated[
        str | None,
        typer.Option(metavar="SCORER", help="For a log of Inspect: the answers as this scorer extracted them."),
    ] = None,
) -> None:
    """Submit predictions to a board and get one line: practice score, certified interval, rank.

    Some of the board's rows are for practice: the score on them is exact, and wears out with every look. The others
    check it: the interval holds, together with those of everybody else. The same file again is free. If a file cannot
    be scored, what is wrong is listed line by line, and nothing is charged. A log of Inspect AI (.eval, .json) is a
    submission too: what the model said about each sample, matched by id.

    \b
    Exit codes: 0 scored · 2 the file cannot be scored · 3 refused (closed, not signed in) · 4 no connection

    \b
    Examples:
      unworn submit preds.csv --to http://127.0.0.1:8765/boards/bench
      unworn submit preds.csv --to bench/ --team blue --name "wider beam"
      unworn submit logs/run.eval --to http://127.0.0.1:8765/boards/evals
    """
    with one_line_refusals(json), opened_board(to, team) as (board, options):
        source = _read_source(predictions, board, format, answer)
        if check:
            rows = board.validate(source, format).rows
            if json:
                emit({"valid": True, "rows": rows})
            else:
                say(f"{predictions} can be scored: {rows:,} rows")
            return
        submission = board.submit(source, name=name, message=message, format=format, **options)
        own = next((row for row in board.standings().rows if row.team == submission.team), None)
        if json:
            rank = {"rank": None if own is None else own.rank, "is_shared": own is not None and own.is_shared}
            emit({**submission.to_json(), **rank, "line": submission.line})
            return
        say(submission.line + ("" if own is None or own.rank is None else f" · rank {own.place}"))


def _read_source(path: Path, board: Any, format: str | None, answer: str | None) -> Any:
    """The file itself; or the columns that a log of Inspect has for this board."""
    from unworn.client.inspect_log import is_inspect_log, read_inspect_log

    if format is not None or not is_inspect_log(path):
        if answer is not None:
            raise BadInput("--answer names a scorer of a log of Inspect (.eval, .json), and this file is not one.")
        return path
    names = board.details if hasattr(board, "details") else board.config.public()
    return read_inspect_log(path, answer=answer).columns(names["id"], names["prediction"])


@contextmanager
def opened_board(to: str, team: str | None = None) -> Iterator[tuple[Any, dict[str, str]]]:
    """The board that ``--to`` names, and what its verbs need besides: in a folder, the team."""
    from unworn.client.transport.server_address import is_url

    if is_url(to):
        from unworn.client import connect
        from unworn.client.remote_board import RemoteBoard
        from unworn.client.remote_server import RemoteServer

        board: Any = connect(to)
        if isinstance(board, RemoteServer):
            board = board.only_board()
        if not isinstance(board, RemoteBoard):
            raise BadInput(
                f"{board.url} is not a board.\n  Name one, as in --to {board.url.split('/holdouts')[0]}/boards/bench"
            )
        options = {} if team is None else {"team": team}
    elif re.match(r"[\w.-]+:\d+(/|$)", to) and not Path(to).exists():
        raise BadInput(f"{to} is not a folder, and the URL of a server begins with http:// or https://")
    else:
        from unworn.boards.board import Board

        board, options = Board(Path(to)), {"team": "me" if team is None else team}
    try:
        yield board, options
    finally:
        board.release()


@contextmanager
def one_line_refusals(json: bool) -> Iterator[None]:
    """A refusal is one line on standard error, and exit code 3: for scripts that go on."""
    try:
        yield
    except Refused as error:
        if isinstance(error, Unaskable):
            raise
        _refuse(error, json)
        raise typer.Exit(REFUSED) from None


def _refuse(error: UnwornError, json: bool) -> None:
    if json:
        complain(error, as_json=True)
    else:
        sentences = [" ".join(line.split()).rstrip(".") for line in error.message.splitlines()]
        note(f"{type(error).__name__}: {'. '.join(filter(None, sentences)).replace(':. ', ': ')}")
