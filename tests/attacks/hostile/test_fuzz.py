"""Hostile calls of everything public: each succeeds, or fails with an error of ours, within a second.

Each sequence follows from its seed, so there are no false alarms but for time: a call is given a thousand times what
it takes, in processor time, which other programs do not use up.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.hostile.hostile_calls import Calls
from tests.attacks.hostile.judged_calls import is_ours, measure_limit, play


def test_a_few_thousand_calls(tmp_path: Path) -> None:
    assert not play(iter(Calls(20, tmp_path)), 3000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_two_hundred_thousand_calls(tmp_path: Path, seed: int) -> None:
    assert not play(iter(Calls(seed, tmp_path)), 20_000)


def test_a_hole_would_be_found(tmp_path: Path) -> None:
    """What Python says, and what takes too long, are findings; what is ours is none."""
    from unworn import Unaskable, col

    def spin() -> None:
        import time

        end = time.process_time() + 2.0 * measure_limit()
        while time.process_time() < end:
            pass

    found = play(iter([("a", lambda: 1 / 0), ("b", lambda: int("x")), ("c", spin), ("d", lambda: col(3))]), 4)  # type: ignore[arg-type]
    assert [finding.call for finding in found] == ["a", "b", "c"]
    assert is_ours(Unaskable("x"))
    with pytest.raises(TypeError) as caught:
        bool(col("a") > 1)
    assert is_ours(caught.value)
