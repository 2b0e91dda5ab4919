"""Practice rows: looked at as often as anyone likes, they say what to expect, and the sealed rows confirm it.

Nothing here can reach a sealed row: the part is cut when the rows are opened, by an order that only the key knows and
that does not depend on values (:meth:`unworn.holdout.uses.Family.parts`).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from unworn.errors import ReadOnly, Unaskable
from unworn.holdout.asking.argument_checks import is_source
from unworn.holdout.asking.composite_parts import combine_values
from unworn.holdout.asking.guesses import visible_guess
from unworn.mechanisms import Guess
from unworn.mechanisms.contract.capabilities import uses_gauge
from unworn.queries import Composite, Query
from unworn.queries.code.code_in_query import check_code
from unworn.queries.composite import Question
from unworn.queries.metrics.paired_query import compare_questions
from unworn.queries.query import Facts
from unworn.record.practice_estimate import PracticeEstimate
from unworn.record.practice_share import USUAL

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout
    from unworn.rows import Sample
    from unworn.rows.held_rows import HeldRows

ENOUGH = 500
"""Sampled units from which on practice rows are set aside by default: see docs/decisions/0035."""


class Usual(Enum):
    """The type of :data:`USUALLY`."""

    USUALLY = "usually"

    def __repr__(self) -> str:
        return "USUALLY"


USUALLY: Final = Usual.USUALLY
"""What ``practice=`` is where it is left out: what the rows were sealed with or, for unknown rows, a quarter of those
that come with labels and without ``train``. ``None`` is something else: none, spelled out."""


def usual_share(sample: HeldRows) -> float:
    """The share set aside of rows with labels where nobody says how many: few rows are not parted, nor is a file."""
    # A mapped file may be larger than the memory a part would take.
    return USUAL if sample.is_in_memory and sample.schema.target is not None and sample.size >= ENOUGH else 0.0


class Practice:
    """The practice rows of a holdout. Their exact values are free, are entered nowhere, and may wear out.

    >>> import numpy as np
    >>> from unworn import Holdout
    >>> rng = np.random.default_rng(7)
    >>> y = rng.integers(0, 2, 10_000)
    >>> coin = rng.integers(0, 2, 10_000)
    >>> holdout = Holdout(None, y, practice=0.25, ledger=None)
    >>> holdout.practice
    Practice(2 500 rows: exact values are free, and may wear out)
    >>> estimate = holdout.practice.score(coin)
    >>> abs(estimate.value - 0.5) < 0.06, estimate.rows, round(estimate.error, 3), holdout.meter.asked
    (True, 2500, 0.01, 0)
    """

    def __init__(self, holdout: Holdout, rows: Sample | None) -> None:
        self._holdout, self._rows = holdout, rows

    @property
    def size(self) -> int:
        """The number of practice rows, or groups: 0 where none were set aside."""
        return self._holdout.terms.practice_size

    def ask(self, question: Question | str) -> PracticeEstimate:
        """A question's exact value on the practice rows; text is parsed as an SQL predicate.

        A question made of a model that was fitted again since is refused, as :meth:`Holdout.ask` refuses it.
        """
        return self._value(question, made_here=False)

    def _value(self, question: Question | str, made_here: bool) -> PracticeEstimate:
        rows = self._available()
        if isinstance(question, Composite):
            parts = [self._value(part, made_here) for part in question.questions]
            value, error = combine_values(question, [part.value for part in parts], [part.error for part in parts])
            return PracticeEstimate(value, error, parts[0].rows, question.label, parts[0].unit)
        query, facts = self._holdout._understand(question)
        if facts.runs_code and not made_here:
            check_code(query)  # else today's fit would have a value, and give a guess, under the name of another
        sealed = self._holdout.terms.size if uses_gauge(self._holdout.mechanism, facts) else None
        guess = practice_guess(query, facts, rows, sealed)
        if guess is None and facts.kind in ("conditional", "ranking"):
            raise Unaskable(f"{query.label} has no value here: none of the practice rows lies in its subset")
        if guess is None:
            raise Unaskable(
                "a statistic is about samples of one size, and there are not as many practice rows as sealed ones: ask "
                "for shares, means and metrics there"
            )
        return estimate(query, guess, rows)

    def score(
        self, predictions: Any, *, metric: str | None = None, name: str | None = None, **options: Any
    ) -> PracticeEstimate:
        """As :meth:`Holdout.score`: of a model, or of predictions for all the rows, in their order."""
        self._available()
        question = self._holdout._metric(metric, predictions, name, options)
        return self._value(question, made_here=not is_source(predictions))

    def compare(self, first: Any, second: Any, *, metric: str | None = None, **options: Any) -> PracticeEstimate:
        """As :meth:`Holdout.compare`: the metric of ``first`` minus that of ``second``."""
        self._available()
        one, other = (self._holdout._metric(metric, predictions, None, options) for predictions in (first, second))
        return self._value(compare_questions(one, other), made_here=not (is_source(first) or is_source(second)))

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        if not self.size:
            return "Practice(no rows: all of them are sealed)"
        unit = "groups" if self._holdout.terms.schema.grouped else "rows"
        size = f"{self.size:,}".replace(",", " ")
        return f"Practice({size} {unit}: exact values are free, and may wear out)"

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._holdout, "practice")  # a ticket: rows do not travel

    def _available(self) -> Sample:
        if self._rows is not None:
            return self._rows
        if not self.size:
            raise Unaskable(
                "no practice rows were set aside when these rows were sealed: all of them are sealed.\n"
                "  Holdout(..., practice=0.25) sets a quarter of fresh rows aside; train= brings rows of your own."
            )
        raise ReadOnly(
            f"the key of holdout {self._holdout.name!r} is not beside its ledger, and only the key says which rows are "
            "for practice.\n  Bring the key back (see docs/ledger.md)."
        )


def practice_guess(query: Query, facts: Facts, rows: Sample, sealed: int | None = None) -> Guess | None:
    """The value on the practice rows, as a guess; none for a statistic, which is about samples of one size.

    For so many ``sealed`` rows, with what it declares of their gauge.
    """
    return None if facts.kind == "statistic" else visible_guess(query, facts, rows, "practice", sealed)


def estimate(query: Query, guess: Guess, rows: Sample) -> PracticeEstimate:
    """The same for people to look at."""
    if guess.error is None:
        raise TypeError("a value on practice rows has a standard error")
    unit = "groups" if rows.schema.grouped else "rows"
    return PracticeEstimate(guess.value, guess.error, rows.size, query.label, unit)
