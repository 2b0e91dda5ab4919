"""Running a sweep: in parallel, with a bar, from where it stopped."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from unworn.errors import SmallHoldout
from unworn.lab.sweeps.sweep import Sweep, cells_to_play
from unworn.lab.sweeps.sweep_cell import SweepCell
from unworn.lab.sweeps.sweep_folder import SweepFolder
from unworn.queries.table_output import to_frame


def run_sweep(
    sweep: Sweep,
    folder: str | os.PathLike[str] | None = None,
    processes: int = 1,
    progress: bool | Callable[[int, int], None] = False,
) -> list[dict[str, Any]]:
    """Play every cell, and return the table: a row for each, in the order of the sweep.

    The table is the same however many processes play, in whatever order, and however often the run was stopped.

    Parameters
    ----------
    folder
        Where finished cells are kept. A run that was killed goes on with the cells that are missing.
    processes
        How many plays at once. With more than one a script has to run this under ``if __name__ == "__main__":``,
        because each process imports it anew.
    progress
        ``True`` for a bar on standard error, or a function of (cells finished, cells in all).

    Examples
    --------
    >>> from unworn.lab import ANALYSTS, SignWorld
    >>> from unworn.mechanisms import GuessAndCheck, Naive
    >>> attack = ANALYSTS["select_then_vote"]()
    >>> sweep = Sweep([SignWorld()], [attack], [Naive(), GuessAndCheck()], rows=[100], asks=[60], repetitions=3, seed=1)
    >>> [(row["mechanism"].partition("(")[0], row["missed"]) for row in run_sweep(sweep)][::3]
    [('Naive', True), ('GuessAndCheck', False)]
    """
    cells = sweep.cells
    kept = None if folder is None else SweepFolder(Path(folder), sweep)
    with _progress_of(progress) as tell, nullcontext(None) if kept is None else kept.appending() as append:
        rows = {} if kept is None else kept.finished()  # read once nobody else writes
        known = {cell.key for cell in cells}
        rows = {key: row for key, row in rows.items() if key in known}
        tell(len(rows), len(cells))
        for key, row in _played(list(cells_to_play(cells, rows)), sweep.seed, processes):
            if append is not None:
                append(key, row)
            rows[key] = row
            tell(len(rows), len(cells))
    return [rows[cell.key] for cell in cells]


def sweep_frame(rows: Sequence[dict[str, Any]], like: str | None = None) -> Any:
    """The table as a frame: pandas, polars or Arrow, whichever is installed, or the one named."""
    return to_frame({name: [row[name] for row in rows] for name in (rows[0] if rows else ())}, like)


def play_cell(cell: SweepCell, seed: int) -> tuple[str, dict[str, Any]]:
    """One cell, with its key: what a process is sent, and sends back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallHoldout)  # experiments are run on few rows on purpose
        return cell.key, cell.play(seed)


def _played(cells: Sequence[SweepCell], seed: int, processes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if processes < 2 or len(cells) < 2:
        yield from (play_cell(cell, seed) for cell in cells)
        return
    with ProcessPoolExecutor(min(processes, len(cells)), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(play_cell, cell, seed) for cell in cells]
        try:
            for done in as_completed(running):
                yield done.result()
        finally:
            for each in running:
                each.cancel()


@contextmanager
def _progress_of(progress: bool | Callable[[int, int], None]) -> Iterator[Callable[[int, int], None]]:
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(file=sys.stderr)
    hidden = not progress or not console.is_terminal
    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, disable=hidden) as bar:
        task = bar.add_task("cells")
        yield lambda done, total: bar.update(task, completed=done, total=total)
