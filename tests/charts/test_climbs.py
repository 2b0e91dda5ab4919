"""The picture of loops: what they claim, what fresh rows say, and what was certified."""

from __future__ import annotations

import json

import pytest

from unworn.charts import save, svg_text
from unworn.charts.climbs import climbs

POINTS = [
    {"way": way, "proposal": number, "what": what, "gain": slope * number}
    for way, word in (("plainly", "claims"), ("behind the gate", "practice rows"))
    for number in range(1, 40)
    for what, slope in ((word, 0.002), ("fresh rows", 0.001))
]
BARS = [
    {"way": "behind the gate", "proposal": 25, "low": -0.01, "high": 0.05, "what": "certified on the way"},
    {"way": "behind the gate", "proposal": 39, "low": 0.01, "high": 0.06, "what": "certified at the end"},
]


def test_each_way_has_a_panel_and_each_line_its_name() -> None:
    text = svg_text(climbs(POINTS, BARS, title="What it claims", subtitle="gains"))
    for word in ("plainly", "behind the gate", "claims", "practice rows", "fresh rows", "certified at the end"):
        assert word in text


def test_panels_share_their_axes() -> None:
    made = climbs(POINTS, BARS, title="t").to_dict()
    domains = {json.dumps(panel["layer"][0]["encoding"]["y"]["scale"]["domain"]) for panel in made["hconcat"]}
    assert len(made["hconcat"]) == 2
    assert len(domains) == 1


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_it_can_be_drawn_without_intervals(tmp_path: object, ending: str) -> None:
    path = save(climbs(POINTS, title="t"), f"{tmp_path}/climbs.{ending}")
    assert path.stat().st_size > 1_000
