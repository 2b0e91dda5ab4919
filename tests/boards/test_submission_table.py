from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.boards.small_boards import make_board, overfitted, right_so_often
from tests.postgres_server import postgres_server, postgres_url  # noqa: F401
from unworn.boards.board import Board
from unworn.boards.board_errors import RequestReused, UnknownSubmission
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.submission import Submission
from unworn.boards.submission_table import DraftSubmission, SubmissionTable
from unworn.database import open_database
from unworn.database.sqlite_database import SQLiteDatabase


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "board.db") if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def table(place: str) -> Iterator[SubmissionTable]:
    made = SubmissionTable(open_database(place))
    yield made
    made.close()


def finished(draft: DraftSubmission) -> Submission:
    head = (draft.id, draft.number, draft.team, draft.name, draft.message, draft.at, draft.digest, "accuracy")
    return Submission(*head, 0.5, 0.1, "checked", None, (1,), 0.5, 0.4, 0.6, "guess", False)


TEXTS = np.array(["a", "ü\n", ""], dtype=object)


@pytest.mark.parametrize("values", [np.array([1, 0, 1]), np.array([[0.5, 0.5], [0.1, 0.9]]), TEXTS])
def test_predictions_come_back_as_they_were_sent(table: SubmissionTable, values: Any) -> None:
    sent = Predictions(values, len(values))
    table.begin("0" * 16, "a", sent, None, None, None)
    again = table.predictions(sent.digest)
    assert again.digest == sent.digest
    assert again.values.tolist() == values.tolist()
    with pytest.raises(UnknownSubmission):
        table.predictions("none")


def test_a_draft_is_begun_once_and_finished_once(table: SubmissionTable) -> None:
    sent = Predictions(np.array([1, 0]), 2)
    draft = table.begin("0" * 16, "a", sent, "name", None, "key")
    assert isinstance(draft, DraftSubmission)
    assert table.begin("0" * 16, "a", sent, "another", None, "key") == draft
    assert table.drafts() == [draft]
    assert table.finished() == []
    made = finished(draft)
    for _ in range(2):
        table.database.transact(lambda run: table.finish(run, made))
    assert table.finished() == [made]
    assert table.drafts() == []
    assert table.begin("0" * 16, "a", sent, None, None, "key") == made
    second = table.begin("1" * 16, "b", sent, None, None, "key")
    assert second.number == 2
    with pytest.raises(RequestReused):
        table.begin("2" * 16, "a", Predictions(np.array([0, 0]), 2), None, None, "key")
    table.drop("0" * 16)  # finished, and so kept
    table.drop("1" * 16)
    assert table.finished() == [made]
    assert table.drafts() == []


def test_what_is_noted_first_stays(table: SubmissionTable) -> None:
    assert table.fact("closed") is None
    assert table.note("closed", {"at": 1.5}) == {"at": 1.5}
    assert table.note("closed", {"at": 2.5}) == {"at": 1.5}
    assert table.fact("closed") == {"at": 1.5}


def test_submissions_made_by_another_process_are_seen(place: str, table: SubmissionTable) -> None:
    other = SubmissionTable(open_database(place))
    draft = other.begin("0" * 16, "a", Predictions(np.array([1]), 1), None, None, None)
    assert isinstance(draft, DraftSubmission)
    assert table.finished() == []
    other.database.transact(lambda run: other.finish(run, finished(draft)))
    other.close()
    assert [each.id for each in table.finished()] == ["0" * 16]
    assert table.find("0" * 16) is not None


def test_an_end_at_any_statement_loses_nothing_and_charges_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ends before its first statement, before its second, …; then the same file is sent again."""
    board, labels = make_board(tmp_path / "bench")
    board.release()
    plain, left = SQLiteDatabase.transaction, [0]

    @contextlib.contextmanager
    def until_then(database: SQLiteDatabase, *, write: bool = True) -> Iterator[Any]:
        with plain(database, write=write) as run:

            def counted(statement: str, /, **values: Any) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
                return run(statement, **values)

            yield counted

    monkeypatch.setattr(SQLiteDatabase, "transaction", until_then)
    ends = 0
    for place in range(1, 60):
        sent = right_so_often(labels, 0.8, place)
        with Board(tmp_path / "bench") as before, contextlib.suppress(KeyboardInterrupt):
            before.holdout  # noqa: B018
            left[0] = place
            before.submit(sent, team="blue", request=str(place))
            left[0] = -1
        is_through, left[0] = left[0] == -1, 0
        with Board(tmp_path / "bench") as again:
            told = again.submit(sent, team="blue", request=str(place))
            assert (told.status, told.indexes) == ("checked", (place,))
            assert again.holdout.meter.asked == place
            assert [each.number for each in again.submissions()] == list(range(1, place + 1))
            assert again._table.drafts() == []
        ends += not is_through
        if is_through:
            break
    assert 8 < ends < 59
    with Board(tmp_path / "bench") as last:
        last.holdout.verify()


def _submit(folder: Path, files: list[Any], start: Any) -> None:
    with Board(folder) as board:
        board.holdout  # noqa: B018
        start.wait()
        for sent in files:
            board.submit(sent, team="hostile")


@pytest.mark.parametrize("where", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_processes_cannot_overshoot_the_cap(tmp_path: Path, where: str, request: pytest.FixtureRequest) -> None:
    url = None if where == "sqlite" else str(request.getfixturevalue("postgres_url"))
    board, labels = make_board(tmp_path / "bench", surprises_per_team=3, ledger=url, database=url)
    files = [overfitted(board, labels, seed) for seed in range(12)]
    board.release()
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    workers = [context.Process(target=_submit, args=(tmp_path / "bench", files[place::3], start)) for place in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    with Board(tmp_path / "bench") as again:
        told = [each.status for each in again.submissions()]
        assert sorted(told) == ["checked"] * 3 + ["unchecked"] * 9
        assert again.holdout.meter.surprises == 3
        again.holdout.verify()


@pytest.mark.postgres
def test_a_board_with_its_ledger_and_tables_in_postgresql(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    where = {"ledger": postgres_url, "database": postgres_url}
    board, labels = make_board(tmp_path / "bench", **where)
    with board:
        told = board.submit(right_so_often(labels, 0.8, 1), team="a")
        assert told.status == "checked"
    other, labels_of_other = make_board(tmp_path / "other", seed=1, **where)  # at the same place
    with other:
        assert other.submit(right_so_often(labels_of_other, 0.8, 1), team="a").number == 1
    with Board(tmp_path / "bench") as again:
        assert again.submissions() == [told]
        again.submit(overfitted(again, labels, 1), team="b")
        assert again.holdout.meter.asked == 2
        again.close_board()
        again.holdout.verify()
