"""The posterior's sign: it knows the noise, tells overlapping probes apart, and comes near to what Theorem F allows.

Everything is seeded; false-alarm rates over all seeds are stated where chance enters.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout
from unworn.bounds.noisy_means import best_cosine
from unworn.events import Noised
from unworn.lab import FiniteWorld, SeededStore, SignWorld
from unworn.lab.analysts import PosteriorSign, SelectThenVote
from unworn.lab.analysts.posterior_sign import noise_score, posterior_weights
from unworn.lab.worlds import SignScene
from unworn.mechanisms import BoundedNoise, Naive


def cosine_noise(radius: int, size: int, rng: np.random.Generator) -> np.ndarray:
    places = np.arange(1 - radius, radius)
    law = 1 + np.cos(np.pi * places / radius)
    return rng.choice(places, size=size, p=law / law.sum())


def bias(scene: SignScene, weights: np.ndarray) -> float:
    """How much better the vote is on the rows than in the population."""
    vote = scene.vote(weights).question
    return float((vote.source.column.values == scene.labels).mean() - 0.5)  # type: ignore[attr-defined]


def test_the_score_of_the_raised_cosine_is_its_tangent() -> None:
    """Where the rows' own value hardly varies: −(ln cos²)′, and the Fisher information π²/N², the least there is."""
    leans = np.linspace(-0.03, 0.03, 7)
    scores, information = noise_score(leans, Noised("cosine", 50.0), 1000, variance=1e-7)
    np.testing.assert_allclose(scores, np.pi / 0.05 * np.tan(np.pi * leans / 0.1), rtol=0.01, atol=1e-6)
    assert information == pytest.approx((np.pi / 0.05) ** 2, rel=0.05)


def test_the_score_of_laplace_noise_saturates() -> None:
    scores, information = noise_score(np.array([-0.1, 0.04, 0.1]), Noised("laplace", 10.0), 1000, variance=1e-7)
    np.testing.assert_allclose(scores, [-100, 100, 100], rtol=0.01)
    assert information == pytest.approx(100**2, rel=0.1)


def test_noise_of_an_unknown_law_is_refused() -> None:
    with pytest.raises(ValueError, match="triangle noise is not known"):
        noise_score(np.zeros(1), Noised("triangle", 10.0), 1000, 1e-4)


def test_exact_answers_to_more_probes_than_rows_tell_every_label() -> None:
    """125 probes of 100 rows: the labels are what the equations have as their one solution. The plain vote has 87 %."""
    for analyst, right in ((PosteriorSign(), 1.0), (SelectThenVote(), 0.87)):
        rng = np.random.default_rng(3)
        scene = SignWorld().draw(100, 126, rng)
        holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=SeededStore(rng))
        *_, last = analyst.play(holdout, scene, 126, rng)
        assert last.answer.value == pytest.approx(right, abs=0.0 if right == 1 else 0.1)


def test_it_takes_the_noise_for_what_it_is() -> None:
    """Through a holdout: the last question is the vote by the scores of the mechanism's own noise."""
    rng = np.random.default_rng(8)
    scene = SignWorld().draw(4_000, 41, rng)
    mechanism = BoundedNoise(0.02)
    holdout = Holdout(scene.data, scene.labels, asks=41, mechanism=mechanism, ledger=SeededStore(rng))
    played = list(PosteriorSign(batch=True).play(holdout, scene, 41, rng))
    leans = np.array([answer.value - 0.5 for answer, _ in played[:-1]])
    zero = holdout.mechanism.cosine_zero  # type: ignore[attr-defined]
    by_scores = posterior_weights(scene, leans, np.full(40, 0.5), Noised("cut cosine", 80.0), zero)
    asked = holdout._desk.transcript.entries[-1].body["fingerprint"]
    assert len(played) == 41
    assert asked == scene.vote(by_scores).question.fingerprint
    assert asked != scene.vote(leans).question.fingerprint


@in_two_sizes(short=(8, 0.35), full=(64, 0.5))
def test_more_than_half_of_what_theorem_f_allows(size: tuple[int, float]) -> None:
    """2,000 rows, 1,000 answers, the plan's own noise: the bias of the last question is .58 of √(B/2), on average.

    Of one play it has a standard deviation of .011, and .138 is allowed: eight deviations of the mean of 8 plays lie
    between .58 and .35 of that, of 64 plays between .58 and .5. (At 10,000 rows the mean is .55 of it for 637 answers,
    .031 of .056, and .65 for 4,000.)
    """
    plays, share = size
    n, k = 2_000, 1_000
    plan = best_cosine(n, k, 0.05)
    allowed = math.sqrt(plan.nats / (2 * n))
    reached = []
    for play in range(plays):
        rng = np.random.default_rng([reseeded(31), play])
        scene = SignWorld().draw(n, k, rng)
        counts = (scene.features == scene.labels[:, None]).sum(axis=0)
        leans = (counts + cosine_noise(round(plan.noise), k, rng)) / n - 0.5
        weights = posterior_weights(scene, leans, np.full(k, 0.5), Noised("cosine", plan.noise))
        reached.append(bias(scene, weights))
    assert share * allowed < np.mean(reached)
    assert max(reached) < allowed  # five deviations


def test_points_of_a_finite_world_are_found_through_noise() -> None:
    """1,500 answers about 50 rows of 400 points, with noise below 25 rows: a quarter of the points holds most rows.

    Over 60 seeds .89 of them, with a standard deviation of .042: one half is nine of those below, and chance is .25.
    """
    n, k = 50, 1_500
    rng = np.random.default_rng(12)
    scene = FiniteWorld(400, forms=("accuracy",)).draw(n, k, rng)
    truths = scene.values.mean(axis=1)
    leans = scene.values[:, scene.points].mean(axis=1) + cosine_noise(25, k, rng) / n - truths
    weights = posterior_weights(scene, leans, truths, Noised("cosine", 25.0))
    vote = scene.vote(weights)
    rows = vote.question.source.column.values  # type: ignore[attr-defined]
    assert vote.truth == pytest.approx(0.25)
    assert rows.mean() > 0.5


def test_covariances_are_those_of_many_draws() -> None:
    """Variances are at most 1/160, and off by 2 % (a standard deviation) after 4,000 draws: 1e-3 is eight of those."""
    for world in (SignWorld(), FiniteWorld(30)):
        rng = np.random.default_rng(5)
        scene = world.draw(40, 5, rng)
        values = []
        for _ in range(4_000):
            if isinstance(scene, SignScene):
                values.append((scene.features == rng.choice([-1, 1], size=(40, 1))).mean(axis=0))
            else:
                values.append(scene.values[:, rng.integers(0, 30, size=40)].mean(axis=1))  # type: ignore[attr-defined]
        np.testing.assert_allclose(scene.covariance(5), np.cov(np.array(values).T), atol=1e-3)
