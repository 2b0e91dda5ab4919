"""``unworn audit``: is a mechanism as private as it claims, and are its intervals right as often as it promises?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unworn import charts
from unworn.cli.output import BadInput, Json, bad_input, emit, note, percent, progress, say, say_wrapped, table

if TYPE_CHECKING:
    from unworn.lab.audit import Coverage, Report

REFUTED = 5
"""The exit code when a claim that somebody relies on is refuted."""

_STEPS = 100


def audit(
    name: Annotated[str | None, typer.Argument(help="What to audit: see --list.", show_default=False)] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what can be audited, with what it claims.")] = False,
    trials: Annotated[
        int | None, typer.Option(help="Runs on each input (plays of each analyst).", min=1, show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed, other runs.", min=0)] = 0,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Test the intervals instead: let the lab's analysts try to be misled.")
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option(help="Also draw what the claim allows and what was found, as .svg, .png, .html or .json."),
    ] = None,
    json: Json = False,
) -> None:
    """Try to catch a mechanism being less private than it claims.

    Privacy is a claim about probabilities: when one row is replaced, no output may become more likely than the claim
    allows. So the mechanism is run many times on two inputs that differ in one row. Some of the runs are searched for
    an output that tells the two apart; the others count how often it comes, with exact limits. If even the limits are
    too far apart, the claim is refuted, and that happens to a true claim once in a million audits. Not being refuted
    proves nothing: it only says that this many runs found no fault.

    The names lyu-1 to lyu-6 and no-threshold-noise are controls: published versions of one algorithm, most of them
    wrong. They show that an audit is able to fail. Takes seconds.

    With --coverage the mechanism's intervals are tested: analysts who do their best to be misled ask a holdout
    whose truth is known, and the plays in which any interval misses are counted.

    \b
    Examples:
      unworn audit --list
      unworn audit laplace
      unworn audit lyu-3 --figure audit.svg
      unworn audit gaussian --coverage

    \b
    Exit codes:
      0  not refuted, or refuted and known to be broken (a control)
      2  no such name, or options that cannot be used
      5  refuted
    """
    if list_:
        _list(json)
        return
    if name is None:
        raise BadInput("name what to audit, as in: unworn audit laplace\n  unworn audit --list shows what there is.")
    if coverage:
        _coverage(name, seed, trials, figure, json)
        return
    from unworn.lab.audit import audit as examine
    from unworn.lab.audit import find

    target = find(name)
    with bad_input(), progress(f"auditing {name}", _STEPS) as tick:
        report = examine(target, trials, seed=seed, progress=_ticks(tick))
    drawn = None if figure is None else charts.save(report.chart(), figure)
    if json:
        emit({**report.to_json(), "figure": None if drawn is None else str(drawn)})
    else:
        _print(report, target.note)
        if drawn is not None:
            note(f"figure: {drawn}")
    if report.refuted and not report.broken:
        raise typer.Exit(REFUTED)


def _ticks(tick: Any) -> Any:
    """A bar has so many steps, however many runs there are."""
    shown = 0

    def advance(done: int, total: int) -> None:
        nonlocal shown
        while shown < _STEPS * done // total:
            shown += 1
            tick()

    return advance


def _list(json: bool) -> None:
    from unworn.lab.audit import catalogue

    targets = [make() for make in catalogue().values()]
    if json:
        emit([{"name": made.name, "claimed": made.claimed.value, "broken": made.broken} for made in targets])
        return
    lines = [
        (made.name, str(made.claimed), "broken" if made.broken else "private", f"{made.trials:,}", made.note)
        for made in targets
    ]
    table(["name", "claims", "known to be", "runs", "what it is"], lines, right=(3,))


def _print(report: Report, what: str) -> None:
    best = report.best
    symbol = "μ" if report.claimed.unit == "mu" else "ε"
    say(f"{report.name}{f' ({what})' if what else ''} claims {report.claimed}.")
    say()
    table(
        ["outcome", "one input", "its neighbour", "so at least"],
        [
            (told.outcome, f"≥ {told.above:.4g}", f"≤ {told.below:.4g}", f"{symbol} = {told.least:.3f}")
            for told in sorted(report.checked, key=lambda told: -told.least)
        ],
        right=(1, 2),
    )
    say()
    if report.refuted:
        found = f"{symbol} is at least {report.lower_bound:.3f}, and {report.claimed.value:.4g} is claimed"
        say_wrapped(f"REFUTED: {report.violation or found}.")
        told = (
            f"The outcome '{best.outcome}' came in {best.seen[0]:.4%} of the runs on one input and in "
            f"{best.seen[1]:.4%} on its neighbour ({best.pair}): whoever sees it knows more about one row than was "
            "promised."
        )
        if report.broken:
            told += " This is a control that is known to be broken: the audit works."
    else:
        say(f"Not refuted: {symbol} is at least {report.lower_bound:.3f}, and {report.claimed.value:.4g} is claimed.")
        told = (
            "No output was found that one row makes likelier than the claim allows. That is no proof: more --trials "
            "find smaller faults."
        )
        if report.broken:
            told += " This control is known to be broken: it takes more trials to see it."
    say_wrapped(told)
    say(f"{report.trials:,} runs per input, limits at {percent(report.confidence)}, seed {report.seed}.")


def _coverage(name: str, seed: int, repetitions: int | None, figure: Path | None, json: bool) -> None:
    from unworn.lab.audit import coverage
    from unworn.lab.audit.catalogue import coverage_case

    if figure is not None:
        raise BadInput("--coverage has no figure: leave out --figure, or --coverage")
    plan = coverage_case(name)
    with bad_input(), progress(f"playing against {name}", _STEPS) as tick:
        told = coverage(
            plan.mechanism,
            plan.rows,
            plan.asks,
            repetitions=repetitions or plan.repetitions,
            seed=seed,
            progress=_ticks(tick),
        )
    if json:
        emit({**told.to_json(), "name": name})
    else:
        _print_coverage(told, name)
    if told.refuted and plan.mechanism.promises:
        raise typer.Exit(REFUTED)


def _print_coverage(told: Coverage, name: str) -> None:
    say(f"{name} promises that all {told.asks:,} intervals of a play on {told.rows:,} rows hold together, in", nl=False)
    say(f" {percent(told.promised)} of plays.")
    say()
    table(
        ["analyst", "plays", "missed", "true rate of misses", "last answer"],
        [
            (
                played.analyst,
                str(played.repetitions),
                str(played.misses),
                f"{played.low:.1%} to {played.high:.1%}",
                f"± {played.width:.3f}",
            )
            for played in told.plays
        ],
        right=(1, 2),
    )
    say()
    worst = told.worst
    if told.refuted:
        say(f"REFUTED: {worst.analyst} makes it miss in at least {worst.low:.1%} of plays.")
    else:
        say("Not refuted: nobody made it miss more often than it promises.")
    if told.refused:
        say_wrapped(f"It does not answer what these analysts ask: {', '.join(told.refused)}.")
    say(f"Limits at {percent(told.certainty)}, seed {told.seed}.")
