"""A mechanism of this package, or one written against its interface, as something that can be audited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

from unworn.audit.claim import Claim
from unworn.audit.counted import SHARE, Asked, Counted, neighbours
from unworn.audit.target import Outputs, Pair, Target
from unworn.bounds import privacy
from unworn.bounds.privacy import GDP, Homogeneous, Profile, Pure
from unworn.errors import Exhausted
from unworn.events import Drew, Noised
from unworn.mechanisms import Guess, Mechanism, Offer
from unworn.mechanisms.threshold import BELOW, Threshold
from unworn.noise import Stream

_QUOTED = (1e-3, 1e-2, 0.05, 0.1, 0.2, 0.5)
"""The first of these deltas that a profile reaches is the one at which it is quoted, if it does not reach 0."""
_CONFIDENCE = 0.95
_WORDS = {BELOW: np.inf, "above": -np.inf}
"""Words that are common among symbols, as numbers: where one is left out, no half-line of counts holds it."""
_OTHERS = 2.0**40
"""All other words are numbers from here on, where no count lies."""

Said = Sequence[int]
"""What the changed row says to each question: 0 or 1."""


def claim_of(mechanism: Mechanism, rows: int, asks: int) -> Claim:
    """What a mechanism claims of a whole plan: the profile that its own intervals are computed from.

    A mechanism states it by ``profile(rows, asks)``, or its events have a price of their own
    (:func:`unworn.bounds.privacy.profile`).

    >>> from unworn.mechanisms import Gaussian, Laplace
    >>> print(claim_of(Gaussian(0.1), rows=20, asks=4), "|", claim_of(Laplace(0.1), rows=20, asks=4))
    μ = 1 | ε = 2
    """
    told = profile_of(mechanism, rows, asks)
    if told is None:
        raise ValueError(
            f"{type(mechanism).__name__} claims no privacy: give it a method profile(rows, asks) that returns a "
            "privacy profile (see unworn.bounds.privacy), or give the audit a Claim"
        )
    exact = isinstance(told, GDP | Pure) or (isinstance(told, Homogeneous) and told.floor == 0.0)
    return Claim(told, 0.0 if exact else next(delta for delta in _QUOTED if float(told.delta(50.0)) < 0.8 * delta))


def profile_of(mechanism: Mechanism, rows: int, asks: int) -> Profile | None:
    """The profile, or None where a mechanism claims none."""
    stated = getattr(mechanism, "profile", None)
    if stated is not None:
        profile: Profile = stated(rows, asks)
        return profile
    if isinstance(mechanism, Threshold):
        from unworn.bounds.sparse import run_profile

        return run_profile(mechanism.run(rows))
    state = Mechanism.begin(mechanism, rows, _CONFIDENCE, asks)
    try:
        offer = mechanism.offer(state, SHARE, None)
        event = mechanism.event(offer, mechanism.likely(offer))
    except (ValueError, TypeError):
        return None
    return privacy.profile(event, rows, asks) if isinstance(event, Noised | Drew) else None


def mechanism_target(
    mechanism: Mechanism,
    rows: int,
    asks: int,
    *,
    others: int | Sequence[int] | None = None,
    guesses: Sequence[float] | None = None,
    changes: Sequence[tuple[Said, Said]] | None = None,
    claimed: Claim | None = None,
    name: str | None = None,
    trials: int = 6_000,
) -> Target:
    """Audit the code that answers: ``offer``, ``answer`` and ``after`` are called as a holdout calls them.

    Parameters
    ----------
    others
        How many of the rows that do not change say yes, to all questions or to each; half of them by default.
    guesses
        What the asker expects of each question, as a share of the rows, for mechanisms that compare with a guess.
    changes
        What the changed row says to each question, before and after, one pair of inputs each. By default it says yes to
        everything instead of no, and the opposite of itself to the last question.
    claimed
        Another claim than the mechanism's own.

    Examples
    --------
    >>> from unworn.audit import audit
    >>> from unworn.mechanisms import Laplace
    >>> print(audit(mechanism_target(Laplace(0.1), rows=20, asks=1), trials=2_000))  # doctest: +ELLIPSIS
    laplace: claims ε = 0.5, is at least ε = 0...: not refuted
    """
    yes = (rows - 1) // 2 if others is None else others
    expected = None if guesses is None else [Guess(guess) for guess in guesses]
    pairs = [Pair(*neighbours(rows, yes, *said), _worded(*said)) for said in changes or _changes(asks)]
    return Target(
        name or kebab(type(mechanism).__name__),
        claimed or claim_of(mechanism, rows, asks),
        pairs,
        partial(_run, mechanism, expected),
        trials,
        note=f"{_described(mechanism)}, {rows} rows, {asks} asks",
    )


def _described(mechanism: Mechanism) -> str:
    """The configuration, without what was left open."""
    chosen = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    said = ", ".join(f"{name}={value!r}" for name, value in chosen.items() if value is not None)
    return f"{type(mechanism).__name__}({said})"


def _changes(asks: int) -> list[tuple[Said, Said]]:
    """More everywhere, which sums show; and more but for the last, which differences show."""
    changes: list[tuple[Said, Said]] = [([0] * asks, [1] * asks)]
    if asks > 1:
        changes.append(([0] * (asks - 1) + [1], [1] * (asks - 1) + [0]))
    return changes


def _worded(first: Said, second: Said) -> str:
    said = ("".join("yes " if word else "no " for word in words).strip() for words in (first, second))
    return "one row says " + " instead of ".join(said)


def _run(
    mechanism: Mechanism, guesses: list[Guess] | None, rows: Counted, trials: int, rng: np.random.Generator
) -> Outputs:
    try:
        begun = mechanism.begin(rows.size, _CONFIDENCE, rows.asks)
    except ValueError:  # so few rows carry no certificate; how private their answers are can be seen all the same
        begun = Mechanism.begin(mechanism, rows.size, _CONFIDENCE, rows.asks)
    questions = [Asked(place) for place in range(rows.asks)]

    def play() -> list[list[float]]:
        # A key of its own for every trial, as every holdout has one: a secret may outlive an ask, and not a holdout.
        state, key = begun, rng.bytes(32)
        told: list[list[float]] = []
        for place, question in enumerate(questions):
            try:
                offer = mechanism.offer(state, SHARE, None if guesses is None else guesses[place])
            except Exhausted:
                break
            reply = mechanism.answer(state, offer, question, rows, _stream(key, offer, question))
            state = mechanism.after(state, reply.event)
            told.append(_numbers(reply.symbol))
        return told

    plays = [play() for _ in range(trials)]
    widths = [max((len(told[place]) for told in plays if place < len(told)), default=1) for place in range(rows.asks)]
    starts = np.concatenate([[0], np.cumsum(widths)])
    outputs = np.full((trials, int(starts[-1])), np.nan)
    for trial, told in enumerate(plays):
        for place, numbers in enumerate(told):
            outputs[trial, starts[place] : starts[place] + len(numbers)] = numbers
    return outputs


def _stream(key: bytes, offer: Offer, question: Asked) -> Stream:
    return Stream(key, "ask", offer.index, question.fingerprint)


def _numbers(symbol: Any) -> list[float]:
    """A symbol as numbers: what is in a list one after the other, words by a code."""
    if isinstance(symbol, list | tuple):
        return [number for part in symbol for number in _numbers(part)]
    if symbol is None:
        return [np.nan]
    if isinstance(symbol, str):
        return [_WORDS.get(symbol, _OTHERS + crc32(symbol.encode()))]
    return [float(symbol)]


def kebab(name: str) -> str:
    """How a class is called on the command line.

    >>> kebab("PrivateGuessAndCheck")
    'private-guess-and-check'
    """
    return "".join("-" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("-")
