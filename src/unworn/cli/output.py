"""What all commands share: how things are printed, how errors read, and what the exit codes mean."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from unworn.basics.display import escape_json, show_line, show_text
from unworn.errors import LedgerError, Refused, Unaskable, UnwornError

BAD_INPUT, REFUSED, LEDGER = 2, 3, 4

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else.")]

_WIDTH = 120
"""How wide tables are where nobody is looking at a terminal."""


SOURCES = {
    "guess": "the rows agree with the guess, which is nearly free",
    "last answer": "the last answer to the same metric again: nobody guessed, and the rows agree, which is nearly free",
    "surprise": "a surprise: the rows disagree with the guess, which costs",
    "grid": "without a guess: the cell the value lies in, which costs a little",
    "final": "the exact value, as the last word",
    "exact": "the exact value on the rows",
    "noise": "the value on the rows, with noise that hides every single row",
    "synthetic": "the rows agree with the synthetic distribution, which is nearly free",
    "draw": "one fresh row's own value, sometimes turned over",
    "test": "a hypothesis: 1 if the rows reject it",
}
"""Where a value comes from, in words."""


class BadInput(UnwornError):
    """What was typed cannot be meant: the message says what to type instead."""


def exit_code(error: UnwornError) -> int:
    """The number a script can act on."""
    if isinstance(error, Refused) and not isinstance(error, Unaskable):
        return REFUSED
    return LEDGER if isinstance(error, LedgerError) else BAD_INPUT


@contextmanager
def bad_input() -> Iterator[None]:
    """Turn a function's complaint about its own arguments into ours."""
    try:
        yield
    except UnwornError:
        raise
    except ValueError as error:
        raise BadInput(str(error)) from error


def say(text: str = "", *, nl: bool = True) -> None:
    """One line for the reader, on standard output, whatever the names in it hold."""
    typer.echo(show_line(text), nl=nl)


def note(text: str) -> None:
    """What is going on, on standard error."""
    typer.echo(show_text(text), err=True)


def emit(document: Any) -> None:
    """The one JSON document of a command."""
    typer.echo(escape_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=str)))


def complain(error: UnwornError, *, as_json: bool) -> None:
    """An error: its kind and what happened, then the numbers and the fix, indented."""
    name = type(error).__name__
    typer.secho(f"{name}: {error.message}", err=True, fg="red" if sys.stderr.isatty() else None)
    if as_json:
        emit({"error": name, "message": error.message, "exit_code": exit_code(error), "numbers": _plain(error.numbers)})


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """A table: ruled on a terminal, aligned columns and nothing else in a pipe."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    on_terminal = sys.stdout.isatty()
    width = None if on_terminal or "COLUMNS" in os.environ else _WIDTH
    from rich import box

    drawn = Table(
        box=box.SIMPLE_HEAD if on_terminal else None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold" if on_terminal else "",
        safe_box=True,
    )
    for place, header in enumerate(headers):
        # Only the last column may wrap: numbers broken over lines cannot be read.
        wraps = place == len(headers) - 1
        drawn.add_column(header, justify="right" if place in right else "left", overflow="fold", no_wrap=not wraps)
    for row in rows:
        drawn.add_row(*(Text(show_line(cell)) for cell in row))
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False, no_color=not on_terminal)
    with console.capture() as captured:
        console.print(drawn)
    typer.echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


@contextmanager
def progress(what: str, total: int) -> Iterator[Any]:
    """A bar on standard error while something takes a while; silent where nobody is looking. Yields a tick."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    console = Console(file=sys.stderr)
    shown = Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal)
    with shown:
        task = shown.add_task(what, total=total)
        yield lambda: shown.advance(task)


def percent(share: float) -> str:
    """A confidence in words: 95 %."""
    return f"{100 * share:g} %"


def number(value: float) -> str:
    """Four digits, or a whole number where that is more."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def count(things: int, noun: str) -> str:
    """So many of something: 1 answer, 2,000 answers."""
    return f"{things:,} {noun}" if things == 1 else f"{things:,} {noun}s"


def say_wrapped(text: str, indent: str = "") -> None:
    """A paragraph of lines that fit; what follows a ± stays beside it."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    kept = show_line(text).replace("± ", "±\N{NO-BREAK SPACE}")
    lines = textwrap.wrap(kept, width=max(width, 40), initial_indent=indent, subsequent_indent=indent)
    typer.echo("\n".join(lines).replace("±\N{NO-BREAK SPACE}", "± "))


def _plain(value: Any) -> Any:
    """What JSON can say of an error's numbers."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
