"""What stands behind the ``?`` of a score: the metric, the guess, and what the metric needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from unworn.basics.json_text import read_json
from unworn.server.routes.holdout_verbs import Number, PlainTags
from unworn.server.server_errors import Malformed

METRIC_OPTIONS: Final = (
    "positive",
    "range",
    "k",
    "average",
    "classes",
    "where",
    "alpha",
    "baseline",
    "shares",
    "weights",
)
"""What metrics may need: :func:`unworn.queries.metric` says which needs what."""


class ScoreOptions(msgspec.Struct, forbid_unknown_fields=True):
    """A score's metric and guess. Lists and objects are written as JSON; ``options`` are the metric's own."""

    metric: str | None = None
    guess: Number | list[Number | None] | None = None
    guess_se: Number | list[Number | None] | None = None
    gauge: Number | None = None
    discordance: Number | None = None
    again: bool = False
    noise: bool = False
    name: str | None = None
    tags: PlainTags = None
    options: dict[str, Any] = {}

    def more(self) -> dict[str, Any]:
        """The metric's own options."""
        return dict(self.options)

    def to_json(self) -> dict[str, Any]:
        """All of it, for a digest."""
        told: dict[str, Any] = msgspec.to_builtins(self)
        return told


def read_score_options(query: Mapping[str, Any]) -> ScoreOptions:
    """Options from a query string: what is JSON is read as JSON, and names are text.

    >>> read_score_options({"metric": "f1", "guess": "0.9", "options": '{"positive": 1}'}).options
    {'positive': 1}
    """
    given: dict[str, Any] = {}
    for name, text in query.items():
        try:
            given[name] = text if name in ("metric", "name") or not isinstance(text, str) else read_json(text, 100_000)
        except ValueError as why:
            raise Malformed(f"the parameter {name[:40]!r} cannot be read: {why}") from None
    try:
        found = msgspec.convert(given, ScoreOptions)
    except msgspec.ValidationError as why:
        raise Malformed(f"the parameters are not those of a score: {why}") from None
    unknown = [name for name in found.options if name not in METRIC_OPTIONS]
    if unknown:
        raise Malformed(f"a metric has no option {unknown[0][:40]!r}; there are {', '.join(METRIC_OPTIONS)}")
    return found
