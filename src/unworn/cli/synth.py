"""``unworn synth``: a private release of a file's rows, with synthetic rows, in a folder to give away."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unworn.cli.ledger_lookup import ledger_path, place_of_url
from unworn.cli.output import BadInput, Json, bad_input, emit, note, progress
from unworn.cli.sealed_rows import check_file
from unworn.cli.synth_report import dry, made_of, print_made, public, show
from unworn.errors import Unaskable

if TYPE_CHECKING:
    from unworn.universe.domain.domain import Domain
    from unworn.universe.workload import Workload

_STEPS = 100
DELTA = 1e-9
"""The default delta: for up to ten million rows, less than a hundredth of one row's share."""


def synth(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Parquet, CSV, Arrow or Feather.")],
    epsilon: Annotated[
        float, typer.Option(help="What may be revealed of one row: 1 is usual, smaller hides more.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder to write.  [default: DATA's name, then -release]")
    ] = None,
    marginals: Annotated[
        int | None, typer.Option(metavar="K", help="Every table of K columns, cell by cell: 2 is a good start.")
    ] = None,
    thresholds: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="How many are at or below each value. Repeatable.")
    ] = None,
    ranges: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="How many lie between any two values. Repeatable.")
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(metavar="CONDITION", help="A share, as in unworn ask. Repeatable.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="The chance of revealing more; 0 for none.  [default: 1e-9, or 1 % of 1/rows if less]"),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(metavar="FILE|rows", help="The columns' values: a TOML file, or 'rows' to read them off."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other rows you may see, to read the columns' values off.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Only these columns; others are left out of the release.")
    ] = None,
    method: Annotated[str, typer.Option(help="auto takes the one with the smallest predicted error.")] = "auto",
    rows: Annotated[int | None, typer.Option(min=1, help="Synthetic rows.  [default: as many as DATA has]")] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write the rows as Parquet instead of CSV.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a release that is in FOLDER.")] = False,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL", help="Where the rows are sealed.  [default: what has the rows, or DATA.ledger.db]"
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the release is called.  [default: the file's name]")] = None,
    confidence: Annotated[float, typer.Option(help="The probability that all promised errors hold together.")] = 0.95,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only predict how accurate it would be.")] = False,
    json: Json = False,
) -> None:
    """Release private tables and synthetic rows of a file, for others to use as they like.

    Say which questions the release must answer well, and how much it may reveal of any one row (epsilon). It is
    made once: rows, tables, a certificate and a README for whoever gets it are written to a folder that can be given
    away. Afterwards the release can be queried without limit, and nothing more is revealed. The rows are sealed in
    a ledger, so that nobody releases them twice: the same command again gives the same release, and another one is
    refused. So is a release of rows that were sealed for questions, whatever ledger those are in.

    The values a column can have must be known without the rows: from a TOML file (--domain), from rows that may be
    seen (--train; what the file does not declare is read off them), or from dtypes (booleans and categories).
    --domain rows reads them off the rows themselves: then the release reveals which values occur, and says so.

    \b
    Examples:
      unworn synth people.parquet --marginals 2 --epsilon 1 --domain domain.toml --out release/
      unworn synth people.csv --marginals 2 --epsilon 1 --train old.csv --dry-run
      unworn synth people.csv --thresholds age --epsilon 0.5 --delta 0 --domain domain.toml
      unworn synth people.csv --marginals 3 --columns age,plan,churned --epsilon 1 --domain rows

    \b
    How large should epsilon be? With 1, whatever somebody sees is at most e = 2.7 times as likely with a row as with
    another in its place; with 0.1, 1.1 times; above 5 little is promised. --delta 0 allows no exception at all, and
    costs accuracy; the default allows one with a chance of one in a billion.

    \b
    A domain file:
      plan = ["basic", "pro"]
      churned = [false, true]
      [age]
      edges = [0, 18, 30, 65, inf]
    """
    from unworn.holdout.rows_ledger import check_domain_readable, find_ledger, known_ledger
    from unworn.ledger.registry import PER_USER
    from unworn.release.fit import is_unknown
    from unworn.release.folder.release_folder import check_target, parquet_library
    from unworn.release.methods.method_choice import METHODS, best, predictions
    from unworn.release.methods.method_choice import choose_method as choose
    from unworn.release.problem import Problem
    from unworn.rows import Sample
    from unworn.rows.memory.domain_coding import CodedRows, check_schema

    check_file(data, "data file")
    if method not in ("auto", *METHODS):
        raise BadInput(f"no method is called {method!r}.\n  There are: auto, {', '.join(METHODS)}.")
    workload = _workload(marginals, thresholds or [], ranges or [], share or [])
    folder = out if out is not None else data.with_name(f"{data.stem}-release")
    if not dry_run:
        check_target(folder, overwrite=overwrite)
    if parquet:
        parquet_library()
    sample = Sample.read(str(data))
    allowed = min(DELTA, 0.01 / sample.size) if delta is None else delta
    if domain == "rows":
        check_domain_readable(sample, ledger or PER_USER)
    with bad_input():
        known = _domain(sample, domain, train, _listed(columns))
        check_schema(sample, known)
        problem = Problem(sample.size, known, workload, epsilon, allowed, confidence)
        found = predictions(problem) if method == "auto" else {}
        taken = best(found) if found else method
        way = (found[taken][1] if found else None) or choose(method, problem)
        expected = found[taken][0] if found else way.predicted(problem)
    if allowed * sample.size >= 1:
        note(f"delta = {allowed:g} lets the release show {allowed * sample.size:.3g} of the rows outright: use less.")
    told = public(problem, taken, expected, found)
    if dry_run:
        dry(told, json)
        return
    where = ledger or place_of_url(known_ledger(sample) or f"{data}.ledger.db")
    tables = CodedRows(sample, known) if is_unknown(sample, where) else None
    path = ledger_path(where)
    made = path is not None and not os.path.exists(path)
    place = find_ledger(sample, where)
    if not json:
        show(told)
    from unworn.release.sealing import seal_and_release

    try:
        seen = set(place.store.holdouts())
        with progress(f"releasing with {taken}", _STEPS) as tick:
            release = seal_and_release(
                sample, place, problem, way, name=name, auto=method == "auto", progress=_ticks(tick), tables=tables
            )
    except BaseException:
        place.withdraw()
        raise
    place.close()
    repeat = release.certificate.first.holdout in seen
    target = release.save(folder, rows=rows, parquet=parquet, overwrite=overwrite)
    if json:
        emit({**told, **made_of(release, target), "ledger": where, "repeat": repeat})
    else:
        print_made(release, target, where, made, repeat)


def _workload(marginals: int | None, thresholds: list[str], ranges: list[str], shares: list[str]) -> Workload:
    from functools import reduce
    from operator import add

    from unworn.queries.language.sql_text import parse
    from unworn.universe.workload import Marginals, Ranges, Shares, Thresholds

    with bad_input():
        asked: list[Workload] = [] if marginals is None else [Marginals(marginals)]
        asked += [*map(Thresholds, thresholds), *map(Ranges, ranges)]
        asked += [Shares(parse(text) for text in shares)] if shares else []  # type: ignore[misc]
    if not asked:
        raise BadInput(
            "the workload asks nothing: say what the release must answer well.\n"
            '  --marginals 2 for every pair of columns, --thresholds age, --ranges age, --share "age > 65".'
        )
    return reduce(add, asked)


def _listed(columns: str | None) -> list[str] | None:
    return None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]


def _domain(sample: Any, given: str | None, train: Path | None, columns: list[str] | None) -> Domain:
    """Declared, or read off what may be seen; off the rows only by name."""
    from unworn.rows import Sample
    from unworn.universe.domain.domain import Domain

    if columns is not None and not columns:
        raise BadInput("--columns names no column: write them as --columns age,plan")
    if given == "rows":
        if train is not None:
            raise BadInput("the columns' values come from --train or from the rows, not both: leave out one.")
        return Domain.of_rows(sample, columns=columns)
    declared = None if given is None else Domain.read(given)
    if train is not None:
        check_file(train, "training file")
        axes = None if declared is None else dict(declared.columns)
        wanted = columns if columns is not None else [name for name in sample.columns if name not in (axes or {})]
        found = Domain.of_train(Sample.read_train(str(train)), declared=axes, columns=wanted)
        return found if columns is None else found.only(columns)
    if declared is not None:
        return declared if columns is None else declared.only(columns)
    try:
        return Domain.of_dtypes(sample, columns=columns)
    except Unaskable as why:
        raise BadInput(
            f"{why.message.splitlines()[0]}\n"
            "  Declare them in a TOML file (--domain domain.toml); read them off rows you may see (--train FILE);\n"
            "  name only columns that have them (--columns); or, if the release may reveal which values occur, read\n"
            "  them off the rows (--domain rows).",
            **why.numbers,
        ) from None


def _ticks(tick: Callable[[], None]) -> Callable[[int, int], None]:
    """A bar has so many steps, however many a method takes."""
    shown = 0

    def advance(done: int, total: int) -> None:
        nonlocal shown
        while shown < _STEPS * done // max(total, 1):
            shown += 1
            tick()

    return advance
