"""Frozen dataclasses that are made as quickly as others.

The constructor of a frozen dataclass sets each field through ``object.__setattr__``, by its name: six times as slow as
an assignment. One ask makes a dozen such values, with a hundred fields between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import update_wrapper
from typing import Any, TypeVar

T = TypeVar("T")


def assign_fields(kind: type[T]) -> type[T]:
    """Give a frozen dataclass a constructor that assigns its fields.

    While it does, the new object is of a twin class with the same fields that is not frozen; nobody else has seen the
    object yet. Whatever inherits from the class has the constructor that it would have had. Not for classes with
    ``__post_init__``, factories of defaults, or fields that are no arguments.

    >>> from dataclasses import dataclass
    >>> @assign_fields
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0)
    Point(x=1.0, y=0.0)
    >>> Point(1.0).x = 2.0
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """
    own = fields(kind)  # type: ignore[arg-type]
    if hasattr(kind, "__post_init__") or not all(_is_plain(field) for field in own):
        raise TypeError(f"{kind.__name__} does more than keep what it is given")
    slots = {"__slots__": vars(kind)["__slots__"]} if "__slots__" in vars(kind) else {}
    names = [field.name for field in own]
    arguments = [f.name if f.default is MISSING else f"{f.name}=_default_{f.name}" for f in own]
    lines = [
        f"def __init__(self, {', '.join(arguments)}):",
        f"if type(self) is not _kind: return _plain(self, {', '.join(names)})",
        "_set(self, '__class__', _twin)",
        *[f"self.{name} = {name}" for name in names],
        "self.__class__ = _kind",
    ]
    known: dict[str, Any] = {f"_default_{field.name}": field.default for field in own}
    known |= {"_kind": kind, "_twin": type(kind.__name__, kind.__bases__, slots | {"__setattr__": object.__setattr__})}
    known |= {"_plain": kind.__init__, "_set": object.__setattr__}
    exec("\n    ".join(lines), known)  # as dataclasses are made: no loop over names is as quick as their own lines
    quick: Callable[..., None] = known["__init__"]
    kind.__init__ = update_wrapper(quick, kind.__init__)  # type: ignore[method-assign]
    return kind


def _is_plain(field: Field[Any]) -> bool:
    return field.init and not field.kw_only and field.default_factory is MISSING
