"""Shares of subsets, rankings and variances: what a plain NumPy expression says, in memory, in parts, in DuckDB."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import col, mean, share
from unworn.errors import Unaskable
from unworn.queries import parse
from unworn.queries.query import Query
from unworn.queries.ranking_query import outranking_share
from unworn.rows import Sample
from unworn.rows.memory import row_passes

ROWS = 3_001


def data(seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "arm": rng.choice(["A", "B", "C"], ROWS),
        "bought": rng.integers(0, 2, ROWS),
        "price": np.where(rng.random(ROWS) < 0.1, np.nan, rng.gamma(2.0, 20.0, ROWS)),
    }


ASKED = [
    share(col("bought") == 1, given=col("arm") == "B"),
    share(col("price") > 30, given=col("price").is_null()),
    share(col("price") > 30, given=(col("arm") != "A") & (col("bought") == 1)),
    share(col("bought") == 1, given=col("arm") == "Z"),
]


def expected(rows: dict[str, np.ndarray]) -> list[tuple[int, int]]:
    b = rows["arm"] == "B"
    missing = np.isnan(rows["price"])
    high = rows["price"] > 30
    other = (rows["arm"] != "A") & (rows["bought"] == 1)
    pairs = [(rows["bought"] == 1, b), (high, missing), (high, other), (rows["bought"] == 1, rows["arm"] == "Z")]
    return [(int((yes & subset).sum()), int(subset.sum())) for yes, subset in pairs]


@pytest.mark.parametrize("chunk", [131_072, 500])
def test_a_share_of_a_subset_is_two_counts(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_passes, "CHUNK", chunk)
    rows = Sample.read(data())
    assert rows.statistics(ASKED) == expected(data())
    assert [rows.statistics([query])[0] for query in ASKED] == expected(data())
    mixed: list[Query] = [share(col("bought") == 1), ASKED[0], mean(col("price").fill(0), range=(0, 50)), ASKED[2]]
    assert [rows.statistics(mixed)[place] for place in (1, 3)] == [expected(data())[0], expected(data())[2]]


def test_it_is_0_of_0_where_the_subset_has_no_rows() -> None:
    assert Sample.read(data()).statistics([ASKED[3]]) == [(0, 0)]


def test_a_part_is_counted_by_itself() -> None:
    rows = Sample.read(data())
    rows.seal(bytes(32))
    inside = rows.members((1, 3))
    assert inside is not None
    kept = {name: values[inside] for name, values in data().items()}
    assert rows.statistics(ASKED, (1, 3)) == expected(kept)


def test_an_engine_counts_the_same() -> None:
    duckdb = pytest.importorskip("duckdb")
    from unworn.rows.sql.stored_rows import Stored

    rows = data()
    table = pa.table(rows)
    stored = Stored.read(duckdb.from_arrow(table))
    assert stored.statistics(ASKED) == expected(rows)
    both: list[Query] = [share(col("bought") == 1), *ASKED, share(col("arm") == "A")]
    told = stored.statistics(both)
    assert told[1:5] == expected(rows)
    assert (told[0], told[5]) == (int(rows["bought"].sum()), int((rows["arm"] == "A").sum()))
    for query in (mean(col("price").fill(0), range=(5, 60)), share(col("bought") == 1)):
        ours, theirs = Sample.read(table).moments([query])[0], stored.moments([query])[0]
        np.testing.assert_allclose(theirs, ours[:2], rtol=1e-12)


def test_what_it_is_called_and_read_back() -> None:
    question = share(col("bought") == 1, given=col("arm") == "B")
    assert parse(question.to_json()) == question
    assert question.label == "share of bought == 1 given arm == 'B'"
    assert repr(question) == "share(bought == 1, given=arm == 'B')"
    assert question != share(col("bought") == 1)
    with pytest.raises(Unaskable, match="predicates"):
        share(col("bought") + 1, given=col("arm") == "B")


def test_groups_are_refused_with_the_reason() -> None:
    rows = Sample.read(data(), groups=np.arange(ROWS) // 3)
    with pytest.raises(Unaskable, match="sampled unit is a group"):
        rows.statistics([ASKED[0]])


def test_two_that_are_too_large_together_are_refused_when_they_are_made() -> None:
    many = [col("price") > place for place in range(100)]
    large = many[0]
    for each in many[1:]:
        large = large | each
    with pytest.raises(Unaskable, match="nodes"):
        share(large, given=large)


numbers = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0, -3.0]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(numbers, numbers)
def test_outranking_is_a_mean_over_pairs(positive: list[float], negative: list[float]) -> None:
    value, rarer = outranking_share(np.array(positive), np.array(negative))
    assert rarer == min(len(positive), len(negative))
    if not rarer:
        assert value == 0.5
        return
    pairs = [(a > b) + (a == b) / 2 for a in positive for b in negative]
    assert value == pytest.approx(sum(pairs) / len(pairs), abs=1e-15)


@pytest.mark.parametrize("chunk", [131_072, 500])
def test_moments_are_those_of_values_scaled_to_the_range(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_passes, "CHUNK", chunk)
    rows = data()
    query = mean(col("price").fill(0), range=(5, 60))
    values = np.clip(np.nan_to_num(rows["price"]), 5, 60)
    ((found, *central),) = Sample.read(rows).moments([query])
    assert found == pytest.approx(values.mean(), rel=1e-13)
    apart = (values - values.mean()) / 55
    assert central == pytest.approx([(apart**power).mean() for power in (2, 3, 4)], rel=1e-11, abs=1e-15)
    ((_, even, *_),) = Sample.read(rows).moments([share(col("bought") == 1)])
    p = rows["bought"].mean()
    assert even == pytest.approx(p * (1 - p), rel=1e-12)


def test_moments_of_groups_are_those_of_their_means() -> None:
    rows = data()
    unit = np.arange(ROWS) % 7
    values = np.clip(np.nan_to_num(rows["price"]), 0, 60)
    means = np.array([values[unit == place].mean() for place in range(7)])
    (found,) = Sample.read(rows, groups=unit).moments([mean(col("price").fill(0), range=(0, 60))])
    apart = (means - means.mean()) / 60
    expected_moments = [means.mean(), *((apart**power).mean() for power in (2, 3, 4))]
    assert list(found) == pytest.approx(expected_moments, rel=1e-11, abs=1e-15)


def test_a_subset_has_no_variance() -> None:
    with pytest.raises(Unaskable, match="no variance"):
        Sample.read(data()).moments([ASKED[0]])
