"""Scoring over a connection: predictions travel, models and rows do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unworn.basics.json_text import canonical
from unworn.basics.typed_fields import read_fields
from unworn.client.ask_words import Guesses, check_by, guess_body, label_body, read_question
from unworn.client.connected_view import ConnectedView
from unworn.client.local_predictions import Sent, predictions_to_send
from unworn.client.signed_answers import mentions_digest, read_answer
from unworn.client.transport.problem_errors import BadReply
from unworn.client.transport.upload_body import make_form
from unworn.errors import Tampered, Unaskable
from unworn.holdout.asking.guesses import fold_guess
from unworn.holdout.asks import GivenTags
from unworn.holdout.scorer import Scorer
from unworn.queries.composite import Question
from unworn.queries.metrics.metric_catalogue import greater_is_better, metric_name
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer
from unworn.record.practice_estimate import PracticeEstimate


class ConnectedScoring(ConnectedView):
    """The part of :class:`~unworn.client.connected_holdout.ConnectedHoldout` about models and predictions."""

    def score(
        self,
        predictions: Any,
        guess: Guesses = None,
        *,
        metric: str | None = None,
        X: Any = None,
        guess_se: float | Sequence[float | None] | None = None,
        gauge: float | None = None,
        name: str | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        tags: GivenTags = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """As :meth:`Holdout.score`, of predictions in the rows' order: an array, a frame, or a file of them.

        A model is scored by predictions that it makes here, on the features ``X`` of the holdout's rows, in their
        order: whoever has them may have them without labels. An ONNX file travels as it is, and is run by the server.
        """
        check_by(by)
        sent = predictions_to_send(predictions, metric, X, options)
        told = guess_body(guess, guess_se, gauge, again=again, noise=noise) | label_body(name, tags)
        reply = self._wire.upload(f"{self._base}/scores", sent.upload, **_query(sent.metric, told, options))
        return _about(read_answer(reply, self._pin), sent)

    def compare(
        self,
        first: Any,
        second: Any,
        guess: Guesses = None,
        *,
        metric: str | None = None,
        X: Any = None,
        discordance: float | None = None,
        guess_se: float | Sequence[float | None] | None = None,
        again: bool = False,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
        **options: Any,
    ) -> Answer | DerivedAnswer:
        """As :meth:`Holdout.compare`: the metric of ``first`` minus that of ``second``, as one paired question."""
        check_by(by)
        one, other = (predictions_to_send(each, metric, X, options) for each in (first, second))
        told = guess_body(guess, guess_se, again=again) | label_body(name, tags)
        if discordance is not None:
            told["discordance"] = float(discordance)
        form = make_form({"first": one.upload, "second": other.upload})
        reply = self._wire.upload(f"{self._base}/comparisons", form, **_query(one.metric, told, options))
        return _about(_about(read_answer(reply, self._pin), one), other)

    def scorer(
        self,
        metric: str = "accuracy",
        *,
        X: Any = None,
        name: str | Callable[[Any], str] | None = None,
        tags: GivenTags | Callable[[Any], GivenTags] = None,
        **options: Any,
    ) -> Scorer:
        """As :meth:`Holdout.scorer`; ``X`` are the features of the holdout's rows, in their order, without labels.

        Each candidate predicts on ``X`` here, its predictions are sent, and the fold's score is the guess.
        """
        if not greater_is_better(metric):
            raise Unaskable(
                f"{metric} is a loss, and searches look for the largest score: use scorer('neg_{metric_name(metric)}')"
            )
        if X is None:
            raise Unaskable(
                "a scorer over a connection predicts here and sends predictions, so it needs rows to predict on: give "
                "X=, the features of the holdout's rows in their order, without labels.\n"
                "  Without them a search can be scored on rows of your own, and its winner sent as ONNX."
            )
        return Scorer(FeaturesHere(self, X), metric, options, name, tags)

    @property
    def practice(self) -> ConnectedPractice:
        """As :attr:`Holdout.practice`: exact values on rows that may wear out, free."""
        return ConnectedPractice(self)

    def look(self, body: Any, sent: Sent | None = None, **query: Any) -> PracticeEstimate:
        """What the practice rows say."""
        path = f"{self._base}/practice"
        told = self._wire.post(path, body) if sent is None else self._wire.upload(path, sent.upload, **query)
        try:
            return read_fields(PracticeEstimate, told)
        except (TypeError, ValueError, AttributeError):
            raise BadReply("the server shows no value on practice rows that can be read") from None


class FeaturesHere:
    """A connection together with features that the asker has: what a scorer needs of a holdout."""

    def __init__(self, holdout: ConnectedScoring, X: Any) -> None:
        self._holdout, self._features = holdout, X

    def score(self, predictions: Any, guess: Any = None, *, metric: str | None = None, **options: Any) -> Any:
        return self._holdout.score(predictions, guess, metric=metric, X=self._features, **options)

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[Any, Any] | None:
        """As :meth:`Holdout.fold_guess`; none where only the server knows what the metric needs (classes, a mean)."""
        try:
            return fold_guess(estimator, X, y, metric, options)
        except Unaskable:
            return None

    def __repr__(self) -> str:
        return repr(self._holdout)


class ConnectedPractice:
    """The practice rows of a holdout behind a wall."""

    def __init__(self, holdout: ConnectedScoring) -> None:
        self._holdout = holdout

    @property
    def size(self) -> int:
        return self._holdout.practice_size

    def ask(self, question: Question | str) -> PracticeEstimate:
        """As :meth:`Practice.ask`."""
        return self._holdout.look({"question": read_question(question).to_json()})

    def score(self, predictions: Any, *, metric: str | None = None, X: Any = None, **options: Any) -> PracticeEstimate:
        """As :meth:`Practice.score`, of predictions for all the rows, in their order."""
        sent = predictions_to_send(predictions, metric, X, options)
        return self._holdout.look(None, sent, **_query(sent.metric, {}, options))

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"{self._holdout!r}.practice"


def _query(metric: str, told: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What stands behind the ? of a score: plain numbers and texts, and JSON where it is neither."""
    try:
        plain = {name: value for name, value in options.items() if value is not None}
        canonical(plain)
    except (TypeError, ValueError):
        raise Unaskable(
            "the options of a metric travel as text, numbers and lists: give where= as SQL text, for instance"
        ) from None
    return {"metric": metric, **told, **({"options": plain} if plain else {})}


def _about(answer: Answer | DerivedAnswer, sent: Sent) -> Answer | DerivedAnswer:
    """The same answer, if it is about the predictions that were sent."""
    parts = (answer,) if isinstance(answer, Answer) else answer.parts
    if sent.digest is not None and not any(mentions_digest(part.certificate, sent.digest) for part in parts):
        raise Tampered("the server's answer is about other predictions than the ones that were sent")
    return answer
