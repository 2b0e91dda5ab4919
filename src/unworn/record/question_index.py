"""Where questions stand in a long chain: sixteen bytes per answer, instead of the answers themselves.

A question is known here by eight bytes of a keyed digest. Two may share them, so whoever finds a place reads the entry
that stands there: the index can name a place too many, which costs a look, and never changes an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Name = tuple[str, int | None]
"""A question's fingerprint, and what of it was asked: itself, the sharpening of an answer, or its final value."""
Run = tuple[NDArray[np.uint64], NDArray[np.int64]]
"""Digests in order, and the index of the entry of each."""


@dataclass(frozen=True, slots=True)
class QuestionIndex:
    """Runs of sorted digests, each of entries later than those of the run before it and at most half as long.

    >>> names = [("a", None), ("b", None), ("a", None)]
    >>> index = QuestionIndex("ab" * 16).with_run(index_run("ab" * 16, names, 1))
    >>> list(index.find(("a", None))), list(index.find(("c", None)))
    ([3, 1], [])
    """

    holdout: str
    runs: tuple[Run, ...] = ()

    def with_run(self, run: Run) -> QuestionIndex:
        """With the questions of the entries that follow."""
        runs = [*self.runs]
        while runs and len(runs[-1][0]) < 2 * len(run[0]):
            run = _merge(runs.pop(), run)
        return QuestionIndex(self.holdout, (*runs, run))

    def find(self, name: Name) -> Iterator[int]:
        """Where a question may stand, the latest first."""
        if not self.runs:
            return
        wanted = np.uint64(_digest(self.holdout, name))
        for digests, places in reversed(self.runs):
            start = int(digests.searchsorted(wanted))
            if start < len(digests) and digests[start] == wanted:
                stop = int(digests.searchsorted(wanted, "right"))
                for place in range(stop - 1, start - 1, -1):
                    yield int(places[place])


def index_run(holdout: str, names: Sequence[Name | None], start: int) -> Run:
    """The run of entries from ``start`` on that have these names, if they have one."""
    known = [(_digest(holdout, name), place) for place, name in enumerate(names, start) if name is not None]
    digests = np.array([digest for digest, _ in known], dtype=np.uint64)
    places = np.array([place for _, place in known], dtype=np.int64)
    order = np.argsort(digests, kind="stable")
    return digests[order], places[order]


def write_run(run: Run) -> bytes:
    """A run as bytes, the same on every machine."""
    return run[0].astype("<u8").tobytes() + run[1].astype("<i8").tobytes()


def read_run(data: bytes) -> Run:
    """What :func:`write_run` wrote."""
    if len(data) % 16:
        raise ValueError("a run of questions has sixteen bytes per question")
    half = len(data) // 2
    return np.frombuffer(data[:half], "<u8").astype(np.uint64), np.frombuffer(data[half:], "<i8").astype(np.int64)


def _merge(one: Run, other: Run) -> Run:
    digests, places = np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
    order = np.argsort(digests, kind="stable")  # of equal digests the earlier entry stays first
    return digests[order], places[order]


def _digest(holdout: str, name: Name) -> int:
    """Under the holdout's own id, so that no two questions share a place in every ledger."""
    text = f"{name[0]}:{name[1]}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8, key=holdout.encode()).digest(), "little")
