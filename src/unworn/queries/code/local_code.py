"""Which code is the asker's own, and not an installed package's: also where it was put into one at run time."""

from __future__ import annotations

import abc
import functools
import operator
import sys
import types
from collections.abc import Sequence
from itertools import chain
from typing import Any

from unworn.queries.code.origins import is_installed

_WRAPPERS: dict[type, str] = {
    property: "fget",
    staticmethod: "__func__",
    classmethod: "__func__",
    types.MethodType: "__func__",
    functools.partial: "func",
    functools.partialmethod: "func",
    functools.cached_property: "func",
    type(functools.lru_cache(len)): "__wrapped__",
}
"""Where objects that stand for a function keep it."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), list, tuple, dict, set, frozenset)
_DATA = frozenset({*_PLAIN, types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType})
"""Types of attributes that are no code of anybody's."""
_LASTING = _DATA | {types.FunctionType, property, staticmethod, classmethod, types.BuiltinFunctionType}
"""Types of attributes that are the asker's code for as long as they live, or never."""
_UNTOUCHED: dict[type, tuple[tuple[Any, ...], list[tuple[type, str, Any]]]] = {}
"""Installed classes without code of the asker's: all that they held, and what of it has to be looked at each time."""


def virtual_subclasses(cls: type) -> list[str]:
    """The classes registered with an abstract one, on which ``isinstance`` depends, by their names."""
    registry = getattr(abc, "_get_dump", None)  # no public way leads there
    if registry is None or not isinstance(cls, abc.ABCMeta):
        return []
    found = (reference() for reference in registry(cls)[0])
    return sorted(f"{each.__module__}.{each.__qualname__}" for each in found if each is not None)


class Missing:
    """A global that does not exist, or a cell that is empty."""


class LocalCode:
    """For one look at some code: what is installed is found out once for each module."""

    def __init__(self) -> None:
        self._homes: dict[Any, bool] = {}

    def holds(self, thing: Any) -> bool:
        """Whether this is code of the asker's, or a wrapper around some."""
        kind = type(thing)
        while kind in _WRAPPERS:
            thing = getattr(thing, _WRAPPERS[kind])
            kind = type(thing)
        if kind is types.FunctionType:
            home = thing.__globals__.get("__name__")
            if "__wrapped__" in thing.__dict__ and self.holds(thing.__wrapped__):
                return True
        else:
            home = thing.__module__ if isinstance(thing, type) else kind.__module__
            if home != "__main__" and getattr(sys.modules.get(home), "__file__", None) is None:
                return False  # of no file: made by the interpreter, or by a compiler for extension modules
        if home not in self._homes:
            self._homes[home] = is_installed(home)
        return not self._homes[home]

    def attributes_of(self, cls: type) -> list[tuple[str, str, Any]]:
        """What the asker put into an installed class, or one it derives from: functions, classes, callable objects."""
        held = tuple(chain(cls.__mro__, *(vars(base).values() for base in cls.__mro__)))
        before, looked_at = _UNTOUCHED.get(cls, ((), []))
        is_known = len(before) == len(held) and all(map(operator.is_, before, held))
        if not is_known:
            every = ((base, name, value) for base in cls.__mro__ for name, value in vars(base).items())
            looked_at = [one for one in every if type(one[2]) not in _DATA]
        own = [(base.__qualname__, name, value) for base, name, value in looked_at if self.holds(value)]
        if not own and not is_known:
            _UNTOUCHED[cls] = held, [one for one in looked_at if type(one[2]) not in _LASTING]
        return own

    def member(self, value: Any, path: Sequence[str]) -> Any:
        """What a chain of names leads to: a member of a local module, or the asker's own member of an installed one."""
        for name in path:
            if not isinstance(value, types.ModuleType):
                break
            local = not is_installed(value.__name__)
            found = getattr(value, name, Missing) if local else vars(value).get(name, Missing)
            if not (local or isinstance(found, types.ModuleType) or (found is not Missing and self.holds(found))):
                break
            value = found
        return value
