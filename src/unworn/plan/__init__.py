"""Plans: rows, asks, surprises and width determine each other; give all but one and get the last.

``solving`` finds the one left out by the price of guess and check (``guessed``), ``pricing``, ``others`` and
``choosing`` set every other mechanism and theorem beside it, ``curves`` follows them over asks and rows for a figure.
Theorems about noise are loaded when a plan is made, not when this package is.
"""

from unworn.plan.result import Option, Plan
from unworn.plan.solving import plan

__all__ = ["Option", "Plan", "plan"]
