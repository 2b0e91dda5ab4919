"""Where questions stand in a long chain."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from unworn.record.drawn_rows import DrawnRows
from unworn.record.question_index import Name, QuestionIndex, index_run, read_run, write_run

HOLDOUT = "ab" * 16


@pytest.mark.parametrize("seed", range(5))
def test_every_place_is_found_the_latest_first_however_the_chain_was_cut_into_runs(seed: int) -> None:
    random_ = random.Random(seed)
    parents = [None, None, -1, 3]
    names: list[Name | None] = [
        None if random_.random() < 0.1 else (f"q{random_.randrange(40)}", random_.choice(parents)) for _ in range(500)
    ]
    index, start = QuestionIndex(HOLDOUT), 0
    while start < len(names):
        stop = start + random_.randrange(1, 60)
        index = index.with_run(read_run(write_run(index_run(HOLDOUT, names[start:stop], start + 1))))
        start = stop
    for name in {*names, ("never asked", None)} - {None}:
        assert name is not None
        expected = [place for place, each in enumerate(names, 1) if each == name]
        assert list(index.find(name)) == expected[::-1]
    lengths = [len(digests) for digests, _ in index.runs]
    assert all(later * 2 <= earlier for earlier, later in pairwise(lengths))  # so they are few


def test_a_run_of_half_a_question_is_refused() -> None:
    with pytest.raises(ValueError, match="sixteen bytes"):
        read_run(bytes(17))


def test_the_same_question_has_another_digest_in_another_holdout() -> None:
    one, other = (index_run(holdout, [("q", None)], 1)[0][0] for holdout in (HOLDOUT, "cd" * 16))
    assert one != other


@pytest.mark.parametrize("seed", range(5))
def test_draws_are_kept_as_spans_that_hold_exactly_them(seed: int) -> None:
    draws = [(pool, number) for pool in "ab" for number in range(60)]
    random.Random(seed).shuffle(draws)
    used, unused = draws[:70], draws[70:]
    drawn = DrawnRows()
    for start in range(0, len(used), 7):
        drawn = drawn.with_draws(used[start : start + 7])
    drawn = DrawnRows.from_json(drawn.to_json())
    assert all(draw in drawn for draw in used)
    assert not any(draw in drawn for draw in unused)
    assert DrawnRows().with_draws(draws).spans == {"a": [(0, 60)], "b": [(0, 60)]}
