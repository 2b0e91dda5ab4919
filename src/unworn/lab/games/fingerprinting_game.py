"""The game against a way of answering: no holdout, no certificate, only bits of rows and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unworn.lab.games.fingerprinting_code import Accuser, Bools, FingerprintingCode

Answering = Callable[[Bools, np.random.Generator], float]
"""From the bits of the rows and coins of its own to an answer; it may remember what it likes."""


@dataclass(frozen=True)
class GameResult:
    """How a game ended: ``rounds`` played, the share of the rows ``found``, and how many ``innocents`` were accused.

    ``half`` is the round after which half the rows were accused, or None. From then on the question "not accused?" has
    a value of at most 1/2 on the rows, and of nearly 1 in a population that has many more points than rows: whoever
    answers it by the rows is off by nearly 1/2.
    """

    rounds: int
    found: float
    innocents: int
    half: int | None


def play_game(
    answering: Answering, code: FingerprintingCode, rounds: int, rng: np.random.Generator, enough: float = 0.5
) -> GameResult:
    """Ask until a share of ``enough`` of the rows is accused, or the rounds are over. The rows are the first points.

    Examples
    --------
    A grid of width .2 around .5, which hides every question of value 1/2 from an analyst who asks no other:

    >>> code = FingerprintingCode(rows=25, points=100)
    >>> result = play_game(round_mean(0.2), code, 10_000, np.random.default_rng(1))
    >>> result.half < 4_000, result.innocents
    (True, 0)
    """
    accuser, half = Accuser(code), None
    for _ in range(rounds):
        bias, bits = accuser.draw(rng)
        accuser.hear(bits, bias, min(max(answering(bits[: code.rows], rng), 0.0), 1.0))
        found = accuser.accused[: code.rows].mean()
        if half is None and found >= 0.5:
            half = accuser.heard
        if found >= enough:
            break
    accused = accuser.accused
    return GameResult(accuser.heard, float(accused[: code.rows].mean()), int(accused[code.rows :].sum()), half)


def exact(bits: Bools, rng: np.random.Generator) -> float:
    """The rows' own mean."""
    return float(bits.mean())


def round_mean(width: float, centre: float = 0.5) -> Answering:
    """The middle of the cell in which the mean lies, of a grid around ``centre``.

    >>> answering = round_mean(0.2)
    >>> round(answering(np.array([1, 1, 1, 0, 0]) > 0, np.random.default_rng(0)), 3)
    0.7
    """
    return lambda bits, rng: centre + width * round((float(bits.mean()) - centre) / width + 1e-9)


def noisy(deviation: float) -> Answering:
    """The mean and Gaussian noise."""
    return lambda bits, rng: float(bits.mean()) + deviation * float(rng.standard_normal())


def majority(bits: Bools, rng: np.random.Generator) -> float:
    """1 where more than half of the bits are 1, else 0: a grid of width 1."""
    return float(bits.mean() > 0.5)


def one_row(bits: Bools, rng: np.random.Generator) -> float:
    """The bit of a row drawn at random: right on average, and otherwise as vague as an answer can be."""
    return float(bits[rng.integers(len(bits))])


def scapegoat(bits: Bools, rng: np.random.Generator) -> float:
    """The bit of the first row, as long as any answer may be justified by it: to give away one row alone."""
    return float(bits[0])
