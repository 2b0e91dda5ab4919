"""The README of a release folder: for somebody who got it, and knows nothing of how it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unworn.basics.display import show_line
from unworn.release.release import Release
from unworn.universe.domain.domain import Bins

_ROWS = "synthetic rows: drawn from the released distribution, not copied. One that equals a real row does so by chance"
_FILES = {
    "rows.csv": _ROWS,
    "rows.parquet": _ROWS,
    "answers": "every table that was asked for: each cell's share, how far it can be off, and the interval for the "
    "population",
    "tables": "the noisy counts that were measured, as they left the data; `index.csv` tells how much noise each has",
    "errors.csv": "one line a table: how far its shares can be off, at most",
    "errors.svg": "the same as a picture",
    "certificate.json": "what is promised, on which terms, signed",
    "release.json": "the content itself, for the software: its structure,",
    "arrays.npz": "and its numbers",
}


def readme(release: Release, files: Sequence[str], rows: int | None, missing: str = "") -> str:
    """What the folder is, what it promises, what it can be used for, and how to check it, in plain words."""
    parts = [_what(release, rows), _contents(files, missing), _private(release), _accurate(release), _asking(release)]
    return "\n\n".join([*parts, _loading(release), _assumptions(release)]) + "\n"


def _what(release: Release, rows: int | None) -> str:
    problem, said = release.problem, release.certificate.said
    columns = ", ".join(f"`{_safe(name)}`" for name in problem.domain.names)
    drawn = "" if rows is None else f" It also holds {rows:,} made-up rows that have nearly the same shares."
    return (
        f"# A private release: {_safe(said['name'])}\n\n"
        f"This folder answers {problem.questions:,} questions about {problem.rows:,} rows of data that stay where they "
        f"are. Each is a share: which part of the rows has a certain combination of values.{drawn} "
        "Random noise was added before anything left the data, so that nothing here depends much on any single row, "
        "and yet the shares are close.\n\n"
        f"Columns: {columns}.{_unasked(release)}"
    )


def _unasked(release: Release) -> str:
    """Columns that no table has: nothing was learned of them."""
    asked = {axis for block in release.problem.blocks for axis in block.axes}
    left = [name for axis, name in enumerate(release.problem.domain.names) if axis not in asked]
    if not left:
        return ""
    named = ", ".join(f"`{_safe(name)}`" for name in left)
    return f" Nothing was asked about {named}: in the made-up rows all values of these are equally frequent."


def _contents(files: Sequence[str], missing: str) -> str:
    lines = [f"| `{name}{'/' if name in ('tables', 'answers') else ''}` | {_FILES[name]} |" for name in _FILES]
    told = [line for name, line in zip(_FILES, lines, strict=True) if name in files]
    notes = [] if "errors.svg" in files else ["No picture was drawn: `pip install 'unworn[plot]'` and save it again."]
    notes += [] if "answers" in files else ["There are too many answers to write out: ask for those that matter."]
    notes += [f"There are no synthetic rows: {show_line(missing)}."] if missing else []
    return "\n".join(["## What is in it", "", "| file | what it is |", "| --- | --- |", *told, *_apart(notes)])


def _private(release: Release) -> str:
    epsilon, delta = release.certificate.epsilon, release.certificate.delta
    odds = math.exp(min(epsilon, 700.0))
    times = f"{odds:.3g} times"
    told = (
        f"Imagine the same release made of the same data with one row replaced by any other. Whatever somebody looks "
        f"for in this folder, it is at most {times} as likely with one of the two as with the other"
    )
    if delta:
        told += f", but for a chance of {_small(delta)}"
    told += (
        ". So nobody can tell from it, or from anything computed with it, whether a certain row was in the data, much "
        "better than without it, whatever else they know. Using the release as often as you like changes nothing about "
        "that.\n\n"
        f"Specialists call this differential privacy with ε = {epsilon:g}"
        + (f" and δ = {delta:g}" if delta else " (pure: δ = 0)")
        + f", for one row replaced by another. {times[:-6]} is e to the power of ε: smaller is more private. "
        + ("That is a large ε, and a weak promise. " if epsilon > 5 else "")
        + "The promise is for one row. If a person has several rows, it is weaker for that person."
    )
    return f"## What it reveals about one row\n\n{told}"


def _accurate(release: Release) -> str:
    kept = release.certificate
    return (
        "## How accurate it is\n\n"
        f"Every released share is within {_points(kept.sample_error)} of the share in the data, and within "
        f"{_points(kept.population_error)} of the share in the population that the data is a random sample of. Both "
        f"hold for all {release.problem.questions:,} shares at once, with probability {100 * kept.confidence:g} %. "
        "These are the largest errors; `errors.csv` tells them table by table, and `answers/` share by share.\n\n"
        "The synthetic rows are a random draw from the released distribution, so shares counted in them are off by a "
        "little more. For numbers that matter, use `answers/` or ask the release."
    )


def _asking(release: Release) -> str:
    asked = {len(block.axes) for block in release.problem.blocks}
    largest = max(asked, default=1)
    together = "one column" if largest == 1 else f"up to {largest} columns at a time"
    return (
        "## What it can be asked\n\n"
        f"It was made for questions about {together}, those that `errors.csv` lists. Any other question about the "
        "columns of one of its tables comes with an interval too, even if you think of it after seeing the release.\n\n"
        "Do not rely on it for anything about more columns together, on the order of rows, on rare combinations (a "
        "share smaller than its error tells nothing), or on where inside a bin a number lies: synthetic rows have "
        "numbers there that are spread evenly, and the edge itself where a bin has no end. Nothing is promised for "
        "models trained on the synthetic rows."
    )


def _loading(release: Release) -> str:
    return (
        "## How to load and check it\n\n"
        "```python\n"
        "from unworn.release import Release\n\n"
        'release = Release.load("this folder")   # refused if it is not what was signed\n'
        f'release.answer("{_example(release)}")\n'
        "release.sample(1000)\n"
        "release.errors\n"
        "```\n\n"
        "`unworn verify FOLDER` checks the signature, that content, tables and rows are those that were signed, and "
        "that the promised errors follow from them. Anyone can sign with a key of their own, so compare the key with "
        "the one that the owner of the data made public:\n\n"
        f"    {release.certificate.said['public_key']}"
    )


def _assumptions(release: Release) -> str:
    said = release.certificate.said
    theorems = said["theorems"]
    lines = [f"- {assumption}" for assumption in release.certificate.assumptions]
    made = (
        f"Made by unworn {_safe(said['version'])} with the method {said['method']['method']}. Error in the data: "
        f"{theorems['sample']}. Error in the population: {theorems['population']}; for questions chosen later: "
        f"{theorems['chosen later']}."
    )
    return "\n".join(["## What must be true for this to hold", "", *lines, "", made])


def _example(release: Release) -> str:
    """A condition that this release can be asked."""
    for name, axis in release.problem.domain.columns:
        if not name.isidentifier() or not name.isascii():
            continue
        if isinstance(axis, Bins):
            return f"{name} >= {axis.edges[1]:g}"
        first = axis.points().values.tolist()[0] if axis.kind in ("number", "bool") else None
        if axis.kind == "text" and str(axis.labels[0]).isalnum():
            return f"{name} = '{axis.labels[0]}'"
        if first is not None:
            return name if axis.kind == "bool" else f"{name} = {first}"
    return "…"


def _points(share: float) -> str:
    return f"± {share:.2g} ({100 * share:.2g} percentage points)"


def _small(chance: float) -> str:
    return f"one in {1 / chance:,.0f}"


def _safe(text: object) -> str:
    """A name as it may stand in a page, as text or as code: names can contain anything, also Markdown and HTML."""
    plain = show_line(" ".join(str(text).split()))[:80]
    return plain.translate(_MARKDOWN)


_MARKDOWN = str.maketrans("`<>[]", "'‹›()")
"""What would end a code span, or begin HTML or a link, as a sign that looks like it."""


def _apart(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in ("", note)]
