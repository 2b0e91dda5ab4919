"""Objects on lines, as strangers send them: every line is read by itself where something is wrong, to say where."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from unworn.basics.display import show_value
from unworn.boards.board_errors import InvalidSubmission
from unworn.ledger.collector_pause import pause_collection


def read_json_objects(lines: Sequence[str], places: Sequence[int]) -> list[dict[str, Any]]:
    """The object on each line; ``places`` are the numbers of the lines."""
    try:
        with pause_collection():
            rows = json.loads(f"[{','.join(lines)}]", **_STRICT)
    except (ValueError, RecursionError):
        rows = []
    if len(rows) != len(lines) or set(map(type, rows)) != {dict}:
        return _line_by_line(lines, places)
    return list(rows)


class _NamedTwice(ValueError):
    """A name stands twice in an object: nobody can know which of its values is meant."""


def _one_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _NamedTwice(f"{show_value(twice)} appears twice")
    return told


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


_STRICT: dict[str, Any] = {"parse_constant": _refuse_constant, "object_pairs_hook": _one_of_each}


def _line_by_line(lines: Sequence[str], places: Sequence[int]) -> list[dict[str, Any]]:
    """The same where something is wrong, to say where."""
    problems, rows = [], []
    for line, place in zip(lines, places, strict=True):
        try:
            row = json.loads(line, **_STRICT)
        except _NamedTwice as why:
            problems.append(f"line {place}: {why}")
            continue
        except (ValueError, RecursionError):
            problems.append(f"line {place}: this is not JSON")
            continue
        if isinstance(row, dict):
            rows.append(row)
        else:
            problems.append(f'line {place}: a line is an object, such as {{"id": 7, "prediction": 1}}')
    if problems:
        raise InvalidSubmission.of(problems[:20], len(problems))
    return rows
