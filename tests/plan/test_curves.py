"""What a plan's figure shows."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import pytest

from unworn import plan
from unworn.bounds.transfer import registry
from unworn.plan import curves
from unworn.plan.strongest_attack import attack_width, attacked_asks


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
        assert asks[0] <= 30 < asks[-1] if name == "GuessAndCheck" else asks[0] <= 2 < asks[-1]
    rows = {name: [rows for rows, asks in path if asks] for name, path in drawn.items()}
    # Noise starts within a factor of 1.2 of where it first could, though its points are three times apart.
    for name in ("Gaussian", "BoundedNoise"):
        noise = {"Gaussian": "Gaussian", "BoundedNoise": "bounded"}[name]
        assert registry.most_asks(f"F {noise}", round(rows[name][0] / 1.2), 0.15, 1 - 0.95) == 0


def test_as_many_asks_as_one_likes_still_show_where_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_DRAWN", ("GuessAndCheck",))
    found = plan(20_000, width=0.2)
    assert found.asks == 10**15
    path = lines(curves.width_curves(found), "asks", "width")["GuessAndCheck"]
    assert 10**4 < path[-1][0] < 10**12


def test_the_attack_is_where_it_was_measured_and_no_noise_beats_it() -> None:
    for rows, asks in ((10**4, 1_000), (10**5, 139_000), (10**6, 15_000_000)):
        assert attack_width(rows, asks, 0.05) == pytest.approx(0.1, rel=0.02)
        assert attacked_asks(rows, 0.1, 0.05) == pytest.approx(asks, rel=0.06)
        for width in (0.05, 0.1, 0.2):
            most = attacked_asks(rows, width, 0.05)
            assert attack_width(rows, most, 0.05) <= width < attack_width(rows, most + 1, 0.05)
            assert registry.best_scale("F Gaussian", rows, most, 0.05)[1] > width
