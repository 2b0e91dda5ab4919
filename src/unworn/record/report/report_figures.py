"""The pictures of a report: drawn by :mod:`unworn.charts`, from answers that were released."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unworn import charts
from unworn.basics.tags import show_tags
from unworn.record.report.ledger_digest import DRAWN, MetricDigest, Row
from unworn.record.report.report_blocks import Picture


def draw_ranking(group: MetricDigest) -> Picture:
    """The best answers to one metric, each by its name."""
    rows = [{**row, "label": _name(row)} for row in group.best]
    chart = charts.ranking(rows, metric=group.metric, title=f"The best by {group.metric}")
    words = f"The best {len(rows)} answers by {group.metric}, with their intervals"
    return Picture(f"best-{_file_name(group.metric)}.svg", words, charts.svg_text(chart))


def draw_answers(rows: Sequence[Row], asked: int) -> Picture:
    """Every answer with its interval, in the order in which they were asked."""
    few = "" if asked <= DRAWN else f"{len(rows)} evenly spaced of {asked:,} answers"
    chart = charts.intervals(list(rows), title="Answers and intervals, as they were asked", subtitle=few)
    return Picture("answers.svg", "Every answer with its interval, in the order of asking", charts.svg_text(chart))


def _name(row: Row) -> str:
    """What tells a row of a metric apart from the others: its name and tags, or else all of its question."""
    tags = show_tags(row["tags"])
    name = row["name"] or ("" if tags else row["question"])
    return " · ".join(part for part in (name, tags) if part)


def _file_name(metric: str) -> str:
    return re.sub("[^a-z0-9]+", "-", metric.lower()).strip("-")[:40] or "metric"
