"""Calls of everything public with arguments nobody would mean, from a seed: what a fuzzer plays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import unworn
from tests.attacks.hostile.hostile_documents import Documents
from tests.attacks.hostile.hostile_values import LONG, MECHANISMS, Model, card_of, release_card
from tests.attacks.hostile.judged_calls import Call
from unworn import Holdout, col, plan, share
from unworn import mechanisms as kinds
from unworn.basics.display import show_value
from unworn.queries import hypothesis, metric, parse
from unworn.queries.language import expression_codec
from unworn.queries.language.sql_text import parse as parse_sql
from unworn.record.answer import Answer


class Calls(Documents):
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
        self.holdout = Holdout(self.data, self.labels, train=train, ledger=None)
        self.plain = Holdout(
            {"a": rng.normal(size=rows), "b": self.data["b"], "t": self.data["t"]}, self.labels, ledger=None
        )
        noisy = {"a": rng.normal(size=400)}
        self.noisy = Holdout(noisy, rng.integers(0, 2, 400), asks=50, mechanism=kinds.BoundedNoise(), ledger=None)
        self.drawing = Holdout({"a": rng.normal(size=400)}, asks=5, mechanism=kinds.OneSample(0.3), ledger=None)
        self.answer = self.holdout.ask(share(col("a") > 0), 0.5)
        self.card = json.loads(json.dumps(self.answer.certificate.to_json()))
        self.cards = [self.card, *(card_of(kind) for kind in MECHANISMS)]
        self.release = release_card()

    def __iter__(self) -> Iterator[Call]:
        makers = [getattr(self, name) for name in sorted(dir(type(self))) if name.startswith("call_")]
        weights = [maker.__doc__.count("*") + 1 if maker.__doc__ else 1 for maker in makers]
        while True:
            self.made += 1
            if self.made % 4000 == 0:
                self._begin()
            yield self.rng.choices(makers, weights)[0]()

    # ------------------------------------------------------------------ asking

    def call_ask(self) -> Call:
        """Weight: ******."""
        question, holdout = self.question, self.which()
        told = {"guess": self.maybe(self.number), "guess_se": self.maybe(self.number), "by": self.maybe(self.text)}
        if self.rng.random() < 0.2:
            told["again"] = self.rng.choice([True, False, self.any()])
        if self.rng.random() < 0.2:
            told["noise"] = self.rng.choice([True, True, self.any()])
        return f"ask(…, {show_value(told, 150)})", lambda: holdout.ask(question(), **told)

    def call_ask_many(self) -> Call:
        """Weight: *."""
        holdout, count = self.which(), self.rng.randrange(4)
        guesses = self.rng.choice([None, [self.number() for _ in range(count)], self.any()])
        by = self.maybe(self.text)
        given = self.any() if self.rng.random() < 0.1 else None
        noise = self.rng.random() < 0.3

        def run() -> Any:
            questions = [self.question() for _ in range(count)] if given is None else given
            return holdout.ask_many(questions, guesses, by=by, noise=noise)

        return f"ask_many({count}, {show_value(guesses, 60)})", run

    def call_score(self) -> Call:
        """Weight: ****."""
        holdout, options, found = self.which(), self.options(), self.predictions()
        name = self.rng.choice(["accuracy", "accuracy", "brier", "mae", "mse", "top_k", "log_loss", self.text()])
        told = {"guess": self.maybe(self.number), "guess_se": self.maybe(self.number), "by": self.maybe(self.text)}
        told["name"] = self.maybe(self.text)
        return (
            f"score({show_value((found, name), 90)}, {show_value(told, 150)}, {show_value(options, 80)})",
            lambda: holdout.score(found, metric=name, **told, **options),
        )

    def call_compare(self) -> Call:
        """Weight: **."""
        holdout, options, first, second = self.which(), self.options(), self.predictions(), self.predictions()
        name = self.rng.choice(["accuracy", "brier", "mae", self.text()])
        told = {"guess": self.maybe(self.number), "discordance": self.maybe(self.number)}
        return (
            f"compare({show_value((first, second, name), 150)}, {show_value(told, 80)})",
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
            f"scorer({show_value((name, options), 90)})({show_value((model, labels), 80)})",
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
        return f"codec({show_value(data, 200)})", lambda: expression_codec.from_json(data)

    def call_parse(self) -> Call:
        """Weight: **."""
        tag = self.rng.choice(["share", "mean", "metric", "difference", "hypothesis", "gradient", "moment", self.any()])
        data: Any = {"ask": tag, "where": self.tree(), "of": self.tree(), "range": [self.number(), self.number()]}
        data |= {"metric": self.text(), "predictions": self.any(), "level": self.number(), "above": self.number()}
        return f"parse({show_value(data, 200)})", lambda: parse(data)

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
        for name in self.rng.sample([*names, "practice", "uses", "use"], self.rng.randrange(3)):
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
        kind = self.rng.choice(sorted(set(kinds.kinds()) - {"Subsampled"}))  # which searches for two seconds, by design
        told = {"rows": self.rng.choice([100, self.any()]), "asks": self.rng.choice([10, self.any()])}
        told |= {"width": self.maybe(self.any)}
        return f"{kind}.for_({show_value(told, 150)})", lambda: kinds.kinds()[kind].for_(**told)
