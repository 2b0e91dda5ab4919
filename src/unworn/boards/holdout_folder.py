"""A holdout to serve: a folder with its rows, a strict ``holdout.toml``, a ledger and its key."""

from __future__ import annotations

import difflib
import os
import shutil
import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_line, show_value
from unworn.basics.durable_files import write_durably
from unworn.boards.board_errors import InvalidBoard, UnknownBoard
from unworn.boards.files.board_toml import find_line, toml_value
from unworn.errors import PracticeRows, UnwornError
from unworn.holdout.practice import USUALLY

if TYPE_CHECKING:
    from unworn.holdout import Holdout

FILE, LEDGER = "holdout.toml", "ledger.db"
_LONGEST = 2**20
_HEAD = "# A holdout of unworn, to be served: its rows lie beside this file, and are sealed on these terms.\n\n"
_WORDS: dict[str, str] = {
    "name": "What the holdout is called in addresses and cards.",
    "data": "The file of its rows, in this folder or by its whole path.",
    "target": "The column of labels, where there are any.",
    "groups": "The column that says which rows belong together: the sampled unit is then the group.",
    "practice": "The share of the rows that anybody may look at, exactly and for free. Fixed for good.",
    "confidence": "The probability with which all answers hold together. Fixed for good.",
    "asks": "The most questions; some mechanisms need it. Fixed for good.",
    "max_width": "A question whose answer could be wider than this is refused.",
    "ledger": "Where the ledger is kept, if not in ledger.db beside this file.",
    "mechanism": "How answers are made, with its parameters: left out, guess and check.",
}


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{name: (lambda value: type(value) is str and value != "", "a text") for name in ("name", "data")},
    **{name: (lambda value: type(value) is str and value != "", "a text") for name in ("target", "groups", "ledger")},
    "practice": (_is_share, "a share of at least 0 and less than 1"),
    "confidence": (lambda value: type(value) is float and 0 < value < 1, "a number between 0 and 1, such as 0.95"),
    "asks": (lambda value: type(value) is int and value >= 1, "a whole number of at least 1"),
    "max_width": (lambda value: type(value) in (int, float) and value > 0, "a half-width above 0"),
    "mechanism": (lambda value: isinstance(value, dict) and type(value.get("name")) is str, "a table with a name"),
}


def create_holdout_folder(
    folder: str | Path,
    data: Any,
    *,
    target: str | None = None,
    groups: str | None = None,
    practice: float | None = None,
    mechanism: Mapping[str, Any] | None = None,
    asks: int | None = None,
    confidence: float = 0.95,
    max_width: float | None = None,
    ledger: str | None = None,
    name: str | None = None,
    copy: bool = True,
) -> Holdout:
    """Seal rows in a new folder, and open them. ``data`` is a file, or a frame that is written as Parquet.

    A file is copied, readable by its owner alone; ``copy=False`` leaves it where it is.
    """
    home = Path(folder)
    if (home / FILE).exists():
        raise InvalidBoard(f"there is a holdout in {show_line(home)} already: choose another folder")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    told: dict[str, Any] = {
        "name": name or home.resolve().name or "holdout",
        "data": _keep_data(data, home, copy),
        "target": target,
        "groups": groups,
        "confidence": confidence,
        "asks": asks,
        "max_width": max_width,
        "ledger": ledger,
        "mechanism": None if mechanism is None else dict(mechanism),
    }
    told = {key: value for key, value in told.items() if value is not None}
    _check(told, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PracticeRows)  # the file says how many
        holdout = _open(home, told, USUALLY if practice is None else practice)
    told["practice"] = holdout.terms.practice
    if not write_durably(home / FILE, _text(told).encode(), mode=0o644):
        holdout.close()
        raise InvalidBoard(f"there is a holdout in {show_line(home)} already: choose another folder")
    return holdout


def open_holdout_folder(folder: str | Path, *, ledger: Any = None) -> Holdout:
    """The holdout in a folder; ``UnknownBoard`` where there is none, ``InvalidBoard`` for a mistake in its file."""
    home = Path(folder)
    try:
        with (home / FILE).open("rb") as file:
            text = file.read(_LONGEST).decode()
        told = tomllib.loads(text)
    except OSError:
        raise UnknownBoard(
            f"there is no holdout in {show_line(home)}: it has no {FILE} that can be read.\n"
            "  unworn holdout new FOLDER --data people.parquet makes one."
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as why:
        raise InvalidBoard(f"{FILE} is not valid TOML: {why}") from None
    _check(told, text)
    if ledger is not None:
        told["ledger"] = ledger
    return _open(home, told, told.get("practice", 0.0))


def _check(told: Mapping[str, Any], text: str) -> None:
    for key, value in told.items():
        line = find_line(text, key)
        where = FILE if line is None else f"{FILE}, line {line}"
        if key not in _CHECKS:
            close = difflib.get_close_matches(key[:100], list(_CHECKS), n=1)
            hint = f"did you mean {close[0]}?" if close else f"the settings are: {', '.join(_CHECKS)}"
            raise InvalidBoard(f"{where}: there is no setting {key!r:.60}; {hint}", line=line)
        is_sound, words = _CHECKS[key]
        if not is_sound(value):
            raise InvalidBoard(f"{where}: {key} is {words}, not {show_value(value)}", line=line)
    for key in ("name", "data"):
        if key not in told:
            raise InvalidBoard(f"{FILE} lacks {key}: add a line {key} = …  ({_WORDS[key]})")


def _open(home: Path, told: Mapping[str, Any], practice: Any) -> Holdout:
    from unworn.holdout import Holdout
    from unworn.mechanisms import Mechanism, from_json

    mechanism = None
    if "mechanism" in told:
        try:
            found = from_json(dict(told["mechanism"]))
        except (ValueError, TypeError, UnwornError) as why:
            raise InvalidBoard(f"{FILE}: mechanism: {why}") from None
        mechanism = found if isinstance(found, Mechanism) else None
    return Holdout(
        str(home / told["data"]),
        told.get("target"),
        groups=told.get("groups"),
        practice=practice,
        mechanism=mechanism,
        confidence=told.get("confidence", 0.95),
        asks=told.get("asks"),
        max_width=told.get("max_width"),
        ledger=told.get("ledger") or home / LEDGER,
        name=told["name"],
    )


def _text(told: Mapping[str, Any]) -> str:
    lines = [_HEAD]
    plain = [name for name in _WORDS if name in told and name != "mechanism"]
    lines += [f"# {_WORDS[name]}\n{name} = {toml_value(told[name])}\n\n" for name in plain]
    if "mechanism" in told:
        body = "".join(f"{name} = {toml_value(value)}\n" for name, value in told["mechanism"].items())
        lines.append(f"# {_WORDS['mechanism']}\n[mechanism]\n{body}\n")
    return "".join(lines).rstrip("\n") + "\n"


def _keep_data(data: Any, home: Path, copy: bool) -> str:
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if not path.is_file():
            raise InvalidBoard(f"there is no file {show_line(path)} of rows")
        if not copy:
            return str(path.resolve())
        kept = home / f"rows{path.suffix.lower()}"
        if not kept.exists():
            with (
                open(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
                path.open("rb") as rows,
            ):
                shutil.copyfileobj(rows, file)
        return kept.name
    from unworn.queries.table_output import as_frame

    frame = as_frame(data)
    if frame is None:
        raise InvalidBoard(f"rows come as a file or a frame, not as a {type(data).__name__}")
    kept = home / "rows.parquet"
    frame.write_parquet(str(kept))
    os.chmod(kept, 0o600)
    return kept.name
