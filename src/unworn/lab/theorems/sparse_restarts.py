"""What starting the sparse vector again costs: with m thresholds the error grows like the fourth root of m.

With epsilon = sqrt(ln(k)/(n sqrt(m))) the noise of the k comparisons, about ln(k)/(n epsilon), and what m instances
fail to hide, about epsilon sqrt(m), are alike: both are m^(1/4) sqrt(ln(k)/n) (Smith, "The sparse vector technique").
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from unworn.bounds.numerics import check_probability, check_rows, check_whole
from unworn.bounds.sparse.crossing import run_price
from unworn.bounds.sparse.sparse_vector_bounds import empirical_error, refreshed_run
from unworn.noise import Stream

CERTIFIED, THEOREM, MEASURED = "certified (Theorem D2)", "empirical error, theorem", "empirical error, measured"


def restart_epsilon(rows: int, asks: int, tops: int) -> float:
    """The epsilon of each instance that balances noise and stability: sqrt(ln(k)/(n sqrt(m))).

    >>> round(restart_epsilon(1_000_000, 10_000, 16), 6)
    0.001517
    """
    check_rows(rows)
    check_whole("the number of asks", asks, 2)
    check_whole("tops", tops, 1)
    return math.sqrt(math.log(asks) / (rows * math.sqrt(tops)))


def restarts(
    rows: int, asks: int, tops: Iterable[int], confidence: float = 0.95, *, noise: Stream | None = None, runs: int = 100
) -> list[dict[str, float | str]]:
    """How far answers can be from the threshold for each number of tops: a table for ``charts.restarts``.

    It has ``tops``, ``epsilon``, ``what`` and ``error`` (a share of the rows). With ``noise`` the error of an analyst
    is measured too, as the mean of so many ``runs``.

    >>> table = restarts(1_000_000, 10_000, [1, 16])
    >>> [(row["tops"], row["what"], round(row["error"], 4)) for row in table[::2]]
    [(1, 'certified (Theorem D2)', 0.0187), (16, 'certified (Theorem D2)', 0.0429)]
    """
    check_probability("confidence", confidence)
    beta, table = 1.0 - confidence, list[dict[str, float | str]]()
    for m in tops:
        epsilon = restart_epsilon(rows, asks, m)
        run = refreshed_run(epsilon, m)
        errors = {
            CERTIFIED: run_price(run, rows, asks, beta).width,
            THEOREM: empirical_error(run, asks, beta) / rows,
        }
        if noise is not None:
            errors[MEASURED] = float(np.mean([measured_error(asks, m, epsilon, noise) for _ in range(runs)])) / rows
        table += [{"tops": m, "epsilon": epsilon, "what": what, "error": error} for what, error in errors.items()]
    return table


def measured_error(asks: int, tops: int, epsilon: float, noise: Stream) -> int:
    """The worst empirical error, in rows, of one run against an analyst who looks for it.

    She spends all tops but one on clear cases and then asks about counts from 1.5 up to 0.5 times b ln(k) below
    the threshold, b the scale of the counts' noise: deep enough that only the largest of k noises reaches it.

    >>> measured_error(1_000, 4, 0.1, Stream(bytes(32), "restarts")) > 0
    True
    """
    from unworn.noise.discrete_laplace import laplace

    check_whole("the number of asks", asks, 2)
    run = refreshed_run(epsilon, tops)
    thresholds = laplace(noise, run.threshold, tops)
    counts = laplace(noise, run.question, asks)
    clear = min(tops, asks) - 1
    deep = np.rint(run.question * math.log(asks) * np.linspace(1.5, 0.5, asks - clear)).astype(np.int64)
    # Clear cases lie above by more than any noise; the others are compared with the last threshold until one is above.
    crossed = counts[clear:] - deep >= thresholds[clear]
    return int(deep[np.argmax(crossed)]) if crossed.any() else 0
