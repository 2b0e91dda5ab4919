"""Release: what comes out of one private look at the rows, and can be asked without end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unworn.basics.display import show_line
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries import Query
from unworn.queries.language.means import Share
from unworn.queries.row_protocol import Column
from unworn.queries.table_output import to_frame
from unworn.release.folder.packing import Arrays, pack_outcome
from unworn.release.intervals import Intervals
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.problem import Problem
from unworn.release.release_certificate import ReleaseCertificate
from unworn.universe.model.model import Axes, Model

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Estimate:
    """A release's answer to a question: ``low`` to ``high`` covers the population, ``value ± error`` the rows.

    ``promised`` is False where the release has no table with the question's columns: then the value is the synthetic
    distribution's, and nothing is said of how far it is off.
    """

    value: float
    low: float
    high: float
    error: float
    confidence: float
    promised: bool
    label: str

    @property
    def width(self) -> float:
        """Half the length of the interval; the value need not be its middle."""
        return (self.high - self.low) / 2

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        end = "" if self.promised else " (nothing is promised: the release has no table with these columns)"
        return f"{show_line(self.label)}: {self.value:.4g} in [{self.low:.4g}, {self.high:.4g}]{end}"


class Release:
    """Answers, a distribution and synthetic rows, all from what was released: asking costs nothing any more.

    Make one with :func:`unworn.release.fit`, or read one with :meth:`load`.
    """

    def __init__(
        self,
        problem: Problem,
        method: Method,
        outcome: ReleaseOutcome,
        certificate: ReleaseCertificate,
        backend: str,
        content: tuple[dict[str, Any], Arrays] | None = None,
    ) -> None:
        self.problem, self.method, self.outcome = problem, method, outcome
        self.certificate = certificate
        self.backend = backend
        self._content = content

    @cached_property
    def content(self) -> tuple[dict[str, Any], Arrays]:
        """What was signed: structure and arrays, as they were read, bit for bit, where they were read."""
        return pack_outcome(self.outcome) if self._content is None else self._content

    @cached_property
    def intervals(self) -> Intervals:
        """What is promised, question by question."""
        return Intervals(self.problem, self.method.profile(self.problem), self.outcome)

    @cached_property
    def model(self) -> Model:
        """The distribution: the method's own, or the one that fits its noisy answers best."""
        if self.outcome.model is not None:
            return self.outcome.model
        from unworn.release.methods.starting_model import fit_answers

        return fit_answers(self.problem, self.outcome)

    # ------------------------------------------------------------------ asking

    def answer(self, question: Query | str) -> Estimate:
        """The share of the population where a predicate holds; text is read as an SQL predicate.

        Questions about columns that one released table has come with an interval, whenever they were thought of.
        """
        asked = _read_sql(question) if isinstance(question, str) else question
        if not isinstance(asked, Share):
            raise Unaskable(
                f"a release answers share(...) questions about its columns, not {getattr(asked, 'label', asked)!r:.80}"
            )
        axes, weights = self.problem.domain.weights(asked)
        told = self._listed(axes, weights) or self.intervals.chosen(axes, weights)
        if told is not None:
            value, error, low, high = told
            low, high = min(low, high), max(low, high)
            return Estimate(value, low, high, error, self.problem.confidence, True, asked.label)
        value = float(np.sum(self.model.table(axes) * weights))
        return Estimate(value, 0.0, 1.0, 1.0, self.problem.confidence, False, asked.label)

    def _listed(self, axes: Axes, weights: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, ...] | None:
        """What is known of a question that is itself one of the workload."""
        wanted = weights.reshape(-1) > 0.5
        for place, block in enumerate(self.problem.blocks):
            if block.axes == axes:
                found = block.find(wanted)
                if found is not None:
                    known = self.intervals.block(place)
                    ends = (known.values, known.errors, known.lows, known.highs)
                    return tuple(float(end[found]) for end in ends)
        return None

    def sample(self, rows: int | None = None, seed: int = 0) -> Any:
        """Synthetic rows, drawn from the distribution, in the library that the rows came in.

        The same seed draws the same rows; drawing reveals nothing that the release does not.
        """
        from unworn.universe.domain.domain_rows import as_frame

        return as_frame(self.columns(self.problem.rows if rows is None else rows, seed), self.backend)

    def columns(self, rows: int, seed: int = 0) -> dict[str, Column]:
        """The same rows, column by column."""
        from unworn.universe.domain.domain_rows import decode_places

        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise ValueError(f"rows is a whole number from 1, not {rows!r}")
        stream = Stream(bytes(32), "synthetic rows", seed)
        codes = self.model.draw(stream, rows)
        return decode_places(self.problem.domain, codes, stream.beside("inside bins", seed))

    # ------------------------------------------------------------------ looking

    @property
    def errors(self) -> Any:
        """A frame with a line for every table: its columns, questions, and what is promised of them at most."""
        lines = [self.line(place) for place in range(len(self.problem.blocks))]
        return to_frame({name: [line[name] for line in lines] for name in lines[0]}, like=self.backend)

    def line(self, place: int) -> dict[str, Any]:
        """One line of :attr:`errors`."""
        block, known = self.problem.blocks[place], self.intervals.block(place)
        names = [self.problem.domain.names[axis] for axis in block.axes]
        return {
            "columns": ", ".join(names),
            "kind": type(block).__name__.lower(),
            "questions": block.size,
            "sample_error": float(np.max(known.errors)),
            "population_error": float(np.max(np.maximum(known.highs - known.values, known.values - known.lows))),
        }

    def chart(self) -> Any:
        """What is promised of every table, as a picture; needs the extra ``plot``."""
        from unworn import charts

        kept, rows = self.certificate, f"{self.problem.rows:,} rows"
        return charts.release(
            [self.line(place) for place in range(len(self.problem.blocks))],
            title="How far the released shares can be off, at most",
            subtitle=[
                f"{self.problem.questions:,} shares in {len(self.problem.blocks):,} tables of {rows}, ε = "
                f"{kept.epsilon:g}" + (f", δ = {kept.delta:g}" if kept.delta else ""),
                f"all together with {100 * kept.confidence:g} % confidence",
            ],
        )

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        rows: int | None = None,
        parquet: bool = False,
        overwrite: bool = False,
    ) -> Path:
        """Write everything a recipient needs into a folder: rows, tables, certificate, a README and a figure.

        ``rows`` synthetic rows are written (as many as there were rows, unless told), as CSV or as ``parquet``. A
        release that lies there already is only replaced with ``overwrite``, and anything else never.
        """
        from unworn.release.folder.release_folder import save

        return save(self, folder, rows=rows, parquet=parquet, overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Release:
        """Read a folder back, and check that it is what was signed."""
        from unworn.release.folder.release_folder import load

        return load(folder)

    def __repr__(self) -> str:
        return (
            f"Release({type(self.method).__name__}, {self.problem.questions:,} questions about {self.problem.rows:,} "
            f"rows, epsilon={self.problem.epsilon:g}, delta={self.problem.delta:g}, "
            f"± {self.certificate.sample_error:.3g} of the rows)"
        )

    def _repr_html_(self) -> str:
        from unworn.release.folder.notebook import html

        return html(self)


def _read_sql(text: str) -> Query:
    from unworn.queries.language.sql_text import parse  # loaded by those who write SQL

    return parse(text)
