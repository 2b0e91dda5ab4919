"""Practice rows without the key, and from another process."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from tests.holdout.practice.support import Sign, people, split
from unworn import Holdout
from unworn.errors import ReadOnly, Unaskable


def test_without_the_key_nobody_knows_which_rows_they_are(tmp_path: Path) -> None:
    sealed = Holdout(people(), "y", practice=0.25, name="people", ledger=tmp_path / "ledger.db")
    answer = sealed.score(Sign())
    sealed.close()
    shutil.rmtree(tmp_path / "ledger.db.keys")
    keyless = Holdout(people(), "y", name="people", ledger=tmp_path / "ledger.db")
    assert keyless.read_only
    assert (keyless.size, keyless.practice.size, keyless._sample.rows) == (750, 250, 0)
    for look in (lambda: keyless.practice.score(Sign()), lambda: keyless.practice.ask("a > 0")):
        with pytest.raises(ReadOnly, match="only the key says which rows are for practice"):
            look()
    with pytest.raises(ReadOnly):
        keyless.ask("a > 0")
    assert keyless.answers["value"].tolist() == [answer.value]
    keyless.verify(answer.certificate)
    keyless.close()


def _look(holdout: Any, practice: Any) -> tuple[Any, ...]:
    told = holdout.practice.score(Sign(), metric="accuracy", name="sign")
    assert practice.score(Sign(), name="sign") == told
    with pytest.raises(Unaskable, match="x9"):
        holdout.practice.ask("x9 > 0")
    answer = holdout.score(Sign(), name="sign")
    return (
        told,
        holdout.practice.compare(Sign(), Sign(0.2)),
        holdout.practice.ask("a > 0"),
        answer.practice,
        answer.value,
    )


@pytest.mark.parametrize("by_path", [True, False], ids=["reopened", "over the connection"])
def test_a_worker_looks_at_the_same_rows(by_path: bool, tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    data = tmp_path / "people.parquet" if by_path else people()
    holdout = Holdout(data, "y", practice=0.25, ledger=tmp_path / "ledger.db")
    assert pickle.loads(pickle.dumps(holdout)) is holdout
    assert pickle.loads(pickle.dumps(holdout.practice)).ask("a > 0") == holdout.practice.ask("a > 0")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        told = pool.apply(_look, (holdout, holdout.practice))
    expected = holdout.practice.score(Sign(), name="sign")
    assert told == (
        expected,
        holdout.practice.compare(Sign(), Sign(0.2)),
        holdout.practice.ask("a > 0"),
        expected,
        expected.value,
    )
    assert holdout.meter.asked == 1
    holdout.close()


def test_in_a_search_the_fold_guesses() -> None:
    frame, other = people(), people(300, seed=1)
    holdout = Holdout(frame[["a", "y"]], "y", practice=0.25, ledger=None)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=holdout.scorer("accuracy"), cv=2)
    search.fit(other[["a"]], other["y"])
    records = holdout._desk.transcript.records
    assert len(records) == 4
    assert {record.guess.origin for record in records if record.guess is not None} == {"asker"}
    assert split(holdout)
