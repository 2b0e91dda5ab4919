"""The Ladder without a step: better than the best, row by row, or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self

from unworn.events import Climbed, Described, Event
from unworn.mechanisms.coded.coded_mechanism import (
    CodedMechanism,
    check_steps_word,
    fold_symbol,
    lone_failure_event,
    lone_nats,
    price_offer,
)
from unworn.mechanisms.contract.capabilities import ExplainsNumbers, LimitsQuestions
from unworn.mechanisms.contract.conversation import published_width, refuse_statistics
from unworn.mechanisms.contract.mechanism import RAISED, Guess, Offer, Published, Reply, State, Symbol, has_failed
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.hypothesis_symbols import rejects
from unworn.noise import Stream
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Rows

_SLIP = 1e-6
"""Of what "not better" is inverted by, so that rounding cannot leave out a difference that was not announced."""


@dataclass(frozen=True)
class PairedLadder(CodedMechanism, LimitsQuestions, ExplainsNumbers):
    """Say whether one submission is better than another, from the rows on which they differ.

    ``holdout.compare(new, best)`` is answered yes or no. What counts as an improvement follows from the rows, not from
    a step: two models that differ on few rows can be told apart by few rows.

    Parameters
    ----------
    rule
        ``"exact"`` says yes when the rows reject "not better" at the level that the transcript allows (for 0/1 scores
        McNemar's exact test): with the holdout's confidence, *every* yes ever said is true of the population.
        ``"heuristic"`` says yes when the difference exceeds one standard error, as Blum and Hardt do: more often, and
        sometimes by chance. Its interval holds, but the yes itself is not promised.
    higher
        Whether a higher score is better; ``False`` for losses.

    Examples
    --------
    >>> board = PairedLadder()
    >>> state = board.begin(rows=10_000, confidence=0.95, asks=1_000)
    >>> offer = board.offer(state, Facts("paired", -1.0, 1.0, zero_one=True), None)
    >>> better, not_better = board.reveal(offer, 1), board.reveal(offer, 0)
    >>> (better.low, better.high), (not_better.low, round(not_better.high, 3))
    ((0.0, 1.0), (-1.0, 0.064))

    References
    ----------
    Blum and Hardt, "The Ladder", ICML 2015, section 3.2 (parameter-free, without proof). McNemar, Psychometrika 1947.
    """

    rule: Literal["exact", "heuristic"] = "exact"
    higher: bool = True

    def __post_init__(self) -> None:
        self.check_law()
        if self.rule not in ("exact", "heuristic"):
            raise ValueError(f"rule is 'exact' or 'heuristic', not {self.rule!r}")

    def check(self, facts: Facts) -> None:
        refuse_statistics(self, facts)
        if facts.kind in SUBSETS:
            what = "shares of a subset" if facts.kind == "conditional" else "areas under a ROC curve"
            raise self.refused(
                facts,
                f"it compares two scores row by row, and the difference of two {what} is not a mean over rows; Ladder "
                "and GuessAndCheck answer each of the two",
            )
        if facts.kind != "paired":
            raise self.refused(facts, "ask holdout.compare(new, best); Ladder scores single submissions")

    def after(self, state: State, event: Event) -> State:
        if isinstance(event, Described):  # it raised
            return fold_symbol(state, event.surprise, event.nats)
        if not isinstance(event, Climbed):
            raise TypeError(f"PairedLadder does not know the event {event!r}")
        return fold_symbol(state, event.steps > 0, event.nats)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        return price_offer(state, facts, position)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = exact_value(offer, query, rows)
        if symbol != RAISED:
            symbol = int(self.improves(offer, *spread_of(offer, symbol)))
        return Reply(symbol, self.event(offer, symbol))

    def improves(self, offer: Offer, difference: float, spread: float) -> bool:
        """Whether a difference on the rows, with its share of discordance, counts as an improvement.

        >>> offer = Offer(1, 1_000, "paired", -1.0, 1.0, True, False, -5.0)  # 45 rows for the new one, 15 against
        >>> PairedLadder("exact").improves(offer, 0.03, 0.06), PairedLadder("exact").improves(offer, 0.03, 0.2)
        (True, False)
        >>> PairedLadder("heuristic").improves(offer, 0.03, 0.2)
        True
        """
        side = 1 if self.higher else -1
        if self.rule == "exact":
            return rejects(offer, side, 0.0, difference, spread, self.test_level(offer))
        ahead = side * difference / offer.span
        # Of values other than 0/1 the mean size is known and not the mean square, which it bounds.
        return ahead > math.sqrt(max(spread - ahead * ahead, 0.0) / offer.rows)

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        if has_failed(symbol):
            return lone_failure_event(offer, symbol)
        steps = check_steps_word(symbol, 1)
        return Climbed(steps, lone_nats(offer) if steps else 0.0)

    def prices(self, offer: Offer) -> tuple[float, float]:
        calm, surprised = self.place_prices(offer)
        return calm, surprised + lone_nats(offer)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        better = check_steps_word(symbol, 1) == 1
        side, span = (1 if self.higher else -1), offer.span
        # How much better is not told. A single row's worth stands for it, so that the sign of the value is the answer.
        value = side * span / offer.rows if better else 0.0
        upward = better == self.higher
        edge = 0.0
        if not better or self.rule == "heuristic":
            bound = 0.0 if better else side * span * self._unannounced(offer)
            level = self.log_one_side(offer, better, lone_nats(offer) if better else 0.0)
            cell = (bound, offer.high) if upward else (offer.low, bound)
            edge = interval(offer, cell, 1.0, level)[0 if upward else 1]
        source = "not better" if not better else "better" if self.rule == "exact" else "heuristically better"
        return Published(value, edge if upward else offer.low, offer.high if upward else edge, source)

    def _unannounced(self, offer: Offer) -> float:
        """The largest difference on the rows, of a span of 1, that might not have been announced.

        Heuristic: ahead² ≤ (1 − ahead²)/n. Exact: McNemar's p-value of N discordant rows is at most
        exp(−N·KL(share ‖ 1/2)) and KL(share ‖ 1/2) ≥ 2(share − 1/2)², so ahead ≤ √(2N ln(1/b))/n, most for N = n; for
        other values the test has 3b/5 for the difference, and the same with KL gives √(2 ln(5/3b)/n).
        """
        if self.rule == "heuristic":
            return (1 + _SLIP) / math.sqrt(offer.rows + 1)
        nats = -self.test_level(offer) + (0.0 if offer.zero_one else math.log(5 / 3))
        return min((1 + _SLIP) * math.sqrt(2 * nats / offer.rows) + _SLIP / offer.rows, 1.0)

    def numbers(self, offer: Offer) -> dict[str, float]:
        return {"improvements_are_proved": float(self.rule == "exact")}

    def likely(self, offer: Offer) -> Symbol:
        return 0

    def widest(self, offer: Offer) -> float:
        return max(published_width(self, offer, symbol) for symbol in (0, 1))

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """There is nothing to choose.

        >>> PairedLadder.for_(rows=10_000, asks=1_000)
        PairedLadder(rule='exact', higher=True)
        """
        return cls()
