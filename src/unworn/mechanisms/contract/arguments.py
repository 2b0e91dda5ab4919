"""What a mechanism may be made of: checked once for all of them, before a parameter meets any arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from numbers import Integral, Real
from typing import Any

from unworn.basics.display import show_value

MOST = 10**15
"""More rows, asks or parts than there can be; up to here a float tells every count from the next."""


def check_parameters(mechanism: Any) -> None:
    """Refuse a parameter that is not of its declared type: ``ValueError`` with its name."""
    for field in fields(mechanism):
        value, words = getattr(mechanism, field.name), str(field.type).split(" | ")
        if value is None and "None" in words:
            continue
        if words[0] == "bool" and not isinstance(value, bool):
            raise _wrong(mechanism, field.name, "True or False", value)
        if words[0] == "int" and (isinstance(value, bool) or not isinstance(value, Integral) or abs(int(value)) > MOST):
            raise _wrong(mechanism, field.name, f"a whole number of at most {MOST:.0e}", value)
        if words[0] == "float" and not _is_usable(value):
            raise _wrong(mechanism, field.name, _USABLE, value)
        if words[0].startswith(("str", "Literal")) and not isinstance(value, str):
            raise _wrong(mechanism, field.name, "a word", value)
        if words[0].startswith("tuple[float"):
            count = words[0].count("float")
            if not isinstance(value, tuple | list) or len(value) != count or not all(map(_is_usable, value)):
                raise _wrong(mechanism, field.name, f"{count} times {_USABLE}", value)


def checked_parameters(own: Callable[[Any], None]) -> Callable[[Any], None]:
    """A mechanism's own check, which says best what is wrong; what it does not expect is found by the types."""

    def check(mechanism: Any) -> None:
        if any(getattr(getattr(mechanism, field.name), "ndim", 0) for field in fields(mechanism)):
            check_parameters(mechanism)  # an array is neither true nor false
        try:
            own(mechanism)
        except (TypeError, ArithmeticError, AttributeError, LookupError) as why:
            check_parameters(mechanism)
            name = type(mechanism).__name__
            raise ValueError(f"{name} cannot be made of these parameters ({type(why).__name__})") from None
        check_parameters(mechanism)

    return check


def checked_goal(choose: Callable[..., Any]) -> Callable[..., Any]:
    """A mechanism's ``for_``, whose goal is checked first."""

    @wraps(choose)
    def choose_for(cls: Any, *, rows: Any, asks: Any, width: Any = None, confidence: Any = 0.95, **more: Any) -> Any:
        for name, value in (("rows", rows), ("asks", asks)):
            if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MOST:
                raise ValueError(f"{name} is a whole number from 1 to {MOST:.0e}, not {show_value(value)}")
        if width is not None and not (_is_finite(width) and width > 0):
            raise ValueError(f"width is a finite half-width above 0, not {show_value(width)}")
        if not (_is_finite(confidence) and 0 < confidence < 1):
            raise ValueError(f"confidence is a number between 0 and 1, such as 0.95, not {show_value(confidence)}")
        width = None if width is None else float(width)
        return choose(cls, rows=int(rows), asks=int(asks), width=width, confidence=float(confidence), **more)

    return choose_for


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _is_usable(value: Any) -> bool:
    """Whether a parameter can be calculated with: squares and quotients of smaller ones are 0 or no numbers."""
    return _is_finite(value) and (value == 0 or _LEAST <= abs(value) <= 1 / _LEAST)


_LEAST = 1e-100
_USABLE = f"a finite number (0, or between {_LEAST:g} and {1 / _LEAST:g} in size)"


def _wrong(mechanism: Any, name: str, wanted: str, value: Any) -> ValueError:
    return ValueError(f"{name} of {type(mechanism).__name__} is {wanted}, not {show_value(value)}")
