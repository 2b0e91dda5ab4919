"""Calls of everything public with arguments nobody would mean, from a seed: what a fuzzer plays.

A call may succeed, or fail with an error of ours. What counts as ours is narrow: an ``UnwornError``, or a ``ValueError``
or ``TypeError`` that a ``raise`` statement of this package made. Whatever Python, NumPy or a parser raised on the way
is a hole, because nobody wrote its message for a reader, and nobody knows what it tells.
"""

from __future__ import annotations

import io
import json
import linecache
import math
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import unworn
from unworn import Holdout, col, lit, mean, plan, share
from unworn import mechanisms as kinds
from unworn.answer import Answer
from unworn.certificate import Certificate
from unworn.display import show_value
from unworn.errors import UnwornError
from unworn.ledger import Entry, Key
from unworn.queries import codec, hypothesis, metric, parse
from unworn.queries.sql import parse as parse_sql
from unworn.release.certificate import ReleaseCertificate
from unworn.universe.domain import Domain
from unworn.universe.workload import from_json as workload_from_json

PACKAGE = str(Path(unworn.__file__).parent)
LIMIT = 1.0
"""Seconds of processor time within which every call ends."""
LONG = "long" * 5_000_000

Call = tuple[str, Callable[[], Any]]


class Model:
    """Something that can be scored, and raises where it is asked for what it has not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


@dataclass
class Finding:
    """A call that failed otherwise than it may, or took too long."""

    call: str
    what: str

    def __str__(self) -> str:
        return f"{self.call}: {self.what}"


NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 0.5, 0.3, 0.95, 1.5, -0.0, 10**400, 10**5000, -(10**400), 10**18, 2**53, 2**63, 10**30, math.nan, math.inf,
    -math.inf, 1e308, -1e308, 5e-324, 1e-310, True, False, np.float64(0.5), np.int8(1), np.float16("nan"),
    np.array(0.5), np.array([0.5]), np.array([1, 2]), np.zeros((0, 3)), Decimal("0.5"), Decimal("NaN"), Fraction(1, 3),
    1j, "0.5", "x", "", b"x", None, [], [0.5], (0, 1), {}, {"a": 1}, set(), object(), lambda: 1, col("a"),
    datetime(2024, 1, 1), date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), np.datetime64("NaT"), ..., type, range(3),
]  # fmt: skip
TEXTS: list[Any] = [
    "", "a", "b", "t", "y", "none", "asks", "a > 1", "accuracy", "brier", "f1", "\x00", "\x1b[31mred", "\ud800",
    "\u202eevil", "é", "名前", "'", '"', "</script>", "x" * 2000, "\n", "a\nb", " ", "nan", "../etc", "*", "%s", "{}",
    None, 3, b"a", ["a"], object(),
]  # fmt: skip
SQL = [
    "a", "b", "t", "y", "1", "2.5", "'x'", '"a"', "null", "true", "(", ")", "((", "))", ",", "and", "or", "not", "in",
    "in (", "between", "is", "is not null", "=", "<>", "<", ">=", "+", "-", "*", "/", "coalesce(", "avg(", "mean(",
    "cast(", "as date", "date", "date '2024-01-31'", "timestamp", "interval", "date(", "if", "case", "when", "select",
    "--", "/*", ";", "\x00", "\ud800", "é", "'", '"', "1e999", "9" * 400, ".", "0x1", "1_000",
]  # fmt: skip


class Calls:
    """An endless, repeatable sequence of hostile calls."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = Random(seed)
        self.folder = folder
        self.made = 0
        self._begin()

    def _begin(self) -> None:
        """Fresh rows, so that what earlier calls asked does not slow later ones down."""
        rng = np.random.default_rng(self.made)
        rows = 60
        self.data = {"a": rng.normal(size=rows), "b": rng.integers(0, 2, rows).astype(bool), "t": ["u", "v"] * 30}
        self.labels = rng.integers(0, 2, rows)
        train = ({"a": rng.normal(size=40), "b": np.arange(40) % 2 == 0, "t": ["u", "v"] * 20}, np.arange(40) % 2)
        self.holdout = Holdout(self.data, self.labels, train=train)
        self.plain = Holdout({"a": rng.normal(size=rows), "b": self.data["b"], "t": self.data["t"]}, self.labels)
        noisy = {"a": rng.normal(size=400)}
        self.noisy = Holdout(noisy, rng.integers(0, 2, 400), asks=50, mechanism=kinds.BoundedNoise())
        self.drawing = Holdout({"a": rng.normal(size=400)}, asks=5, mechanism=kinds.OneSample(0.3))
        self.answer = self.holdout.ask(share(col("a") > 0), 0.5)
        self.card = json.loads(json.dumps(self.answer.certificate.to_json()))
        self.cards = [self.card, *(_card_of(kind) for kind in _MECHANISMS)]
        self.release = _release()

    def __iter__(self) -> Iterator[Call]:
        makers = [getattr(self, name) for name in sorted(dir(type(self))) if name.startswith("call_")]
        weights = [maker.__doc__.count("*") + 1 if maker.__doc__ else 1 for maker in makers]
        while True:
            self.made += 1
            if self.made % 4000 == 0:
                self._begin()
            yield self.rng.choices(makers, weights)[0]()

    # ------------------------------------------------------------------ values

    def any(self) -> Any:
        pick = self.rng.random()
        if pick < 0.0002:
            return LONG
        return self.rng.choice(NUMBERS if pick < 0.7 else TEXTS)

    def number(self) -> Any:
        return self.rng.random() if self.rng.random() < 0.75 else self.any()

    def text(self) -> Any:
        return self.rng.choice(TEXTS) if self.rng.random() < 0.9 else self.any()

    def key(self) -> Any:
        """Something that can name a column in a dictionary."""
        return self.rng.choice([word for word in TEXTS if isinstance(word, str | int | bytes | None)])

    def maybe(self, make: Callable[[], Any]) -> Any:
        return None if self.rng.random() < 0.65 else make()

    def which(self) -> Holdout:
        return self.rng.choice([self.holdout, self.holdout, self.plain, self.plain, self.noisy, self.drawing])

    def expression(self, depth: int = 4) -> Any:
        """Mostly an expression; made by operators, which may refuse."""
        kind = self.rng.randrange(12) if depth else self.rng.randrange(3)
        if kind <= 1:
            return col(self.rng.choice(["a", "b", "t", "y", "x" * 50, "\x1b", "\u202e"]))
        if kind == 2:
            return self.any()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if not isinstance(left, unworn.queries.expressions.Expression):
            left = lit(1)
        operators: list[Callable[[], Any]] = [
            lambda: left > right, lambda: left == right, lambda: left + right, lambda: left / right,
            lambda: left & right, lambda: ~left, lambda: left.isin([right, self.any()]), lambda: left.fill(right),
            lambda: left.between(right, self.any()), lambda: left.is_null(), lambda: -left, lambda: left * right,
        ]  # fmt: skip
        return self.rng.choice(operators)()

    def sql(self) -> str:
        if self.rng.random() < 0.1:
            word = self.rng.choice(SQL)
            return word * self.rng.choice([2, 20, 200, 2000])
        return " ".join(self.rng.choice(SQL) for _ in range(self.rng.choice([1, 3, 5, 9, 40])))

    def question(self) -> Any:
        if self.rng.random() < 0.6:  # one that can be asked, so that the other arguments get their turn
            edge = self.rng.gauss(0, 1)
            questions = [share(col("a") > edge), mean(col("a"), (-3, 3)), f"a > {edge:.3f}", share(col("b"))]
            return self.rng.choice([*questions, metric("accuracy", np.full(60, edge > 0))])
        pick = self.rng.random()
        if pick < 0.15:
            return self.any()
        if pick < 0.35:
            return self.sql()
        if pick < 0.6:
            return share(self.expression())
        if pick < 0.8:
            return mean(self.expression(), (self.number(), self.number()))
        return metric(self.rng.choice(["accuracy", "brier", "mae", "top_k", "log_loss"]), self.predictions())

    def predictions(self) -> Any:
        if self.rng.random() < 0.6:
            return self.rng.choice(
                [np.zeros(60), np.ones(60, int), np.full(60, 0.5), Model(1), Model(self.rng.random())]
            )
        size = self.rng.choice([60, 60, 60, 400, 59, 0, 1])
        return self.rng.choice([
            np.zeros(size), np.ones(size, int), np.full(size, 0.5), np.full(size, np.nan), ["u"] * size, [[0.5]] * size,
            np.zeros((size, 2)), np.zeros((size, 0)), Model(1), Model(0.5), Model("u"), Model(np.nan), Model, self.any(),
            np.full(size, 2.0**60), np.array(["\ud800"] * size, object), [None] * size, [10**400] * size,
            np.zeros(size, "datetime64[s]"), np.zeros(size, complex), range(size), {"a": 1},
        ])  # fmt: skip

    def options(self) -> dict[str, Any]:
        if self.rng.random() < 0.7:
            return {}
        name = self.rng.choice(["range", "positive", "k", "classes", "weights", "shares", "nonsense"])
        ends = (self.number(), self.number())
        table = {self.rng.choice([0, 1, "u", 0.5, True, None]): self.number() for _ in range(2)}
        return {name: self.rng.choice([self.any(), ends, list(ends), table, [0, 1], ["u", "v"], [0, 0], 1])}

    # ------------------------------------------------------------------ asking

    def call_ask(self) -> Call:
        """Weight: ******."""
        question, holdout = self.question, self.which()
        told = {"guess": self.maybe(self.number), "guess_se": self.maybe(self.number), "by": self.maybe(self.text)}
        if self.rng.random() < 0.2:
            told["again"] = self.rng.choice([True, False, self.any()])
        return f"ask(…, {show_value(told, 150)})", lambda: holdout.ask(question(), **told)

    def call_ask_many(self) -> Call:
        """Weight: *."""
        holdout, count = self.which(), self.rng.randrange(4)
        guesses = self.rng.choice([None, [self.number() for _ in range(count)], self.any()])
        by = self.maybe(self.text)
        given = self.any() if self.rng.random() < 0.1 else None

        def run() -> Any:
            questions = [self.question() for _ in range(count)] if given is None else given
            return holdout.ask_many(questions, guesses, by=by)

        return f"ask_many({count}, {show_value(guesses, 60)})", run

    def call_score(self) -> Call:
        """Weight: ****."""
        holdout, options, found = self.which(), self.options(), self.predictions()
        name = self.rng.choice(["accuracy", "accuracy", "brier", "mae", "mse", "top_k", "log_loss", self.text()])
        told = {"guess": self.maybe(self.number), "guess_se": self.maybe(self.number), "by": self.maybe(self.text)}
        told["name"] = self.maybe(self.text)
        return (
            f"score({show_value(found, 60)}, {show_value(name, 30)}, {show_value(told, 150)}, {show_value(options, 80)})",
            lambda: holdout.score(found, metric=name, **told, **options),
        )

    def call_compare(self) -> Call:
        """Weight: **."""
        holdout, options, first, second = self.which(), self.options(), self.predictions(), self.predictions()
        name = self.rng.choice(["accuracy", "brier", "mae", self.text()])
        told = {"guess": self.maybe(self.number), "discordance": self.maybe(self.number)}
        return (
            f"compare({show_value(first, 60)}, {show_value(second, 60)}, {show_value(name, 30)}, {show_value(told, 80)})",
            lambda: holdout.compare(first, second, metric=name, **told, **options),
        )

    def call_test(self) -> Call:
        """Weight: **."""
        holdout, level = self.which(), self.rng.choice([0.05, self.number()])
        told = {"above": self.maybe(self.number), "below": self.maybe(self.number), "by": self.maybe(self.text)}
        return f"test(…, {show_value(level, 30)}, {show_value(told, 100)})", lambda: holdout.test(
            self.question(), level, **told
        )

    def call_sharpen(self) -> Call:
        holdout, by = self.which(), self.maybe(self.text)
        answer = self.rng.choice([self.answer, self.answer.certificate, self.any(), Answer, None])
        return f"sharpen({show_value(answer, 60)}, by={show_value(by, 30)})", lambda: holdout.sharpen(answer, by=by)

    def call_quote(self) -> Call:
        """Weight: *."""
        holdout, guess, error = self.which(), self.maybe(self.number), self.maybe(self.number)
        return f"quote(…, {show_value(guess, 40)}, {show_value(error, 40)})", lambda: holdout.quote(
            self.question(), guess, guess_se=error
        )

    def call_scorer(self) -> Call:
        holdout, name, options = self.which(), self.rng.choice(["accuracy", "brier", self.text()]), self.options()
        model, fold = self.predictions(), self.rng.choice([np.zeros((5, 2)), self.any()])
        labels = self.rng.choice([np.arange(5) % 2, self.any()])

        def run() -> Any:
            scorer = holdout.scorer(name, **options)
            return scorer if not isinstance(model, Model) else float(scorer(model, fold, labels))

        return (
            f"scorer({show_value(name, 30)}, {show_value(options, 60)})({show_value(model, 40)}, {show_value(labels, 40)})",
            run,
        )

    def call_gather(self) -> Call:
        holdout = self.which()
        samples, columns = self.rng.choice([1, 2, self.any()]), self.maybe(self.any)
        return f"gather({show_value(samples, 40)}, {show_value(columns, 40)})", lambda: holdout.gather(samples, columns)

    def call_verify(self) -> Call:
        holdout, card = self.which(), self.rng.choice([self.answer.certificate, self.any()])
        return f"verify({show_value(card, 40)})", lambda: holdout.verify(card)

    def call_look(self) -> Call:
        holdout, answer = self.which(), self.answer
        looks: list[Callable[[], Any]] = [
            lambda: repr(holdout), lambda: holdout._repr_html_(), lambda: str(holdout.meter), lambda: str(answer),
            lambda: answer._repr_html_(), lambda: holdout.answers, lambda: answer.certificate._repr_html_(),
        ]  # fmt: skip
        return "look", self.rng.choice(looks)

    # ------------------------------------------------------------------ making questions

    def call_expression(self) -> Call:
        """Weight: ****."""
        return "expression", lambda: show_value(self.expression(6))

    def call_question(self) -> Call:
        """Weight: ****."""
        return "question", lambda: getattr(self.question(), "fingerprint", None)

    def call_metric(self) -> Call:
        """Weight: **."""
        name = self.rng.choice(
            ["accuracy", "balanced_accuracy", "brier", "mae", "mse", "top_k", "log_loss", self.text()]
        )
        found, options = self.predictions(), self.options()
        return (
            f"metric({show_value(name, 30)}, {show_value(found, 60)}, {show_value(options, 80)})",
            lambda: metric(name, found, **options).label,
        )

    def call_statistic(self) -> Call:
        code = self.rng.choice([lambda rows: 0.5, self.any()])
        told = {"sensitivity": self.any(), "range": (self.number(), self.number()), "name": self.maybe(self.text)}
        return f"statistic({show_value(told, 100)})", lambda: unworn.statistic(code, **told)

    def call_function(self) -> Call:
        told = [self.rng.choice([lambda rows: rows["a"], self.any()]), (self.number(), self.number())]
        name = self.maybe(self.text)
        return f"function({show_value(told, 100)}, {show_value(name, 40)})", lambda: unworn.function(*told, name=name)  # type: ignore[misc]

    def call_hypothesis(self) -> Call:
        level, above = self.any(), self.any()
        return f"hypothesis({show_value(level, 40)}, {show_value(above, 40)})", lambda: hypothesis(
            self.question(), level, above=above
        )

    def call_sql(self) -> Call:
        """Weight: ******."""
        text, ends = self.sql(), self.rng.choice([None, (0, 1), (self.number(), self.number()), self.any()])
        return f"sql({show_value(text, 200)}, {show_value(ends, 60)})", lambda: parse_sql(text, range=ends)

    def call_codec(self) -> Call:
        """Weight: **."""
        data = self.tree()
        return f"codec({show_value(data, 200)})", lambda: codec.from_json(data)

    def call_parse(self) -> Call:
        """Weight: **."""
        tag = self.rng.choice(["share", "mean", "metric", "difference", "hypothesis", "gradient", "moment", self.any()])
        data: Any = {"ask": tag, "where": self.tree(), "of": self.tree(), "range": [self.number(), self.number()]}
        data |= {"metric": self.text(), "predictions": self.any(), "level": self.number(), "above": self.number()}
        return f"parse({show_value(data, 200)})", lambda: parse(data)

    def tree(self, depth: int = 5) -> Any:
        if not depth or self.rng.random() < 0.1:
            return self.any()
        tag = self.rng.choice(
            ["col", "lit", "date", "gt", "and", "add", "in", "between", "not", "fill", "is_null", "neg"]
        )
        if tag in ("col", "lit", "date"):
            return [tag, self.any()]
        return [tag, *(self.tree(depth - 1) for _ in range(self.rng.choice([0, 1, 2, 2, 3])))]

    # ------------------------------------------------------------------ opening, planning, mechanisms

    def call_open(self) -> Call:
        """Weight: ****."""
        data = self.rng.choice([
            self.data, {"a": [1, 2, 3]}, np.zeros((5, 2)), np.zeros((0, 2)), np.zeros((3, 0)), [], [[]], {}, None,
            {"a": []}, {"a": [1], "b": [1, 2]}, {"a": [10**400]}, {"a": [None]}, {"": [1, 2]}, {3: [1, 2]}, {None: [1]},
            {"\ud800": [1, 2]}, {"\x00": [1, 2]}, {"a": self.any()}, "no such file", "\x00", self.any(), [1, 2, 3],
            {"a": np.array([1, "x", None], object)}, {"a": np.zeros(3, complex)}, {"a": np.zeros((2, 2))},
        ])  # fmt: skip
        told: dict[str, Any] = {}
        names = ["y", "groups", "asks", "mechanism", "confidence", "ledger", "name", "max_width", "train", "schema"]
        for name in self.rng.sample([*names, "uses", "use"], self.rng.randrange(3)):
            told[name] = self.any() if name != "ledger" else self.rng.choice([None, 3, b"x", [], object(), "x\x00y"])
        if "uses" in told and self.rng.random() < 0.7:
            told["uses"] = {self.key() if self.rng.random() < 0.5 else "asks": self.number() for _ in range(2)}
        if "schema" in told and self.rng.random() < 0.7:
            told["schema"] = {self.rng.choice(["a", "b", 3]): self.rng.choice(["number", "text?", self.any()])}
        if told.get("train") is not None and self.rng.random() < 0.5:
            told["train"] = (self.rng.choice([self.data, self.any()]), self.any())

        def run() -> Any:
            if isinstance(told.get("name"), str) and told["name"] == LONG:
                return None
            return Holdout(data, **told)

        return f"Holdout({show_value(data, 80)}, {show_value(told, 150)})", run

    def call_plan(self) -> Call:
        """Weight: *."""
        told = {name: self.any() for name in self.rng.sample(["rows", "asks", "width", "surprises", "confidence"], 3)}
        if self.rng.random() < 0.4:
            told = {"rows": self.rng.choice([100, self.any()]), "width": self.rng.choice([0.1, self.any()])}
        if self.rng.random() < 0.4:
            told = {
                "rows": 1000,
                "asks": 50,
                "surprises": 0,
                self.rng.choice(["rows", "asks", "surprises"]): self.any(),
            }
        return f"plan({show_value(told, 150)})", lambda: plan(**told)

    def call_mechanism(self) -> Call:
        """Weight: **."""
        kind = self.rng.choice(sorted(kinds.kinds()))
        told = {field.name: self.any() for field in fields(kinds.kinds()[kind]) if self.rng.random() < 0.5}
        told |= {field.name: self.any() for field in fields(kinds.kinds()[kind]) if field.default is MISSING}

        def run() -> Any:
            made = kinds.kinds()[kind](**told)
            rows, asks = self.rng.choice([(100, 10), (10**6, 1000)])
            return made.begin(rows, 0.95, asks)

        return f"{kind}({show_value(told, 150)})", run

    def call_mechanism_for(self) -> Call:
        kind = self.rng.choice(sorted(kinds.kinds()))
        told = {"rows": self.rng.choice([100, self.any()]), "asks": self.rng.choice([10, self.any()])}
        told |= {"width": self.maybe(self.any)}
        return f"{kind}.for_({show_value(told, 150)})", lambda: kinds.kinds()[kind].for_(**told)

    # ------------------------------------------------------------------ reading what others wrote

    def call_card(self) -> Call:
        """Weight: ****."""
        card = json.loads(json.dumps(self.rng.choice(self.cards)))
        places = [card, card["terms"]["body"], card["terms"]["body"]["mechanism"], card["entry"]["body"]["offer"]]
        for _ in range(self.rng.choice([1, 1, 2, 4])):
            self.spoil(self.rng.choice(places))
        signed = self.rng.random() < 0.7

        def run() -> Any:
            if signed:
                certificate = sign_again(card)
                if certificate is None:
                    return None
                certificate.verify()
                certificate = Certificate.from_json(json.loads(json.dumps(certificate.to_json())))
            else:
                certificate = Certificate.from_json(card)
            certificate.verify()
            return Answer.of(certificate).row(), certificate._repr_html_()

        return f"card {show_value(card, 300)}", run

    def call_release_card(self) -> Call:
        """Weight: *."""
        card = json.loads(json.dumps(self.release))
        places = [card, card["terms"]["body"], card["terms"]["body"]["mechanism"]]
        for _ in range(self.rng.choice([1, 1, 2])):
            self.spoil(self.rng.choice(places))
        signed = self.rng.random() < 0.8

        def run() -> Any:
            if not signed:
                return ReleaseCertificate.from_json(card)
            certificate = sign_release_again(card)
            if certificate is None:
                return None
            certificate.verify()
            return certificate._repr_html_()

        return f"release card {show_value(card, 300)}", run

    def spoil(self, data: Any) -> None:
        """Put something else into one place of a document."""
        place = data
        for _ in range(self.rng.choice([1, 2, 3, 4, 5])):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                return
            key = self.rng.choice(keys)
            if isinstance(place[key], dict | list) and self.rng.random() < 0.85:
                place = place[key]
                continue
            value = self.any()
            plain = type(value) in (int, float, bool, str, list, dict, type(None))
            place[key] = value if plain else str(type(value))
            return

    def call_card_text(self) -> Call:
        text = json.dumps(self.card, indent=2, ensure_ascii=False)
        at = self.rng.randrange(len(text))
        piece = self.rng.choice(
            ['"', "{", "[", "NaN", "1e999", "9" * 500, "\x00", "\ud800", ",", '"format":1,', "\\u0"]
        )
        text = text[:at] + piece + text[at + self.rng.randrange(3) :]
        path = self.folder / "card.json"

        def run() -> Any:
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            return Certificate.load(path)

        return f"card text with {show_value(piece, 20)} at {at}", run

    def call_entry_line(self) -> Call:
        text = json.dumps(self.card["entry"], sort_keys=True, separators=(",", ":"))
        at = self.rng.randrange(len(text))
        line = text[:at] + self.rng.choice(SQL) + text[at:]
        return f"entry line {show_value(line, 200)}", lambda: Entry.from_line(line)

    def call_domain(self) -> Call:
        """Weight: *."""
        column = self.rng.choice([
            [0, 1], [], ["u", "v", None], self.any(), {"edges": [0, 1, self.number()]}, {"edges": self.any()},
            {"values": self.any(), "missing": self.any()}, {"edges": [0, 1], "whole": self.any()}, [self.any()],
            [self.number(), self.number()],
        ])  # fmt: skip
        given = self.rng.choice([{self.key(): column}, {"a": column, "origin": self.any()}, self.any()])
        return f"Domain({show_value(given, 150)})", lambda: repr(Domain(given))

    def call_workload(self) -> Call:
        data = {"workload": self.text(), "order": self.any(), "columns": self.any(), "parts": self.any()}
        data |= {self.rng.choice(["questions", "column", "axes"]): self.any()}
        return f"workload({show_value(data, 150)})", lambda: workload_from_json(self.rng.choice([data, self.any()]))

    def call_command(self) -> Call:
        """The command line, in this process."""
        words = {
            "plan": ["--rows", "--asks", "--width", "--surprises", "--confidence"],
            "ask": ["--guess", "--range", "--name", "--by", "--asks", "--confidence", "--quote"],
            "verify": ["--ledger", "--head"],
            "ledger": ["--name", "--last"],
        }
        verb = self.rng.choice(sorted(words))
        given = [verb, *([str(self.folder / "none.csv"), self.sql()] if verb == "ask" else [])]
        for word in self.rng.sample(words[verb], self.rng.randrange(3)):
            given += [word, show_value(self.any(), 3000)]
        given = [word for word in given if "\ud800" not in word]
        return f"unworn {show_value(given, 200)}", lambda: _run_command(given)


def sign_again(card: Any) -> Certificate | None:
    """The card of somebody who has a key of their own: everything on it is signed, whatever it says."""
    key = Key(bytes(range(32)))
    try:
        first, entry = card["terms"], card["entry"]
        first["body"]["public"] = key.public
        sealed = Entry.seal(first["holdout"], 0, first["previous"], first["body"], key)
        answer = Entry.seal(entry["holdout"], entry["index"], sealed.hash, entry["body"], key)
    except (UnwornError, TypeError, LookupError, AttributeError):
        return None  # no card at all
    return Certificate.of(sealed, answer)


def sign_release_again(card: Any) -> ReleaseCertificate | None:
    """The same for a release."""
    key = Key(bytes(range(32)))
    try:
        first = card["terms"]
        first["body"]["public"] = key.public
        sealed = Entry.seal(first["holdout"], 0, first["previous"], first["body"], key)
        said = {name: value for name, value in card.items() if name not in ("format", "terms", "signature")}
        return ReleaseCertificate.sign(sealed, said, key)
    except (UnwornError, TypeError, LookupError, AttributeError, ValueError):
        return None  # no card at all


_MECHANISMS = ("AboveThreshold", "BoundedNoise", "Gaussian", "Laplace", "Naive", "Rounding", "SampleSplitting",
               "SparseVector", "Subsampled", "Thresholdout", "OneSample", "PrivateGuessAndCheck")  # fmt: skip


@cache
def _card_of(kind: str) -> Any:
    """A card of a mechanism, of a few rows."""
    rows, asks = 4000, 5
    chosen = {
        "AboveThreshold": {"threshold": 0.5},
        "SparseVector": {"threshold": 0.5, "tops": 2},
        "OneSample": {"flip": 0.3},
    }
    made = kinds.kinds()[kind]
    mechanism = made(**chosen[kind]) if kind in chosen else made.for_(rows=rows, asks=asks)
    holdout = Holdout({"a": np.random.default_rng(1).normal(size=rows)}, asks=asks, mechanism=mechanism)
    return json.loads(json.dumps(holdout.ask(share(col("a") > 0), 0.5).certificate.to_json()))


@cache
def _release() -> Any:
    from unworn.release import fit

    rng = np.random.default_rng(2)
    data = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 3, 300)}
    made = fit(data, 2, epsilon=1.0, domain={"a": [0, 1], "b": [0, 1, 2]})
    return json.loads(json.dumps(made.certificate.to_json()))


def _run_command(words: list[str]) -> None:
    from typer.testing import CliRunner

    from unworn.cli import app

    told = CliRunner().invoke(app, words)
    if told.exit_code == 1 or (told.exception is not None and not isinstance(told.exception, SystemExit)):
        raise AssertionError(f"exit code {told.exit_code}: {told.output[-300:]}")


def play(calls: Iterator[Call], count: int) -> list[Finding]:
    """Make so many calls; what failed otherwise than it may, and what took too long."""
    findings: list[Finding] = []
    for _, (name, call) in zip(range(count), calls, strict=False):
        began = time.process_time()
        problem = _problem(call)
        took = time.process_time() - began
        if problem is not None:
            findings.append(Finding(name, problem))
        if took > LIMIT:
            findings.append(Finding(name, f"took {took:.1f} s"))
    return findings


def _problem(call: Callable[[], Any]) -> str | None:
    silent = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(silent), redirect_stderr(silent):
            warnings.simplefilter("ignore")
            call()
    except Exception as error:  # whatever it is, it is judged
        if not is_ours(error):
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.removeprefix(PACKAGE)}:{last.lineno}"
            ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
            through = "" if not ours else f" through {ours[-1].filename.removeprefix(PACKAGE)}:{ours[-1].lineno}"
            return f"{type(error).__name__}: {str(error)[:120]} at {where}{through}"
    return None


def is_ours(error: BaseException) -> bool:
    """Whether an error was made on purpose: its kind is ours, or a statement of ours raised it."""
    if isinstance(error, UnwornError):
        return True
    if not isinstance(error, ValueError | TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not last.filename.startswith(PACKAGE) or last.lineno is None:
        return False
    return any(
        linecache.getline(last.filename, line).lstrip().startswith("raise")
        for line in range(last.lineno, max(last.lineno - 8, 0), -1)
    )
