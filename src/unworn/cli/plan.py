"""``unworn plan``: how many rows, how many asks, how wide."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from unworn import charts
from unworn.cli.output import BadInput, Json, bad_input, emit, note, percent, progress, say, say_wrapped, table
from unworn.plan import Option, Plan, curves
from unworn.plan import plan as solve
from unworn.plan.guess_price import MOST
from unworn.plan.option_prices import right
from unworn.plan.result import count_of, half, is_of_values


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
    theorems: Annotated[
        bool, typer.Option("--theorems", help="Also show what other theorems promise for the same mechanisms.")
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option(help="Also draw widths against asks and asks against rows: .svg, .png, .html, .json."),
    ] = None,
    json: Json = False,
) -> None:
    """Find out how many rows you need, how many questions you can ask, or how wide the answers will be.

    Rows, asks and width determine each other. Give two of them and the third is solved for; give all three
    with --surprises any to learn how many wrong guesses that leaves room for. What is solved for is what guess and
    check, the default mechanism, gives: advice in words, then a table that sets every other mechanism beside it on the
    same terms, and with --theorems what others have proved. Nothing is read or charged: a plan is arithmetic.

    \b
    Examples:
      unworn plan --rows 1e4 --asks 1000            how wide will answers be?
      unworn plan --rows 1e4 --width 0.05           how many questions can I ask?
      unworn plan --asks 1000 --width 0.02          how many rows do I need?
      unworn plan --rows 1e4 --asks 1000 --width 0.07 --surprises any
      unworn plan --rows 1e4 --asks 1000 --theorems
      unworn plan --rows 1e4 --asks 1000 --figure plan.svg
    """
    given = {name: None if text is None else _number(text) for name, text in _named(rows, asks, width)}
    wrong = _surprises(surprises)
    _check_left_out([f"--{name}" for name, value in given.items() if value is None], wrong is None)
    if figure is not None:
        charts.check(figure)
    with bad_input(), _waiting("pricing every mechanism"):
        found = solve(**given, surprises=wrong, confidence=confidence)
    drawn = None if figure is None else charts.save(_chart(found, given["width"] or found.width), figure)
    if json:
        emit({**found.to_json(), "figure": None if drawn is None else str(drawn)})
        return
    _print(found, given["width"], theorems)
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


def _print(found: Plan, goal: float | None, theorems: bool) -> None:
    for sentence in found.advice.split("\n"):
        say_wrapped(sentence)
    counted = goal is not None and any(option.asks is not None for option in found.options)
    heads = ["mechanism", "width", *([f"asks in ± {goal:g}"] if counted else []), "theorem", "because"]
    groups = [[option for option in found.mechanisms if is_of_values(option) == values] for values in (True, False)]
    for words, group in zip(("", "Other kinds of answer, each in its own number:"), groups, strict=True):
        say()
        if words:
            say(words)
        table(heads, [_line(option, counted) for option in group], right=(1, 2) if counted else (1,))
    if theorems:
        _print_theorems(found)


def _print_theorems(found: Plan) -> None:
    able = [option for option in found.comparisons if option.width is not None]
    if able:
        say()
        say("Other theorems about the same mechanisms, for comparison; they hold as well, but promise less:")
        lines = [(option.mechanism, half(option.width), option.theorem, option.reason) for option in able]
        table(["mechanism", "width", "theorem", "from"], lines, right=(1,))
    others = [f"{option.theorem} ({option.mechanism})" for option in found.comparisons if option.width is None]
    if others:
        say()
        say_wrapped(f"No interval at this size: {', '.join(others)}.")


def _line(option: Option, counted: bool) -> list[str]:
    asks = [_count(option.asks)] if counted else []
    theorem = re.search(r"Theorem \w+'?", option.theorem)
    return [option.mechanism, half(option.width), *asks, theorem[0] if theorem else option.theorem, option.reason]


def _count(asks: int | None) -> str:
    return "–" if asks is None else "any number" if asks >= MOST else f"{asks:,}"


def _chart(found: Plan, width: float) -> object:
    guesses = right(found.asks, found.surprises)
    with progress("drawing", curves.ticks(found)) as tick:
        widths, asks = curves.width_curves(found, tick), curves.ask_curves(found, width, tick)
    return charts.plans(
        widths,
        asks,
        title=f"How wide answers get on {found.rows:,} rows, and how many asks more rows could answer",
        subtitle=[
            f"{percent(found.confidence)} for all answers together. GuessAndCheck if {guesses}; others need none.",
            "Dashed: the best published theorem. Dotted: the final number, one question asked of a fresh test set, and "
            "the least width that",
            "the strongest known attack leaves to answers with noise. Grey rules: this plan, "
            f"{count_of(found.asks)} and {found.rows:,} rows.",
        ],
        planned=found.asks,
        rows=found.rows,
        width=width,
    )


@contextmanager
def _waiting(what: str) -> Iterator[None]:
    """Something that moves on standard error while nothing else does; silent where nobody is looking."""
    from rich.console import Console

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
