from __future__ import annotations

import sys

import numpy as np
import pytest

from unworn.bounds.privacy import Homogeneous, compose
from unworn.bounds.privacy.pairs import cosine_atoms, gaussian_atoms, response_atoms
from unworn.errors import MissingExtra
from unworn.lab.theorems.library_accounting import account_losses

GRID = np.linspace(0.0, 0.12, 13)


@pytest.mark.parametrize(("width", "parts", "digits"), [(40, 48, 5e-4), (500, 100, 5e-5)])
def test_the_public_library_agrees_on_cosine_noise(width: int, parts: int, digits: float) -> None:
    pytest.importorskip("dp_accounting")
    atoms = cosine_atoms(width)
    grid = GRID * 500 / width
    ours, theirs = compose(atoms, 40).delta(grid), account_losses(atoms, 40, step=atoms.spread / parts).delta(grid)
    assert np.allclose(ours, theirs, rtol=digits, atol=1e-9)


def test_rounding_every_loss_up_drifts() -> None:
    """Why connecting the dots: the library's own constructor for two laws is sound, but ever wider as k grows."""
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions

    m = np.arange(-99.0, 101.0)
    log = {int(i): float(np.log(np.sin(np.pi * (100 - abs(i)) / 200) ** 2 / 100)) for i in m if abs(i) < 100}
    moved = {i + 1: mass for i, mass in log.items()}
    drifting = from_two_probability_mass_functions(log, moved, value_discretization_interval=1e-3).self_compose(40)
    exact = float(compose(cosine_atoms(100), 40).delta(0.2))
    assert exact * 1.03 < drifting.get_delta_for_epsilon(0.2) < exact * 1.5


def test_the_public_library_agrees_on_lattices() -> None:
    pytest.importorskip("dp_accounting")
    drawn = response_atoms(0.5, 0.1)
    together = compose(drawn, 300, step=drawn.top)
    assert np.allclose(
        together.delta(GRID), account_losses(drawn, 300, step=drawn.top).delta(GRID), rtol=1e-7, atol=1e-10
    )
    plain = response_atoms(0.02)
    exact = Homogeneous(0.02, 0.0, 200)
    assert np.allclose(exact.delta(GRID), account_losses(plain, 200, step=plain.top).delta(GRID), rtol=1e-7, atol=1e-10)
    wide = gaussian_atoms(10.0)
    ours, theirs = compose(wide, 5, step=0.005), account_losses(wide, 5, step=0.005)
    assert np.allclose(ours.delta(GRID), theirs.delta(GRID), rtol=1e-6, atol=1e-9)


def test_without_it_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtra, match=r"unworn\[accounting\]"):
        account_losses(response_atoms(1.0), 1)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="whole"):
        account_losses(response_atoms(1.0), 0)
    pytest.importorskip("dp_accounting")
    with pytest.raises(ValueError, match="step"):
        account_losses(response_atoms(1.0), 1, step=0.0)
