"""Real numbers to any number of digits, with bounds: the exponential, the sine and the normal tail.

``decimal`` rounds its arithmetic, square root and exponential correctly: each is wrong by at most half a unit of the
last digit kept. Every function here keeps at least ten digits more than it promises, and takes far fewer than 10^9
such steps, none of which magnifies the errors of those before by more than a factor that is stated.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

Bounds = tuple[Decimal, Decimal]
_GUARD = 15
_FAR = 10**6
_BEYOND = Decimal("1e-400000")  # above exp(-_FAR) = 10^-434294.5
_SPLIT = 4


def precision(digits: int, rounding: str = ROUND_HALF_EVEN) -> AbstractContextManager[Context]:
    """Arithmetic with so many digits, whose exponents do not run out; what is too small to write becomes 0."""
    return localcontext(Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[]))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _size(value: Fraction) -> int:
    """The digits in front of the point."""
    return len(str(int(value)))


def _around(value: Decimal, digits: int) -> Bounds:
    """Bounds of a number known to a relative 10^-digits."""
    slack = value.scaleb(-digits)
    return value - slack, value + slack


def exponential(x: Fraction, digits: int) -> Bounds:
    """exp(-x) for x >= 0, to a relative 10^-digits.

    >>> low, high = exponential(Fraction(1), 30)
    >>> str(low)[:30] == str(high)[:30] == "0.3678794411714423215955237701"
    True
    """
    if x > _FAR:
        return Decimal(0), _BEYOND
    with precision(digits + _GUARD + _size(x)):  # an error of x in its last digit is multiplied by x
        return _around((-_decimal(x)).exp(), digits)


def geometric_tail(x: Fraction, step: Fraction, digits: int) -> Bounds:
    """exp(-x) / (1 + exp(-step)) for x >= 0 and step > 0, to a relative 10^-digits.

    >>> low, high = geometric_tail(Fraction(0), Fraction(1), 30)
    >>> str(low)[:20] == str(high)[:20] == "0.731058578630004879"
    True
    """
    low, high = exponential(x, digits + 2)
    below, above = exponential(step, digits + 2)
    with precision(digits + _GUARD):
        one, slack = Decimal(1), Decimal(1).scaleb(-digits - 2)
        return low / (one + above) * (one - slack), high / (one + below) * (one + slack)


@lru_cache(maxsize=64)
def pi(digits: int) -> Decimal:
    """Pi to a relative 10^-digits, by Machin's 16 arctan(1/5) - 4 arctan(1/239) in whole numbers.

    >>> str(pi(30))[:32]
    '3.141592653589793238462643383279'
    """
    unit = 10 ** (digits + _GUARD)
    with precision(digits + _GUARD):
        found: Decimal = Decimal(16 * _arctan(5, unit) - 4 * _arctan(239, unit)) / unit
    return found


def _arctan(inverse: int, unit: int) -> int:
    """``unit`` times arctan(1/inverse), less than two units wrong for every term of the series."""
    power = total = unit // inverse
    order = 1
    while power:
        power //= -inverse * inverse
        order += 2
        total += power // order
    return total


def squared_sine(turn: Fraction, digits: int) -> Bounds:
    """sin(pi * turn)^2 for a turn in [0, 1/2], to an absolute 10^-digits.

    >>> low, high = squared_sine(Fraction(1, 6), 30)
    >>> bool(low < Decimal("0.25") < high)
    True
    """
    with precision(digits + _GUARD):
        angle = pi(digits + _GUARD) * _decimal(turn)
        square, term, total, order = angle * angle, angle, angle, 1
        # Below pi/2 the terms fall from the first on and change sign, so the rest is smaller than the last one.
        while abs(term) > Decimal(1).scaleb(-digits - _GUARD):
            term *= -square / ((order + 1) * (order + 2))
            total, order = total + term, order + 2
        slack = Decimal(1).scaleb(-digits)
        return total * total - slack, total * total + slack


def normal_tail(x: Fraction, digits: int) -> Bounds:
    """P(Z > x) of the standard normal Z for x > 0, to a relative 10^-digits.

    >>> low, high = normal_tail(Fraction(1), 30)
    >>> str(low)[:20] == str(high)[:20] == "0.158655253931457051"
    True
    """
    if x * x > 2 * _FAR:
        return Decimal(0), _BEYOND
    with precision(digits + _GUARD + 2 * _size(x)):  # an error of x in its last digit is multiplied by x^2
        point = _decimal(x)
        density = (-point * point / 2).exp() / (2 * pi(digits + _GUARD + 2)).sqrt()
        if x <= _SPLIT:
            return _around(_tail_by_series(point, density, digits + _GUARD), digits)
        return _tail_by_fraction(point, density, digits)


def _tail_by_series(x: Decimal, density: Decimal, digits: int) -> Decimal:
    """1/2 - density * (x + x^3/3 + x^5/(3*5) + ...): positive terms, and a difference that loses five digits at 4."""
    square, term, total, order = x * x, x, x, 1
    # From order > 2 x^2 on every term is less than half of the one before: the rest is less than the last one.
    while term > total.scaleb(-digits) or order <= 2 * square:
        order += 2
        term *= square / order
        total += term
    return Decimal("0.5") - density * total


def _tail_by_fraction(x: Decimal, density: Decimal, digits: int) -> Bounds:
    """density / (x + 1/(x + 2/(x + 3/(x + ...)))), which lies between any two successive cuts of the fraction."""
    terms = 8
    while True:
        ends = sorted(density / _cut(x, terms + more) for more in (0, 1))
        if ends[1] - ends[0] <= ends[0].scaleb(-digits - 1):
            return _around(ends[0], digits)
        terms *= 2


def _cut(x: Decimal, terms: int) -> Decimal:
    value = x
    for term in range(terms, 0, -1):
        value = x + term / value
    return value
