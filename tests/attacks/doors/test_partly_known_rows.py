"""Some of the rows of a holdout, or all of them and more: they have a ledger already, and get no second budget."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unworn import Holdout, Mismatch
from unworn.errors import SecondLedger
from unworn.ledger.registry.known_rows import Registry
from unworn.release import fit
from unworn.rows import Sample
from unworn.rows.fingerprints.row_marks import row_marks

ROWS = 1_000


def people(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words, labels = rng.choice(["u", "v"], rows), rng.integers(0, 2, rows)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "word": words, "y": labels})
    frame.loc[::9, "a"] = np.nan
    return frame


def counts(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Whole numbers only, and hardly two rows alike."""
    rng = np.random.default_rng(seed)
    columns = {f"n{place}": rng.integers(0, 9, rows) for place in range(12)}
    return pd.DataFrame({**columns, "y": rng.integers(0, 2, rows)})


def others(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Other rows of the same population."""
    return (people if "a" in frame else counts)(1, rows)


PARTS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "without missing values": lambda frame: frame.dropna() if frame.isna().any(axis=None) else frame[5:],
    "a half": lambda frame: frame[: ROWS // 2],
    "one in ten": lambda frame: frame.sample(frac=0.1, random_state=1),
    "one row less": lambda frame: frame[1:],
    "a subgroup": lambda frame: frame[frame["y"] == 1],
    "and others": lambda frame: pd.concat([frame, others(frame, 3 * ROWS)]),
    "half of them and others": lambda frame: pd.concat([frame[::2], others(frame, ROWS)]),
    "renamed": lambda frame: frame[::2].rename(columns={"a": "alpha", "n0": "n"}),
}


@pytest.mark.parametrize("make", [people, counts])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_holdout_is_no_other_holdout(make: Callable[[], pd.DataFrame], part: str, tmp_path: Path) -> None:
    whole = make()
    Holdout(whole, "y", ledger=tmp_path / "one.db", practice=0).close()
    for ledger in ({}, {"ledger": tmp_path / "two.db"}, {"ledger": tmp_path / "one.db"}):
        with pytest.raises(Mismatch, match=r"about [\d,]+ of these [\d,]+ rows were sealed") as caught:
            Holdout(PARTS[part](whole), "y", practice=0, **ledger)
        assert caught.value.numbers["part"] > 0
    assert not (tmp_path / "two.db").exists()
    Holdout(whole, "y", practice=0).close()  # the rows themselves are found as ever


def test_every_row_twice(tmp_path: Path) -> None:
    whole = people()
    Holdout(whole, "y", practice=0).close()
    with pytest.raises(Mismatch, match="about 2,000 of these 2,000"):
        Holdout(pd.concat([whole, whole]), "y", practice=0)


def test_a_release_of_a_part(tmp_path: Path) -> None:
    whole = counts()
    Holdout(whole, "y", practice=0).close()
    with pytest.raises(Mismatch, match="were sealed"):
        fit(whole[::2], 1, epsilon=1.0, domain={name: list(range(9)) for name in whole})


def test_about_how_many_is_told_about_right() -> None:
    whole = counts(0, 4_000)
    Holdout(whole, "y", practice=0).close()
    with pytest.raises(Mismatch) as caught:
        Holdout(pd.concat([whole[:1_000], others(whole, 3_000)]), "y", practice=0)
    assert 700 < caught.value.numbers["part"] < 1_300


def test_a_ledger_that_is_gone_or_moved(tmp_path: Path) -> None:
    whole = people()
    Holdout(whole, "y", ledger=tmp_path / "one.db", practice=0).close()
    for path in tmp_path.glob("one.db*"):
        path.rename(tmp_path / path.name.replace("one", "moved"))
    with pytest.raises(Mismatch, match="not there any more"):
        Holdout(whole[::2], "y", practice=0)
    with pytest.raises(Mismatch, match=r"were sealed in the ledger .*moved\.db"):
        Holdout(whole[::2], "y", ledger=tmp_path / "moved.db", practice=0)


def test_other_samples_of_the_same_population_are_other_rows(tmp_path: Path) -> None:
    """Fine or coarse, with rows that repeat and rows that do not."""
    for seed in range(4):
        Holdout(people(seed), "y", ledger=tmp_path / f"people-{seed}.db", practice=0).close()
        Holdout(counts(seed), "y", ledger=tmp_path / f"counts-{seed}.db", practice=0).close()
        rng = np.random.default_rng(seed)
        coarse = {"k": rng.integers(0, 60, 5_000 * (seed + 1)), "b": rng.integers(0, 2, 5_000 * (seed + 1))}
        Holdout(coarse, ledger=tmp_path / f"coarse-{seed}.db").close()
        near = {"k": rng.integers(0, 10**5, 2_000), "b": rng.integers(0, 2, 2_000)}  # hardly any row repeats, some do
        Holdout(near, ledger=tmp_path / f"near-{seed}.db").close()
        Holdout({"id": np.arange(100 * (seed + 1))}, ledger=tmp_path / f"ids-{seed}.db").close()


def ids(seed: int, rows: int) -> pd.DataFrame:
    labels = np.random.default_rng(seed).integers(0, 2, rows)
    return pd.DataFrame({"id": [f"img_{place:04}.png" for place in range(rows)], "y": labels})


def different(seed: int, rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.integers(0, 22, rows) for name in "abc"}).drop_duplicates()


@pytest.mark.parametrize("make", [ids, different])
def test_what_is_alike_in_unrelated_data_is_no_part(make: Callable[[int, int], pd.DataFrame], tmp_path: Path) -> None:
    """Ids that number rows; and coarse rows of which repeated ones were dropped, so that all are different."""
    for seed, rows in enumerate((1_000, 1_200, 800)):
        Holdout(make(seed, rows), ledger=tmp_path / f"{seed}.db", practice=0).close()


def test_disjoint_parts_are_two_holdouts() -> None:
    whole = people()
    for part in (whole[::2], whole[1::2]):
        Holdout(part, "y", practice=0).close()


def test_a_part_that_somebody_meant_to_seal_is_a_part_still(tmp_path: Path) -> None:
    """Whoever claims rows and ends before they are sealed leaves a word behind, which hid what they are a part of."""
    whole = people()
    Holdout(whole, "y", ledger=tmp_path / "one.db", practice=0).close()
    registry = Registry.open()
    marks = row_marks(Sample.read(whole[::2], "y"), registry.secret)
    assert registry.claim(marks, f"sqlite:///{tmp_path}/two.db", [])
    with pytest.raises(Mismatch, match="about 500 of these 500"):
        Holdout(whole[::2], "y", ledger=tmp_path / "two.db", practice=0)


def test_rows_that_nobody_asks_of_any_more_are_free_again(tmp_path: Path) -> None:
    whole = people()
    first = Holdout(whole, "y", ledger=tmp_path / "one.db", practice=0)
    first.close()
    Registry.open().forget(str(first.ledger_url))
    Holdout(whole[::2], "y", practice=0).close()


def test_memory_is_allowed_where_it_is_spelled_out() -> None:
    whole = people()
    Holdout(whole, "y", practice=0).close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondLedger)
        Holdout(whole[::2], "y", practice=0, ledger=None)
