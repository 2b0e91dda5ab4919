"""Where code and files come from: installed packages are known by their versions, everything else by what is in it."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import sysconfig
import time
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec, resolve_name
from types import ModuleType
from typing import Any

from unworn.errors import Unaskable

LARGEST_FILE = 4 * 2**30
"""Bytes of a file that a model names and that is read for its digest. With a larger one a model needs a name."""
LONGEST_PATH = 1_024
"""Characters of a text that may name a file."""
_SETTLED = 2.0
"""Seconds after which a file that changes also changes its time stamps, however coarse they are."""


@cache
def _roots() -> tuple[str, ...]:
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    return tuple(os.path.realpath(place) + os.sep for place in places if place)


@cache
def _is_installed_file(path: str) -> bool:
    real = os.path.realpath(path)
    parts = real.split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts or real.startswith(_roots())


def is_installed(module: str | None) -> bool:
    """Whether a module belongs to the standard library or an installed distribution, and so is known by a version.

    Not so a notebook, a script, a module beside it, or a package installed in editable form: their code changes while
    their names and versions stay.

    >>> is_installed("numpy.linalg"), is_installed("json"), is_installed("__main__")
    (True, True, False)
    """
    if not isinstance(module, str) or module == "__main__":
        return False
    if module.partition(".")[0] in _OURS or module in sys.builtin_module_names:
        return True
    found = sys.modules.get(module)
    path = getattr(found, "__file__", None)
    if isinstance(path, str):
        return _is_installed_file(path)
    origin = getattr(getattr(found, "__spec__", None), "origin", None)
    if origin in ("built-in", "frozen"):
        return True
    top = module.partition(".")[0]  # a namespace, or made without a file by a package that is installed
    return top != module and is_installed(top)


_OURS = frozenset({"unworn"})


def version_of(module: str) -> str:
    """The top-level package of an installed module, with its version."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return f"{top} of Python {sys.version_info[0]}.{sys.version_info[1]}"
    return f"{top} {_version(top, getattr(sys.modules.get(top), '__version__', None))}"


@cache
def _version(top: str, said: Any) -> str:
    if isinstance(said, str):
        return said
    try:
        return metadata.version(top)
    except Exception:  # a package called otherwise than its distribution, and silent about its version
        return "of no known version"


def imported_module(name: str, level: int, package: Any) -> ModuleType | None:
    """The local module that an import statement inside a function names: what running the function would import."""
    try:
        full = resolve_name("." * level + name, package if isinstance(package, str) else None) if level else name
        if full not in sys.modules:
            found = find_spec(full)
            if found is None or found.origin is None or _is_installed_file(found.origin):
                return None
        return None if is_installed(full) else import_module(full)
    except Exception:  # it will fail in the same way when the function runs
        return None


class Files:
    """The regular files that texts name, by the digests of their contents."""

    def __init__(self) -> None:
        self.here = _names_here()
        """What lies in the working directory: asked once, instead of once for every word a model knows."""

    def digest(self, text: str) -> str | None:
        """The digest of the file of this name, or None where it names none."""
        if "/" not in text and os.sep not in text and text not in self.here:
            return None  # as of nearly all words
        if not text or len(text) > LONGEST_PATH or "\0" in text or "\n" in text:
            return None
        try:
            found = os.stat(text)
        except (OSError, ValueError):
            return None
        return file_digest(text, found) if stat.S_ISREG(found.st_mode) else None


_listed: tuple[tuple[int, ...], frozenset[str]] | None = None


def _names_here() -> frozenset[str]:
    """The names in the working directory; kept for as long as its stamps stay the same."""
    global _listed
    try:
        found = os.stat(os.curdir)
    except OSError:
        return frozenset()
    stamps = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
    known = _listed
    if known is not None and known[0] == stamps:
        return known[1]
    settled = time.time() - max(found.st_mtime, found.st_ctime) > _SETTLED  # else a name may come under the same stamp
    try:
        names = frozenset(os.listdir())
    except OSError:
        names = frozenset()
    _listed = (stamps, names) if settled else None
    return names


_digests: dict[tuple[int, ...], str] = {}


def file_digest(path: str, found: os.stat_result) -> str:
    """The digest of a file's content; kept for as long as its stamps stay the same."""
    stamps = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if found.st_size > LARGEST_FILE:
        raise Unaskable(
            f"this code names the file {path!r} of {found.st_size:,} bytes, too large to read for a fingerprint: "
            "give name=, a name that changes whenever the model does",
            bytes=found.st_size,
        )
    known = _digests.get(stamps)
    if known is not None:
        return known
    if _is_open(found):  # to close a second descriptor would drop the locks on it: an open database is one such file
        return "open " + "/".join(map(str, stamps))
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "unreadable " + "/".join(map(str, stamps))
    if time.time() - max(found.st_mtime, found.st_ctime) > _SETTLED:
        _digests[stamps] = digest
        while len(_digests) > 1_000:
            del _digests[next(iter(_digests))]
    return digest


def _is_open(found: os.stat_result) -> bool:
    """Whether this process has the file open already."""
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except (OSError, ValueError):  # no such system: there locks belong to descriptors
        return False
    for descriptor in descriptors:
        try:
            if os.path.samestat(os.fstat(descriptor), found):
                return True
        except OSError:
            continue
    return False
