"""Pure functions of public numbers, one theorem family a file.

``concentration``, ``binomial`` and ``paired`` are intervals for one fixed question; ``compression`` prices
adaptivity by code length; ``baselines`` are what one would do instead.
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
from unworn.bounds.compression import code_length, level, offset_nats, position_nats
from unworn.bounds.concentration import chernoff_kl, hoeffding_width
from unworn.bounds.paired import discordance

__all__ = [
    "best_rounding",
    "chernoff_kl",
    "clopper_pearson",
    "code_length",
    "discordance",
    "hoeffding_width",
    "level",
    "log_transcripts",
    "offset_nats",
    "position_nats",
    "published_tolerance",
    "rounding_width",
    "splitting_exact",
    "splitting_width",
]
