"""Plans: rows, asks, surprises and width determine each other; give all but one and get the last.

``plan_solver`` finds the one left out by the price of guess and check (``guess_price``), ``option_prices``,
``other_options`` and ``option_choice`` set every other mechanism and theorem beside it, ``curves`` follows them over
asks and rows for a figure. Theorems about noise are loaded when a plan is made, not when this package is.
"""

from unworn.plan.plan_solver import plan
from unworn.plan.result import Option, Plan

__all__ = ["Option", "Plan", "plan"]
