"""Texts that take long to make, each made once: pictures, and whether a ledger holds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

_KEPT = 200


class KeptTexts:
    """Texts by what they were made of, such as a ledger's head. Safe for threads.

    >>> texts = KeptTexts()
    >>> texts.get("head", lambda: "<svg/>"), texts.get("head", lambda: "another")
    ('<svg/>', '<svg/>')
    """

    def __init__(self) -> None:
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def get(self, version: Hashable, make: Callable[[], str]) -> str:
        """The text of this version, made if nobody has; one at a time, since each takes a whole processor."""
        known = self._known(version)
        if known is not None:
            return known
        with self._turn:
            known = self._known(version)
            made = make() if known is None else known
        with self._lock:
            self._texts[version] = made
            self._texts.move_to_end(version)
            while len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return made

    def _known(self, version: Hashable) -> str | None:
        with self._lock:
            return self._texts.get(version)
