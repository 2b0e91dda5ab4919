"""A release as a folder: everything that a recipient needs, and nothing that they must not have.

``release.json`` and ``arrays.npz`` are the content that ``certificate.json`` signs; all the rest is made of it, for
people to read. Whoever checks a folder makes the sheets and the README again and compares; a picture and a Parquet file
depend on who writes them, and are named as unchecked. The folder appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unworn import charts
from unworn.basics.display import show_line
from unworn.basics.json_text import canonical, read_document, write_json
from unworn.basics.output_files import as_path
from unworn.basics.version import __version__
from unworn.errors import MissingExtra, Tampered, Unaskable, UnwornError
from unworn.release.folder.array_file import expected_arrays, read_arrays, write_arrays
from unworn.release.folder.packing import digest, unpack_outcome
from unworn.release.folder.spreadsheets import sheets
from unworn.release.intervals import Intervals
from unworn.release.release import Release
from unworn.release.release_certificate import FORMAT, ReleaseCertificate, read_promise

CONTENT = "unworn release content 1"
_FILES = ("README.md", "arrays.npz", "certificate.json", "errors.csv", "errors.svg", "release.json", "rows.csv")
OURS = frozenset((*_FILES, "rows.parquet", "answers", "tables"))
"""All that a release folder has."""
_MOST_JSON = 2**26
_BACKENDS = ("pandas", "polars", "pyarrow")

Folder = str | os.PathLike[str]


def save(
    release: Release, folder: Folder, *, rows: int | None = None, parquet: bool = False, overwrite: bool = False
) -> Path:
    """Write a release for its recipients; see :meth:`Release.save`."""
    from unworn.release.folder.recipient_readme import readme

    target = check_target(folder, overwrite=overwrite)
    if parquet:
        parquet_library()
    structure, arrays = release.content
    if digest(structure, arrays) != release.certificate.said["digest"]:
        raise Tampered("this release is not what was signed: its distribution was changed after it was made")
    # What is written down is made of what is read back, so that whoever makes it again gets the same.
    ours = _read_back(release)
    count, missing = _rows(ours, release.problem.rows if rows is None else rows)
    with _appearing(target, overwrite) as new:
        write_arrays(new / "arrays.npz", arrays)
        backend = release.backend if release.backend in _BACKENDS else "dict"
        told = {"format": CONTENT, "backend": backend, "rows": count, "structure": structure}
        _write_json(new / "release.json", told)
        ours.certificate.save(new / "certificate.json")
        for name, pieces in sheets(ours, None if parquet else count):
            (new / name).parent.mkdir(exist_ok=True)
            with open(new / name, "w", encoding="utf-8", newline="") as sheet:
                sheet.writelines(pieces)
        if parquet and count is not None:
            _write_parquet(ours, count, new / "rows.parquet")
        if charts.available():
            charts.save(ours.chart(), new / "errors.svg")
        (new / "README.md").write_text(readme(ours, sorted(os.listdir(new)), count, missing), encoding="utf-8")
    return target


def load(folder: Folder) -> Release:
    """Read a folder back; ``Tampered`` unless its content is what was signed, and gives the errors that were signed."""
    place = Path(folder)
    if not place.is_dir():
        raise UnwornError(f"there is no folder {place} to read a release from")
    certificate = ReleaseCertificate.from_json(_read_json(place, "certificate.json"))
    content = _read_json(place, "release.json")
    if not isinstance(content, dict) or content.get("format") != CONTENT:
        raise Tampered(f"release.json in {place} is not the content of a release: its 'format' should be {CONTENT!r}")
    try:
        problem, method = read_promise(certificate.terms)
        structure = content["structure"]
        arrays = read_arrays(place / "arrays.npz", expected_arrays(problem, structure))
        if digest(structure, arrays) != certificate.said["digest"]:
            raise Tampered(f"the content of {place} is not what its certificate signs: it was changed, or is another's")
        outcome = unpack_outcome(problem, structure, arrays)
        intervals = Intervals(problem, method.profile(problem), outcome)
        _check_errors(certificate, intervals)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise Tampered(f"the certificate in {place} is of no release that can be ({error!s:.200})") from None
    backend = content.get("backend") if content.get("backend") in _BACKENDS else "dict"
    release = Release(problem, method, outcome, certificate, str(backend), (structure, arrays))
    release.__dict__["intervals"] = intervals
    return release


def check_sheets(folder: Folder, release: Release) -> list[str]:
    """Make every sheet of a folder again and compare: the names of all, or ``Tampered`` with one that differs."""
    place, same = Path(folder), []
    rows = _told_rows(place) if (place / "rows.csv").exists() else None
    for name, pieces in sheets(release, rows):
        if not _same(place / name, pieces):
            raise Tampered(
                f"{name} is not what this release gives, though its content is what was signed.\n"
                f"  It was changed, or written by another version ({release.certificate.said.get('version')}): "
                "Release.load(...) and save write it again."
            )
        same.append(name)
    known = {*same, *(OURS - {"tables", "answers"})}
    present = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    if more := sorted(present - known):
        raise Tampered(f"the folder has a file that is not part of the release: {more[0]}")
    return same


def check_readme(folder: Folder, release: Release) -> list[str]:
    """Write the README again and compare; what of the folder stays unchecked, by name.

    ``Tampered`` where it differs. One that another version wrote may be worded otherwise, and is unchecked.
    """
    from unworn.release.folder.recipient_readme import readme

    place = Path(folder)
    present = sorted(name for name in os.listdir(place) if name in OURS)
    unchecked: list[str] = [name for name in ("errors.svg", "rows.parquet") if name in present]
    if "README.md" not in present:
        return unchecked
    rows = _told_rows(place)
    count, missing = _rows(release, release.problem.rows if rows is None else rows)
    count = count if rows is not None else None
    files = {name for name in present if name != "README.md"}
    for listed in (files, files ^ {"errors.svg"}):  # who takes the picture away has changed nothing that is said
        if _same(place / "README.md", iter([readme(release, sorted(listed), count, missing)])):
            return unchecked
    if release.certificate.said.get("version") != __version__:
        return ["README.md", *unchecked]
    raise Tampered(
        "README.md does not say what this release says, though its content is what was signed.\n"
        "  It was changed: do not rely on it. Release.load(...) and save write it again."
    )


def is_release(folder: Folder) -> bool:
    """Whether a folder holds a release and nothing else, as far as names tell."""
    place = Path(folder)
    return place.is_dir() and {"certificate.json", "release.json"} <= set(os.listdir(place)) <= OURS


def check_target(folder: Folder, *, overwrite: bool) -> Path:
    """Refuse a folder that could not be written, before anything is computed for it."""
    try:
        target = Path(os.path.abspath(as_path(folder)))
    except OSError as error:
        raise UnwornError(f"the folder {show_line(folder)[:200]} cannot be made: {error.strerror}") from None
    if target.exists() and not target.is_dir():
        raise UnwornError(f"{target} is a file: name a folder that is not there yet")
    if target.is_dir() and os.listdir(target):
        if not is_release(target):
            raise UnwornError(f"the folder {target} holds other files: name one that is empty or not there yet")
        if not overwrite:
            raise UnwornError(f"the folder {target} holds a release already: name another, or replace it (overwrite)")
    above = next(place for place in target.parents if place.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise UnwornError(f"the folder {target} cannot be made: {above} is not a folder that can be written to")
    return target


def _check_errors(certificate: ReleaseCertificate, found: Intervals) -> None:
    """The signed errors follow from the content; one row's worth of rounding aside, which another machine may do."""
    slip = 2.0 / found.problem.rows + 1e-9
    for name, ours, allowed in (
        ("sample", found.sample_error, 1e-12),
        ("population", found.population_error, slip),
    ):
        signed = float(certificate.said[f"{name}_error"])
        if not abs(signed - ours) <= allowed:
            raise Tampered(f"the certificate promises a {name} error of {signed:.6g}, and the content gives {ours:.6g}")
    if canonical(certificate.said.get("numbers")) != canonical(found.outcome.numbers):
        raise Tampered("the certificate's numbers are not those of the content")
    if not abs(float(certificate.said["adaptive_width"]) - found.adaptive.width) <= 1e-9:
        raise Tampered("the certificate's width for questions chosen later does not follow from its terms")


def _told_rows(place: Path) -> int | None:
    """How many synthetic rows a folder says it was written with; none where it has no distribution to draw from."""
    rows = _read_json(place, "release.json").get("rows")
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= 10**9):
        raise Tampered(f"release.json in {place} has no number of rows")
    return rows


def _read_back(release: Release) -> Release:
    structure, arrays = release.content
    outcome = unpack_outcome(release.problem, structure, arrays)
    return Release(release.problem, release.method, outcome, release.certificate, release.backend, release.content)


def _rows(release: Release, rows: int) -> tuple[int | None, str]:
    """How many rows to write; none, and why, where there is no distribution to draw them from."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError(f"rows is a whole number from 1, not {rows!r}")
    try:
        _ = release.model
    except Unaskable as why:
        return None, why.message
    return rows, ""


def parquet_library() -> str:
    """What writes Parquet here; a refusal that names the extra where nothing does."""
    from importlib.util import find_spec

    for library in ("pyarrow", "polars"):
        if find_spec(library) is not None:
            return library
    raise MissingExtra.of("sql", "writing Parquet")


def _write_parquet(release: Release, rows: int, path: Path) -> None:
    import narwhals

    from unworn.universe.domain.domain_rows import as_frame

    frame = as_frame(release.columns(rows), parquet_library())
    narwhals.from_native(frame, eager_only=True).write_parquet(str(path))


@contextmanager
def _appearing(target: Path, overwrite: bool) -> Iterator[Path]:
    """A folder beside the target that takes its place once it is whole, and is removed if it never is."""
    token = secrets.token_hex(4)
    new, old = (target.with_name(f".{target.name}.{token}.{state}") for state in ("new", "old"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new.mkdir()
        yield new
        check_target(target, overwrite=overwrite)
        if target.exists():
            target.rename(old)
        new.rename(target)
    except OSError as error:
        raise UnwornError(f"the folder {target} could not be written: {error.strerror or error}") from None
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def _write_json(path: Path, told: Any) -> None:
    path.write_text(write_json(told), encoding="utf-8")


def _read_json(place: Path, name: str) -> Any:
    path = place / name
    if not path.is_file():
        raise Tampered(f"{place} has no {name}, so it is not a release, or not a whole one")
    if path.stat().st_size > _MOST_JSON:
        raise Tampered(f"{path} is larger than any release's")
    try:
        return read_document(path.read_bytes(), _MOST_JSON)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise Tampered(f"{path} is not JSON") from None
    except ValueError as why:
        raise Tampered(f"{path} is not as it was saved: {why}") from None


def _same(path: Path, pieces: Iterator[str]) -> bool:
    """Whether a file has this text and no more."""
    try:
        with open(path, "rb") as file:
            return all(file.read(len(piece)) == piece for piece in map(str.encode, pieces)) and not file.read(1)
    except OSError:
        return False


__all__ = [
    "CONTENT",
    "FORMAT",
    "check_readme",
    "check_sheets",
    "check_target",
    "is_release",
    "load",
    "parquet_library",
    "save",
]
