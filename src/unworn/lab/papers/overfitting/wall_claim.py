"""The wall: about n² adaptive questions give the rows away, however they are answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

import numpy as np

from unworn import charts
from unworn.lab.games import FingerprintingCode, play_game
from unworn.lab.games.fingerprinting_game import Answering, exact, majority, noisy, round_mean
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, TableRow
from unworn.lab.papers.overfitting.wall_play import MECHANISMS, POINTS, play_wall

WALL = "5 n²"
WAYS: Final[dict[str, Answering]] = {
    "exactly": exact,
    "rounded to .2": round_mean(0.2),
    "Gaussian noise, σ = .1": noisy(0.1),
}
"""Answers with an error of about a tenth, and exact ones."""
COARSE: Final[dict[str, Answering]] = {"rounded to 0 or 1": majority}
STEEPEST, FACTOR = 2.2, 5.0


def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
    quick = effort == "quick"
    sizes, games, ways = ((10, 20, 50), 3, WAYS) if quick else ((10, 20, 50, 100), 5, WAYS | COARSE)
    rows, asks = (20, 801) if quick else (60, 10_001)
    done, total = 0, len(sizes) * len(ways) * games + len(MECHANISMS)
    table: list[TableRow] = [_row(WALL, size, FACTOR * size**2) for size in sizes]
    for way, answering in ways.items():
        for size in sizes:
            code, halves, innocents = FingerprintingCode(size, POINTS * size), [], 0
            for game in range(games):
                rng = np.random.default_rng([seed, size, game])
                result = play_game(answering, code, 40 * size**2, rng)
                halves.append(math.inf if result.half is None else float(result.half))
                innocents += result.innocents
                done += 1
                progress(done, total)
            middle = median(halves)
            table.append(_row(way, size, middle if math.isfinite(middle) else None, innocents=innocents))
    for name in MECHANISMS:
        last, ending = play_wall(name, rows, asks, np.random.default_rng([seed, rows, len(table)]))
        width = None if last is None or not math.isfinite(last.answer.width) else float(last.answer.width)
        table.append(_row(name, rows, None, asks=asks, ending=ending, width=width))
        done += 1
        progress(done, total)
    return judge(table)


def judge(table: Sequence[TableRow]) -> ClaimOutcome:
    """The verdict on a table of :func:`measure`."""
    games = [row for row in table if row["ending"] is None and row["what"] != WALL]
    plays = [row for row in table if row["ending"] is not None]
    sizes = sorted({int(row["rows"] or 0) for row in games})
    rounds = {(row["what"], int(row["rows"] or 0)): float(row["rounds"] or math.inf) for row in games}
    known = [way for way in WAYS if (way, sizes[0]) in rounds]
    early = all(rounds[way, sizes[-1]] <= FACTOR * sizes[-1] ** 2 for way in known)
    names = {row["what"] for row in games}
    slopes = {name: _slope(rounds[name, sizes[0]], rounds[name, sizes[-1]], sizes) for name in names}
    innocents = sum(int(row["innocents"] or 0) for row in games)
    endings = Counter(row["ending"] for row in plays if row["what"] != "naive")
    naive = next(row["ending"] for row in plays if row["what"] == "naive")
    told = ", ".join(f"{rounds[way, sizes[-1]]:,.0f} {_way_in_words(way)}" for way in known)
    return ClaimOutcome(
        early and max(slopes.values()) <= STEEPEST and innocents == 0 and not endings["standing"] and naive == "misled",
        f"Of n = {sizes[-1]} rows half are known after {told} (n² is {sizes[-1] ** 2:,}). Asked "
        f"{int(plays[0]['asks'] or 0):,} questions about {int(plays[0]['rows'] or 0)} rows, {endings['stopped']} of "
        f"{endings.total()} set-ups of this package's mechanisms stopped, {endings['worthless']} ended at ± .25 or "
        f"wider, {endings['misled']} were wrong and {endings['standing']} stood; exact answers "
        f"{'were wrong' if naive == 'misled' else 'were not wrong'}.",
        tuple(table),
    )


def draw(rows: Sequence[TableRow], *, title: str, subtitle: Sequence[str]) -> Any:
    return charts.measured_lines(
        [row for row in rows if row["rounds"] is not None],
        x="rows",
        y="rounds",
        x_title="n: rows",
        y_title="questions until half the rows are known",
        dashed=(WALL,),
        title=title,
        subtitle=subtitle,
    )


def _slope(first: float, last: float, sizes: Sequence[int]) -> float:
    """The power of n with which the rounds grow; infinite where a game did not end."""
    if math.inf in (first, last):
        return math.inf
    return math.log(last / first) / math.log(sizes[-1] / sizes[0])


def _way_in_words(way: str) -> str:
    return {"exactly": "questions answered exactly", "rounded to .2": "answered to .2"}.get(way, f"with {way}")


def _row(
    what: str,
    rows: int,
    rounds: float | None,
    *,
    innocents: int | None = None,
    asks: int | None = None,
    ending: str | None = None,
    width: float | None = None,
) -> TableRow:
    return {
        "what": what,
        "rows": rows,
        "rounds": rounds,
        "innocents": innocents,
        "asks": asks,
        "ending": ending,
        "width": width,
    }


CLAIM = PaperClaim(
    name="wall",
    title="After about n² questions the rows are known, however they are answered",
    statement="No mechanism that sees the bits of its n rows alone answers more than O(n²) adaptive questions about a "
    "much larger population: an analyst finds the rows, and asks a question whose answer is wrong.",
    citation="Hardt and Ullman, Preventing false discovery in interactive data analysis is hard, FOCS 2014; Steinke "
    "and Ullman, Interactive fingerprinting codes, COLT 2015; biases by Tardos, J. ACM 2008.",
    lectures=("000 Lower bound", "001 Known results", "004 Application to adaptive querying"),
    expected="At the most rows measured, half of them are accused within 5 n² questions, whether answers are exact, "
    "rounded to .2 or have noise of .1; the questions needed grow like n to the power 2.2 at most; nobody else is "
    "accused; every mechanism of the package stops, ends at ± .25 or wider, or is wrong; exact answers are wrong.",
    measure=measure,
    draw=draw,
)
