"""``unworn lab``: run the claims of papers and lectures again, and see where each lecture is in this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.lab.lab_report import write_page
from unworn.cli.lab.lab_run import Processes, Quick, Seed, check_folder, finish, run_named
from unworn.cli.output import BadInput, Json, count, emit, say, say_wrapped, table

lab = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The lab: claims of papers and lectures, run again; each ends in a verdict and a figure.",
)


@lab.command("list", short_help="The claims that can be run.")
def list_(json: Json = False) -> None:
    """List the claims: a name to run, the lectures that say it, and what is said.

    \b
    Examples:
      unworn lab list
      unworn lab list --json
    """
    from unworn.lab.papers.claim_registry import all_claims

    claims = all_claims()
    if json:
        emit(
            [
                {
                    "name": claim.name,
                    "title": claim.title,
                    "statement": claim.statement,
                    "citation": claim.citation,
                    "lectures": list(claim.lectures),
                    "expected": claim.expected,
                    "true": claim.is_true,
                }
                for claim in claims
            ]
        )
        return
    table(
        ["name", "lectures", "claim"],
        [(claim.name, " ".join(sorted({text[:3] for text in claim.lectures})), claim.title) for claim in claims],
    )


@lab.command(short_help="Run one claim, or all.", no_args_is_help=True)
def run(
    name: Annotated[str, typer.Argument(metavar="NAME|all", help="A claim (`unworn lab list`), or all of them.")],
    quick: Quick = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep NAME.json, NAME.svg and NAME.png there.", show_default=False),
    ] = None,
    seed: Seed = 0,
    processes: Processes = None,
    json: Json = False,
) -> None:
    """Run a claim's experiment, and say whether the claim holds.

    Every claim says beforehand what is expected and within what tolerance; the verdict compares. The same seed gives
    the same numbers, on any number of processes. --quick takes about twenty seconds a claim and is enough for the
    verdict; without it sizes are those of the documentation, and a claim may take minutes.

    NAME.json holds all that was measured, with the version, seed and effort; `unworn lab report` makes a page of it.

    \b
    Examples:
      unworn lab run boosting --quick
      unworn lab run freedman --out results/
      unworn lab run all --quick --out results/

    \b
    Exit codes:
      0  every verdict is as expected
      2  no such claim, or a folder that cannot be written
      5  some verdict is not
    """
    folder = None if out is None else check_folder(out)
    finish(run_named(name, "quick" if quick else "full", seed, processes, folder, quiet=json), json)


@lab.command(short_help="Where a lecture is in this package.")
def lecture(
    number: Annotated[
        str | None, typer.Argument(metavar="NUMBER", help="000 to 004; all of them without.", show_default=False)
    ] = None,
    compute: Annotated[
        bool, typer.Option("--compute", help="Compute the numbers that are formulas again, beside those on the page.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a lecture, section by section: what it says, what that is here, and the command that shows it.

    \b
    Examples:
      unworn lab lecture
      unworn lab lecture 003
      unworn lab lecture 003 --compute
    """
    from dataclasses import asdict

    from unworn.lab.lectures.computed_numbers import computed_numbers
    from unworn.lab.lectures.lecture_registry import lecture_named, lecture_numbers

    if number is None:
        found = [lecture_named(each) for each in lecture_numbers()]
        if json:
            emit([{"number": each.number, "title": each.title, "rows": len(each.rows)} for each in found])
        else:
            table(
                ["number", "rows", "lecture"],
                [(each.number, f"{len(each.rows)}", f"{each.title} ({each.source})") for each in found],
                right=(1,),
            )
        return
    chosen = lecture_named(number)
    if json:
        rows_told = [
            asdict(row) | ({"computed": computed_numbers(number, row)} if compute else {}) for row in chosen.rows
        ]
        emit(asdict(chosen) | {"rows": rows_told})
        return
    say(f"Lecture {chosen.number}: {chosen.title} ({chosen.source}), {count(len(chosen.rows), 'row')}")
    for section, rows in chosen.sections.items():
        say()
        say(section)
        for row in rows:
            say_wrapped(f"{row.kind}: {row.says}", "  ")
            for path in row.ours:
                say(f"    {path}")
            for command in filter(None, dict.fromkeys((row.command, row.run_claim))):
                say(f"    $ {command}")
            if row.page:
                say(f"    docs/{row.page}")
            erratum = f"Erratum: {row.erratum}" if row.erratum else ""
            again = "; ".join(computed_numbers(number, row)) if compute else ""
            computed = f"Computed now: {again}" if again else ""
            for text in filter(None, (row.measured, computed, row.note, erratum)):
                say_wrapped(text, "    ")


@lab.command(short_help="One page with every figure and verdict.")
def report(
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="What `run --out` kept; without it claims are run now.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write the page here.")] = Path("lab.html"),
    quick: Quick = False,
    seed: Seed = 0,
    processes: Processes = None,
    json: Json = False,
) -> None:
    """Write one page with every claim: what is said, expected and measured, the figure, the verdict, version and seed.

    The page is one file that loads nothing. With a folder it shows the runs that were kept there; without one, all
    claims are run first.

    \b
    Examples:
      unworn lab report --quick
      unworn lab run all --out results/ ; unworn lab report results/ --out lab.html

    \b
    Exit codes:
      0  every verdict is as expected
      2  nothing to show, or a file that cannot be written
      5  some verdict is not
    """
    from unworn.lab.papers.claim_runs import saved_runs

    if results is not None and not results.is_dir():
        raise BadInput(f"there is no folder {results}\n  `unworn lab run all --quick --out {results}` makes one.")
    runs = None if results is None else saved_runs(results)
    if runs == []:
        raise BadInput(f"no run of a claim was kept in {results}")
    write_page(out)  # refused before minutes of computing
    if runs is None:
        runs = run_named("all", "quick" if quick else "full", seed, processes, None, quiet=json)
    where = write_page(out, runs)
    if not json:
        say(f"page: {where}")
    finish(runs, json, page=str(where))
