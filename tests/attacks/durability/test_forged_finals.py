"""Final entries changed by whoever has a key, consistently as far as one card can tell: a replay finds them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.holdout.test_final import HIGH, LOW, sealed
from tests.mechanisms.changed_offers import with_numbers
from unworn import col, share
from unworn.errors import LedgerError, Tampered
from unworn.ledger import GENESIS, Entry, Key
from unworn.mechanisms import GuessAndCheck
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.record import Record
from unworn.record.certificate import replay


def ended() -> list[Entry]:
    holdout = sealed()
    holdout.ask(LOW, guess=0.16)
    holdout.final([HIGH, share(col("x1") > 0)], close=False)
    holdout.ask(share(col("x1") > 1), guess=0.16)
    holdout.final([share(col("x0") > 0), share(col("x1") > 0.2)])
    return list(holdout._desk.transcript.entries)


def signed_again(chain: list[Entry], edits: dict[int, Callable[[dict[str, Any]], None]]) -> list[Entry]:
    """By another key, with some bodies edited."""
    key, made = Key.new(), list[Entry]()
    for entry in chain:
        body = copy.deepcopy(entry.body)
        if entry.index == 0:
            body["public"] = key.public
        edits.get(entry.index, lambda body: None)(body)
        made.append(Entry.seal(entry.holdout, entry.index, made[-1].hash if made else GENESIS, body, key))
    return made


def consistently(change: Callable[[Any], Any], event: dict[str, Any] | None = None) -> Callable[[dict[str, Any]], None]:
    """Change the offer, and publish what follows from it: a card by itself cannot tell."""

    def edit(body: dict[str, Any]) -> None:
        record, mechanism = Record.from_body(body), GuessAndCheck()
        offer = change(record.offer)
        published = publish_symbol(mechanism, offer, record.symbol)
        body["offer"] = offer.to_json()
        body["published"] = [published.value, published.low, published.high, published.source]
        body["event"].update(event or {})

    return edit


def with_final(*final: Any, nats: float = 0.0) -> Callable[[Any], Any]:
    return lambda offer: with_numbers(replace(offer, log_level=offer.log_level + nats), final=final)


LN2 = math.log(2)
FORGED: dict[str, dict[int, Callable[[dict[str, Any]], None]]] = {
    "a better level": {5: consistently(with_final(0, 2, True, nats=0.1))},
    "fewer questions": {
        5: consistently(with_final(0, 1, True, nats=LN2)),
        6: consistently(with_final(1, 1, True, nats=LN2)),
    },
    "more places than questions": {6: consistently(with_final(0, 2, True))},
    "another place": {6: consistently(with_final(2, 2, True))},
    "closing for those that went on": {
        2: consistently(with_final(0, 2, True, nats=LN2), {"last": True, "nats": 0.0}),
        3: consistently(with_final(1, 2, True, nats=LN2), {"last": True, "nats": 0.0}),
    },
    "the last of them only": {3: consistently(with_final(1, 2, True, nats=LN2), {"last": True, "nats": 0.0})},
    "going on for those that closed": {6: consistently(with_final(1, 2, False), {"last": False})},
    "nothing charged": {2: lambda body: body["event"].update(nats=0.0)},
    "a batch of its own": {6: lambda body: body.update(batch=[0, 1])},
    "an ask among them": {6: lambda body: body["offer"].__setitem__(-1, None)},
    "a value": {5: lambda body: body.update(symbol=0.25)},
    "no value": {5: lambda body: body.update(symbol="raised")},
    "not final at all": {5: lambda body: body["offer"].__setitem__(-1, None)},
}


def test_the_chain_that_is_forged_is_true() -> None:
    chain = ended()
    replay(chain)
    replay(signed_again(chain, {}))
    assert [Record.from_body(entry.body).offer.final for entry in chain[1:]] == [
        None, (0, 2, False), (1, 2, False), None, (0, 2, True), (1, 2, True),
    ]  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_forged_final_entries_are_found(name: str) -> None:
    with pytest.raises(LedgerError):
        replay(signed_again(ended(), FORGED[name]))


def test_nothing_can_be_appended_to_a_closed_ledger() -> None:
    """By whoever has the key: an ask, another final value, one more of the same batch."""
    holdout = sealed()
    holdout.ask(LOW, guess=0.16)
    holdout.final(HIGH)
    chain = list(holdout._desk.transcript.entries)
    other = sealed()
    other.ask(LOW, guess=0.16)
    other.ask(share(col("x1") > 0), guess=0.5)
    other.final(share(col("x1") > 1))
    key = Key.new()
    for later in list(other._desk.transcript.entries)[2:]:
        for batch in ([0, 1], [1, 2]):
            made: list[Entry] = []
            for body in [*(entry.body for entry in chain), {**later.body, "batch": batch}]:
                body = {**copy.deepcopy(body), **({"public": key.public} if not made else {})}
                made.append(Entry.seal(chain[0].holdout, len(made), made[-1].hash if made else GENESIS, body, key))
            with pytest.raises(Tampered):
                replay(made)
