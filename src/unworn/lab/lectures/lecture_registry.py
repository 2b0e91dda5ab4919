"""Every lecture there is, found by walking the package: ``lecture_NNN.py`` with a constant ``LECTURE``."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module

from unworn.lab import lectures
from unworn.lab.lectures.lecture_contract import Lecture, UnfitLecture


@cache
def lecture_numbers() -> tuple[str, ...]:
    """The numbers of all lectures, in order.

    >>> lecture_numbers()[0]
    '000'
    """
    names = (re.fullmatch(r"lecture_(\d{3})", info.name) for info in pkgutil.iter_modules(lectures.__path__))
    return tuple(sorted(name.group(1) for name in names if name))


def lecture_named(number: str) -> Lecture:
    """The lecture with this number.

    >>> lecture_named("000").title
    'Adaptive data analysis'
    """
    if number not in lecture_numbers():
        raise UnfitLecture(f"there is no lecture {number[:20]!r}; there are {', '.join(lecture_numbers())}")
    lecture = getattr(import_module(f"{lectures.__name__}.lecture_{number}"), "LECTURE", None)
    if not isinstance(lecture, Lecture) or lecture.number != number:
        raise UnfitLecture(f"lecture_{number}.py should have a constant LECTURE, with the number {number}")
    return lecture
