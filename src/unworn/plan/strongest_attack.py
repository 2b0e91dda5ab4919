"""What no noise can beat: how wide answers must be before the strongest attack known to us stops fitting the rows."""

from __future__ import annotations

from math import exp, pi, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_RADII = [exp(step / 16) for step in range(-64, 161)]
"""The noise that is tried, in square roots of the number of rows."""
_WHOLE = 0.5
"""The half-width of the whole range."""


def attack_gain(rows: int, asks: int, radius: float) -> float:
    """How far off the last question of the attack is at most, of answers with noise below a radius, in rows.

    It asks random questions, and last for the rows that all answers together speak for. Of one row's bit an answer
    tells a Fisher information of at most 1 / (radius^2/pi^2 + rows/4): that of the raised cosine, to which the other
    rows are added (Stam's inequality). So the last question holds for a share Phi(sqrt(asks x this) / 2) of the rows,
    and for one half of the population. When it is played it gains .9 of that and more.

    >>> round(attack_gain(4_000, 300, 220), 4)  # .043 in the mean of some plays
    0.0449
    """
    return _NORMAL.cdf(sqrt(asks) * _pull(rows, radius)) - 0.5


def attack_width(rows: int, asks: int, beta: float) -> float:
    """The half-width below which bounded noise, however large it is chosen, cannot promise so many answers.

    What the noise reaches and what the attack gains are least together at some radius; one question alone has the
    sample's own error besides. It is no theorem, and it speaks of answers to any question without guesses: right
    guesses are not bounded by it.

    >>> [round(attack_width(n, k, 0.05), 3) for n, k in ((10**4, 1_000), (10**5, 139_000), (10**6, 15_000_000))]
    [0.094, 0.099, 0.099]
    """
    widths = (radius / rows + attack_gain(rows, asks, radius) for radius in _radii(rows))
    return min(_WHOLE, min(widths) + _own_error(rows, beta))


def attacked_asks(rows: int, width: float, beta: float) -> int:
    """The most asks that the attack leaves within a half-width; 0 if not one."""
    room = width - _own_error(rows, beta)
    return max(_asks(rows, room - radius / rows, radius) for radius in _radii(rows))


def _asks(rows: int, gain: float, radius: float) -> int:
    """How many asks gain so much."""
    return int((_NORMAL.inv_cdf(0.5 + min(gain, 0.4999)) / _pull(rows, radius)) ** 2) if gain > 0 else 0


def _pull(rows: int, radius: float) -> float:
    return 0.5 / sqrt(radius**2 / pi**2 + rows / 4)


def _radii(rows: int) -> list[float]:
    return [sqrt(rows) * radius for radius in _RADII]


def _own_error(rows: int, beta: float) -> float:
    """What the mean of a fresh sample passes with probability ``beta``."""
    return 0.5 * max(_NORMAL.inv_cdf(1.0 - beta), 0.0) / sqrt(rows)
