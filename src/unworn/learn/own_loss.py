"""Convex losses of one's own: a function is called at public places before any row is read, and never again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unworn.bounds.numerics import whole
from unworn.errors import Unaskable
from unworn.learn import regions
from unworn.learn.regions import Floats
from unworn.queries.learning.linear_features import Features, features_of
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.learning.slope_table import FEWEST_PLACES, MOST_PLACES, Form, SlopeTable
from unworn.queries.metrics.class_labels import Class

Function = Callable[[Floats], Any]

_DIGITS = 9
"""Of a slope: short enough to be entered with each question; rounding keeps what rises rising."""


def convex_loss(
    value: Function,
    slope: Function,
    features: Features,
    target: str = "y",
    *,
    of: Form,
    reach: float,
    lipschitz: float,
    smoothness: float | None = None,
    strongly: float = 0.0,
    positive: Class = 1,
    range: tuple[float, float] | None = None,
    name: str = "own",
    places: int = 257,
    intercept: bool = True,
) -> LinearLoss:
    """A loss for :func:`~unworn.learn.minimise` from its value and its derivative, vectorised functions of one number.

    Both are called once, at ``places`` numbers from -reach to reach. What is asked, minimised and certified is the
    table that comes of it: the slope between two places is a straight line. Convexity and the declared constants are
    checked on the table, so that no wrong declaration can make an interval or a certificate miss. The function itself
    is within ``loss.table.distance`` of it, if it is convex and ``slope`` its derivative; the certificate names this.

    Parameters
    ----------
    of
        What the number is: ``"margin"``, ±1 for the class times the score; ``"residual"``, the score minus the target
        scaled to [-1, 1] by ``range``; or ``"score"``, the score alone, and then target times score is taken off the
        value (Poisson regression has the exponential function as ``value`` and ``slope``).
    reach
        How large the number may become: at least the largest score in the region searched, and 1 more for a residual.
    lipschitz, smoothness, strongly
        The size of the slope at most; how fast the slope rises at most (None for a loss with kinks), and at least.
        Losses that are declared smooth need fewer iterations; strongly convex ones can be certified by ``curved=True``.

    Examples
    --------
    A Huber loss, quadratic up to 1/2:

    >>> loss = convex_loss(
    ...     lambda r: np.where(np.abs(r) < 0.5, r**2 / 2, 0.5 * np.abs(r) - 0.125),
    ...     lambda r: np.clip(r, -0.5, 0.5),
    ...     {"age": (18, 90)}, "income", range=(0, 2e5), of="residual", reach=4.0, lipschitz=0.5, smoothness=1.0,
    ... )
    >>> loss.names, loss.steepest(1.0), loss.table.distance < 1e-3
    (('intercept', 'age'), 0.5, True)
    """
    count = whole("places", places, FEWEST_PLACES, MOST_PLACES)
    far, steep = regions.positive("reach", reach), regions.positive("lipschitz", lipschitz)
    at = np.linspace(-far, far, count)
    heights, slopes = _called(value, at, "value"), _called(slope, at, "slope")
    if not np.abs(slopes).max() <= steep * (1 + 1e-9):
        worst = int(np.abs(slopes).argmax())
        raise Unaskable(
            f"the {name} loss was declared to have slopes of at most {steep:g}, and has {slopes[worst]:g} at "
            f"{at[worst]:g}: declare lipschitz={abs(slopes[worst]):.6g}, or a smaller reach"
        )
    _check_together(heights, slopes, at, name)
    short = tuple(float(f"{one:.{_DIGITS}g}") for one in slopes)
    table = SlopeTable(name, of, far, float(heights[0]), short, smoothness, regions.finite("strongly", strongly))
    off = float(np.abs(table.values(at) - heights).max())
    between = float(np.diff(slopes).max() + 2 * 10.0 ** (1 - _DIGITS) * steep) * (at[1] - at[0]) / 2
    distance = float(f"{1.000001 * (off + between):.3g}")
    table = SlopeTable(name, of, far, table.start, short, smoothness, table.strongly, distance)
    return LinearLoss(
        "own", features_of(features), target, positive=positive if of == "margin" else None, range=range,
        intercept=intercept, table=table,
    )  # fmt: skip


def _called(function: Function, at: Floats, what: str) -> Floats:
    """What a function says, which must be one finite number for each place."""
    if not callable(function):
        raise Unaskable(f"{what} is a function of an array of numbers, not a {type(function).__name__}")
    try:
        found = np.asarray(function(at.copy()), dtype=np.float64)
    except Exception as error:
        raise Unaskable(
            f"{what} failed on {at.size} numbers from {at[0]:g} to {at[-1]:g}, before any row was read: {error!r:.300}"
        ) from error
    if found.shape != at.shape or not np.isfinite(found).all():
        raise Unaskable(f"{what} must give a finite number for each of {at.size} numbers from {at[0]:g} to {at[-1]:g}")
    return found


def _check_together(heights: Floats, slopes: Floats, at: Floats, name: str) -> None:
    """A convex function rises between two places by no less than the slope at the first says, and no more than that at
    the second."""
    rises, step = np.diff(heights), at[1] - at[0]
    slip = 1e-9 * (1 + np.abs(heights).max() + np.abs(slopes).max() * step)
    wrong = (rises < slopes[:-1] * step - slip) | (rises > slopes[1:] * step + slip)
    if wrong.any() and (np.diff(slopes) >= 0).all():  # a table that is not convex is told as such
        where = int(np.flatnonzero(wrong)[0])
        raise Unaskable(
            f"value and slope of the {name} loss do not belong together: from {at[where]:g} to {at[where + 1]:g} the "
            f"value rises by {rises[where]:g}, and slopes from {slopes[where]:g} to {slopes[where + 1]:g} allow "
            f"{slopes[where] * step:g} to {slopes[where + 1] * step:g}"
        )
