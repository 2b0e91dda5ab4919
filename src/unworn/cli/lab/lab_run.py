"""Running claims for a command: what is shown on the way, what is kept, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unworn.cli.output import BadInput, count, emit, note, progress, say, say_wrapped

if TYPE_CHECKING:
    from unworn.lab.papers.claim_contract import Effort
    from unworn.lab.papers.claim_runs import ClaimRun

UNEXPECTED = 5
"""The exit code when a verdict is not as expected."""

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes: about twenty seconds a claim.")]
Seed = Annotated[int, typer.Option(help="Another seed, other rows and noise.", min=0)]
Processes = Annotated[
    int | None, typer.Option(help="How many claims run at once.  [default: one per core]", min=1, show_default=False)
]

_STEPS = 100


def check_folder(folder: Path) -> Path:
    """A folder to write to, before anything is computed for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"the folder {folder} cannot be made: {error.strerror}") from None
    return folder


def run_named(
    name: str, effort: Effort, seed: int, processes: int | None, folder: Path | None, *, quiet: bool
) -> list[ClaimRun]:
    """Run one claim or all, tell each verdict as it comes, and keep what came of them; in the order of names."""
    from unworn.lab.papers.claim_registry import claim_files, claim_named
    from unworn.lab.papers.claim_runs import default_processes, run_claim, run_claims, save_run

    runs: list[ClaimRun] = []
    if name != "all":
        claim_named(name)
        with progress(f"running {name}", _STEPS) as tick:
            runs.append(run_claim(name, effort, seed, _steps(tick)))
        kept = [] if folder is None else save_run(runs[0], folder)
        if not quiet:
            _tell(runs[0])
            for path in kept:
                note(f"kept: {path}")
        return runs
    names = list(claim_files())
    with progress(f"running {count(len(names), 'claim')}", len(names)) as tick:
        for done in run_claims(names, effort, seed, processes or default_processes()):
            runs.append(done)
            if folder is not None:
                save_run(done, folder)
            if not quiet:
                _tell(done)
            tick()
    return sorted(runs, key=lambda run: run.name)


def finish(runs: Sequence[ClaimRun], as_json: bool, **more: Any) -> None:
    """The document or the last line, and the exit code."""
    wrong = [run.name for run in runs if not run.is_as_expected]
    if as_json:
        emit({"as_expected": not wrong, "claims": [run.to_json() for run in runs], **more})
    elif len(runs) > 1:
        say(f"{len(runs) - len(wrong)} of {len(runs)} verdicts are as expected{f'; not {wrong}' if wrong else ''}")
    if wrong:
        raise typer.Exit(UNEXPECTED)


def _tell(run: ClaimRun) -> None:
    from unworn.lab.papers.claim_page import verdict_of

    say(f"{run.name}: {verdict_of(run)} ({run.effort}, seed {run.seed}, {run.seconds:.0f} s)")
    say_wrapped(run.claim.statement, "  ")
    if run.outcome is None:
        note(run.error.rstrip())
        return
    say_wrapped(f"Expected: {run.claim.expected}", "  ")
    say_wrapped(f"Measured: {run.outcome.measured}", "  ")
    say_wrapped(f"Source: {run.claim.citation}", "  ")
    say()


def _steps(tick: Any) -> Any:
    """A bar has so many steps, however many things are done."""
    shown = 0

    def advance(done: int, total: int) -> None:
        nonlocal shown
        while shown < _STEPS * done // max(total, 1):
            shown += 1
            tick()

    return advance
