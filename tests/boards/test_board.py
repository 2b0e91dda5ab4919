"""A board from its first submission to the cap on surprises, by threads and after crashes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.boards.small_boards import ROWS, make_board, overfitted, right_so_often
from tests.two_sizes import in_two_sizes, reseeded
from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidBoard, InvalidSubmission, RequestReused, UnknownBoard, UnknownSubmission
from unworn.boards.files.sealed_labels import SealedLabels
from unworn.boards.submission_table import SubmissionTable
from unworn.errors import LedgerError


def test_a_submission_is_scored_checked_and_certified(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        sent = right_so_often(labels, 0.8, 1)
        told = board.submit(sent, team="blue", name="first", message="a try")
        assert (told.number, told.team, told.name, told.message, told.status) == (
            1,
            "blue",
            "first",
            "a try",
            "checked",
        )
        assert told.practice is not None
        assert abs(told.practice - 0.8) < 0.1  # ten standard errors of 1,000 rows
        assert told.low is not None
        assert told.high is not None
        assert told.low < told.practice < told.high
        (card,) = board.cards(told.id)
        card.verify()
        assert card.record.by == "blue"
        assert card.record.tags == {"submission": told.id}
        assert board.submission(told.id) == told
        assert board.predictions(told.id).rows == ROWS
        assert [row.team for row in board.standings().rows] == ["blue"]
        board.holdout.verify()


def test_the_same_file_again_is_the_same_and_free(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        sent = right_so_often(labels, 0.8, 1)
        told = board.submit(sent, team="blue", request="key")
        rng = np.random.default_rng(0)
        order = rng.permutation(ROWS)
        shuffled = {name: np.asarray(values)[order] for name, values in sent.items()}
        assert board.submit(shuffled, team="blue", name="again") == told
        assert board.submit(sent, team="blue", request="key") == told
        assert board.holdout.meter.asked == 1
        other = board.submit(sent, team="red")
        assert other.id != told.id
        assert (other.value, other.low, other.indexes) == (told.value, told.low, told.indexes)
        assert board.holdout.meter.asked == 1
        with pytest.raises(RequestReused, match="another file"):
            board.submit(right_so_often(labels, 0.7, 2), team="blue", request="key")
        assert board.submit(right_so_often(labels, 0.7, 2), team="red", request="key").number == 3


def test_a_board_is_opened_again_as_it_was(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        told = [board.submit(right_so_often(labels, 0.6 + 0.1 * k, k), team=f"t{k}") for k in range(3)]
    with Board(tmp_path / "bench") as again:
        assert again.submissions() == told
        assert again.submissions("t1") == [told[1]]
        assert (again.size, again.practice_size) == (ROWS // 2, ROWS // 2)
        assert again.submit(right_so_often(labels, 0.6, 0), team="t0") == told[0]
        assert again.holdout.meter.asked == 3
    with pytest.raises(UnknownBoard):
        Board(tmp_path)


def test_what_scores_mean_cannot_be_changed_later(tmp_path: Path) -> None:
    board, _ = make_board(tmp_path / "bench")
    board.release()
    path = tmp_path / "bench" / "board.toml"
    text = path.read_text()
    path.write_text(text.replace('metric = "accuracy"', 'metric = "f1"'))
    with pytest.raises(InvalidBoard, match="metric is 'f1', and the board was made with 'accuracy'"):
        Board(tmp_path / "bench")
    path.write_text(text.replace("surprises_per_team = 5", "surprises_per_team = 9"))
    with Board(tmp_path / "bench") as again:
        assert again.config.surprises_per_team == 9


def test_rows_are_not_sealed_again_where_their_ledger_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        board.submit(right_so_often(labels, 0.7, 1), team="red")
    for path in (tmp_path / "bench").glob("ledger.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "another"))  # a machine that does not know these rows
    with Board(tmp_path / "bench") as again, pytest.raises((InvalidBoard, LedgerError), match="ledger"):
        again.submit(right_so_often(labels, 0.8, 2), team="red")
    assert not list((tmp_path / "bench").glob("ledger.db.keys/*"))


def test_predictions_are_never_joined_to_other_ids_than_the_board_was_made_with(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    board.release()
    sealed = SealedLabels.load(tmp_path / "bench")
    (tmp_path / "bench" / "labels.sealed").unlink()
    SealedLabels(sealed.ids[::-1], sealed.columns).save(tmp_path / "bench")
    with Board(tmp_path / "bench") as again, pytest.raises(InvalidBoard, match="has other ids"):
        again.submit(right_so_often(labels, 0.8, 2), team="red")


def test_wrong_submissions_cost_nothing_and_say_what_is_wrong(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench")
    with board:
        sound = right_so_often(labels, 0.8, 1)
        wrong = [
            (b"", "empty"),
            (b"id,prediction\n0,1\n", "id '1' is missing"),
            ({**sound, "prediction": np.full(ROWS, 0.3)}, "counts labels predicted exactly"),
            ({"id": sound["id"], "p": sound["prediction"]}, "no column 'prediction'"),
            (tmp_path / "none.csv", "cannot be read"),
        ]
        for source, words in wrong:
            with pytest.raises(InvalidSubmission, match=words):
                board.submit(source, team="blue")
            with pytest.raises(InvalidSubmission, match=words):
                board.validate(source)
        for team in ("", "  ", "x" * 101, 3, "nul\0l"):
            with pytest.raises(InvalidSubmission, match="team is a text"):
                board.submit(sound, team=team)  # type: ignore[arg-type]
        with pytest.raises(UnknownSubmission):
            board.submission("0" * 16)
        assert board.submissions() == []
        assert board.holdout.meter.asked == 0
        assert board._table.drafts() == []


def test_a_team_over_its_cap_is_shown_unchecked_and_costs_nobody_anything(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", surprises_per_team=2)
    with board:
        for seed in range(2):
            told = board.submit(overfitted(board, labels, seed), team="hostile")
            assert told.surprise
            assert told.practice == 1.0
            assert told.low is not None
            assert told.high is not None
            assert told.low < 0.5 < told.high
        spent = board.holdout.meter.spent
        third = board.submit(overfitted(board, labels, 2), team="hostile")
        assert (third.status, third.value, third.low, third.indexes) == ("unchecked", None, None, ())
        assert third.why is not None
        assert "2 surprises" in third.why
        assert third.practice == 1.0
        assert board.holdout.meter.spent == spent
        honest = board.submit(right_so_often(labels, 0.8, 9), team="honest")
        assert honest.status == "checked"
        by_team = {each.team: each for each in board.spending()}
        assert (by_team["hostile"].surprises, by_team["honest"].surprises) == (2, 0)
        assert by_team["hostile"].nats > 10 > by_team["honest"].nats
        rows = board.standings().rows
        assert rows[0].team == "honest"
        board.release()
    with Board(tmp_path / "bench") as again:  # counted from the ledger, and not from anything that could be lost
        assert again.submit(overfitted(again, labels, 3), team="hostile").status == "unchecked"


def test_threads_cannot_overshoot_the_cap(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", surprises_per_team=3)
    with board, ThreadPoolExecutor(8) as pool:
        files = [overfitted(board, labels, seed) for seed in range(16)]
        honest = [right_so_often(labels, 0.7, 100 + seed) for seed in range(8)]
        told = list(pool.map(lambda sent: board.submit(sent, team="hostile"), files))
        same = list(pool.map(lambda _: board.submit(honest[0], team="honest"), range(8)))
        others = list(pool.map(lambda sent: board.submit(sent, team="others"), honest))
        assert sorted(each.status for each in told) == ["checked"] * 3 + ["unchecked"] * 13
        assert len({each.id for each in same}) == 1
        assert {each.status for each in others} == {"checked"}
        assert sorted(each.number for each in board.submissions()) == list(range(1, 16 + 1 + 8 + 1))
        board.holdout.verify()


CRASH = """
import os, signal, sys
import numpy as np
from unworn.boards import scoring_rules, submission_table
from unworn.boards.board import Board

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] == "before the ledger":
    scoring_rules.ScoringRule.score = die
else:
    submission_table.SubmissionTable.finish = staticmethod(die)
with np.load(sys.argv[3]) as sent:
    Board(sys.argv[1]).submit({"id": sent["id"], "prediction": sent["prediction"]}, team="blue", request="key")
"""


@pytest.mark.parametrize("where", ["before the ledger", "between ledger and table"])
def test_a_crash_loses_nothing_and_charges_nothing_twice(tmp_path: Path, where: str) -> None:
    board, labels = make_board(tmp_path / "bench")
    board.release()
    sent = right_so_often(labels, 0.8, 1)
    np.savez(tmp_path / "sent.npz", **sent)
    command = [sys.executable, "-c", textwrap.dedent(CRASH), str(tmp_path / "bench"), where, str(tmp_path / "sent.npz")]
    ended = subprocess.run(command, env=dict(os.environ), timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL
    with Board(tmp_path / "bench") as again:
        charged = 0 if where == "before the ledger" else 1
        assert again.holdout.meter.asked == charged
        found = again.submissions()
        assert len(found) == charged  # what was charged is told, though nobody sent it again
        told = again.submit(sent, team="blue", request="key")
        assert (told.number, told.status) == (1, "checked")
        assert found in ([], [told])
        assert again.submit(right_so_often(labels, 0.7, 2), team="red").number == 2
        assert again.holdout.meter.asked == 2
        again.holdout.verify()


def test_what_was_charged_is_told_also_after_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process crashes between ledger and table, and the board is marked as closed before anybody looks."""
    board, labels = make_board(tmp_path / "bench")
    sent = right_so_often(labels, 0.8, 1)
    with board, monkeypatch.context() as patched:

        def crash(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(SubmissionTable, "finish", staticmethod(crash))
        with pytest.raises(KeyboardInterrupt):
            board.submit(sent, team="blue")
        board._table.note("closed", {"at": 1.0, "top": 3})
    with Board(tmp_path / "bench") as again:
        (told,) = again.submissions()
        assert again.submit(sent, team="blue") == told
        assert [each.team for each in again.close_board().finals] == ["blue"]


@in_two_sizes((450, 450), (1_500, 150))
def test_the_vote_of_what_looked_best_is_a_surprise(size: tuple[int, int], tmp_path: Path) -> None:
    """2 × 5,000 rows. Coins agree with their practice scores; a vote of those that scored furthest from one half, each
    turned the way that practice rows liked, does not.

    A coin surprises with probability below 1e-4, so six of 1,500 never do (below 1e-8). The vote of 450 gains .09 on
    practice rows, five standard errors more than the slack of .04 hides (below 1e-6); that of the best 150 gains more.
    """
    submissions, voters = size
    board, _ = make_board(tmp_path / "bench", rows=10_000)
    rng = np.random.default_rng(reseeded(7))
    ids, coins = np.arange(10_000), rng.integers(0, 2, (submissions, 10_000))
    with board:
        told = [board.submit({"id": ids, "prediction": coin}, team=f"t{k % 50}") for k, coin in enumerate(coins)]
        assert sum(each.surprise for each in told) <= 5
        beyond = np.array([0.0 if each.practice is None else each.practice - 0.5 for each in told])
        chosen = np.argsort(-np.abs(beyond))[:voters]
        weights = np.zeros(submissions)
        weights[chosen] = np.where(beyond[chosen] > 0, 1, -1)
        vote = (weights @ (2 * coins - 1) > 0).astype(int)
        last = board.submit({"id": ids, "prediction": vote}, team="boosting")
        assert last.practice is not None
        assert last.practice > 0.55
        assert last.surprise
        assert last.low is not None
        assert last.high is not None
        assert last.low < 0.5 < last.high
        assert last.high < last.practice
        assert board.standings().rows[0].rank == 1
