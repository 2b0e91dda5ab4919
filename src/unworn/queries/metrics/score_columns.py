"""Which class each column of scores is about, where the columns have names: a frame's, rows × classes.

Names that are the classes say it, in whatever order they stand. Names that have nothing to do with the classes say
nothing, and then the order of the columns does. Whatever lies between the two is refused: to guess would be to answer
another question than the one that was meant, and nobody would see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.metrics.class_labels import Class, as_class

_PLAIN = (str, bool, int, float, np.generic)
_TRUTH = {"false": 0, "true": 1}


def match_columns(names: Sequence[object] | None, classes: tuple[Class, ...]) -> tuple[Class, ...]:
    """The class of each column: by name where the names are the classes, by position where they are nothing of them.

    >>> match_columns(["yes", "no"], ("no", "yes")), match_columns(["1", "0"], (0, 1))
    (('yes', 'no'), (1, 0))
    >>> match_columns(["p0", "p1"], (0, 1)), match_columns([0, 1], ("no", "yes"))
    ((0, 1), ('no', 'yes'))
    >>> match_columns(["yes", "other"], ("no", "yes"))
    Traceback (most recent call last):
    unworn.errors.Unaskable: the columns of scores are named 'yes', 'other', and the classes are 'no', 'yes': some \
names are classes and some are not; name the columns by the classes, or give the scores as an array (.to_numpy())
    """
    if names is None or len(names) != len(classes):  # how many there are is looked at elsewhere
        return classes
    positions = tuple(range(len(classes)))
    if are_positions(names):
        if set(classes) == set(positions) and classes != positions:
            raise _unclear(names, classes, "the names may be classes or positions, and differ from the order given")
        return classes
    told = [each for each in map(class_finder(classes), names) if each is not None]
    if len(set(told)) == len(classes):
        return tuple(told)
    if told:
        raise _unclear(names, classes, "some names are classes and some are not")
    if all(_number(name) is not None for name in names):
        raise _unclear(names, classes, "the names are numbers, and none is a class; give classes=")
    return classes


def are_positions(names: Sequence[object]) -> bool:
    """Whether columns have the names that a frame gives to those that have none: 0, 1, 2, …"""
    return all(type(name) is not str and _number(name) == place for place, name in enumerate(names))


def class_finder(classes: tuple[Class, ...]) -> Callable[[object], Class | None]:
    """What finds the class that a column is named by, as its value or as its text.

    >>> [class_finder((0, 1))(name) for name in (1.0, "0", "True", "p1")]
    [1, 0, 1, None]
    """
    texts = {each: each for each in classes if isinstance(each, str)}
    numbers: dict[Class | None, Class] = {each: each for each in classes if not isinstance(each, str)}

    def find(name: object) -> Class | None:
        text = str(name) if isinstance(name, _PLAIN) else None
        return texts.get(text) if text in texts else numbers.get(_number(name))

    return find


def _number(name: object) -> Class | None:
    """The number that a name is, or is the text of."""
    if not isinstance(name, _PLAIN):
        return None
    try:
        value = _TRUTH.get(name.lower(), name) if isinstance(name, str) else name
        return as_class(float(value) if isinstance(value, str) else value)
    except (Unaskable, ValueError):
        return None


def _unclear(names: Sequence[object], classes: tuple[Class, ...], why: str) -> Unaskable:
    told, known = (", ".join(show_value(each) for each in some[:10]) for some in (names, classes))
    return Unaskable(
        f"the columns of scores are named {told}, and the classes are {known}: {why}; name the columns by the classes, "
        "or give the scores as an array (.to_numpy())"
    )
