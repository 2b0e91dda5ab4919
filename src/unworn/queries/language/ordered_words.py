"""Text with an order that the asker names: grades, sizes, the categories of an ordered categorical.

Which words a column has, and in which order, is no part of the schema, since a list of words would tell of the rows. So
the order comes with the question, and a comparison becomes the list of words on one side of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from unworn.basics.display import show_value
from unworn.errors import Unaskable

if TYPE_CHECKING:
    from unworn.queries.language.leaves import Expression


class OrderedWords:
    """A column of text whose words have an order: it can be compared, and nothing else.

    >>> from unworn.queries.language.expressions import col
    >>> col("cut").ordered(["Fair", "Good", "Very Good", "Ideal"]) > "Good"
    cut.isin(['Ideal', 'Very Good'])
    """

    def __init__(self, column: Expression, words: Iterable[str]) -> None:
        if isinstance(words, str | bytes) or not isinstance(words, Iterable):
            raise Unaskable("ordered needs all the words, the lowest first: .ordered(['low', 'middle', 'high'])")
        from unworn.queries.language.constant_operators import MAX_ITEMS

        self._column, self._words = column, list(islice(words, MAX_ITEMS + 1))  # an iterator may have no end
        if len(self._words) > MAX_ITEMS:
            raise Unaskable(f"ordered takes at most {MAX_ITEMS:,} words: name fewer", limit=MAX_ITEMS)
        if not self._words or not all(isinstance(word, str) for word in self._words):
            raise Unaskable("ordered needs at least one word, and words are texts")
        if len(set(self._words)) < len(self._words):
            raise Unaskable("ordered needs each word once, the lowest first")

    def _among(self, word: object, holds: Callable[[int, int], bool]) -> Expression:
        if word not in self._words:
            raise Unaskable(f"{show_value(word)} is not among the ordered words {show_value(self._words)}")
        place = self._words.index(word)
        return self._column.isin([each for own, each in enumerate(self._words) if holds(own, place)])

    def __lt__(self, word: object) -> Expression:
        return self._among(word, lambda own, place: own < place)

    def __le__(self, word: object) -> Expression:
        return self._among(word, lambda own, place: own <= place)

    def __gt__(self, word: object) -> Expression:
        return self._among(word, lambda own, place: own > place)

    def __ge__(self, word: object) -> Expression:
        return self._among(word, lambda own, place: own >= place)

    def between(self, low: object, high: object) -> Expression:
        """Within both ends, ends included."""
        return (self >= low) & (self <= high)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an ordered column has no truth value: compare it with a word, as in col('size').ordered(…) > 's'"
        )
