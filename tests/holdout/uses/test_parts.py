"""Several uses of the same rows: who gets which."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from tests.holdout.uses.support import ROWS, THREE, USES, origin, people
from unworn import Holdout
from unworn.errors import Mismatch, Unaskable
from unworn.ledger import MemoryStore
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Naive


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
