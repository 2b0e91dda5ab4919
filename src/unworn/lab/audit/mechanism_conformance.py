"""What every mechanism must keep: tried from public numbers, in a ledger, and against analysts who know the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from unworn.bounds.numerics import whole
from unworn.errors import Refused
from unworn.holdout import Holdout
from unworn.lab.audit.conformance import Conformance
from unworn.lab.audit.coverage import coverage, register_meanwhile
from unworn.ledger import Store
from unworn.ledger.stores.memory_store import MemoryStore
from unworn.mechanisms import Guess, Mechanism, Offer, State, from_json
from unworn.mechanisms.contract.conversation import (
    charge_symbol,
    check_question,
    follow_event,
    publish_symbol,
    widest_width,
)
from unworn.mechanisms.contract.declarations import is_complete, mechanism_json, settle_parameters
from unworn.queries import col, mean, share
from unworn.queries.query import Facts
from unworn.record.certificate import Certificate
from unworn.record.replay.store_check import check_stored_chain

_CONFIDENCE = 0.9
QUESTIONS: dict[str, Facts] = {
    "a 0/1 question": Facts("binary", 0.0, 1.0, zero_one=True),
    "a mean over [-1, 3]": Facts("unit", -1.0, 3.0),
    "a comparison": Facts("paired", -1.0, 1.0, zero_one=True),
    "a model's own code": Facts("unit", 0.0, 1.0, runs_code=True),
    "a share of a subset": Facts("conditional", 0.0, 1.0, zero_one=True),
    "a ranking": Facts("ranking", 0.0, 1.0),
}
"""Of which kinds a mechanism is offered questions; those that it refuses are left alone."""


def check_mechanism(
    mechanism: Mechanism, *, rows: int = 400, asks: int = 12, repetitions: int = 40, seed: int = 0
) -> Conformance:
    """Try everything that is asked of a mechanism, and say what it does not keep.

    From public numbers: what is settled survives JSON, an offer survives the ledger's list, the likely symbol has an
    event that can be folded and publishes an interval inside the range. In a ledger: its entries verify, as do
    their cards. Then the lab's analysts ask it so often, ``repetitions`` times over: its intervals must not miss more
    often than it promises. A mechanism without a fault has one found, by chance, with probability 1e-6 at most.

    Examples
    --------
    >>> from unworn.mechanisms import Rounding
    >>> print(check_mechanism(Rounding(12), rows=100, asks=8, repetitions=2))
    Rounding: 6 kinds of question, of which it refuses 0; no fault found
    """
    rows, asks = whole("rows", rows, 10), whole("asks", asks, 2)
    kind, faults, refused = type(mechanism), list[str](), 0
    with register_meanwhile(kind):
        try:
            ours = settle_parameters(mechanism, rows, _CONFIDENCE, asks)
            faults += _terms(ours)
            state = ours.begin(rows, _CONFIDENCE, asks)
            for name, facts in QUESTIONS.items():
                try:
                    check_question(ours, facts)
                    offer = ours.offer(state, facts, Guess((facts.low + facts.high) / 2))
                except Refused:
                    refused += 1
                    continue
                faults += [f"{name}: {fault}" for fault in _offered(ours, state, offer)]
            faults += _entered(mechanism, rows, asks)
        except Exception as error:  # whatever somebody else's code may raise
            faults.append(f"{type(error).__name__} where nothing is refused: {error}")
    if refused == len(QUESTIONS):
        faults.append("it refuses every kind of question there is")
    if not faults and mechanism.promises:
        found = coverage(mechanism, rows=rows, asks=asks, repetitions=repetitions, seed=seed)
        faults += [f"its intervals miss more often than it promises: {found}"] if found.refuted else []
    return Conformance(kind.__name__, len(QUESTIONS), refused, tuple(faults), (), "kinds of question")


def _terms(mechanism: Mechanism) -> Iterator[str]:
    """What entry 0 has to say."""
    if not is_complete(mechanism):
        yield "what was settled leaves something open"
    if from_json(json.loads(json.dumps(mechanism_json(mechanism), allow_nan=False))) != mechanism:
        yield "entry 0 does not hold the whole configuration: another one is read from it"


def _offered(mechanism: Mechanism, state: State, offer: Offer) -> Iterator[str]:
    """What follows from public numbers alone."""
    if Offer.from_json(json.loads(json.dumps(offer.to_json(), allow_nan=False))) != offer:
        yield "an offer is read from a ledger as another one: are its payloads among `payloads`, of simple types?"
    symbol = mechanism.likely(offer)
    told = publish_symbol(mechanism, offer, symbol)
    if not offer.low <= told.low <= told.value <= told.high <= offer.high:
        yield f"the likely symbol {symbol!r} publishes {told}, outside the range or out of order"
    if told != publish_symbol(mechanism, offer, symbol) or (
        charge_symbol(mechanism, offer, symbol) != charge_symbol(mechanism, offer, symbol)
    ):
        yield "event and reveal are not functions of offer and symbol"
    if not widest_width(mechanism, offer) >= (told.high - told.low) / 2 - 1e-12:
        yield "the widest interval is narrower than the likely one"
    after = follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))
    if after.asked != state.asked + 1 or not math.isfinite(after.nats):
        yield "an answer was given, and the state does not count it"


def _entered(mechanism: Mechanism, rows: int, asks: int) -> Iterator[str]:
    """What a ledger holds after a few asks can be verified by anyone."""
    store: Store = MemoryStore()
    holdout = Holdout(
        {"x": np.arange(rows) / rows}, mechanism=mechanism, asks=asks, confidence=_CONFIDENCE, ledger=store, practice=0
    )
    told = 0
    above = [col("x") >= cut for cut in (0.2, 0.5)]
    for question in (*map(share, above), share(above[1], given=above[0]), mean(col("x"), range=(0, 2))):
        try:
            holdout.ask(question, guess=0.5)
            told += 1
        except Refused:
            pass
    ((name, first),) = store.holdouts().items()
    entries = store.read(name, 0)
    check_stored_chain(store, first, len(entries))
    for entry in entries[1:]:
        Certificate.of(first, entry).verify()
    if len(entries) != told + 1:
        yield f"{told} asks were answered, and the ledger has {len(entries) - 1}"
