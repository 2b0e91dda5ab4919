"""Composites: numbers made of the answers to several questions, as F1, RMSE, R² or the difference of two shares are.

A composite has no entry of its own. Its parts are asked, and since all their intervals hold together, what is made of
them holds too (:mod:`unworn.queries.combinations`). It is a value: parts, and a combination from a closed list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from unworn.basics.display import show_line, show_value
from unworn.basics.json_text import canonical
from unworn.errors import Unaskable
from unworn.queries.combinations import COMBINATIONS
from unworn.queries.language.literals import MAX_TEXT, as_float, text
from unworn.queries.query import Query

_DEEPEST = 20
_LONGEST_NAME = 100 * MAX_TEXT
"""Of the names that are made here too, of a metric, its predictions and a predicate, which are bounded themselves."""
MOST_PARTS = 1_000
"""Questions that a composite is made of, each counted as often as it stands there."""


@dataclass(frozen=True, eq=False, repr=False)
class Composite:
    """What ``combination`` makes of ``parts``, with the numbers that belong to it (weights, ends).

    >>> from unworn.queries.language.expressions import col
    >>> from unworn.queries.language.means import share
    >>> lift = share(col("won"), given=col("arm") == "B") - share(col("won"), given=col("arm") == "A")
    >>> lift.label
    "share of won given arm == 'B' − share of won given arm == 'A'"
    >>> lift.interval([(0.5, 0.75), (0.25, 0.375)])
    (0.125, 0.5)
    """

    combination: str
    parts: tuple[Question, ...]
    numbers: tuple[float, ...] = ()
    name: str | None = field(default=None)

    def __post_init__(self) -> None:
        known = COMBINATIONS.get(self.combination)
        if known is None or not self.parts or not all(isinstance(part, Query | Composite) for part in self.parts):
            raise Unaskable(f"a composite is made by one of {', '.join(COMBINATIONS)}, of questions")
        if known.arguments not in (None, len(self.parts)):
            raise Unaskable(f"{self.combination} is made of {known.arguments} parts, not of {len(self.parts)}")
        wanted = {"linear": len(self.parts), "ratio": 2, "subgroup": 3}.get(self.combination, 0)
        if len(self.numbers) != wanted or not all(map(math.isfinite, self.numbers)):
            raise Unaskable(f"{self.combination} of {len(self.parts)} parts needs {wanted} finite numbers")
        if self.name is not None:
            object.__setattr__(self, "name", text(self.name, "a composite's name", _LONGEST_NAME))
        if self.depth > _DEEPEST:
            raise Unaskable(f"a composite nested {self.depth} deep is too deep: at most {_DEEPEST}")
        if self.size > MOST_PARTS:
            raise Unaskable(f"a composite of {self.size:,} questions is too large: at most {MOST_PARTS:,}")

    @cached_property
    def depth(self) -> int:
        return 1 + max(part.depth if isinstance(part, Composite) else 0 for part in self.parts)

    @cached_property
    def size(self) -> int:
        """How many questions stand in it, each counted as often as it does."""
        return sum(part.size if isinstance(part, Composite) else 1 for part in self.parts)

    @cached_property
    def questions(self) -> tuple[Query, ...]:
        """The questions to be asked: each once, in order."""
        told: dict[str, Query] = {}
        for leaf in self._leaves():
            check_same(told.setdefault(leaf.fingerprint, leaf), leaf)
        return tuple(told.values())

    def _leaves(self) -> Iterator[Query]:
        for part in self.parts:
            if isinstance(part, Composite):
                yield from part._leaves()
            else:
                yield part

    @property
    def label(self) -> str:
        if self.name is not None:
            return self.name
        labels = [part.label for part in self.parts]
        if self.combination != "linear":
            cut = self.combination == "ratio" and self.numbers != (0.0, 1.0)
            ends = f" in [{self.numbers[0]:g}, {self.numbers[1]:g}]" if cut else ""
            return f"{self.combination} of {' and '.join(labels)}{ends}"
        terms = [_term(weight, label) for weight, label in zip(self.numbers, labels, strict=True)]
        return " ".join(terms).removeprefix("+ ").replace("− ", "−", 1 if terms[0].startswith("−") else 0)

    def named(self, name: str) -> Composite:
        """The same, called something."""
        return replace(self, name=text(name, "a composite's name"))

    def value(self, values: Sequence[float]) -> float:
        """What is made of a value of each of :attr:`questions`."""
        return float(self._evaluate(self._placed(values), lambda c, v, n: COMBINATIONS[c].value(v, n)))

    def interval(self, intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """What is made of an interval of each of :attr:`questions`: holds wherever all of those do."""
        low, high = self._evaluate(self._placed(intervals), lambda c, box, n: COMBINATIONS[c].image(box, n))
        return low, high

    def _placed(self, given: Sequence[Any]) -> dict[str, Any]:
        return dict(zip((query.fingerprint for query in self.questions), given, strict=True))

    def _evaluate(self, known: Mapping[str, Any], make: Callable[[str, list[Any], tuple[float, ...]], Any]) -> Any:
        parts = [p._evaluate(known, make) if isinstance(p, Composite) else known[p.fingerprint] for p in self.parts]
        return make(self.combination, parts, self.numbers)

    def guess_of_part(self, value: float) -> float | None:
        """The value of the only question that this value is made of; None where there are several.

        ``Unaskable`` for what the composite cannot be, whatever its question is.
        """
        if len(self.parts) > 1:
            return None
        low, high = COMBINATIONS[self.combination].reach
        if not low <= value <= high:  # also refuses NaN
            raise Unaskable(
                f"{self.label} lies in [{low:g}, {high:g}], and the guess makes it {value:g}: guess in its own units"
            )
        if self.combination == "linear":
            inside = value / self.numbers[0] if self.numbers[0] else None
        else:
            inverse = COMBINATIONS[self.combination].inverse
            inside = None if inverse is None else inverse(value, self.numbers)
        (part,) = self.parts
        return part.guess_of_part(inside) if isinstance(part, Composite) and inside is not None else inside

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"combine": self.combination, "of": [part.to_json() for part in self.parts]}
        if self.numbers:
            data["numbers"] = list(self.numbers)
        return data if self.name is None else {**data, "name": self.name}

    @cached_property
    def canonical_text(self) -> str:
        return canonical(self.to_json())

    def __eq__(self, other: object) -> bool:
        return self.canonical_text == other.canonical_text if isinstance(other, Composite) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical_text)

    def __repr__(self) -> str:
        return f"Composite({show_line(self.label)})"

    def __add__(self, other: object) -> Composite:
        return linear([(1.0, self), (1.0, other)])

    def __sub__(self, other: object) -> Composite:
        return linear([(1.0, self), (-1.0, other)])

    def __neg__(self) -> Composite:
        return linear([(-1.0, self)])

    def __mul__(self, weight: Any) -> Composite:
        return linear([(as_float(weight, "a weight"), self)])

    __rmul__ = __mul__


Question = Query | Composite
"""What the verbs of a holdout take: a question, or what is made of several."""


def linear(terms: Sequence[tuple[float, Any]], name: str | None = None) -> Composite:
    """A sum of questions with weights; sums inside are opened up, and a question that occurs twice is one term."""
    flat: dict[str, tuple[float, Question]] = {}
    for weight, part in terms:
        inside = [(weight, _question(part))]
        if isinstance(part, Composite) and part.combination == "linear" and part.name is None:
            inside = [(weight * own, each) for own, each in zip(part.numbers, part.parts, strict=True)]
        for own, each in inside:
            key = each.canonical_text
            if key in flat:
                for one, other in zip(_leaves_of(flat[key][1]), _leaves_of(each), strict=True):
                    check_same(one, other)
            flat[key] = (flat[key][0] + own if key in flat else own, each)
    weights, parts = zip(*flat.values(), strict=True)
    return Composite("linear", parts, weights, name)


def average(questions: Iterable[Question], name: str | None = None) -> Composite:
    """The plain average of several questions, as a macro average over classes is.

    >>> from unworn.queries.language.expressions import col
    >>> from unworn.queries.language.means import share
    >>> average([share(col("a")), share(col("b"))]).interval([(0.0, 0.2), (0.4, 0.6)])
    (0.2, 0.4)
    """
    if isinstance(questions, str | bytes | Mapping) or not isinstance(questions, Iterable):
        raise Unaskable(f"an average is of a list of questions, not of {show_value(questions)}")
    parts = list(islice(questions, MOST_PARTS + 1))
    if not parts:
        raise Unaskable("an average needs at least one question")
    if len(parts) > MOST_PARTS:
        raise Unaskable(f"an average of more than {MOST_PARTS:,} questions is too large: name fewer", limit=MOST_PARTS)
    return linear([(1 / len(parts), part) for part in parts], name)


def ratio(above: Query, below: Query, range: tuple[float, float] | None = None) -> Composite:
    """One question over another, clipped to ``range``: for two plain shares what ``share(b, given=a)`` asks at once.

    Both must be at least 0. With mechanisms that have no interval for a share of a subset this is the way to ask one.
    Only the share of ``a & b`` over that of ``a`` has a range of its own; how large any other ratio may be is yours to
    say, because a larger one would be told as the end of the range.

    >>> from unworn.queries.language.expressions import col
    >>> from unworn.queries.language.means import share
    >>> ratio(share(col("a") & col("b")), share(col("a"))).interval([(0.1, 0.2), (0.4, 0.5)])
    (0.2, 0.5)
    >>> ratio(share(col("b")), share(col("a")), range=(0, 5)).label
    'ratio of share of b and share of a in [0, 5]'
    """
    if range is None:
        if not _is_part(_query(above), _query(below)):
            raise Unaskable(
                f"the ratio of {above.label} and {below.label} may be larger than 1: give range=(0, largest ratio that "
                "matters); a larger one counts as that. Of a share of a subset, ask share(a & b) over share(a)"
            )
        range = 0.0, 1.0
    try:
        low, high = (as_float(end, "an end of a range") for end in range)
    except (TypeError, ValueError):
        raise Unaskable(f"range must be two numbers (low, high), not {show_value(range)}") from None
    if not 0 <= low < high < math.inf:
        raise Unaskable(f"the range of a ratio is finite with 0 <= low < high, not ({low}, {high})")
    return Composite("ratio", (_query(above), _query(below)), (low, high))


def _is_part(above: Query, below: Query) -> bool:
    """Whether the rows of one share are among those of the other by their words alone, so that it is no larger."""
    from unworn.queries.language.means import Share  # which itself makes composites

    if not (isinstance(above, Share) and isinstance(below, Share)):
        return False
    both = {canonical(each.to_json()) for each in _joined(above.where)}
    return both >= {canonical(each.to_json()) for each in _joined(below.where)}


def _joined(predicate: Any) -> tuple[Any, ...]:
    """What must all hold for a predicate to hold."""
    is_and = getattr(predicate, "op", None) == "and"
    return tuple(predicate.operands) if is_and else (predicate,)


def composite_from_json(data: Mapping[str, Any], read: Callable[[Any], Query]) -> Composite:
    """A composite as it was written down; ``read`` reads its questions."""
    parts = [composite_from_json(each, read) if "combine" in each else read(each) for each in data["of"]]
    numbers = tuple(float(number) for number in data.get("numbers", ()))
    return Composite(str(data["combine"]), tuple(parts), numbers, data.get("name"))


def _leaves_of(question: Question) -> Iterator[Query]:
    return question._leaves() if isinstance(question, Composite) else iter((question,))


def check_same(one: Query, other: Query) -> None:
    """Refuse two models under one name: they would be one question, and the answer of one would be that of both."""
    if one is other or one.fingerprint != other.fingerprint:
        return
    from unworn.queries.code.code_in_query import is_other_code, named_code  # which knows every question

    if is_other_code(named_code(one), named_code(other)):
        raise Unaskable(
            f"{one.label}: two things with other bytes or code go by this name.\n  Give each a name of its own, or "
            "leave the name out: each is then known by its bytes and code."
        )


def _question(other: object) -> Question:
    if not isinstance(other, Query | Composite):
        raise Unaskable(f"questions are added to questions, not to {show_value(other)}")
    return other


def _query(part: object) -> Query:
    if not isinstance(part, Query):
        raise Unaskable(f"a ratio is made of two questions, not of {show_value(part)}")
    return part


def _term(weight: float, label: str) -> str:
    size = "" if abs(weight) == 1 else f"{abs(weight):.4g} · "
    return f"{'−' if weight < 0 else '+'} {size}{label}"
