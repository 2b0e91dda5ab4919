"""How a question becomes an ask, and an ask an answer: whatever can be refused without rows is refused here."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsFloat

from unworn.basics.display import show_value
from unworn.errors import Failed, Unaskable
from unworn.holdout.asking.argument_checks import as_asked, check_asker, check_text, is_named
from unworn.holdout.asking.code_on_train import check_fitted, few_rows, try_code
from unworn.holdout.asking.composite_parts import part_guesses
from unworn.holdout.asking.guesses import (
    NO_DIFFERENCE,
    difference_as_mean,
    given_gauge,
    given_guess,
    preferred_guess,
    train_guess,
    with_gauge,
)
from unworn.holdout.asks import NO_LABEL, Ask, Label, put_into_words
from unworn.holdout.holdout_view import HoldoutView
from unworn.holdout.practice import estimate, practice_guess
from unworn.mechanisms.contract.capabilities import needs_guess, uses_gauge
from unworn.mechanisms.contract.mechanism import STOPPED, Guess, has_failed
from unworn.mechanisms.contract.offer import NO_GUESS
from unworn.queries import Expression, Query
from unworn.queries import metric as metric_query
from unworn.queries.code.code_in_query import check_code, named_code
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.metric_catalogue import metric_name, needs_classes, read_predicate
from unworn.queries.metrics.positive_class import INSTEAD, refuse_many
from unworn.queries.metrics.prediction_types import default_metric
from unworn.queries.predictions import NamedPredictions
from unworn.queries.query import SUBSETS, Facts
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer

if TYPE_CHECKING:
    from unworn.rows import Sample

Asked = Question | Expression | str
"""What can be asked: text is an SQL predicate, and a predicate asks for its share."""


class Preparation(HoldoutView):
    """The part of :class:`~unworn.holdout.Holdout` that every verb goes through."""

    _train: Sample | None
    _practice_rows: Sample | None
    _reordered: bool

    def _prepare(
        self,
        question: Query | Expression | str,
        value: SupportsFloat | None,
        error: float | None = None,
        discordance: float | None = None,
        gauge: float | None = None,
        *,
        again: bool = False,
        by: str | None = None,
        test: bool = False,
        made_here: bool = False,
        noise: bool = False,
        label: Label = NO_LABEL,
    ) -> Ask:
        """Everything that can be refused without rows is refused here."""
        if not isinstance(again, bool):
            raise Unaskable(f"again= is True or False, not {show_value(again)}")
        if not isinstance(noise, bool):
            raise Unaskable(f"noise= is True or False, not {show_value(noise)}")
        query, facts = self._understand(question, test=test)
        try:
            _ = query.fingerprint  # made here, so that what has none is refused before rows are read
        except (TypeError, ValueError, RecursionError) as why:
            raise Unaskable(f"this question cannot be written as plain JSON ({why}); rename or fix it") from None
        if facts.runs_code and not made_here:
            check_code(query)
        visible = self._visible
        if facts.runs_code and visible is not None:
            try_code(query, set(self._sample.columns), visible, self._few_rows)
        elif facts.runs_code:
            check_fitted(query)
        gauged = facts.kind != "binary" and not test and uses_gauge(self.mechanism, facts)
        sealed = self._sample.size if gauged else None
        own = given_gauge(facts, gauge, self._sample.size)
        guess = None if value is None else given_guess(facts, value, error, discordance, own)
        if value is None and error is not None:
            raise Unaskable("guess_se says how sure a guess is, and there is no guess: give guess= too")
        if self._train is not None and not test:
            if guess is None:
                guess = train_guess(query, self._train, sealed)
            elif sealed is not None and guess.gauge is None:
                guess = with_gauge(guess, train_guess(query, self._train, sealed))
        if facts.kind == "paired" and discordance is None and not test:
            guess = self._with_discordance(query, facts, guess)
        practice = None
        if self._practice_rows is not None and (facts.runs_code or not test):  # a test has no guess, but code to try
            expected = practice_guess(query, facts, self._practice_rows, sealed)
            guess = with_gauge(preferred_guess(guess, expected), expected) if not test else guess
            practice = None if expected is None or test else estimate(query, expected, self._practice_rows)
        if facts.kind == "unit" and query.family not in self._ranges_seen and visible is not None:
            from unworn.holdout.asking.range_notice import warn_if_short  # loaded by those who ask for losses

            self._ranges_seen.add(query.family)
            if query.portable or visible is self._practice_rows:
                warn_if_short(query, visible)
        if sealed is not None and facts.kind == "conditional":
            guess = self._with_known_rows(query, facts, guess, sealed)
        if own is not None:
            guess = self._with_own_gauge(facts, guess, own)
        if guess is None and gauged and facts.kind in SUBSETS and needs_guess(self.mechanism, facts):
            self._refuse_unseen(query)
        if facts.kind == "paired" and guess is not None and guess.gauge is not None:
            facts, guess = difference_as_mean(facts, guess, usable=sealed is not None and not noise, own=own)
        code = named_code(query) if facts.runs_code else None
        asker = None if by is None else check_asker(by)
        words = put_into_words(query, asker, label, code)
        return Ask(query, facts, words, guess, asker, again, None, None, practice, noise, label, code)

    def _with_discordance(self, query: Query, facts: Facts, guess: Guess | None) -> Guess | None:
        """A comparison of two arrays knows how much they differ: the guess with that, or no difference with that."""
        from unworn.queries.metrics.array_discordance import array_discordance, sealed_discordance

        bound = None if self._sample.schema.grouped else array_discordance(query)
        if bound is None:
            return guess
        known = sealed_discordance(bound, facts.span, self._sample.rows, self._sample.length)
        if guess is None:
            return Guess(0.0, None, known, NO_DIFFERENCE)
        return replace(guess, discordance=known if guess.discordance is None else min(known, guess.discordance))

    def _with_known_rows(self, query: Query, facts: Facts, guess: Guess | None, sealed: int) -> Guess | None:
        """Where the asker's own array decides which rows are in the subset, how many they are is known, and free."""
        from unworn.holdout.asking.visible_gauges import known_rows

        unused = guess is None and needs_guess(self.mechanism, facts)
        known = None if unused else known_rows(query, sealed, self._sample.length)
        return guess if known is None else self._with_own_gauge(facts, guess, float(known))

    def _refuse_unseen(self, query: Query) -> None:
        """No guess of a subset, although rows may be seen: none of them is in it, and hardly any sealed one can be."""
        from unworn.holdout.asking.visible_gauges import refuse_unseen

        visible = self._visible
        seeing = visible is not None and (query.portable or visible is self._practice_rows)
        if visible is not None and seeing and self._desk.transcript.answered(query.fingerprint) is None:
            refuse_unseen(query, visible, self._sample.size)

    def _with_own_gauge(self, facts: Facts, guess: Guess | None, gauge: float) -> Guess:
        """A guess with a gauge; or a gauge alone, for a mechanism that needs no guess."""
        if guess is not None:
            return replace(guess, gauge=gauge)
        if needs_guess(self.mechanism, facts):
            raise Unaskable("gauge= goes with a guess, and there is none: give guess= too")
        return Guess((facts.low + facts.high) / 2, None, None, NO_GUESS, gauge)

    def _understand(self, question: Asked, *, test: bool = False) -> tuple[Query, Facts]:
        """The question, and what is public about it; refused, before any row is read, if rows cannot be asked it."""
        query = question if isinstance(question, Query) else as_asked(question)
        if isinstance(query, Composite):
            raise Unaskable("a composite is asked by itself, with ask; a batch takes its parts, composite.questions")
        if not isinstance(query, Query):
            raise Unaskable(f"a question is share(...), mean(...), a metric or SQL text, not {type(question).__name__}")
        self._sample.check(query)
        facts = query.facts(self._sample.schema, self._sample.length)
        if facts.null is not None and not test:
            raise Unaskable("a hypothesis is not asked but tested: holdout.test(question, above=...)")
        facts.check()
        if query.needs_features and not self._sample.has_features:
            raise Unaskable("this holdout has labels only, no features to show a model: supply its predictions")
        if self._reordered and not query.portable:
            self._desk.writable()  # without the key the order cannot be known, and bringing it back is what to do
            raise Unaskable(
                "these rows come in another order than they were sealed in, and this question belongs to one order,\n"
                "  as predictions in an array do: open the rows in the order in which they were sealed"
            )
        return query, facts

    def _metric(self, metric: str | None, predictions: Any, name: str | None, options: dict[str, Any]) -> Question:
        """A metric by its name; without one, the one that the estimator is usually scored by."""
        metric = default_metric(predictions) if metric is None else metric
        if name is not None:
            name = check_text(name, "name=, what the predictions are known by,")
        question = metric_query(
            metric,
            predictions if name is None or is_named(predictions) else NamedPredictions(predictions, name),
            **self._options(metric, options),
        )
        if self._visible is not None and self._visible.schema.target is not None:
            from unworn.holdout.asking.class_names import check_class_names, has_classes

            if has_classes(question):
                check_class_names(metric, question, self._visible_classes, options)
        return question if options.get("where") is None else self._centred(question)

    def _centred(self, question: Question) -> Question:
        """A metric in a subgroup, measured from constants that rows which may be seen suggest."""
        if self._visible is None:
            return question
        from unworn.holdout.asking.subgroup_centres import centre_on_rows  # loaded by those who ask for subgroups

        return centre_on_rows(question, self._visible, arrays=self._visible is self._practice_rows)

    def _options(self, metric: str, options: dict[str, Any]) -> dict[str, Any]:
        """What the metric needs, and ``train`` or practice rows can tell."""
        visible, own = self._visible, metric_name(metric)
        if visible is None or visible.schema.target is None:
            return options
        if own == "r2" and "baseline" not in options:
            from unworn.rows.memory.visible_labels import label_mean  # loaded by those who need it

            where = options.get("where")
            return {**options, "baseline": label_mean(visible, None if where is None else read_predicate(where))}
        if needs_classes(metric) and not {"weights", "shares", "classes"} & set(options):
            return {**options, "classes": self._visible_classes}
        if own in INSTEAD and options.get("positive") is None and len(self._visible_classes) > 2:
            count = len(self._visible_classes)
            raise refuse_many(own, f"there are {count:,}", count)
        return options

    @property
    def _visible(self) -> Sample | None:
        return self._practice_rows if self._train is None else self._train

    @cached_property
    def _visible_classes(self) -> tuple[Any, ...]:
        from unworn.rows.memory.visible_labels import label_classes

        return () if self._visible is None else label_classes(self._visible)

    @cached_property
    def _ranges_seen(self) -> set[str | None]:
        return set()

    @cached_property
    def _few_rows(self) -> Sample:
        if self._visible is None:
            raise TypeError("there are no rows that may be seen")
        return few_rows(self._visible)

    def _asks_of(
        self,
        question: Asked,
        guess: Any,
        error: Any = None,
        discordance: float | None = None,
        gauge: float | None = None,
        **how: Any,
    ) -> list[Ask]:
        """The ask that a question becomes; or those of all parts of a composite, which are entered together."""
        if not isinstance(question, Composite):
            return [self._prepare(question, guess, error, discordance, gauge, **how)]
        if discordance is not None:
            raise Unaskable(f"{question.label} is not a paired question, and has no discordance: leave it out")
        if gauge is not None:
            raise Unaskable(f"{question.label} is made of several questions: ask each of them with its own gauge=")
        guesses = part_guesses(question, guess, error)
        parts = zip(question.questions, guesses, strict=True)
        return [self._prepare(part, value, own, **how) for part, (value, own) in parts]

    def _answer_to(self, question: Asked, answers: list[Answer]) -> Answer | DerivedAnswer:
        """What was asked for: the answer, or what is made of those of a composite's parts."""
        for answer in answers:
            self._checked_answer(answer)
        return DerivedAnswer.of(question, answers) if isinstance(question, Composite) else answers[0]

    def _one(self, ask: Ask) -> Answer:
        return self._checked_answer(self._desk.enter([ask])[0])

    @staticmethod
    def _checked_answer(answer: Answer) -> Answer:
        record = answer.certificate.record
        if has_failed(record.symbol):
            message = Failed.MESSAGE if record.offer.runs_code else Failed.OURS
            raise Failed(Failed.STOPPED if record.symbol == STOPPED else message, index=answer.index)
        return answer
