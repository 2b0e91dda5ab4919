"""What a mechanism is: a frozen configuration with five methods, and the public numbers they exchange.

``begin`` and ``after`` fold the ledger's events into a state; ``offer`` prices the next ask from public numbers
alone; ``answer`` is the only step that sees rows, and returns a symbol; ``publish`` turns the symbol into an
interval, and is pure, so that anyone can run it again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from unworn.basics.frozen_init import assign_fields
from unworn.basics.typed_fields import read_listed
from unworn.bounds.code_length import Pattern
from unworn.errors import Exhausted, Unaskable
from unworn.events import Ended, Event, Finished, Stopped
from unworn.mechanisms.contract.arguments import MOST, checked_goal, checked_parameters
from unworn.noise import Stream
from unworn.queries.query import Facts, Kind, Query
from unworn.queries.row_protocol import Rows

if TYPE_CHECKING:
    from unworn.mechanisms.contract.record import Record

Symbol = int | float | str | list[Any]
"""What is released about the rows: nothing else about them ever leaves."""

MOST_ROWS = MOST_ASKS = MOST

RAISED = "raised"
"""The symbol for an answer that could not be made: the asker's code or ours failed on the rows, or came back with
another value when asked again."""
STOPPED = "stopped"
"""The symbol for an ask that was interrupted while rows were read: a word of its own, because the asker can tell."""


NO_ANSWER = {RAISED: "failed", STOPPED: "interrupted"}
"""The symbols that say that there is no answer, and what an asker calls them."""


def has_failed(symbol: Symbol) -> bool:
    """Whether a symbol says that there is no answer."""
    return isinstance(symbol, str) and symbol in NO_ANSWER


@assign_fields
@dataclass(frozen=True, slots=True)
class Guess:
    """What the asker expects, in the question's own units, with its standard error where known.

    ``discordance`` is for paired questions: how large the mean absolute difference is expected to be at most.
    """

    value: float
    error: float | None = None
    discordance: float | None = None
    origin: str = "asker"

    def to_json(self) -> list[Any]:
        return [self.value, self.error, self.discordance, self.origin]


@assign_fields
@dataclass(frozen=True, slots=True)
class Offer:
    """The public numbers that fix one answer before any row is read.

    ``log_level`` is the logarithm of the miss probability this one answer may spend. With a ``guess`` the rows are
    compared with it (``slack``, ``cell``); otherwise one of ``cells`` equal cells of ``inside`` is named. A noisy
    answer is a whole number of ``steps`` to the length of the range, at the ``price`` of the whole plan. Where a
    hypothesis is tested, ``null`` is (side, value, level), and ``log_level`` that of the one test. ``best`` is the
    rung that the best score so far has reached.

    ``place`` is what the answer's own symbol costs by where it falls: the origin of the guess, the nats of no surprise
    and of a surprise, and how many surprises lay below and above their guesses. Without it the symbol is not charged,
    and the two limits share the level. ``final`` is (position, questions, whether they are the last). With a ``radius``
    the answer is a count plus noise below it, and ``kept`` is what Theorem U stretches nats by. With ``most`` it first
    says whether at most so many rows count (where it is negative: do not count), and if so the noise is narrower.
    ``requested`` says that noise was asked for, whatever guess there is. With a ``rate`` agreement with the guess is
    told with noise, at chances that change by at most e^rate from one count to the next.
    """

    index: int
    rows: int
    kind: Kind
    low: float
    high: float
    zero_one: bool
    runs_code: bool
    log_level: float
    guess: float | None = None
    slack: float = 0.0
    cell: float = 0.0
    cells: int = 0
    inside: tuple[float, float] | None = None
    within: tuple[float, float] | None = None
    discordance: float = 1.0
    part: tuple[int, int] | None = None
    steps: int = 0
    price: tuple[float, float, float] | None = None
    sensitivity: float | None = None
    null: tuple[int, float, float] | None = None
    best: int | None = None
    place: tuple[str, float, float, int, int] | None = None
    final: tuple[int, int, bool] | None = None
    kept: float = 0.0
    radius: int = 0
    most: int = 0
    requested: bool = False
    rate: float = 0.0

    @property
    def span(self) -> float:
        """The length of one value's declared range: a difference of two values can be twice as far apart."""
        return (self.high - self.low) / 2 if self.kind == "paired" else self.high - self.low

    def to_json(self) -> list[Any]:
        """Its fields in order; those at the end that say nothing are left out."""
        if self.rate:
            return list(_OFFER_VALUES(self))
        if self.requested:
            return list(_REQUESTED_VALUES(self))
        return list(_NOISE_VALUES(self) if self.kept or self.final is not None else _FIRST_VALUES(self))

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Offer:
        offer = read_listed(cls, data)  # an older ledger has fewer
        if offer.kind not in _KINDS or not 1 <= offer.rows <= MOST_ROWS or not offer.low < offer.high:
            raise ValueError("no rows could have been offered this")
        if not 0 <= offer.kept < 1 or offer.radius < 0 or (offer.final is not None and offer.radius):
            raise ValueError("nothing is priced like this")
        if not -offer.rows < offer.most < offer.rows or ((offer.most or offer.requested) and not offer.radius):
            raise ValueError("nothing is checked like this before noise is drawn")
        if offer.rate and not (offer.rate > 0 and offer.radius and offer.guess is not None and not offer.most):
            raise ValueError("no guess is checked with noise like this")
        if offer.place is not None and min(offer.place[1:]) < 0:
            raise ValueError("no symbol costs less than nothing")
        return offer


_KINDS = get_args(Kind)
_OFFER_FIELDS = tuple(field.name for field in fields(Offer))
_OFFER_VALUES = attrgetter(*_OFFER_FIELDS)
_FIRST_VALUES = attrgetter(*_OFFER_FIELDS[: _OFFER_FIELDS.index("place") + 1])
_NOISE_VALUES = attrgetter(*_OFFER_FIELDS[: _OFFER_FIELDS.index("radius") + 1])
_REQUESTED_VALUES = attrgetter(*_OFFER_FIELDS[: _OFFER_FIELDS.index("requested") + 1])


@assign_fields
@dataclass(frozen=True, slots=True)
class Reply:
    """What the rows said: a symbol, and the event that prices it."""

    symbol: Symbol
    event: Event


@assign_fields
@dataclass(frozen=True, slots=True)
class Published:
    """What the asker gets, a function of offer and symbol alone."""

    value: float
    low: float
    high: float
    source: str


def whole_range(offer: Offer) -> Published:
    """What holds where nothing is known."""
    return Published((offer.low + offer.high) / 2, offer.low, offer.high, "surprise")


@assign_fields
@dataclass(frozen=True, slots=True)
class State:
    """What the transcript so far has cost: counts and nats, folded from the ledger's events."""

    rows: int
    log_beta: float
    planned: int | None = None
    asked: int = 0
    surprises: int = 0
    nats: float = 0.0
    round: int = 0
    best: int | None = None
    ended: bool = False
    """Whether a failure was told that cannot be paid for, so that nothing may follow it."""
    pattern: Pattern | None = None
    """Where surprises fell, under Theorem C′."""
    sides: tuple[int, int] = (0, 0)
    """How many surprises lay below and above their guesses."""
    closed: bool = False
    """Whether final values were told, after which nothing may follow."""
    kept: float = 0.0
    """The chance that Theorem U reckons with, once noisy answers were given; their number, and the noise's radius."""
    noisy: int = 0
    radius: int = 0

    def further(
        self,
        surprises: int = 0,
        nats: float = 0.0,
        pattern: Pattern | None = None,
        sides: tuple[int, int] | None = None,
    ) -> State:
        """After one more answer, which cost so much."""
        return State(
            self.rows,
            self.log_beta,
            self.planned,
            self.asked + 1,
            self.surprises + surprises,
            self.nats + nats,
            self.round,
            self.best,
            self.ended,
            self.pattern if pattern is None else pattern,
            self.sides if sides is None else sides,
            self.closed,
            self.kept,
            self.noisy,
            self.radius,
        )

    def check_open(self) -> None:
        """Refuse whatever would follow what nothing may follow."""
        if self.closed:
            raise Exhausted(
                "the final values have been told, and with them the holdout is closed: they can be this sharp because "
                "nothing follows.\n"
                "  All answers hold, and asking them again is free. Seal fresh rows to go on asking.",
                asked=self.asked,
            )
        if self.ended:
            raise Exhausted(
                f"answer {self.asked} could not be made, and that it failed is a fact about the rows that this "
                "mechanism cannot pay for: the holdout is closed.\n"
                "  The answers given before hold all the same, and asking them again is free. Seal fresh rows.",
                asked=self.asked,
            )

    def index(self, position: int) -> int:
        """The depth of the next ask (of the ask at ``position`` of the next batch), or a refusal."""
        self.check_open()
        index = self.asked + 1 + position
        if self.planned is not None and index > self.planned:
            raise Exhausted(
                (
                    f"all {self.planned} planned asks are spent"
                    if self.asked == self.planned
                    else f"{self.asked} of {self.planned} planned asks are spent, and this batch is longer"
                )
                + ".\n  Plan more asks for fresh rows, or seal a holdout without `asks=`: guess-and-check needs none.",
                asked=self.asked,
                planned=self.planned,
            )
        return index


@dataclass(frozen=True, slots=True)
class FinalPlace:
    """Where a final value stands: its position among so many fixed together, and whether anything may follow.

    ``told`` is what was offered and told when the question was asked before, if it was.
    """

    position: int = 0
    questions: int = 1
    last: bool = True
    told: tuple[Offer, Symbol] | None = None


def refuse_subsets(facts: Facts, mechanism: Mechanism) -> None:
    """Refuse what is counted over a subset of the rows, or over pairs of them, to a mechanism that knows only means."""
    name = type(mechanism).__name__
    if facts.kind == "conditional":
        raise Unaskable(
            f"{name} has no interval for a share of a subset (given=, where=, precision, recall, F1): ask for two "
            "plain shares, of the rows with both and of the subset, as in ratio(share(a & b), share(a))"
        )
    if facts.kind == "ranking":
        raise Unaskable(f"{name} has no interval for roc_auc, which compares rows in pairs: ask brier or log_loss")


@dataclass(frozen=True)
class Mechanism(ABC):
    """How an answer is made from the rows. Subclasses are found by name, from the ledger's entry 0."""

    currency: ClassVar[str] = "nats"
    theorem: ClassVar[str]
    promises: ClassVar[bool] = True
    reads: ClassVar[Literal["values", "rounded", "draws"]] = "values"
    """What an answer takes from the rows: all their values, all of them rounded at random, or a few fresh rows."""
    tests: ClassVar[bool] = False
    """Whether hypotheses can be tested: see :meth:`offer_test`."""
    former: ClassVar[dict[str, Any]] = {}
    """What parameters meant that entry 0 of an older ledger does not have."""
    prices_failure: ClassVar[bool] = False
    """Whether ``event`` has prices for :data:`RAISED` and :data:`STOPPED`. Where it has none a failure closes the
    holdout: what was published before cannot miss because of what is told later, and nothing follows."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Whatever a mechanism checks itself, its parameters are of their declared types by then."""
        super().__init_subclass__(**options)
        own, goal = cls.__dict__.get("__post_init__"), cls.__dict__.get("for_")
        if own is not None:
            cls.__post_init__ = checked_parameters(own)  # type: ignore[attr-defined]
        if isinstance(goal, classmethod):
            cls.for_ = classmethod(checked_goal(goal.__func__))  # type: ignore[method-assign,assignment]

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        """The state before the first ask."""
        return State(rows, math.log1p(-confidence), asks)

    def settled(self, rows: int, confidence: float, asks: int | None) -> Self:
        """This configuration with what it leaves open chosen for a plan: what entry 0 records."""
        return self

    def complete(self) -> bool:
        """Whether nothing is left open: so it is once rows are sealed, and terms that leave a price open are forged."""
        return True

    def accepts(self, sealed: Mechanism) -> bool:
        """Whether rows sealed with that mechanism may be opened with this one: the same, as far as it says."""
        return self == sealed

    def unlike(self, sealed: Mechanism) -> tuple[object, object]:
        """(that mechanism, this one), as far as they differ: for telling whoever opens rows on other terms."""
        return sealed, self

    def check(self, facts: Facts) -> None:
        """Refuse a question of a kind that this mechanism has no answer to, from public facts alone."""
        refuse_subsets(facts, self)
        if facts.kind == "statistic":
            raise Unaskable(
                f"a statistic is not a mean over rows, and {type(self).__name__} answers only means: "
                "seal the rows with BoundedNoise, Gaussian or Laplace to ask it"
            )

    def own_guess(self, query: Query, facts: Facts, records: Sequence[Record]) -> Guess | None:
        """The guess of a mechanism that makes its own, of the question and what was released; the asker's is not used.

        None for all others. A replay makes it again, so it must follow from these three alone.
        """
        return None

    @abstractmethod
    def after(self, state: State, event: Event) -> State:
        """The state once an event is in the ledger."""

    @abstractmethod
    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Price the ask at ``position`` of the next batch from public numbers, or raise ``Exhausted``."""

    def reprice(self, offer: Offer, state: State) -> Offer:
        """The offer of an ask of a batch, made before the batch, once the answers before it in the batch are known."""
        return offer

    def test_level(self, offer: Offer) -> float:
        """ln of the level at which a hypothesis is tested."""
        return offer.log_level

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        """Price exact values that end the conversation. Whoever can give them overrides this."""
        raise Unaskable(f"{type(self).__name__} has no final values: seal rows with GuessAndCheck for them")

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        """Price the test of a hypothesis (``facts.null``). Whoever can answer one says ``tests`` and overrides this."""
        raise Unaskable(self.no_tests())

    def offer_noise(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        """Price an ask that is to be answered by noise, whatever guess there is. Whoever can overrides this."""
        raise Unaskable(
            f"{type(self).__name__} does not choose between noise and other answers: leave out noise=, or seal rows "
            "with GuessAndCheck, which does"
        )

    def no_tests(self) -> str:
        """Why this mechanism tests no hypotheses, and what to do instead."""
        return (
            f"{type(self).__name__} answers with noise, and an exact test would show what the noise hides: ask the "
            "question and see whether its interval leaves out the value, which is a test at level 1 - confidence"
        )

    @abstractmethod
    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        """Read the rows: the only step that does."""

    @abstractmethod
    def event(self, offer: Offer, symbol: Symbol) -> Event:
        """What releasing a symbol is entered as. Pure, so that a replay finds an event that was entered too cheaply."""

    def reply(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        """:meth:`answer`, for every offer there is."""
        if offer.final is not None:
            from unworn.mechanisms.symbols.final_values import answer_final

            return answer_final(offer, query, rows)
        return self.answer(state, offer, query, rows, noise)

    def charge(self, offer: Offer, symbol: Symbol) -> Event:
        """:meth:`event`, for every symbol there is, also where making an answer failed or was interrupted."""
        if offer.final is not None:
            from unworn.mechanisms.symbols.final_values import final_event

            return final_event(offer, symbol)
        if not self.prices_failure:
            if symbol == RAISED:
                return Ended()
            if symbol == STOPPED and not offer.runs_code:
                return Stopped()
        return self.event(offer, symbol)

    def follow(self, state: State, event: Event) -> State:
        """:meth:`after`, for every event there is."""
        if state.ended and not isinstance(event, Ended):
            raise TypeError("nothing follows a failure that closed the holdout")
        if state.closed and not isinstance(event, Finished | Stopped):  # others fixed with the first may be interrupted
            raise TypeError("nothing follows final values")
        if isinstance(event, Ended):
            return replace(state.further(), ended=True)
        if isinstance(event, Finished):
            return replace(state.further(nats=event.nats), closed=state.closed or event.last)
        return state.further() if isinstance(event, Stopped) else self.after(state, event)

    def failure(self, offer: Offer, interrupted: bool) -> Symbol:
        """The symbol for an answer that could not be made.

        An interrupt is the asker's own doing, and needs no price, unless the question brings code that may have raised
        it for some rows.
        """
        return STOPPED if interrupted and (self.prices_failure or not offer.runs_code) else RAISED

    def publish(self, offer: Offer, symbol: Symbol) -> Published:
        """The interval that holds for every row set that could have produced this symbol.

        Where making an answer failed, nothing is known: the whole range holds.
        """
        if has_failed(symbol):
            return whole_range(offer)
        if offer.final is not None:
            from unworn.mechanisms.symbols.final_values import reveal_final

            return reveal_final(offer, symbol)
        if offer.null is not None:
            if not self.tests or symbol not in (0, 1):
                raise ValueError(f"{type(self).__name__} gives a test no outcome {symbol!r:.40}")
            return Published(float(symbol == 1), offer.low, offer.high, "test")  # of the value itself nothing is told
        return self.reveal(offer, symbol)

    def named_theorem(self) -> str:
        """The theorem behind the answers of this very plan: ``theorem``, unless there are several."""
        return self.theorem

    @abstractmethod
    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        """The same for a symbol that tells where the value lies."""

    def named_currency(self) -> str:
        """What this very plan is paid in: ``currency``, unless there are several."""
        return self.currency

    def spent(self, state: State) -> float:
        """How much of its currency the transcript so far has used."""
        return state.nats

    def prices(self, offer: Offer) -> tuple[float, float]:
        """What agreement and the mildest surprise would add to the bill, in the mechanism's currency."""
        return 0.0, 0.0

    def numbers(self, offer: Offer) -> dict[str, float]:
        """What else fixes the interval, by name, for the certificate."""
        return {}

    def widest(self, offer: Offer) -> float:
        """The half-width of the widest interval that any symbol could publish."""
        return self.publish_width(offer, self.likely(offer))

    @abstractmethod
    def likely(self, offer: Offer) -> Symbol:
        """The symbol an honest asker should expect, to quote a width before asking."""

    def publish_width(self, offer: Offer, symbol: Symbol) -> float:
        published = self.publish(offer, symbol)
        return (published.high - published.low) / 2

    def to_json(self) -> dict[str, Any]:
        return {"name": type(self).__name__, **asdict(self)}

    @classmethod
    @abstractmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The configuration that suits a goal."""
