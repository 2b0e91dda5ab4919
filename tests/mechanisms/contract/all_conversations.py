"""Conversations in which every mechanism makes every kind of offer that it has, to the same entries each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.ledger.older_conversations import (
    CONVERSATIONS,
    X,
    Y,
    above_threshold,
    broken,
    guess_and_check,
    ladder,
    paired_ladder,
    predictions,
    rounding,
)
from unworn import Holdout, col, function, mean, recall, share, statistic
from unworn.errors import Failed, Unaskable
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import (
    AboveThreshold,
    BoundedNoise,
    Gaussian,
    GuessAndCheck,
    Ladder,
    Laplace,
    Mechanism,
    MedianOracle,
    MultiplicativeWeights,
    Naive,
    OneSample,
    PairedLadder,
    PrivateGuessAndCheck,
    PrivateLadder,
    Rounding,
    SampleSplitting,
    SparseVector,
    Subsampled,
    Thresholdout,
)

Talk = Callable[[Holdout], None]
MANY = 20_000
LARGE = {
    "a": (np.arange(MANY) * 7_919 % 10_007) / 10_007,
    "b": (np.arange(MANY) * 104_729 % 9_973) / 9_973,
    "c": np.arange(MANY) * 31 % 2,
}
LARGE_Y = (LARGE["a"] > 0.4).astype(int)
CUTS = (0.1, 0.3, 0.5, 0.7, 0.9)


def shares(holdout: Holdout) -> None:
    """Shares, a mean and a batch, with guesses and without."""
    for cut in CUTS:
        holdout.ask(share(col("a") > cut), guess=1 - cut)
    holdout.ask(mean(col("b").fill(0), range=(-1, 3)), guess=0.5)
    holdout.ask_many([share(col("b") > cut) for cut in CUTS[1:4]], [0.1, 0.5, 0.3])


def plain_shares(holdout: Holdout) -> None:
    for cut in CUTS:
        holdout.ask(share(col("a") > cut))
    holdout.ask_many([share(col("b") > cut) for cut in CUTS[:3]])


def exact(holdout: Holdout) -> None:
    shares(holdout)
    holdout.compare(Y, 1 - Y, discordance=1.0)


def first_half(columns: Any) -> float:
    return float((np.asarray(columns["a"]) > 0.5).mean())


def with_a_statistic(holdout: Holdout) -> None:
    plain_shares(holdout)
    holdout.ask(statistic(first_half, range=(0, 1), sensitivity=1 / MANY, name="first half"))


def tests_and_parts(holdout: Holdout) -> None:
    plain_shares(holdout)
    holdout.test(share(col("a") > 0.4), above=0.5)


def guesses(holdout: Holdout) -> None:
    """The older conversation, without sharpening twice what is sharp."""
    with patch.object(Holdout, "sharpen", sharpened_where_it_gains):
        guess_and_check(holdout)


def sharpened_where_it_gains(holdout: Holdout, answer: Any) -> Any:
    with suppress(Unaskable):
        return _sharpen(holdout, answer)
    return answer


_sharpen = Holdout.sharpen


def finals(holdout: Holdout) -> None:
    """Sharpening, final values that leave the holdout open, and those that close it."""
    first = holdout.ask(share(col("a") > 0.5), guess=0.5)
    second = holdout.ask(share(col("b") > 0.2), guess=0.5)
    compared = holdout.compare(predictions(0.9), predictions(0.85), discordance=0.1)
    for answer in (first, second, compared):
        sharpened_where_it_gains(holdout, answer)
    holdout.final([second], close=False)
    holdout.final([first, compared, mean(col("a").fill(0), range=(0, 2))])


def noise_by_request(holdout: Holdout) -> None:
    """Noise where nobody guesses, where it is asked for, and where few rows count."""
    for cut in np.linspace(0.05, 0.95, 12).tolist():
        holdout.ask(share(col("a") > cut))
    holdout.ask(share(col("a") > 0.99), guess=0.01, noise=True)
    holdout.ask(share(col("b") > 0.02), guess=0.01, noise=True)
    holdout.ask(share(col("b") > 0.005), guess=0.99, noise=True)
    holdout.ask(mean(col("b").fill(0), range=(-1, 3)), noise=True)
    holdout.ask_many([share(col("b") > cut / 7) for cut in range(1, 4)])
    holdout.ask_many([share(col("b") > cut / 9) for cut in range(1, 4)], noise=True)
    holdout.ask(share(col("a") > 0.33), guess=0.66)
    holdout.final(share(col("a") > 0.33))


def many_surprises(holdout: Holdout) -> None:
    shares(holdout)
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"), guess=0.5)
    holdout.compare(LARGE_Y, 1 - LARGE_Y)
    holdout.ask(share(col("b") > 0.77))
    holdout.test(share(col("b") > 0.5), above=0.4)


def climb(holdout: Holdout) -> None:
    for cut in (0.5, 0.3, 0.35, 0.1):
        holdout.ask(share(col("a") > cut))


def recall_of(right: float) -> Any:
    return recall(predictions(right), positive=1)


def subsets(holdout: Holdout) -> None:
    """Shares of a subset and a ranking: of as many rows as are expected, of fewer, and where nobody knows."""
    few = holdout.ask(share(col("a") > 0.5, given=col("b") > 0.9))
    for cut, gauge in ((0.6, 200), (0.3, 300), (0.2, 500)):
        holdout.ask(share(col("a") > cut, given=col("b") > 0.4), guess=1 - cut, gauge=gauge)
    holdout.score(X["a"] + X["b"] / 4, metric="roc_auc")
    holdout.ask_many([share(col("b") > cut, given=col("a") > 0.5) for cut in CUTS[:2]])
    if isinstance(holdout.mechanism, Rounding):
        holdout.test(share(col("b") > 0.5, given=col("a") > 0.5), above=0.2)
    with suppress(Failed):
        holdout.ask(function(broken, range=(0, 1), name="fails"))
    holdout.final(few, close=False)
    holdout.final(share(col("a") > 0.2, given=col("b") > 0.4))


def climb_by_recall(holdout: Holdout) -> None:
    """One submission at a time; the last two are of fewer rows than were declared."""
    for right, gauge in ((0.6, None), (0.5, 300), (0.7, 300), (0.9, 300), (0.8, 500), (0.99, 500)):
        holdout.ask(recall_of(right), gauge=gauge)
    holdout.score(X["a"], metric="roc_auc")
    holdout.final(recall_of(0.9))


def bits(holdout: Holdout) -> None:
    for value in (0, 1):
        holdout.ask(share(col("c") == value))
    holdout.ask_many([share(col("c") > 0), share(col("c") < 1)])


BITS = {"c": [0, 1]}
NEWER = {guess_and_check: guesses}
TALKS: dict[str, tuple[Mechanism, int | None, Talk, bool]] = {
    **{name: (one.mechanism, one.asks, NEWER.get(one.talk, one.talk), False) for name, one in CONVERSATIONS.items()},
    "guess_and_check_under_c": (GuessAndCheck(law="C"), None, guesses, False),
    "rounding_under_c": (Rounding(12, law="C"), None, rounding, False),
    "rounding_under_c_planned": (Rounding(12, law="C"), 20, rounding, False),
    "above_threshold_under_c": (AboveThreshold(0.5, tops=None, law="C"), None, above_threshold, False),
    "ladder_under_c": (Ladder(0.05, law="C"), None, ladder, False),
    "paired_ladder_under_c": (PairedLadder(law="C"), None, paired_ladder, False),
    "rounding_of_subsets": (Rounding(12), None, subsets, False),
    "rounding_of_subsets_planned": (Rounding(12), 20, subsets, False),
    "above_threshold_of_subsets": (AboveThreshold(0.5, tops=None), None, subsets, False),
    "ladder_of_subsets": (Ladder(0.05), None, climb_by_recall, False),
    "ladder_of_subsets_by_bits": (Ladder(0.05, baseline=0.5, feedback="bit"), None, climb_by_recall, False),
    "finals": (GuessAndCheck(cell=0.1), None, finals, False),
    "noise_by_request": (GuessAndCheck(), None, noise_by_request, True),
    "unguessed_noise": (GuessAndCheck(unguessed="noise"), 100, noise_by_request, True),
    "many_surprises": (GuessAndCheck(surprises=20), 200, many_surprises, True),
    "naive": (Naive(), None, exact, False),
    "splitting": (SampleSplitting(), 12, tests_and_parts, True),
    "splitting_in_rounds": (SampleSplitting(rounds=10), 20, tests_and_parts, True),
    "bounded_noise": (BoundedNoise(), 20, plain_shares, True),
    "bounded_noise_by_d2": (BoundedNoise(accounting="D2"), 20, with_a_statistic, True),
    "gaussian": (Gaussian(), 20, plain_shares, True),
    "gaussian_by_d2": (Gaussian(accounting="D2"), 20, with_a_statistic, True),
    "laplace": (Laplace(), 20, with_a_statistic, True),
    "subsampled": (Subsampled(0.01, 2_000), 8, plain_shares, True),
    "one_sample": (OneSample(0.2), 5, bits, True),
    "sparse_vector": (SparseVector(0.5, tops=9), 30, plain_shares, True),
    "sparse_vector_once": (SparseVector(0.5, tops=9, refresh=False), 30, plain_shares, True),
    "thresholdout": (Thresholdout(), 30, shares, True),
    "private_guess_and_check": (PrivateGuessAndCheck(), 30, shares, True),
    "private_ladder": (PrivateLadder(tops=4), 30, climb, True),
    "median_oracle": (MedianOracle(domain=BITS), 30, bits, True),
    "multiplicative_weights": (MultiplicativeWeights(domain=BITS), 30, bits, True),
}


@contextmanager
def fixed_version() -> Iterator[None]:
    """Entry 0 names the version, and all noise depends on entry 0."""
    with patch("unworn.holdout.opening.__version__", "0"):
        yield


def hold(name: str) -> SeededStore:
    """Hold a conversation, in a ledger in memory whose key is its own."""
    mechanism, asks, talk, large = TALKS[name]
    store = SeededStore(np.random.default_rng(sum(name.encode())))
    rows = (LARGE, LARGE_Y) if large else (X, Y)
    with fixed_version():
        talk(Holdout(*rows, mechanism=mechanism, asks=asks, ledger=store, practice=0, name=name))
    return store
