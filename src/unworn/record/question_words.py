"""A recorded question in words: with the asker's name and tags, and by what its value measures."""

from __future__ import annotations

import json
from collections.abc import Mapping

from unworn.basics.display import show_line
from unworn.basics.tags import Plain, show_tags
from unworn.mechanisms.contract.record import Record
from unworn.queries.language.expression_codec import from_json
from unworn.queries.metrics.metric_catalogue import greater_is_better


def full_label(record: Record) -> str:
    """The question with what the asker wrote beside it: ``trial 12 · accuracy of LGBMClassifier · depth=7``."""
    return label_words(record.label, record.name, record.tags)


def label_words(label: str, name: str | None, tags: Mapping[str, Plain] | None) -> str:
    """A label between the asker's name and tags; a name that the label says, as that of a scored model, once.

    >>> label_words("accuracy of forest", "forest", {"depth": 7}), label_words("share of age > 65", "old", None)
    ('accuracy of forest · depth=7', 'old · share of age > 65')
    """
    own = "" if name is None or name in label else show_line(name)
    return " · ".join(part for part in (own, show_line(label), show_tags(tags or {})) if part)


def metric_of(record: Record) -> str:
    """What the value measures, and so what it may be drawn beside: two means of columns have two units.

    A metric goes by its name and settings, one of a subgroup by the subgroup too, a comparison by those of its two
    sides; all shares are of one kind, also those of a subset, and everything else is of a kind of its own.
    """
    if record.offer.null is not None:
        return "test"
    if record.family is not None:
        return show_line(_family_words(record.family))
    return "share" if record.question.get("ask") in ("share", "conditional") else show_line(record.label)


def better_when(record: Record) -> int:
    """1 where larger values of a metric are better, −1 where smaller ones are, 0 where nobody says."""
    if record.family is None:
        return 0
    try:
        metric = _metric_name(record.family)
        return 0 if metric is None else 1 if greater_is_better(metric) else -1
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # of a later version, perhaps
        return 0


def _family_words(family: str) -> str:
    try:
        data = json.loads(family)
        if "difference" in data:
            return f"difference in {_family_words(data['difference'])}"
        if "of" in data:  # a metric of a subgroup, or a loss that is 0 outside of it
            word, where = ("where", data["where"]) if "where" in data else ("times", data["masked"])
            word = f"less a constant {word}" if "centred" in data else word
            return f"{_family_words(data['of'])} {word} {from_json(where)!r}"
        where = f" where {from_json(data['where'])!r}" if "where" in data else ""  # of a ranking
        shown = [_setting(key, value) for key, value in data.items() if key not in ("metric", "where")]
        settings = ", ".join(filter(None, shown))
        return (f"{data['metric']} ({settings})" if settings else str(data["metric"])) + where
    except (KeyError, TypeError, ValueError, RecursionError):
        return family[:200]


def _setting(key: str, value: object) -> str:
    if isinstance(value, bool):
        return key.replace("zero_one", "0 or 1") if value else ""
    return f"{key} {_short(value)}"


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list) and len(value) == 2:
        return f"{_short(value[0])} to {_short(value[1])}"
    return json.dumps(value, ensure_ascii=False)[:60] if isinstance(value, dict | list) else str(value)


def _metric_name(family: str) -> str | None:
    data = json.loads(family)
    if "of" in data:  # distances from different centres say nothing of which is best
        return None if "centred" in data else _metric_name(data["of"])
    name = data.get("metric")
    return name if isinstance(name, str) and name != "values" else None  # of values nobody says which are better
