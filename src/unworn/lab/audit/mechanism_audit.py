"""A mechanism of this package, or one written against its interface, as something that can be audited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import TypeVar

from unworn.bounds import privacy
from unworn.bounds.numerics import whole
from unworn.bounds.privacy import GDP, Homogeneous, Profile, Pure
from unworn.errors import TooFewRows
from unworn.events import Drew, Noised
from unworn.lab.audit.claim import Claim
from unworn.lab.audit.counted_rows import SHARE, neighbours
from unworn.lab.audit.mechanism_plays import PLACES, play
from unworn.lab.audit.target import Pair, Target
from unworn.mechanisms import Guess, Mechanism, State
from unworn.mechanisms.contract.capabilities import ClaimsPrivacy, DrawsRows, SettlesParameters

_QUOTED = (1e-3, 1e-2, 0.05, 0.1, 0.2, 0.5)
"""The first of these deltas that a profile reaches is the one at which it is quoted, if it does not reach 0."""
_CONFIDENCE = 0.95
_TOLD = 50.0
"""A profile that is not below the largest of them at this epsilon claims nothing worth a test."""

Kind = TypeVar("Kind", bound=Mechanism)

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
    told = profile_of(settle(mechanism, rows, asks), rows, asks)
    if told is None:
        raise ValueError(
            f"{type(mechanism).__name__} claims no privacy: give it a method profile(rows, asks) that returns a "
            "privacy profile (see unworn.bounds.privacy), or give the audit a Claim"
        )
    if isinstance(told, GDP | Pure) or (isinstance(told, Homogeneous) and told.floor == 0.0):
        return Claim(told, 0.0)
    last = float(told.delta(_TOLD))
    for delta in _QUOTED:
        if last < 0.8 * delta:
            return Claim(told, delta)
    raise ValueError(
        f"{_described(mechanism)} hides next to nothing of {rows:,} rows in {asks:,} asks: its delta is still "
        f"{last:.3g} at epsilon = {_TOLD:g}, and must be below {0.8 * _QUOTED[-1]:g} for a claim to be quoted. "
        "Take more noise or fewer asks, or give the audit a Claim"
    )


def profile_of(mechanism: Mechanism, rows: int, asks: int) -> Profile | None:
    """The profile, or None where a mechanism claims none."""
    state = _begun(mechanism, rows, asks)  # says what is wrong with a plan that has no profile
    if isinstance(mechanism, ClaimsPrivacy):
        return mechanism.profile(rows, asks)
    try:
        offer = mechanism.offer(state, SHARE, None)
        event = mechanism.event(offer, mechanism.likely(offer))
    except (ValueError, TypeError):
        if isinstance(mechanism, DrawsRows):  # it does claim something: what is wrong is to be seen
            raise
        return None
    return privacy.profile(event, rows, asks) if isinstance(event, Noised | Drew) else None


def settle(mechanism: Kind, rows: int, asks: int) -> Kind:
    """What a holdout would seal: with what the configuration leaves open chosen for the plan.

    >>> from unworn.mechanisms import Laplace
    >>> settle(Laplace(0.1), rows=20, asks=4)
    Laplace(scale=0.1)
    >>> settle(Laplace(), rows=10_000, asks=4).scale == Laplace.for_(rows=10_000, asks=4).scale
    True
    """
    rows, asks = whole("rows", rows, 1), whole("asks", asks, 1)
    if isinstance(mechanism, SettlesParameters) and mechanism.has_open_parameters():
        return mechanism.settled(rows, _CONFIDENCE, asks)
    return mechanism


def _begun(mechanism: Mechanism, rows: int, asks: int) -> State:
    try:
        return mechanism.begin(rows, _CONFIDENCE, asks)
    except TooFewRows:
        # So few rows carry no certificate; how private their answers are can be seen all the same.
        return Mechanism.begin(mechanism, rows, _CONFIDENCE, asks)


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
    places: int = PLACES,
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
    places
        Numbers kept of each ask. A symbol is one number or word, or a list: of that, so many less one.

    Examples
    --------
    >>> from unworn.lab.audit import audit
    >>> from unworn.mechanisms import Laplace
    >>> print(audit(mechanism_target(Laplace(0.1), rows=20, asks=1), trials=2_000))  # doctest: +ELLIPSIS
    laplace: claims ε = 0.5, is at least ε = 0...: not refuted
    """
    places = whole("places", places, 1)
    mechanism = settle(mechanism, rows, asks)
    begun = _begun(mechanism, rows, asks)
    yes = (rows - 1) // 2 if others is None else others
    expected = None if guesses is None else [Guess(guess) for guess in guesses]
    pairs = [Pair(*neighbours(rows, yes, *said), _worded(*said)) for said in changes or _changes(asks)]
    return Target(
        name or kebab(type(mechanism).__name__),
        claimed or claim_of(mechanism, rows, asks),
        pairs,
        partial(play, mechanism, begun, expected, places),
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


def kebab(name: str) -> str:
    """How a class is called on the command line.

    >>> kebab("PrivateGuessAndCheck")
    'private-guess-and-check'
    """
    return "".join("-" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("-")
