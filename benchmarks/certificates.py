"""How many adaptive questions each certificate answers within a half-width, against figures worked out elsewhere.

The figures, at 95 % for all answers at once, were made by other code; a count may differ from them by 2 % or by one.
Then the goals: so many answers, from so many rows, within a tenth, by theorems and by BoundedNoise as it is sealed;
those beside a calculation by other means. Last, what it costs to account for one more ask.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.table import Column, Table

import noisy_sums
from table import Row, as_json, console, count, microseconds, options, show, verdict
from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_means import best_cosine
from unworn.bounds.privacy import GaussianFilter
from unworn.bounds.transfer import best_scale, most_asks, widths
from unworn.mechanisms import BoundedNoise
from unworn.mechanisms.contract.conversation import publish_symbol, widest_width
from unworn.mechanisms.noisy.noisy_mean import _plan_of
from unworn.queries.query import Facts

BETA = 0.05
SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
NAMES = {
    "splitting, Hoeffding": "split Hoeffding",
    "splitting, exact": "split exact",
    "rounding": "rounding",
    "DFHPRR15 Gaussian": "DFHPRR15",
    "BNSSSU16 Gaussian": "BNSSSU16",
    "Rogers20 Gaussian": "Rogers20",
    "JLNRSS20 Gaussian": "JLNRSS20",
    "JLNRSS20 Gaussian, CKS20 profile": "JLNRSS+CKS",
    "JLNRSS20 Gaussian, exact profile": "JLNRSS+GDP",
    "D1 Gaussian": "D1 Gauss",
    "D1 bounded": "D1 cos²",
    "D1+ Gaussian": "D1+ Gauss",
    "D1+ bounded": "D1+ cos²",
    "D2 Gaussian": "D2 Gauss",
    "D2 bounded": "D2 cos²",
    "F Gaussian": "F Gauss",
    "F bounded": "F cos²",
}
"""Every column of the table; D2's and F's have no figures of others to be held against."""

WIDE: dict[int, dict[str, int]] = {
    1_000: dict(zip(NAMES, (3, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0), strict=False)),
    10_000: dict(zip(NAMES, (28, 38, 41, 0, 0, 2, 2, 3, 4, 37, 40, 92, 111), strict=False)),
    100_000: dict(zip(NAMES, (219, 281, 415, 0, 29, 263, 153, 245, 323, 2303, 4530, 5880, 12_687), strict=False)),
    1_000_000: dict(
        zip(
            NAMES, (1788, 2222, 4152, 40, 2270, 21_200, 11_636, 19_112, 25_232, 162_944, 459_000, 425_472), strict=False
        )
    ),
    10_000_000: dict(
        zip(
            NAMES,
            (15_015, 18_181, 41_527, 2450, 183_296, 1_660_000, 934_400, 1_560_000, 2_080_000, 12_500_000, 46_000_000),
            strict=False,
        )
    ),
}
"""Rows to the most asks at a half-width of .1."""

NARROW: dict[int, dict[str, int]] = {
    1_000: dict(zip(NAMES, (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0), strict=False)),
    10_000: dict(zip(NAMES, (8, 12, 9, 0, 0, 0, 0, 0, 0, 3, 2, 9, 5), strict=False)),
    100_000: dict(zip(NAMES, (63, 84, 88, 0, 2, 16, 11, 18, 23, 189, 272, 505, 818), strict=False)),
    1_000_000: dict(zip(NAMES, (504, 641, 879, 2, 161, 1532, 834, 1353, 1784, 12_368, 28_600, 34_240), strict=False)),
    10_000_000: dict(
        zip(
            NAMES,
            (4158, 5102, 8795, 107, 12_704, 119_936, 65_504, 108_608, 143_744, 909_824, 2_900_000),
            strict=False,
        )
    ),
}
"""The same at a half-width of .05."""

INDICATIVE = {("D1 bounded", 10_000_000)}
"""Figures from the central limit theorem alone; and DFHPRR15's constants are quoted from memory."""

BARS = [
    ("D1+ bounded", 100_000, 12_500),
    ("D1+ bounded", 1_000_000, 1_200_000),
    ("D1+ Gaussian", 100_000, 5_880),
    ("D1+ Gaussian", 1_000_000, 425_000),
]

SEALED = {
    0.1: {10_000: 740, 100_000: 89_000, 1_000_000: 9_300_000},
    0.05: {10_000: 40, 100_000: 5_000, 1_000_000: 560_000},
}
"""Half-width: rows to the asks that BoundedNoise must answer within it."""


def judged(theorem: str, n: int, alpha: float, found: int, told: int | None) -> Row:
    what = f"most asks, {NAMES[theorem]}, {n:,} rows, ± {alpha}"
    ratio = found / told if told else None
    if told is None or theorem.startswith("DFHPRR15") or (theorem, n) in INDICATIVE:
        return Row(what, found, told, ratio, None, None)
    return Row(what, found, told, ratio, 1.02, abs(found - told) <= max(1.0, 0.02 * told))


def table(alpha: float, quick: bool) -> Iterator[Row]:
    figures = WIDE if alpha == 0.1 else NARROW
    for n in [10_000, 100_000] if quick else list(figures):
        for theorem in NAMES:
            found = most_asks(theorem, n, alpha, BETA, close=2e-3)
            yield judged(theorem, n, alpha, found, figures[n].get(theorem))


def bars() -> Iterator[Row]:
    for theorem, n, k in [*BARS, *((f"D2 {name.split()[1]}", n, k) for name, n, k in BARS)]:
        width = best_scale(theorem, n, k, BETA)[1]
        what = f"half-width, {theorem}, {n:,} rows, {k:,} asks"
        yield Row(what, width, 0.1, width / 0.1, 1.0, width <= 0.1)


def sealed(mechanism: BoundedNoise, n: int, k: int) -> BoundedNoise:
    return mechanism.settled(n, 1 - BETA, k)


def widest(mechanism: BoundedNoise, n: int, k: int) -> float:
    """The half-width of an answer of one half, through offer and publish."""
    offer = mechanism.offer(mechanism.begin(n, 1 - BETA, k), SHARE, None)
    return widest_width(mechanism, offer)


def mechanisms(quick: bool) -> Iterator[Row]:
    """BoundedNoise as entry 0 has it: its width at the goal, and the most asks, beside the other calculation's."""
    for alpha, goals in SEALED.items():
        for n, goal in list(goals.items())[: 2 if quick else 3]:
            mechanism = sealed(BoundedNoise(), n, goal)
            width = widest(mechanism, n, goal)
            what = f"half-width, BoundedNoise, {n:,} rows, {goal:,} asks"
            yield Row(what, width, alpha, width / alpha, 1.0, width <= alpha)
            _, kept, _ = mechanism.price or (0.0, 0.0, 0.0)
            radius = int(mechanism.noised(n).scale)
            ours = _most(mechanism, n, goal, alpha)
            theirs = noisy_sums.most_asks(n, alpha, round(kept * n), radius, mechanism.cosine_zero or radius)
            what = f"most asks at that noise, BoundedNoise, {n:,} rows, ± {alpha}"
            yield Row(what, ours, theirs, ours / theirs, 1.02, ours >= goal and abs(ours / theirs - 1) <= 0.02)


def _most(mechanism: BoundedNoise, n: int, k: int, alpha: float) -> int:
    """The most asks that noise of one scale answers within a half-width."""
    plain = BoundedNoise(mechanism.scale, accounting="F")
    low, high = k, 2 * k
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if widest(sealed(plain, n, middle), n, middle) <= alpha else (low, middle)
    return low


def sealing(quick: bool) -> Iterator[Row]:
    """How long it takes to seal a plan, to check it again when it is opened, and to price and publish one ask more."""
    n, k = (100_000, 86_000) if quick else (1_000_000, 9_300_000)
    for cached in (cosine_nats, best_cosine, _plan_of):
        cached.cache_clear()
    start = time.perf_counter()
    mechanism = sealed(BoundedNoise(), n, k)
    seconds = time.perf_counter() - start
    yield Row(f"seconds to price {k:,} asks of {n:,} rows, cold", seconds, None, None, 2.0, seconds <= 2.0)
    cosine_nats.cache_clear()
    start = time.perf_counter()
    state = mechanism.begin(n, 1 - BETA, k)
    seconds = time.perf_counter() - start
    yield Row("seconds to check that price when a ledger is opened, cold", seconds, None, None, 2.0, seconds <= 2.0)
    offer, event, symbols = mechanism.offer(state, SHARE, None), mechanism.noised(n), iter(range(n // 3, n))
    spent = microseconds(
        {
            "price": lambda: mechanism.offer(mechanism.after(state, event), SHARE, None),
            "publish": lambda: publish_symbol(mechanism, offer, next(symbols)),
        },
        2000,
    )
    yield Row("µs to price one ask more", spent["price"], None, None, 10.0, spent["price"] <= 10.0)
    yield Row("µs to publish an answer that was never given before", spent["publish"], None, None, None, None)


def speed(quick: bool) -> Iterator[Row]:
    """What one more ask costs the accountant, early and late, and how long a whole comparison takes, cold."""
    for asked in (10, 10_000 if quick else 1_000_000):
        held, cost = GaussianFilter(1.0), 0.5 / asked**0.5
        for _ in range(asked):
            held = held.after(cost)
        spent = microseconds({"step": lambda held=held, cost=cost: held.after(cost)}, 2000)["step"]  # type: ignore[misc]
        yield Row(f"µs to account for one ask more, after {asked:,}", spent, None, None, 20.0, spent <= 20.0)
    start = time.perf_counter()
    widths(900_000, 9_000)
    seconds = time.perf_counter() - start
    yield Row("seconds for all widths of one plan", seconds, None, None, 1.5, seconds <= 1.5)


def print_table(alpha: float, rows: list[Row]) -> None:
    table = Table(
        Column("rows"), *(Column(name, justify="right") for name in NAMES.values()), title=f"Most asks, ± {alpha}"
    )
    for first in range(0, len(rows), len(NAMES)):
        line = rows[first : first + len(NAMES)]
        cells = (f"{row.ours:,.0f}{'' if row.holds is not False else ' ' + verdict(False)}" for row in line)
        table.add_row(line[0].what.split(", ")[-2].removesuffix(" rows"), *cells)
    wide = console()
    wide.width = 225
    wide.print(table)
    count(rows)
    for row in rows:
        if row.holds is False:
            wide.print(f"{row.what}: {row.ours:,.0f}, told {row.against:,.0f}")


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    tables = {alpha: list(table(alpha, chosen.quick)) for alpha in (0.1, 0.05)}
    goals, times = [*bars(), *mechanisms(chosen.quick)], [*speed(chosen.quick), *sealing(chosen.quick)]
    if chosen.json:
        print(as_json([row for rows in (*tables.values(), goals, times) for row in rows]))
        return
    for alpha, rows in tables.items():
        print_table(alpha, rows)
    show("Answers within a tenth, 95 %", goals, 4)
    show("Time", times, 2)


if __name__ == "__main__":
    main()
