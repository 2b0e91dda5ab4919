"""``unworn plan``: how many rows, how many asks, how wide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn import charts
from unworn.cli.output import BadInput, Json, bad_input, emit, note, percent, say, table
from unworn.plan import Plan
from unworn.plan import plan as solve

_POINTS = 8
"""Points a decade in the figure."""


def _number(text: str) -> float:
    """A number the way people write it: 10000, 1e4, 10_000, 10,000."""
    try:
        return float(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; write 10000, 1e4 or 10_000") from None


def _surprises(text: str) -> float | None:
    return None if text.strip().lower() == "any" else _number(text)


def plan(
    rows: Annotated[str | None, typer.Option(metavar="N", help="Rows in the holdout: 10000, 1e4, 10_000.")] = None,
    asks: Annotated[str | None, typer.Option(metavar="K", help="Questions to ask of it.")] = None,
    width: Annotated[
        str | None, typer.Option(metavar="W", help="Half-width each answer should have, in (0, 0.5].")
    ] = None,
    surprises: Annotated[
        str, typer.Option(metavar="F", help="How many guesses will turn out wrong; 'any' solves for it.")
    ] = "0",
    confidence: Annotated[float, typer.Option(help="The probability that all answers hold together.")] = 0.95,
    figure: Annotated[
        Path | None, typer.Option(help="Also draw width against asks, as .svg, .png, .html or .json.")
    ] = None,
    json: Json = False,
) -> None:
    """Find out how many rows you need, how many questions you can ask, or how wide the answers will be.

    Rows, asks and width determine each other. Give two of them and the third is solved for; give all three
    with --surprises any to learn how many wrong guesses that leaves room for. The table compares every mechanism on
    the same terms and says why. Nothing is read or charged: a plan is arithmetic.

    \b
    Examples:
      unworn plan --rows 1e4 --asks 1000            how wide will answers be?
      unworn plan --rows 1e4 --width 0.05           how many questions can I ask?
      unworn plan --asks 1000 --width 0.02          how many rows do I need?
      unworn plan --rows 1e4 --asks 1000 --width 0.07 --surprises any
      unworn plan --rows 1e4 --asks 1000 --figure plan.svg
    """
    given = {name: None if text is None else _number(text) for name, text in _named(rows, asks, width)}
    wrong = _surprises(surprises)
    _check_left_out([f"--{name}" for name, value in given.items() if value is None], wrong is None)
    with bad_input():
        found = solve(**given, surprises=wrong, confidence=confidence)
    drawn = None if figure is None else charts.save(_chart(found), figure)
    if json:
        emit({**found.to_json(), "figure": None if drawn is None else str(drawn)})
        return
    _print(found)
    if drawn is not None:
        note(f"figure: {drawn}")


def _named(rows: str | None, asks: str | None, width: str | None) -> list[tuple[str, str | None]]:
    return [("rows", rows), ("asks", asks), ("width", width)]


def _check_left_out(missing: list[str], any_surprises: bool) -> None:
    if len(missing) + any_surprises == 1:
        return
    if not missing:
        raise BadInput(
            "nothing is left out, so there is nothing to solve for.\n"
            "  Leave out one of --rows, --asks and --width, or add --surprises any."
        )
    if any_surprises:
        raise BadInput(
            f"--surprises any solves for the surprises, so {' and '.join(missing)} must be given.\n"
            "  Give --rows, --asks and --width, or a number of surprises."
        )
    raise BadInput(
        f"one thing can be solved for, but {' and '.join(missing)} are left out.\n"
        "  Give two of --rows, --asks and --width, as in: unworn plan --rows 1e4 --asks 1000"
    )


def _print(found: Plan) -> None:
    say(f"{found.rows:,} rows, {found.asks:,} asks, {found.surprises:,} surprises, all together at", nl=False)
    say(f" {percent(found.confidence)}:")
    say(f"  ± {found.width:.4f}  an answer whose guess was right")
    say(f"  ± {found.floor:.4f}  the best that sharpening can reach")
    say(f"  best mechanism: {found.best}")
    say()
    lines = [
        (option.mechanism, "–" if option.width is None else f"± {option.width:.4f}", option.reason, option.theorem)
        for option in found.options
    ]
    table(["mechanism", "width", "because", "theorem"], lines, right=(1,))


def _chart(found: Plan) -> object:
    least, decades = found.surprises + 1, 1
    while 10**decades < 10 * found.asks and decades < 15:
        decades += 1
    steps = sorted({round(10 ** (step / _POINTS)) for step in range(_POINTS * decades + 1)} | {found.asks})
    points = [
        {"mechanism": option.mechanism, "asks": asks, "width": option.width}
        for asks in steps
        if asks >= least
        for option in solve(found.rows, asks, None, found.surprises, found.confidence).options
    ]
    wrong = "every guess is right" if not found.surprises else f"all guesses but {found.surprises:,} are right"
    return charts.widths(
        points,
        title=f"How wide answers get on {found.rows:,} rows",
        subtitle=f"{percent(found.confidence)} for all answers together; {wrong}. Dashed: {found.asks:,} asks.",
        planned=found.asks,
    )
