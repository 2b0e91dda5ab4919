"""Which code is the asker's own, and not an installed package's: also where it was put into one at run time."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Sequence
from typing import Any

from unworn.queries.origins import is_installed

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
        found = []
        for base in cls.__mro__:
            for name, value in vars(base).items():
                kind = type(value)
                if kind in _DATA or (kind is types.FunctionType and not value.__dict__ and self._is_known(value)):
                    continue  # as most are: the rest is looked at more closely
                if self.holds(value):
                    found.append((base.__qualname__, name, value))
        return found

    def _is_known(self, function: types.FunctionType) -> bool:
        return self._homes.get(function.__globals__.get("__name__"), False)

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
