"""Pure functions of public numbers, one theorem family per file.

``concentration``, ``binomial``, ``paired`` and ``questions`` are intervals for one fixed question; ``code_length``
prices adaptivity by Theorem C′, ``compression`` by Theorem C, which older ledgers keep; ``baselines`` are what one
would do instead.
"""

from unworn.bounds.baselines import (
    best_rounding,
    log_transcripts,
    published_tolerance,
    rounding_width,
    splitting_exact,
    splitting_width,
)
from unworn.bounds.binomial import clopper_pearson
from unworn.bounds.concentration import chernoff_kl, hoeffding_width
from unworn.bounds.paired import discordance

__all__ = [
    "best_rounding",
    "chernoff_kl",
    "clopper_pearson",
    "discordance",
    "hoeffding_width",
    "log_transcripts",
    "published_tolerance",
    "rounding_width",
    "splitting_exact",
    "splitting_width",
]
