"""How much noise a budget asks for, and what noise of some scales reveals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from unworn.bounds.noise_tails import Noise
from unworn.bounds.privacy import GDP, Profile, Pure
from unworn.errors import Unaskable
from unworn.noise.noise_checks import WIDEST
from unworn.release.problem import Problem
from unworn.universe.model.question_blocks import Block

_DIGITS = 4
"""A scale is rounded up to so many digits: what is recorded is short, and reveals a little less than allowed."""


def check_noise(noise: Noise | None, problem: Problem) -> Noise:
    """The noise a method was told to use, or else the one that suits the budget."""
    if noise == "gaussian" and problem.delta == 0:
        raise Unaskable("Gaussian noise needs delta > 0: give one, or take Laplace noise")
    return noise or ("gaussian" if problem.delta > 0 else "laplace")


def unit_scale(noise: Noise, problem: Problem) -> float:
    """The scale of noise for one number that a replaced row changes by one."""
    if noise == "laplace":
        return 1.0 / problem.epsilon
    from unworn.bounds.budget import gaussian_mu

    return 1.0 / gaussian_mu(problem.epsilon, problem.delta)


def common_scale(noise: Noise, blocks: Sequence[Block], problem: Problem) -> float:
    """The scale for all these blocks together, the same for each: of all divisions it has the smallest largest noise.

    Gaussian noise of standard deviation sd reveals mu = sqrt(sum of l2^2) / sd (Dong, Roth and Su 2022), Laplace noise
    of scale b reveals epsilon = (sum of l1) / b.
    """
    if noise == "gaussian":
        moved = math.sqrt(sum(block.l2**2 for block in blocks))
    else:
        moved = sum(block.l1 for block in blocks)
    return rounded_up(unit_scale(noise, problem) * max(moved, 1e-9))


def privacy_of_noise(noise: Noise, moved: Sequence[float], scales: Sequence[float]) -> Profile:
    """What all of it reveals: ``moved`` is each block's sensitivity, l2 for Gaussian and l1 for Laplace noise."""
    if noise == "gaussian":
        return GDP(math.sqrt(math.fsum((size / scale) ** 2 for size, scale in zip(moved, scales, strict=True))))
    # Exact fractions: a sum of rounded quotients could pass the budget by one unit of the last digit.
    return Pure(float(sum(Fraction(size) / Fraction(scale) for size, scale in zip(moved, scales, strict=True))))


def check_scales(profile: Profile, scales: Sequence[float], problem: Problem) -> None:
    """Refuse noise that reveals more than the problem allows, or that no whole number holds."""
    if any(isinstance(scale, bool) or not 0.0 < scale < math.inf for scale in scales):
        raise ValueError("a scale of noise is a finite number of rows above 0")
    if max(scales) > WIDEST:
        raise Unaskable(f"the noise would be {max(scales):.3g} rows wide, which drowns any table: raise epsilon")
    over = profile.epsilon > problem.epsilon if isinstance(profile, Pure) else _delta(profile, problem) > problem.delta
    if over:
        raise Unaskable(
            f"noise of these scales reveals more than epsilon = {problem.epsilon:g}, delta = {problem.delta:g} allow: "
            "give larger scales, or leave them to the method"
        )


def _delta(profile: Profile, problem: Problem) -> float:
    return float(profile.delta(problem.epsilon))


def rounded_up(scale: float) -> float:
    """A little more noise, in fewer digits.

    >>> rounded_up(58.1573912)
    58.16
    """
    steps = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(scale)))
    up = math.ceil(scale * steps) / steps
    return up if up >= scale else math.nextafter(scale, math.inf)
