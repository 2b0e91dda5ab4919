"""Digests ignore order, names and dtypes, and notice every value."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unworn.rows import Sample, digests, rows_digest
from unworn.rows.fingerprints import column_digest, fingerprint
from unworn.rows.fingerprints.fingerprint import canonical_order

KEY = b"k" * 32
NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False))
TEXTS = st.one_of(st.none(), st.text(max_size=3))
ROWS = st.lists(st.tuples(NUMBERS, TEXTS, st.booleans(), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=12)


def frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    number, text, flag, big = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "number": np.array([np.nan if v is None else v for v in number], dtype=float),
            "text": pd.Series(text, dtype=object),
            "flag": np.array(flag),
            "big": np.array(big, dtype=np.int64),
        }
    )


def joint(data: Any, key: bytes = KEY) -> str:
    return digests(Sample.read(data), key).rows


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(rows: list[Any], random: Any) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    columns = ["number", "text", "flag", "big"]
    random.shuffle(columns)
    a, b = Sample.read(frame(rows)), Sample.read(frame(shuffled)[columns])
    one, two = digests(a, KEY), digests(b, KEY)
    assert (one.rows, one.grouping) == (two.rows, two.grouping)
    assert {name: pair[0] for name, pair in one.columns.items()} == {
        name: pair[0] for name, pair in two.columns.items()
    }
    assert (one.order == two.order) == (str(rows) == str(shuffled))
    assert rows_digest(a, KEY, ["text", "flag"]) == rows_digest(b, KEY, ["flag", "text"])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ROWS, st.data())
def test_any_changed_cell_is_noticed(rows: list[Any], data: st.DataObject) -> None:
    # False alarms: two different 128-bit keyed hashes agree with probability below 1e-35; the key is fixed.
    place = data.draw(st.integers(0, len(rows) - 1))
    other = data.draw(ROWS)[0]
    column = data.draw(st.integers(0, 3))
    changed = list(rows)
    changed[place] = (*rows[place][:column], other[column], *rows[place][column + 1 :])
    assume(changed[place] != rows[place])
    assert joint(frame(changed)) != joint(frame(rows))


def test_swapped_cells_and_flipped_signs_are_noticed() -> None:
    base = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}
    others = [
        {"a": np.array([1.0, 2.0]), "b": np.array([4.0, 3.0])},
        {"a": np.array([-1.0, 2.0]), "b": np.array([-3.0, 4.0])},
        {"a": np.array([3.0, 4.0]), "b": np.array([1.0, 2.0])},
        {"a": np.array([1.0, 2.0]), "c": np.array([3.0, 4.0])},
        {"a": np.array([1.0, 2.0, 1.0]), "b": np.array([3.0, 4.0, 3.0])},
        {"a": np.array([0.0, 2.0]), "b": np.array([3.0, 4.0])},
        {"a": np.array([np.nan, 2.0]), "b": np.array([3.0, 4.0])},
        {"a": np.array(["1.0", "2.0"]), "b": np.array([3.0, 4.0])},
    ]
    assert len({joint(data) for data in [base, *others]}) == len(others) + 1
    assert joint({"a": np.array([0.0])}) == joint({"a": np.array([-0.0])})
    assert joint(base) != joint(base, b"another key")


def test_groups_belong_to_the_rows() -> None:
    data = {"a": np.arange(4)}
    pairs, halves = np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2])
    plain, one, two = (digests(Sample.read(data, groups=groups), KEY).grouping for groups in (None, pairs, halves))
    assert len({plain, one, two}) == 3


def test_a_missing_value_elsewhere_leaves_the_other_rows_words_alone() -> None:
    whole = Sample.read({"a": np.array([1.0, 2.0]), "b": np.array([1.0, np.nan])})
    same = Sample.read({"a": np.array([2, 1]), "b": np.array([np.nan, 1.0])})
    assert rows_digest(whole, KEY, ["a"]) == rows_digest(same, KEY, ["a"])
    assert rows_digest(whole, KEY, ["a", "b"]) == rows_digest(same, KEY, ["b", "a"])


def test_renaming_or_adding_a_column_does_not_evade() -> None:
    values = np.random.default_rng(0).normal(size=100)
    a = digests(Sample.read({"a": values}), KEY)
    b = digests(Sample.read({"renamed": values[::-1].astype(np.longdouble), "new": values * 2}), KEY)
    assert a.columns["a"][0] == b.columns["renamed"][0]
    assert b.telling[a.columns["a"][0]] == "renamed"
    assert a.rows != b.rows
    assert b.columns["new"][0] != b.columns["renamed"][0]


@pytest.mark.parametrize(
    ("values", "distinctive"),
    [
        (np.zeros(10_000), False),
        (np.arange(10_000) % 2, False),
        (np.arange(10_000) % 2 == 0, False),
        (np.random.default_rng(0).integers(0, 2, 10_000), False),
        (np.random.default_rng(0).integers(0, 3, 10_000), False),
        (np.random.default_rng(0).normal(size=100), True),
        (np.random.default_rng(0).normal(size=5), False),
        (np.random.default_rng(0).integers(0, 200, 10_000), True),
        (np.arange(10_000), False),
        (1.0 + np.arange(100), False),
        (np.datetime64("2024-01-01") + np.arange(100), False),
        (np.full(50, np.nan), False),
        (np.array([f"id {i}" for i in range(100)]), True),
        (np.array(["a", "b"])[np.arange(1000) % 2], False),
    ],
)
def test_only_a_distinctive_column_is_telling(values: Any, distinctive: bool) -> None:
    told = digests(Sample.read({"a": values}), KEY)
    by_value, _ = told.columns["a"]
    assert (by_value in told.telling) == distinctive
    # A ledger shows a digest either way, and a renamed column matches only if it is telling.
    assert len(by_value) == 64
    assert (digests(Sample.read({"b": values}), KEY).columns["b"][0] == by_value) == distinctive


@pytest.mark.parametrize(
    ("values", "scattered"),
    [
        (np.random.default_rng(0).integers(0, 2, 500), True),
        (np.random.default_rng(0).integers(0, 2, 500) == 1, True),
        (np.array(["a", "b"])[np.random.default_rng(0).integers(0, 2, 500)], True),
        (np.repeat([0, 1, 2], 50), False),
        (np.arange(500) % 2, False),
        (np.zeros(500), False),
        (np.random.default_rng(0).integers(0, 2, 20), False),
        (np.arange(500), False),
    ],
)
def test_only_a_sequence_that_is_no_pattern_is_telling(values: Any, scattered: bool) -> None:
    told = digests(Sample.read({"a": values}), KEY)
    other = digests(Sample.read({"b": values}), KEY)
    assert (told.columns["a"][1] in other.telling) == scattered


def test_a_sequence_is_blind_to_booleans_and_to_names_but_not_to_order() -> None:
    flags = np.random.default_rng(0).integers(0, 2, 500)
    same = [flags, flags == 1, flags.astype(np.float32)]
    assert len({digests(Sample.read({f"c{i}": v}), KEY).columns[f"c{i}"][1] for i, v in enumerate(same)}) == 1
    assert (
        digests(Sample.read({"a": flags[::-1]}), KEY).columns["a"][1]
        != digests(Sample.read({"a": flags}), KEY).columns["a"][1]
    )


def test_unrelated_samples_of_one_distribution_share_no_digest() -> None:
    # The declared chance is below 1e-12 a column, and the generator is fixed.
    rng = np.random.default_rng(5)
    seen: set[str] = set()
    for _ in range(50):
        data = {
            "die": rng.integers(0, 6, 300),
            "many": rng.integers(0, 40, 300),
            "wide": rng.normal(size=300),
        }
        found = [value for value in digests(Sample.read(data), KEY).columns.values() if value is not None]
        assert not seen & set(found)
        seen |= set(found)
    assert len(seen) >= 100


def test_another_key_costs_no_second_sort() -> None:
    sample = Sample.read({f"c{i}": np.random.default_rng(i).normal(size=1000) for i in range(3)})
    digests(sample, KEY)
    kept = dict(sample.canonical)
    other = digests(sample, b"other")
    assert all(sample.canonical[name] is kept[name] for name in kept)
    assert not set(other.columns.values()) & set(digests(sample, KEY).columns.values())


def known(rows: int, order: Any = None) -> Sample:
    """Every kind of column, by arithmetic alone, so that no generator can change them."""
    place = np.arange(rows)
    mixed = (place * 2_654_435_761) % 2**32
    data = {
        "few": mixed % 7,
        "big": mixed.astype(np.int64) * 2**30 + place,
        "float": np.where(mixed % 5 == 0, np.nan, mixed / 7.0),
        "bool": mixed % 3 == 0,
        "text": np.array(["aa", "bö", "", None], dtype=object)[mixed % 4],
        "date": np.datetime64("2020-01-01", "us") + mixed,
        "id": place,
        "single": (mixed / 3.0).astype(np.float32),
        "sorted": place // 1_000,
    }
    groups = mixed % (rows // 3)
    if order is not None:
        data, groups = {name: values[order] for name, values in data.items()}, groups[order]
    return Sample.read(data, groups=groups)


@pytest.mark.parametrize(
    ("rows", "told", "order"),
    [
        (
            50,
            "77fa49bc31d746b89654dd7b79e7ef39a62acfbee9f29268bd2db25e8c857daf",
            "9215cdb6c5043f8bbded6a42964ea4d2c877152fa8ac28bc03029abdad4587dc",
        ),
        (
            70_001,
            "b1ec6eb3525844ea992f60dd77b2584c0a9a415cdff0b846da0e31d13ed43e19",
            "fd8bf1e983ba1a777d21301fb0c006096817e9edca8128517fbbb95e0ed971cf",
        ),
    ],
)
def test_rows_that_were_sealed_once_are_known_for_good(rows: int, told: str, order: str) -> None:
    """Digests of a ledger that was written before must come out again: these were, under formats 3 and 4."""
    sample, secret = known(rows), b"s" * 32
    found = digests(sample, secret)
    parts = [found.rows, found.grouping, found.order, found.columns, sorted(found.telling)]
    text = json.dumps([*parts, rows_digest(sample, secret, ["few", "text"])])
    assert hashlib.sha256(text.encode()).hexdigest() == told
    assert hashlib.sha256(canonical_order(sample, secret).astype("<i8").tobytes()).hexdigest() == order


# ---------------------------------------------------------------- more rows than are sorted


@pytest.fixture
def tall(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fingerprint, column_digest):
        monkeypatch.setattr(module, "SORTED", 100)
    monkeypatch.setattr("unworn.rows.fingerprints.hash_sums._MANY", 500)
    monkeypatch.setattr("unworn.rows.fingerprints.row_hashes.RUN", 777)


@pytest.mark.usefixtures("tall")
def test_many_rows_are_known_in_any_order_and_any_dtype() -> None:
    rows = 5_000
    here = digests(known(rows), KEY)
    there = digests(known(rows, np.random.default_rng(1).permutation(rows)), KEY)
    assert (there.rows, there.grouping) == (here.rows, here.grouping)
    assert there.order != here.order
    assert [pair[0] for pair in there.columns.values()] == [pair[0] for pair in here.columns.values()]
    small = np.arange(rows) % 100
    kinds = [digests(Sample.read({"x": small.astype(kind)}), KEY) for kind in (np.int8, np.int64, np.float32)]
    assert len({told.rows for told in kinds}) == len({told.columns["x"] for told in kinds}) == 1


@pytest.mark.usefixtures("tall")
def test_many_rows_are_others_when_one_value_is() -> None:
    rng = np.random.default_rng(2)
    values, flags = rng.integers(0, 100, 3_000), rng.random(3_000) < 0.5
    told = set()
    for place in (None, 0, 1_500, 2_999):
        changed = values.copy()
        if place is not None:
            changed[place] += 1
        told.add(digests(Sample.read({"x": changed, "f": flags}), KEY).rows)
    swapped = flags.copy()
    first, second = int(np.flatnonzero(flags)[0]), int(np.flatnonzero(~flags)[0])
    swapped[[first, second]] = swapped[[second, first]]
    told.add(digests(Sample.read({"x": values, "f": swapped}), KEY).rows)
    # Two swapped flags leave both columns as they were, and the rows not, unless the values beside them agree.
    assert len(told) == 5 - int(values[first] == values[second])


@pytest.mark.parametrize(
    ("values", "distinctive"),
    [
        (np.arange(3_000), False),
        (np.arange(3_000)[::-1] * 3 + 7, False),
        (np.datetime64("2020-01-01", "us") + np.arange(3_000) * 86_400_000_000, False),
        (np.arange(3_000) ** 2, True),
        (np.append(np.arange(2_999), 0), True),
        (np.random.default_rng(3).normal(size=3_000), True),
        (np.repeat(np.arange(2), 1_500), False),
        (np.random.default_rng(3).integers(0, 100, 3_000).astype(np.int8), True),
    ],
)
def test_what_tells_many_rows_apart_is_what_tells_few(
    values: Any, distinctive: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    column = Sample.read({"x": values}).columns["x"]
    few = column_digest.canonical_column(column)
    request.getfixturevalue("tall")
    many = column_digest.canonical_column(column)
    assert few.distinctive == many.distinctive == distinctive
    assert (few.sequence, few.scattered) == (many.sequence, many.scattered)


def test_fingerprints_hold_no_rows() -> None:
    """Eight million rows of a byte: their hashes alone would be 128 MB."""
    code = (
        "import resource, numpy as np\n"
        "from unworn.rows.fingerprints import column_digest as canonical, fingerprint\n"
        "canonical.SORTED = fingerprint.SORTED = 2**20\n"
        "from unworn.rows import Sample, digests\n"
        "sample = Sample.read({'x': np.tile(np.arange(100, dtype=np.int8), 80_000)})\n"
        "digests(Sample.read({'x': np.arange(100)}), bytes(32))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "digests(sample, bytes(32))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 50_000
