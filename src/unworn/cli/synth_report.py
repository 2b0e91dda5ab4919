"""What is said about a release: before it is made, after, and when it is checked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unworn.cli.output import count, emit, note, percent, say, say_wrapped, table

if TYPE_CHECKING:
    from unworn.release.problem import Problem
    from unworn.release.release import Release


def public(problem: Problem, best: str, expected: float, found: dict[str, Any]) -> dict[str, Any]:
    """What is known before a row is counted."""
    domain = problem.domain
    return {
        "rows": problem.rows,
        "columns": {column: len(axis) for column, axis in domain.columns},
        "domain": domain.origin,
        "cells": problem.cells,
        "tables": len(problem.blocks),
        "questions": problem.questions,
        "epsilon": problem.epsilon,
        "delta": problem.delta,
        "confidence": problem.confidence,
        "method": best,
        "predicted_error": expected,
        "predictions": [
            {"method": label, "error": error if way is not None else None, "why": why or None, "chosen": label == best}
            for label, (error, way, why) in found.items()
        ],
    }


def dry(told: dict[str, Any], json: bool) -> None:
    if json:
        emit({"dry_run": True, **told})
        return
    show(told)
    say_wrapped(
        f"The largest error over all {told['questions']:,} shares is expected to be about "
        f"± {told['predicted_error']:.2g} with {told['method']}. A certificate promises somewhat more than what is "
        "expected, and tells it exactly."
    )
    note("Only predicted, from the number of rows and the columns' values: nothing was counted, sealed or charged.")


def show(told: dict[str, Any]) -> None:
    """The problem in two lines, and what each method could do about it."""
    budget = f"epsilon {told['epsilon']:g}, delta {told['delta']:g}"
    say(f"{told['rows']:,} rows · {len(told['columns'])} columns, {told['cells']:,} cells ({_ORIGINS[told['domain']]})")
    say(f"{count(told['questions'], 'question')} in {count(told['tables'], 'table')} · {budget}")
    say()
    if told["predictions"]:
        able = sorted(
            (line for line in told["predictions"] if line["error"] is not None), key=lambda line: line["error"]
        )
        lines = [(line["method"], f"± {line['error']:.2g}", "taken" if line["chosen"] else "") for line in able]
        lines += [
            (line["method"], "–", str(line["why"]).splitlines()[0])
            for line in told["predictions"]
            if line["error"] is None
        ]
        table(["method", "expected error", ""], lines, right=(1,))
        say()


_ORIGINS = {
    "declared": "values as declared",
    "dtypes": "values from dtypes",
    "train": "values read off train",
    "rows": "values read off the rows: the release reveals which occur",
}


def made_of(release: Release, target: Path) -> dict[str, Any]:
    from unworn.release.methods.method_choice import METHODS

    said = release.certificate.said
    return {
        "out": str(target),
        "files": sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()),
        "name": said["name"],
        "method": next(label for label, kind in METHODS.items() if isinstance(release.method, kind)),
        "parameters": said["method"],
        "sample_error": said["sample_error"],
        "population_error": said["population_error"],
        "theorems": said["theorems"],
        "assumptions": said["assumptions"],
        "digest": said["digest"],
        "public_key": said["public_key"],
    }


def print_made(release: Release, target: Path, where: str, made: bool, repeat: bool) -> None:
    kept, problem = release.certificate, release.problem
    if repeat:
        note(
            "These rows were released on these terms before: this is the same release again, and reveals nothing more."
        )
    else:
        note(f"Sealed {problem.rows:,} rows as {kept.said['name']!r}: they cannot be released again on other terms.")
    if made:
        note(f"  The ledger is {where}, its key lies in {where}.keys: keep both, and keep the key to yourself.")
    odds = math.exp(min(kept.epsilon, 700.0))
    but = f", but for a chance of {kept.delta:g}" if kept.delta else ""
    say(f"Released {problem.questions:,} shares of {kept.said['name']!r} with {type(release.method).__name__}.")
    say_wrapped(
        f"Accuracy: every share is within ± {kept.sample_error:.2g} of the rows' own, and within "
        f"± {kept.population_error:.2g} of the population's, with {percent(kept.confidence)} for all together.",
        "  ",
    )
    say_wrapped(
        f"Privacy: had any one row been another, whatever anybody sees here would have been at most {odds:.3g} "
        f"times as likely{but}. That stays so whatever is done with the release.",
        "  ",
    )
    say(f"  Folder: {target}")
    for label, words in _FILES.items():
        if (target / label).exists():
            say(f"    {label:<17} {words}")
    say("  The whole folder can be given away; nothing in it reveals more than is promised above.")
    say(f"  Check it with: unworn verify {target}")


_FILES = {
    "README.md": "for whoever gets it: start here",
    "rows.csv": "synthetic rows",
    "rows.parquet": "synthetic rows",
    "answers": "every share with its interval, table by table",
    "tables": "the noisy counts that were measured",
    "errors.csv": "how far each table can be off",
    "errors.svg": "the same as a figure",
    "certificate.json": "what is promised, signed",
}
