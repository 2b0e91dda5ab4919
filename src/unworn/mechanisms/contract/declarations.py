"""What a mechanism says of itself, whether it says it in a method of its own or leaves it to what is usual."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Unaskable
from unworn.mechanisms.contract.capabilities import (
    AddsNoiseOnRequest,
    ChecksHypotheses,
    EncodesItself,
    ExplainsNumbers,
    GivesFinalValues,
    MetersSpending,
    NamesItsTheorem,
    SettlesParameters,
)
from unworn.mechanisms.contract.mechanism import Mechanism
from unworn.mechanisms.contract.offer import FinalPlace, Guess, Offer
from unworn.mechanisms.contract.state import State
from unworn.queries.query import Facts

# ---------------------------------------------------------------------- entry 0


@with_usual_floats
def settle_parameters(mechanism: Mechanism, rows: int, confidence: float, asks: int | None) -> Mechanism:
    """The configuration with what it leaves open chosen for a plan: what entry 0 records."""
    return mechanism.settled(rows, confidence, asks) if isinstance(mechanism, SettlesParameters) else mechanism


def is_complete(mechanism: Mechanism) -> bool:
    """Whether nothing is left open."""
    return mechanism.complete() if isinstance(mechanism, SettlesParameters) else True


def accepts_sealed(mechanism: Mechanism, sealed: object) -> bool:
    """Whether rows sealed with that may be opened with this mechanism: the same, as far as it says."""
    if isinstance(mechanism, SettlesParameters) and isinstance(sealed, Mechanism):
        return mechanism.accepts(sealed)
    return mechanism == sealed


def mechanism_json(mechanism: Mechanism) -> dict[str, Any]:
    """What entry 0 records of a mechanism."""
    if isinstance(mechanism, EncodesItself):
        return mechanism.to_json()
    return {"name": type(mechanism).__name__, **asdict(mechanism)}


# ---------------------------------------------------------------------- meters and certificates


THEOREM_U = "one currency (Theorem U)"
"""What adds noisy and coded answers up: behind every answer of a conversation from its first noisy one on."""


def theorem_of(mechanism: Mechanism, offer: Offer | None = None) -> str:
    """The theorem behind the answers of this very plan, or behind one of them."""
    if offer is not None and offer.payload.kept > 0:
        return THEOREM_U
    return mechanism.named_theorem() if isinstance(mechanism, NamesItsTheorem) else mechanism.theorem


def currency_of(mechanism: Mechanism) -> str:
    """What this very plan is paid in."""
    return mechanism.named_currency() if isinstance(mechanism, NamesItsTheorem) else mechanism.currency


def spending_of(mechanism: Mechanism, state: State) -> float:
    """How much of its currency the transcript so far has used."""
    return mechanism.spent(state) if isinstance(mechanism, MetersSpending) else state.nats


def prices_of(mechanism: Mechanism, offer: Offer) -> tuple[float, float]:
    """What agreement and the mildest surprise would add to the bill, in the mechanism's currency."""
    return mechanism.prices(offer) if isinstance(mechanism, MetersSpending) else (0.0, 0.0)


def numbers_of(mechanism: Mechanism, offer: Offer) -> dict[str, Any]:
    """What fixes the interval besides the header, by name, for the certificate."""
    own = mechanism.numbers(offer) if isinstance(mechanism, ExplainsNumbers) else {}
    return {**offer.payload.numbers(), **own}


# ---------------------------------------------------------------------- offers that only some make


def offer_test(mechanism: Mechanism, state: State, facts: Facts, position: int = 0) -> Offer:
    """The price of testing a hypothesis (``facts.null``), or why that cannot be done."""
    if not isinstance(mechanism, ChecksHypotheses):
        raise Unaskable(mechanism.no_tests.format(name=type(mechanism).__name__))
    return mechanism.offer_test(state, facts, position)


def offer_final_value(mechanism: Mechanism, state: State, facts: Facts, place: FinalPlace) -> Offer:
    """The price of exact values that end the conversation, or why there are none."""
    if not isinstance(mechanism, GivesFinalValues):
        raise Unaskable(f"{type(mechanism).__name__} has no final values: seal rows with GuessAndCheck for them")
    return mechanism.offer_final(state, facts, place)


def offer_noise(mechanism: Mechanism, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
    """The price of an answer by noise, whatever guess there is, or why it cannot be had."""
    if not isinstance(mechanism, AddsNoiseOnRequest):
        raise Unaskable(
            f"{type(mechanism).__name__} does not choose between noise and other answers: leave out noise=, or seal "
            "rows with GuessAndCheck, which does"
        )
    return mechanism.offer_noise(state, facts, guess, position)
