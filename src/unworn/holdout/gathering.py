"""Rows drawn before the questions come that will be answered from them."""

from __future__ import annotations

from collections.abc import Sequence

from unworn.errors import Failed, Unaskable
from unworn.holdout.desk import Desk
from unworn.holdout.memo import Memo
from unworn.mechanisms.contract.capabilities import DrawsRows
from unworn.rows.held_rows import HeldRows
from unworn.rows.memory.draw_pool import Pool

_NO_DRAWS = (
    "rows could not be drawn ahead, and what failed is not told, because it may be a fact about rows.\n"
    "  Ask without gathering: each ask then draws its rows itself."
)


def gather_rows(desk: Desk, sample: HeldRows, samples: int, columns: Sequence[str] | None) -> int:
    """Draw rows for the next asks; how many asks there are rows for."""
    mechanism = desk.transcript.mechanism
    with desk.order():
        pool = desk.pool = Pool(sample, desk.noise_key) if desk.pool is None else desk.pool
        state = desk.transcript.state
        if state.planned is not None:  # an ask past the plan is refused, so nobody would use them
            samples = min(samples, state.planned - state.asked - len(pool))
        if samples <= 0:
            return len(pool)
        for name in columns or ():
            sample.schema.of(name)
        if pool.has_failed:
            raise Unaskable(_NO_DRAWS)
        memo = Memo(desk.rows)
        drawn, again = mechanism.rows_per_answer() if isinstance(mechanism, DrawsRows) else (1, False)
        with memo.attempt(0):
            pool.gather(samples, drawn, again, columns)
        if memo.interrupted:
            raise KeyboardInterrupt
        if memo.failures:
            pool.has_failed = True  # once, for it is a fact about rows that nobody pays for
            raise Failed(_NO_DRAWS)
        return len(pool)
