"""``unworn demo``: an adaptive analyst against a plain and a protected holdout."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unworn import charts
from unworn.cli.output import BadInput, Json, emit, note, progress, say, say_wrapped, table
from unworn.errors import MissingExtra, UnwornError

if TYPE_CHECKING:
    from unworn.cli.demo_analyst import DemoPlay, DemoWorld

_STEPS = 16


@dataclass(frozen=True)
class DemoOutcome:
    """What one holdout made the analyst believe, beside the truth."""

    name: str
    points: list[dict[str, Any]]
    kept: int
    held: int
    intervals: int
    final: dict[str, float] | None

    @property
    def last(self) -> dict[str, Any]:
        return self.points[-1]

    def to_json(self) -> dict[str, Any]:
        last = {name: self.last[name] for name in ("reported", "low", "high", "truth", "holds")}
        counts = {"kept_clues": self.kept, "intervals_held": self.held, "intervals": self.intervals}
        return {"holdout": self.name, **last, **counts, "final": self.final, "steps": self.points}


def demo(
    rows: Annotated[int, typer.Option(help="Rows in the holdout.", min=200, max=200_000)] = 10_000,
    asks: Annotated[int, typer.Option(help="Clues the analyst scores on it.", min=20, max=20_000)] = 2_000,
    real: Annotated[int, typer.Option(help="How many of the clues are real.", min=0, max=50)] = 5,
    seed: Annotated[int, typer.Option(help="Another seed, another world.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="The folder for unworn-demo.svg and unworn-demo.png.")] = Path(),
    json: Json = False,
) -> None:
    """Watch an analyst wear out a holdout, and fail to wear out a protected one.

    The analyst has many clues about a yes/no label; a few are real, the rest are coin flips. It scores every clue on
    the holdout, weighs it by the answer, and scores the weighted vote: as anybody does who tries things and keeps what
    works. The same analyst meets the same rows twice, once as a plain holdout that gives exact scores, and once behind
    unworn. Because the data is made here, the truth is known, and you can see which of the two reports it. Takes a few
    seconds.

    \b
    Examples:
      unworn demo
      unworn demo --asks 5000 --rows 20000 --out figures/
      unworn demo --json
    """
    if rows * asks > 2 * 10**8:
        raise BadInput(f"{rows:,} rows of {asks:,} clues need too much memory: take at most 200 million together")
    started = time.perf_counter()
    outcomes = _play(rows, asks, real, seed)
    seconds = time.perf_counter() - started
    figures, missing = _draw(outcomes, rows, asks, real, out)
    if json:
        setting = {"rows": rows, "asks": asks, "real": min(real, asks), "seed": seed, "fresh_rows": _fresh(asks)}
        told = [outcome.to_json() for outcome in outcomes]
        emit({**setting, "seconds": round(seconds, 3), "outcomes": told, "figures": [str(path) for path in figures]})
    else:
        _print(outcomes, rows, asks, real)
        for path in figures:
            say(f"figure: {path}")
    if missing is not None:
        note(f"no figure: {missing.message}")


def _fresh(asks: int) -> int:
    """Rows to find the truth with: enough that its error is small, few enough to be quick."""
    return int(min(200_000, max(20_000, 2 * 10**8 // asks)))


def _play(rows: int, asks: int, real: int, seed: int) -> list[DemoOutcome]:
    import numpy as np

    from unworn.cli.demo_analyst import CHUNK, DemoWorld, play, population_scores
    from unworn.mechanisms import GuessAndCheck, Naive

    rng = np.random.default_rng(seed)
    world = DemoWorld.make(asks, real, rng)
    right = world.rows(rows, rng)
    every = max(asks // _STEPS, 1)
    fresh = _fresh(asks)
    with progress("asking", 2 * (asks + -(-asks // every)) + -(-fresh // CHUNK)) as tick:
        plain = play(right, Naive(), every, seed, tick)
        guarded = play(right, GuessAndCheck(), every, seed, tick)
        votes = [step.weights for played in (plain, guarded) for step in played.steps]
        truth = population_scores(world, votes, fresh, rng, tick).tolist()
    count = len(plain.steps)
    return [
        _outcome("plain holdout", plain, world, truth[:count]),
        _outcome("unworn", guarded, world, truth[count:]),
    ]


def _outcome(name: str, played: DemoPlay, world: DemoWorld, truth: list[float]) -> DemoOutcome:
    points = [
        {
            "holdout": name,
            "asked": step.clues,
            "reported": step.answer.value,
            "low": step.answer.low,
            "high": step.answer.high,
            "truth": true,
            "holds": step.answer.low <= true <= step.answer.high,
        }
        for step, true in zip(played.steps, truth, strict=True)
    ]
    clues = sum(
        answer.low <= true <= answer.high for answer, true in zip(played.clues, world.truth.tolist(), strict=True)
    )
    held, told = clues + sum(bool(point["holds"]) for point in points), len(played.clues) + len(points)
    last, final = played.final, None
    if last is not None:
        final = {"value": last.value, "low": last.low, "high": last.high, "width": last.width}
        held, told = held + (last.low <= truth[-1] <= last.high), told + 1
    return DemoOutcome(name, points, played.steps[-1].kept, held, told, final)


def _draw(
    outcomes: list[DemoOutcome], rows: int, asks: int, real: int, out: Path
) -> tuple[list[Path], MissingExtra | None]:
    if not charts.available():
        return [], MissingExtra.of("plot", "drawing the demonstration")
    heads = {"plain holdout": "A plain holdout: exact scores", "unworn": "The same rows behind unworn"}
    points = [{**point, "holdout": heads[outcome.name]} for outcome in outcomes for point in outcome.points]
    chart = charts.demonstration(
        points,
        title="The same analyst, the same rows: one holdout wears out, the other does not",
        subtitle=[
            f"{asks:,} clues, {min(real, asks)} of them real, scored one by one on {rows:,} rows.",
            "Bands: the interval that was reported. Dashed: the truth, from fresh rows.",
        ],
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwornError(f"the folder {out} cannot be made: {error.strerror}") from None
    return [charts.save(chart, out / f"unworn-demo{suffix}") for suffix in (".svg", ".png")], None


def _print(outcomes: list[DemoOutcome], rows: int, asks: int, real: int) -> None:
    plain, guarded = outcomes

    def line(what: str, told: Any) -> tuple[str, str, str]:
        return what, told(plain), told(guarded)

    lines = [
        line("clues the analyst relied on", lambda o: f"{o.kept:,}"),
        line("what the analyst was told", lambda o: f"{o.last['reported']:.1%}"),
        line("the interval it came with", lambda o: f"{o.last['low']:.1%} to {o.last['high']:.1%}"),
        line("what is true on fresh rows", lambda o: f"{o.last['truth']:.1%}"),
        line("does the interval hold?", lambda o: "yes" if o.last["holds"] else "NO"),
        line("the final number", lambda o: f"{o.final['value']:.1%} ± {o.final['width']:.1%}" if o.final else "–"),
        line("intervals that hold, of all", lambda o: f"{o.held:,} of {o.intervals:,}"),
    ]
    say(f"{rows:,} rows, {asks:,} clues, {min(real, asks)} of them real; every clue is scored on the holdout.")
    say()
    table(["", "plain holdout", "unworn"], lines, right=(1, 2))
    say()
    say_wrapped(_words(plain, guarded, real))
    say()


def _words(plain: DemoOutcome, guarded: DemoOutcome, real: int) -> str:
    """What happened, from the numbers: seeds differ, and the text must not claim what did not happen."""
    gap = plain.last["reported"] - plain.last["truth"]
    first = (
        f"The plain holdout told the analyst {plain.last['reported']:.1%}; on fresh rows the same vote is right "
        f"{plain.last['truth']:.1%} of the time. "
    )
    if not plain.last["holds"] and gap > 0:
        first += (
            "Nobody cheated: most clues are coin flips, some of them happened to fit these rows, the exact scores told "
            "the analyst which, and the vote of those fits these rows and no others. "
        )
    found = "the one clue" if guarded.kept == 1 else f"the {guarded.kept} clues"
    second = (
        "unworn was asked the same. It compares a guess with the rows and says no more than 'agreed' unless they "
        "differ by more than chance explains, so "
        + (f"only {found} that stood out came through" if guarded.kept else "no clue came through")
        + f" ({min(real, plain.last['asked'])} are real): it told {guarded.last['reported']:.1%}, "
        f"the truth is {guarded.last['truth']:.1%}. "
    )
    if guarded.final is not None:
        second += (
            f"Its final number, the exact score, told at the end, is {guarded.final['value']:.1%} "
            f"± {guarded.final['width']:.1%}. "
        )
    held = guarded.held == guarded.intervals
    third = (
        f"All {guarded.intervals:,} of its intervals hold at once, which is what it promises with 95 % confidence. "
        if held
        else f"{guarded.intervals - guarded.held:,} of its intervals fail; with 95 % confidence none should. "
    )
    better = guarded.last["truth"] - plain.last["truth"]
    return first + second + third + ("And the analyst left with the better vote." if better > 0.01 else "")
