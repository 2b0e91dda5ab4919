"""What a piece of compiled Python does: a digest of its instructions, and the global names it looks up.

Neither depends on where the source stands: file names, line numbers and docstrings are left out, so that the same
definition run again in another cell of a notebook is the same code.
"""

from __future__ import annotations

import dis
import hashlib
import os
import weakref
from dataclasses import dataclass
from types import CodeType
from typing import Any


@dataclass(frozen=True)
class Bytecode:
    """One code object with those nested in it.

    ``chains`` are the globals it looks up, each with the attributes taken from it at once: ``helpers.scale.cut`` is
    ``("helpers", "scale", "cut")``. ``imports`` are the import statements inside: level, module, names. ``texts`` are
    the strings among its constants.
    """

    digest: str
    chains: tuple[tuple[str, ...], ...]
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    texts: tuple[str, ...]


_known: weakref.WeakKeyDictionary[CodeType, Bytecode] = weakref.WeakKeyDictionary()
"""Code objects never change, and equal ones do the same."""

_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_BETWEEN = {"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL", "RESUME"}


def read_bytecode(code: CodeType) -> Bytecode:
    """The digest of a code object, and what it refers to; found once.

    >>> first = compile("def f(x):\\n    return x + limit", "a.py", "exec").co_consts[0]
    >>> moved = compile("\\n\\n\\ndef f(x):\\n    'As before.'\\n    return x + limit", "b.py", "exec").co_consts[0]
    >>> read_bytecode(first).chains
    (('limit',),)
    >>> read_bytecode(first).digest == read_bytecode(moved).digest
    True
    """
    known = _known.get(code)
    if known is None:
        known = _known[code] = _read(code)
    return known


def _read(code: CodeType) -> Bytecode:
    chains: dict[tuple[str, ...], None] = {}
    imports: dict[tuple[int, str, tuple[str, ...]], None] = {}
    texts: dict[str, None] = {}
    used = _scan(code, chains, imports)
    parts: list[bytes] = []
    for place, constant in enumerate(code.co_consts):
        if place == 0 and isinstance(constant, str) and not used[0]:
            constant = None  # a docstring
        parts.append(_constant(constant, texts))
        if isinstance(constant, CodeType):
            inner = read_bytecode(constant)
            chains.update(dict.fromkeys(inner.chains))
            imports.update(dict.fromkeys(inner.imports))
            texts.update(dict.fromkeys(inner.texts))
    names = (code.co_name, code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_HAS_DOCSTRING)
    digest = hashlib.sha256()
    for part in (repr(names).encode("utf-8", "surrogatepass"), repr(counts).encode(), code.co_code):
        _add(digest, part)
    _add(digest, getattr(code, "co_exceptiontable", b""))
    for part in parts:
        _add(digest, part)
    return Bytecode(digest.hexdigest(), tuple(sorted(chains)), tuple(sorted(imports)), tuple(sorted(texts)))


_HAS_DOCSTRING = 0x4000000
"""A flag from Python 3.13 on."""


def _add(digest: Any, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "little") + part)


def _scan(
    code: CodeType, chains: dict[tuple[str, ...], None], imports: dict[tuple[int, str, tuple[str, ...]], None]
) -> list[bool]:
    """Find what is looked up; returns which constants are loaded."""
    used = [False] * max(len(code.co_consts), 1)
    chain: list[str] = []
    before: list[Any] = [None, None]  # the last constants loaded: an import takes its level and names from there

    def end() -> None:
        if chain:
            chains[tuple(chain)] = None
            chain.clear()

    for step in dis.get_instructions(code):
        name = step.opname
        if name in _BETWEEN:
            continue
        if name in _GLOBAL:
            end()
            chain.append(str(step.argval))
            continue
        if name in _ATTRIBUTE and chain:
            chain.append(str(step.argval))
            continue
        end()
        if step.opcode in dis.hasconst or name in ("LOAD_SMALL_INT", "RETURN_CONST"):
            if step.opcode in dis.hasconst and step.arg is not None:
                used[step.arg] = True
            before = [before[1], step.argval]
        elif name == "IMPORT_NAME":
            level, names = before
            wanted = names if isinstance(names, tuple) else ()
            imports[level if isinstance(level, int) else 0, str(step.argval), wanted] = None
    end()
    return used


def _constant(value: Any, texts: dict[str, None]) -> bytes:
    """One text for each constant: sets in an order that does not change from process to process."""
    if isinstance(value, CodeType):
        return b"code " + read_bytecode(value).digest.encode()
    if isinstance(value, str):
        texts[value] = None
    if isinstance(value, bytes):
        texts[os.fsdecode(value)] = None  # it may name a file, too
    if isinstance(value, tuple):
        return b"tuple " + b"".join(_framed(_constant(item, texts)) for item in value)
    if isinstance(value, frozenset):
        return b"set " + b"".join(sorted(_framed(_constant(item, texts)) for item in value))
    if isinstance(value, slice):
        return b"slice " + _constant((value.start, value.stop, value.step), texts)
    return f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little") + part
