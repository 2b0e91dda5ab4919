"""Transfer theorems: from what a mechanism hides of single rows to what its answers promise about the population.

``sharpened_transfer`` has the theorems of this package (D1, D1+, D2) with their proof, ``price`` the interval of an
answer, ``published_theorems`` and ``jung`` what others have proved, ``variants`` and ``counting_questions`` other kinds
of questions, and ``registry`` all of them under their names, each at its best noise.
"""

from unworn.bounds.transfer.counting_questions import (
    counting_epsilon,
    counting_rows,
    counting_width,
    counting_width_sharp,
)
from unworn.bounds.transfer.jung import jlnrss20, jlnrss20_gaussian, jlnrss20_profile
from unworn.bounds.transfer.price import Price, Stability, share_limits, stability
from unworn.bounds.transfer.published_theorems import (
    Chosen,
    bnsssu16,
    bnsssu16_tail,
    dfhprr15,
    dfhprr15_pure,
    expectation,
    rogers20,
    sharp_expectation,
    tanh_expectation,
)
from unworn.bounds.transfer.registry import THEOREMS, best_scale, most_asks, widths
from unworn.bounds.transfer.sharpened_transfer import (
    d1,
    d1_gap,
    d1_gdp,
    d1_plus,
    d1_plus_gap,
    d2,
    d2_gap,
    relative_above,
    relative_below,
)
from unworn.bounds.transfer.variants import (
    jlnrss20_minimisation,
    jlnrss20_sensitive,
    minimisation_width,
    sensitive_width,
)

__all__ = [
    "THEOREMS",
    "Chosen",
    "Price",
    "Stability",
    "best_scale",
    "bnsssu16",
    "bnsssu16_tail",
    "counting_epsilon",
    "counting_rows",
    "counting_width",
    "counting_width_sharp",
    "d1",
    "d1_gap",
    "d1_gdp",
    "d1_plus",
    "d1_plus_gap",
    "d2",
    "d2_gap",
    "dfhprr15",
    "dfhprr15_pure",
    "expectation",
    "jlnrss20",
    "jlnrss20_gaussian",
    "jlnrss20_minimisation",
    "jlnrss20_profile",
    "jlnrss20_sensitive",
    "minimisation_width",
    "most_asks",
    "relative_above",
    "relative_below",
    "rogers20",
    "sensitive_width",
    "share_limits",
    "sharp_expectation",
    "stability",
    "tanh_expectation",
    "widths",
]
