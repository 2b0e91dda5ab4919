"""What one of several uses can see: its own rows, and nothing of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.holdout.uses.support import QUESTION, ROWS, USES, Sign, origin, people
from unworn import Holdout, col, mean, share
from unworn.errors import Unaskable
from unworn.ledger import MemoryStore
from unworn.mechanisms import Gaussian, GuessAndCheck, Naive, Rounding, SampleSplitting
from unworn.noise import Stream
from unworn.queries import (
    FromModel,
    Query,
    accuracy,
    balanced_accuracy,
    brier,
    compare,
    function,
    log_loss,
    mae,
    statistic,
    top_k,
)
from unworn.rows import Sample
from unworn.rows.memory import row_passes
from unworn.rows.memory.row_split import restrict_rows


def same(one: Any, two: Any) -> bool:
    return bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(two, dtype=object)))


FORMS: list[Any] = [
    lambda frame: frame,
    lambda frame: pl.from_pandas(frame),
    lambda frame: pl.from_pandas(frame).to_arrow(),
    lambda frame: {name: frame[name].to_numpy() for name in frame},
]


@pytest.mark.parametrize("form", FORMS, ids=["pandas", "polars", "arrow", "dictionary"])
@pytest.mark.parametrize("groups", [None, "team", "town"])
@pytest.mark.parametrize("chunk", [row_passes.CHUNK, 64])
def test_a_part_answers_as_a_sample_of_its_rows_alone(
    form: Any, groups: str | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_passes, "CHUNK", chunk)
    frame = people()
    frame["town"] = frame["town"].fillna("w") if groups == "town" else frame["town"]
    whole = Sample.read(form(frame), "y", groups=groups)
    span = slice(0, 2) if groups == "town" else slice(3, 31 if groups else 170)
    part = whole.restricted(b"k" * 32, span)
    rows = part.origin
    assert rows is not None
    assert part.rows < whole.rows
    alone = Sample.read(form(frame.iloc[rows]), "y", groups=groups, schema=whole.schema)
    assert (part.size, part.rows, part.schema) == (alone.size, alone.rows, alone.schema)
    rng = np.random.default_rng(2)
    guesses, scores = rng.integers(0, 2, ROWS), rng.dirichlet([1, 1], ROWS)
    numbers = rng.random(ROWS)

    def questions(cut: Any) -> list[Query]:
        hard, other, soft, number = (values[cut] for values in (guesses, 1 - guesses, scores, numbers))
        return [
            QUESTION,
            share(col("town") == "y"),
            share(col("word").isin(["w3-0", "w7-0", "w100-0"])),
            share(col("b").is_null()),
            mean(col("b").fill(0), range=(-1, 1)),
            accuracy(hard),
            balanced_accuracy(hard, shares={0: 0.5, 1: 0.5}),
            brier(number),
            log_loss(soft, range=(0, 3)),
            mae(number, range=(0, 1)),
            top_k(soft, k=1),
            compare(accuracy(hard), accuracy(other)),
            compare(brier(number), brier(soft[:, 0])),
        ]

    code: list[Query] = [
        accuracy(FromModel(Sign(), name="sign")),
        function(lambda columns: columns["a"] ** 2, range=(0, 1), name="square"),
        compare(accuracy(FromModel(Sign(), name="sign")), accuracy(FromModel(Sign(), name="same"))),
    ]
    everywhere, cut = questions(slice(None)), questions(rows)
    for sample in (part, alone):
        sample.seal(b"s" * 32)
    for where in (None, (0, 2), (1, 2)):
        assert same(part.statistics(everywhere + code, where), alone.statistics(cut + code, where))
    assert same(part.means(everywhere[:5]), alone.means(cut[:5]))
    assert same(part.differences(everywhere[-2:]), alone.differences(cut[-2:]))
    if groups is None:
        assert same(part.counts([everywhere[5]]), [np.sum(guesses[rows] == frame["y"].to_numpy()[rows])])
    streams = [[Stream(bytes(32), "q", place) for place in range(len(cut))] for _ in range(2)]
    assert part.rounded(everywhere, streams[0]) == alone.rounded(cut, streams[1])
    for place, (one, two) in enumerate(zip(everywhere, cut, strict=True)):
        few = min(part.size, 20)
        told = [
            sample.drawn(query, few, Stream(bytes(32), "d", place), replace)
            for sample, query in ((part, one), (alone, two))
            for replace in (False, True)
        ]
        assert told[:2] == told[2:]
    spread = statistic(lambda columns: float(np.nanstd(columns["b"])), range=(0, 9), sensitivity=1, name="spread")
    assert part.statistic(spread) == alone.statistic(spread)


def test_no_word_or_mark_of_other_rows_is_left() -> None:
    frame = people()
    whole = Sample.read(frame, "y", groups=frame["word"])
    part = whole.restricted(b"k" * 32, slice(0, 50))
    assert part.origin is not None
    inside = frame.iloc[part.origin]
    for name, column in part.columns.items():
        assert len(column.values) == 50
        assert not column.values.flags.writeable
        if column.vocabulary is not None:
            assert column.vocabulary.tolist() == list(dict.fromkeys(inside[name].dropna()))
    assert part.groups is not None
    assert set(part.groups.vocabulary) == set(inside["word"])  # type: ignore[arg-type]
    nothing = whole.emptied()
    assert nothing.rows == 0
    assert all(len(column.values) == 0 for column in nothing.columns.values())
    assert nothing.columns["word"].vocabulary is not None
    assert nothing.columns["word"].vocabulary.tolist() == [""]
    assert len(nothing.features) == 0
    fewer = restrict_rows(part, np.arange(10))
    assert fewer.origin is not None
    assert fewer.size == 10
    assert fewer.length == whole.rows


@pytest.mark.parametrize("form", [lambda X: X, lambda X: X.copy(order="F"), lambda X: pl.DataFrame(X), pd.DataFrame])
def test_models_are_shown_the_part_alone(store: MemoryStore, form: Any) -> None:
    X = np.arange(300.0).reshape(100, 3) ** 1.5
    y = np.arange(100) % 2
    seen: list[Any] = []

    class Spy:
        def predict(self, rows: Any) -> Any:
            seen.append(np.asarray(rows))
            return np.zeros(len(rows), dtype=int)

    parts: dict[str, Holdout] = {}
    for use in USES:
        parts[use] = Holdout(form(X), y, ledger=store, uses=USES, use=use, mechanism=Naive())
        told = parts[use].score(Spy(), name=f"spy {use}")
        assert told.value == np.mean(y[origin(parts[use])] == 0)
        assert np.array_equal(seen[-1], X[origin(parts[use])])
    assert len(seen) == 2


def test_a_fitted_model_of_scikit_learn(store: MemoryStore) -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    holdout = Holdout(X, y, ledger=store, uses=USES, mechanism=Naive())
    cut = origin(holdout)
    assert holdout.score(model).value == pytest.approx(model.score(X[cut], y[cut]), abs=1e-12)
    assert holdout.score(model.predict(X)).value == pytest.approx(model.score(X[cut], y[cut]), abs=1e-12)


def test_arrays_are_of_all_rows(store: MemoryStore) -> None:
    holdout = Holdout(people(), "y", ledger=store, uses=USES)
    for length in (280, ROWS - 1):
        with pytest.raises(Unaskable, match=f"there are {length} predictions for {ROWS} rows"):
            holdout.score(np.zeros(length, dtype=int))
    assert holdout.meter.asked == 0
    text = Holdout(people(), "town", ledger=MemoryStore(), uses=USES, mechanism=Naive())
    guess = np.random.default_rng(0).choice(["x", "y", "z"], ROWS)
    right = (people()["town"].to_numpy() == guess)[origin(text)]
    assert text.score(guess).value == np.mean(right)


@pytest.mark.parametrize(
    "terms",
    [
        {"mechanism": GuessAndCheck()},
        {"mechanism": Naive()},
        {"mechanism": Rounding(), "asks": 20},
        {"mechanism": SampleSplitting(), "asks": 4},
        {"mechanism": Gaussian(), "asks": 20},
    ],
    ids=lambda terms: type(terms["mechanism"]).__name__,
)
def test_a_holdout_with_a_part_is_a_holdout_of_its_rows(terms: dict[str, Any]) -> None:
    """The same key on both sides gives the same noise, and so the same answers to the last bit."""
    frame = people(seed=8)
    del frame["town"]
    guesses = np.random.default_rng(3).integers(0, 2, ROWS)
    shared = Holdout(frame, "y", ledger=MemoryStore(), uses=USES, **terms)
    cut = origin(shared)
    alone = Holdout(frame.iloc[cut].reset_index(drop=True), "y", ledger=MemoryStore(), **terms)
    secret = shared._desk.key.derive("unworn/parts")  # type: ignore[union-attr]
    alone._sample.seal(secret)
    alone._desk.noise_key = shared._desk.noise_key
    middle = mean(col("a").fill(0), range=(-2, 2))
    pairs: list[tuple[Query, Query]] = [
        (QUESTION, QUESTION),
        (accuracy(guesses), accuracy(guesses[cut])),
        (middle, middle),
    ]
    for first, second in pairs:
        if isinstance(terms["mechanism"], Gaussian):  # its noise also depends on the ledger's head
            told = [
                sample.rounded([query], [Stream(bytes(32), "n")])
                for sample, query in ((shared._sample, first), (alone._sample, second))
            ]
            assert told[0] == told[1]
            shared.ask(first, 0.5)
        else:
            one, two = shared.ask(first, 0.5), alone.ask(second, 0.5)
            assert (one.value, one.low, one.high, one.source) == (two.value, two.low, two.high, two.source)
    shared.verify()


def test_the_intervals_of_one_use_hold_for_questions_chosen_on_another() -> None:
    """Tuned on exact values of one part, asked of the other. False alarm 1e-9, the holdouts' own."""
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2, (300, 200))
    bits[:, -1] = rng.integers(0, 2, 300)
    frame = pd.DataFrame(bits, columns=[f"c{place}" for place in range(200)])
    store = MemoryStore()
    seen = Holdout(frame, "c199", ledger=store, uses={"asks": 0.5, "look": 0.5}, use="look", mechanism=Naive())
    asked = Holdout(frame, "c199", ledger=store, uses={"asks": 0.5, "look": 0.5}, confidence=1 - 1e-9, asks=5)
    gains = [seen.ask(share(col(f"c{place}") == col("c199"))).value - 0.5 for place in range(199)]
    chosen = np.argsort(gains)[-25:]
    votes = frame.iloc[:, chosen].mean(axis=1).to_numpy() > 0.5
    assert seen.score(votes.astype(int)).value > 0.65  # far off: these rows were looked at
    told = asked.score(votes.astype(int), 0.5)
    assert told.low <= 0.5 <= told.high
    assert told.certificate.numbers["rows"] == 150
