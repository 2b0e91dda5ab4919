"""``board.toml``: written with a line of words for each setting, read strictly, never run.

A setting nobody knows is refused with the nearest one that there is, and every complaint names the line.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from unworn.basics.display import show_line
from unworn.boards.board_config import OPTIONS, BoardConfig
from unworn.boards.board_errors import InvalidBoard, UnknownBoard

FILE = "board.toml"
_LONGEST = 2**20

WORDS: dict[str, str] = {
    "name": "What the board is called in addresses and cards.",
    "title": "What people read above the standings.",
    "id": "The column of a submission that says which row a prediction is for.",
    "target": "What is predicted: the column of the sealed labels.",
    "prediction": "The column of a submission that has the predictions.",
    "kind": "What the labels are: number, bool or text.",
    "metric": "How predictions are scored (docs/questions.md lists the metrics).",
    "rule": "How scores are told: practice-and-check, ladder or mechanism.",
    "practice": "The share of the rows that gives exact scores at once; the rest checks them. Fixed for good.",
    "surprises_per_team": "So many submissions of a team may surprise the check rows; later ones are shown unchecked.",
    "pools": "A new lane of the gate climbs on one of so many parts of the practice rows at a time.",
    "confidence": "The probability with which all intervals of the board hold together. Fixed for good.",
    "grader": "How text is graded: exact, normalised, multiple choice, numeric, or your own grade.py:score.",
    "tolerance": "numeric: how far a number may be off and still be right.",
    "relative_tolerance": "numeric: the same, as a share of the right number.",
    "grader_seconds": "Your own grader is stopped after so many seconds.",
    "grader_megabytes": "Your own grader has so much memory.",
    "step": "ladder: what counts as an improvement, as a share of the metric's range; left out, rows are compared.",
    "asks": "The most questions that the rows are asked; some mechanisms need it.",
    "max_bytes": "The largest file that is taken.",
    "ledger": "Where the ledger is kept, if not in ledger.db beside this file.",
    "database": "Where submissions are kept, if not in board.db beside this file.",
}
_ALWAYS = ("name", "title", "id", "target", "prediction", "kind", "metric", "rule", "practice", "surprises_per_team")
_TABLES = {
    "options": f"What the metric needs besides: {', '.join(OPTIONS)}.",
    "mechanism": "The mechanism of the rule 'mechanism', with its parameters.",
}
_HEAD = """\
# A board of unworn: what is asked of the sealed labels beside this file, and how it is told.
# Settings marked "fixed for good" are part of the ledger; what scores mean must not change once there are submissions.

"""


def write_board_toml(config: BoardConfig) -> str:
    """The file of a board; what is left at its default, and is no everyday setting, is left out."""
    lines = [_HEAD]
    defaults = {part.name: part.default for part in fields(BoardConfig) if part.default is not MISSING}
    for name, words in WORDS.items():
        value = getattr(config, name)
        if value is None or (name not in (*_ALWAYS, "confidence", "max_bytes") and value == defaults.get(name)):
            continue
        lines.append(f"# {words}\n{name} = {toml_value(value)}\n\n")
    for name, words in _TABLES.items():
        table = getattr(config, name)
        if table:
            body = "".join(f"{_key(key)} = {toml_value(value)}\n" for key, value in table.items())
            lines.append(f"# {words}\n[{name}]\n{body}\n")
    return "".join(lines).rstrip("\n") + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_value(key)


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's texts are TOML's
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:.1f}"
    return json.dumps(value)


def read_board_toml(folder: Path) -> BoardConfig:
    """The settings of the board in a folder; ``UnknownBoard`` where there is none, ``InvalidBoard`` for a mistake."""
    path = folder / FILE
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except OSError:
        raise UnknownBoard(
            f"there is no board in {show_line(folder)}: it has no {FILE} that can be read.\n"
            "  unworn board new FOLDER --labels y.csv --id id --target label --metric accuracy makes one."
        ) from None
    if len(data) > _LONGEST:
        raise InvalidBoard(f"{FILE} is larger than any board's settings are ({_LONGEST:,} bytes)")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidBoard(f"{FILE} is not UTF-8 text: save it as UTF-8") from None
    return parse_board_toml(text)


def parse_board_toml(text: str) -> BoardConfig:
    """Settings from the text of the file."""
    try:
        told = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise InvalidBoard(f"{FILE} is not valid TOML: {why}") from None
    known = {part.name: part for part in fields(BoardConfig)}
    for name in told:
        if name not in known:
            raise _unknown(text, name, list(known))
    for name in told.get("options", {}) if isinstance(told.get("options"), dict) else ():
        if name not in OPTIONS:
            raise _unknown(text, name, list(OPTIONS), "options")
    for name, part in known.items():
        if name not in told and part.default is MISSING and part.default_factory is MISSING:
            raise InvalidBoard(f"{FILE} lacks {name}: add a line {name} = …  ({WORDS[name]})", setting=name)
    try:
        return BoardConfig(**told)
    except InvalidBoard as why:
        setting = why.numbers.get("setting")
        line = None if setting is None else find_line(text, setting)
        raise InvalidBoard(f"{FILE}{'' if line is None else f', line {line}'}: {why}", line=line) from None


def _unknown(text: str, name: str, known: list[str], table: str | None = None) -> InvalidBoard:
    line = find_line(text, name, table)
    close = difflib.get_close_matches(name[:100], known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the settings are: {', '.join(known)}"
    where = "" if line is None else f", line {line}"
    inside = "" if table is None else f" of [{table}]"
    return InvalidBoard(f"{FILE}{where}: there is no setting {name!r:.60}{inside}; {hint}", line=line)


def find_line(text: str, name: str, table: str | None = None) -> int | None:
    """The line on which a setting stands, or its table begins."""
    key = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*(?:=|\.)""")
    header = re.compile(rf"""\s*\[\s*["']?{re.escape(name)}["']?\s*[\].]""")
    dotted = re.compile(rf"""\s*["']?{re.escape(table or name)}["']?\s*\.\s*["']?{re.escape(name)}["']?\s*=""")
    inside: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if header.match(line) and table is None:
            return number
        if opened := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            inside = opened[1]
        elif (inside == table and key.match(line)) or (table and inside is None and dotted.match(line)):
            return number
    return None
