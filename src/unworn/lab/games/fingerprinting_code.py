"""The interactive fingerprinting code: biases, scores, and an accusation that is right whatever the mechanism does.

In every round a bias p is drawn, then a bit of this bias for every point of a population, and the mechanism answers for
the mean of the bits. It sees those of its rows alone. An answer that goes along with the bias must go along with some
rows' bits; who goes along too often is accused, and has the bit 0 from then on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unworn.bounds.numerics import check_probability, check_whole

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FORGETS = 0.98
"""How much a round counts less than the next for what answers are expected to be."""
_CUT = 20
"""One over so many times the rows is the least bias: there all bits of all rows are 0, but for one time in twenty."""
_CERTAIN = 16.0
"""The steepest rate that is tried: steeper ones would pay only if single answers told a whole row."""


@dataclass(frozen=True)
class FingerprintingCode:
    """The parameters of the game for so many rows out of so many points.

    ``alarm`` is the probability, over the bits alone, that any point which is no row is ever accused.

    *Biases.* p = sin²(θ) with θ uniform (Tardos 2008), cut off at 1/(20·rows) from either end. Whatever mean g(p) the
    answers have, the normalised bits φ of the rows, (bit − p)/√(p(1 − p)), add up to a covariance with the answer of
    √(p(1 − p))·g′(p), and under this law of p that integrates to (g(1) − g(0))/π: rounding, on whatever grid and
    around whatever centre, only moves the slope of g from one place to another. A mechanism that answers 0 where all
    rows say 0, and 1 where all say 1, gives away 1/π a round.

    *Accusation.* Given the answers, the score Σ w·φ of a point that is no row is a sum of centred terms whose
    exponential moments are known exactly (w is the answer's distance from what was expected before). A point is accused
    when the mean of exp(λ·score)/E exp(λ·score) over a few rates λ exceeds points/alarm: by Ville's inequality that
    happens to a point that is no row with probability alarm/points at most, at any time, against any mechanism that
    does not see the point's bits.

    Examples
    --------
    >>> code = FingerprintingCode(rows=100, points=400)
    >>> round(code.threshold, 1), round(code.cut, 5), len(code.rates)
    (12.9, 0.0005, 11)
    >>> code.rounds(spread=0.07), code.rounds() > 3.8 * 100**2
    (17241, True)

    References
    ----------
    Tardos, "Optimal probabilistic fingerprint codes", J. ACM 2008. Steinke and Ullman, "Interactive fingerprinting
    codes and the hardness of preventing false discovery", COLT 2015: who is accused leaves the game, and O(n²) rounds
    suffice. Ville 1939 for accusing at any time. Laarhoven, Doumen, Roelse, Škorić and de Weger, "Dynamic Tardos
    traitor tracing schemes", IEEE Trans. Inf. Theory 2013, catch all of a coalition in the same way.
    """

    rows: int
    points: int
    alarm: float = 1e-3

    def __post_init__(self) -> None:
        check_whole("the number of rows", self.rows, 1)
        check_whole("the number of points", self.points, 2)
        check_probability("alarm", self.alarm)

    @property
    def cut(self) -> float:
        """The least bias there is, and the distance of the largest one from 1."""
        return 1.0 / (_CUT * self.rows)

    @property
    def threshold(self) -> float:
        """ln of what the evidence against a point must exceed."""
        return math.log(self.points / self.alarm)

    @cached_property
    def rates(self) -> Floats:
        """The rates λ that are tried together, each twice the one before."""
        return 2.0 ** np.arange(1 + int(math.log2(_CERTAIN * self.rows))) / self.rows

    def draw_bias(self, rng: np.random.Generator) -> float:
        least = math.asin(math.sqrt(self.cut))
        return math.sin(rng.uniform(least, math.pi / 2 - least)) ** 2

    def rounds(self, spread: float = math.sqrt(1 / 8)) -> int:
        """About how many rounds until half the rows are accused, if each says as much as the others.

        ``spread`` is the root mean square of how far an answer lies from the bias: g/√12 for a grid of width g (where
        rows are many), σ for noise, and √(1/8n) more, added as squares, for the rows' own variation. Answers in [0, 1]
        that are right on average spread by √(1/8) at most, and that is what is assumed unless told. A row's score
        grows by (1 − 1/10)/(π·rows) a round, and the logarithm of the evidence, at its best rate, by half the square of
        that over the spread's.
        """
        if not 0 < spread <= 1:
            raise ValueError(f"the spread of answers in [0, 1] lies between 0 and 1, not {spread!r}")
        least = math.asin(math.sqrt(self.cut))
        drift = (1 - 2 / _CUT) / ((math.pi - 4 * least) * self.rows)
        return math.ceil(2 * (self.threshold + math.log(len(self.rates))) * (spread / drift) ** 2)


class Accuser:
    """One game: what was heard so far, and who is accused.

    >>> code = FingerprintingCode(rows=1, points=2)
    >>> accuser, rng = Accuser(code), np.random.default_rng(0)
    >>> while not accuser.accused.any():  # the first point is the row, and all answers are its bit
    ...     bias, bits = accuser.draw(rng)
    ...     accuser.hear(bits, bias, float(bits[0]))
    >>> accuser.accused.tolist(), accuser.heard < 2 * code.rounds()
    ([True, False], True)
    """

    def __init__(self, code: FingerprintingCode) -> None:
        self.code = code
        self.heard = 0
        self.accused: Bools = np.zeros(code.points, dtype=bool)
        self.scores: Floats = np.zeros(code.points)
        self._moments: Floats = np.zeros(len(code.rates))
        self._along = self._squares = 1.0

    def draw(self, rng: np.random.Generator) -> tuple[float, Bools]:
        """A bias, and a bit for every point: fresh ones, or 0 for the accused."""
        bias = self.code.draw_bias(rng)
        return bias, (rng.random(self.code.points) < bias) & ~self.accused

    def hear(self, bits: Bools, bias: float, answer: float) -> None:
        """Score all points by an answer, and accuse those against whom the evidence is enough."""
        # What is expected is a function of the rounds before: as accused rows say 0, answers fall below the bias.
        excess = answer - min(max(self._along / self._squares, 0.0), 1.0) * bias
        self._along = _FORGETS * self._along + answer * bias
        self._squares = _FORGETS * self._squares + bias**2
        one, zero = excess * math.sqrt((1 - bias) / bias), -excess * math.sqrt(bias / (1 - bias))
        self.scores += np.where(bits, one, zero)
        rates = self.code.rates
        self._moments += np.logaddexp(math.log(bias) + rates * one, math.log1p(-bias) + rates * zero)
        self.heard += 1
        live = np.flatnonzero(~self.accused)
        if live.size and self.evidence(self.scores[live].max(keepdims=True))[0] > self.code.threshold:
            self.accused[live[self.evidence(self.scores[live]) > self.code.threshold]] = True

    def evidence(self, scores: Floats) -> Floats:
        """ln of the mean over the rates of exp(λ·score)/E exp(λ·score): it never falls as a score grows."""
        each = self.code.rates * scores[:, None] - self._moments
        return np.asarray(np.logaddexp.reduce(each, axis=1) - math.log(len(self.code.rates)))

    def suspects(self) -> NDArray[np.intp]:
        """All points, those accused first, then by their scores."""
        return np.lexsort((-self.scores, ~self.accused))
