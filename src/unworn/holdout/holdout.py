"""Holdout: rows, a mechanism and a ledger behind one verb, ``ask``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat, overload

from unworn.errors import Unaskable
from unworn.holdout.asking.argument_checks import as_asked, check_list, check_numbers, check_uses
from unworn.holdout.asking.preparation import Asked
from unworn.holdout.asking.refinement import Refinement
from unworn.holdout.asking.scoring import Scoring
from unworn.holdout.asks import GivenTags, read_label, read_labels
from unworn.holdout.practice import USUALLY, Practice, Usual
from unworn.holdout.workers.tickets import HoldoutTicket
from unworn.ledger import Store
from unworn.ledger.registry import PER_USER, PerUser
from unworn.mechanisms import Mechanism
from unworn.queries import Composite, Expression, Query, hypothesis
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer
from unworn.record.verdict import Verdict


class Holdout(Scoring, Refinement):
    """A sample that can be asked as often as you like, and all of whose answers hold for the population.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, a dict of arrays, a NumPy matrix (columns ``x0, x1, …``), or a path to Parquet,
        CSV or Arrow. Rows of a DuckDB relation, or of ``"duckdb:people.parquet"``, stay there (docs/engines-sql.md).
    y
        The target: an array, a series, or the name of a column of ``data``.
    groups
        An array or column name: the sampled unit is then the group, and all groups have the same weight.
    asks
        A cap on the number of asks: the one past it is refused. Mechanisms that add noise need it as their plan; for
        the others it makes no interval narrower.
    mechanism, confidence
        How answers are made, and the probability with which *all* of them hold together.
    ledger
        ``"churn.db"``, ``"sqlite:///churn.db"``, or a store. If left out, it is the ledger that has these rows already,
        wherever that is; for unknown rows, a file in the per-user directory (``UNWORN_HOME``; see docs/ledger.md).
        ``None`` keeps the ledger in this object's memory, and the promise ends with the object.
    name, max_width
        What the holdout is called; and the half-width beyond which a question is refused instead of answered.
    train
        Rows the asker may see (a frame like ``data``, or ``(X, y)``), disjoint from ``data`` and not the rows a scored
        model was fitted on: they provide guesses and the schema, and models and functions are tried on them first.
        Refused if it shares more rows with ``data`` than chance explains.
    practice
        The share of the rows to set aside when they are sealed, such as 0.25: a random part whose exact values are free
        (see :attr:`practice`), may wear out, and serve as the guesses that the sealed rest confirms. ``size`` counts
        the sealed rows only. 0 or ``None`` sets none aside. If left out, known rows keep what they were sealed with; of
        500 or more new rows with ``y``, without ``train`` and with no ``mechanism`` chosen, a quarter is set aside, and
        a warning says so once.
    schema
        ``{"column": "number" | "bool" | "text" | "date"}``, with ``?`` appended where values may be missing. If left
        out, known rows keep the schema they were sealed with.
    uses, use
        The shares of all uses that these rows will have, such as ``{"asks": 0.7, "release": 0.3}``, and which of them
        this is. Each gets random rows of its own and is sealed on its own terms; predictions are still given for all
        rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unworn import Holdout, col, share
    >>> rng = np.random.default_rng(7)
    >>> holdout = Holdout({"age": rng.integers(18, 90, 10_000)}, name="people")
    >>> answer = holdout.ask(share(col("age") > 65), guess=0.33)
    >>> answer.value, answer.source
    (0.33, 'guess')
    >>> answer.low < 24 / 72 < answer.high
    True
    """

    def __init__(
        self,
        data: Any,
        y: Any = None,
        *,
        groups: Any = None,
        asks: int | None = None,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        ledger: str | os.PathLike[str] | Store | PerUser | None = PER_USER,
        name: str | None = None,
        max_width: float | None = None,
        train: Any = None,
        practice: float | Usual | None = USUALLY,
        schema: Any = None,
        uses: Mapping[str, float] | None = None,
        use: str = "asks",
    ) -> None:
        from unworn.holdout.given_rows import open_given_rows  # here: half of what an import would load

        opened = open_given_rows(
            data,
            train,
            {"y": y, "groups": groups, "schema": schema},
            ledger=ledger,
            name=name,
            mechanism=mechanism,
            confidence=confidence,
            asks=check_numbers(asks, confidence, max_width),
            practice=practice,
            uses=check_uses(uses, use),
        )
        self._train, self._sample, self._practice_rows = opened.train, opened.sample, opened.practice
        self._desk, self._reordered = opened.desk, opened.reordered
        self._desk.max_width = max_width
        self._ticket = HoldoutTicket(self, train, {"y": y, "groups": groups, "schema": schema})

    @property
    def practice(self) -> Practice:
        """The rows set aside for practice: their exact values are free, and may wear out."""
        return Practice(self, self._practice_rows)

    # ------------------------------------------------------------------ asking

    @overload
    def ask(
        self,
        question: Query | Expression | str,
        guess: SupportsFloat | None = None,
        *,
        guess_se: float | None = None,
        gauge: float | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Answer: ...
    @overload
    def ask(
        self,
        question: Composite,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        guess_se: float | Sequence[float | None] | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> DerivedAnswer: ...
    def ask(
        self,
        question: Asked,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        guess_se: float | Sequence[float | None] | None = None,
        gauge: float | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Answer | DerivedAnswer:
        """Ask one question; text is parsed as an SQL predicate, and a predicate asks for its share. Asking it again is
        free, whatever the guess.

        A composite (``share(...) - share(...)``, ``f1(...)``) is asked by its parts, all of them together or none.

        With ``noise`` the answer is the rows' count plus noise, whatever guess there is: for questions where surprises
        are to be expected. A guess near 0 or 1 then makes the noise narrower, once the rows agree with it. ``name`` and
        ``tags`` (``{"fold": 3}``) are kept with the answer and shown beside it: they are no part of the question.

        ``gauge`` is what you expect beside a guess, where ``train`` or practice rows cannot say: of a mean, or of a
        comparison of losses, the largest standard deviation of its values; of a share of a subset, or of a ranking, the
        fewest rows of the subset or of the rarer class. It makes the interval narrower. If the rows do not keep it,
        that is a surprise. Mechanisms that need no guess (AboveThreshold, Ladder) take it alone.
        """
        label = read_label(name, tags)
        asks = self._asks_of(question, guess, guess_se, gauge=gauge, again=again, by=by, noise=noise, label=label)
        return self._answer_to(question, self._desk.enter(asks))

    def ask_many(
        self,
        questions: Iterable[Query | str],
        guesses: Iterable[SupportsFloat | None] | None = None,
        *,
        by: str | None = None,
        noise: bool = False,
        name: str | Sequence[str | None] | None = None,
        tags: GivenTags | Sequence[GivenTags] = None,
    ) -> list[Answer]:
        """Ask a batch of questions, all chosen before any answer is seen: one pass, one transaction, all or none.

        ``noise`` is as in :meth:`ask`, for all of them; so are ``name`` and ``tags``, unless they are lists, one for
        each question. A question whose own code fails gets the whole range as its interval.
        """
        # All are made before any is checked: an estimator fitted again in between is found out.
        asked = check_list(questions, "questions")
        expected = [None] * len(asked) if guesses is None else check_list(guesses, "guesses")
        if len(expected) != len(asked):
            raise Unaskable(f"there are {len(asked)} questions but {len(expected)} guesses")
        labels = read_labels(name, tags, len(asked))
        return self._desk.enter(
            [
                self._prepare(question, guess, by=by, noise=noise, label=label)
                for question, guess, label in zip(asked, expected, labels, strict=True)
            ]
        )

    def test(
        self,
        question: Query | str,
        level: float = 0.05,
        *,
        above: float | None = None,
        below: float | None = None,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Verdict:
        """Test whether the population's value is above (below) a number, by rejecting the opposite or not.

        With probability at least 1 − ``level`` no true hypothesis is *ever* rejected by a test at this level, however
        the hypotheses were chosen from earlier answers. A comparison defaults to ``above=0``. Repeating a test is free;
        a rejection counts as a surprise. No p-value is given: it would be a fact about the rows that nobody paid for.
        ``name`` and ``tags`` are as in :meth:`ask`.
        """
        query = as_asked(question)
        tested = hypothesis(query, level, above=above, below=below)
        label = read_label(name, tags)
        return Verdict.of(self._one(self._prepare(tested, None, by=by, test=True, label=label)).certificate)

    # ------------------------------------------------------------------ being closed and copied

    def close(self) -> None:
        """Let go of files and of workers' connections."""
        self._ticket.close()
        self._sample.close()
        self._desk.store.close()

    def __copy__(self) -> Holdout:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Holdout:
        return self  # one sample, one ledger: a copy of it would be a second budget

    def __reduce__(self) -> tuple[Any, ...]:
        return self._ticket.reduce()
