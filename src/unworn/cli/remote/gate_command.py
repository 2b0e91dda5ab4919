"""``unworn gate``: keep or revert, for a loop that tries things."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.cli.output import BadInput, Json, emit, say
from unworn.cli.remote.submit import To, one_line_refusals, opened_board


def gate(
    to: To,
    predictions: Annotated[
        Path | None, typer.Argument(metavar="PREDS", help="CSV, JSON lines or Parquet, joined by id.")
    ] = None,
    message: Annotated[str | None, typer.Option("--message", "-m", help="What was changed.")] = None,
    check: Annotated[bool, typer.Option("--check", help="A milestone now: how much of the gain is real?")] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Keep only what the check rows prove better; chosen when a lane starts.")
    ] = False,
    lane: Annotated[str, typer.Option(help="Which of your loops this is.")] = "main",
    finish: Annotated[bool, typer.Option("--finish", help="End the lane with its final gain and score.")] = False,
    state: Annotated[bool, typer.Option("--state", help="Where the lane stands; nothing is proposed.")] = False,
    request: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key again gets the same verdict, even after a crash.")
    ] = None,
    team: Annotated[
        str | None, typer.Option(help="With a folder: who proposes. On a server it is the token's.  [default: me]")
    ] = None,
    format: Annotated[str | None, typer.Option(help="csv, jsonl or parquet.  [default: by the file's name]")] = None,
    json: Json = False,
) -> None:
    """Propose a change by its predictions: is it better than what was kept?

    The first proposal is where the loop starts. Each later one is kept if it is better on the board's practice rows,
    which answer exactly and at once, and wear out. So at milestones (after 25, 50, 100, … proposals, or with --check)
    the check rows say how much of the gain is real: that holds, together with everything else they say. If nothing of
    it seems real, the loop is sent back to the last state that was confirmed, which may be several commits ago.

    \b
    Exit codes: 0 keep · 10 revert · 2 the file cannot be scored · 3 refused (closed, finished, not signed in)

    \b
    Examples:
      unworn gate preds.csv --to http://127.0.0.1:8765/boards/bench -m "wider beam" && git commit -am "wider beam"
      unworn gate preds.csv --to bench/ --check --json
      unworn gate --to bench/ --state
      unworn gate --to bench/ --finish
    """
    if (predictions is not None) + finish + state != 1:
        raise BadInput("name a file of predictions to propose, --finish to end the lane, or --state: one of them")
    with one_line_refusals(json), opened_board(to, team) as (board, options):
        if state:
            stand = _state(board, options, lane)
            if json:
                emit(stand.to_json())
            else:
                say(stand.line)
            return
        if finish:
            claim = _finish(board, options, lane)
            if json:
                emit(claim.to_json())
            else:
                say(claim.line)
            return
        how: dict[str, Any] = {"check": check, "format": format, "request": request}
        if not hasattr(board, "gate"):
            from unworn.boards.gate import Gate

            verdict = Gate(board, options["team"], lane=lane, prove=prove).propose(predictions, message, **how)
        else:
            verdict = board.gate(predictions, message, lane=lane, prove=prove, **how)
        if json:
            emit(verdict.to_json())
        else:
            say(verdict.line)
    raise typer.Exit(verdict.exit_code)


def _state(board: Any, options: dict[str, str], lane: str) -> Any:
    if hasattr(board, "gate_state"):
        return board.gate_state(lane)
    from unworn.boards.gate import Gate

    return Gate(board, options["team"], lane=lane).state


def _finish(board: Any, options: dict[str, str], lane: str) -> Any:
    from unworn.boards.gate_values import GateClaim

    if hasattr(board, "gate_finish"):
        told = board.gate_finish(lane)
        return told if isinstance(told, GateClaim) else GateClaim.from_json(told)
    from unworn.boards.gate import Gate

    return Gate(board, options["team"], lane=lane).finish()
