"""Several uses of the same rows: each sees its own part and no other, and all agree on who has which rows."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from typer.testing import CliRunner

from unworn import Certificate, Holdout, col, mean, share
from unworn.errors import LedgerError, Mismatch, ReadOnly, Tampered, Unaskable
from unworn.holdout.opening import Wanted, open_rows
from unworn.holdout.remote import RemoteHoldout
from unworn.holdout.uses import check_uses
from unworn.ledger import GENESIS, Entry, Key, MemoryStore
from unworn.ledger.backup import export, restore
from unworn.ledger.seeded import SeededStore
from unworn.ledger.sqlite import SQLiteStore
from unworn.mechanisms import Gaussian, GuessAndCheck, Naive, Rounding, SampleSplitting
from unworn.mechanisms.transcript import Terms
from unworn.mechanisms.uses import Uses
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
from unworn.queries.schema import ColumnType, Schema
from unworn.sample import Sample, passes
from unworn.sample.parting import restricted, shuffled

ROWS = 400
USES = {"asks": 0.7, "release": 0.3}
THREE = {"asks": 0.5, "release": 0.3, "board": 0.2}
QUESTION = share(col("a") > 0)


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "town": rng.choice(np.array(["x", "y", "z", None], dtype=object), rows),
            "born": rng.integers(0, 9_999, rows).astype("datetime64[D]"),
            "word": [f"w{place}-{seed}" for place in rng.permutation(rows)],
            "team": rng.integers(0, rows // 8, rows),
            "y": rng.integers(0, 2, rows),
        }
    )


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def origin(holdout: Holdout) -> list[int]:
    places = holdout._sample.origin
    assert places is not None
    return list(places.tolist())


class Sign:
    def predict(self, X: Any) -> Any:
        return (np.asarray(X["a"]) > 0).astype(int)


# ---------------------------------------------------------------- what is declared


def test_shares_are_kept_to_nine_decimals_and_have_no_order() -> None:
    assert Uses.of({"release": 1 - 0.7, "asks": 0.7}, "asks") == Uses.of(USES, "asks")
    thirds = Uses.of({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, "b")
    assert Uses.from_json(json.loads(json.dumps(thirds.to_json()))) == thirds
    assert sum(thirds.sizes(10**12).values()) == 10**12


@given(
    st.lists(st.integers(1, 1000), min_size=2, max_size=6),
    st.integers(10_000, 10**13),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_sizes_are_all_the_units_and_near_the_shares(weights: list[int], units: int) -> None:
    shares = {f"u{place}": weight / sum(weights) for place, weight in enumerate(weights)}
    told = [Uses.of(shares, use) for use in shares]
    sizes = told[0].sizes(units) if min(shares.values()) * units > 3 else {}
    for name, size in sizes.items():
        assert abs(size - shares[name] * units) <= 1 + 2e-9 * units * len(weights)
    if sizes:
        assert sum(sizes.values()) == units
        spans = sorted((uses.span(units).start, uses.span(units).stop) for uses in told)
        assert (spans[0][0], spans[-1][1]) == (0, units)
        assert all(one[1] == two[0] for one, two in pairwise(spans))


@pytest.mark.parametrize(
    ("uses", "use", "why"),
    [
        ({"asks": 1.0}, "asks", "two or more"),
        ({}, "asks", "two or more"),
        ([("asks", 0.5), ("release", 0.5)], "asks", "two or more"),
        ({"asks": 0.7, "release": 0.2}, "asks", "sum to 1, not to 0.9"),
        ({"asks": 1.2, "release": -0.2}, "asks", "above 0 and below 1"),
        ({"asks": float("nan"), "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": True, "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": "0.7", "release": 0.3}, "asks", "above 0 and below 1"),
        ({"asks": 0.7, 3: 0.3}, "asks", "named by text"),
        ({"asks": 0.7, "\ud800": 0.3}, "asks", "named by text"),
        ({"asks": 0.7, " ": 0.3}, "asks", "named by text"),
        (USES, "board", "none of the declared uses: asks, release"),
        (None, "release", "declare all"),
    ],
)
def test_what_cannot_be_declared(store: MemoryStore, uses: Any, use: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Holdout(people(), "y", ledger=store, uses=uses, use=use)
    assert store.holdouts() == {}


def test_a_use_of_fewer_than_two_rows(store: MemoryStore) -> None:
    with pytest.raises(Unaskable, match=r"use 'release' would get 1 of 400 units") as caught:
        Holdout(people(), "y", ledger=store, uses={"asks": 0.9985, "release": 0.0015})
    assert caught.value.numbers == {"use": "release", "size": 1, "units": 400}
    assert store.holdouts() == {}


# ---------------------------------------------------------------- who gets which rows


def test_parts_are_disjoint_and_cover_all_rows(store: MemoryStore) -> None:
    parts = [origin(Holdout(people(), "y", ledger=store, uses=THREE, use=use)) for use in ("board", "asks", "release")]
    assert sorted(chain(*parts)) == list(range(ROWS))
    assert [len(part) for part in parts] == [80, 200, 120]
    firsts = [first.body["uses"]["first"] for first in store.holdouts().values()]
    assert firsts == [None, next(iter(store.holdouts())), next(iter(store.holdouts()))]


def test_a_restart_and_another_order_repeat_the_parts(tmp_path: Path) -> None:
    frame, ledger = people(), tmp_path / "ledger.db"
    parts = []
    for _ in range(2):
        for use in USES:
            holdout = Holdout(frame, "y", ledger=ledger, uses=USES, use=use)
            parts.append(origin(holdout))
            holdout.close()
    assert parts[:2] == parts[2:]
    mixed = frame.sample(frac=1, random_state=3)[["town", "y", "word", "a", "born", "team", "b"]]
    for use, part in zip(USES, parts, strict=False):
        holdout = Holdout(mixed, "y", ledger=ledger, uses=USES, use=use)
        assert set(mixed["word"].iloc[origin(holdout)]) == set(frame["word"].iloc[part])
        with pytest.raises(Unaskable, match="another order"):
            holdout.score(np.zeros(ROWS, dtype=int))
        holdout.close()


def test_a_second_use_may_come_in_another_order(store: MemoryStore) -> None:
    first = Holdout(people(), "y", ledger=store, uses=USES)
    mixed = people().sample(frac=1, random_state=3)
    second = Holdout(mixed, "y", ledger=store, uses=USES, use="release", mechanism=Naive())
    words = set(people()["word"].iloc[origin(first)]), set(mixed["word"].iloc[origin(second)])
    assert words[0].isdisjoint(words[1])
    assert len(words[0] | words[1]) == ROWS
    guess = np.random.default_rng(1).integers(0, 2, ROWS)  # one for each row in the order in which this use was sealed
    right = (guess == mixed["y"].to_numpy())[origin(second)]
    assert second.score(guess).value == np.mean(right)


def test_every_row_falls_into_every_part_as_often() -> None:
    """Equal rows too. False alarms: 20 rows, 2e-9 each."""
    rng, rows, seals = np.random.default_rng(5), 20, 400
    times, values = np.zeros(rows), np.r_[np.full(rows // 2, 1.5), np.arange(rows // 2)]
    for _ in range(seals):
        times[origin(Holdout({"a": values}, ledger=SeededStore(rng), uses={"asks": 0.3, "rest": 0.7}))] += 1
    assert times.sum() == seals * 6
    assert all(binom.cdf(count, seals, 0.3) > 1e-9 and binom.sf(count - 1, seals, 0.3) > 1e-9 for count in times)


def test_which_rows_come_together_does_not_depend_on_values() -> None:
    """Neighbours in the canonical order are no likelier to share a part. False alarm 2e-9."""
    rng, seals, together = np.random.default_rng(6), 400, 0
    values = np.array([7.0, 7.0, 1.0, 2.0])
    for _ in range(seals):
        part = origin(Holdout({"a": values}, ledger=SeededStore(rng), uses={"asks": 0.5, "rest": 0.5}))
        together += {0, 1} <= set(part)
    assert binom.cdf(together, seals, 1 / 6) > 1e-9
    assert binom.sf(together - 1, seals, 1 / 6) > 1e-9


def test_groups_stay_together(store: MemoryStore) -> None:
    frame = people()
    groups = frame["team"].nunique()
    parts = {use: Holdout(frame, "y", groups="team", ledger=store, uses=USES, use=use) for use in USES}
    teams = {use: set(frame["team"].iloc[origin(holdout)]) for use, holdout in parts.items()}
    assert teams["asks"].isdisjoint(teams["release"])
    assert len(teams["asks"]) + len(teams["release"]) == groups
    assert {use: len(team) for use, team in teams.items()} == {use: parts[use].size for use in USES}
    assert parts["asks"].size == int(groups * 0.7)
    assert sorted(origin(parts["asks"]) + origin(parts["release"])) == list(range(ROWS))
    assert parts["asks"].terms.rows == ROWS  # how many rows lie in a part of groups is not told
    with pytest.raises(Mismatch, match=r"in other groups|schema"):
        Holdout(frame, "y", ledger=store, uses=USES)
    with pytest.raises(Mismatch, match="in other groups"):
        Holdout(frame, "y", ledger=store, uses={**USES}, use="release", groups=frame["team"] // 2)
    assert len(store.holdouts()) == 2


@pytest.mark.parametrize("groups", [None, np.arange(ROWS) // 2])
def test_an_unsealed_use_of_other_groups(store: MemoryStore, groups: Any) -> None:
    Holdout(people(), "y", groups="team", ledger=store, uses=USES)
    with pytest.raises(Mismatch, match="in other groups"):
        Holdout(people(), "y", groups=groups, ledger=store, uses=USES, use="release")
    assert len(store.holdouts()) == 1


# ---------------------------------------------------------------- on which terms


def test_each_use_has_its_own_terms(store: MemoryStore) -> None:
    first = Holdout(people(), "y", ledger=store, uses=USES, name="people", asks=20)
    second = Holdout(
        people(), "y", ledger=store, uses=USES, use="release", mechanism=Rounding(), confidence=0.9, asks=5
    )
    assert (first.name, second.name, first.size, second.size) == ("people", "people-release", 280, 120)
    assert first.id != second.id
    first.ask(QUESTION, 0.5)
    assert (first.meter.asked, second.meter.asked) == (1, 0)
    again = Holdout(people(), "y", ledger=store, uses={"release": 0.3, "asks": 0.7}, asks=20)
    assert (again.id, again.meter.asked) == (first.id, 1)
    for terms, named in (
        ({"asks": 21}, "asks"),
        ({"asks": 20, "confidence": 0.9}, "confidence"),
        ({"asks": 20, "mechanism": Naive()}, "mechanism"),
        ({"asks": 20, "name": "other"}, "name"),
        ({"asks": 20, "schema": {"a": "number"}}, "schema"),
    ):
        with pytest.raises(Mismatch, match=f"{named}: sealed with") as caught:
            Holdout(people(), "y", ledger=store, uses=USES, **terms)
        assert caught.value.numbers["differing"] == [named]
    assert len(store.holdouts()) == 2
    first.verify()
    second.verify()


@pytest.mark.parametrize("uses", [None, {"asks": 0.6, "release": 0.4}, {"asks": 0.7, "board": 0.3}, THREE])
@pytest.mark.parametrize("name", [None, "people", "fresh"])
def test_other_uses_or_none(store: MemoryStore, uses: Any, name: str | None) -> None:
    Holdout(people(), "y", ledger=store, uses=USES, name="people")
    with pytest.raises(Mismatch, match=r"uses: sealed with \{'asks': 0.7, 'release': 0.3\}, opened with ") as caught:
        Holdout(people(), "y", ledger=store, uses=uses, name=name)
    assert caught.value.numbers["differing"] == ["uses"]
    if uses is not None:
        with pytest.raises(Mismatch, match="uses: sealed with"):
            Holdout(people(), "y", ledger=store, uses=uses, use=next(use for use in uses if use != "asks"))
    assert len(store.holdouts()) == 1


def test_rows_sealed_for_one_use_alone_have_no_other(store: MemoryStore) -> None:
    Holdout(people(), "y", ledger=store)
    for use in USES:
        with pytest.raises(Mismatch, match=r"uses: sealed with None, opened with \{'asks': 0.7"):
            Holdout(people(), "y", ledger=store, uses=USES, use=use)
    assert len(store.holdouts()) == 1


def test_names_are_each_uses_own(store: MemoryStore) -> None:
    Holdout(people(), "y", ledger=store, uses=USES, name="people")
    with pytest.raises(Mismatch, match="or to another use of these"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", name="people")
    other = Holdout({"a": np.arange(7.0) ** 2}, ledger=store, name="people-release")
    second = Holdout(people(), "y", ledger=store, uses=USES, use="release")
    assert (other.name, second.name) == ("people-release", "people-release-2")
    with pytest.raises(Mismatch, match="name: sealed with"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", name="people")


def test_other_and_borrowed_rows(store: MemoryStore) -> None:
    first = Holdout(people(), "y", ledger=store, uses=USES)
    other = Holdout(people(seed=1), "y", ledger=store, uses={"asks": 0.5, "release": 0.5})
    assert first.id != other.id
    Holdout(people(seed=1), "y", ledger=store, uses={"asks": 0.5, "release": 0.5}, use="release")
    Holdout(people(), "y", ledger=store, uses=USES, use="release")
    for use in USES:
        with pytest.raises(Mismatch, match="second budget"):
            Holdout(people().assign(more=1.0), "y", ledger=store, uses=USES, use=use)
        with pytest.raises(Mismatch, match="second budget"):  # a part of the rows' columns is no other rows
            Holdout(people()[["a", "b", "y"]], "y", ledger=store, uses=USES, use=use)
    assert len(store.holdouts()) == 4


def test_a_plan_that_its_part_cannot_keep_seals_nothing(store: MemoryStore) -> None:
    with pytest.raises(ValueError, match="cannot be cut into"):
        Holdout(people(), "y", ledger=store, uses=USES, use="release", mechanism=SampleSplitting(), asks=121)
    assert store.holdouts() == {}
    Holdout(people(), "y", ledger=store, uses=USES, use="release", mechanism=SampleSplitting(), asks=120)


def test_a_use_may_have_no_labels(store: MemoryStore) -> None:
    """A release reads the labels as a column like any other."""
    asks = Holdout(people(), "y", ledger=store, uses=USES)
    opened = open_rows(Sample.read(people()), store, Wanted(None, Naive(), 0.95, None, Uses.of(USES, "release")))
    assert opened.transcript.terms.schema.target is None
    assert opened.rows.origin is not None
    assert set(opened.rows.origin.tolist()) == set(range(ROWS)) - set(origin(asks))
    assert (opened.rows.size, opened.rows.length, opened.reordered) == (120, ROWS, False)
    assert opened.key == store.key(opened.transcript.first.holdout)


# ---------------------------------------------------------------- what a use can see


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
@pytest.mark.parametrize("chunk", [passes.CHUNK, 64])
def test_a_part_answers_as_a_sample_of_its_rows_alone(
    form: Any, groups: str | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "CHUNK", chunk)
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
    with pytest.raises(TypeError, match="parted no further"):
        restricted(part, shuffled(part, b"k" * 32, "uses"))


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
    alone._desk._noise = shared._desk._noise
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


# ---------------------------------------------------------------- keys


def lose(tmp_path: Path, holdout: str) -> Path:
    return Path(shutil.move(tmp_path / "ledger.db.keys" / f"{holdout}.key", tmp_path / "lost.key"))


def test_without_the_first_key_every_use_is_read_only(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first, second = (Holdout(people(), "y", ledger=ledger, uses=THREE, use=use) for use in ("asks", "release"))
    told = {"asks": first.ask(QUESTION, 0.5), "release": second.ask(QUESTION, 0.5)}
    first.close()
    second.close()
    kept = lose(tmp_path, first.id)
    for use, answer in told.items():
        reading = Holdout(people(), "y", ledger=ledger, uses=THREE, use=use)
        assert reading.read_only
        assert reading.size == (200 if use == "asks" else 120)
        assert reading._sample.rows == 0  # nobody can tell which are its rows, so it holds none
        assert reading.ask(QUESTION) == answer
        assert "share" in repr(reading)
        with pytest.raises(ReadOnly, match="Bring the key back"):
            reading.ask("a > 1", 0.5)
        with pytest.raises(ReadOnly, match="Bring the key back"):
            reading.score(np.zeros(ROWS, dtype=int))
        reading.verify()
        reading.close()
    with pytest.raises(ReadOnly, match="which rows each use gets"):
        Holdout(people(), "y", ledger=ledger, uses=THREE, use="board")
    with pytest.raises(Mismatch, match="uses: sealed with"):
        Holdout(people(), "y", ledger=ledger)
    shutil.move(kept, tmp_path / "ledger.db.keys" / f"{first.id}.key")
    third = Holdout(people(), "y", ledger=ledger, uses=THREE, use="board")
    assert not third.read_only
    assert len(third._desk.store.holdouts()) == 3
    third.close()


def test_without_its_own_key_a_later_use_is_read_only_and_not_sealed_again(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    first, second = (Holdout(people(), "y", ledger=ledger, uses=USES, use=use) for use in USES)
    answer = second.ask(QUESTION, 0.5)
    first.close()
    second.close()
    lose(tmp_path, second.id)
    reading = Holdout(people(), "y", ledger=ledger, uses=USES, use="release")
    assert (reading.id, reading.read_only) == (second.id, True)
    assert reading.ask(QUESTION) == answer
    with pytest.raises(ReadOnly):
        reading.ask("a > 1", 0.5)
    asking = Holdout(people(), "y", ledger=ledger, uses=USES)
    asking.ask("a > 1", 0.5)
    other = Holdout(people(seed=3), "y", ledger=ledger)  # as many rows; but the family's rows are known, and others
    assert len(other._desk.store.holdouts()) == 3
    for holdout in (reading, asking, other):
        holdout.close()


def test_without_any_key(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for use in USES:
        Holdout(people(), "y", ledger=ledger, uses=USES, use=use, name=use).close()
    shutil.rmtree(tmp_path / "ledger.db.keys")
    for terms in ({}, {"uses": USES}, {"uses": USES, "name": "fresh"}):
        with pytest.raises(Mismatch, match=r"key of holdout '(asks|release)' is missing, and these 400 rows"):
            Holdout(people(), "y", ledger=ledger, **terms)
    with pytest.raises(Mismatch, match="uses: sealed with"):
        Holdout(people(), "y", ledger=ledger, name="asks")
    with pytest.raises(Mismatch, match="use: sealed with 'asks', opened with 'release'"):
        Holdout(people(), "y", ledger=ledger, name="asks", uses=USES, use="release")
    reading = Holdout(people(), "y", ledger=ledger, name="release", uses=USES, use="release")
    assert (reading.name, reading.read_only, reading._sample.rows) == ("release", True, 0)
    reading.close()
    assert not (tmp_path / "ledger.db.keys").exists()
    shutil.rmtree(tmp_path / "ledger.db.keys", ignore_errors=True)
    other = Holdout(people(seed=1).iloc[:280], "y", ledger=ledger)  # as many as a part, but not as the whole
    assert not other.read_only
    other.close()


# ---------------------------------------------------------------- two at once

RACER = """
import pickle, sys
import unworn.holdout.opening as opening
from unworn import Holdout
path, ledger, use, digit = sys.argv[1:]
seal = opening._seal
def wait_and_seal(*args):
    print("ready", flush=True)
    sys.stdin.readline()
    opening._seal = seal
    return seal(*args)
opening._seal = wait_and_seal
token = opening.secrets.token_hex
opening.secrets.token_hex = lambda size: digit + token(size)[1:]
with open(path, "rb") as file:
    rows = pickle.load(file)
holdout = Holdout(rows, ledger=ledger, uses={"asks": 0.7, "release": 0.3}, use=use)
print(holdout.id, *holdout._sample.origin.tolist(), flush=True)
holdout.close()
"""


def race(folder: Path, digit: str, use: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RACER, str(folder / "rows.pickle"), str(folder / "ledger.db"), use, digit]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("uses", "digits"), [(("asks", "release"), "f0"), (("release", "release"), "0f")])
def test_two_processes_seal_at_once(tmp_path: Path, uses: tuple[str, str], digits: str) -> None:
    """Both looked, both found nothing: they must end up with one family, and one holdout for each use."""
    # Arrays: a process that reads them imports no library of frames.
    rows = {name: column.to_numpy() for name, column in people().items()}
    (tmp_path / "rows.pickle").write_bytes(pickle.dumps(rows))
    SQLiteStore(tmp_path / "ledger.db").close()
    racers = [race(tmp_path, digit, use) for digit, use in zip(digits, uses, strict=True)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [racer.communicate(timeout=120)[0].split() for racer in racers]
    ids, parts = [one[0] for one in told], [set(map(int, one[1:])) for one in told]
    store = SQLiteStore(tmp_path / "ledger.db")
    known = {holdout: Terms.from_body(first.body) for holdout, first in store.holdouts().items()}
    store.close()
    check_uses(known)
    assert set(known) == set(ids)
    assert sum(terms.first is None for terms in known.values()) == 1
    if uses[0] == uses[1]:
        assert ids[0] == ids[1]
        assert parts[0] == parts[1]
    else:
        assert ids[0] != ids[1]
        assert sorted([*parts[0], *parts[1]]) == list(range(ROWS))


def test_the_first_use_comes_in_between(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked, found nothing, and meanwhile another use and then this one were sealed."""
    from unworn.holdout import opening

    seal = opening._seal
    made: list[Holdout] = []

    def late(*arguments: Any) -> None:
        monkeypatch.setattr(opening, "_seal", seal)
        made.extend(Holdout(people(), "y", ledger=store, uses=THREE, use=use) for use in ("board", "asks"))
        seal(*arguments)

    monkeypatch.setattr(opening, "_seal", late)
    holdout = Holdout(people(), "y", ledger=store, uses=THREE)
    assert holdout.id == made[1].id
    assert holdout.terms.first == made[0].id
    assert len(store.holdouts()) == 2


def test_backups_that_were_sealed_apart_are_found_out(tmp_path: Path) -> None:
    """Two ledgers, one of them copied before the second use was sealed in each: brought together, nothing is asked."""
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    Holdout(people(), "y", ledger=one, uses=USES).close()
    shutil.copy(one, two)
    shutil.copytree(tmp_path / "one.db.keys", tmp_path / "two.db.keys")
    for place in (one, two):
        Holdout(people(), "y", ledger=place, uses=USES, use="release").close()
    stores = [SQLiteStore(place) for place in (one, two)]
    export(stores[1], tmp_path / "backup.jsonl")
    restore(tmp_path / "backup.jsonl", stores[0])
    for use in USES:
        with pytest.raises(Tampered, match="both use 'release' of the same rows"):
            Holdout(people(), "y", ledger=stores[0], uses=USES, use=use)
    for store in stores:
        store.close()


def test_rows_sealed_twice_are_found_out(tmp_path: Path) -> None:
    stores = [SQLiteStore(tmp_path / name) for name in ("one.db", "two.db")]
    Holdout(people(), "y", ledger=stores[0], uses=USES, name="one")
    twin = Holdout(people(), "y", ledger=stores[1], name="two")
    export(stores[1], tmp_path / "backup.jsonl")
    restore(tmp_path / "backup.jsonl", stores[0])
    key = stores[1].key(twin.id)
    assert key is not None
    stores[0].keep_key(twin.id, key)
    for terms in ({}, {"uses": USES}, {"uses": USES, "use": "release"}):
        with pytest.raises(Mismatch, match="sealed twice in this ledger"):
            Holdout(people(), "y", ledger=stores[0], **terms)
    for store in stores:
        store.close()


# ---------------------------------------------------------------- what is recorded, shown and carried


def test_ledgers_without_uses_are_written_as_before() -> None:
    """The hash is that of format 3, whatever else entry 0 may come to say where uses are declared."""
    key = Key(bytes(32))
    terms = Terms(
        name="people",
        size=10,
        rows=10,
        schema=Schema({"a": ColumnType("number", True)}, None, False),
        digest="d" * 64,
        grouping="g" * 64,
        order="o" * 64,
        columns={"a": ("1" * 64, "2" * 64)},
        mechanism=GuessAndCheck(),
        confidence=0.95,
        asks=7,
        public=key.public,
        kept="memory",
        version="0.0",
    )
    entry = Entry.seal("ab" * 16, 0, GENESIS, terms.to_body(), key)
    assert entry.hash == "071a3f5991d0a3c3eeba15542272d64b530adff3066cc84757d848bd887766bd"
    assert Terms.from_body(entry.body) == terms
    assert terms.whole == 10


def test_terms_with_uses_are_read_back_or_refused() -> None:
    holdout = Holdout(people(), "y", uses=USES)
    body = holdout._desk.transcript.first.body
    assert body["format"] == 4
    assert body["uses"] == {"shares": USES, "use": "asks", "units": ROWS, "first": None}
    assert Terms.from_body(body) == holdout.terms
    assert (holdout.terms.size, holdout.terms.whole, holdout.terms.rows) == (280, ROWS, ROWS)
    for changed in (
        {"size": ROWS},
        {"type": "ask"},
        {"uses": None},
        {"uses": {**body["uses"], "units": ROWS + 40}},
        {"uses": {**body["uses"], "units": float(ROWS)}},
        {"uses": {**body["uses"], "use": "release"}},
        {"uses": {**body["uses"], "first": "../key"}},
        {"uses": {**body["uses"], "shares": {"asks": 0.8, "release": 0.3}}},
    ):
        with pytest.raises(Tampered):
            Terms.from_body({**body, **changed})
    for old in (1, 2, 5, None):
        with pytest.raises(LedgerError, match="format"):
            Terms.from_body({**body, "format": old})


def test_uses_that_do_not_belong_together(store: MemoryStore) -> None:
    first, second = (Holdout(people(), "y", ledger=store, uses=USES, use=use) for use in USES)
    known = {holdout.id: holdout.terms for holdout in (first, second)}
    check_uses(known)
    with pytest.raises(Tampered, match="is not in this ledger or declares others"):
        check_uses({second.id: second.terms})
    other = replace(first.terms, uses=Uses.of({"asks": 0.6, "release": 0.4}, "asks"))
    with pytest.raises(Tampered, match="is not in this ledger or declares others"):
        check_uses({first.id: other, second.id: second.terms})
    with pytest.raises(Tampered, match="both use 'release'"):
        check_uses({**known, "ab" * 16: second.terms})
    for one, two in combinations((first, second), 2):
        assert set(origin(one)).isdisjoint(origin(two))


def test_cards_and_meters_say_which_use(tmp_path: Path) -> None:
    ledger, runner = tmp_path / "ledger.db", CliRunner()
    holdouts = [Holdout(people(), "y", ledger=ledger, uses=USES, use=use, name=f"people-{use}") for use in USES]
    for holdout in holdouts:
        answer = holdout.ask(QUESTION, 0.5)
    card = answer.certificate.save(tmp_path / "card.json")
    numbers = Certificate.load(card).numbers
    assert (numbers["rows"], numbers["use"], numbers["share"]) == (120, "release", 0.3)
    plain = Holdout(people(seed=1), "y").ask(QUESTION, 0.5).certificate
    assert answer.certificate.assumptions == plain.assumptions[: len(answer.certificate.assumptions)]
    assert "share" not in plain.numbers
    asks, release = holdouts
    assert "280 rows (use asks, share 70 %)" in repr(asks)
    assert (release.meter.use, release.meter.share) == ("release", 0.3)
    assert str(release.meter).endswith("use release, share 30 %")
    assert "share" in release._repr_html_()
    assert "share" not in Holdout(people(), "y").meter.to_json()
    release.verify(card)
    for holdout in holdouts:
        holdout.close()

    from unworn.cli import app

    shown = runner.invoke(app, ["ledger", str(ledger)], env={"COLUMNS": "120"}).stdout
    assert "people-asks · 280 rows (use asks, share 70 %)" in shown
    told = json.loads(runner.invoke(app, ["ledger", str(ledger), "--json"]).stdout)["holdouts"]
    assert sorted((one["use"], one["shares"], one["rows"], one["size"]) for one in told) == [
        ("asks", USES, ROWS, 280),
        ("release", USES, ROWS, 120),
    ]
    shown = runner.invoke(app, ["verify", "--ledger", str(ledger)]).stdout
    assert "people-release · use release, share 30 % · 1 answers" in shown
    assert "120 rows (use release, share 30 %)" in runner.invoke(app, ["verify", str(card)]).stdout


def test_a_ledger_without_the_first_use_is_not_whole(tmp_path: Path) -> None:
    from unworn.cli import app

    ledger = tmp_path / "ledger.db"
    for use in USES:
        Holdout(people(), "y", ledger=ledger, uses=USES, use=use).close()
    store = SQLiteStore(ledger)
    export(store, tmp_path / "all.jsonl")
    store.close()
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    (later,) = [line for line in lines if json.loads(line)["body"]["uses"]["first"] is not None]
    (tmp_path / "cut.jsonl").write_text(later)
    cut = SQLiteStore(tmp_path / "cut.db")
    restore(tmp_path / "cut.jsonl", cut)
    cut.close()
    result = CliRunner().invoke(app, ["verify", "--ledger", str(tmp_path / "cut.db")])
    assert result.exit_code != 0
    assert CliRunner().invoke(app, ["verify", "--ledger", str(ledger)]).exit_code == 0


TICKET = """
import pickle, sys
holdout = pickle.loads(bytes.fromhex(sys.argv[1]))
print(holdout.id, holdout.terms.uses.use, *holdout._sample.origin.tolist())
"""


def test_tickets_by_path_carry_the_use(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "rows.parquet")
    first, second = (
        Holdout(tmp_path / "rows.parquet", "y", ledger=tmp_path / "ledger.db", uses=USES, use=use) for use in USES
    )
    ticket = pickle.dumps(second)
    assert pickle.loads(ticket) is second
    assert pickle.loads(pickle.dumps(first)) is first
    told = subprocess.run(
        [sys.executable, "-c", TICKET, ticket.hex()], capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert told == [second.id, "release", *map(str, origin(second))]
    first.close()
    second.close()


def test_a_remote_holdout_is_of_the_same_part() -> None:
    holdout = Holdout(people(), "y", uses=USES, mechanism=Naive())
    remote = RemoteHoldout(holdout.__reduce__()[1][-1])
    told = remote.score(Sign())
    cut = people().iloc[origin(holdout)]
    assert told.value == np.mean((cut["a"] > 0).astype(int) == cut["y"])
    assert (remote.meter["use"], remote.meter["share"]) == ("asks", 0.7)
    holdout.close()
