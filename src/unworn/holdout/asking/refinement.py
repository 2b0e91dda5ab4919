"""What may follow an answer, or come before it: a price, a narrower interval, the exact value as the last word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, SupportsFloat, overload

import numpy as np

from unworn.basics.display import show_value
from unworn.basics.float_settings import USUAL_FLOATS
from unworn.errors import Unaskable
from unworn.holdout.asking.argument_checks import check_asker, check_list
from unworn.holdout.asking.composite_parts import gather_answers, open_composites, part_guesses
from unworn.holdout.asking.preparation import Preparation
from unworn.holdout.asks import Ask, GivenTags, check_names, put_into_words, read_label
from unworn.mechanisms.contract.capabilities import DrawsRows, SharpensAnswers
from unworn.mechanisms.contract.conversation import publish_symbol, widest_width
from unworn.mechanisms.contract.declarations import currency_of, prices_of
from unworn.mechanisms.contract.mechanism import has_failed
from unworn.queries import Composite, Hypothesis, Query, parse
from unworn.queries.code.code_in_query import check_code, named_code
from unworn.queries.composite import Question
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer, DerivedQuote

if TYPE_CHECKING:
    from unworn.holdout.asking.final_asks import FinalQuote
    from unworn.mechanisms.contract.record import Record
    from unworn.record.meter import Quote


Finished = Answer | DerivedAnswer | Query | Composite | str
"""What final values can be had of."""


class Refinement(Preparation):
    """The part of :class:`~unworn.holdout.Holdout` that draws ahead, quotes, sharpens and finishes."""

    def sharpen(
        self, answer: Answer, *, by: str | None = None, name: str | None = None, tags: GivenTags = None
    ) -> Answer:
        """Get a narrower interval for an answer that matters, by asking the same question again inside its cell.

        The cell is the range of values that the answer told. A model that was fitted again since is another model, and
        is refused. ``name`` and ``tags`` are kept with the new answer: if left out, those of the old one.
        """
        if not isinstance(answer, Answer):
            raise Unaskable(f"sharpen takes an answer of this holdout, not a {type(answer).__name__}")
        record = self._record_of(answer)
        mechanism = self.mechanism
        if not isinstance(mechanism, SharpensAnswers):
            raise Unaskable(f"{type(mechanism).__name__} has nothing to sharpen: its answers are not cells")
        mechanism.check_sharpenable(record.offer)
        ask = replace(self._following(answer, record, by, name, tags), parent=answer.index)
        with self._desk.order():
            transcript = self._desk.released()
            if transcript.answered(*ask.name) is None:
                with np.errstate(**USUAL_FLOATS):
                    offer = transcript.offer(ask.facts, None, ask.parent)
                    mechanism.check_gain(record.offer, record.symbol, offer)
        return self._one(ask)

    @overload
    def final(
        self,
        questions: Answer | Query | str,
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Answer: ...
    @overload
    def final(
        self,
        questions: DerivedAnswer | Composite,
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> DerivedAnswer: ...
    @overload
    def final(
        self,
        questions: Iterable[Answer | Query],
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> list[Answer]: ...
    @overload
    def final(
        self,
        questions: Iterable[Answer | DerivedAnswer | Query | Composite],
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> list[Answer | DerivedAnswer]: ...
    def final(
        self,
        questions: Finished | Iterable[Finished],
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Any:
        """Release exact values as the last word, nearly as sharp as those of a test set that nobody had touched.

        Several answers or questions given at once are fixed together and share the level. The holdout is then closed:
        the values can be this sharp because nothing follows. ``close=False`` keeps it open, at a price that
        :meth:`quote_final` gives beforehand. A final interval is never wider than what was known. That of a model,
        whose code may answer differently the second time, is refused where it would be wider. All parts of a composite
        are fixed together. ``name`` and ``tags`` are kept with the values: if left out, those of the answers they are
        the last word on.
        """
        from unworn.holdout.asking.final_asks import check_not_wider

        one, listed = self._listed(questions)
        asks = self._final_asks(listed, close, by, name, tags)
        with self._desk.order():
            check_not_wider(asks, self._desk.released())
        answers = self._desk.enter(asks)
        told = gather_answers(listed, [self._checked_answer(answer) for answer in answers] if one else answers)
        return told[0] if one else told

    def quote_final(self, questions: Finished | Iterable[Finished], *, close: bool = True) -> FinalQuote:
        """How sharp :meth:`final` would be, and what it would cost, without asking for it."""
        from unworn.holdout.asking.final_asks import quote_final

        asks = self._final_asks(self._listed(questions)[1], close, None)
        with self._desk.order():
            return quote_final(asks, self._desk.released(), close)

    @staticmethod
    def _listed(questions: Any) -> tuple[bool, list[tuple[Composite | None, list[Any]]]]:
        """Whether it is one that final values are wanted of; and all of them, with their parts."""
        one = isinstance(questions, Finished)
        listed = [questions] if one else check_list(questions, "final questions")
        if not listed:
            raise Unaskable("name at least one answer or question whose final value is wanted")
        return one, open_composites(listed)

    def _final_asks(
        self,
        listed: Iterable[tuple[Composite | None, list[Any]]],
        close: bool,
        by: str | None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> list[Ask]:
        from unworn.holdout.asking.final_asks import final_asks

        if not isinstance(close, bool):
            raise Unaskable(f"close= is True or False, not {show_value(close)}")
        asks = []
        for question in (part for _, parts in listed for part in parts):
            if isinstance(question, Answer):
                record = self._record_of(question)
                asks.append(replace(self._following(question, record, by, name, tags), practice=question.practice))
            else:
                tested = isinstance(question, Hypothesis)  # which is refused below, as one that has no final value
                asks.append(self._prepare(question, None, by=by, test=tested, label=read_label(name, tags)))
        with self._desk.order():
            transcript = self._desk.released()
            check_names(asks, transcript)
            return final_asks(asks, transcript, close)

    def _following(self, answer: Answer, record: Record, by: str | None, name: str | None, tags: GivenTags) -> Ask:
        """The same question once more. Beside it stands what the answer has, where nothing else is said."""
        query, asker, given = self._question_of(answer, record), check_asker(by), read_label(name, tags)
        # Read again: the record's own are in the asker's hands, and code could change them when it sees rows.
        label = read_label(given.name or record.name, given.tags or record.tags)
        code = named_code(query) if record.offer.runs_code else None
        words = put_into_words(query, asker, label, code)
        return Ask(query, record.facts, words, by=asker, label=label, code=code)

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
            raise Unaskable("there is no answer to build on: the question's own code failed on the rows")
        return record

    def _question_of(self, answer: Answer, record: Record) -> Query:
        """The question that an answer was given to, if it is still the same."""
        query = answer.query if answer.query is not None else parse(record.question)
        if query.fingerprint != record.fingerprint:
            raise Unaskable("this answer carries another question than the one it was given to: ask that one itself")
        query.facts(self._sample.schema, self._sample.length)
        check_code(query)
        return query

    @overload
    def quote(
        self,
        question: Query | str,
        guess: SupportsFloat | None = None,
        *,
        guess_se: float | None = None,
        gauge: float | None = None,
        again: bool = False,
        noise: bool = False,
    ) -> Quote: ...
    @overload
    def quote(
        self,
        question: Composite,
        guess: Any = None,
        *,
        guess_se: Any = None,
        again: bool = False,
        noise: bool = False,
    ) -> DerivedQuote: ...
    def quote(
        self,
        question: Question | str,
        guess: Any = None,
        *,
        guess_se: Any = None,
        gauge: float | None = None,
        again: bool = False,
        noise: bool = False,
    ) -> Quote | DerivedQuote:
        """What a question would cost and how wide its answer would be, without asking it.

        With ``again=True``, the price of asking a question that was answered before anew.
        """
        from unworn.record.meter import Quote

        if isinstance(question, Composite):
            guesses = zip(question.questions, part_guesses(question, guess, guess_se), strict=True)
            parts = [self.quote(q, value, guess_se=error, again=again, noise=noise) for q, (value, error) in guesses]
            low, high = question.interval([(part.low, part.high) for part in parts])
            return DerivedQuote(low, high, sum(part.cost for part in parts), question.label, parts[0].currency)
        ask, currency = self._prepare(question, guess, guess_se, gauge=gauge, noise=noise), currency_of(self.mechanism)
        with self._desk.order():
            transcript = self._desk.released()
            check_names([ask], transcript)
            told = None if again else transcript.answered(ask.query.fingerprint)
            if told is not None:
                known = self._desk.answer(told)
                return Quote(told, known.width, known.width, 0.0, 0.0, None, True, known.low, known.high, currency)
            with np.errstate(**USUAL_FLOATS):
                offer = transcript.offer(ask.facts, self._desk.guessed(ask).guess, None, noise=ask.noise)
        mechanism = self.mechanism
        with np.errstate(**USUAL_FLOATS):
            likely, widest = publish_symbol(mechanism, offer, mechanism.likely(offer)), widest_width(mechanism, offer)
            (cost, surprise), width = prices_of(mechanism, offer), (likely.high - likely.low) / 2
        guessed = offer.payload.guess
        return Quote(offer.index, width, widest, cost, surprise, guessed, False, likely.low, likely.high, currency)

    def gather(self, samples: int, columns: Iterable[str] | None = None) -> int:
        """Draw rows for the next asks now, so that those asks need not draw them; returns how many draws are ready.

        For a mechanism that draws fresh rows. Each draw serves one answer, whose certificate names it, and is discarded
        with this object. Asks beyond the draws draw their rows as usual, and nothing is drawn for asks beyond the plan.
        ``columns`` are those copied ahead, by default all. Rows that stay in an engine come in one pass for all draws.
        """
        if not isinstance(self.mechanism, DrawsRows):
            raise Unaskable(f"{type(self.mechanism).__name__} reads all the rows, so there is nothing to draw ahead")
        if isinstance(samples, bool) or not isinstance(samples, Integral) or samples < 1:
            raise Unaskable(f"samples is a whole number of at least 1, not {show_value(samples)}")
        self._desk.writable()
        names = None if columns is None else check_list(columns, "columns")
        for name in names or ():
            self._sample.schema.of(name)
        from unworn.holdout.gathering import gather_rows  # loaded by those who draw ahead

        return gather_rows(self._desk, self._sample, int(samples), names)
