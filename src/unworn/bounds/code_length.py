"""The price of an adaptive answer under Theorem C′: how surprising the conversation so far was.

**Theorem C′.** Let Q be a law on conversations, consistent in time and fixed before the rows are seen. Publish, with
every symbol, the one-sided limits at level beta * Q(conversation, this symbol included) from both ends of the
symbol's cell. Then the chance that any interval of the whole conversation misses is at most beta. *Proof.* Given the
coins, whether a node's interval misses is fixed; one that does is visited with probability below beta * Q(node); the
first ones to miss along each path form an antichain, and over an antichain a law adds up to at most 1.

The law here says of each symbol whether it is a *surprise*, by :class:`Pattern`, and then which one, by code words.
Proved here (``docs/theory/code-length.md``); no published source is known to us. Description length as protection is
in Dwork et al. (2015), guess and check in Rogers et al. (2020).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from unworn.bounds.numerics import check_between, check_whole

_UPWARD = 1e-15
"""What every price is rounded up by, so that chances added up in floats stay below 1."""
_EULER = 0.5772156649015329

TEST = "test"
"""The origin of tests: a rejection is no rarity there, and is what one hopes for."""
_NONE, _ALL, _ORIGIN, _BURST, _OCTAVE = 0.5, 0.25, 0.1, 0.1, 0.05
"""What the parts of the mixture weigh before the first ask."""


class Pattern(NamedTuple):
    """A law for where surprises fall among guessed asks, as far as the conversation has come.

    Half of it holds that there will be none. The other half is a mixture of urns, in which surprises are rare at first
    and likelier the more there have been: one urn for all asks (.5); one for each origin of guesses (.2), that of tests
    with as many rejections as not; one after agreement and another after a surprise, for bursts (.2); and a fresh one
    whenever the number of asks doubles (.1).
    ``nats`` is minus the logarithm of the chance of what has happened. Any weights would make it a law in time, because
    each step shares out what is there: the prediction of :meth:`prices`.

    A tuple of plain numbers, because one is made at every ask and a long conversation keeps them all.

    >>> calm = Pattern()
    >>> for _ in range(300):
    ...     calm = calm.after("asker", surprise=False)
    >>> round(calm.nats, 2), round(calm.after("asker", surprise=True).nats, 1)
    (0.31, 8.7)
    """

    nats: float = 0.0
    none_weight: float = _NONE
    all_weight: float = _ALL
    origin_weight: float = _ORIGIN
    burst_weight: float = _BURST
    octave_weight: float = _OCTAVE
    asks: int = 0
    surprises: int = 0
    origins: tuple[tuple[str, int, int], ...] = ()
    calm_asks: int = 0
    calm_surprises: int = 0
    burst_asks: int = 0
    burst_surprises: int = 0
    octave_asks: int = 0
    octave_surprises: int = 0
    surprised: bool = False

    @classmethod
    def typical(cls, asks: int, surprises: int) -> Pattern:
        """The law after so many asks of one origin, wherever the surprises fell: never cheaper than it will be.

        Of the mixture only the urns that do not look at the order are counted; they bound the rest.

        >>> round(Pattern.typical(300, 0).nats, 2), round(Pattern.typical(300, 1).nats, 1)
        (0.39, 9.1)
        """
        check_whole("asks", asks, 0)
        check_whole("surprises", surprises, 0, asks)
        log_urn, none = _log_urn(asks, surprises), 0.0 if surprises else _NONE
        counted = (_ALL + _ORIGIN) * math.exp(log_urn)
        nats = -math.log(none + counted) if none or counted else -math.log(_ALL + _ORIGIN) - log_urn
        urns = (1.0 - none) if none == 0.0 else (1.0 - _NONE) * math.exp(log_urn)
        total = none + urns
        share = urns / total / (1.0 - _NONE)
        return cls(
            nats,
            none / total,
            _ALL * share,
            _ORIGIN * share,
            _BURST * share,
            _OCTAVE * share,
            asks,
            surprises,
            (("asker", asks, surprises),),
            asks,
            surprises,
            octave_asks=asks // 2,
            octave_surprises=surprises // 2,
        )

    def prices(self, origin: str) -> tuple[float, float]:
        """The nats of "no surprise" and of "a surprise", for an ask whose guess is of this origin."""
        all_part, origin_part, burst_part, octave_part, _, _ = self._parts(origin)
        chance = all_part + origin_part + burst_part + octave_part
        return -math.log1p(-chance) + _UPWARD, -math.log(chance) + _UPWARD

    def after(self, origin: str, surprise: bool) -> Pattern:
        """The law after one more guessed ask."""
        all_part, origin_part, burst_part, octave_part, here, here_surprised = self._parts(origin)
        # All fields at once, because this is done at every ask, and one by one they take longer than the sums.
        # fmt: off
        (
            nats, none, all_, own, burst, octave, asks, surprises, origins,
            c_asks, c_surprises, b_asks, b_surprises, o_asks, o_surprises, after_one,
        ) = self
        # fmt: on
        chance = all_part + origin_part + burst_part + octave_part
        if surprise:
            none, nats = 0.0, nats + _UPWARD - math.log(chance)
        else:
            nats = nats + _UPWARD - math.log1p(-chance)
            all_part, origin_part = all_ - all_part, own - origin_part
            burst_part, octave_part = burst - burst_part, octave - octave_part
        total = none + all_part + origin_part + burst_part + octave_part
        now = (origin, here + 1, here_surprised + surprise)
        if (asks + 1) & asks == 0:
            o_asks = o_surprises = 0
        if after_one:
            b_asks, b_surprises = b_asks + 1, b_surprises + surprise
        else:
            c_asks, c_surprises = c_asks + 1, c_surprises + surprise
        return Pattern(
            nats,
            none / total,
            all_part / total,
            origin_part / total,
            burst_part / total,
            octave_part / total,
            asks + 1,
            surprises + surprise,
            (now,) if len(origins) == 1 and here else (*[one for one in origins if one[0] != origin], now),
            c_asks,
            c_surprises,
            b_asks,
            b_surprises,
            o_asks + 1,
            o_surprises + surprise,
            surprise,
        )

    def _parts(self, origin: str) -> tuple[float, float, float, float, int, int]:
        """The chance of a surprise, by each urn of the mixture: for all asks, this origin's, this run's and this
        octave's; and how many asks and surprises this origin has had. An octave begins at ask 1, 2, 4, 8, …
        """
        # fmt: off
        (
            _, _, all_, own, burst, octave, asks, surprises, origins,
            c_asks, c_surprises, b_asks, b_surprises, o_asks, o_surprises, after_one,
        ) = self
        # fmt: on
        here = here_surprised = 0
        for name, told, told_surprised in origins:
            if name == origin:
                here, here_surprised = told, told_surprised
                break
        return (
            all_ * ((surprises + 0.2) / (asks + 10.2)),
            own * ((here_surprised + 0.5) / (here + 1.0) if origin == TEST else (here_surprised + 0.2) / (here + 10.2)),
            burst * ((b_surprises + 0.5) / (b_asks + 1.0) if after_one else (c_surprises + 0.2) / (c_asks + 10.2)),
            octave * (0.2 / 10.2 if (asks + 1) & asks == 0 else (o_surprises + 0.2) / (o_asks + 10.2)),
            here,
            here_surprised,
        )


def _log_urn(asks: int, surprises: int) -> float:
    """ln of the urn's chance of so many surprises in any one order: Beta(f + 1/5, i - f + 10) / Beta(1/5, 10)."""
    x, more = asks - surprises + 10.0, surprises + 0.2
    # ln Γ(x + more) - ln Γ(x) by Stirling's series: the two of them are too large for their difference.
    rise = (x - 0.5) * math.log1p(more / x) + more * math.log(x + more) - more + (1 / (x + more) - 1 / x) / 12
    return math.lgamma(surprises + 0.2) - math.lgamma(0.2) + math.lgamma(10.2) - math.lgamma(10.0) - rise - 1e-5


def side_nats(seen: tuple[int, int], side: int) -> float:
    """Nats to say that the rows lie above the guess (``side`` 1) or below (-1), after so many below and above.

    Krichevsky and Trofimov's estimator: half a surprise on either side to begin with.

    >>> round(side_nats((0, 0), 1), 4), round(side_nats((3, 0), -1), 4)
    (0.6931, 0.1335)
    """
    return -math.log((seen[side > 0] + 0.5) / (sum(seen) + 1.0)) + _UPWARD


def distance_nats(cells: int, farthest: int) -> float:
    """Nats to say that the answer lies ``cells`` cells from where agreement ends, of at most ``farthest``.

    One half of 1/(o(o+1)), which suits near misses, and one half of 1/(o H), which wastes less on far ones. Over
    o = 1 … farthest they add up to 1 - :func:`spare_chance`.

    >>> round(distance_nats(1, 50), 2), round(distance_nats(2, 50), 2), round(distance_nats(40, 50), 2)
    (1.02, 1.97, 5.78)
    """
    check_whole("the distance in cells", cells, 1, farthest)
    return -math.log(0.5 / (cells * (cells + 1.0)) + 0.5 / (cells * _harmonic(farthest))) + _UPWARD


def spare_chance(farthest: int) -> float:
    """What the words for distances leave over."""
    return 0.5 / (farthest + 1.0)


@lru_cache(maxsize=1024)
def _harmonic(count: int) -> float:
    """1 + 1/2 + … + 1/count, from above."""
    check_whole("the farthest cell", count, 1)
    if count <= 1000:
        return math.fsum(1.0 / k for k in range(1, count + 1)) * (1.0 + _UPWARD)
    return math.log(count) + _EULER + 0.5 / count


def log_final_level(log_beta: float, nats: float, questions: int) -> float:
    """ln of the level of each of so many exact values, fixed together, that end a conversation.

    Nothing follows them, so what they say themselves is not charged: beta * Q(conversation before) is shared out.

    >>> round(math.exp(log_final_level(math.log(0.05), 0.31, 1)), 4)
    0.0367
    """
    check_whole("the number of questions", questions, 1)
    check_between("nats", nats, 0, math.inf)
    return log_beta - nats - math.log(questions)
