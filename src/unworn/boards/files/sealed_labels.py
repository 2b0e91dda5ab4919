"""The labels of a board: read from the organiser's file, and kept so that their owner alone can read them.

They are kept as plain arrays, with nothing in them that could be run when they are read: numbers as they are, texts as
their bytes.
"""

from __future__ import annotations

import difflib
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_line, show_value
from unworn.basics.durable_files import write_durably
from unworn.boards.board_errors import InvalidBoard
from unworn.boards.files.table_files import FileTable, read_table_file
from unworn.boards.files.value_columns_check import Flaws, read_ids, read_numbers, read_texts
from unworn.errors import Mismatch
from unworn.holdout.rows_ledger import check_unsealed

FILE = "labels.sealed"
MOST_LABEL_BYTES = 2**33
MOST_ROWS = 100_000_000
_TRUTH = {"true": True, "false": False}
_NONE = frozenset(("nan", "na", "n/a", "none", "null", "nil", "?", "-"))
"""How files say, among numbers, that there is none."""


@dataclass(frozen=True, eq=False)
class SealedLabels:
    """Ids in the order of the rows, and columns by name: the target, and those that ``where`` may name."""

    ids: list[str] = field(repr=False)
    columns: dict[str, NDArray[Any]] = field(repr=False)

    def save(self, folder: Path) -> Path:
        """Write them into a folder, readable by their owner alone; never over others."""
        arrays: dict[str, NDArray[Any]] = {"ids": _bytes_of(self.ids)}
        for place, values in enumerate(self.columns.values()):
            arrays[f"column{place}"] = _bytes_of(values.tolist()) if values.dtype == object else values
        kinds = ["text" if values.dtype == object else "plain" for values in self.columns.values()]
        names = json.dumps([*zip(self.columns, kinds, strict=True)]).encode()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, names=np.frombuffer(names, dtype=np.uint8), **arrays)
        path = folder / FILE
        if not write_durably(path, buffer.getvalue(), mode=0o600):
            raise InvalidBoard(f"{show_line(path)} is there already: a board's labels are sealed once")
        return path

    @classmethod
    def load(cls, folder: Path) -> SealedLabels:
        try:
            with np.load(folder / FILE, allow_pickle=False) as arrays:
                names = json.loads(arrays["names"].tobytes())
                columns = {
                    name: _object_array(_texts_of(arrays[f"column{place}"]))
                    if kind == "text"
                    else arrays[f"column{place}"]
                    for place, (name, kind) in enumerate(names)
                }
                return cls(_texts_of(arrays["ids"]), columns)
        except (OSError, ValueError, KeyError) as why:
            raise InvalidBoard(
                f"the sealed labels {show_line(folder / FILE)} cannot be read ({type(why).__name__}).\n"
                "  Bring the file back from a backup: without it nothing can be scored."
            ) from None


def seal_labels(
    source: Any,
    *,
    id: str,
    target: str,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    keep_all: bool = False,
    ledger: str | os.PathLike[str] | None = None,
) -> tuple[SealedLabels, str]:
    """Labels from a file or frame, every id once; and the kind of the target. ``InvalidBoard`` names the lines.

    ``columns`` are further ones to keep, for ``where``: all of them with ``keep_all``. For a ``ledger``,
    labels are refused that another one has in the order of the file.
    """
    table = read_table_file(source, max_bytes=MOST_LABEL_BYTES, max_rows=MOST_ROWS)
    columns = list(table.columns) if keep_all else columns
    for name in (id, target, *(columns or ())):
        if name not in table.columns:
            raise InvalidBoard(f"the labels have no column {name!r:.80}; {_near(name, list(table.columns))}")
    if table.rows < 2:
        found = "is 1 label" if table.rows == 1 else "are no labels"
        raise InvalidBoard(f"there {found}: a board needs rows to score on")
    ids, wrong = read_ids(table.columns[id])
    if len(set(ids)) < len(ids):
        first: dict[str, int] = {}
        doubled = [row for row, name in enumerate(ids) if first.setdefault(name, row) != row and name]

        def describe(row: int) -> str:
            return f"the id {show_value(ids[row])} was there before, in {table.place(first[ids[row]])}"

        wrong += Flaws.of(doubled, describe)
    empty = [row for row, value in enumerate(table.columns[target]) if _is_empty(value)]
    wrong += Flaws.of(empty, lambda row: f"there is no {target}")
    if wrong:
        raise _refused(table, wrong)
    values, found = _typed(table.columns[target], kind, table, target)
    more = {
        name: _typed(table.columns[name], None, table, name, may_lack=True)[0]
        for name in columns or ()
        if name not in (id, target)
    }
    try:
        if ledger is not None:
            check_unsealed({target: values}, ledger)
    except Mismatch as why:
        raise refuse_second_budget(why) from None
    # Rows go by their ids, which are public: in which order the labels came (by class, by day) would tell of them.
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    return SealedLabels([ids[row] for row in order], {n: v[order] for n, v in {target: values, **more}.items()}), found


def refuse_second_budget(why: Mismatch) -> InvalidBoard:
    """Why a board cannot be made of labels that a ledger has already, and what lets them go."""
    ledger = why.numbers.get("ledger")
    if ledger is None:
        return InvalidBoard(f"this board cannot be made: {why.message}")
    place = show_line(str(ledger).removeprefix("sqlite:///"))
    return InvalidBoard(
        f"this board cannot be made: these labels, or a column that is kept with them, were sealed in another ledger, "
        f"{place}.\n  A board of its own would be a second budget for the same rows. If nothing that was told there "
        f"counts (nobody has seen an answer), `unworn ledger {place} --forget` lets them be sealed anew.",
        ledger=ledger,
    )


def _typed(
    values: Sequence[Any], kind: str | None, table: FileTable, name: str, *, may_lack: bool = False
) -> tuple[NDArray[Any], str]:
    """A column as what all of its values are: truth values, numbers, or else text."""
    distinct = {str(value).strip().lower() for value in values[:1000]}
    if kind == "bool" or (kind is None and distinct <= set(_TRUTH)):
        truths = [_TRUTH.get(str(value).strip().lower()) for value in values]
        if None not in truths:
            return np.array(truths, dtype=np.bool_), "bool"
    if kind in (None, "number"):
        numbers, wrong = read_numbers(values)
        if kind == "number" and wrong:
            raise _refused(table, wrong.within(f"column {name}"))
        if not wrong:
            largest = float(np.abs(numbers).max(initial=0.0))
            whole = bool((numbers == np.trunc(numbers)).all())
            if kind == "number" or not whole or largest < 2**53 or len(set(values)) == len(np.unique(numbers)):
                return (numbers.astype(np.int64) if whole and largest < 2**53 else numbers), "number"
        else:
            lacking = np.flatnonzero(np.isnan(numbers)).tolist()
            if not lacking or (not may_lack and all(_stands_for_none(values[row]) for row in lacking)):
                # Numbers all of them, if not finite ones, or none at all: nobody means a class by that.
                raise _refused(table, wrong.within(f"column {name}"))
    if kind == "bool":
        raise InvalidBoard(f"the column {name!r:.80} has values that are not true or false")
    texts, wrong = read_texts(["" if _is_missing(value) else value for value in values], allow_empty=True)
    if wrong:
        raise _refused(table, wrong.within(f"column {name}"))
    return texts, "text"


def _near(name: str, columns: Sequence[str]) -> str:
    alike = [each for each in columns if each.casefold() == name.casefold()]
    close = alike or difflib.get_close_matches(name[:100], columns[:1000], n=1)
    return f"did you mean {close[0]!r:.80}?" if close else f"there are: {', '.join(columns)[:200]}"


def _stands_for_none(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _NONE


def _refused(table: FileTable, wrong: Flaws) -> InvalidBoard:
    told = "".join(f"\n  {table.place(row)}: {what}" for row, what in wrong.first)
    more = f"\n  … and {wrong.count - len(wrong.first):,} more" if wrong.count > len(wrong.first) else ""
    counted = "1 row is" if wrong.count == 1 else f"{wrong.count:,} rows are"
    return InvalidBoard(f"these labels cannot be sealed: {counted} wrong.{told}{more}")


def _is_empty(value: Any) -> bool:
    return _is_missing(value) or (isinstance(value, str) and not value.strip())


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _object_array(texts: Sequence[str]) -> NDArray[np.object_]:
    array = np.empty(len(texts), dtype=object)
    array[:] = list(texts)
    return array


def _bytes_of(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Texts as one JSON list: no text can be mistaken for two."""
    return np.frombuffer(json.dumps(list(texts), ensure_ascii=False).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _texts_of(data: NDArray[np.uint8]) -> list[str]:
    told = json.loads(data.tobytes())
    if not isinstance(told, list) or not set(map(type, told)) <= {str}:
        raise ValueError("these are not texts")
    return told


def label_frame(labels: SealedLabels) -> Mapping[str, NDArray[Any]]:
    """What a holdout is opened with. Ids are left out: they are public, and say nothing about a row."""
    return labels.columns
