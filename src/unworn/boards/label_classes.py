"""The classes that a board's metric is about: as its labels write them, and none that no label has.

Rows are sealed for good, so a class that was mistyped is told when the board is made: nobody could score on it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unworn.basics.display import show_value
from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard
from unworn.boards.files.sealed_labels import SealedLabels
from unworn.queries.metrics.metric_catalogue import metric_name, needs_classes
from unworn.queries.metrics.positive_class import INSTEAD, refuse_many

_PER_CLASS = ("top_k_accuracy",)


def with_classes(config: BoardConfig, sealed: SealedLabels) -> BoardConfig:
    """The settings with the classes that labels have: those that were named, found among them; else, all there are."""
    if config.grader is not None:
        return config
    own, options = metric_name(config.full_metric).removeprefix("neg_"), dict(config.options)
    labels: list[Any] = np.unique(sealed.columns[config.target]).tolist()
    if options.get("positive") is not None:
        options["positive"] = _label_meant(options["positive"], labels)
    if options.get("classes") is not None:
        options["classes"] = _classes_meant(options["classes"], labels)
    config = replace(config, options=options)
    if own in (*INSTEAD, "log_loss") and options.get("positive") is None:
        if own != "log_loss" and len(labels) > 2:
            refused = refuse_many(own, f"there are {len(labels):,}")
            raise InvalidBoard(f"this board cannot be made: {refused}", setting="metric")
        if len(labels) <= 2 and 1 not in labels and options.get("classes") is None:
            raise InvalidBoard(
                f"{own} is about one class against the rest: say which by positive= ({_listed(labels)})",
                setting="positive",
            )
    is_many = own == "log_loss" and options.get("positive") is None
    if {"classes", "shares", "weights"} & set(options):
        return config
    if not (is_many or needs_classes(config.full_metric) or own in _PER_CLASS):
        return config
    if is_many and len(labels) <= 2:  # one probability is enough
        return config
    return replace(config, options={**options, "classes": labels})


def _label_meant(named: Any, labels: Sequence[Any]) -> Any:
    for label in labels:
        if _is_same(named, label):
            return label
    close = difflib.get_close_matches(str(named)[:100], list(map(str, labels[:1000])), n=1)
    alike = [str(label) for label in labels[:1000] if str(label).casefold() == str(named).casefold()] or close
    hint = f"did you mean {alike[0]}?" if alike else f"they are {_listed(labels)}"
    raise InvalidBoard(f"positive is {show_value(named)}, and no label is: {hint}", setting="positive")


def _classes_meant(named: Any, labels: Sequence[Any]) -> Any:
    """Classes in the order they were named; there may be some that no label has, and no label may be none of them."""
    if not isinstance(named, list):
        return named
    classes = [next((label for label in labels if _is_same(each, label)), each) for each in named]
    outside = [label for label in labels if label not in classes]
    if outside:
        raise InvalidBoard(
            f"there are labels that are none of the classes {_listed(classes)}: {_listed(outside)}", setting="options"
        )
    return classes


def _is_same(named: Any, label: Any) -> bool:
    """Whether a class that was typed is this label.

    >>> _is_same("1", 1), _is_same("true", True), _is_same("cat", "cat"), _is_same("Cat", "cat"), _is_same(1, "1")
    (True, True, True, False, True)
    """
    if isinstance(label, str):
        return str(named) == label
    if isinstance(label, bool):
        return str(named).strip().casefold() in (str(label).casefold(), str(int(label)))
    try:
        return bool(float(named) == label)
    except (TypeError, ValueError):
        return False


def _listed(labels: Sequence[Any]) -> str:
    return ", ".join(show_value(label) for label in labels[:10]) + (", …" if len(labels) > 10 else "")
