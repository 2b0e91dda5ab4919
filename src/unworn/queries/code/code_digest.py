"""What a model or function is known by: a digest of its pickle *and* of the code that would run.

A pickle names classes and functions and leaves out what they do, so that an edited ``predict`` would get the answer of
the old one. Here the pickle of an object goes on where a name would stand: through functions (instructions, constants,
defaults, closures, and the globals they look up), classes (bases and all attributes) and modules, wherever they do not
come from an installed distribution; those are known by name and version. A text that names a file stands for the
file's content.

Different digests mean no more than that something differs. Equal ones mean that the same would run, except for what
cannot be seen from here: environment variables, services, files whose names are computed, state hidden in extension
modules, installed packages that were edited in place.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import io
import logging
import pickle
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast

from unworn.errors import Unaskable
from unworn.queries.code.bytecode import read_bytecode
from unworn.queries.code.local_code import LocalCode, Missing, virtual_subclasses
from unworn.queries.code.origins import Files, imported_module, is_installed, version_of
from unworn.queries.code.persistent_words import make_persistent_id


def digest_code(thing: Any, what: str = "model", kind: str | None = None) -> str:
    """The digest of an object with all its code.

    >>> one, same, other = lambda x: x > 1, lambda x:   x > 1, lambda x: x > 2
    >>> digest_code(one) == digest_code(same), digest_code(one) == digest_code(other)
    (True, False)
    """
    sink = _Hashing()
    pickler = _CodePickler(sink)
    try:
        pickler.dump(thing)
        pickler.dump_rest()
    except Unaskable:
        raise
    except Exception as error:
        raise Unaskable(
            f"{kind or type(thing).__name__} has no fingerprint: {pickler.place}cannot be pickled "
            f"({type(error).__name__}: {error!s:.200}).\n"
            f"  Give it name=, a name that changes whenever the {what} does."
        ) from None
    return sink.sha256.hexdigest()


class _Hashing:
    """A file that only hashes, so that a large model is fingerprinted without a second copy in memory."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return memoryview(data).nbytes  # large arrays come as buffers, which have no length


def _walked(*parts: Any) -> None:
    """Stands in the pickle before what was walked through; nobody ever calls it."""


_Parts = tuple[Callable[..., None], tuple[Any, ...], Any]


def _parts(kind: str, *parts: Any) -> _Parts:
    """How a pickle holds an object that was walked through: the parts come last, so that they may refer to it."""
    return _walked, (kind,), parts


_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.local)
_WEAK = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
_BY_NAME = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
_UNREAD = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__doc__",
        "__module__",
        "__qualname__",
        "__firstlineno__",
        "__static_attributes__",
        "_abc_impl",
        "__annotations__",
        "__annotate__",
        "__annotate_func__",
        "__annotations_cache__",
        "__orig_bases__",
        "__parameters__",
        "__type_params__",
    }
)
"""Of a class: what says nothing about what it does, or is read otherwise."""
_OF_AN_ALIAS = ("__origin__", "__args__", "__metadata__")
"""Where ``list[Rule]`` and ``Annotated[int, rule]`` keep classes and functions: their text has no more than names."""
_ROWS = ("unworn.holdout.", "unworn.rows.")


class _CodePickler(pickle.Pickler):
    def __init__(self, sink: _Hashing) -> None:
        self._files = Files()
        # Before the rest, which looks for it once; and no method, because it is called for every object there is.
        self.persistent_id = make_persistent_id(self._files)  # type: ignore[method-assign]
        super().__init__(cast(Any, sink), protocol=5)
        self.place = "it "
        self._types: dict[type, None] = {}
        self._ordinary: set[type] = set()  # classes whose instances are pickled as always
        self._versions: set[str] = set()
        self._local = LocalCode()

    def dump_rest(self) -> None:
        """The classes of instances that were pickled without naming them, and versions of what is installed."""
        done = 0
        while done < len(self._types):
            kinds, done = list(self._types)[done:], len(self._types)
            self.dump(kinds)
        self.dump(sorted(self._versions))

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind in self._ordinary or obj is _walked or obj is Missing:
            return NotImplemented
        if isinstance(obj, type):
            return self._class(obj)
        if kind is types.FunctionType:
            return self._function(obj)
        if kind in _READERS:
            return _READERS[kind](self, obj)
        if isinstance(obj, types.ModuleType):
            return self._module(obj)
        if kind.__module__ == "typing" or kind in (types.GenericAlias, types.UnionType):
            return _parts("type", _text(obj), *(getattr(obj, name, None) for name in _OF_AN_ALIAS))
        if kind.__module__.startswith("numba.") and hasattr(obj, "py_func"):
            return _parts("numba", obj.py_func, dict(getattr(obj, "targetoptions", {})))
        if hasattr(kind, "get_n_calls") and kind.__module__.startswith("sklearn.neighbors."):
            state = obj.__getstate__()  # without its counters, which every look at rows moves on
            return _parts("tree", kind, *state[:7], *state[11:])
        if isinstance(obj, PurePath):
            return _parts("path", str(obj))
        if isinstance(obj, logging.Logger):
            return _parts("logger", obj.name)
        if isinstance(obj, (*_LOCKS, *_WEAK)) or kind.__module__.startswith(_ROWS) or _is_stream(obj):
            return _parts("token", kind.__qualname__)
        if not is_installed(kind.__module__):
            self._types[kind] = None
        self._ordinary.add(kind)
        return NotImplemented

    # ------------------------------------------------------------------ what is walked through

    def _class(self, cls: type) -> Any:
        if is_installed(cls.__module__) and _is_importable(cls):
            self._versions.add(version_of(cls.__module__))
            patches = self._local.attributes_of(cls)
            return _parts("patched", cls.__module__, cls.__qualname__, patches) if patches else NotImplemented
        self.place = f"what {cls.__qualname__} refers to "
        attributes = sorted((name, value) for name, value in vars(cls).items() if name not in _UNREAD)
        meta = None if type(cls) is type else type(cls)
        return _parts(
            "class", cls.__name__, meta, cls.__bases__, _annotations(cls), virtual_subclasses(cls), *attributes
        )

    def _function(self, function: types.FunctionType) -> Any:
        module = function.__module__
        if is_installed(module) and _is_importable(function):
            self._versions.add(version_of(module))
            return NotImplemented
        self.place = f"what {function.__qualname__} refers to "
        code = read_bytecode(function.__code__)
        cells = [_content(cell) for cell in function.__closure__ or ()]
        home = function.__globals__.get("__name__")
        if is_installed(home):  # made by an installed package: its own globals come with its version
            self._versions.add(version_of(str(home)))
            found: list[Any] = []
        else:
            found = self._globals_of(function, code.chains)
            found += [("import", *statement, self._imported(function, *statement)) for statement in code.imports]
        texts = [text for text in code.texts if self._files.digest(text) is not None]
        return _parts(
            "function", code.digest, function.__defaults__, function.__kwdefaults__, cells, found, texts, vars(function)
        )

    def _module(self, module: types.ModuleType) -> Any:
        name = module.__name__
        if is_installed(name):
            self._versions.add(version_of(name))
            return _parts("module", name)
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and not path.endswith((".py", ".pyc")):
            return _parts("extension", path)
        self.place = f"what the module {name} refers to "
        return _parts("module", name, *sorted(item for item in vars(module).items() if not item[0].startswith("__")))

    def _globals_of(self, function: types.FunctionType, chains: tuple[tuple[str, ...], ...]) -> list[Any]:
        """What the global names stand for now. Of a local module only the member that is looked up."""
        found: list[Any] = []
        for first, *rest in chains:
            if first in function.__globals__:
                found.append((".".join((first, *rest)), self._local.member(function.__globals__[first], rest)))
            else:
                builtin = _builtin_of(function, first)
                if builtin is Missing or self._local.holds(builtin):
                    found.append((first, builtin))
        return found

    def _imported(self, function: types.FunctionType, level: int, name: str, names: tuple[str, ...]) -> Any:
        module = imported_module(name, level, function.__globals__.get("__package__"))
        if module is None:  # installed, or not there: still, members may have been put into it
            there = vars(sys.modules[name]) if not level and name in sys.modules else {}
            return [there[each] for each in names if each in there and self._local.holds(there[each])] or None
        members = [self._local.member(module, [each]) for each in names if each != "*"]
        return members if members and "*" not in names else module

    def _builtin(self, function: Any) -> Any:
        home = sys.modules.get(getattr(function, "__module__", None) or "")
        if home is None or is_installed(home.__name__):
            return NotImplemented
        return _parts("builtin", function.__name__, home)


_READERS: dict[type, Callable[[_CodePickler, Any], Any]] = {
    types.MethodType: lambda _, method: _parts("method", method.__func__, method.__self__),
    types.BuiltinFunctionType: _CodePickler._builtin,
    types.CodeType: lambda _, code: _parts("code", read_bytecode(code).digest),
    types.CellType: lambda _, cell: _parts("cell", _content(cell)),
    types.MappingProxyType: lambda _, proxy: _parts("mapping", dict(proxy)),
    property: lambda _, it: _parts("property", it.fget, it.fset, it.fdel),
    staticmethod: lambda _, it: _parts("static", it.__func__),
    classmethod: lambda _, it: _parts("classmethod", it.__func__),
    functools.cached_property: lambda _, it: _parts("cached", it.func, it.attrname),
    functools.partialmethod: lambda _, it: _parts("partialmethod", it.func, it.args, it.keywords),
    type(functools.lru_cache(len)): lambda _, it: _parts("lru", it.__wrapped__, it.cache_parameters()),
    dataclasses.Field: lambda _, it: _parts(
        "field", it.name, _text(it.type), it.default, it.default_factory, it.init, it.compare, it.metadata, it.kw_only
    ),
    weakref.ref: lambda _, it: _parts("weak", it()),
    **dict.fromkeys(_BY_NAME, lambda _, it: _parts("by name", it.__name__, it.__objclass__.__name__)),
}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return Missing


def _text(annotation: Any) -> str:
    """An annotation in words, without addresses in memory."""
    return annotation if isinstance(annotation, str) else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(annotation))


def _annotations(cls: type) -> list[tuple[str, str]]:
    """Some libraries make code of them."""
    try:
        return sorted((name, _text(value)) for name, value in cls.__annotations__.items())
    except Exception:  # they name what does not exist
        return []


def _is_stream(thing: Any) -> bool:
    return isinstance(thing, io.IOBase) and thing in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)


def _is_importable(thing: Any) -> bool:
    """Whether its name leads to it."""
    found: Any = sys.modules.get(thing.__module__)
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is thing


def _builtin_of(function: types.FunctionType, name: str) -> Any:
    known = function.__globals__.get("__builtins__", {})
    return (known if isinstance(known, Mapping) else vars(known)).get(name, Missing)
