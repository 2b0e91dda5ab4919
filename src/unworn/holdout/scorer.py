"""The scikit-learn scorer: the fold guesses, the holdout checks.

A plain callable that imports nothing of scikit-learn: ``GridSearchCV(scoring=holdout.scorer("accuracy"))``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol, SupportsFloat

from unworn.errors import Exhausted, LedgerError, Mismatch, ReadOnly, UnwornError
from unworn.holdout.asks import GivenTags, Label, read_label


class Scores(Protocol):
    """A holdout, or a worker's connection to one."""

    def score(
        self,
        predictions: Any,
        guess: Any = None,
        *,
        metric: str | None = None,
        guess_se: Any = None,
        **options: Any,
    ) -> SupportsFloat: ...

    def fold_guess(
        self, estimator: Any, X: Any, y: Any, metric: str, options: Mapping[str, Any]
    ) -> tuple[Any, Any] | None: ...


class Scorer:
    """Scores a fitted estimator on the holdout, with its score on the fold (and that score's error) as the guess.

    What it returns is what ``score`` answers under the same name; losses go by their ``neg_…`` names. The same fitted
    estimator is asked once: a search that wants training scores too gets the recorded answer again, and the training
    fold is never a guess.

    Attributes
    ----------
    holdout, metric, options, name, tags
        What it was made from. A name or tags that are functions are called with the fitted estimator.
    """

    def __init__(
        self,
        holdout: Scores,
        metric: str,
        options: Mapping[str, Any],
        name: str | Callable[[Any], str] | None = None,
        tags: GivenTags | Callable[[Any], GivenTags] = None,
    ) -> None:
        self.holdout = holdout
        self.metric = metric
        self.options = dict(options)
        self.name, self.tags = name, tags
        if not (callable(name) or callable(tags)):
            read_label(name, tags)  # refused now, not after hours of fitting

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float | Spent:
        """The score of the estimator on the holdout; ``X`` and ``y`` are the fold it is guessed from."""
        guess = None if y is None else self.holdout.fold_guess(estimator, X, y, self.metric, self.options)
        value, error = (None, None) if guess is None else guess
        try:
            answer = self.holdout.score(
                estimator, value, metric=self.metric, guess_se=error, tags=self._label(estimator), **self.options
            )
        except (Exhausted, Mismatch, ReadOnly, LedgerError) as refusal:  # no other candidate will fare better
            return Spent(refusal)
        return float(answer)

    def _label(self, estimator: Any) -> Label | None:
        name = self.name(estimator) if callable(self.name) else self.name
        tags = self.tags(estimator) if callable(self.tags) else self.tags
        return None if name is None and tags is None else read_label(name, tags)

    def __repr__(self) -> str:
        return f"{self.holdout!r}.scorer({self.metric!r})"


class Spent:
    """What a scorer returns once the holdout cannot be asked any more: nothing that can be taken for a number.

    scikit-learn turns an exception inside a scorer into ``error_score`` and goes on fitting, but it unwraps the
    returned score outside that guard. Raising there ends the search with the holdout's own error, whatever
    ``error_score`` is.
    """

    def __init__(self, refusal: UnwornError) -> None:
        self.refusal = refusal

    def item(self) -> NoReturn:
        raise self.refusal

    def __float__(self) -> float:
        raise self.refusal

    def __repr__(self) -> str:
        return f"Spent({self.refusal.message.splitlines()[0]!r})"
