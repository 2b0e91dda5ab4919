"""Tags: what an asker notes beside a question, as ``{"fold": 3, "features": "all"}``: short keys, plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from unworn.basics.display import show_line, show_value
from unworn.basics.plain_text import plain_text
from unworn.basics.typed_fields import is_whole

Plain = str | int | float | bool
Tags = dict[str, Plain]

MOST_TAGS = 50
LONGEST_KEY = 60
LONGEST_TEXT = 200
"""Characters of a name, or of a tag's value: a label is something to tell rows of a table apart by."""


def read_tags(given: Any) -> Tags:
    """Tags as they are kept, in the order of their keys; ``ValueError`` for whatever a ledger would not hold.

    NumPy's numbers become Python's, because a ledger is JSON.

    >>> import numpy as np
    >>> read_tags({"fold": np.int64(3), "features": "all"})
    {'features': 'all', 'fold': 3}
    >>> read_tags({"model": [1, 2]})
    Traceback (most recent call last):
    ValueError: the tag 'model' is a text of at most 200 characters, a finite number, True or False, not [1, 2]
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"tags are a dictionary such as {{'fold': 3}}, not {show_value(given)}")
    told: Tags = {}
    for key, value in given.items():
        if len(told) == MOST_TAGS:
            raise ValueError(f"there are {len(given)} tags; at most {MOST_TAGS} are kept with an answer")
        name = plain_text(key, LONGEST_KEY)
        if not name:
            raise ValueError(f"a tag's key is a text of 1 to {LONGEST_KEY} characters, not {show_value(key)}")
        told[name] = _plain(name, value)
    return dict(sorted(told.items()))


def show_tags(tags: Mapping[str, Plain]) -> str:
    """Tags in a line, for people.

    >>> show_tags({"fold": 3, "rate": 0.1000000001})
    'fold=3, rate=0.1'
    """
    return ", ".join(f"{show_line(key)}={show_tag(value)}" for key, value in tags.items())


def show_tag(value: Plain) -> str:
    """One value, numbers rounded."""
    return f"{value:.6g}" if isinstance(value, float) else show_line(value)


def _plain(key: str, value: Any) -> Plain:
    kept = value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value
    finite = type(kept) is float and math.isfinite(kept)
    if type(kept) is bool or finite or is_whole(kept):
        return kept  # type: ignore[no-any-return]
    text = plain_text(kept, LONGEST_TEXT)
    if text is not None:
        return text
    raise ValueError(
        f"the tag {show_value(key)} is a text of at most {LONGEST_TEXT} characters, a finite number, True or False, "
        f"not {show_value(value)}"
    )
