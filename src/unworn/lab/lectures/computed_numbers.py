"""Numbers of the lecture map, computed again: ``unworn lab lecture 003 --compute``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from unworn import plan
from unworn.bounds import clopper_pearson, hoeffding_width
from unworn.bounds.compression import code_length
from unworn.bounds.privacy import advanced
from unworn.bounds.privacy.amplification import claimed_with_replacement, with_replacement_pure, without_replacement
from unworn.bounds.privacy.profiles import GDP
from unworn.bounds.regret import regret_bound
from unworn.bounds.release import (
    averaged_mwem_error,
    averaged_mwem_rounds,
    book_updates,
    most_updates,
    small_error,
    small_size,
    sqrt_sd,
    tree_sd,
)
from unworn.bounds.release.online_weights import online_alpha
from unworn.bounds.selection import selection_epsilon, selection_gap
from unworn.bounds.sparse.crossing import largest_error
from unworn.bounds.sparse.sparse_vector_bounds import sparse_scale, standard
from unworn.bounds.transfer import (
    counting_rows,
    counting_width,
    counting_width_sharp,
    expectation,
    sensitive_width,
    sharp_expectation,
)
from unworn.lab.lectures.asked_numbers import boosted_bound, fitted_excess, threshold_reach
from unworn.lab.lectures.lecture_contract import LectureRow
from unworn.lab.theorems.approximate_privacy import private_bits
from unworn.lab.theorems.convex_counts import certified_counts, former_counts, lecture_counts, lecture_time
from unworn.lab.theorems.kl_stability import (
    bare_stability,
    best_expected_error,
    expected_empirical_error,
    kl_stability,
)
from unworn.lab.theorems.private_feedback import compressed_ladder_rate, ladder_rate, reusable_error
from unworn.lab.theorems.release_regimes import lecture_rows, mwem_rows, noise_rows, projection_rows, rows_needed
from unworn.lab.theorems.sparse_restarts import restarts
from unworn.mechanisms.synthetic.version_space import most_wrong

PUBLIC = (50_000, 1024, 2000, 1.0, 1e-9, 0.05)
BUDGET = (1.0, 1e-9, 0.05)
SMALL = math.ceil(math.log(4 * 1_000) / (2 * 0.1**2))
"""The points of the median oracle's data sets, for 1,000 queries to be within .1."""


def short(value: float, digits: int) -> str:
    """A number as the map writes it: no nought before the point."""
    return f"{value:.{digits}f}".removeprefix("0")


def widths() -> list[str]:
    options = plan(rows=10_000, asks=1_000).options
    return [
        short(min(option.width or 1.0 for option in options if option.mechanism == name), 3)
        for name in ("Laplace", "Gaussian")
    ]


def printed_rounds() -> list[str]:
    """The T that the lecture prints beside the one that balances its two terms, for m = 1,024 and k/beta = 40,000."""
    rows, cells, chances = 50_000, math.log(1024), math.log(40_000)
    printed = cells * math.sqrt(rows / chances)
    best = rows * math.sqrt(cells) / (2.0 * chances)
    errors = (2.0 * math.sqrt(cells / t) + 4.0 * chances * math.sqrt(t) / rows for t in (printed, best))
    return [f"{printed:.0f}", f"{best:,.0f}", *(short(error, 2) for error in errors)]


def misprinted_error() -> list[str]:
    """The empirical error as printed, and divided by n, for n = 10⁶, m = 16 and k/beta = 200,000."""
    rows, nats = 10**6, math.log(200_000)
    epsilon = math.sqrt(nats / (rows * math.sqrt(16)))
    return [f"{nats / epsilon:,.0f}", short(nats / (rows * epsilon), 4)]


def randomised_response_error(epsilon: float, rows: int) -> float:
    """What flipping every row's bit with probability 1/(1 + e^epsilon) adds to the standard error of a share."""
    return math.exp(epsilon / 2) / math.expm1(epsilon) / math.sqrt(rows)


NUMBERS: Final[dict[tuple[str, str], Callable[[], list[str]]]] = {
    ("000", "6Δ ln((k+1)/β)/ε"): lambda: [
        f"{6 * math.log(1_001 / 0.05) / 0.1:.0f}",
        f"{largest_error(standard(0.1), 1_000, 0.05):.0f}",
    ],
    ("000", "Answer most queries from a synthetic"): lambda: [str(most_updates(2**16, 0.1))],
    ("000", "With m runs for k queries"): lambda: [
        short(float(row["error"]), 4) for row in restarts(1_000_000, 10_000, [1, 16])[::2]
    ],
    ("000", "The time of private"): lambda: [
        short(online_alpha(10**7, 2.0**bits, 10**5, 1.0, 1e-9, 0.05), 3) for bits in (8, 16, 32)
    ],
    ("001", "It is accurate on the sample"): widths,
    ("001", "Most methods can be"): lambda: [short(boosted_bound(), 3)],
    ("001", "An optimization query"): lambda: [short(fitted_excess(), 4)],
    ("001", "A low sensitivity query"): lambda: [short(sensitive_width(0.02, GDP(0.05), 0.05, 2.0), 4)],
    ("001", "A counting query"): lambda: [short(limit, 4) for limit in clopper_pearson(500, 10_000, math.log(0.05))],
    ("001", "All of these take"): lambda: [f"{lecture_time('statistical', 10_000, 0.1, 0.05):,.0f}"],
    ("001", "Conditions: L"): lambda: [
        f"{certified_counts(10, 0.3, 0.05, 4, lipschitz=lipschitz).rows:,}" for lipschitz in (1.0, 2.0)
    ],
    ("001", "x_t = x_{t−1}"): lambda: [
        f"{certified_counts(10, 0.3, 0.05, 4, curvature=0.0).iterations} iterations",
        f"{certified_counts(10, 0.3, 0.05, 4, curvature=0.0).asks:,} gradient",
    ],
    ("001", "Proof idea: make"): lambda: [short(certified_counts(10, 0.3, 0.05, 4, curvature=0.0).width, 3)],
    ("001", "Convex optimization in d"): lambda: [f"{former_counts('convex', 100, 0.1, 4).rows:,.0f}"],
    ("001", "Bounded max-information"): lambda: [
        short(private_bits(0.001, delta, 10_000, 0.01), 2) for delta in (0.0, 1e-12)
    ],
    ("001", "Iterations per query"): lambda: [
        f"{lecture_counts('convex', 100, 0.1, 0.05, 4).iterations:.0f}",
        f"{former_counts('convex', 100, 0.1, 4).iterations:,.0f}",
    ],
    ("001", "There is a mechanism with n"): lambda: [
        f"{lecture_counts('statistical', 10_000, 0.1, 0.05).rows:,.0f}",
        f"{lecture_counts('statistical', 10_000, 0.1, 0.05).samples:.0f}",
    ],
    ("001", "Sampling makes the estimator"): lambda: [short(without_replacement(1.0, 0.0, 10, 100)[0], 3)],
    ("001", "Proposition"): lambda: [
        short(claimed_with_replacement(1.0, 10, 10), 3),
        short(with_replacement_pure(1.0, 10, 10), 3),
    ],
    ("001", "Convex optimization: n"): lambda: [f"{certified_counts(10, 0.3, 0.05, 4, curvature=0.0).rows:,}"],
    ("001", "Strongly convex"): lambda: [f"{certified_counts(10, 0.3, 0.05, 4, curvature=1.0).rows:,}"],
    ("001", "Transfer theorem"): lambda: [
        f"{counting_rows(1_000, 0.1, 0.05):,}",
        short(counting_width(10**6, 1_000, 0.05), 3),
        short(counting_width_sharp(10**6, 1_000, 0.05), 3),
    ],
    ("001", "There is such a mechanism"): lambda: [f"{lecture_counts('counting', 10_000, 0.1, 0.05).rows:,.0f}"],
    ("002", "Gaussian or Laplace noise"): lambda: [f"{noise_rows(1_000, 0.05, *BUDGET):,.0f}"],
    ("002", "Projection has"): lambda: [f"{projection_rows(2**16, k, 0.05, *BUDGET):,.0f}" for k in (1_000, 10**9)],
    ("002", "MW-EM has"): lambda: [f"{mwem_rows(2**16, 1_000, 0.05, *BUDGET):,.0f}"],
    ("002", "Thresholds, k = m"): lambda: [f"{tree_sd(1024):.1f}", f"{sqrt_sd(1024):.2f}"],
    ("002", "Pairwise marginals"): lambda: [
        *(f"{lecture_rows(2.0**1000, 1000**2, 0.1)[name]:,.0f} C" for name in ("Gaussian noise", "MWEM")),
        f"{rows_needed(2.0**1000, 1000**2, 0.1).noise:,.0f}",
        f"{rows_needed(2.0**1000, 1000**2, 0.1).mwem:,.0f}",
    ],
    ("002", "Against every adversary"): lambda: [
        short(regret_bound(2**16, 100, sharp=sharp), 3) for sharp in (False, True)
    ],
    ("002", "In each round p^t"): lambda: [str(most_updates(2**16, 0.1)), f"{book_updates(2**16, 0.1):,}"],
    ("002", "If the error is α in each"): lambda: [f"{book_updates(2**16, 0.1):,}", str(most_updates(2**16, 0.1))],
    ("002", "Privacy: T runs"): lambda: [short(selection_epsilon(0.1, 1e-6, 100), 4)],
    ("002", "With probability 1 − β/T"): lambda: [f"{selection_gap(1_000, 1.0, 0.05):.1f}"],
    ("002", "Accuracy: by Jensen"): lambda: [
        f"{averaged_mwem_rounds(*PUBLIC):,}",
        short(averaged_mwem_error(*PUBLIC, averaged_mwem_rounds(*PUBLIC)), 3),
        *printed_rounds(),
    ],
    ("002", "Proof: the average"): lambda: [short(regret_bound(2**16, 100, sharp=sharp), 3) for sharp in (False, True)],
    ("002", "Absolute values"): lambda: [
        short(averaged_mwem_error(*public, averaged_mwem_rounds(*public)), 3)
        for public in (PUBLIC, (50_000, 1024, 1000, 1.0, 1e-9, 0.05))
    ],
    ("002", "The largest score is"): lambda: [f"{selection_gap(1_000, 1.0, 0.05):.1f}"],
    ("003", "AboveThreshold says ⊥"): lambda: [short(threshold_reach(), 4)],
    ("003", "With probability 1 − β the empirical error is O(m^¼"): misprinted_error,
    ("003", "AboveThreshold is log₂"): lambda: [
        f"{math.log2(1_001):.2f} bits",
        f"{code_length(1_000, 0, 0.0) / math.log(2):.1f} bits",
    ],
    ("003", "The output (⊥)^∞"): lambda: [f"{math.exp(0.1 / 2):.3f}"],
    ("003", "At most m = n′"): lambda: [
        f"n′ = {SMALL}",
        f"m = {3 * SMALL:,}",
        f"{most_wrong(8, SMALL)} if",
    ],
    ("003", "Exercise 1"): lambda: [short(bare_stability(0.1), 4)],
    ("003", "Corollary"): lambda: [f"{expected_empirical_error(0.1, 1_000):.0f}"],
    ("003", "m copies have"): lambda: [short(kl_stability(0.1, 10, lecture=True), 3), short(kl_stability(0.1, 10), 3)],
    ("003", "The expected population error"): lambda: [
        short(value, 4) for value in best_expected_error(10**6, 10_000, 16)
    ],
    ("003", "Exercise 2"): lambda: [
        short(ladder_rate(10**6, 10_000), 4),
        short(compressed_ladder_rate(10**6, 10_000), 4),
        short(reusable_error(10**6, 10_000, 16), 4),
    ],
    ("004", "Composition"): lambda: [f"{advanced(0.1, 0.0, 100, 1e-6, book=book)[0]:.2f}" for book in (True, False)],
    ("004", "Sparse(D"): lambda: [f"{sparse_scale(1.0, 1e-6, 10):.1f}", f"{320 * math.log(1e6):,.0f}"],
    ("004", "For every x"): lambda: [str(small_size(100, 0.1, book=book)) for book in (True, False)],
    ("004", "BLR is"): lambda: [short(small_error(100_000, 16, 20, 1.0, 0.05), 3)],
    ("004", "Hoeffding: P"): lambda: [short(hoeffding_width(10_000, math.log(0.05)), 4)],
    ("004", "for all h ∈ H at once"): lambda: [short(hoeffding_width(10_000, math.log(0.05 / 1_000)), 4)],
    ("004", "What we saw"): lambda: [
        short(hoeffding_width(10_000, math.log(0.05)), 4),
        short(hoeffding_width(10_000, math.log(0.05 / 1_000)), 4),
        f"−{-math.log(0.05):.1f}",
    ],
    ("004", "DP is connected"): lambda: [f"2^{short(private_bits(0.001, 0.0, 10_000, 0.01), 2)}"],
    ("004", "Local privacy"): lambda: [short(randomised_response_error(1.0, 10_000), 4), short(2**0.5 / 10_000, 4)],
    ("004", "McSherry"): lambda: [short(sharp_expectation(0.1, 1e-6), 3), short(expectation(0.1, 1e-6), 3)],
}


def computed_numbers(number: str, row: LectureRow) -> list[str]:
    """The numbers of a row as they come out now, in the row's own form; none for a row whose numbers are measured.

    >>> from unworn.lab.lectures.lecture_registry import lecture_named
    >>> row = next(row for row in lecture_named("003").rows if "compressible over k" in row.says)
    >>> computed_numbers("003", row)
    ['9.97 bits', '16.8 bits']
    """
    return [
        each for (lecture, words), made in NUMBERS.items() if lecture == number and words in row.says for each in made()
    ]
