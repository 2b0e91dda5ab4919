"""Texts brought into one form, so that right answers are equal texts: then a grader is plain accuracy.

The references are brought into it when a board is made, a submission when it is checked; both without regard to each
other, so that nothing about a label shows. Texts are a stranger's: reading one takes time in proportion to its length,
and is never an error.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(
    r"[-+−]?(?:(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
)  # with a digit before any exponent: what begins with e is not a number
_CHOICES = (
    re.compile(r"^\W*([A-Za-z])\W*$"),
    re.compile(r"(?i:answer|choice|option)\b(?:\s++(?i:is|was))?\s*+[:=]?\s*+\W{0,3}([A-Z])\b"),
    re.compile(r"^\W*([A-Z])\s*[).:\]]"),
    re.compile(r"[(\[]\s*([A-Za-z])\s*[)\]]|\*([A-Z])\*"),
    re.compile(r"\b([A-HJ-Z])\b"),
)
"""How people and models name one of several choices, the clearest first. A lone I is a word. White space that was taken
is not given back (``++``), or a thousand spaces would be divided in a million ways."""
_MOST_MARKS = 30
"""Accents and the like on one character; Unicode's own limit for streams (UAX 15, 13). NFKC puts them in order one by
one, so that a hundred thousand of them would take minutes: whatever has more is no word of any language."""


def normalise_text(text: str) -> str:
    """Without case, articles, punctuation and white space that differs; compatible characters are one (NFKC).

    >>> normalise_text("  The  Eiffel-Tower! "), normalise_text("ﬁve")
    ('eiffeltower', 'five')
    """
    folded = unicodedata.normalize("NFKC", _with_few_marks(text)).casefold()
    bare = "".join(mark for mark in folded if not unicodedata.category(mark).startswith("P"))
    return _SPACE.sub(" ", _ARTICLES.sub(" ", bare)).strip()


def _with_few_marks(text: str) -> str:
    """Without the combining marks of one character that are beyond any word's."""
    if text.isascii():
        return text
    kept, marks = [], 0
    for mark in text:
        marks = marks + 1 if unicodedata.combining(unicodedata.normalize("NFKD", mark)[0]) else 0
        if marks <= _MOST_MARKS:
            kept.append(mark)
    return "".join(kept)


def exact_text(text: str) -> str:
    """As it is, but for white space at its ends."""
    return text.strip()


def chosen_letter(text: str) -> str:
    """The letter of the choice that a text names; nothing where it names none.

    >>> [chosen_letter(text) for text in ("b", "(C)", "The answer is D.", "B) because", "I think it is A", "no idea")]
    ['B', 'C', 'D', 'B', 'A', '']
    """
    for pattern in _CHOICES:
        for found in reversed(list(pattern.finditer(text))):
            return next(letter for letter in found.groups() if letter).upper()
    return ""


def number_text(text: str) -> float:
    """The last number in a text; NaN where there is none.

    >>> number_text("about $1,234.50"), number_text("x = -3e2"), number_text("none")
    (1234.5, -300.0, nan)
    """
    found = _NUMBER.findall(text)
    if not found:
        return float("nan")
    return float(re.sub("[,\u202f\u00a0 ]", "", found[-1]).replace("−", "-"))


CANONICAL: dict[str, Callable[[str], str]] = {
    "exact": exact_text,
    "normalised": normalise_text,
    "multiple choice": chosen_letter,
}


def canonical_texts(grader: str, texts: Iterable[str]) -> NDArray[np.object_]:
    """All texts in a grader's form; each distinct one is looked at once."""
    return _mapped(CANONICAL[grader], texts)


def numbers_in_texts(texts: Iterable[str]) -> NDArray[np.float64]:
    """The number in each text; NaN where there is none."""
    return _mapped(number_text, texts).astype(np.float64)


def _mapped(change: Callable[[str], Any], texts: Iterable[str]) -> NDArray[np.object_]:
    listed = list(texts)
    known = {text: change(text) for text in set(listed)}
    array = np.empty(len(listed), dtype=object)
    array[:] = list(map(known.__getitem__, listed))
    return array
