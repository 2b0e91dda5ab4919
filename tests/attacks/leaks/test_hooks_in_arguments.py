"""Plain arguments are plain: no method of the asker's own class is called with rows, unless it came as code.

NumPy and Python ask whatever they compare with. A number whose ``__gt__`` notes what it is compared with would be shown
every label; one that raises an error "of the world outside" would have it told, for nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unworn import Failed, Holdout, col, mean, share
from unworn.errors import MissingExtra, Unaskable, Unavailable
from unworn.queries import FromModel, GivenPredictions, metric, parse
from unworn.queries.language.leaves import Literal
from unworn.queries.language.means import Share
from unworn.queries.metrics.hit_metrics import BalancedAccuracy, TopK
from unworn.queries.predictions import as_source
from unworn.rows import Sample

ROWS = 300
RNG = np.random.default_rng(3)
NUMBERS = RNG.integers(0, 2, ROWS) + 0.5
WORDS = np.array(["yes", "no"], object)[RNG.integers(0, 2, ROWS)]
GUESSED = np.array(["yes", "no"], object)[RNG.integers(0, 2, ROWS)]
SCORES = RNG.random(ROWS)
TABLE = np.full((ROWS, 2), 0.5)
CALLED: list[Any] = []


def _noting(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def method(self: Any, *others: Any) -> Any:
        CALLED.append((name, others))
        return plain(self, *others)

    return method


HOOKS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
NOTED = {name: {hook: _noting(kind, hook) for hook in HOOKS} for name, kind in {"s": str, "f": float, "i": int}.items()}
Text = type("Text", (str,), {**NOTED["s"], "__hash__": str.__hash__})
Real = type("Real", (float,), {**NOTED["f"], "__hash__": float.__hash__, "__array_priority__": 1e9})
Whole = type("Whole", (int,), {**NOTED["i"], "__hash__": int.__hash__, "__array_ufunc__": None})
YES, NO, HALF, ONE = Text("yes"), Text("no"), Real(0.5), Whole(1)


@pytest.fixture(autouse=True)
def forget() -> None:
    CALLED.clear()


def opened(labels: Any = WORDS) -> Holdout:
    return Holdout({"x": RNG.normal(size=ROWS), "word": WORDS}, labels, practice=0, ledger=None)


ARGUMENTS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "k": (WORDS, lambda: metric("top_k", TABLE, k=ONE, classes=["yes", "no"])),
    "classes": (WORDS, lambda: metric("log_loss", TABLE, classes=[YES, NO])),
    "positive of a share": (WORDS, lambda: metric("recall", GUESSED, positive=YES)),
    "positive of a ranking": (WORDS, lambda: metric("roc_auc", SCORES, positive=YES)),
    "positive of a score": (WORDS, lambda: metric("brier", SCORES, positive=YES)),
    "shares": (WORDS, lambda: metric("balanced_accuracy", GUESSED, shares={YES: Real(0.5), NO: HALF})),
    "weights": (WORDS, lambda: metric("balanced_accuracy", GUESSED, weights={YES: ONE, NO: ONE})),
    "a real class": (NUMBERS, lambda: metric("recall", NUMBERS, positive=HALF)),
    "a real positive": (NUMBERS, lambda: metric("roc_auc", SCORES, positive=HALF)),
    "the ends of a range": (NUMBERS, lambda: metric("mse", SCORES, range=(Whole(0), HALF))),
    "a quantile": (NUMBERS, lambda: metric("pinball", SCORES, range=(0, 1), alpha=HALF)),
    "the values of rows": (NUMBERS, lambda: metric("values", SCORES, range=(Whole(0), ONE))),
    "a constant": (NUMBERS, lambda: share(col("x") > HALF)),
    "a text": (NUMBERS, lambda: share(col("word") == YES)),
    "a list": (NUMBERS, lambda: share(col("word").isin([YES, NO]))),
    "what fills": (NUMBERS, lambda: mean(col("x").fill(HALF), range=(Whole(0), ONE))),
    "a subset": (NUMBERS, lambda: share(col("x") > 0, given=col("word") == YES)),
    "predictions": (WORDS, lambda: metric("accuracy", [Text(word) for word in GUESSED])),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_no_argument_is_called_with_rows(what: str) -> None:
    labels, make = ARGUMENTS[what]
    holdout, question = opened(labels), make()
    CALLED.clear()  # before there are rows it may be asked anything
    assert holdout.ask(question).index == 1
    assert CALLED == []


def test_options_of_verbs_are_not_called_with_rows() -> None:
    holdout = opened(NUMBERS)
    holdout.score(SCORES, guess=Real(0.5), guess_se=Real(0.1), gauge=Real(0.3), metric="mse", range=(0, 1))
    holdout.score(SCORES, metric="r2", range=(0, 1), baseline=Real(0.5))
    holdout.compare(SCORES, 1 - SCORES, metric="mae", range=(0, 1), discordance=Real(0.7))
    met = [other for _, others in CALLED for other in others]
    assert all(type(other) in (int, float) for other in met)


class Color(enum.IntEnum):
    RED = 0
    BLUE = 1


def test_honest_subclasses_ask_the_same_question() -> None:
    def names(*values: Any) -> set[str]:
        return {metric("recall", GUESSED, positive=value).fingerprint for value in values}

    assert len(names("yes", np.str_("yes"), YES, enum.StrEnum("E", {"YES": "yes"}).YES)) == 1
    ranks = {metric("top_k", TABLE, k=k).fingerprint for k in (1, np.int8(1), ONE, Color.BLUE)}
    assert len(ranks) == 1
    assert len({metric("recall", SCORES > 0.5, positive=p).fingerprint for p in (1, True, 1.0, Color.BLUE)}) == 1


class Watching(Share):
    """A question of the asker's own class: its fingerprint is that of the one it inherits from."""

    def values(self, frame: Any) -> Any:
        CALLED.append(frame)
        return super().values(frame)


class OwnLiteral(Literal): ...


class OwnPredictions(GivenPredictions): ...


class OwnModel(FromModel):
    def run(self, features: Any, rows: int) -> Any:
        CALLED.append(features)
        return super().run(features, rows)


class Model:
    def predict(self, X: Any) -> Any:
        return ["yes"] * ROWS


SMUGGLED: dict[str, Callable[[], Any]] = {
    "a question": lambda: Watching(col("x") > 0),
    "part of an expression": lambda: share(col("x") > OwnLiteral(0.0)),
    "predictions": lambda: metric("accuracy", OwnPredictions(GUESSED)),
    "a model": lambda: metric("accuracy", OwnModel(Model())),
    "a class": lambda: TopK(as_source(TABLE), 1, (YES, NO)),
    "a weight": lambda: BalancedAccuracy(as_source(GUESSED), (("no", Real(1.0)), ("yes", 1.0))),
    "JSON": lambda: parse({**metric("recall", GUESSED, positive="yes").to_json(), "positive": YES}),
}


@pytest.mark.parametrize("what", SMUGGLED)
@pytest.mark.parametrize("verb", ["ask", "final", "ask_many"])
def test_what_is_not_ours_is_no_part_of_a_question(what: str, verb: str) -> None:
    holdout = opened()
    question = SMUGGLED[what]()
    CALLED.clear()
    with pytest.raises(Unaskable):
        getattr(holdout, verb)([question] if verb == "ask_many" else question)
    assert CALLED in ([], [("__lt__", (1.0,))])  # the larger of two weights is found, without rows
    assert holdout.meter.asked == 0


def test_an_answer_is_not_followed_by_a_question_of_the_askers_own() -> None:
    from dataclasses import replace

    holdout = opened()
    answer = replace(holdout.ask(share(col("x") > 0), 0.5, guess_se=0.2), query=Watching(col("x") > 0))
    for follow in (holdout.sharpen, holdout.final):
        with pytest.raises(Unaskable, match="cannot be part of a question"):
            follow(answer)
    assert CALLED == []
    assert holdout.meter.asked == 1


@pytest.mark.parametrize("error", [Unavailable, MissingExtra])
def test_only_an_engine_says_that_rows_are_out_of_reach(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(self: Any, queries: Any, part: Any = None) -> Any:
        raise error("the first row is 3")

    monkeypatch.setattr(Sample, "statistics", read)
    monkeypatch.setattr(Sample, "moments", read)
    holdout = opened()
    with pytest.raises(Failed) as told:
        holdout.ask(share(col("x") > 0))
    assert "first row" not in str(told.value)
    assert holdout.meter.asked == 1
