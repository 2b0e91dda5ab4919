"""``unworn import``: rows of any size into a file that is mapped into memory instead of read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.output import BadInput, Json, emit, note, progress, say

_TICKS = 200


def import_(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Parquet, CSV, Arrow or Feather.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: NAME.arrow.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write the rows of DATA as one Arrow file, uncompressed and column by column, that needs no reading to be opened.

    A holdout of such a file takes no more memory than its questions do, and a question put to a few fresh rows takes
    about as long with a billion rows as with a hundred thousand. Rows pass through in small batches, however many
    there are; only the distinct words of text columns are kept in memory. The rows keep their ledger, because they are
    recognised by their values.

    \b
    Examples:
      unworn import big.parquet holdout.arrow
      unworn ask holdout.arrow "age > 65" --guess 0.2
    """
    if out.suffix.lower() not in (".arrow", ".feather"):
        raise BadInput(f"{out} is written as an Arrow file.\n  Call it {out.with_suffix('.arrow').name}.")
    if out.exists() and out.resolve() == data.resolve():
        raise BadInput(f"{out} is the file that is read.\n  Give another name.")
    from unworn.rows.mapped.mapped_naming import check_free
    from unworn.rows.mapped.mapped_sources import open_source
    from unworn.rows.mapped.mapped_writing import write_mapped

    check_free(out, force)  # before a large file is read
    source = open_source(data)
    done = shown = 0
    with progress(f"importing {data.name}", _TICKS) as tick:

        def count(rows: int) -> None:
            nonlocal done, shown
            done += rows
            while shown < _TICKS * done // source.rows:
                shown += 1
                tick()

        left_out = write_mapped(out, source.schema, source.rows, source.batches(), force=force, tick=count)
    columns, size = len(source.schema.names) - len(left_out), out.stat().st_size
    if as_json:
        emit(
            {"data": str(data), "out": str(out), "rows": source.rows, "columns": columns, "bytes": size}
            | {"left_out": list(left_out)}
        )
        return
    say(f"{out}: {source.rows:,} rows, {columns} columns, {size:,} bytes")
    if (ledger := Path(f"{data}.ledger.db")).exists():
        note(f"  The rows have a ledger already: go on with it, as in unworn ask {out} ... --ledger {ledger}")
    if left_out:
        note(f"  left out, since their types are not numbers, booleans, text or dates: {', '.join(left_out)}")
