"""Arguments of a fuzzer: numbers, texts, expressions, SQL and predictions that hardly anybody would mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import unworn
from tests.attacks.hostile.hostile_values import LONG, NUMBERS, SQL, TEXTS, Model
from unworn import Holdout, col, lit, mean, share
from unworn.queries import metric


class Arguments:
    """Arguments drawn from a seed: some of them what is meant, so that the others get their turn."""

    rng: Random
    holdout: Holdout
    plain: Holdout
    noisy: Holdout
    drawing: Holdout
    folder: Path

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
        if not isinstance(left, unworn.queries.language.expressions.Expression):
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
            np.zeros((size, 2)), np.zeros((size, 0)), Model(1), Model(0.5), Model("u"), Model(np.nan), Model,
            np.full(size, 2.0**60), np.array(["\ud800"] * size, object), [None] * size, [10**400] * size,
            np.zeros(size, "datetime64[s]"), np.zeros(size, complex), range(size), {"a": 1}, self.any(),
        ])  # fmt: skip

    def options(self) -> dict[str, Any]:
        if self.rng.random() < 0.7:
            return {}
        name = self.rng.choice(["range", "positive", "k", "classes", "weights", "shares", "nonsense"])
        ends = (self.number(), self.number())
        table = {self.rng.choice([0, 1, "u", 0.5, True, None]): self.number() for _ in range(2)}
        return {name: self.rng.choice([self.any(), ends, list(ends), table, [0, 1], ["u", "v"], [0, 0], 1])}

    def tree(self, depth: int = 5) -> Any:
        if not depth or self.rng.random() < 0.1:
            return self.any()
        tag = self.rng.choice(
            ["col", "lit", "date", "gt", "and", "add", "in", "between", "not", "fill", "is_null", "neg"]
        )
        if tag in ("col", "lit", "date"):
            return [tag, self.any()]
        return [tag, *(self.tree(depth - 1) for _ in range(self.rng.choice([0, 1, 2, 2, 3])))]
