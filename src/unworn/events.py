"""What a mechanism did, enough to price it.

An event is data without behaviour, and its meaning never changes: a ledger written today must
price the same in ten years. Mechanisms fold events into their state; nothing else reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.basics.json_text import canonical, canonical_number, canonical_string
from unworn.basics.typed_fields import read_fields


@dataclass(frozen=True, slots=True)
class Described:
    """A symbol was released: one of the positions in the transcript, with its own code length.

    ``nats`` is the length of the code word beyond the cost of *where* surprises fell, which the law that entry 0 names
    charges.
    """

    surprise: bool
    nats: float


@assign_fields
@dataclass(frozen=True, slots=True)
class Guessed:
    """A symbol was released for a question with a guess of this ``origin``, or for a test.

    ``side`` is 1 for a surprise above the guess, -1 for one below, and 0 otherwise; ``nats`` is the code word's length
    beyond the cost of whether it was a surprise.
    """

    origin: str
    surprise: bool
    side: int
    nats: float


@dataclass(frozen=True, slots=True)
class Finished:
    """A final value was released; where it was the ``last`` word, nothing but others fixed with it may follow."""

    last: bool
    nats: float


@dataclass(frozen=True, slots=True)
class Looked:
    """One part of the rows (0-based) was looked at, exactly; it must not be looked at again in a later round."""

    part: int
    round: int


@dataclass(frozen=True, slots=True)
class Shown:
    """The exact value on all the rows was released: nothing is promised any more."""


@dataclass(frozen=True, slots=True)
class Noised:
    """A count was released with fresh noise.

    ``scale`` is in units of what one row can change: for ``laplace`` the scale s of P(m) ∝ exp(−|m|/s), for
    ``gaussian`` the standard deviation, for ``cosine`` the N beyond which |m| cannot come, and for ``cut cosine`` too,
    whose cosine would have reached 0 where entry 0 says. ``drawn`` is the number of fresh rows the count was taken
    over, with replacement where ``replaced``; None when it was taken over all.
    """

    noise: str
    scale: float
    drawn: int | None = None
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Blurred:
    """A count was released with fresh raised-cosine noise below ``radius``, among coded answers (Theorem U).

    ``kept`` is the chance by which its cost is reckoned, and ``nats`` that cost.
    """

    radius: int
    kept: float
    nats: float


@dataclass(frozen=True, slots=True)
class Screened:
    """It was told whether as few rows count as was to be checked, and then their count with fresh noise (Theorem U).

    Where they are more it is a ``surprise``, and the noise is the raised cosine below ``radius``; where they are not, a
    narrower one, which the offer says. ``kept`` and ``nats`` are as in :class:`Blurred`, less the cost of whether it
    was a surprise.
    """

    surprise: bool
    radius: int
    kept: float
    nats: float


@dataclass(frozen=True, slots=True)
class Matched:
    """It was told with noise whether the rows agree with a guess, and after a ``surprise`` their count (Theorem U).

    ``kept`` and ``nats`` are as in :class:`Blurred`.
    """

    surprise: bool
    kept: float
    nats: float


@dataclass(frozen=True, slots=True)
class Drew:
    """The value of one fresh row, 0 or 1, was released, turned over with probability ``flip``."""

    flip: float


@dataclass(frozen=True, slots=True)
class Crossed:
    """A noisy value was compared with a noisy threshold, by noise of the scales that entry 0 fixes.

    What was ``above`` ends this threshold, and the next comparison has a fresh one, unless entry 0 keeps it.
    """

    above: bool


@dataclass(frozen=True, slots=True)
class Climbed:
    """A score was held against the best so far and was better by so many whole steps; by 0 when it was not."""

    steps: int
    nats: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Making an answer failed, which no noise hides and no code word pays for: nothing is told after it."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """Whoever asked stopped the ask by an interrupt, and no code of theirs ran: nothing about rows was told."""


Event = (
    Described
    | Guessed
    | Blurred
    | Screened
    | Matched
    | Finished
    | Looked
    | Shown
    | Noised
    | Drew
    | Crossed
    | Climbed
    | Ended
    | Stopped
)
_MAY_SURPRISE = (Described, Guessed, Screened, Matched)
_HAVE_WORDS = (*_MAY_SURPRISE, Blurred, Finished, Climbed)
_KINDS: dict[str, type[Event]] = {
    "described": Described,
    "guessed": Guessed,
    "blurred": Blurred,
    "screened": Screened,
    "matched": Matched,
    "finished": Finished,
    "looked": Looked,
    "shown": Shown,
    "noised": Noised,
    "drew": Drew,
    "crossed": Crossed,
    "climbed": Climbed,
    "ended": Ended,
    "stopped": Stopped,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS.values()}


def is_surprise(event: Event) -> bool:
    """Whether the rows disagreed with a guess, or with what else was likely.

    >>> is_surprise(Matched(surprise=True, kept=0.0, nats=0.5)), is_surprise(Looked(part=3, round=3))
    (True, False)
    """
    return isinstance(event, _MAY_SURPRISE) and event.surprise


def word_nats(event: Event) -> float:
    """The length of the code word, in nats; 0 for what is paid for otherwise.

    >>> word_nats(Climbed(steps=2, nats=1.5)), word_nats(Drew(flip=0.1))
    (1.5, 0.0)
    """
    return event.nats if isinstance(event, _HAVE_WORDS) else 0.0


def to_json(event: Event) -> dict[str, Any]:
    """A dictionary that :func:`from_json` reads back.

    >>> to_json(Described(surprise=True, nats=1.5))
    {'event': 'described', 'surprise': True, 'nats': 1.5}
    """
    return {"event": _NAMES[type(event)]} | {name: getattr(event, name) for name in _FIELDS[type(event)]}


def to_text(event: Event) -> str:
    """The canonical text of that dictionary; put together here for what nearly all asks are: guesses.

    >>> to_text(Guessed("train", surprise=False, side=0, nats=0.0))
    '{"event":"guessed","nats":0.0,"origin":"train","side":0,"surprise":false}'
    """
    if type(event) is Guessed and type(event.surprise) is bool:  # a surprise as quickly as agreement
        said = "true" if event.surprise else "false"
        nats, origin = canonical_number(event.nats), canonical_string(event.origin)
        return f'{{"event":"guessed","nats":{nats},"origin":{origin},"side":{event.side:d},"surprise":{said}}}'
    return canonical(to_json(event))


def from_json(data: dict[str, Any]) -> Event:
    """Read an event back.

    >>> from_json({'event': 'looked', 'part': 3, 'round': 3})
    Looked(part=3, round=3)
    """
    told = dict(data)
    kind = told.pop("event")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"there is no event {kind!r:.40}")
    return read_fields(_KINDS[kind], told)
