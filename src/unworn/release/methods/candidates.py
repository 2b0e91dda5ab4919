"""What adaptive selection chooses among: whole marginals, and single questions of every other block.

All questions stand in one line, block after block, and a candidate is a stretch of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats
from unworn.release.problem import Problem, Tables
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.question_blocks import Block, Marginal

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a problem: of each its block, its question (None for all) and where its stretch begins."""

    problem: Problem
    blocks: NDArray[np.intp]
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, problem: Problem) -> Candidates:
        sizes, homes = [], []
        for place, block in enumerate(problem.blocks):
            parts = [block.size] if isinstance(block, Marginal) else [1] * block.size
            sizes += parts
            homes += [place] * len(parts)
        lengths = np.array(sizes, dtype=np.intp)
        return cls(problem, np.array(homes, dtype=np.intp), np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def axes(self) -> list[Axes]:
        return [block.axes for block in self.problem.blocks]

    def counts(self, tables: Tables) -> Integers:
        """The rows' own answers, in one line."""
        told = zip(self.problem.blocks, tables.tables(self.axes), strict=True)
        return np.concatenate([block.answers(table) for block, table in told]).astype(np.int64)

    def answers(self, model: Model) -> Floats:
        """A distribution's answers, in one line."""
        told = zip(self.problem.blocks, model.tables(self.axes), strict=True)
        return np.concatenate([block.answers(table) for block, table in told])

    def scores(self, counts: Integers, answers: Floats) -> Integers:
        """Each candidate's largest error in whole rows: replacing a row changes it by one at most."""
        off = np.abs(counts - np.rint(self.problem.rows * answers).astype(np.int64))
        return np.maximum.reduceat(off, self.starts)

    def stretch(self, place: int) -> slice:
        """Where a candidate stands in the line."""
        return slice(int(self.starts[place]), int(self.starts[place] + self.sizes[place]))

    def of_block(self, place: int) -> tuple[Block, int | None]:
        """A candidate's block, and which of its questions it is; None for all of them."""
        home = int(self.blocks[place])
        block = self.problem.blocks[home]
        if isinstance(block, Marginal):
            return block, None
        return block, int(self.starts[place] - self.starts[np.searchsorted(self.blocks, home)])

    def in_blocks(self, line: Floats) -> list[Floats]:
        """A line cut into its blocks."""
        return np.split(line, np.cumsum([block.size for block in self.problem.blocks])[:-1])


def digest_choice(open_: Sequence[int], answers: Floats) -> bytes:
    """A digest of what a selection is made among: the random number it uses is for this choice and no other.

    Answers come out of long sums, which another machine may round otherwise. Were its selection then made with the same
    random numbers, two runs of one release together could tell more than the sum of both.
    """
    digest = sha256(np.asarray(open_, dtype=np.int64).tobytes())
    digest.update(np.ascontiguousarray(answers, dtype=np.float64).tobytes())
    return digest.digest()
