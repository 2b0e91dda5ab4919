"""Which rows are for practice: a random part, drawn once by the key, and fixed by entry 0 for good."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.holdout.practice.support import ROWS, people, places, practice_rows, split
from unworn import Holdout, col, share
from unworn.errors import LedgerError, Mismatch, Tampered, Unaskable
from unworn.ledger import MemoryStore
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian
from unworn.record.transcript import Terms

QUESTION = share(col("a") > 0)


@pytest.mark.parametrize(
    ("rows", "part", "practice"), [(1_000, 0.25, 250), (1_001, 0.25, 250), (9, 0.3, 2), (7, 0.5, 3)]
)
def test_sizes_are_public_and_within_one_of_their_share(rows: int, part: float, practice: int) -> None:
    holdout = Holdout(people(rows) if rows >= 16 else people(16).head(rows), "y", practice=part, ledger=None)
    assert (holdout.practice.size, holdout.size) == (practice, rows - practice)
    assert len(holdout.practice) == practice
    aside, sealed = split(holdout)
    assert sorted(aside + sealed) == list(range(rows))
    assert holdout.terms.whole == holdout.terms.rows == rows


@pytest.mark.parametrize("practice", [0, None, 0.0])
def test_none_is_none(practice: float | None) -> None:
    store = MemoryStore()
    holdout = Holdout(people(), "y", practice=practice, ledger=store)
    assert (holdout.size, holdout.practice.size, holdout._practice_rows) == (ROWS, 0, None)
    (first,) = store.holdouts().values()
    assert first.body["format"] == 3
    assert "practice" not in first.body
    with pytest.raises(Unaskable, match="no practice rows were set aside"):
        holdout.practice.ask(QUESTION)
    assert repr(holdout.practice) == "Practice(no rows: all of them are sealed)"


@pytest.mark.parametrize("practice", [1, 1.0, -0.1, float("nan"), True, "0.25", [0.25]])
def test_what_is_no_share_is_refused(practice: object) -> None:
    with pytest.raises(Unaskable, match="practice is the share of the rows to set aside"):
        Holdout(people(), "y", practice=practice, ledger=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("practice", [0.001, 0.999])
def test_a_part_of_fewer_than_two_is_refused(practice: float) -> None:
    with pytest.raises(Unaskable, match="each needs at least 2"):
        Holdout(people(100), "y", practice=practice, ledger=None)


def test_the_part_is_found_again_whatever_the_order(tmp_path: Path) -> None:
    frame = people()
    first = Holdout(frame, "y", practice=0.25, ledger=tmp_path / "ledger.db")
    aside, sealed = split(first)
    told, answer = first.practice.ask(QUESTION), first.ask(QUESTION)
    first.close()
    again = Holdout(frame, "y", ledger=tmp_path / "ledger.db")  # left out: what entry 0 says, and no notice
    assert split(again) == (aside, sealed)
    assert again.practice.ask(QUESTION) == told
    assert again.ask(QUESTION).index == answer.index
    again.close()
    turned = Holdout(frame.iloc[::-1], "y", practice=0.25, ledger=tmp_path / "ledger.db")
    assert [ROWS - 1 - place for place in places(practice_rows(turned))][::-1] == aside
    assert turned.practice.ask(QUESTION) == told
    with pytest.raises(Unaskable, match="another order"):
        turned.practice.score(frame["y"].to_numpy())
    turned.close()


def test_the_part_is_another_under_another_key() -> None:
    parts = [split(Holdout(people(), "y", practice=0.25, ledger=None))[0] for _ in range(2)]
    assert parts[0] != parts[1]


def test_every_row_is_as_likely_as_any_other() -> None:
    """600 parts of 40 rows; by a normal bound each row's share misses ± .12 with probability below 1e-10."""
    rng, frame = np.random.default_rng(5), people(40)
    hits = np.zeros(40)
    for _ in range(600):
        hits[split(Holdout(frame, "y", practice=0.25, ledger=SeededStore(rng)))[0]] += 1
    assert np.all(np.abs(hits / 600 - 0.25) < 0.12)


def test_groups_stay_together() -> None:
    frame = people()
    holdout = Holdout(frame, "y", groups="team", practice=0.25, ledger=None)
    groups = frame["team"].nunique()
    assert (holdout.practice.size, holdout.size) == (groups // 4, groups - groups // 4)
    aside, sealed = (set(frame["team"].iloc[part]) for part in split(holdout))
    assert not aside & sealed
    assert len(aside) == holdout.practice.size
    by_team = (frame["a"] > 0).groupby(frame["team"]).mean()
    told = holdout.practice.ask(QUESTION)
    assert told.value == pytest.approx(by_team[sorted(aside)].mean())
    assert f"on {len(aside)} practice groups" in str(told)
    assert holdout.ask(QUESTION).practice == told
    assert f"Practice({len(aside)} groups: exact values are free, and may wear out)" == repr(holdout.practice)


@pytest.mark.parametrize("given", [0.0, 0.3])
def test_another_share_is_refused_with_both(given: float, tmp_path: Path) -> None:
    Holdout(people(), "y", practice=0.25, ledger=tmp_path / "ledger.db").close()
    with pytest.raises(Mismatch, match=rf"practice: sealed with 0\.25, opened with {given}") as caught:
        Holdout(people(), "y", practice=given, ledger=tmp_path / "ledger.db")
    assert caught.value.numbers["differing"] == ["practice"]
    other = Holdout(people(seed=1), "y", practice=0, ledger=tmp_path / "other.db")
    other.close()
    with pytest.raises(Mismatch, match=r"practice: sealed with 0\.0, opened with 0\.25"):
        Holdout(people(seed=1), "y", practice=0.25, ledger=tmp_path / "other.db")


def test_entry_0_has_a_format_of_its_own_and_the_shares_are_checked() -> None:
    store = MemoryStore()
    Holdout(people(), "y", practice=0.25, ledger=store)
    (first,) = store.holdouts().values()
    body = json.loads(json.dumps(first.body))
    assert body["format"] == 5
    assert body["practice"] == {"share": 0.25, "units": ROWS}
    assert body["size"] == 750
    assert Terms.from_body(body).to_body() == body
    for wrong in (
        {"practice": {"share": 0.2, "units": ROWS}},
        {"practice": {"share": 0.25, "units": ROWS + 4}},
        {"practice": {"share": 0, "units": 750}},
        {"practice": {"share": True, "units": ROWS}},
        {"practice": {"share": 0.25, "units": float(ROWS)}},
        {"practice": None},
        {"size": 1_000},
    ):
        with pytest.raises(Tampered):
            Terms.from_body({**body, **wrong})
    with pytest.raises(LedgerError, match="format 6"):
        Terms.from_body({**body, "format": 6})


def test_ledgers_without_practice_are_opened_as_before(tmp_path: Path) -> None:
    """A ledger of an earlier version says nothing of practice, and left out means none of it."""
    Holdout(people(), "y", practice=0, ledger=tmp_path / "ledger.db").close()
    again = Holdout(people(), "y", ledger=tmp_path / "ledger.db")
    assert (again.size, again.practice.size) == (ROWS, 0)
    again.close()


def test_a_part_of_one_use_of_several() -> None:
    store, uses = MemoryStore(), {"asks": 0.6, "release": 0.4}
    asks = Holdout(people(), "y", uses=uses, practice=0.25, ledger=store)
    other = Holdout(people(), "y", uses=uses, use="release", mechanism=Gaussian(), asks=10, ledger=store)
    aside, sealed = split(asks)
    assert (len(aside), len(sealed), other.size, other.practice.size) == (150, 450, 400, 0)
    assert sorted(aside + sealed + places(other._sample)) == list(range(ROWS))
    answer = asks.ask(QUESTION)
    asks.verify(answer.certificate)
    assert answer.certificate.numbers["share"] == 0.6
    assert answer.certificate.numbers["practice_rows"] == 150
    assert split(Holdout(people(), "y", uses=uses, ledger=store)) == (aside, sealed)
    for entry in store.holdouts().values():
        assert Terms.from_body(entry.body).to_body() == entry.body


def test_uses_alone_set_nothing_aside() -> None:
    assert Holdout(people(), "y", uses={"asks": 0.6, "release": 0.4}, ledger=None).practice.size == 0
