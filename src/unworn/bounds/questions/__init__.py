"""Limits for questions that are no plain means: conditional shares, rankings, means that vary little.

Each limit is for one fixed question and either side has the full level (theory of questions). ``..._cell_limits`` are
those of a symbol: the value lies in a cell, and a gauge (how many rows count, how much values vary) within a bound.
The others are those of an exact value that ends a conversation. ``declared_bounds`` are the bounds that ``train``
suggests.
"""

from unworn.bounds.questions.conditional_shares import (
    conditional_cell_limits,
    conditional_share_limits,
    octave_rows,
    row_octave,
)
from unworn.bounds.questions.declared_bounds import (
    declared_rows,
    declared_smaller_class,
    declared_variance,
    mean_error,
    part_rows,
    share_error,
)
from unworn.bounds.questions.mean_bets import MeanMoments, bet_distance, bet_limits, moment_rate
from unworn.bounds.questions.means_with_variance import bet_rate, variance_cell_limits, variance_limits
from unworn.bounds.questions.rank_bets import block_moments, exponential_placements
from unworn.bounds.questions.rank_moments import (
    RankMoments,
    hanley_mcneil,
    rank_difference_moments,
    rank_moments,
    ranking_error,
)
from unworn.bounds.questions.ranking import (
    ExpectedRanking,
    ranking_cell_limits,
    ranking_difference_cell_limits,
    ranking_difference_limits,
    ranking_limits,
)

__all__ = [
    "ExpectedRanking",
    "MeanMoments",
    "RankMoments",
    "bet_distance",
    "bet_limits",
    "bet_rate",
    "block_moments",
    "conditional_cell_limits",
    "conditional_share_limits",
    "declared_rows",
    "declared_smaller_class",
    "declared_variance",
    "exponential_placements",
    "hanley_mcneil",
    "mean_error",
    "moment_rate",
    "octave_rows",
    "part_rows",
    "rank_difference_moments",
    "rank_moments",
    "ranking_cell_limits",
    "ranking_difference_cell_limits",
    "ranking_difference_limits",
    "ranking_error",
    "ranking_limits",
    "row_octave",
    "share_error",
    "variance_cell_limits",
    "variance_limits",
]
