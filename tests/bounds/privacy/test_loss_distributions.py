from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.numerics import Floats, log_choose
from unworn.bounds.privacy import (
    GDP,
    Atoms,
    Homogeneous,
    Losses,
    amplified,
    compose,
    fourier,
    hockey_stick,
    pair,
    pairs,
    profile,
)
from unworn.bounds.privacy.loss_distributions import mirror_atoms, split
from unworn.bounds.privacy.pairs import cosine_atoms, dots, gaussian_atoms, response_atoms
from unworn.events import Noised

quiet = settings(derandomize=True, deadline=None, max_examples=60)


def delta(atoms: Atoms, epsilon: Floats) -> Floats:
    """Straight from the definition."""
    gains = -np.expm1(np.minimum(epsilon[:, np.newaxis] - atoms.losses, 0.0))
    return np.asarray(gains @ atoms.masses + atoms.infinite)


def power(atoms: Atoms, k: int) -> Atoms:
    """k copies, every combination written out."""
    losses, masses, finite = np.zeros(1), np.ones(1), 1.0 - atoms.infinite
    for _ in range(k):
        losses = np.add.outer(losses, atoms.losses).ravel()
        masses = np.multiply.outer(masses, atoms.masses).ravel()
    return Atoms(losses, masses, 1.0 - finite**k)


@quiet
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 1.0)), min_size=1, max_size=30), st.floats(0.01, 0.7))
def test_splitting_keeps_both_masses_and_dominates(points: list[tuple[float, float]], step: float) -> None:
    losses, masses = np.array(points).T
    masses /= masses.sum()
    size = 2 * math.ceil(3 / step) + 4
    first = -(size // 2)
    there = split(losses, masses, step, first, size)
    lattice = step * (first + np.arange(size))
    assert there.sum() == pytest.approx(1.0, abs=1e-12)
    assert there @ np.exp(-lattice) == pytest.approx(masses @ np.exp(-losses), rel=1e-11)
    grid = np.linspace(0.0, 3.5, 60)
    wide = delta(Atoms(lattice, there / there.sum()), grid)
    assert (wide >= delta(Atoms(losses, masses), grid) - 1e-12).all()
    on = lattice[lattice >= 0]  # at lattice points nothing is lost at all
    assert np.allclose(delta(Atoms(lattice, there), on), delta(Atoms(losses, masses), on), atol=1e-12)


@quiet
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12), st.floats(0, 0.3), st.data())
def test_a_lattice_profile_is_the_definition(weights: list[float], infinite: float, data: st.DataObject) -> None:
    masses = (np.array(weights) + 1e-3) / (np.sum(weights) + 1e-3 * len(weights)) * (1 - infinite)
    first = data.draw(st.integers(-8, 3))
    step = data.draw(st.floats(0.05, 0.5))
    grid = np.append(np.linspace(0.0, 5.0, 40), step * np.arange(6))
    found = Losses(step, first, masses, infinite).delta(grid)
    assert np.allclose(found, delta(Atoms(step * (first + np.arange(len(masses))), masses, infinite), grid), atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("atoms", [cosine_atoms(6), cosine_atoms(15), gaussian_atoms(0.6), response_atoms(0.8, 0.2)])
def test_composing_dominates_every_combination_written_out(atoms: Atoms, k: int) -> None:
    heavy = atoms.masses > 1e-30
    truth = power(Atoms(atoms.losses[heavy], atoms.masses[heavy], atoms.infinite), k)
    grid = np.linspace(0.0, 4.0, 80)
    found = compose(atoms, k).delta(grid)
    exact = delta(truth, grid)
    assert (found >= exact).all()
    assert (found <= exact + 2e-3).all()


@pytest.mark.parametrize(("mu", "k"), [(0.05, 10), (3.0, 10), (0.5, 1000), (3.0, 10**5), (0.5, 10**7)])
def test_rounding_stays_within_what_is_charged(mu: float, k: int) -> None:
    epsilon = mu / math.sqrt(k)
    together = compose(response_atoms(epsilon), k, step=epsilon)
    grid = np.linspace(0.0, 8 * mu, 50)
    exact = Homogeneous(epsilon, 0.0, k).delta(grid)
    assert (together.delta(grid) >= exact * (1 - 1e-12)).all()
    assert (np.abs(together.delta(grid) - together.infinite - exact) < 0.5 * fourier.rounding(k)).all()


@pytest.mark.parametrize(("sd", "k"), [(100.0, 50), (100.0, 3999), (100.0, 5000), (1000.0, 123_457), (3000.0, 10**7)])
def test_gaussian_noise_composes_to_what_is_known_exactly(sd: float, k: int) -> None:
    once = dots(GDP(1 / sd), np.arange(1, 38 * 64) / (64 * sd))
    mu = math.sqrt(k) / sd
    grid = mu * np.linspace(0.0, 6.0, 40)
    truth, found = GDP(mu).delta(grid), compose(once, k).delta(grid)
    assert (found >= truth).all()
    assert (found <= truth * 1.003 + 5.0 * fourier.rounding(k)).all()


def test_two_passes_agree_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = np.linspace(0.0, 1.4, 100)
    for width, k in ((300, 9000), (5000, 12_500)):
        twice = compose(cosine_atoms(width), k)
        monkeypatch.setattr(fourier, "_TWICE", 10**9)
        once = compose(cosine_atoms(width), k)
        monkeypatch.undo()
        assert np.allclose(twice.delta(grid), once.delta(grid), rtol=1e-3, atol=1e-10)


def test_cells_of_wide_cosine_noise_dominate_its_atoms_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cosine_atoms(20_000)
    monkeypatch.setattr(pairs, "_EXACT_UP_TO", 10**6)
    atoms = cosine_atoms(20_000)
    assert len(cells.losses) < len(atoms.losses) / 10
    assert cells.masses @ np.exp(-cells.losses) == pytest.approx(atoms.masses @ np.exp(-atoms.losses), abs=1e-14)
    assert 1.0 <= cells.spread / atoms.spread < 1 + 1e-5
    grid = math.pi / 20_000 * np.geomspace(1e-3, 6000, 200)
    ratio = delta(cells, grid) / delta(atoms, grid)
    assert ratio.min() > 1 - 1e-11
    assert ratio.max() < 1 + 1e-3


def stab(profile: Losses, beta: float = 0.05) -> tuple[float, float]:
    """The two transfer theorems these profiles are made for, minimised over a grid."""
    grid = np.linspace(0.0, 0.5, 4001)
    tilt, cost = np.tanh(grid / 2), 2 * profile.delta(grid) / ((1 + np.exp(grid)) * beta)
    first = second = float((tilt + cost).min())
    for _ in range(60):
        second = float((tilt * (0.5 + second) + cost).min())
    return first, second


@pytest.mark.parametrize(
    ("width", "k", "plain", "sharp"),
    [(500, 40, 0.04964, 0.03028), (5000, 4500, 0.04960, 0.02899), (25_000, 29_000, 0.02508, 0.01426),
     (5000, 12_500, 0.08233, 0.0496), (50_000, 1_250_000, 0.08201, 0.04925)],
)  # fmt: skip
def test_the_widths_known_for_cosine_noise(width: int, k: int, plain: float, sharp: float) -> None:
    found = stab(compose(cosine_atoms(width), k))
    assert found[0] == pytest.approx(plain, abs=6e-6)
    assert found[1] == pytest.approx(sharp, abs=6e-5)


def test_the_profile_moves_the_right_way() -> None:
    grid = np.linspace(0.0, 0.3, 60)
    base = compose(cosine_atoms(1000), 200).delta(grid)
    assert (np.diff(base) <= 0).all()
    assert (compose(cosine_atoms(1000), 220).delta(grid) > base).all()
    assert (compose(cosine_atoms(1050), 200).delta(grid) < base).all()


def test_discrete_gaussian_noise_is_not_gaussian_dp() -> None:
    for sd, reach, excess in ((4.0, 3.0, 1.0285), (10.0, 3.0, 1.0047)):
        m = np.arange(-200.0, 201.0)
        log = -0.5 * np.square(m / sd)
        log -= math.log(np.exp(log).sum())
        grid = np.linspace(0.0, reach / sd, 2000)
        exact = hockey_stick(log[:-1], log[1:], grid)
        assert (exact / GDP(1 / sd).delta(grid)).max() > excess
        priced = compose(gaussian_atoms(sd), 1, step=0.5 / sd**2).delta(grid)
        assert (priced >= exact).all()
        assert np.allclose(priced, exact, rtol=1e-8, atol=1e-12)


def test_losses_of_hundreds_of_nats_are_paid_for() -> None:
    masses = np.zeros(402)
    masses[[0, 401]] = 0.5
    found = Losses(1.0, 0, masses).delta([0.0, 399.0, 400.0, 400.5, 401.0])
    assert found.tolist() == pytest.approx(
        [0.5, 0.5 - 0.5 * math.exp(-2), 0.5 - 0.5 / math.e, 0.5 * -math.expm1(-0.5), 0]
    )


def test_no_answers_and_nothing_to_tell() -> None:
    assert compose(cosine_atoms(50), 0).delta([0.0, 1.0]).tolist() == [0.0, 0.0]
    silent = Atoms(np.zeros(1), np.ones(1))
    assert compose(silent, 1000).delta([0.0]).tolist() == [0.0]
    assert compose(Atoms(np.zeros(1), np.zeros(1), 1.0), 3).delta(5.0) == 1.0


def test_a_loss_past_the_last_point_counts_as_infinite() -> None:
    """Eight points reach from -4 to 3 steps: what is above them is charged whole, and what is on the last is kept."""
    atoms = Atoms(np.array([-9.0, 0.0, 1.5, 1.75]), np.array([0.1, 0.2, 0.3, 0.4]))
    assert fourier._above(atoms, 0.5, 8) == pytest.approx(0.4)
    assert fourier._above(atoms, 0.25, 8) == pytest.approx(0.7)
    assert fourier._above(atoms, 1.0, 8) == 0.0
    within = np.fft.irfft(fourier._transform(Atoms(atoms.losses[1:3], np.array([0.4, 0.6])), 0.5, 8), 8)
    assert within == pytest.approx([0.4, 0, 0, 0.6, 0, 0, 0, 0])


def test_pairs_of_laws() -> None:
    p, q = np.log([0.5, 0.3, 0.2, 1e-300]), np.array([math.log(0.3), math.log(0.7), -np.inf, -np.inf])
    atoms = pair(p, q)
    grid = np.array([0.0, 0.2, 1.0])
    assert np.allclose(delta(atoms, grid), hockey_stick(p, q, grid))
    assert atoms.infinite == pytest.approx(0.2)
    with pytest.raises(ValueError, match="log masses"):
        pair([0.0, math.nan], [0.0, 0.0])
    with pytest.raises(ValueError, match="log masses"):
        hockey_stick([0.0], [0.0, 0.0], 0.0)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        Atoms(np.zeros(2), np.array([0.5, 0.2]))
    with pytest.raises(ValueError, match="finite"):
        Atoms(np.array([0.0, np.inf]), np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="mass at infinity must"):
        Atoms(np.zeros(1), np.zeros(1), 1.0 + 1e-7)
    with pytest.raises(ValueError, match="step"):
        Losses(0.0, 0, np.ones(1))
    with pytest.raises(ValueError, match="masses"):
        Losses(1.0, 0, np.array([math.nan]))
    with pytest.raises(ValueError, match="whole"):
        compose(cosine_atoms(50), -1)
    with pytest.raises(ValueError, match="whole"):
        cosine_atoms(1)
    with pytest.raises(ValueError, match=r"at least 0\.1"):
        gaussian_atoms(math.nan)
    with pytest.raises(ValueError, match="rising"):
        dots(GDP(1.0), np.array([1.0, 0.5]))
    with pytest.raises(ValueError, match=r"lattice of .* use more noise \(a larger scale\), or plan fewer asks"):
        compose(response_atoms(1e-6), 10**15, step=1e-6)
    with pytest.raises(ValueError, match=r"1/scale.* Use more noise \(a larger scale\)"):
        response_atoms(701.0)
    for loss in (1e200, np.inf):
        with pytest.raises(ValueError, match=r"finite \(below 1e150\)"):
            Atoms(np.array([0.0, loss]), np.array([0.5, 0.5]))


def test_losses_that_no_float_can_raise_e_to() -> None:
    """Twenty randomised responses with epsilon = 100, of half the rows: losses up to 1986."""
    found = profile(Noised("laplace", 0.01, 5), 10, 20)
    grid = np.array([0.0, 500.0, 699.0, 709.0, 710.0, 715.0, 1000.0, 1985.0, 2000.0, np.inf])
    deltas = found.delta(grid)
    assert (deltas >= 0.0).all()  # and no NaN among them
    assert (np.diff(deltas) <= 0.0).all()
    seen = np.arange(21)
    chances = np.exp([log_choose(20, int(j)) for j in seen]) * 0.5**20  # the row was in j of the samples
    truth = [chances[(100 - math.log(2)) * seen > at].sum() for at in grid]
    assert np.allclose(deltas, truth, atol=1e-6)
    assert (deltas >= np.array(truth) - 1e-12).all()


@pytest.mark.parametrize(("k", "loss"), [(10**8, 1e-4), (10**4, 1.0), (10, 300.0)])
def test_no_warning_on_the_way_to_a_window(k: int, loss: float) -> None:
    q = 1 / (1 + math.exp(loss))
    atoms = Atoms(np.array([loss, -loss]), np.array([1 - q, q]))
    grid = loss * math.sqrt(k) * np.linspace(0.0, 3.0, 20)
    truth = Homogeneous(loss, 0.0, k).delta(grid)
    assert (compose(atoms, k).delta(grid) >= truth * (1 - 1e-12)).all()


def test_what_cannot_be_composed_says_so_without_a_warning() -> None:
    with pytest.raises(ValueError, match="plan fewer asks"):
        profile(Noised("gaussian", 0.1, 1), 2, 10**9)
    with pytest.raises(ValueError, match="plan fewer asks"):
        compose(Atoms(np.array([1e5, -1e5]), np.array([1 - 1e-9, 1e-9])), 10)


def skewed(down: float, rare: float) -> Atoms:
    """A pair that is far from symmetric: a small gain almost always, and rarely a great loss."""
    up = -math.log((1 - rare * math.exp(down)) / (1 - rare))
    return Atoms(np.array([up, -down]), np.array([1 - rare, rare]))


@pytest.mark.parametrize(
    ("down", "rare", "close"), [(0.5, 1e-3, 0.004), (2.0, 1e-3, 0.004), (8.0, 1e-5, 0.01), (5.0, 1e-4, 0.01)]
)
def test_pairs_with_a_heavy_low_end_are_not_wrapped_round(down: float, rare: float, close: float) -> None:
    """A first window for the top end alone gave 2e-6 too little for the third pair, and 0.6 too much for the first."""
    atoms, k = skewed(down, rare), 4000
    times = np.arange(k + 1)
    log_masses = [log_choose(k, int(j)) + j * math.log(rare) + (k - j) * math.log1p(-rare) for j in times]
    truth = Atoms((k - times) * atoms.losses[0] - times * down, np.exp(log_masses) / np.exp(log_masses).sum())
    grid = np.linspace(0.0, k * atoms.losses[0], 100)
    excess = compose(atoms, k).delta(grid) - delta(truth, grid)
    assert excess.min() > -1e-13
    assert excess.max() < close


def test_splitting_comes_back_at_the_upper_end() -> None:
    there = split(np.array([-0.95, 0.05, 0.95]), np.array([0.2, 0.5, 0.3]), 0.1, -4, 16)  # -0.4, ... 1.1
    assert there.sum() == pytest.approx(1.0)
    assert there[4 + 6] + there[4 + 7] == pytest.approx(0.2)  # -0.95 is 0.65, one turn of 1.6 on
    assert there[4] + there[5] == pytest.approx(0.5)
    inside = split(np.array([0.65]), np.array([0.2]), 0.1, -4, 16)
    assert np.allclose(there[10:12], inside[10:12])


class TooLargeAtNothing:
    """A bound that no symmetric pair has: delta(0) = 1, and still 0.9 at 1."""

    def delta(self, epsilon: object) -> Floats:
        return np.maximum(1.0 - 0.1 * np.asarray(epsilon, dtype=float), 0.0)


def test_a_profile_of_no_symmetric_pair_is_refused_rather_than_lowered() -> None:
    with pytest.raises(ValueError, match="no symmetric pair of laws"):
        dots(TooLargeAtNothing(), np.array([0.5, 1.0, 2.0]))
    with pytest.raises(ValueError, match=r"sum to 1\.6, not to at most 1"):
        mirror_atoms(np.array([1.0]), np.array([0.9]), np.array([0.7]), 0.0)
    with pytest.raises(ValueError, match="no symmetric pair of laws"):
        amplified(skewed(0.5, 1e-3), 1.0)
    tight = mirror_atoms(np.array([1.0]), np.array([0.6 + 1e-12]), np.array([0.4]), 0.0)  # rounding is charged
    assert float(delta(tight, np.zeros(1))[0]) >= 0.6 * -math.expm1(-1.0) + 5e-13
