"""``unworn holdout``: rows in a folder, to be served."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.output import Json, bad_input, emit, note, percent, say

holdout = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Holdouts to serve: rows, terms and a ledger in a folder."
)


@holdout.callback()
def _holdout() -> None:
    """Holdouts to serve: rows, terms and a ledger in a folder."""


@holdout.command(short_help="Seal rows in a new folder.", no_args_is_help=True)
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to make.")],
    data: Annotated[Path, typer.Option(help="The rows: Parquet, CSV or Arrow.")],
    target: Annotated[str | None, typer.Option(help="The column of labels.")] = None,
    groups: Annotated[str | None, typer.Option(help="The column that says which rows belong together.")] = None,
    practice: Annotated[float | None, typer.Option(help="The share of rows that anybody may look at.")] = None,
    asks: Annotated[int | None, typer.Option(help="A cap on the number of questions.")] = None,
    confidence: Annotated[float, typer.Option(help="The probability that all answers hold together.")] = 0.95,
    max_width: Annotated[
        float | None, typer.Option(help="Refuse a question whose answer could be wider than this.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What it is called.  [default: the folder's name]")] = None,
    copy: Annotated[bool, typer.Option("--copy/--no-copy", help="Copy the rows, or leave them where they are.")] = True,
    json: Json = False,
) -> None:
    """Seal rows in a folder of their own. With unworn serve, others can ask about them and never see a row.

    \b
    Examples:
      unworn holdout new people/ --data people.parquet --target churned
      unworn serve people/
    """
    from unworn.boards.holdout_folder import create_holdout_folder

    with bad_input():
        made = create_holdout_folder(
            folder,
            data,
            target=target,
            groups=groups,
            practice=practice,
            asks=asks,
            confidence=confidence,
            max_width=max_width,
            name=name,
            copy=copy,
        )
    try:
        if json:
            told = {"folder": str(folder), "name": made.name, "rows": made.size, "practice_rows": made.practice.size}
            emit({**told, "confidence": made.confidence, "schema": made.terms.schema.to_json()})
            return
        aside = f", {made.practice.size:,} more for practice" if made.practice.size else ""
        say(f"Sealed {made.size:,} rows as {made.name!r}{aside}: {percent(made.confidence)} for all answers together.")
        note(f"Keep {folder}/ledger.db.keys to yourself.\n  unworn serve {shlex.quote(str(folder))}")
    finally:
        made.close()
