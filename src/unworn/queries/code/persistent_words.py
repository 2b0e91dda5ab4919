"""What stands in the pickle of a model for texts, sets and dtypes: words that are the same in every process."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from unworn.queries.code.origins import LONGEST_PATH, Files

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def make_persistent_id(files: Files) -> Callable[[Any], str | None]:
    """What is told of an object instead of pickling it; None of most."""
    texts: dict[str, str] = {}
    sets: dict[int, Any] = {}
    untold: set[type] = {tuple, dict, list, int, float}  # types of what is pickled as always

    def persistent_id(obj: Any) -> str | None:
        kind = type(obj)
        if kind in untold:
            return None
        if kind is str:
            told = texts.get(obj)
            if told is None:
                told = texts[obj] = _told_text(obj, files)
            return told
        if kind is bytes:
            digest = files.digest(os.fsdecode(obj)) if len(obj) <= LONGEST_PATH else None
            return None if digest is None else f"file {obj!r} {digest}"
        if kind is set or kind is frozenset:
            return _told_set(obj, sets)
        if issubclass(kind, np.dtype):
            return _told_dtype(obj)
        untold.add(kind)
        return None

    return persistent_id


def _told_text(text: str, files: Files) -> str:
    """What it says, or the file that it names: a pickle tells one text met twice from two that are equal."""
    digest = files.digest(text)
    return f"text {text}" if digest is None else f"file {text!r} {digest}"


def _told_set(items: Any, sets: dict[int, Any]) -> str | None:
    """In an order of their own: that of a set of texts changes from process to process."""
    if not all(map(_is_plain, items)):
        return None
    number, _ = sets.setdefault(id(items), (len(sets), items))  # kept, so that no other comes to have its id
    told = sorted(f"{type(item).__name__} {item!r}" for item in items)
    return f"{type(items).__name__} {number} {told!r}"


def _told_dtype(dtype: Any) -> str | None:
    if dtype.metadata is not None or dtype.kind == "T" or type(dtype).__module__ != "numpy.dtypes":
        return None
    return _dtype_text(dtype, dtype.isalignedstruct)


@functools.lru_cache(maxsize=256)
def _dtype_text(dtype: Any, aligned: bool) -> str:
    return repr(dtype)


def _is_plain(item: Any) -> bool:
    """Whether its text says all about it, in every process the same."""
    return type(item) in _PLAIN or (type(item) is tuple and all(map(_is_plain, item)))
