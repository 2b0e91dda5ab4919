"""``unworn standings``: who is ahead on a board, on a server or in a folder."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from unworn.basics.display import show_line, show_number
from unworn.cli.output import Json, emit, note, say, table
from unworn.cli.remote.submit import To, one_line_refusals, opened_board


def standings(
    to: To,
    mine: Annotated[bool, typer.Option("--mine", help="Your team's submissions instead, the latest last.")] = False,
    team: Annotated[
        str | None, typer.Option(help="With --mine and a folder: whose. On a server it is the token's.  [default: me]")
    ] = None,
    json: Json = False,
) -> None:
    """Show who is ahead on a board, with certified intervals. Teams that cannot be told apart share a rank (=2).

    \b
    Examples:
      unworn standings --to http://127.0.0.1:8765/boards/bench
      unworn standings --to bench/
      unworn standings --to http://127.0.0.1:8765/boards/bench --mine
    """
    with one_line_refusals(json), opened_board(to, team) as (board, options):
        if mine:
            _show_history(board, options.get("team") or board.team, json)
            return
        told = board.standings()
        if json:
            emit(told.to_json())
            return
        if not told.rows:
            say("nobody has submitted yet")
            return
        columns = told.table()
        rows = [
            [
                columns["rank"][place],
                columns["team"][place],
                _shown(columns["value"][place]),
                _interval(columns["low"][place], columns["high"][place]),
                _shown(columns["practice"][place]),
                str(columns["tries"][place]),
                columns["status"][place],
            ]
            for place in range(len(told.rows))
        ]
        table(["rank", "team", "value", "interval", "practice", "tries", "status"], rows, right=(2, 4, 5))
        if told.closed:
            note("The board is closed: these are its last standings.")


def _show_history(board: Any, team: str, json: bool) -> None:
    """A team's own submissions, with all that it was told of each."""
    own = board.submissions(team)
    if json:
        emit([each.to_json() for each in own])
        return
    if not own:
        say(f"there are no submissions of {show_line(team)} to show")
        return
    rows = [
        [
            str(each.number),
            datetime.fromtimestamp(each.at, UTC).strftime("%Y-%m-%d %H:%M"),
            each.name or "",
            _shown(each.practice),
            _shown(each.value),
            _interval(each.low, each.high),
            "surprise" if each.surprise else each.status if each.value is not None else each.source or each.status,
            each.message or "",
        ]
        for each in own
    ]
    heads = ["number", "sent (UTC)", "name", "practice", "value", "interval", "status", "message"]
    table(heads, rows, right=(0, 3, 4))


def _shown(value: float | None) -> str:
    return "–" if value is None else show_number(value)


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{show_number(low)}, {show_number(high)}]"
