"""The posterior's sign: what all noisy answers together say of each row, as one last question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unworn.events import Noised
from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, ask_all, lean
from unworn.lab.worlds import Scene
from unworn.mechanisms import BoundedNoise

Floats = NDArray[np.float64]

_REACH = 12.0
"""Standard deviations of a normal law that are followed."""
_FINE = 40
"""Points of the grid to a standard deviation of the rows' own value: the score is then right to about 1e-3."""
_RIDGE = 1e-6
"""Of a probe's variance: keeps equations solvable where there are more probes than rows, and no noise."""
_MOST_JOINT = 4_000
"""Beyond so many probes that they are told apart costs minutes and brings little: noise that suits so many is large."""


@dataclass(frozen=True)
class PosteriorSign(Analyst):
    """Random directions, then the question that holds where the posterior log-odds of a row are above 0.

    The strongest attack on noisy means that we know. Every answer is worth its *score*: minus the derivative of the log
    density of what noise and rows together add to the truth. A row's log-odds of having a label, or of being among the
    rows, are the sum of its own values times the scores. For Gaussian noise the score is the lean itself; where noise
    has ends, as the raised cosine has, answers near an end tell most, and the plain vote of
    :class:`~unworn.lab.analysts.select_then_vote.SelectThenVote` loses up to a quarter of the information. Probes that
    overlap are then told apart, as in least squares: exact answers to as many probes as rows tell every label, where
    the plain vote is right on 84 %.

    It knows the law of the noise, which is public, and takes a mechanism without noise for one with normal errors as
    large as its answers show. Against raised-cosine noise of radius N, in rows, the last question has a bias of up to
    √(k/2π)·π/2N, nearly reached when the noise is large beside the rows' own variation √n/2; Theorem F allows
    √k·π/4N + √(ln(1/β)/2n). With ``batch`` the probes are one honest ``ask_many``: they are chosen before any answer
    is seen, and adapting them would gain nothing, because every fresh direction is as good as another.

    References
    ----------
    Theorem F and what attacks reach, ``docs/theory/noisy-means.md``; the vote is that of Rogers et al. 2020. The score
    as posterior mean is Tweedie's formula: Robbins, "An empirical Bayes approach to statistics", 1956.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(SignWorld(), PosteriorSign(), Naive(), rows=100, asks=60, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "posterior_sign"

    batch: bool = False

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        noise: Noised | None = None
        leans: list[float] = []
        truths: list[float] = []
        for played in ask_all(holdout, map(scene.probe, range(asks - 1)), self.batch):
            leans.append(lean(played))
            truths.append(played.truth)
            event = played.answer.certificate.record.event
            noise = event if isinstance(event, Noised) else None
            yield played
        if leans:
            mechanism = holdout.mechanism
            zero = mechanism.cosine_zero if isinstance(mechanism, BoundedNoise) else None
            weights = posterior_weights(scene, np.array(leans), np.array(truths), noise, zero)
            yield ask(holdout, scene.vote(weights))


def posterior_weights(
    scene: Scene, leans: Floats, truths: Floats, noise: Noised | None, zero: int | None = None
) -> Floats:
    """How much each of the first probes counts for a row's log-odds, given how far all answers lie from the truths.

    Taken by itself a probe has a score s and Fisher information J: it measures the rows' value with the error of a
    normal of variance 1/J, that of the rows included. Together the weights are (C + D)⁻¹ s/J, with C how the rows'
    values vary together and D what is left of 1/J on the diagonal; for Gaussian noise this is the posterior mean.
    """
    drawn = scene.rows if noise is None or noise.drawn is None else noise.drawn
    own = np.maximum(truths * (1 - truths), 1 / scene.rows) / drawn
    scores, information = np.empty(len(leans)), np.empty(len(leans))
    extra = max(0.0, float(np.mean(leans**2 - own))) if noise is None else 0.0
    for variance in np.unique(own):
        same = own == variance
        if noise is None:
            scores[same], information[same] = leans[same] / (variance + extra), 1 / (variance + extra)
        else:
            scores[same], information[same] = noise_score(leans[same], noise, drawn, float(variance), zero)
    if len(leans) > _MOST_JOINT:
        return scores
    together = scene.covariance(len(leans))
    ridge = _RIDGE * float(own.mean())
    np.fill_diagonal(together, 1 / information + ridge)
    return np.asarray(np.linalg.solve(together, scores / information), dtype=np.float64)


def noise_score(
    leans: Floats, noise: Noised, drawn: int, variance: float, zero: int | None = None
) -> tuple[Floats, float]:
    """−(ln g)′ at each lean, and the Fisher information of g: the law of noise (in ``drawn`` steps) plus a normal.

    A cosine that is cut off would reach 0 at ``zero`` steps.

    >>> scores, information = noise_score(np.array([0.01]), Noised("gaussian", 30.0), 1000, 0.0004)
    >>> round(float(scores[0]) * 0.0013, 4), round(information * 0.0013, 3)  # 0.03² + 0.0004 = 0.0013
    (0.01, 1.0)
    """
    spread = np.sqrt(variance)
    step = spread / _FINE
    scale = noise.scale / drawn
    ends = {"cosine": scale, "cut cosine": scale, "gaussian": _REACH * scale, "laplace": 3 * _REACH * scale}
    if noise.noise not in ends:
        raise ValueError(f"the law of {noise.noise} noise is not known to this analyst")
    step = min(step, ends[noise.noise] / _FINE)
    places = step * np.arange(-int(ends[noise.noise] / step), int(ends[noise.noise] / step) + 1)
    if noise.noise in ("cosine", "cut cosine"):
        law = 1 + np.cos(np.pi * places / (scale if zero is None else zero / drawn))
    elif noise.noise == "gaussian":
        law = np.exp(-0.5 * (places / scale) ** 2)
    else:
        law = np.exp(-np.abs(places) / scale)
    count = int(_REACH * spread / step)
    normal = np.exp(-0.5 * (step * np.arange(-count, count + 1) / spread) ** 2)
    density = np.convolve(law, normal)
    density /= density.sum()
    grid = step * (np.arange(len(density)) - len(density) // 2)
    slopes = -np.gradient(np.log(density), step)
    return np.interp(leans, grid, slopes), float(density @ slopes**2)
