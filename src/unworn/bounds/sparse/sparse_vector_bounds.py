"""The sparse vector technique: what its noise hides, and how far it can be on the wrong side of its threshold.

A *run* compares one count after another with a threshold, both with Laplace noise, and tells only whether the count
was above. Being below is nearly free: an instance that ends with its first "above" is (1/a + 2/b)-private for any
number of comparisons, where a is the scale of the threshold's noise and b that of the counts'. The proof, for noise on
whole numbers, is in ``docs/theory/sparse-vector.md``. All scales here are in rows: one row changes a count by 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unworn.bounds.numerics import check_between, check_nats, check_probability, check_whole
from unworn.bounds.privacy.composition import Homogeneous
from unworn.bounds.privacy.fourier import compose
from unworn.bounds.privacy.loss_distributions import Atoms
from unworn.bounds.privacy.profiles import Profile, Pure

_WHOLE = 1e-9


@dataclass(frozen=True, slots=True)
class Run:
    """The noise of a whole run, in rows, and how often it may say "above" before it ends.

    ``threshold`` and ``question`` are the scales on the threshold and on each count; with ``value`` what was above is
    also released, with fresh noise of that scale. ``fresh`` says whether every "above" is followed by a fresh
    threshold; otherwise one threshold serves the whole run.

    >>> Run(threshold=20.0, question=40.0, tops=5).epsilon   # of one instance
    0.1
    >>> Run(threshold=20.0, question=200.0, tops=5, fresh=False).epsilon   # of the whole run
    0.1
    """

    threshold: float
    question: float
    value: float | None = None
    tops: int = 1
    fresh: bool = True

    def __post_init__(self) -> None:
        for name in ("threshold", "question", "value"):
            scale = getattr(self, name)
            if scale is not None and not 0 < scale < math.inf:
                raise ValueError(f"the scale of the {name}'s noise must be finite and above 0 rows, not {scale!r}")
        check_whole("tops", self.tops, 1)
        if self.value is not None and not self.fresh:
            raise ValueError("values are released only by runs with a fresh threshold after each")

    @property
    def epsilon(self) -> float:
        """Of the comparisons of one instance; of the whole run where its threshold is not drawn again."""
        return 1.0 / self.threshold + 2.0 * (1 if self.fresh else self.tops) / self.question

    def scaled(self, factor: float) -> Run:
        """The same with all noise multiplied."""
        value = None if self.value is None else factor * self.value
        return replace(self, threshold=factor * self.threshold, question=factor * self.question, value=value)


def split(epsilon: float, crossings: int = 1, how: str = "even") -> tuple[float, float]:
    """The budget of the threshold and that of the counts: even, or as makes their difference least noisy.

    The counts' noise has the scale 2c/e2 for c crossings of one threshold, so 1/e1^2 + (2c/e2)^2 is to be least:
    e1 : e2 = 1 : (2c)^(2/3) (Lyu, Su and Li 2017).

    >>> split(1.0), [round(part, 3) for part in split(1.0, 4, "best")]
    ((0.5, 0.5), [0.2, 0.8])
    """
    _check_epsilon(epsilon)
    check_whole("crossings", crossings, 1)
    if how == "even":
        return epsilon / 2, epsilon / 2
    if how == "best":
        share = 1.0 / (1.0 + (2.0 * crossings) ** (2.0 / 3.0))
        return epsilon * share, epsilon * (1.0 - share)
    raise ValueError(f"split is 'even' or 'best', not {how!r}")


def refreshed_run(epsilon: float, tops: int = 1, how: str = "even") -> Run:
    """Every instance ``epsilon``-private, with a threshold of its own; evenly split, noise of 2/eps and 4/eps.

    >>> refreshed_run(0.1, 3)
    Run(threshold=20.0, question=40.0, value=None, tops=3, fresh=True)
    """
    first, second = split(epsilon, 1, how)
    return Run(1.0 / first, 2.0 / second, tops=tops)


def standard(epsilon: float, tops: int = 1, how: str = "best") -> Run:
    """The whole run ``epsilon``-private with a single threshold: Lyu, Su and Li (2017), Algorithm 7.

    >>> run = standard(0.1, 4)
    >>> round(run.threshold, 6), round(run.question, 6), round(run.epsilon, 6)
    (50.0, 100.0, 0.1)
    """
    first, second = split(epsilon, tops, how)
    return Run(1.0 / first, 2.0 * tops / second, tops=tops, fresh=False)


def sparse_scale(epsilon: float, delta: float, tops: int) -> float:
    """The threshold's scale for a run of ``tops`` instances within (epsilon, delta): Dwork and Roth (2014), Alg. 2.

    sqrt(32 c ln(1/delta))/epsilon, or 2c/epsilon where delta = 0; counts get twice as much. Each instance is then
    e = epsilon/sqrt(8 c ln(1/delta))-private, and c of them cost at most sqrt(2 c ln(1/delta)) e + c e tanh(e/2) <=
    epsilon/2 + epsilon^2/(16 ln(1/delta)), which is within epsilon as long as epsilon <= 8 ln(1/delta).

    >>> round(sparse_scale(1.0, 1e-6, 10), 2), sparse_scale(1.0, 0.0, 10)
    (66.49, 20.0)
    """
    _check_epsilon(epsilon)
    check_whole("tops", tops, 1)
    check_between("delta", delta, 0.0, 1.0)
    if delta == 0.0:
        return 2.0 * tops / epsilon
    if not epsilon <= 8.0 * math.log(1.0 / delta):
        most = 8.0 * math.log(1.0 / delta)
        raise ValueError(f"with delta = {delta:g}, epsilon must be at most 8 ln(1/delta) = {most:.3g}, not {epsilon:g}")
    return math.sqrt(32.0 * tops * math.log(1.0 / delta)) / epsilon


def instance_epsilon(epsilon: float, delta: float, tops: int) -> float:
    """What one of ``tops`` instances may cost for the whole run to stay within (epsilon, delta): 2/scale.

    >>> round(instance_epsilon(1.0, 1e-6, 10), 5)
    0.03008
    """
    return 2.0 / sparse_scale(epsilon, delta, tops)


def run_profile(run: Run) -> Profile:
    """What a whole run reveals of one row, however the questions were chosen.

    Instances compose as independent randomised responses (Kairouz, Oh and Viswanath 2015); a value released at the end
    of each adds a smaller one, so the losses of one round are the four sums of +-epsilon and +-1/value.

    >>> run_profile(refreshed_run(0.1, 20))
    Homogeneous(epsilon=0.1, floor=0.0, k=20)
    >>> run_profile(standard(0.1, 20))
    Pure(epsilon=0.1)
    >>> both = run_profile(Run(20.0, 40.0, value=40.0, tops=20))   # the sum of both would be Homogeneous(0.125, 0, 20)
    >>> round(float(both.delta(0.5)), 4), round(float(Homogeneous(0.125, 0.0, 20).delta(0.5)), 4)
    (0.0409, 0.0681)
    """
    if not run.fresh:
        return Pure(run.epsilon)
    if run.value is None:
        return Homogeneous(run.epsilon, 0.0, run.tops)
    large, small = run.epsilon, 1.0 / run.value
    if abs(large - small) <= _WHOLE * small:
        return Homogeneous(max(large, small), 0.0, 2 * run.tops)
    first, second = 1.0 / (1.0 + math.exp(-large)), 1.0 / (1.0 + math.exp(-small))
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    losses = np.array([large * one + small * two for one, two in signs])
    masses = np.array([(first if one > 0 else 1 - first) * (second if two > 0 else 1 - second) for one, two in signs])
    times = large / small
    lattice = small if abs(times - round(times)) <= _WHOLE * times else None
    return compose(Atoms(losses, masses), run.tops, step=lattice)


def empirical_error(run: Run, asks: int, beta: float) -> float:
    """How far, in rows, a count can be on the wrong side of the threshold: in no comparison by more, but for ``beta``.

    With noise of 2/epsilon and 4/epsilon it is 6 ln((k + m)/beta)/epsilon for k asks and m thresholds, and one row
    more: a whole number drawn from discrete Laplace noise passes x with probability exp(-(x - 1/2)/scale) at most.

    >>> round(empirical_error(refreshed_run(0.1), 1000, 0.05), 1)   # 60 ln(1001/0.05), and 1
    595.3
    """
    check_whole("the number of asks", asks, 1)
    check_probability("beta", beta)
    thresholds = min(run.tops, asks) if run.fresh else 1
    return (run.threshold + run.question) * math.log((asks + thresholds) / beta) + 1.0


def _check_epsilon(epsilon: float) -> None:
    check_nats("epsilon", epsilon)
    if not 0.0 < epsilon <= 700.0:
        raise ValueError(f"epsilon must lie in (0, 700], not {epsilon!r}")
