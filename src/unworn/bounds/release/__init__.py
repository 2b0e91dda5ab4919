"""Many questions at once: how far released answers can be from those of the rows, from public numbers alone.

``mwem`` has multiplicative weights with the exponential mechanism, ``small`` the small database, ``projection`` least
squares over distributions, ``online`` questions that come one by one, ``thresholds`` prefix sums. Errors are shares;
neighbours differ in one row that is replaced, unless something else is said. The proofs are in
``docs/theory/release.md``.
"""

from unworn.bounds.release.mwem import (
    averaged_mwem_epsilon,
    averaged_mwem_error,
    averaged_mwem_profile,
    averaged_mwem_rounds,
    hlm_error,
    hlm_rounds,
    measured_slack,
)
from unworn.bounds.release.online import book_updates, most_updates, online_alpha, online_error
from unworn.bounds.release.projection import projection_error, projection_tail
from unworn.bounds.release.small import small_alpha, small_error, small_release_error, small_rows, small_size
from unworn.bounds.release.thresholds import sqrt_sd, tree_sd

__all__ = [
    "averaged_mwem_epsilon",
    "averaged_mwem_error",
    "averaged_mwem_profile",
    "averaged_mwem_rounds",
    "book_updates",
    "hlm_error",
    "hlm_rounds",
    "measured_slack",
    "most_updates",
    "online_alpha",
    "online_error",
    "projection_error",
    "projection_tail",
    "small_alpha",
    "small_error",
    "small_release_error",
    "small_rows",
    "small_size",
    "sqrt_sd",
    "tree_sd",
]
