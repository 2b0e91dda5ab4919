"""What is read for one ask is read once, and noise is never used for another question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from unworn.holdout.memo import Memo
from unworn.mechanisms import Offer
from unworn.mechanisms.coded.blurred_counts import NoisyCountPayload
from unworn.mechanisms.coded.coded_mechanism import OUTSIDE
from unworn.mechanisms.coded.coded_payloads import CellsPayload
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload
from unworn.noise import Stream
from unworn.queries import Query, col, mean, share, statistic
from unworn.queries.row_protocol import Rows, Words
from unworn.queries.schema import Schema
from unworn.rows import Sample

X = np.random.default_rng(1).random(1_000)
BINARY, UNIT = share(col("x") > 0.3), mean(col("x"), range=(0, 1))


class Counting(Sample):
    """Rows that note every pass over them."""

    def __init__(self, columns: Any, schema: Schema, **options: Any) -> None:
        super().__init__(columns, schema, **options)
        self.read_for: list[int] = []

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        self.read_for.append(len(queries))
        return super().statistics(queries, part)

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        self.read_for.append(len(queries))
        return super().rounded(queries, noises)


def rows() -> Counting:
    found = Counting.read({"x": X}, schema={"x": "number"})
    assert isinstance(found, Counting)
    return found


def offer(query: Query, sample: Sample) -> Offer:
    facts = query.facts(sample.schema, sample.rows)
    return Offer(1, sample.size, facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code, -3.0)


def stream(*context: int | str) -> Stream:
    return Stream(bytes(32), *context)


def test_it_is_rows() -> None:
    memo: Rows = Memo(rows())
    assert memo.size == 1_000
    assert memo.rounded([BINARY, UNIT], [stream(1), stream(2)]) == rows().rounded(
        [BINARY, UNIT], [stream(1), stream(2)]
    )
    for again in (False, True):
        assert memo.drawn(UNIT, 50, stream(3), again) == rows().drawn(UNIT, 50, stream(3), again)
    whole = statistic(lambda columns: np.median(columns["x"]), sensitivity=0.1, range=(0, 1))
    assert memo.statistic(whole) == np.median(X)


def test_a_batch_is_one_pass_and_leaves_streams_where_they_would_be() -> None:
    sample = rows()
    memo = Memo(sample)
    queries = [BINARY, UNIT, mean(1 - col("x"), range=(0, 1))]
    noises = [stream(place) for place in range(3)]
    memo.prefetch([(query, offer(query, sample)) for query in queries], noises)
    assert sample.read_for == [3]
    for place, (query, noise) in enumerate(zip(queries, noises, strict=True)):
        alone = stream(place)
        assert memo.rounded([query], [noise]) == Sample.rounded(sample, [query], [alone])
        assert noise.words(2).tolist() == alone.words(2).tolist()  # where the mechanism's own noise begins
    assert sample.read_for == [3]


def noisy(query: Query, sample: Sample) -> Offer:
    payload = NoisyCountPayload(steps=sample.size, place=OUTSIDE, kept=0.5, radius=20)
    return offer(query, sample).with_payload(payload)


def test_a_batch_of_which_some_are_noisy_is_counted_once_and_rounded_once() -> None:
    """Counts serve noisy answers; what must be rounded is, all at once, when the first of them is."""
    sample = rows()
    memo = Memo(sample)
    others = [mean(1 - col("x"), range=(0, 1)), mean(col("x") * 0.5, range=(0, 1))]
    queries = [BINARY, UNIT, *others, share(col("x") > 0.8)]
    noises = [stream(place) for place in range(5)]
    offers = [
        noisy(BINARY, sample),
        noisy(UNIT, sample),
        *(offer(query, sample).with_payload(CellsPayload(8)) for query in others),
    ]
    offers.append(noisy(queries[-1], sample))
    memo.prefetch(list(zip(queries, offers, strict=True)), noises, all_noisy=False)
    assert sample.read_for == [4]  # all but the one mean that is surely noisy
    told = [memo.rounded([query], [noise])[0] for query, noise in zip(queries, noises, strict=True)]
    assert sample.read_for == [4, 3]  # the three means, though two of them might have been answered by cells
    assert memo.means([others[0]])[0] == pytest.approx(1 - X.mean())
    assert sample.read_for == [4, 3]
    alone = [stream(place) for place in range(5)]
    assert told == [Sample.rounded(sample, [query], [noise])[0] for query, noise in zip(queries, alone, strict=True)]
    assert [noise.words(2).tolist() for noise in noises] == [noise.words(2).tolist() for noise in alone]


def test_guesses_that_are_checked_with_noise_are_rounded_together() -> None:
    sample = rows()
    memo = Memo(sample)
    queries = [UNIT, mean(1 - col("x"), range=(0, 1)), BINARY]
    noises = [stream(place) for place in range(3)]
    payload = NoisyCheckPayload(0.5, 0.1, sample.size, OUTSIDE, 0.5, 20, 0.1)
    offers = [offer(query, sample).with_payload(payload) for query in queries]
    memo.prefetch(list(zip(queries, offers, strict=True)), noises, all_noisy=False)
    assert [memo.rounded([query], [noise])[0] for query, noise in zip(queries, noises, strict=True)] == [
        Sample.rounded(sample, [query], [stream(place)])[0] for place, query in enumerate(queries)
    ]
    assert sample.read_for == [1, 2]  # the count with whatever else is counted, and the two means at once


def test_one_that_cannot_be_rounded_fails_by_itself() -> None:
    class Fragile(Counting):
        def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
            if bad in queries:
                raise ArithmeticError
            return super().rounded(queries, noises)

    sample = Fragile.read({"x": X}, schema={"x": "number"})
    memo, bad = Memo(sample), mean(1 - col("x"), range=(0, 1))
    noises = [stream(0), stream(1)]
    asks = [(query, noisy(query, sample)) for query in (UNIT, bad)]
    memo.prefetch(asks, noises, all_noisy=False)
    assert 0 < memo.rounded([UNIT], noises[:1])[0] < 1_000
    with pytest.raises(ArithmeticError):
        memo.rounded([bad], noises[1:])


def test_an_overtaken_ask_is_rounded_afresh_but_not_counted_again() -> None:
    sample = rows()
    memo = Memo(sample)
    asks = [(query, offer(query, sample)) for query in (BINARY, UNIT)]
    told = []
    for head in range(6):
        noises = [stream(head, "binary"), stream(head, "unit")]
        memo.prefetch(asks, noises)
        told.append(memo.rounded([BINARY, UNIT], noises))
        assert told[-1] == Sample.rounded(sample, [BINARY, UNIT], [stream(head, "binary"), stream(head, "unit")])
    assert sample.read_for == [2, 1, 1, 1, 1, 1]
    assert len({unit for _, unit in told}) > 1


def test_the_same_question_asked_twice_has_two_streams() -> None:
    sample = rows()
    memo = Memo(sample)
    noises = [stream("first"), stream("second")]
    assert memo.rounded([UNIT, UNIT], noises) == Sample.rounded(
        sample, [UNIT, UNIT], [stream("first"), stream("second")]
    )
    assert memo.rounded([UNIT], [stream("third")]) == Sample.rounded(sample, [UNIT], [stream("third")])


def test_a_count_of_zero_is_remembered() -> None:
    sample, none = rows(), share(col("x") > 2)
    memo = Memo(sample)
    for head in range(3):
        noise = stream(head)
        memo.prefetch([(none, offer(none, sample))], [noise])
        assert memo.rounded([none], [noise]) == [0]
    assert sample.read_for == [1]


def test_draws_are_never_remembered() -> None:
    memo = Memo(rows())
    assert len({memo.drawn(UNIT, 100, stream(turn)) for turn in range(20)}) > 1
    noise = stream("one")
    assert len({memo.drawn(UNIT, 100, noise) for _ in range(20)}) > 1  # its next words draw other rows


def test_a_statistic_runs_once_even_if_it_is_interrupted() -> None:
    calls: list[int] = []

    def interrupted(columns: Any) -> float:
        calls.append(1)
        raise KeyboardInterrupt

    sample = rows()
    memo = Memo(sample)
    whole = statistic(interrupted, sensitivity=1, range=(2, 5))
    memo.prefetch([(whole, offer(whole, sample))], [stream(1)])
    assert calls == sample.read_for == []
    assert not memo.interrupted
    assert [memo.statistic(whole), memo.statistic(whole)] == [2.0, 2.0]
    assert calls == [1]
    assert not memo.interrupted  # that it was is hidden like its value
    with pytest.raises(TypeError, match="not a statistic"):
        memo.statistic(BINARY)
