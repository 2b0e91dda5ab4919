"""A sweep's folder: what is run, and every finished cell, appended as it ends. A killed run goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unworn.basics.durable_files import write_durably
from unworn.basics.json_text import canonical, read_json, write_json
from unworn.lab.sweeps.sweep import Sweep, UnfitSweep
from unworn.ledger.file_locks import FileLock

SPEC, CELLS = "sweep.json", "cells.jsonl"


class SweepFolder:
    """``sweep.json`` says what is run and by which version; ``cells.jsonl`` has a line for each finished cell."""

    def __init__(self, folder: Path, sweep: Sweep) -> None:
        self.folder, self.sweep = folder, sweep
        folder.mkdir(parents=True, exist_ok=True)
        told = read_json(canonical({"unworn": version("unworn"), "sweep": sweep.to_json()}))  # with lists for tuples
        spec = folder / SPEC
        if spec.exists():
            self._check(read_json(spec.read_bytes()), told)
        elif (folder / CELLS).exists():
            raise UnfitSweep(
                f"{folder} has {CELLS} and no {SPEC}: nobody knows what they are of. Choose another folder"
            )
        else:
            write_durably(spec, write_json(told).encode(), mode=0o666)

    def _check(self, kept: Any, told: Any) -> None:
        if kept == told:
            return
        if not isinstance(kept, dict) or kept.get("unworn") != told["unworn"]:
            theirs = kept.get("unworn") if isinstance(kept, dict) else None
            raise UnfitSweep(
                f"{self.folder} was begun by unworn {theirs}, and this is {told['unworn']}: cells of two versions "
                f"make no table. Choose another folder"
            )
        there = kept.get("sweep")
        names = [
            name for name, value in told["sweep"].items() if not isinstance(there, dict) or there.get(name) != value
        ]
        raise UnfitSweep(
            f"{self.folder} holds another sweep, which differs in {', '.join(names)}. Choose another folder"
        )

    def finished(self) -> dict[str, dict[str, Any]]:
        """The row of every finished cell by its key. A line that a kill cut off is taken away."""
        path = self.folder / CELLS
        if not path.exists():
            return {}
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with open(path, "r+b") as file:
                file.truncate(whole)
        found = {}
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                told = read_json(line)
                found[told["cell"]] = dict(told["row"])
            except (ValueError, KeyError, TypeError) as error:
                raise UnfitSweep(f"line {number} of {path} is not a finished cell: {error}") from None
        return found

    @contextmanager
    def appending(self) -> Iterator[Any]:
        """Opens the file of cells, for one process alone; yields what writes a line durably."""
        lock = FileLock(self.folder / f"{CELLS}.lock")
        if not lock.acquire(alone=True):
            raise UnfitSweep(f"another process runs the sweep in {self.folder}; wait for it, or choose another folder")
        try:
            with open(self.folder / CELLS, "ab") as file:

                def append(key: str, row: dict[str, Any]) -> None:
                    file.write(canonical({"cell": key, "row": row}).encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())

                yield append
        finally:
            lock.remove()


def saved_sweep(folder: Path) -> Sweep:
    """The sweep that a folder was begun with: ``run_sweep(saved_sweep(folder), folder)`` goes on with it."""
    try:
        told = read_json((folder / SPEC).read_bytes())
    except (OSError, ValueError) as error:
        raise UnfitSweep(f"{folder} holds no sweep: {error}") from None
    return Sweep.from_json(told.get("sweep") if isinstance(told, dict) else None)
