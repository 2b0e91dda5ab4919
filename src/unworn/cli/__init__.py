"""The command line: one file per verb."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from unworn.basics.version import __version__
from unworn.cli.ask import ask
from unworn.cli.audit import audit
from unworn.cli.demo import demo
from unworn.cli.folders.board_commands import board
from unworn.cli.folders.holdout_commands import holdout
from unworn.cli.folders.score_command import score
from unworn.cli.import_ import import_
from unworn.cli.lab.lab_commands import lab
from unworn.cli.ledger import ledger
from unworn.cli.output import complain, exit_code, note
from unworn.cli.plan import plan
from unworn.cli.remote.gate_command import gate
from unworn.cli.remote.login import login
from unworn.cli.remote.mcp_command import mcp
from unworn.cli.remote.standings_command import standings
from unworn.cli.remote.submit import submit
from unworn.cli.report_command import report
from unworn.cli.serve import serve
from unworn.cli.synth import synth
from unworn.cli.verify import verify
from unworn.errors import UnwornError

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """Runs a command; an error becomes its message and its exit code, never a traceback unless wanted."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["unworn.json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UnwornError as error:
            if _debugging(ctx):
                raise
            complain(error, as_json=ctx.meta["unworn.json"])
            raise typer.Exit(exit_code(error)) from None
        except Exception as error:
            if _debugging(ctx) or not _unexpected(error):
                raise
            note(f"{type(error).__name__}: {error}")
            note("  This is a mistake in unworn, not yours. UNWORN_DEBUG=1 shows the traceback to report.")
            raise typer.Exit(1) from None


app = typer.Typer(
    name="unworn",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help reads the same in a terminal, a pipe and the documentation
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unworn {__version__}")
        raise typer.Exit


@app.callback()
def _unworn(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="UNWORN_DEBUG", help="Show a traceback instead of a message.")
    ] = False,
) -> None:
    """Holdout sets wear out. Yours won't.

    Ask one fixed set of rows as many questions as you like, each chosen after seeing the answers before; every answer
    comes with an interval, and all the intervals hold together for the population the rows came from. Every answer
    is recorded in a ledger beside the data, because what was asked before decides how wide the next interval is.

    \b
    Start here:
      unworn demo
      unworn plan --rows 10000 --asks 1000
      unworn ask people.csv "age > 65 and plan = 'basic'" --guess 0.2 --card card.json
      unworn ledger people.csv.ledger.db
      unworn verify card.json --ledger people.csv.ledger.db
      unworn synth people.csv --marginals 2 --epsilon 1 --domain domain.toml --out release/

    \b
    Exit codes:
      0  done
      1  unexpected: a mistake in unworn
      2  what was typed, or the question, cannot be used
      3  refused: asks or width used up, other terms or other rows, no key
      4  the ledger or card was changed, cut off, or cannot be read or written
      5  an audit refuted what a mechanism claims, or a verdict of the lab is not as expected
      10 revert: what the gate says of a proposal that is not kept
    """


app.command(short_help="Watch a holdout wear out, and one that does not.")(demo)
app.command(short_help="Ask the rows in a file one question.", no_args_is_help=True)(ask)
app.command("import", short_help="Rows too many for memory, as a file to map.", no_args_is_help=True)(import_)
app.command(short_help="How many rows, how many asks, how wide?", no_args_is_help=True)(plan)
app.command(short_help="What was asked, and what it cost.", no_args_is_help=True)(ledger)
app.command(short_help="A report on what was asked: HTML or Markdown.", no_args_is_help=True)(report)
app.command(short_help="Private tables and synthetic rows to give away.", no_args_is_help=True)(synth)
app.command(short_help="Boards and holdouts behind HTTP.", no_args_is_help=True)(serve)
app.command(short_help="Sign in to a server.", no_args_is_help=True)(login)
app.command(short_help="Predictions to a board: score, interval, rank.", no_args_is_help=True)(submit)
app.command(short_help="Keep or revert: a gate for loops that try things.", no_args_is_help=True)(gate)
app.command(short_help="Who is ahead on a board.", no_args_is_help=True)(standings)
app.command(short_help="Tools for an agent: a metric without its rows.", no_args_is_help=True)(mcp)
app.command(short_help="Check a card, a release or a whole ledger.", no_args_is_help=True)(verify)
app.command(short_help="Score a file of predictions on a file of labels.", no_args_is_help=True)(score)
app.add_typer(board, name="board", short_help="Leaderboards that nobody can overfit, in folders.")
app.add_typer(holdout, name="holdout", short_help="Rows to serve, in folders.")
app.add_typer(lab, name="lab", short_help="Claims of papers and lectures, run again.")
app.command(short_help="Is a mechanism as private as it claims?", no_args_is_help=True)(audit)


def _note_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """A warning as a note: which line of ours it came from says nothing to who types."""
    note(f"{category.__name__}: {message}")


def main() -> None:
    """Run the command line."""
    if not os.environ.get("UNWORN_DEBUG"):
        warnings.showwarning = _note_warning
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal that cannot show ± must not stop an answer that was charged
            reconfigure(errors="replace")
    app(prog_name="unworn")


def _debugging(ctx: Any) -> bool:
    return bool(ctx.params.get("debug")) or os.environ.get("UNWORN_DEBUG", "0") not in ("", "0")


def _unexpected(error: Exception) -> bool:
    """Whether an exception is not the command line's own way of ending: usage errors, exits, a closed pipe."""
    own = any(kind.__module__.partition(".")[0] in ("typer", "click") for kind in type(error).__mro__)
    return not own and not isinstance(error, BrokenPipeError)
