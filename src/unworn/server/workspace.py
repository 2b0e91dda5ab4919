"""The boards and holdouts in a folder, each opened when it is wanted and closed when it is not any more."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from unworn.server.server_errors import CannotOpen, NotThere

if TYPE_CHECKING:
    from unworn.boards.board import Board
    from unworn.holdout import Holdout

_log = logging.getLogger("unworn.server")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
"""A folder's name as an address may spell it: no slash, and no dot in front."""
_MARKS: Final = {"board.toml": "board", "holdout.toml": "holdout"}
_LOOK_AGAIN = 2.0
"""Seconds after which the folder is listed anew: a board that was made meanwhile is found without a restart."""
_WRITTEN = 60.0
"""Seconds within which a new folder gets its board.toml: until then each look is a look into every folder."""
_LINGER = 60.0
"""Seconds that a place stays open after it was given out without being leased."""


class _Place:
    """One board or holdout: whether it is open, and for how many."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened: Any = None
        self.leases = 0
        self.until = 0.0


class Workspace:
    """A folder that is a board or a holdout, or has folders that are. Safe for threads.

    >>> Workspace(Path("/nowhere")).boards()
    []
    """

    def __init__(self, root: Path, *, most: int = 200, clock: Callable[[], float] = time.monotonic) -> None:
        self.root, self._most, self._clock = root.resolve(), most, clock
        self._lock = threading.Lock()
        self._places: OrderedDict[tuple[str, str], _Place] = OrderedDict()
        self._folders: dict[tuple[str, str], Path] = {}
        self._listed = -float("inf")
        self._looking = threading.Lock()
        self._changed: int | None = -1
        self._settled = 0.0

    def boards(self) -> list[str]:
        """The names of all boards."""
        return self._names("board")

    def holdouts(self) -> list[str]:
        """The names of all holdouts."""
        return self._names("holdout")

    def board(self, name: str) -> Board:
        """A board by its folder's name, open for a minute at least."""
        with self.lease_board(name) as board:
            return board

    def holdout(self, name: str) -> Holdout:
        """A holdout by its folder's name, open for a minute at least."""
        with self.lease_holdout(name) as holdout:
            return holdout

    @contextmanager
    def lease_board(self, name: str) -> Iterator[Board]:
        """A board that stays open until the block ends."""
        with self._lease("board", name) as board:
            yield board

    @contextmanager
    def lease_holdout(self, name: str) -> Iterator[Holdout]:
        """A holdout that stays open until the block ends."""
        with self._lease("holdout", name) as holdout:
            yield holdout

    def folder(self, kind: str, name: str) -> Path:
        """Where a board or holdout lies; :class:`NotThere` if there is none of that name."""
        self._look()
        found = self._folders.get((kind, name)) if _NAME.fullmatch(name) else None
        if found is None:
            raise NotThere(f"there is no {kind} of that name here")
        return found

    @property
    def open_count(self) -> int:
        """How many boards and holdouts are open."""
        return sum(place.opened is not None for place in list(self._places.values()))

    def close(self) -> None:
        """Close everything: for the end of the server."""
        with self._lock:
            places, self._places = list(self._places.items()), OrderedDict()
        for (kind, _), place in places:
            with place.lock:
                _close(kind, place)

    @contextmanager
    def _lease(self, kind: str, name: str) -> Iterator[Any]:
        folder = self.folder(kind, name)
        with self._lock:
            place = self._places.setdefault((kind, name), _Place())
            self._places.move_to_end((kind, name))
            place.leases += 1
            place.until = self._clock() + _LINGER
        try:
            if place.opened is None:
                self._close_idle()
                with place.lock:  # one opens; whoever wants another place does not wait for it
                    if place.opened is None:
                        place.opened = _open_quietly(kind, folder)
            yield place.opened
        finally:
            with self._lock:
                place.leases -= 1

    def _close_idle(self) -> None:
        """Close what has not been wanted for the longest time, where more is open than should be."""
        with self._lock:
            now = self._clock()
            idle: list[tuple[str, _Place]] = []
            excess = len(self._places) - self._most
            for key, place in list(self._places.items()):
                if len(idle) >= excess:
                    break
                if not place.leases and place.until < now:
                    idle.append((key[0], place))
                    del self._places[key]
        for kind, place in idle:
            with place.lock:
                _close(kind, place)

    def _names(self, kind: str) -> list[str]:
        self._look()
        return sorted(name for found, name in self._folders if found == kind)

    def _look(self) -> None:
        now = self._clock()
        if now - self._listed < _LOOK_AGAIN:
            return
        with self._looking:
            if now <= self._listed:  # another thread looked meanwhile
                return
            changed = _time_of_change(self.root)
            if changed != self._changed:  # a folder came or went; its files may be written a moment later
                self._changed, self._settled = changed, now + _WRITTEN
            if now <= self._settled:
                self._folders = _find_places(self.root)
            self._listed = now


def _time_of_change(root: Path) -> int | None:
    try:
        return root.stat().st_mtime_ns
    except OSError:
        return None


def _find_places(root: Path) -> dict[tuple[str, str], Path]:
    """Folders with a board.toml or holdout.toml: the root itself, or those right below it. Links are not followed."""
    for mark, kind in _MARKS.items():
        if (root / mark).is_file():
            return {(kind, root.name if _NAME.fullmatch(root.name) else kind): root}
    if not root.is_dir():
        return {}
    folders = [
        each for each in root.iterdir() if _NAME.fullmatch(each.name) and each.is_dir() and not each.is_symlink()
    ]
    return {(kind, each.name): each for each in folders for mark, kind in _MARKS.items() if (each / mark).is_file()}


def _open_quietly(kind: str, folder: Path) -> Any:
    """Open a place; why it cannot be opened is for the owner's log, for it names files."""
    try:
        return _open(kind, folder)
    except Exception as error:
        _log.error("cannot open %s: %s", folder, error, exc_info=error)
    raise CannotOpen(f"this {kind} cannot be opened at the moment; the server's log says why")


def _open(kind: str, folder: Path) -> Any:
    if kind == "board":
        from unworn.boards.board import Board

        return Board(folder)
    from unworn.boards.holdout_folder import open_holdout_folder

    return open_holdout_folder(folder)


def _close(kind: str, place: _Place) -> None:
    if place.opened is not None:
        place.opened.release() if kind == "board" else place.opened.close()
        place.opened = None
