"""Many questions at once: how far released answers can be from those of the rows, from public numbers alone.

``mwem_bound`` has multiplicative weights with the exponential mechanism, ``small_database`` the small database,
``projection_bound`` least squares over distributions, ``online_weights`` questions that come one by one,
``prefix_bound`` prefix sums. Errors are shares; neighbours differ in one row that is replaced, unless something else is
said. The proofs are in ``docs/theory/release.md``.
"""

from unworn.bounds.release.mwem_bound import (
    averaged_mwem_epsilon,
    averaged_mwem_error,
    averaged_mwem_profile,
    averaged_mwem_rounds,
    hlm_error,
    hlm_rounds,
    measured_slack,
)
from unworn.bounds.release.online_weights import book_updates, most_updates, online_alpha, online_error
from unworn.bounds.release.prefix_bound import sqrt_sd, tree_sd
from unworn.bounds.release.projection_bound import projection_error, projection_tail
from unworn.bounds.release.small_database import small_alpha, small_error, small_release_error, small_rows, small_size

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
