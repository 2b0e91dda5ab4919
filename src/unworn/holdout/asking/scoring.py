"""How models are scored: one by itself, two side by side, and many in a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsFloat

from unworn.errors import Unaskable
from unworn.holdout.asking.argument_checks import is_source
from unworn.holdout.asking.guesses import fold_guess
from unworn.holdout.asking.preparation import Preparation
from unworn.holdout.asks import GivenTags, read_label
from unworn.holdout.scorer import Scorer
from unworn.mechanisms.contract.conversation import check_question
from unworn.queries.composite import Composite
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.metrics.metric_catalogue import greater_is_better, metric_name, needs_classes
from unworn.queries.metrics.paired_query import compare_questions
from unworn.queries.query import Facts, Kind
from unworn.queries.ranking_query import RankingQuery
from unworn.queries.recorded_predictions import RecordedPredictions
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer


class Scoring(Preparation):
    """The part of :class:`~unworn.holdout.Holdout` that is about models and predictions."""

    def score(
        self,
        predictions: Any,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        metric: str | None = None,
        guess_se: float | Sequence[float | None] | None = None,
        gauge: float | None = None,
        name: str | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        tags: GivenTags = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """Score a model, or predictions in the rows' order, by a metric's name: docs/questions.md lists them.

        Without a name it is R² for a regressor and accuracy for all else. ``where=`` is a predicate, also as SQL text:
        the metric over the rows where it holds. ``neg_…`` names are the negative of a loss, as in scikit-learn.

        Predictions are for all the rows, practice rows included. Without a guess of yours, the value on ``train`` is
        the guess, or else that on the practice rows; with neither, the answer costs more. A model is identified by its
        bytes and code, or else by ``name``: another model under the same name is refused. An array is identified by its
        numbers, and there ``name`` is a label. ``gauge``, ``tags`` and ``noise`` (for predictions in an array) are as
        in :meth:`ask`; ``options`` are the metric's (``range=``, ``positive=``, ``k=``, …). With ``train`` or practice
        rows a model is tried there first, and what it raises is shown in full; what it raises, prints or warns about on
        the sealed rows is withheld.
        """
        label = read_label(name, tags)
        query = self._metric(metric, predictions, name, options)
        made_here = not is_source(predictions)
        how: dict[str, Any] = {"again": again, "by": by, "made_here": made_here, "noise": noise, "label": label}
        return self._answer_to(query, self._desk.enter(self._asks_of(query, guess, guess_se, gauge=gauge, **how)))

    def compare(
        self,
        first: Any,
        second: Any,
        guess: SupportsFloat | Sequence[float | None] | None = None,
        *,
        metric: str | None = None,
        discordance: float | None = None,
        guess_se: float | Sequence[float | None] | None = None,
        again: bool = False,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """Ask for the metric of ``first`` minus that of ``second``, as one paired question: far sharper than two.

        ``discordance`` is the largest mean absolute difference to expect between the two (for accuracy: the share of
        rows that only one of them gets right). If you leave it out, two arrays provide it themselves, and else
        ``train`` or practice rows where they can. Of a metric that is not a mean over rows (F1, AUC, RMSE) the two are
        asked one by one, and the answer is their difference. ``name`` and ``tags`` are as in :meth:`ask`.
        """
        label = read_label(name, tags)
        query = compare_questions(*(self._metric(metric, each, None, options) for each in (first, second)))
        if discordance is not None and guess is None:
            guess = 0.0
        made_here = not is_source(first) and not is_source(second)
        how: dict[str, Any] = {"again": again, "by": by, "made_here": made_here, "label": label}
        return self._answer_to(query, self._desk.enter(self._asks_of(query, guess, guess_se, discordance, **how)))

    def scorer(
        self,
        metric: str = "accuracy",
        *,
        name: str | Callable[[Any], str] | None = None,
        tags: GivenTags | Callable[[Any], GivenTags] = None,
        **options: Any,
    ) -> Scorer:
        """A scorer for ``GridSearchCV(scoring=...)``: each fold's score is the guess, and the holdout checks it.

        It returns what :meth:`score` answers under the same name. Searches look for the largest, so a loss goes by its
        ``neg_…`` name. ``name`` and ``tags`` label every answer and identify nothing; either may be a function of the
        fitted model.
        """
        self._check_scorable(metric, options)
        if self._sample.schema.target is None:
            raise Unaskable(f"{metric} needs labels, and this holdout was sealed without any: give y=")
        return Scorer(self, metric, self._options(metric, options), name, tags)

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[Any, Any] | None:
        """A fitted estimator's score on a fold, with its standard error: what the scorer guesses with."""
        return fold_guess(estimator, X, y, metric, options, self._centred)

    def _check_scorable(self, metric: str, options: dict[str, Any]) -> None:
        """Refuse what no search can be scored by now, and not after hours of fitting."""
        if not greater_is_better(metric):
            raise Unaskable(
                f"{metric} is a loss, and searches look for the largest score: use scorer('neg_{metric_name(metric)}')"
            )
        filled = {"classes": [0, 1]} if needs_classes(metric) and not {"shares", "weights"} & set(options) else {}
        stand_in = RecordedPredictions({"method": "predict"})
        question = self._metric(metric, stand_in, None, {**filled, **self._options(metric, options)})
        for part in question.questions if isinstance(question, Composite) else (question,):
            kind: Kind = "unit"
            if isinstance(part, ConditionalQuery | RankingQuery):
                kind = "conditional" if isinstance(part, ConditionalQuery) else "ranking"
            check_question(self.mechanism, Facts(kind, 0.0, 1.0, runs_code=True))  # also one that refuses every model
