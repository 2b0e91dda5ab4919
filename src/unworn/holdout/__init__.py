"""Holdout: the shell around everything below."""

from unworn.holdout.holdout import Holdout
from unworn.holdout.meter import Meter, Quote

__all__ = ["Holdout", "Meter", "Quote"]
