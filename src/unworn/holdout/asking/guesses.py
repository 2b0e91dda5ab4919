"""Where a guess comes from: the asker, else training rows, practice rows, or the latest answer to the same metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsFloat

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.holdout.asking.code_on_train import run_on_train
from unworn.mechanisms import Guess
from unworn.mechanisms.coded.guess_slack import standard_error
from unworn.queries import Composite
from unworn.queries import metric as metric_query
from unworn.queries.composite import Question
from unworn.queries.language.literals import as_float
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.predictions import NamedPredictions
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.record.transcript import Transcript

if TYPE_CHECKING:
    from unworn.rows import Sample


NO_DIFFERENCE = "no difference"
"""The origin of the guess that two models are the same, where nobody guessed otherwise."""


def given_guess(
    facts: Facts,
    value: SupportsFloat,
    error: float | None = None,
    discordance: float | None = None,
    gauge: float | None = None,
) -> Guess:
    """The asker's own guess, checked: it is theirs, so a mistake is an error and nothing is charged."""
    number = guess_number(value)
    if not facts.low <= number <= facts.high:  # also refuses NaN
        raise Unaskable(
            f"the guess {number} lies outside the question's range [{facts.low:g}, {facts.high:g}]; "
            "guess in the question's own units"
        )
    own = _width(error, facts, "the guess's standard error"), _width(discordance, facts, "discordance")
    return Guess(number, *own, gauge=gauge)


def guess_number(value: object) -> float:
    """A guess as a number. Text in its place is usually the name of a metric, which is not the second argument.

    >>> guess_number("f1")
    Traceback (most recent call last):
    unworn.errors.Unaskable: a guess is a number, not 'f1': name a metric with metric='f1'
    """
    if isinstance(value, str):
        shown = show_value(value)
        raise Unaskable(f"a guess is a number, not {shown}: name a metric with metric={shown}")
    return as_float(value, "a guess")


def given_gauge(facts: Facts, gauge: float | None, sealed: int) -> float | None:
    """What the asker declares beside a guess: a standard deviation in the question's units, or a number of rows."""
    if gauge is None:
        return None
    if facts.kind in SUBSETS:
        number = as_float(gauge, "gauge")
        if not 0 <= number <= sealed:
            raise Unaskable(f"gauge= is the fewest rows to expect in the subset, of {sealed}, not {number:g}")
        return float(math.floor(number))
    if facts.kind not in ("unit", "paired") or facts.zero_one:
        raise Unaskable("gauge= is for means that are not 0/1, for shares of a subset and for rankings: leave it out")
    deviation = _width(gauge, facts, "gauge=, the largest standard deviation to expect,") or 0.0
    return min((deviation / (facts.high - facts.low)) ** 2, 0.25)


def with_gauge(guess: Guess | None, expected: Guess | None) -> Guess | None:
    """A guess with what visible rows declare, where it declares nothing itself."""
    if guess is None or expected is None or guess.gauge is not None or expected.gauge is None:
        return guess
    return replace(guess, gauge=expected.gauge)


def train_guess(query: Query, train: Sample, sealed: int | None = None) -> Guess | None:
    """The value on rows the asker may see; none when the question cannot be put to them.

    Code that fails on them is refused, with its own error in full. For so many ``sealed`` rows it also declares what
    to expect of the gauge.
    """
    if not query.portable:
        return None
    try:
        facts = query.facts(train.schema, train.rows)
    except Unaskable:
        return None
    return visible_guess(query, facts, train, "train", sealed)


def visible_guess(query: Query, facts: Facts, rows: Sample, origin: str, sealed: int | None = None) -> Guess | None:
    """The exact value on rows that may be seen, with its standard error and, of paired questions, the discordance.

    For so many ``sealed`` rows, with what it declares of any other gauge.
    """
    if facts.kind == "paired":
        difference, spread = (float(x) for x in run_on_train(query, rows, lambda: rows.differences([query])[0]))
        span = (facts.high - facts.low) / 2
        # Doubled; and agreement on every one of them still leaves room for a few that differ.
        discordance = min(2 * max(spread / span, 8 / rows.size), 1.0)
        variance = max(spread / span - (difference / span) ** 2, 0.0)
        guess = Guess(difference, span * standard_error(variance, rows.size), discordance * span, origin)
        if facts.zero_one or sealed is None:
            return guess
        from unworn.holdout.asking.visible_gauges import gauged_guess

        return _narrower(guess, gauged_guess(query, facts, rows, origin, sealed), facts)
    if facts.kind in SUBSETS or (facts.kind == "unit" and sealed is not None):
        from unworn.holdout.asking.visible_gauges import gauged_guess  # loaded by those who ask such questions

        return gauged_guess(query, facts, rows, origin, sealed)
    if facts.kind == "binary":
        value, span = int(run_on_train(query, rows, lambda: rows.counts([query])[0])) / rows.size, 1.0
    else:
        value = float(run_on_train(query, rows, lambda: rows.means([query])[0]))
        span = facts.high - facts.low
    share = (value - facts.low) / span
    return Guess(value, span * standard_error(share * (1 - share), rows.size), None, origin)


def _narrower(by_size: Guess, by_variance: Guess | None, facts: Facts) -> Guess:
    """The guess of a difference with the gauge that promises less spread: its mean size, or its variance.

    A difference within ±1 of mean size s varies by s at most; one with the variance v on the scale of [0, 1] by 4v.
    The variance must be smaller by half, since its range is twice as long.
    """
    size = 1.0 if by_size.discordance is None else by_size.discordance / facts.span
    if by_variance is None or by_variance.gauge is None or 4.0 * by_variance.gauge > 0.5 * size:
        return by_size
    return by_variance


def difference_as_mean(facts: Facts, guess: Guess, *, usable: bool, own: float | None) -> tuple[Facts, Guess]:
    """A difference whose variance was declared is asked as what it also is: the mean of values in a range.

    Unless a smaller mean size is known, as of two arrays that hardly differ; or the variance is as large as it can be.
    """
    size = math.inf if guess.discordance is None else guess.discordance / facts.span
    gauge, place = guess.gauge or 0.0, (guess.value - facts.low) / (facts.high - facts.low)
    if not usable or (own is None and 4.0 * gauge > 0.5 * size) or gauge >= place * (1.0 - place):
        return facts, replace(guess, gauge=None)
    return replace(facts, kind="unit"), replace(guess, discordance=None)


def preferred_guess(guess: Guess | None, expected: Guess | None) -> Guess | None:
    """The guess there is; but what practice rows say is better than that there is no difference."""
    if guess is None or expected is None or guess.origin != NO_DIFFERENCE:
        return expected if guess is None else guess
    known = [each.discordance for each in (guess, expected) if each.discordance is not None]
    return replace(expected, discordance=min(known, default=None))


def ledger_guess(query: Query, facts: Facts, transcript: Transcript) -> Guess | None:
    """The latest answer to the same metric: a function of what was released, so it costs nothing."""
    if query.family is None or facts.kind == "paired":  # for a difference, no difference is the better guess
        return None
    latest = transcript.latest(query.family)
    if latest is None:
        return None
    return Guess(min(max(latest.published.value, facts.low), facts.high), None, None, "ledger")


def _width(value: float | None, facts: Facts, what: str) -> float | None:
    if value is None:
        return None
    width = as_float(value, what)
    if not (math.isfinite(width) and width >= 0):
        raise Unaskable(f"{what} must be a finite number of at least 0, not {width}")
    return min(width, facts.span)  # wider than the range says no more than as wide


def fold_guess(
    estimator: Any,
    X: Any,
    y: Any,
    metric: str,
    options: Mapping[str, Any],
    centred: Callable[[Question], Question] | None = None,
) -> tuple[Any, Any] | None:
    """A fitted estimator's score on a fold that it was not fitted on, with its standard error.

    Of a composite: those of all its parts, in their order. ``centred`` makes of a loss in a subgroup what the holdout
    will ask; where nobody can say what that is, the fold has no guess, and practice rows have one.

    An estimator that fails there is refused before it is shown the holdout's rows.
    """
    from unworn.rows import Sample

    question = metric_query(metric, NamedPredictions(estimator, "fold", watch=False), **options)
    if centred is not None:
        question = centred(question)
    elif isinstance(question, Composite) and any(isinstance(part, MaskedLoss) for part in question.questions):
        return None
    try:
        labels = Sample.read(None, y)
    except Unaskable:
        return None
    # The fold as it is, whatever its form: only its labels are read here, the rest is for the estimator.
    fold = Sample(labels.columns, labels.schema, rows=labels.rows, features=X)
    # As for sealed rows whose gauge is told: a loss has the standard error of its own variance, not of its range.
    if isinstance(question, Composite):
        guesses = [train_guess(query, fold, fold.size) for query in question.questions]
        known = [(None, None) if guess is None else (guess.value, guess.error) for guess in guesses]
        return [value for value, _ in known], [error for _, error in known]
    guess = train_guess(question, fold, fold.size)
    return None if guess is None else (guess.value, guess.error)
