"""Python's operators, turned into words of the question language.

Kept apart from the nodes so that each reads alone: an operator only names what to build.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from unworn.errors import Unaskable

if TYPE_CHECKING:
    from unworn.queries.language.leaves import Expression
    from unworn.queries.language.ordered_words import OrderedWords


class Operators:
    """Every operator an expression understands, and refusals of those it cannot have."""

    __array_ufunc__ = None  # numpy scalars and arrays leave the operators to us

    def _build(self, tag: str, *operands: object) -> Expression:
        raise NotImplementedError

    def isin(self, values: Iterable[object]) -> Expression:
        """One of the values; a missing value is in no list.

        >>> from unworn.queries.language.expressions import col
        >>> col("plan").isin(["pro", "basic"])
        plan.isin(['basic', 'pro'])
        """
        if isinstance(values, str | bytes | Operators) or not isinstance(values, Iterable):
            raise Unaskable("isin needs a list of values: write .isin([value, …])")
        from unworn.queries.language.constant_operators import MAX_ITEMS

        some = tuple(islice(values, MAX_ITEMS + 1))  # an iterator may have no end
        if len(some) > MAX_ITEMS:
            raise Unaskable(f"isin of more than {MAX_ITEMS:,} values is too long: name fewer", limit=MAX_ITEMS)
        return self._build("in", self, *some)

    def between(self, low: object, high: object) -> Expression:
        """Within both ends, ends included. Ends that are not constants give two comparisons."""
        return self._build("between", self, low, high)

    def is_null(self) -> Expression:
        """Whether the value is missing (a NaN or an infinite number is); itself never missing."""
        return self._build("is_null", self)

    def fill(self, value: object) -> Expression:
        """The same, with this constant in place of what is missing."""
        return self._build("fill", self, value)

    def ordered(self, words: Iterable[str]) -> OrderedWords:
        """Text whose words have an order, the lowest first, as an ordered categorical has: then it can be compared.

        >>> from unworn.queries.language.expressions import col
        >>> col("size").ordered(["s", "m", "l"]) >= "m"
        size.isin(['l', 'm'])
        """
        from unworn.queries.language.ordered_words import OrderedWords

        return OrderedWords(self, words)  # type: ignore[arg-type]

    def __add__(self, other: object) -> Expression:
        return self._build("add", self, other)

    def __radd__(self, other: object) -> Expression:
        return self._build("add", other, self)

    def __sub__(self, other: object) -> Expression:
        return self._build("sub", self, other)

    def __rsub__(self, other: object) -> Expression:
        return self._build("sub", other, self)

    def __mul__(self, other: object) -> Expression:
        return self._build("mul", self, other)

    def __rmul__(self, other: object) -> Expression:
        return self._build("mul", other, self)

    def __truediv__(self, other: object) -> Expression:
        return self._build("div", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return self._build("div", other, self)

    def __neg__(self) -> Expression:
        return self._build("neg", self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return self._build("eq", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return self._build("ne", self, other)

    def __lt__(self, other: object) -> Expression:
        return self._build("lt", self, other)

    def __le__(self, other: object) -> Expression:
        return self._build("le", self, other)

    def __gt__(self, other: object) -> Expression:
        return self._build("gt", self, other)

    def __ge__(self, other: object) -> Expression:
        return self._build("ge", self, other)

    def __and__(self, other: object) -> Expression:
        return self._build("and", self, other)

    def __rand__(self, other: object) -> Expression:
        return self._build("and", other, self)

    def __or__(self, other: object) -> Expression:
        return self._build("or", self, other)

    def __ror__(self, other: object) -> Expression:
        return self._build("or", other, self)

    def __invert__(self) -> Expression:
        return self._build("not", self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an expression has no truth value before it meets rows: use & | ~ and parentheses "
            "instead of and, or, not and chained comparisons"
        )

    def __hash__(self) -> int:
        raise TypeError("an expression cannot be hashed, because == builds a comparison: use share(expression)")
