"""Theorem C' in its simplest form, for :mod:`tests.theory.exact_trees`, and the same with one mistake each.

The reference: a guess is a count, agreement is to be within a slack of it, what lies beyond is cut into cells. Q of f
surprises among the first i guessed asks is one half if f = 0, plus one half of Pólya's urn,

    B(i, f) = Beta(f + 1/5, i - f + 10) / Beta(1/5, 10),

times the words of the surprises, o cells beyond, in proportion to 1/(o(o+1)). An interval is published at the full
level beta Q(node, word) to either side, its own word included. ``FINAL`` asks for the exact count, with the two-sided
limits at beta Q(node), half of it to a side, and closes the conversation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import betaincinv

from tests.theory.exact_trees import Ask, Node, Past, Symbol

FINAL = "final"


@lru_cache(maxsize=100_000)
def low_limit(count: int, n: int, level: float) -> float:
    """The least share under which so many of n or more still have a chance of ``level``."""
    if level >= 1:
        return 1.0  # no share is far enough
    return float(betaincinv(count, n - count + 1, level)) if count else 0.0


def high_limit(count: int, n: int, level: float) -> float:
    return 1.0 - low_limit(n - count, n, level)


def urn(i: int, f: int) -> float:
    """Q of a pattern of f surprises among i guessed asks."""
    ahead = math.lgamma(f + 0.2) + math.lgamma(i - f + 10) - math.lgamma(i + 10.2)
    before = math.lgamma(0.2) + math.lgamma(10) - math.lgamma(10.2)
    return 0.5 * (f == 0) + 0.5 * math.exp(ahead - before)


@dataclass(frozen=True)
class CodeLaw:
    """The reference. Guesses are counts."""

    rows: int
    beta: float
    guesses: tuple[int, ...]
    slack: int = 0
    cell: int = 1
    final: bool = True

    def asks(self, past: Past) -> list[Ask]:
        if past and past[-1][0] == FINAL:
            return []
        return [*self.guesses, FINAL] if self.final else list(self.guesses)

    def symbol(self, node: Node, count: int) -> Symbol:
        if node.ask == FINAL:
            return count
        assert isinstance(node.ask, int)
        beyond = abs(count - node.ask) - self.slack
        return 0 if beyond <= 0 else math.copysign(math.ceil(beyond / self.cell), count - node.ask)

    def counts(self, node: Node, symbol: Symbol) -> list[int]:
        return [count for count in range(self.rows + 1) if self.symbol(node, count) == symbol]

    def words(self, node: Node) -> list[tuple[Symbol, float]]:
        symbols = sorted({self.symbol(node, count) for count in range(self.rows + 1)}, key=float)  # type: ignore[arg-type]
        return [(symbol, self.word(node, symbol)) for symbol in symbols]

    # ------------------------------------------------------------------ Q

    def word(self, node: Node, symbol: Symbol) -> float:
        """Q of a word at a node."""
        if node.ask == FINAL:
            return 1.0 / (self.rows + 1)  # nothing follows, and its level does not depend on it
        i, f = self.pattern(node.past)
        if symbol == 0:
            return urn(i + 1, f) / urn(i, f)
        return urn(i + 1, f + 1) / urn(i, f) * self.offset(node, symbol)

    def offset(self, node: Node, symbol: Symbol) -> float:
        """The word of a surprise among all surprises there can be."""
        sizes = {self.symbol(node, count) for count in range(self.rows + 1)} - {0}
        weight = {size: 1 / (abs(size) * (abs(size) + 1)) for size in sizes}  # type: ignore[arg-type]
        return weight[symbol] / math.fsum(weight.values())

    def pattern(self, past: Past) -> tuple[int, int]:
        """(guessed asks, surprises among them)."""
        guessed = [symbol for ask, symbol in past if ask != FINAL]
        return len(guessed), sum(symbol != 0 for symbol in guessed)

    def chance(self, past: Past) -> float:
        """Q of a conversation."""
        return math.prod(self.word(Node(past[:place], ask), symbol) for place, (ask, symbol) in enumerate(past))

    # ------------------------------------------------------------------ what is published

    def level(self, node: Node, symbol: Symbol) -> float:
        """The probability that either side may miss with."""
        if node.ask == FINAL:
            return self.beta * self.chance(node.past) / 2
        return self.beta * self.chance(node.past) * self.word(node, symbol)

    def limits(self, node: Node, symbol: Symbol) -> tuple[float, float]:
        counts, level = self.counts(node, symbol), self.level(node, symbol)
        return low_limit(counts[0], self.rows, level), high_limit(counts[-1], self.rows, level)


@dataclass(frozen=True)
class ContinuedFinal(CodeLaw):
    """After an exact value the conversation goes on: the claim has half of the mass, and all that follows the rest."""

    def asks(self, past: Past) -> list[Ask]:
        return [*self.guesses, FINAL]

    def word(self, node: Node, symbol: Symbol) -> float:
        return 0.5 / (self.rows + 1) if node.ask == FINAL else super().word(node, symbol)

    def level(self, node: Node, symbol: Symbol) -> float:
        return super().level(node, symbol) * (0.5 if node.ask == FINAL else 1.0)


# ---------------------------------------------------------------------------------------- with one mistake each


class NothingCharged(CodeLaw):
    """Q left out: every interval at beta, as if it were the only one."""

    def level(self, node: Node, symbol: Symbol) -> float:
        return self.beta / 2 if node.ask == FINAL else self.beta


class OwnWordUncharged(CodeLaw):
    """What came before is charged, the word itself is not."""

    def level(self, node: Node, symbol: Symbol) -> float:
        return self.beta * self.chance(node.past) / (2 if node.ask == FINAL else 1)


class OldWeights(CodeLaw):
    """The weights of Theorem C, taken before the answer as there, without the term for the depth."""

    def level(self, node: Node, symbol: Symbol) -> float:
        i, f = self.pattern(node.past)
        words = math.prod(
            self.offset(Node(node.past[:place], ask), symbol) for place, (ask, symbol) in enumerate(node.past) if symbol
        )
        return self.beta * words * old_weight(i + 1, f)


def old_weight(i: int, f: int) -> float:
    """Of ask i after f surprises: (f+1)(f+2) C(i-1, f) ways, and no word for i."""
    ways = math.lgamma(i) - math.lgamma(f + 1) - math.lgamma(i - f)
    return math.exp(-ways) / ((f + 1) * (f + 2))


class FinalAtFullLevelTwice(CodeLaw):
    """An exact value at the full level to either side: all its words are cells that do not overlap, on both sides."""

    def level(self, node: Node, symbol: Symbol) -> float:
        return super().level(node, symbol) * (2 if node.ask == FINAL else 1)


class UnpaidBatch(CodeLaw):
    """All asks are one batch, and each pays for its own word alone."""

    def level(self, node: Node, symbol: Symbol) -> float:
        return self.beta * self.word(Node((), node.ask), symbol)


class FreeFinal(CodeLaw):
    """An exact value is told for nothing, and the conversation goes on as if it had not been."""

    def asks(self, past: Past) -> list[Ask]:
        return [*self.guesses, FINAL]

    def word(self, node: Node, symbol: Symbol) -> float:
        return 1.0 if node.ask == FINAL else super().word(node, symbol)
