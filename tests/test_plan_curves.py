"""What a plan's figure shows."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import pytest

from unworn import plan
from unworn.bounds.transfer import registry
from unworn.plan import curves


def lines(points: list[dict[str, Any]], x: str, y: str) -> dict[str, list[tuple[int, Any]]]:
    grouped = groupby(points, key=lambda point: point["mechanism"])
    return {name: [(point[x], point[y]) for point in group] for name, group in grouped}


def test_widths_grow_with_the_asks_and_end_at_the_whole_range() -> None:
    ticks: list[None] = []
    found = plan(300, 30)
    points = curves.width_curves(found, lambda: ticks.append(None))
    drawn = lines(points, "asks", "width")
    assert set(drawn) == {
        *("GuessAndCheck", "BoundedNoise", "Gaussian", "Laplace", "Rounding", "SampleSplitting", "published (JLNRSS20)")
    }
    assert [point["published"] for point in points] == [point["mechanism"].startswith("pub") for point in points]
    for name, path in drawn.items():
        assert path == sorted(path, key=lambda point: point[0])
        widths = [width for _, width in path if width is not None]
        # Splitting goes by whole rows, and an even number of them is a little worse than an odd one.
        assert all(after >= 0.97 * before for before, after in pairwise(widths)), name
        assert all(width < 0.49 for width in widths[:-1])
    assert drawn["GuessAndCheck"][-1][0] == 10 * found.asks
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
        assert asks[0] <= 2 < asks[-1]
    rows = {name: [rows for rows, asks in path if asks] for name, path in drawn.items()}
    # Noise starts within a factor of 1.2 of where it first could, though its points are three times apart.
    for name in ("Gaussian", "BoundedNoise"):
        noise = {"Gaussian": "Gaussian", "BoundedNoise": "bounded"}[name]
        assert registry.most_asks(f"F {noise}", round(rows[name][0] / 1.2), 0.15, 1 - 0.95) == 0


def test_as_many_asks_as_one_likes_still_show_where_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_drawn", lambda found: ["GuessAndCheck"])
    found = plan(20_000, width=0.2)
    assert found.asks == 10**15
    path = lines(curves.width_curves(found), "asks", "width")["GuessAndCheck"]
    assert 10**4 < path[-1][0] < 10**12
