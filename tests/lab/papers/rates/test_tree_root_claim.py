"""Tree against square root: a short run keeps the order, and the wrong strategy or wrong noise turns it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.two_sizes import reseeded
from unworn.lab.papers.claim_contract import ClaimOutcome
from unworn.lab.papers.rates.tree_root_claim import NOISIEST, PLAIN, ROOT, STRATEGIES, TREE, errors, judge, sweep
from unworn.noise import Stream
from unworn.universe.prefixes import CountTree, Direct, PrefixStrategy

SIZES = (16, 256, 4096)


def unheard(done: int, total: int) -> None:
    assert 0 < done <= total


def short_run(strategies: Mapping[str, Callable[[int], PrefixStrategy]] = STRATEGIES) -> ClaimOutcome:
    # Of 16 values, 60 runs give a root mean square within 5 % of its own; a quarter is allowed.
    return sweep(SIZES, 60, reseeded(1), unheard, strategies)


def test_the_square_root_is_nearer_than_the_tree() -> None:
    outcome = short_run()
    assert outcome.holds, outcome.measured


def test_a_wrong_strategy_turns_the_verdict() -> None:
    assert not short_run({**STRATEGIES, ROOT: CountTree}).holds
    assert not short_run({**STRATEGIES, TREE: Direct}).holds


def test_noise_that_is_not_what_was_promised_turns_the_verdict() -> None:
    rows = [dict(row) for row in short_run().rows]
    for row in rows:
        if row["panel"] == NOISIEST and row["what"] == PLAIN:
            row["error"] = 0.7 * float(row["error"] or 0)
    assert not judge(rows).holds


def test_twice_the_budget_is_half_the_error() -> None:
    wide, narrow = (
        errors(Direct(4_000), Stream(bytes(32), "release"), np.random.default_rng(reseeded(1)), budget)
        for budget in (1.0, 2.0)
    )
    assert 0.4 < narrow.std() / wide.std() < 0.6  # of 4,000 draws each: 2 % is a standard error
