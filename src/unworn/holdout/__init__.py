"""Holdout: the shell around everything below."""

from unworn.holdout.holdout import Holdout

__all__ = ["Holdout"]
