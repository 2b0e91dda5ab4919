"""Offers with other numbers than a mechanism gave them, to see that it makes a difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unworn.mechanisms import Offer


def with_numbers(offer: Offer, **numbers: Any) -> Offer:
    """The same offer with other numbers in its payload."""
    return replace(offer, payload=replace(offer.payload, **numbers))  # type: ignore[type-var]


def number_in(offer: Offer, name: str) -> Any:
    """A number of its payload; none where that has no such number."""
    return getattr(offer.payload, name, None)
