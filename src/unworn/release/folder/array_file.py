"""The numbers of a release in a file, read back with care: a folder may come from anybody.

What the file must hold follows from the terms: which arrays, of which type and shape. Whatever is not exactly that is
refused before it is unpacked, so that a small file cannot fill the memory, and nothing is ever unpickled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from io import BytesIO
from itertools import pairwise
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Tampered, UnwornError
from unworn.release.folder.packing import Arrays
from unworn.release.problem import Problem
from unworn.universe.model.model import Axes

CELLS = 2**26
"""Cells a distribution that is kept one by one has at most, and so the largest ``limit`` of one in factors."""
BYTES = 2**31
"""What all arrays together may take."""
_HEADER = 4096
"""More than the header of any array file takes."""

Expected = dict[str, tuple[str, tuple[int, ...]]]
"""For each array its type and shape."""


def expected_arrays(problem: Problem, structure: Mapping[str, Any]) -> Expected:
    """Which arrays a release of this problem with this structure has; ``Tampered`` where it could have none."""
    try:
        found = _model(problem, structure["model"])
        for place, block in enumerate(problem.blocks):
            found |= {f"errors_{place}": ("<f8", (block.size,))}
            found |= {f"answers_{place}": ("<f8", (block.size,))} if structure["answers"] is True else {}
        for place, each in enumerate(_list(structure["measured"])):
            found[f"measured_{place}"] = ("<i8", _shape(problem, each["axes"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Tampered(f"the folder's release.json is not that of a release ({type(error).__name__})") from None
    size = sum(8 * math.prod(shape) for _, shape in found.values())
    if size > BYTES:
        raise Tampered(f"the arrays of this release would take {size:,} bytes, and {BYTES:,} is the most there can be")
    return found


def _model(problem: Problem, told: Any) -> Expected:
    if told is None:
        return {}
    if told["kind"] == "explicit":
        if problem.cells > CELLS:
            raise ValueError("no distribution of so many cells is kept one by one")
        return {"model": ("<f8", problem.domain.shape)}
    if told["kind"] != "factored" or not _whole(told["limit"]) or not 1 <= told["limit"] <= CELLS:
        raise ValueError("no such distribution")
    return {f"factor_{place}": ("<f8", _shape(problem, axes)) for place, axes in enumerate(_list(told["axes"]))}


def _shape(problem: Problem, axes: Any) -> tuple[int, ...]:
    columns = problem.domain.shape
    given: Axes = tuple(_list(axes))
    rising = all(low < high for low, high in pairwise(given))
    if not all(map(_whole, given)) or not rising or (given and not 0 <= given[0] <= given[-1] < len(columns)):
        raise ValueError("no such columns")
    return tuple(columns[axis] for axis in given)


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise TypeError("a list is needed here")
    return given


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """All arrays in one compressed file, as NumPy writes it."""
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_arrays(path: str | os.PathLike[str], wanted: Expected) -> Arrays:
    """The arrays of a file that has these and no others; ``Tampered`` for any other file."""
    try:
        with ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if len(members) != len(archive.infolist()) or set(members) != {f"{name}.npy" for name in wanted}:
                raise Tampered("arrays.npz has other arrays than this release")
            found: Arrays = {}
            for name, (kind, shape) in wanted.items():
                member = members[f"{name}.npy"]
                if member.file_size > 8 * math.prod(shape) + _HEADER:
                    raise Tampered(f"the array {name} in arrays.npz is larger than it can be")
                found[name] = _array(archive.read(member), name, kind, shape)
            return found
    except UnwornError:
        raise
    except Exception as error:  # whatever a broken file makes its readers say
        raise Tampered(f"arrays.npz cannot be read ({type(error).__name__})") from None


def _array(content: bytes, name: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """One array: its header is read first, and has to say what is wanted."""
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise Tampered(f"the array {name} in arrays.npz has a format that is not known here")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    got, _, dtype = read(stream)
    if got != shape or dtype.str != kind:
        raise Tampered(f"the array {name} in arrays.npz is {dtype} of {got}, and this release has {kind} of {shape}")
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
