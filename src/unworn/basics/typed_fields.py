"""Dataclasses from JSON that somebody else wrote: each field of its declared type, and of a size that can be.

A number that is a text, a list of the wrong length or a whole number of four hundred digits is refused here, so that
what calculates later may trust what it is given. The declarations are the ones in the class: nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, lru_cache
from operator import call
from typing import Any, TypeVar, cast

LARGEST = 2**63
"""What no whole number exceeds: numbers of rows, asks and entries are far below."""
_T = TypeVar("_T")
Check = Callable[[Any], bool]


def read_fields(kind: type[_T], told: Mapping[str, Any]) -> _T:
    """An object of a class from its fields by name; ``ValueError`` for another field, or one of another type.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Span:
    ...     low: float
    ...     high: float | None = None
    >>> read_fields(Span, {"low": 1})
    Span(low=1, high=None)
    >>> read_fields(Span, {"low": "1"})
    Traceback (most recent call last):
    ValueError: low of Span is not of type float
    """
    known = _checks(cast("Any", kind))
    given = dict(told)
    for name, value in told.items():
        if name not in known:
            raise ValueError(f"{kind.__name__} has no field {name!r:.40}")
        at_once, check, of_list, words = known[name]
        found = type(value)
        if found in at_once and (found is not float or value - value == 0) and (found is not int or is_whole(value)):
            continue
        if not check(value):
            raise ValueError(f"{name} of {kind.__name__} is not of type {words}")
        if of_list and type(value) is list:
            given[name] = tuple(value)
    if not given.keys() >= _required(cast("Any", kind)):
        lacking = next(name for name in known if name in _required(cast("Any", kind)) - given.keys())
        raise ValueError(f"{kind.__name__} lacks the field {lacking}")
    return kind(**given)


def read_listed(kind: type[_T], told: Any) -> _T:
    """The same from a list of the first so many fields, in their order: a ledger has five million such lists.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Ends:
    ...     low: float
    ...     high: float | None = None
    >>> read_listed(Ends, [1, 2.5])
    Ends(low=1, high=2.5)
    """
    if not isinstance(told, (list, tuple)):
        raise _no_list(kind)
    wholes, reals, others = _open_places(kind, tuple(map(type, told)))  # type: ignore[arg-type]
    for place in reals:
        if told[place] - told[place] != 0:
            raise _wrong(kind, place)
    for place in wholes:
        if not -LARGEST <= told[place] <= LARGEST:
            raise _wrong(kind, place)
    if others:
        told = list(told)
        for place, check, is_list in others:
            if not check(told[place]):
                raise _wrong(kind, place)
            if is_list:
                told[place] = tuple(told[place])
    return kind(*told)


@lru_cache(maxsize=4096)
def _open_places(kind: type, found: tuple[type, ...]) -> tuple[list[int], list[int], list[tuple[int, Check, bool]]]:
    """What is left to check once values are known to be of these types: whole numbers, which may be too long, and
    others, which may be wild; and what has parts or does not fit, each with its check, and whether it is a list that
    stands for a tuple."""
    checks = _ordered(kind)
    if len(found) > len(checks):
        raise _no_list(kind)
    if len(found) < len(_required(kind)):
        raise ValueError(f"{kind.__name__} lacks the field {field_names(kind)[len(found)]}")
    wholes: list[int] = []
    reals: list[int] = []
    others: list[tuple[int, Check, bool]] = []
    for place, (given, (at_once, check, of_list, _)) in enumerate(zip(found, checks, strict=False)):
        if given not in at_once:
            if of_list or check is not _any:
                others.append((place, check, of_list and given is list))
        elif given is int:
            wholes.append(place)
        elif given is float:
            reals.append(place)
    return wholes, reals, others


def _no_list(kind: type) -> ValueError:
    return ValueError(f"a {kind.__name__} is a list of at most {len(_ordered(kind))}")


def _wrong(kind: type, place: int) -> ValueError:
    return ValueError(f"{field_names(kind)[place]} of {kind.__name__} is not of type {_ordered(kind)[place][3]}")


def is_whole(value: Any, least: int = -LARGEST, most: int = LARGEST) -> bool:
    """Whether this is a whole number within these ends, and no truth value."""
    return type(value) is int and least <= value <= most


def is_number(value: Any) -> bool:
    """Whether this is a finite number, and no truth value."""
    return (type(value) is float and value - value == 0) or is_whole(value)


def is_text(value: Any) -> bool:
    return type(value) is str


def is_symbol(value: Any) -> bool:
    """Whether this can be what an answer tells of the rows: a number, a word, or a few numbers."""
    if isinstance(value, list):
        return len(value) <= 16 and all(map(is_number, value))
    return is_number(value) or (is_text(value) and len(value) <= 100)


_SIMPLE: dict[str, Check] = {
    "None": lambda value: value is None,
    "bool": lambda value: type(value) is bool,
    "int": is_whole,
    "float": is_number,
    "str": is_text,
    "Kind": is_text,
    "Symbol": is_symbol,
}
_PLAIN: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "Kind": (str,),
    "Symbol": (int, float),
    "dict[str, Any]": (dict,),
}
_TUPLE = re.compile(r"tuple\[([a-z, ]+)\]")


@cache
def _checks(kind: type) -> dict[str, tuple[frozenset[type], Check, bool, str]]:
    """Of each field: the types whose values fit, but for wild numbers; whether another value fits; whether a list
    stands for a tuple there; and the type in words."""
    declared = {field.name: str(field.type) for field in fields(kind) if field.init}
    return {name: (_at_once(words), _check(words), "tuple[" in words, words) for name, words in declared.items()}


@cache
def _ordered(kind: type) -> list[tuple[frozenset[type], Check, bool, str]]:
    return list(_checks(kind).values())


def field_names(kind: type) -> list[str]:
    """The names of a class's fields, in their order."""
    return list(_checks(kind))


@cache
def _required(kind: type) -> frozenset[str]:
    declared = (field for field in fields(kind) if field.init)
    return frozenset(f.name for f in declared if f.default is MISSING and f.default_factory is MISSING)


def _at_once(words: str) -> frozenset[type]:
    return frozenset(kind for part in words.split(" | ") for kind in _PLAIN.get(part, ()))


def _check(words: str) -> Check:
    """The check of a declared type; whatever is not one of a few simple ones is left to the class."""
    checks = [_alternative(part) for part in words.split(" | ")]
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2 and checks[1] is _SIMPLE["None"]:
        first = checks[0]
        return _any if first is _any else lambda value: value is None or first(value)
    return lambda value: any(check(value) for check in checks)


def _alternative(words: str) -> Check:
    if words in _SIMPLE:
        return _SIMPLE[words]
    if words.startswith("Literal["):
        return is_text
    if found := _TUPLE.fullmatch(words):
        parts = [_SIMPLE[part] for part in found[1].split(", ")]
        return lambda value: (
            isinstance(value, (list, tuple)) and len(value) == len(parts) and all(map(call, parts, value))
        )
    if words.startswith(("dict[", "Mapping[")):
        return lambda value: isinstance(value, Mapping)
    return _any


def _any(value: Any) -> bool:
    """Of a type that checks itself what it is given."""
    return True
