"""Holdout: rows, a mechanism and a ledger behind one verb, ``ask``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, SupportsFloat, overload

from unworn.answer import Answer
from unworn.display import show_value
from unworn.errors import Failed, Unaskable
from unworn.holdout.code_on_train import check_fitted, few_rows, say_what_is_withheld, try_code
from unworn.holdout.desk import Desk
from unworn.holdout.guessing import fold_guess, given_guess, train_guess
from unworn.holdout.jobs import Ask
from unworn.holdout.looking import Looking
from unworn.holdout.practice import USUALLY, Practice, Usual, estimate, practice_guess, usual_share
from unworn.holdout.tickets import Ticket
from unworn.ledger import Store
from unworn.mechanisms import GuessAndCheck, Mechanism
from unworn.mechanisms.base import MOST_ASKS, STOPPED, has_failed
from unworn.mechanisms.practice_share import checked_share
from unworn.mechanisms.uses import Uses
from unworn.queries import Hypothesis, Query, compare, hypothesis, parse
from unworn.queries import metric as metric_query
from unworn.queries.code_in_query import check_code
from unworn.queries.literals import MAX_TEXT
from unworn.queries.metrics import metric_name
from unworn.queries.predictions import FromModel, Named, Recorded
from unworn.queries.query import Facts
from unworn.registry import PER_USER, PerUser
from unworn.scorer import Scorer
from unworn.verdict import Verdict

if TYPE_CHECKING:
    from unworn.holdout.finishing import FinalQuote
    from unworn.holdout.meter import Quote
    from unworn.mechanisms.record import Record
    from unworn.sample import Sample


class Holdout(Looking):
    """A sample that can be asked as often as you like, and whose every answer holds for the population.

    Parameters
    ----------
    data
        pandas, polars or Arrow frame, dict of arrays, NumPy matrix (columns ``x0, x1, …``), or a path to Parquet, CSV
        or Arrow. A DuckDB relation, and a text like ``"duckdb:people.parquet"``, stay in DuckDB (docs/engines-sql.md).
    y
        The target: an array, a series, or the name of a column of ``data``.
    groups
        An array or column name: the sampled unit is then the group, and groups weigh the same.
    asks
        A cap on the number of asks: the one past it is refused. Mechanisms that add noise need it as their plan; for
        the others it makes nothing narrower.
    mechanism, confidence
        How answers are made, and the probability with which *all* of them hold together.
    ledger
        ``"churn.db"``, ``"sqlite:///churn.db"``, or a store. Left out, it is the ledger that has these rows already,
        wherever it lies; for unknown rows, a file in the per-user directory (``UNWORN_HOME``; see docs/ledger.md).
        ``None`` is this object's memory, and the promise ends with the object.
    name, max_width
        What the holdout is called; and the half-width past which a question is refused instead of answered.
    train
        Rows the asker may see (a frame like ``data``, or ``(X, y)``), disjoint from ``data`` and not the rows a scored
        model was fitted on: they provide guesses and the schema, and models and functions are tried on them first.
        Rows shared with ``data``, if more than chance explains, are refused.
    practice
        The share of the rows to set aside when they are sealed, as 0.25: a random part whose exact values are free (see
        :attr:`practice`), may wear out, and are the guesses that the sealed rest confirms. ``size`` counts the sealed
        rows only. 0 or ``None`` is none. Left out, known rows keep what they were sealed with, and of 500 new rows or
        more with ``y``, without ``train`` and with no ``mechanism`` chosen a quarter is set aside, which is said once.
    schema
        ``{"column": "number" | "bool" | "text" | "date"}``, with ``?`` appended where values may be missing. Left out,
        known rows keep the schema they were sealed with.
    uses, use
        The shares of all uses these rows will have, as ``{"asks": 0.7, "release": 0.3}``, and which of them this is.
        Each gets random rows of its own and is sealed on its own terms; predictions are still given for all rows.

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
        from unworn.holdout.notices import check_train, warn_if_repeated, warn_if_small, warn_of_practice
        from unworn.holdout.opening import Wanted, open_rows  # here: half of what an import would load
        from unworn.holdout.rows_ledger import find_ledger
        from unworn.sample import Sample
        from unworn.sample.stored import Stored, is_stored

        asks = _check_numbers(asks, confidence, max_width)
        declared = _declared(uses, use)
        share = None if practice is USUALLY else checked_share(practice)
        if name is not None:
            _checked_text(name, "name=, what the holdout is called,")
        if mechanism is not None and not isinstance(mechanism, Mechanism):
            raise Unaskable(f"mechanism= is one of unworn.mechanisms, not {show_value(mechanism)}")
        self._train = None if train is None else Sample.read_train(train, y, groups)
        kept = is_stored(data)
        if kept and declared is not None:
            raise Unaskable("rows kept in an engine have one use: read them into memory to part them among uses")
        if kept and share:
            raise Unaskable(
                "rows kept in an engine are all sealed: read them into memory to set some aside for practice, or give "
                "train="
            )
        sample: Any = (Stored if kept else Sample).read(data, y, groups=groups, schema=schema, train=self._train)
        place = None
        try:
            if self._train is not None:
                check_train(sample, self._train)
            place = find_ledger(sample, ledger)
            chosen = GuessAndCheck() if mechanism is None else mechanism
            left_to_us = train is None and mechanism is None and declared is None
            wanted = Wanted(
                name,
                chosen,
                confidence,
                asks,
                declared,
                beside=place.elsewhere is not None,
                declares_schema=schema is not None,
                practice=share,
                usual_practice=usual_share(sample) if left_to_us else 0.0,
            )
            transcript, key, self._reordered, self._sample, anew, practice_rows = open_rows(sample, place.store, wanted)
            # Before rows are sealed for good, the part is not the one it will be, and says too much of the others.
            rehearsed = anew and hasattr(place.store, "stands_for")
            self._practice_rows = None if rehearsed else practice_rows
            place.confirm(transcript.first.holdout)
            self._desk = Desk(self._sample, place.store, transcript, key)
        except BaseException:
            sample.close()
            if place is not None:
                place.withdraw()
            raise
        if anew:
            if not kept:
                warn_if_repeated(sample)
            if share is None and transcript.terms.practice:
                warn_of_practice(transcript)
            warn_if_small(transcript)
        self._desk.max_width = max_width
        if self._desk.key is not None:
            self._sample.seal(self._desk.key.derive("unworn/parts"))
        self._ticket = Ticket(self, train, {"y": y, "groups": groups, "schema": schema})

    @property
    def practice(self) -> Practice:
        """The rows set aside for practice: exact values for the asking, which cost nothing and may wear out."""
        return Practice(self, self._practice_rows)

    # ------------------------------------------------------------------ asking

    def ask(
        self,
        question: Query | str,
        guess: SupportsFloat | None = None,
        *,
        guess_se: float | None = None,
        again: bool = False,
        by: str | None = None,
    ) -> Answer:
        """Ask one question; text is read as an SQL predicate. The same question again is free, whatever the guess."""
        return self._one(self._prepare(question, guess, guess_se, again=again, by=by))

    def ask_many(
        self,
        questions: Iterable[Query | str],
        guesses: Iterable[SupportsFloat | None] | None = None,
        *,
        by: str | None = None,
    ) -> list[Answer]:
        """Ask a batch chosen before any of its answers is seen: one pass, one transaction, all or none.

        A question whose own code fails gets the whole range as its interval.
        """
        # All are made before any is checked: an estimator fitted again in between is found out.
        asked = _listed(questions, "questions")
        expected = [None] * len(asked) if guesses is None else _listed(guesses, "guesses")
        if len(expected) != len(asked):
            raise Unaskable(f"there are {len(asked)} questions but {len(expected)} guesses")
        return self._enter([self._prepare(q, g, by=by) for q, g in zip(asked, expected, strict=True)])

    def score(
        self,
        predictions: Any,
        guess: SupportsFloat | None = None,
        *,
        metric: str = "accuracy",
        guess_se: float | None = None,
        name: str | None = None,
        again: bool = False,
        by: str | None = None,
        **options: Any,
    ) -> Answer:
        """Score a model, or predictions in the rows' order, by any metric that is a bounded mean over rows.

        Predictions are for all the rows, practice rows too. Without a guess the value on ``train`` is it, or else that
        on the practice rows, or else there is none, which costs more. A model is known by its own bytes and code,
        or by ``name``; ``options`` are the metric's (``range=``, ``positive=``, ``k=``, …). With ``train`` or practice
        rows a model is tried there first, and what it raises is told in full; what it raises, prints or warns of on the
        sealed rows is not.
        """
        query = self._metric(metric, predictions, name, options)
        made_here = not _is_source(predictions)
        return self._one(self._prepare(query, guess, guess_se, again=again, by=by, made_here=made_here))

    def compare(
        self,
        first: Any,
        second: Any,
        guess: SupportsFloat | None = None,
        *,
        metric: str = "accuracy",
        discordance: float | None = None,
        guess_se: float | None = None,
        again: bool = False,
        by: str | None = None,
        **options: Any,
    ) -> Answer:
        """The metric of ``first`` minus that of ``second``, as one paired question: far sharper than two.

        ``discordance`` is how large the mean absolute difference between the two is expected to be at most (for
        accuracy: the share of rows only one of them gets right); ``train`` or practice rows provide it where they can.
        """
        query = compare(self._metric(metric, first, None, options), self._metric(metric, second, None, options))
        if discordance is not None and guess is None:
            guess = 0.0
        made_here = not _is_source(first) and not _is_source(second)
        ask = self._prepare(query, guess, guess_se, discordance, again=again, by=by, made_here=made_here)
        return self._one(ask)

    def test(
        self,
        question: Query | str,
        level: float = 0.05,
        *,
        above: float | None = None,
        below: float | None = None,
        by: str | None = None,
    ) -> Verdict:
        """Is the population's value above (below) this? Rejects "it is at most (at least) that", or does not.

        With probability at least 1 − ``level`` no true hypothesis is *ever* rejected by a test at this level, however
        the hypotheses were chosen from earlier answers. For a comparison, ``above=0`` is meant. The same test again is
        free; a rejection counts as a surprise. No p-value is told: it would be a fact about the rows, unpaid for.
        """
        query = _read_sql(question) if isinstance(question, str) else question
        tested = hypothesis(query, level, above=above, below=below)
        return Verdict.of(self._one(self._prepare(tested, None, by=by, test=True)).certificate)

    def sharpen(self, answer: Answer, *, by: str | None = None) -> Answer:
        """A narrower interval for an answer that matters: the same question again, inside its published cell.

        A model that was fitted again since is another model, and refused.
        """
        if not isinstance(answer, Answer):
            raise Unaskable(f"sharpen takes an answer of this holdout, not a {type(answer).__name__}")
        record = self._record_of(answer)
        if record.offer.null is not None:
            raise Unaskable("there is nothing to sharpen: a test says rejected or not; ask the question itself")
        if record.offer.final is not None:
            raise Unaskable("there is nothing to sharpen: a final value is as sharp as it gets")
        if record.offer.radius:
            raise Unaskable(
                "a noisy answer names no cell to sharpen: ask(..., guess=, again=True), or ask for the final value"
            )
        if not isinstance(self.mechanism, GuessAndCheck):
            raise Unaskable(f"{type(self.mechanism).__name__} has nothing to sharpen: its answers are not cells")
        ask = Ask(self._question_of(answer, record), record.facts, None, _checked_name(by), parent=answer.index)
        with self._desk.order():
            transcript = self._desk.released()
            if transcript.answered(*ask.name) is None:
                offer = transcript.offer(ask.facts, None, ask.parent)
                self.mechanism.check_gain(record.offer, record.symbol, offer)
        return self._one(ask)

    @overload
    def final(self, questions: Answer | Query | str, *, close: bool = True, by: str | None = None) -> Answer: ...
    @overload
    def final(
        self, questions: Iterable[Answer | Query], *, close: bool = True, by: str | None = None
    ) -> list[Answer]: ...
    def final(
        self,
        questions: Answer | Query | str | Iterable[Answer | Query | str],
        *,
        close: bool = True,
        by: str | None = None,
    ) -> Answer | list[Answer]:
        """The last word: exact values, nearly as sharp as those of a test set that nobody had touched.

        Several answers or questions at once are fixed together and share the level. The holdout is then closed, because
        what makes them sharp is that nothing follows; ``close=False`` goes on, at a price that :meth:`quote_final`
        tells beforehand. A final interval is never wider than what was known; that of a model, whose code may answer
        otherwise the second time, is refused where it would be.
        """
        from unworn.holdout.finishing import check_not_wider

        one = isinstance(questions, Answer | Query | str)
        asks = self._final_asks(questions, close, by)
        with self._desk.order():
            check_not_wider(asks, self._desk.released())
        told = self._enter(asks)
        return self._checked_answer(told[0]) if one else told

    def quote_final(
        self, questions: Answer | Query | str | Iterable[Answer | Query | str], *, close: bool = True
    ) -> FinalQuote:
        """What :meth:`final` would reach, without asking for it."""
        from unworn.holdout.finishing import quote_final

        asks = self._final_asks(questions, close, None)
        with self._desk.order():
            return quote_final(asks, self._desk.released(), close)

    def _final_asks(self, questions: Any, close: bool, by: str | None) -> list[Ask]:
        from unworn.holdout.finishing import final_asks

        if not isinstance(close, bool):
            raise Unaskable(f"close= is True or False, not {show_value(close)}")
        listed = [questions] if isinstance(questions, Answer | Query | str) else _listed(questions, "final questions")
        if not listed:
            raise Unaskable("name at least one answer or question whose final value is wanted")
        asks = []
        for question in listed:
            if isinstance(question, Answer):
                record = self._record_of(question)
                asks.append(Ask(self._question_of(question, record), record.facts, None, _checked_name(by)))
            else:
                asks.append(self._prepare(question, None, by=by, test=True))
        with self._desk.order():
            return final_asks(asks, self._desk.released(), close)

    def _record_of(self, answer: Answer) -> Record:
        """What this holdout's ledger says of one of its answers."""
        entry = answer.certificate.entry
        if entry.holdout != self.id:
            raise Unaskable("this answer comes from another holdout; ask there")
        with self._desk.order():
            transcript = self._desk.released()
            if not 0 < entry.index < transcript.length or transcript.entry(entry.index).hash != entry.hash:
                raise Unaskable(f"answer {entry.index} is not in this holdout's ledger; take one from .answers or ask")
            record = transcript.record(entry.index)
        if has_failed(record.symbol):
            raise Unaskable("there is nothing to go on from: the question's own code failed on the rows")
        return record

    def _question_of(self, answer: Answer, record: Record) -> Query:
        """The question that an answer was given to, if it is still the same."""
        query = answer.query if answer.query is not None else parse(record.question)
        if query.fingerprint != record.fingerprint:
            raise Unaskable("this answer was given to another question than the one it carries")
        query.facts(self._sample.schema, self._sample.length)
        check_code(query)
        return query

    def quote(
        self,
        question: Query | str,
        guess: SupportsFloat | None = None,
        *,
        guess_se: float | None = None,
        again: bool = False,
    ) -> Quote:
        """What a question would cost and how wide its answer would be, without asking it (again, if it was asked)."""
        from unworn.holdout.meter import Quote

        ask = self._prepare(question, guess, guess_se)
        with self._desk.order():
            transcript = self._desk.released()
            told = None if again else transcript.answered(ask.query.fingerprint)
            if told is not None:
                known = self._desk.answer(told)
                return Quote(told, known.width, known.width, 0.0, 0.0, None, True, known.low, known.high)
            offer = transcript.offer(ask.facts, self._desk.guessed(ask).guess, None)
        mechanism = self.mechanism
        likely, widest = mechanism.publish(offer, mechanism.likely(offer)), mechanism.widest(offer)
        (cost, surprise), width = mechanism.prices(offer), (likely.high - likely.low) / 2
        return Quote(offer.index, width, widest, cost, surprise, offer.guess, False, likely.low, likely.high)

    def scorer(self, metric: str = "accuracy", **options: Any) -> Scorer:
        """For ``GridSearchCV(scoring=...)``: the fold guesses, the holdout checks."""
        # Refuses f1 now, not after hours of fitting.
        self._metric(metric, Recorded({"method": "predict"}), None, options)
        self.mechanism.check(Facts("unit", 0.0, 1.0, runs_code=True))  # nor what refuses every model
        if self._sample.schema.target is None:
            raise Unaskable(f"{metric} needs labels, and this holdout was sealed without: give y=")
        return Scorer(self, metric, self._options(metric, options))

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[float, float | None] | None:
        """A fitted estimator's score on a fold, with its standard error: what the scorer guesses with."""
        return fold_guess(estimator, X, y, metric, options)

    def gather(self, samples: int, columns: Iterable[str] | None = None) -> int:
        """Draw rows for the next asks now, so that an ask has only to look at them; returns how many are ready.

        For a mechanism that draws fresh rows. Each draw serves one answer, whose certificate names it, and is dropped
        with this object; asks past them draw their rows as usual, and none is drawn for asks past the plan.
        ``columns`` are those copied ahead, by default all.
        Rows that stay in an engine come in one pass for all the samples.
        """
        if self.mechanism.reads != "draws":
            raise Unaskable(f"{type(self.mechanism).__name__} reads all the rows, and draws none ahead")
        if isinstance(samples, bool) or not isinstance(samples, Integral) or samples < 1:
            raise Unaskable(f"samples is a whole number of at least 1, not {show_value(samples)}")
        self._desk.writable()
        names = None if columns is None else _listed(columns, "columns")
        for name in names or ():
            self._sample.schema.of(name)
        return self._desk.gather(self._sample, int(samples), names)

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

    # ------------------------------------------------------------------ the way in

    def _prepare(
        self,
        question: Query | str,
        value: SupportsFloat | None,
        error: float | None = None,
        discordance: float | None = None,
        *,
        again: bool = False,
        by: str | None = None,
        test: bool = False,
        made_here: bool = False,
    ) -> Ask:
        """Everything that can be refused without rows is refused here."""
        if not isinstance(again, bool):
            raise Unaskable(f"again= is True or False, not {show_value(again)}")
        query, facts = self._understand(question, test=test)
        try:
            _ = query.fingerprint  # made here, so that what has none is refused before rows are read
        except (TypeError, ValueError, RecursionError) as why:
            raise Unaskable(f"this question cannot be written down as plain JSON ({why}); rename or fix it") from None
        if facts.runs_code and not made_here:
            check_code(query)
        visible = self._practice_rows if self._train is None else self._train
        if facts.runs_code and visible is not None:
            try_code(query, set(self._sample.columns), visible, self._few_rows)
        elif facts.runs_code:
            check_fitted(query)
        guess = None if value is None else given_guess(facts, value, error, discordance)
        if value is None and error is not None:
            raise Unaskable("guess_se says how sure a guess is: give guess= too")
        if guess is None and self._train is not None and not test:
            guess = train_guess(query, self._train)
        practice = None
        if self._practice_rows is not None and (facts.runs_code or not test):  # a test has no guess, but code to try
            expected = practice_guess(query, facts, self._practice_rows)
            guess = expected if guess is None and not test else guess
            practice = None if expected is None or test else estimate(query, expected, self._practice_rows)
        return Ask(query, facts, guess, _checked_name(by), again, practice=practice)

    def _understand(self, question: Query | str, *, test: bool = False) -> tuple[Query, Facts]:
        """The question, and what is public about it; refused, before any row is read, if rows cannot be asked it."""
        query = _read_sql(question) if isinstance(question, str) else question
        if not isinstance(query, Query):
            raise Unaskable(f"a question is share(...), mean(...), a metric or SQL text, not {type(question).__name__}")
        if isinstance(query, Hypothesis) and not test:
            raise Unaskable("a hypothesis is not asked but tested: holdout.test(question, above=...)")
        self._sample.check(query)
        facts = query.facts(self._sample.schema, self._sample.length)
        facts.check()
        if query.needs_features and not self._sample.has_features:
            raise Unaskable("this holdout has labels only, no features to show a model: supply its predictions")
        if self._reordered and not query.portable:
            self._desk.writable()  # without the key the order cannot be known, and bringing it back is what to do
            raise Unaskable(
                "these rows come in another order than they were sealed in, and this question belongs to one order,\n"
                "  as predictions in an array do: open the rows as they were sealed"
            )
        return query, facts

    def _metric(self, metric: str, predictions: Any, name: str | None, options: dict[str, Any]) -> Query:
        if name is not None:
            _checked_text(name, "name=, what the predictions are known by,")
        return metric_query(
            metric, predictions if name is None else Named(predictions, name), **self._options(metric, options)
        )

    def _options(self, metric: str, options: dict[str, Any]) -> dict[str, Any]:
        """What the metric needs, and ``train`` or practice rows can tell."""
        wanted = metric_name(metric) == "balanced_accuracy" and not {"weights", "shares"} & set(options)
        visible = self._practice_rows if self._train is None else self._train
        return {**options, "shares": visible.class_shares()} if wanted and visible is not None else options

    @cached_property
    def _few_rows(self) -> Sample:
        visible = self._practice_rows if self._train is None else self._train
        if visible is None:
            raise TypeError("there are no rows that may be seen")
        return few_rows(visible)

    def _enter(self, asks: list[Ask]) -> list[Answer]:
        for ask in asks:
            if ask.facts.runs_code:
                say_what_is_withheld()
                break
        answers = self._desk.enter(asks)
        for place, ask in enumerate(asks):
            if ask.practice is not None:
                answers[place] = replace(answers[place], practice=ask.practice)
        return answers

    def _one(self, ask: Ask) -> Answer:
        (answer,) = self._enter([ask])
        return self._checked_answer(answer)

    @staticmethod
    def _checked_answer(answer: Answer) -> Answer:
        record = answer.certificate.record
        if has_failed(record.symbol):
            message = Failed.MESSAGE if record.offer.runs_code else Failed.OURS
            raise Failed(Failed.STOPPED if record.symbol == STOPPED else message, index=answer.index)
        return answer


def _is_source(predictions: Any) -> bool:
    """Whether these are no model but a source made of one, at some time before."""
    return isinstance(predictions.predictions if isinstance(predictions, Named) else predictions, FromModel)


def _read_sql(text: str) -> Query:
    from unworn.queries.sql import parse as parse_sql  # loaded by those who write SQL

    return parse_sql(text)


def _checked_name(by: str | None) -> str | None:
    """Who asks, as it is entered: checked first, because what the ledger cannot hold must not reach the rows."""
    return None if by is None else _checked_text(by, "by=, the asker's name,")


def _checked_text(text: Any, what: str) -> str:
    """A name of the asker's: short, and made of characters that have bytes."""
    if not isinstance(text, str) or len(text) > MAX_TEXT or text != text.encode(errors="ignore").decode():
        raise Unaskable(f"{what} is a text of at most {MAX_TEXT} characters, not {show_value(text)}")
    return text


def _listed(things: Any, what: str) -> list[Any]:
    if isinstance(things, str | bytes | Mapping | Query) or not isinstance(things, Iterable):
        raise Unaskable(f"{what} come as a list, not as a {type(things).__name__}")
    try:
        return list(things)
    except TypeError:  # an array without a dimension has __iter__ all the same
        raise Unaskable(f"{what} come as a list, not as a {type(things).__name__}") from None


def _declared(uses: Mapping[str, float] | None, use: str) -> Uses | None:
    if not isinstance(use, str):
        raise Unaskable(f"use= names one of the declared uses, and is not {show_value(use)}")
    if uses is None and use != "asks":
        raise ValueError(f"use={use!r:.80} is one of several: declare all, as uses={{'asks': 0.7, 'release': 0.3}}")
    return None if uses is None else Uses.of(uses, use)


def _check_numbers(asks: int | None, confidence: float, max_width: float | None) -> int | None:
    if asks is not None and (isinstance(asks, bool) or not isinstance(asks, Integral) or not 1 <= asks <= MOST_ASKS):
        raise ValueError(
            f"asks is a whole number of at least 1, and at most {MOST_ASKS:.0e} (or None for no plan), "
            f"not {show_value(asks)}"
        )
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise ValueError(f"confidence lies between 0 and 1, as 0.95 does, not {show_value(confidence)}")
    real = isinstance(max_width, Real) and not isinstance(max_width, bool)
    if max_width is not None and not (real and 0 < max_width < 1e308):
        raise ValueError(f"max_width is a finite half-width above 0, not {show_value(max_width)}")
    return None if asks is None else int(asks)
