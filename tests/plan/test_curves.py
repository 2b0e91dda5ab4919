"""What a plan's figure shows."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest

from unworn import plan
from unworn.bounds.transfer import registry
from unworn.events import Noised
from unworn.lab import SignWorld
from unworn.lab.analysts.posterior_sign import posterior_weights
from unworn.plan import curves
from unworn.plan.strongest_attack import attack_gain, attack_width, attacked_asks


def lines(points: list[dict[str, Any]], x: str, y: str) -> dict[str, list[tuple[int, Any]]]:
    grouped = groupby(points, key=lambda point: point["mechanism"])
    return {name: [(point[x], point[y]) for point in group] for name, group in grouped}


def test_widths_grow_with_the_asks_and_end_at_the_whole_range() -> None:
    ticks: list[None] = []
    found = plan(300, 30)
    points = curves.width_curves(found, lambda: ticks.append(None))
    drawn = lines(points, "asks", "width")
    assert set(drawn) == {
        *("GuessAndCheck", "BoundedNoise", "Gaussian", "SampleSplitting", "published (JLNRSS20)"),
        *("final number", "fresh test set", "attack on noise"),
    }
    assert [point["published"] for point in points] == [point["mechanism"].startswith("pub") for point in points]
    for name, path in drawn.items():
        assert path == sorted(path, key=lambda point: point[0])
        widths = [width for _, width in path if width is not None]
        # Splitting goes by whole rows, and an even number of them is a little worse than an odd one.
        assert all(after >= 0.97 * before for before, after in pairwise(widths)), name
        assert all(width < 0.49 for width in widths[:-1])
    assert drawn["GuessAndCheck"][-1][0] == 10 * found.asks
    assert {width for _, width in drawn["fresh test set"]} == {found.untouched}
    assert dict(drawn["attack on noise"])[300] == attack_width(300, 300, 1 - 0.95)
    references = {point["mechanism"] for point in points if point["reference"]}
    assert references == {"final number", "fresh test set", "attack on noise"}
    assert drawn["BoundedNoise"][0] == (1, registry.best_scale("F bounded", 300, 1, 1 - 0.95)[1])
    assert 2 * len(ticks) == curves.ticks(found)


def test_asks_grow_with_the_rows_and_lines_begin_at_the_axis() -> None:
    ticks: list[None] = []
    found = plan(2_000, 50)
    drawn = lines(curves.ask_curves(found, 0.15, lambda: ticks.append(None)), "rows", "asks")
    assert 2 * len(ticks) == curves.ticks(found)
    for name, path in drawn.items():
        asks = [asks or 0 for _, asks in path]
        assert all(after >= before for before, after in pairwise(asks)), name
        assert asks[0] <= (30 if name in ("GuessAndCheck", "attack on noise") else 2) < asks[-1]
    rows = {name: [rows for rows, asks in path if asks] for name, path in drawn.items()}
    # Noise starts within a factor of 1.2 of where it first could, though its points are three times apart.
    for name in ("Gaussian", "BoundedNoise"):
        noise = {"Gaussian": "Gaussian", "BoundedNoise": "bounded"}[name]
        assert registry.most_asks(f"F {noise}", round(rows[name][0] / 1.2), 0.15, 1 - 0.95) == 0


def test_planned_surprises_have_a_line_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_DRAWN", ("GuessAndCheck",))
    found, ticks = plan(10_000, 1_000, surprises=20), []  # type: ignore[var-annotated]
    drawn = lines(curves.width_curves(found, lambda: ticks.append(None)), "asks", "width")
    curves.ask_curves(found, 0.1, lambda: ticks.append(None))
    assert len(ticks) == curves.ticks(found)
    codes, noisy = dict(drawn["GuessAndCheck"]), dict(drawn["GuessAndCheck(surprises=20)"])
    assert all(noisy[asks] < codes[asks] for asks in set(codes) & set(noisy) if asks > 21)


def test_as_many_asks_as_one_likes_still_show_where_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_DRAWN", ("GuessAndCheck",))
    found = plan(20_000, width=0.2)
    assert found.asks == 10**15
    path = lines(curves.width_curves(found), "asks", "width")["GuessAndCheck"]
    assert 10**4 < path[-1][0] < 10**12


def test_the_attack_is_where_it_was_measured_and_no_noise_beats_it() -> None:
    for rows, asks in ((10**4, 1_200), (10**5, 139_000), (10**6, 15_000_000)):
        assert attack_width(rows, asks, 0.05) == pytest.approx(0.1, rel=0.02)
        assert attacked_asks(rows, 0.1, 0.05) == pytest.approx(asks, rel=0.07)
        for width in (0.05, 0.1, 0.2):
            most = attacked_asks(rows, width, 0.05)
            assert attack_width(rows, most, 0.05) <= width < attack_width(rows, most + 1, 0.05)
            assert registry.best_scale("F Gaussian", rows, most, 0.05)[1] > width


@pytest.mark.parametrize("rows", [300, 10_000, 1_000_000])
def test_no_theorem_promises_less_than_the_attack_leaves(rows: int) -> None:
    """Also of few asks, where noise is small beside what the rows vary by themselves."""
    for asks in (1, 10, 30, 100, 1_000, 100_000):
        least = min(registry.best_scale(name, rows, asks, 0.05)[1] for name in ("F bounded", "F Gaussian"))
        assert attack_width(rows, asks, 0.05) < least, asks


def test_what_the_attack_gains_is_about_what_it_gained_when_played() -> None:
    """1,000 rows, 30 answers with the noise of their plan: .0445 in the mean of 40 plays, with an error of .0025."""
    rows, asks, radius = 1_000, 30, round(registry.best_scale("F bounded", 1_000, 30, 0.05)[0])
    places, gained = np.arange(1 - radius, radius), []
    law = 1 + np.cos(np.pi * places / radius)
    for play in range(40):
        rng = np.random.default_rng(play)
        scene = SignWorld().draw(rows, asks, rng)
        counts = (scene.features == scene.labels[:, None]).sum(axis=0)
        leans = (counts + rng.choice(places, size=asks, p=law / law.sum())) / rows - 0.5
        weights = posterior_weights(scene, leans, np.full(asks, 0.5), Noised("cosine", float(radius)))
        gained.append(float((scene.vote(weights).question.source.column.values == scene.labels).mean()) - 0.5)  # type: ignore[attr-defined]
    assert np.mean(gained) == pytest.approx(attack_gain(rows, asks, radius), rel=0.2)
