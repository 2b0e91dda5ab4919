"""Numbers, times and words as people read them, for the templates."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from unworn.basics.display import show_number
from unworn.record.meter import show_spent


def show_time(seconds: float) -> dict[str, str]:
    """A moment in UTC, for machines and for people.

    >>> show_time(1_760_000_000.25)
    {'machine': '2025-10-09T08:53:20Z', 'people': '9 October 2025, 08:53 UTC', 'short': '9 Oct 2025, 08:53'}
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return {
        "machine": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "people": f"{moment.day} {moment.strftime('%B %Y, %H:%M')} UTC",
        "short": f"{moment.day} {moment.strftime('%b %Y, %H:%M')}",
    }


def show_count(number: int, word: str, words: str | None = None) -> str:
    """How many of something, in one piece.

    >>> show_count(1, "try", "tries"), show_count(1200, "row")
    ('1\xa0try', '1,200\xa0rows')
    """
    return f"{number:,}\xa0{word if number == 1 else words or word + 's'}"


def show_percent(share: float) -> str:
    """A share of one in per cent, in one piece.

    >>> show_percent(0.95)
    '95\xa0%'
    """
    return f"{100 * share:.6g}\xa0%"


def show_half_width(low: float, high: float) -> str:
    """Half of an interval's length, to two figures.

    >>> show_half_width(0.79, 0.83)
    '± 0.020'
    """
    half = (high - low) / 2
    if not 0 < half < 10:
        return f"± {show_number(half)}"
    return f"± {half:.{min(max(1 - math.floor(math.log10(half)), 1), 6)}f}"


def show_digest(text: str) -> str:
    """The beginning of a hash, enough to compare by eye.

    >>> show_digest("0123456789abcdef0123")
    '0123 4567 89ab'
    """
    return " ".join(text[place : place + 4] for place in range(0, 12, 4))


def start_sentence(text: str) -> str:
    """Words with a capital letter in front, and the rest as they are: ``f1 of 'a'`` becomes ``F1 of 'a'``.

    >>> start_sentence("accuracy"), start_sentence("")
    ('Accuracy', '')
    """
    return text[:1].upper() + text[1:]


def keep_together(text: str) -> str:
    """A sentence in which no sign is parted from its number at the end of a line.

    >>> keep_together("good to ± 0.02 with 95 % probability")
    'good to ±\xa00.02 with 95\xa0% probability'
    """
    return text.replace("± ", "±\xa0").replace(" %", "\xa0%")


FILTERS: dict[str, Any] = {
    "count": show_count,
    "number": show_number,
    "percent": show_percent,
    "moment": show_time,
    "fingerprint": show_digest,
    "sentence": start_sentence,
    "together": keep_together,
    "spent": show_spent,
}
