"""Analysts made for noisy answers: what they learn of the rows, from answers that say more or less than the rows do.

The noise here is put into the control, whose answers are otherwise exact, so that what an analyst learned can be
compared with what there was to learn. Everything is seeded; false-alarm rates over all seeds are stated at each test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from unworn import Holdout
from unworn.lab import Analyst, FiniteWorld, Played, Rule, Scene, SeededStore, SignWorld, World
from unworn.lab.analysts import Averaging, Calibrating, Fingerprinting, QuadraticAdaptive, SelectThenVote
from unworn.lab.analysts.select_then_vote import log_odds
from unworn.lab.worlds import FiniteScene, SignScene
from unworn.mechanisms import Naive
from unworn.mechanisms.symbols import exact_value

Noise = Callable[[], int]
Planting = Callable[[Noise], list[float]]


def fresh(most: int) -> Noise:
    """A whole number of rows, drawn for every answer, uniform between −most and most."""
    rng = np.random.default_rng(99)
    return lambda: int(rng.integers(-most, most + 1))


def reused(most: int) -> Noise:
    """The mistake: one draw, for all answers."""
    drawn = fresh(most)() or most
    return lambda: drawn


@pytest.fixture
def noisy(monkeypatch: pytest.MonkeyPatch) -> Planting:
    """Puts noise into the control, and gives a list in which the exact values gather."""

    def plant(noise: Noise) -> list[float]:
        values: list[float] = []

        def answer(offer: Any, query: Any, rows: Any) -> float:
            exact = float(exact_value.exact_value(offer, query, rows))  # type: ignore[arg-type]  # no pairs are asked here
            values.append(exact)
            return float(np.clip(exact + noise() / offer.rows, 0, 1))

        monkeypatch.setattr("unworn.mechanisms.baselines.naive.exact_value", answer)
        return values

    return plant


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> list[NDArray[np.float64]]:
    """The weights of all votes in sign worlds."""
    seen: list[NDArray[np.float64]] = []
    vote = SignScene.vote

    def watched(self: SignScene, given: ArrayLike) -> Rule:
        seen.append(np.asarray(given, dtype=np.float64))
        return vote(self, given)

    monkeypatch.setattr(SignScene, "vote", watched)
    return seen


def play(analyst: Analyst, world: World, rows: int, asks: int) -> tuple[list[Played], Holdout, Scene]:
    rng = np.random.default_rng(21)
    scene = world.draw(rows, asks, rng)
    holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=SeededStore(rng))
    return list(analyst.play(holdout, scene, asks, rng)), holdout, scene


def leans(scene: Scene, probes: int) -> NDArray[np.float64]:
    """What the rows of a sign world really say of each probe."""
    assert isinstance(scene, SignScene)
    right: NDArray[np.float64] = (scene.features[:, :probes] == scene.labels[:, None]).mean(axis=0) - 0.5
    return right


def asked(holdout: Holdout) -> list[str]:
    return [entry.body["fingerprint"] for entry in holdout._desk.transcript.entries[1:]]


@pytest.mark.parametrize(("asks", "known"), [(1, []), (2, [1]), (9, [3, 7]), (30, [3, 7, 13, 21, 25])])
def test_the_quadratic_analyst_votes_at_squares_and_at_the_end(
    asks: int, known: list[int], weights: list[NDArray[np.float64]]
) -> None:
    """Asks 4, 9, 16, 25 and 30 are votes of the 3, 7, 13, 21 and 25 probes before them."""
    played, _, scene = play(QuadraticAdaptive(), SignWorld(), 80, asks)
    assert len(played) == asks
    assert [len(given) for given in weights] == known
    for given in weights:
        np.testing.assert_allclose(given, [log_odds(lean) for lean in leans(scene, len(given))], atol=1e-9)


def test_averaging_asks_in_rounds() -> None:
    _, holdout, scene = play(Averaging(times=3), SignWorld(), 80, 14)
    names = [scene.probe(j).question.fingerprint for j in range(4)]
    assert asked(holdout)[:-1] == [*names, *names, *names, names[0]]
    assert asked(holdout)[-1] not in names


def test_averages_have_less_noise(noisy: Planting, weights: list[NDArray[np.float64]]) -> None:
    """Uniform noise of 40 rows either way; 16 answers leave a quarter of it.

    The mean square of 100 errors that are nearly normal is off by the factor 1.6² with probability below 1e-7.
    """
    noisy(fresh(40))
    spread = np.sqrt(40 * 41 / 3) / 400
    for times, share in ((1, 1.0), (16, 0.25)):
        _, _, scene = play(Averaging(times), SignWorld(), 400, 100 * times + 1)
        error = float(np.sqrt(np.mean((weights[-1] - leans(scene, 100)) ** 2)))
        assert share * spread / 1.6 < error < share * spread * 1.6


def test_fingerprinting_sees_rows_through_noise(noisy: Planting) -> None:
    """A row's score lies √k/(2n√(1/4n + σ²)) = 4.7 standard deviations above that of other points.

    What is left of the quarter goes to the best 4 % of the others, from 1.8 standard deviations on: a row is missed
    with probability 0.002, and 6 of 50 with probability below 1e-8.
    """
    exact = noisy(fresh(5))
    played, _, _ = play(Fingerprinting(), FiniteWorld(200, forms=("accuracy",)), 50, 2001)
    assert exact[-1] >= 0.9
    assert played[-1].truth == pytest.approx(0.25)


def test_fingerprinting_scores_points_as_it_says() -> None:
    """The formula, point by point: probes that vary little, and so move answers little, count as much as others."""
    world = FiniteWorld(200, forms=("accuracy", "mae", "share"))
    played, _, scene = play(Fingerprinting(), world, 50, 31)
    assert isinstance(scene, FiniteScene)
    score = np.zeros(200)
    for (answer, truth), values in zip(played[:-1], scene.values, strict=False):
        score += (answer.value - truth) * (values - truth) / values.std()
    top = np.argsort(-score)[:50]
    assert played[-1].answer.value == pytest.approx(np.isin(scene.points, top).mean())


def test_fingerprinting_survives_probes_that_do_not_vary() -> None:
    played, _, _ = play(Fingerprinting(), FiniteWorld(2, weights=(1.0, 0.0), forms=("accuracy",)), 10, 5)
    assert len(played) == 5


def test_calibrating_undoes_noise_that_is_used_again(noisy: Planting, weights: list[NDArray[np.float64]]) -> None:
    """With one draw for all, the analyst knows exact answers; with fresh draws it has gained nothing.

    The mean square of what fresh noise leaves is below a quarter of what is expected with probability below 1e-7.
    """
    for noise, known in ((reused(60), True), (fresh(60), False)):
        noisy(noise)
        _, _, scene = play(Calibrating(), SignWorld(), 400, 201)
        exact = np.array([log_odds(lean) for lean in leans(scene, 175)])
        if known:
            np.testing.assert_allclose(weights[-1], exact, atol=1e-9)
        else:
            # log-odds are 4 times the lean; two draws of standard deviation 0.09 make 0.5, cut at the ends
            assert np.sqrt(np.mean((weights[-1] - exact) ** 2)) > 0.25


def test_calibrating_is_what_finds_it(noisy: Planting) -> None:
    """The same draw for all leads a plain vote astray, so that only the calibrated one shows the mistake.

    On exact answers the vote of 350 probes looks Φ(√(350/400)) = 0.825 right on 400 rows, give or take 0.019 a standard
    deviation, and after a shift of 0.1375 for all 0.57: both are five of those and more from 0.73.
    """
    found = []
    for analyst in (SelectThenVote(), Calibrating()):
        exact = noisy(reused(60))
        play(analyst, SignWorld(), 400, 401)
        found.append(exact[-1])
    plain, calibrated = found
    assert plain < 0.73 < calibrated
