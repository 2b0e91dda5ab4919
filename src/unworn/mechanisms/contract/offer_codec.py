"""How an offer stands in a ledger: one list, the header first, and each number of a payload in its own place.

The places were fixed when all mechanisms had one class of offers between them, and ledgers keep them: what was written
then is read now, and what is written now is the same to the last byte. A payload of a third party stands in the first
place after the header, as an object that says its class's ``payload`` name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from importlib import import_module
from operator import attrgetter, itemgetter, ne
from typing import Any, NamedTuple, cast, get_args

from unworn.basics.typed_fields import read_fields, read_listed
from unworn.mechanisms.contract.arguments import MOST
from unworn.mechanisms.contract.offer import NoPayload, Offer, Payload
from unworn.queries.query import Kind

HEADER = 8
_PLACES: dict[str, Any] = {
    "guess": None,
    "slack": 0.0,
    "cell": 0.0,
    "cells": 0,
    "inside": None,
    "within": None,
    "discordance": 1.0,
    "part": None,
    "steps": 0,
    "price": None,
    "sensitivity": None,
    "null": None,
    "best": None,
    "place": None,
    "final": None,
    "kept": 0.0,
    "radius": 0,
    "most": 0,
    "requested": False,
    "rate": 0.0,
    "gauge": None,
}
"""The names of the numbers after the header, in their order, and what says nothing."""
_NAMES, _DEFAULTS = tuple(_PLACES), list(_PLACES.values())
_IN_UNITS = frozenset({"guess", "slack", "cell", "inside", "within"})
IN_UNITS = (False, False, False, True, True, False, False, False, *(name in _IN_UNITS for name in _NAMES))
"""Which places hold numbers in the question's own units. A level or a price has none, whatever the question's are."""
_AT = {name: place for place, name in enumerate(_NAMES)}
_FINAL, _KEPT, _REQUESTED, _RATE, _GAUGE = (_AT[name] for name in ("final", "kept", "requested", "rate", "gauge"))
_UP_TO_PLACE, _UP_TO_RADIUS, _UP_TO_REQUESTED = (_AT[name] + 1 for name in ("place", "radius", "requested"))

_HOMES = (
    (("final",), "symbols.final_values", "FinalPayload"),
    (("part",), "baselines.sample_splitting", "PartPayload"),
    (("price", "null"), "noisy.noisy_verdicts", "NoisyTestPayload"),
    (("null",), "coded.coded_payloads", "HypothesisPayload"),
    (("rate",), "coded.noisy_checks", "NoisyCheckPayload"),
    (("radius",), "coded.blurred_counts", "NoisyCountPayload"),
    (("price", "best"), "threshold.private_ladder", "ClimbPayload"),
    (("price", "guess"), "threshold.checked_guess", "CheckedGuessPayload"),
    (("price", "slack"), "threshold.secret_threshold", "ThresholdPayload"),
    (("price",), "noisy.privacy_price", "PlannedNoisePayload"),
    (("best",), "coded.ladder", "RungPayload"),
    (("guess",), "coded.coded_payloads", "GuessPayload"),
    (("inside",), "coded.coded_payloads", "SharpenedPayload"),
    (("cells",), "coded.coded_payloads", "CellsPayload"),
    (("place",), "coded.coded_payloads", "PlacePayload"),
    (("gauge",), "coded.coded_payloads", "PlacePayload"),
)
"""Which payload a list holds: the first of these that has these numbers. Each is loaded when it is first met."""
_OURS = {(f"unworn.mechanisms.{home}", name) for _, home, name in _HOMES}
_OTHERS: dict[str, type[Payload]] = {}


def know_payloads(kinds: Sequence[type[Payload]]) -> None:
    """Make a third party's payloads known by their classes' names."""
    for kind in kinds:
        if _OTHERS.get(kind.__name__, kind) is not kind:
            raise ValueError(f"there is a payload {kind.__name__} already: give yours another name")
    _OTHERS.update((kind.__name__, kind) for kind in kinds)


def forget_payloads(kinds: Sequence[type[Payload]]) -> None:
    """Undo :func:`know_payloads`."""
    for kind in kinds:
        _OTHERS.pop(kind.__name__, None)


def offer_list(offer: Offer) -> list[Any]:
    """An offer as a ledger has it; numbers at the end that say nothing are left out."""
    payload = offer.payload
    header = list(_HEADER_VALUES(offer))
    layout = _layout(cast("Any", type(payload)))
    if layout is None:
        own = {field.name: getattr(payload, field.name) for field in fields(payload)}  # type: ignore[arg-type]
        return [*header, {"payload": type(payload).__name__, **own}]
    values = [*layout.spread((*layout.read(payload), *_DEFAULTS))]
    if values[_GAUGE] is not None:
        return header + values
    if values[_RATE]:
        del values[_GAUGE:]
    elif values[_REQUESTED]:
        del values[_UP_TO_REQUESTED:]
    else:
        del values[_UP_TO_RADIUS if values[_KEPT] or values[_FINAL] is not None else _UP_TO_PLACE :]
    return header + values


_HEADER_NAMES = tuple(field.name for field in fields(Offer)[:HEADER])
_HEADER_VALUES = attrgetter(*_HEADER_NAMES)
PLACE_OF = {name: place for place, name in enumerate((*_HEADER_NAMES, *_NAMES))}
"""Where in the list a number stands, by its name."""


def read_offer(told: Sequence[Any]) -> Offer:
    """The offer that a list says, of this version or an older one, which has fewer numbers; or ``ValueError``."""
    if not isinstance(told, list | tuple) or len(told) > HEADER + len(_NAMES):
        raise ValueError(f"an offer is a list of at most {HEADER + len(_NAMES)}")
    header, rest = told[:HEADER], told[HEADER:]
    payload = _other_payload(rest) if rest and isinstance(rest[0], Mapping) else _listed_payload(rest)
    offer: Offer = read_listed(Offer, [*header, payload])
    if offer.kind not in _KINDS or not 1 <= offer.rows <= MOST or not offer.low < offer.high:
        raise ValueError("no rows could have been offered this")
    payload.check(offer.rows)
    return offer


_KINDS = get_args(Kind)


def _listed_payload(rest: Sequence[Any]) -> Payload:
    kind, pick, names = _payload_that_says(tuple(map(ne, rest, _DEFAULTS)))
    if pick is not None:
        return read_listed(kind, pick(rest))
    return read_fields(kind, {name: rest[_AT[name]] for name in names if _AT[name] < len(rest)})


@lru_cache(maxsize=1024)
def _payload_that_says(said: tuple[bool, ...]) -> tuple[type[Payload], Any, tuple[str, ...]]:
    """The class that has all places that say something; how to pick its fields, if they are its first ones."""
    names, length = {name for name, says in zip(_NAMES, said, strict=False) if says}, len(said)
    kind = next((_kind(home, name) for telling, home, name in _HOMES if names.issuperset(telling)), NoPayload)
    layout = _layout(cast("Any", kind))
    places, known = ((), frozenset[str]()) if layout is None else (layout.places, layout.names)
    if not names <= known:
        raise ValueError(f"a {kind.__name__} has no {', '.join(sorted(names - known))}")
    there = [place for place in places if place < length]
    in_order = tuple(there) == places[: len(there)]
    return kind, _picker(tuple(there)) if in_order else None, tuple(known)


def _other_payload(rest: Sequence[Any]) -> Payload:
    name = rest[0].get("payload")
    if len(rest) > 1 or name not in _OTHERS:
        raise ValueError(f"no mechanism that is known here has a payload {name!r:.40}")
    return read_fields(_OTHERS[name], {field: value for field, value in rest[0].items() if field != "payload"})


@cache
def _kind(home: str, name: str) -> type[Payload]:
    kind: type[Payload] = getattr(import_module(f"unworn.mechanisms.{home}"), name)
    return kind


class _Layout(NamedTuple):
    """The places of a payload's fields; how to read them all, and to spread them, followed by what says nothing in
    each place, over all places; and their names."""

    places: tuple[int, ...]
    read: Callable[[Payload], tuple[Any, ...]]
    spread: Callable[[Sequence[Any]], tuple[Any, ...]]
    names: frozenset[str]


@cache
def _layout(kind: Any) -> _Layout | None:
    """How a payload lies in the list; none for a third party's."""
    names = tuple(field.name for field in fields(kind))
    if kind is not NoPayload and (kind.__module__, kind.__name__) not in _OURS:
        return None
    places = tuple(_AT[name] for name in names)
    own = {place: position for position, place in enumerate(places)}
    sources = [own.get(place, len(names) + place) for place in range(len(_NAMES))]
    return _Layout(places, _reader(names), itemgetter(*sources), frozenset(names))


def _picker(places: tuple[int, ...]) -> Any:
    """The values at these places, as a tuple also where there are fewer than two."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


def _reader(names: tuple[str, ...]) -> Any:
    """All fields of an object, as a tuple also where there are fewer than two."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda payload: tuple(getattr(payload, name) for name in names)
