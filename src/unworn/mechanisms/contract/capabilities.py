"""What only some mechanisms can do, one small contract each: whoever can, inherits it.

The rest of the package asks ``isinstance(mechanism, ChecksHypotheses)``, and never for a mechanism by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from unworn.events import Event, is_surprise, word_nats
from unworn.mechanisms.contract.offer import FinalPlace, Guess, Offer
from unworn.mechanisms.contract.state import State
from unworn.mechanisms.contract.symbol import Symbol
from unworn.queries.query import SUBSETS, Facts, Query

if TYPE_CHECKING:
    from unworn.bounds.privacy import Profile
    from unworn.mechanisms.contract.mechanism import Mechanism
    from unworn.mechanisms.contract.record import Record

# ---------------------------------------------------------------------- which questions, and how they may be asked


class LimitsQuestions(ABC):
    """Has no answer to some questions, or has one to statistics too (which all others refuse)."""

    @abstractmethod
    def check(self, facts: Facts) -> None:
        """Refuse a question of a kind that this mechanism has no answer to, from public facts alone."""


class AnswersSubsets:
    """Has intervals for shares of a subset of the rows and for rankings, which all others refuse."""


ALL_GAUGED = SUBSETS | {"unit", "paired"}


class UsesGauges:
    """Compares what the rows give beside a value with a bound that a guess declares: :attr:`Guess.gauge`."""

    @property
    def gauged_kinds(self) -> frozenset[str]:
        """Of which kinds of question; of a difference of 0/1 values its mean size says all."""
        return ALL_GAUGED

    needs_guess: ClassVar[bool] = True
    """Whether a bound is of no use without a guess; else it may be declared alone."""


def uses_gauge(mechanism: object, facts: Facts) -> bool:
    """Whether a declared bound of a gauge makes a difference to a question."""
    plain = facts.kind == "paired" and facts.zero_one
    return isinstance(mechanism, UsesGauges) and facts.kind in mechanism.gauged_kinds and not plain


def needs_guess(mechanism: object, facts: Facts) -> bool:
    """Whether it makes none without a guess."""
    return not (isinstance(mechanism, UsesGauges) and uses_gauge(mechanism, facts)) or mechanism.needs_guess


class ChecksHypotheses(ABC):
    """Can say whether a hypothesis is rejected: by symbols 1 and 0, or by one that the verdict is read off."""

    @abstractmethod
    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        """Price the test of a hypothesis (``facts.null``)."""

    @abstractmethod
    def test_level(self, offer: Offer) -> float:
        """ln of the level at which the hypothesis is tested."""

    def is_rejected(self, offer: Offer, symbol: Symbol) -> bool:
        """What a symbol says of the hypothesis; ``ValueError`` for one that says nothing."""
        if symbol not in (0, 1):
            raise ValueError(f"{type(self).__name__} gives a test no outcome {symbol!r:.40}")
        return symbol == 1


class AddsNoiseOnRequest(ABC):
    """Chooses between noise and other answers, and leaves the choice to an asker who wants it."""

    @abstractmethod
    def offer_noise(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Price an ask that is to be answered by noise, whatever guess there is."""


class SharpensAnswers(ABC):
    """Answers by cells, and can tell later in which part of a cell the value lies."""

    @abstractmethod
    def check_sharpenable(self, told: Offer) -> None:
        """Refuse an answer that names no cell, by ``Unaskable``."""

    @abstractmethod
    def sharpen(self, state: State, told: Offer, symbol: Symbol) -> Offer:
        """The offer to ask the same question again inside the cell that was published."""

    @abstractmethod
    def check_gain(self, told: Offer, symbol: Symbol, offer: Offer) -> None:
        """Refuse to sharpen where it gains too little to be worth its price."""


class GivesFinalValues(ABC):
    """Can release exact values as the last word."""

    @abstractmethod
    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        """Price exact values that end the conversation."""


class GuessesItself(ABC):
    """Makes guesses of its own; those of the asker are not used."""

    @abstractmethod
    def own_guess(self, query: Query, facts: Facts, records: Sequence[Record]) -> Guess | None:
        """The guess for a question, or none. A replay makes it again, so it must follow from these three alone."""


class RepricesBatches(ABC):
    """Charges each ask of a batch for the answers before it in the batch."""

    @abstractmethod
    def reprice(self, offer: Offer, state: State) -> Offer:
        """The offer of an ask of a batch, made before the batch, once the answers before it in the batch are known."""


@runtime_checkable
class ClaimsPrivacy(Protocol):
    """States what its answers reveal of one row, for an audit to try."""

    def profile(self, rows: int, asks: int) -> Profile:
        """What all planned asks together reveal of one row."""


class DrawsRows(ABC):
    """Reads a few fresh rows for each answer, which can be drawn ahead."""

    @abstractmethod
    def rows_per_answer(self) -> tuple[int, bool]:
        """How many rows, and whether they are drawn with replacement."""


# ---------------------------------------------------------------------- parameters that a plan determines


class SettlesParameters(ABC):
    """Leaves parameters open until rows are sealed."""

    @abstractmethod
    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        """This configuration with what it leaves open chosen for a plan: what entry 0 records."""

    @abstractmethod
    def complete(self) -> bool:
        """Whether nothing is left open: so it is once rows are sealed, and terms that leave a price open are forged."""

    def has_open_parameters(self) -> bool:
        """Whether a plan would choose more than the price of what is chosen already."""
        return True

    @abstractmethod
    def accepts(self, sealed: Mechanism) -> bool:
        """Whether rows sealed with that mechanism may be opened with this one: the same, as far as it says."""


class EncodesItself(ABC):
    """Is not recorded in entry 0 as its class's name and its parameters just as they are."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What entry 0 records: the ``name`` of the class, and what to call it with."""


# ---------------------------------------------------------------------- what meters, quotes and certificates say


class NamesItsTheorem(ABC):
    """Rests on one theorem or another, by its parameters; all others have one ``theorem`` and one ``currency``."""

    @abstractmethod
    def named_theorem(self) -> str:
        """The theorem behind the answers of this very plan."""

    def named_currency(self) -> str:
        """What this very plan is paid in."""
        return str(type(self).currency)  # type: ignore[attr-defined]


class MetersSpending(ABC):
    """Knows what its transcript has used of its currency, where that is not the state's nats."""

    @abstractmethod
    def spent(self, state: State) -> float:
        """How much of its currency the transcript so far has used."""

    @abstractmethod
    def prices(self, offer: Offer) -> tuple[float, float]:
        """What agreement and the mildest surprise would add to the bill."""


class ChargesBySurprise:
    """Charges agreement next to nothing and surprises much: whoever asks can be held to so many of them."""

    def charges_as_surprise(self, event: Event) -> bool:
        """Whether an answer was a surprise or cost as much: more than a nat for its word, where agreement costs none.

        >>> from unworn.events import Described
        >>> [ChargesBySurprise().charges_as_surprise(Described(False, nats)) for nats in (0.0, 4.5)]
        [False, True]
        """
        return is_surprise(event) or word_nats(event) > 1.0


class ExplainsNumbers(ABC):
    """Has numbers besides the payload's that fix the interval."""

    @abstractmethod
    def numbers(self, offer: Offer) -> dict[str, float]:
        """Those numbers, by name, for the certificate."""


class BoundsWidth(ABC):
    """Has symbols whose interval is wider than that of the likely one."""

    @abstractmethod
    def widest(self, offer: Offer) -> float:
        """The half-width of the widest interval that any symbol could publish."""


class BoundsWidthQuickly(ABC):
    """Can tell roughly how wide an answer is without the library that exact limits need, which is slow to load."""

    @abstractmethod
    def rough_width(self, state: State) -> float:
        """At least the half-width of the next 0/1 answer, if the rows agree with a guess of one half."""
