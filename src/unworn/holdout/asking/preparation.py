"""How a question becomes an ask, and an ask an answer: whatever can be refused without rows is refused here."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsFloat

from unworn.basics.display import show_value
from unworn.errors import Failed, Unaskable
from unworn.holdout.asking.argument_checks import check_asker, check_text, read_sql
from unworn.holdout.asking.code_on_train import check_fitted, few_rows, say_what_is_withheld, try_code
from unworn.holdout.asking.guesses import given_guess, train_guess
from unworn.holdout.asking.labels import NO_LABEL, Label, named_code
from unworn.holdout.holdout_view import HoldoutView
from unworn.holdout.jobs import Ask
from unworn.holdout.practice import estimate, practice_guess
from unworn.mechanisms.contract.mechanism import STOPPED, has_failed
from unworn.queries import Hypothesis, Query
from unworn.queries import metric as metric_query
from unworn.queries.code.code_in_query import check_code
from unworn.queries.metrics.named_metrics import metric_name
from unworn.queries.predictions import NamedPredictions
from unworn.queries.query import Facts
from unworn.record.answer import Answer

if TYPE_CHECKING:
    from unworn.rows import Sample


class Preparation(HoldoutView):
    """The part of :class:`~unworn.holdout.Holdout` that every verb goes through."""

    _train: Sample | None
    _practice_rows: Sample | None
    _reordered: bool

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
            raise Unaskable("guess_se says how sure a guess is, and there is no guess: give guess= too")
        if guess is None and self._train is not None and not test:
            guess = train_guess(query, self._train)
        practice = None
        if self._practice_rows is not None and (facts.runs_code or not test):  # a test has no guess, but code to try
            expected = practice_guess(query, facts, self._practice_rows)
            guess = expected if guess is None and not test else guess
            practice = None if expected is None or test else estimate(query, expected, self._practice_rows)
        code = named_code(query) if facts.runs_code else None
        return Ask(query, facts, guess, check_asker(by), again, None, None, practice, noise, label, code)

    def _understand(self, question: Query | str, *, test: bool = False) -> tuple[Query, Facts]:
        """The question, and what is public about it; refused, before any row is read, if rows cannot be asked it."""
        query = read_sql(question) if isinstance(question, str) else question
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
                "  as predictions in an array do: open the rows in the order in which they were sealed"
            )
        return query, facts

    def _metric(self, metric: str, predictions: Any, name: str | None, options: dict[str, Any]) -> Query:
        if name is not None:
            check_text(name, "name=, what the predictions are known by,")
        return metric_query(
            metric,
            predictions if name is None else NamedPredictions(predictions, name),
            **self._options(metric, options),
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
