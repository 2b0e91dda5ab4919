"""The gate of a real board: verdicts are durable, repeats are the same, and claims hold."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.postgres_server import postgres_server, postgres_url  # noqa: F401
from unworn.boards.board import Board
from unworn.boards.board_errors import (
    BoardClosed,
    GateFinished,
    GateUnavailable,
    InvalidSubmission,
    RequestReused,
)
from unworn.boards.gate import Gate
from unworn.boards.gate_values import GateVerdict
from unworn.boards.graders.own_grader import OwnGrader
from unworn.errors import Mismatch

ROWS = 1_200
Y = np.random.default_rng(5).integers(0, 2, ROWS)


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    labels = {"id": np.arange(ROWS), "label": Y}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", metric="accuracy") as made:
        yield made


def sent(right: float, seed: int = 0) -> dict[str, Any]:
    """Predictions that are right with this chance, and differ little from each other."""
    coins = np.random.default_rng(seed).random(ROWS)
    return {"id": np.arange(ROWS), "prediction": np.where(coins < right, Y, 1 - Y)}


def test_better_is_kept_and_the_rest_reverted(board: Board) -> None:
    gate = Gate(board, "blue")
    first, better, worse = (gate.propose(sent(right), str(right)) for right in (0.5, 0.7, 0.6))
    assert (first.keep, first.before, better.keep, better.kept) == (True, None, True, 2)
    assert (worse.keep, worse.kept, worse.message) == (False, 2, "0.6")
    assert (
        worse.before
        == better.practice
        == pytest.approx(board.practice(board.question(board.validate(sent(0.7)))).value)
    )
    state = gate.state
    assert (state.proposals, state.kept, state.confirmed, state.certified) == (3, 2, 1, 0.0)
    assert state.practice_gain == pytest.approx(better.practice - first.practice)
    assert board.holdout.meter.asked == 0  # steps are free


def test_a_milestone_certifies_what_is_real_and_the_lane_ends_with_a_claim(board: Board) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    told = gate.propose(sent(0.8), check=True).milestone
    assert told is not None
    assert told.is_confirmed
    assert 0 < told.low < 0.3 < told.high
    assert gate.state.certified == told.low
    claim = gate.finish()
    assert claim.gain is not None
    assert claim.gain_low <= 0.3 <= claim.gain_high
    assert claim.gain_high - claim.gain_low < told.high - told.low
    assert claim.score_low <= 0.8 <= claim.score_high
    assert gate.finish() == claim
    assert gate.state.is_finished
    with pytest.raises(GateFinished, match="Choose another lane"):
        gate.propose(sent(0.9))
    assert Gate(board, "blue", lane="second").propose(sent(0.9)).proposal == 1


def test_the_same_request_or_the_same_file_at_once_gets_the_same_verdict(board: Board) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5), request="k1")
    told = gate.propose(sent(0.7), "more", request="k2")
    gate.propose(sent(0.6))
    assert Gate(board, "blue").propose(sent(0.7), request="k2") == told  # also after others
    assert gate.propose(sent(0.6)).proposal == 3
    assert gate.propose(sent(0.6), "another idea").proposal == 4
    with pytest.raises(RequestReused):
        gate.propose(sent(0.8), request="k2")
    assert gate.state.proposals == 4


def test_a_proposal_whose_answer_was_lost_is_the_same_under_another_key(board: Board) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5), "start", request="k1")
    told = gate.propose(sent(0.8), "wider", request="k2")
    assert told.keep
    assert gate.propose(sent(0.8), "wider", request="k3") == told  # who compared it with itself would say revert
    assert gate.propose(sent(0.8), "wider") == told
    assert gate.state.proposals == 2
    gate.propose(sent(0.6), "another idea", request="k4")
    assert gate.propose(sent(0.8), "wider", request="k3") == told  # the key stands for the proposal from then on
    with pytest.raises(RequestReused):
        gate.propose(sent(0.7), request="k3")
    assert gate.state.proposals == 3
    assert gate.propose(sent(0.8), "wider", request="k5").proposal == 4  # after another, it is a new one


def test_a_check_that_comes_twice_is_made_once_and_one_that_was_not_asked_for_is_made(board: Board) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5), request="k1")
    assert gate.propose(sent(0.8), request="k2").milestone is None
    told = gate.propose(sent(0.8), check=True, request="k3")
    assert told.milestone is not None
    asked = board.holdout.meter.asked
    assert gate.propose(sent(0.8), check=True, request="k4") == told
    assert gate.propose(sent(0.8), request="k5") == told
    assert (gate.state.proposals, len(gate.state.milestones), board.holdout.meter.asked) == (3, 1, asked)


def test_lanes_at_once_cannot_overshoot_what_a_team_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.boards.gate.NATS_PER_SURPRISE", 1e-9)  # whatever is asked uses everything up
    labels, lanes = {"id": np.arange(ROWS), "label": Y}, 6
    with Board.create(tmp_path / "b", labels, id="id", target="label", metric="accuracy") as board:
        for lane in range(lanes):
            Gate(board, "blue", lane=str(lane)).propose(sent(0.5, lane))
        ready, looked = threading.Barrier(lanes), board.spending
        monkeypatch.setattr(board, "spending", lambda: (looked(), time.sleep(0.05))[0])  # long enough to be overtaken
        told: list[GateVerdict] = []

        def climb(lane: int) -> None:
            gate = Gate(board, "blue", lane=str(lane))
            ready.wait(30)
            told.append(gate.propose(sent(0.7 + 0.02 * lane, lane), check=True))

        threads = [threading.Thread(target=climb, args=(lane,)) for lane in range(lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert len(told) == lanes
        assert sum(each.milestone is not None for each in told) == 1
        assert sum("used up" in str(each.note) for each in told) == lanes - 1
        assert {record.tags["gate"] for record in board.holdout._desk.released().records} == {
            str(lane) for lane in range(lanes) if Gate(board, "blue", lane=str(lane)).state.milestones
        }


def claim_at_once(folder: str, lane: str, ready: Any, told: Any) -> None:
    """One of several processes of a team that end their lanes at the same moment."""
    import unworn.boards.gate as module

    module.NATS_PER_SURPRISE = 1e-9
    with Board(folder) as board:
        gate = Gate(board, "blue", lane=lane)
        board.spending()
        ready.wait(60)
        try:
            gate.finish()
            told.put("claimed")
        except GateUnavailable:
            told.put("refused")


@pytest.mark.parametrize("where", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_processes_at_once_cannot_overshoot_what_a_team_has_left(
    tmp_path: Path, where: str, request: pytest.FixtureRequest
) -> None:
    url = None if where == "sqlite" else str(request.getfixturevalue("postgres_url"))
    labels, lanes = {"id": np.arange(ROWS), "label": Y}, [str(lane) for lane in range(4)]
    how: dict[str, Any] = {"id": "id", "target": "label", "metric": "accuracy", "ledger": url, "database": url}
    with Board.create(tmp_path / "bench", labels, **how) as board:
        for lane in lanes:
            gate = Gate(board, "blue", lane=lane)
            gate.propose(sent(0.5, int(lane)))
            gate.propose(sent(0.7, int(lane)))
    spawn = multiprocessing.get_context("spawn")
    ready, told = spawn.Barrier(len(lanes)), spawn.Queue()
    workers = [spawn.Process(target=claim_at_once, args=(str(board.folder), lane, ready, told)) for lane in lanes]
    for worker in workers:
        worker.start()
    outcomes = sorted(told.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join(30)
    assert outcomes == ["claimed", *["refused"] * (len(lanes) - 1)]
    with Board(board.folder) as again:
        again.holdout.verify()


def test_a_crash_before_the_milestone_is_settled_costs_nothing_twice(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    with monkeypatch.context() as patch:
        patch.setattr(gate._tables, "settle", _crash)
        with pytest.raises(MemoryError):
            gate.propose(sent(0.8), check=True)
    asked = board.holdout.meter.asked
    assert asked >= 1
    fresh = Gate(Board(board.folder), "blue")
    told = fresh.propose(sent(0.8), check=True)
    assert told.keep
    assert told.milestone is not None
    assert (told.proposal, fresh._board.holdout.meter.asked) == (2, asked)
    fresh._board.release()


def test_a_crash_after_a_teams_last_surprise_loses_no_milestone(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.boards.gate.NATS_PER_SURPRISE", 1e-9)  # whatever was asked used everything up
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    with monkeypatch.context() as patch:
        patch.setattr(gate._tables, "settle", _crash)
        with pytest.raises(MemoryError):
            gate.propose(sent(0.8), check=True)
    asked = board.holdout.meter.asked
    assert asked >= 1
    told = gate.propose(sent(0.8), check=True)
    assert told.milestone is not None
    assert told.note is None
    assert board.holdout.meter.asked == asked


def test_whoever_comes_next_settles_what_a_crash_left(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    with monkeypatch.context() as patch:
        patch.setattr("unworn.boards.gating.gate_climb.Climb.settle", _crash)
        with pytest.raises(MemoryError):
            gate.propose(sent(0.8), check=True)
    assert not gate.propose(sent(0.7)).keep
    state = gate.state
    assert (state.proposals, state.confirmed, len(state.milestones)) == (3, 2, 1)


def _crash(*_: object) -> None:
    raise MemoryError


def test_threads_of_one_lane_take_turns(board: Board) -> None:
    Gate(board, "blue").propose(sent(0.5))
    verdicts: list[Any] = []

    def work(seed: int) -> None:
        own = Gate(board, "blue")
        verdicts.extend(own.propose(sent(0.6, 10 * seed + turn)) for turn in range(3))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(each.proposal for each in verdicts) == list(range(2, 11))
    kept = [each for each in sorted(verdicts, key=lambda each: each.proposal) if each.keep]
    scores = [each.practice for each in kept]
    assert scores == sorted(set(scores))  # each kept one beat the one before
    assert Gate(board, "blue").state.kept == kept[-1].proposal


def test_proving_is_chosen_when_a_lane_starts(board: Board) -> None:
    gate = Gate(board, "blue", prove=True)
    gate.propose(sent(0.5))
    small, large = gate.propose(sent(0.51, 0)), gate.propose(sent(0.9))
    assert not small.keep
    assert large.keep
    assert large.milestone is not None
    assert large.milestone.low > 0
    with pytest.raises(Mismatch, match="with prove"):
        Gate(board, "blue").propose(sent(0.95))


def test_pools_part_the_practice_rows(board: Board) -> None:
    gate, whole = Gate(board, "blue", pools=2), Gate(board, "red")
    files = [sent(0.5, seed) for seed in range(12)]  # each is as right on half of the rows with a chance below 1 in 20
    assert [gate.propose(each).practice for each in files] != [whole.propose(each).practice for each in files]
    assert gate.state.pools == 2
    assert Gate(board, "blue").state.pools == 2  # as it was started
    with pytest.raises(GateUnavailable, match="pools"):
        Gate(board, "blue", pools=100)


def test_the_organiser_chooses_how_many_pools_new_lanes_have(tmp_path: Path) -> None:
    labels = {"id": np.arange(ROWS), "label": Y}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", metric="accuracy", pools=3) as made:
        assert Gate(made, "blue").state.pools == 3
    assert "pools = 3" in (tmp_path / "bench" / "board.toml").read_text()


def test_a_team_that_spent_its_share_climbs_on_unchecked(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.boards.gate.NATS_PER_SURPRISE", 1e-9)
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    assert gate.propose(sent(0.7), check=True).milestone is not None
    later = gate.propose(sent(0.9), check=True)
    assert later.keep
    assert later.milestone is None
    assert "used up" in str(later.note)
    with pytest.raises(GateUnavailable, match="used up"):
        gate.finish()


def test_refusals(board: Board) -> None:
    with pytest.raises(GateUnavailable, match="nothing was proposed"):
        Gate(board, "blue").finish()
    with pytest.raises(InvalidSubmission):
        Gate(board, "blue").propose({"id": [1], "prediction": [1]})
    with pytest.raises(InvalidSubmission):
        Gate(board, "")
    Gate(board, "blue").propose(sent(0.5))
    board.close_board()
    with pytest.raises(BoardClosed):
        Gate(board, "blue").propose(sent(0.6))


def test_only_boards_with_practice_rows_have_a_gate(tmp_path: Path) -> None:
    labels = {"id": np.arange(ROWS), "label": Y}
    ladder = Board.create(tmp_path / "bench", labels, id="id", target="label", rule="ladder")
    with ladder, pytest.raises(GateUnavailable, match="practice-and-check"):
        Gate(ladder, "blue")


@pytest.mark.parametrize("metric", ["neg_mae", "mae", "f1"])
def test_losses_fall_and_other_metrics_rise(tmp_path: Path, metric: str) -> None:
    labels = {"id": np.arange(ROWS), "label": Y if metric == "f1" else Y.astype(float)}
    how = {"positive": 1} if metric == "f1" else {"range": (0.0, 1.0)}
    with Board.create(tmp_path / "b", labels, id="id", target="label", metric=metric, **how) as made:
        gate = Gate(made, "blue")
        gate.propose(sent(0.5))
        better, worse = gate.propose(sent(0.8), check=True), gate.propose(sent(0.6))
        assert (better.keep, worse.keep) == (True, False)
        assert better.milestone is not None
        assert better.milestone.low < better.milestone.practice_gain < better.milestone.high
        claim = gate.finish()
        assert claim.gain is not None
        assert claim.gain > 0.15


def propose_on_and_on(folder: str, told: str) -> None:
    """A loop in a process of its own, which writes down each verdict that it has seen."""
    gate = Gate(Board(folder), "blue")
    for number in range(1_000):
        verdict = gate.propose(sent(0.5 + 0.01 * (number % 40)), f"idea {number}", check=True, request=f"key {number}")
        with open(told, "a") as file:
            file.write(json.dumps(verdict.to_json()) + "\n")


def test_what_a_killed_loop_was_told_is_what_the_lane_knows(board: Board, tmp_path: Path) -> None:
    told = tmp_path / "told.jsonl"
    loop = multiprocessing.get_context("spawn").Process(target=propose_on_and_on, args=(str(board.folder), str(told)))
    loop.start()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (told.exists() and told.read_text().count("\n") >= 6):
        time.sleep(0.01)
    loop.kill()
    loop.join(30)
    seen = [
        GateVerdict.from_json(json.loads(line))
        for line in told.read_text().splitlines(keepends=True)
        if line[-1:] == "\n"
    ]
    assert len(seen) >= 6
    gate = Gate(board, "blue")
    for number, verdict in enumerate(seen):
        assert gate.propose(sent(0.5 + 0.01 * (number % 40)), f"idea {number}", request=f"key {number}") == verdict
    assert gate.state.proposals in (len(seen), len(seen) + 1)  # the last may have been entered and not been seen
    assert gate.propose(sent(0.95), "last").keep


def test_a_proposal_that_the_grader_cannot_score_is_reverted(tmp_path: Path) -> None:
    grader = tmp_path / "grade.py"
    grader.write_text("def score(p, r):\n    1 / (p != 'boom')\n    return (p == r) * 1.0\n")
    labels = {"id": np.arange(200), "label": np.where(Y[:200], "yes", "no")}
    answers = {"id": np.arange(200), "prediction": ["yes"] * 200}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", grader=f"{grader}:score") as made:
        gate = Gate(made, "blue")
        with pytest.raises(InvalidSubmission, match="cannot start"):
            gate.propose({**answers, "prediction": ["boom"] * 200})
        assert gate.propose(answers).keep
        failed = gate.propose({**answers, "prediction": ["boom"] * 200})
        assert (failed.keep, failed.practice, failed.kept) == (False, None, 1)
        assert "no score" in failed.line
        assert gate.state.proposals == 2


def test_nobody_waits_for_a_lanes_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grader = tmp_path / "grade.py"
    grader.write_text("def score(p, r):\n    return (p == r) * 1.0\n")
    right = np.where(Y[:400], "yes", "no").astype(object)
    labels, first = {"id": np.arange(400), "label": right}, {"id": np.arange(400), "prediction": ["yes"] * 400}
    how: dict[str, Any] = {"id": "id", "target": "label", "grader": f"{grader}:score", "practice": 0.4}
    with Board.create(tmp_path / "bench", labels, **how) as made:
        graded: list[tuple[int, bool]] = []  # how many rows, and whether others had to wait meanwhile
        whole = OwnGrader.grade

        def grade(self: OwnGrader, predictions: list[Any], references: list[Any]) -> Any:
            graded.append((len(references), made._turn._is_owned()))  # type: ignore[attr-defined]
            return whole(self, predictions, references)

        monkeypatch.setattr(OwnGrader, "grade", grade)
        gate = Gate(made, "blue")
        gate.propose(first)
        assert made.size not in {rows for rows, _ in graded}
        milestone = gate.propose({**first, "prediction": right}, check=True).milestone
        assert milestone is not None
        claim = gate.finish()
        assert milestone.low <= claim.gain_low <= claim.gain_high <= milestone.high
        assert claim.score_low > 0.9
        assert made.size in {rows for rows, _ in graded}
        assert not any(is_held for _, is_held in graded)


def test_a_grader_that_fails_on_check_rows_alone_was_asked_and_charged(tmp_path: Path) -> None:
    grader = tmp_path / "grade.py"
    grader.write_text("def score(p, r):\n    1 / (p != 'boom')\n    return (p == r) * 1.0\n")
    right = np.where(Y[:400], "yes", "no").astype(object)
    labels, first = {"id": np.arange(400), "label": right}, {"id": np.arange(400), "prediction": ["yes"] * 400}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", grader=f"{grader}:score") as made:
        gate = Gate(made, "blue")
        gate.propose(first)
        practice = set(made.holdout._practice_rows.origin.tolist())  # type: ignore[union-attr]
        sealed = next(int(name) for place, name in enumerate(made.ids) if place not in practice)
        texts = right.copy()
        texts[sealed] = "boom"
        failed = gate.propose({**first, "prediction": texts}, check=True)
        assert failed.milestone is None
        assert made.holdout.meter.asked == 1
        assert "entered and charged" in str(failed.note)
        assert "not asked" not in failed.line


def test_a_team_without_surprises_is_never_checked(tmp_path: Path) -> None:
    labels = {"id": np.arange(ROWS), "label": Y}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", surprises_per_team=0) as made:
        gate = Gate(made, "blue")
        gate.propose(sent(0.5))
        told = gate.propose(sent(0.8), check=True)
        assert told.keep
        assert told.milestone is None
        assert made.holdout.meter.asked == 0


def test_a_closed_board_finishes_no_lane(board: Board) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    gate.propose(sent(0.7))
    board.close_board()  # nobody submitted, so there was no final number that would have retired the rows
    with pytest.raises(GateUnavailable, match="board is closed"):
        gate.finish()
    assert board.holdout.meter.asked == 0


def test_a_claim_that_retires_the_rows_closes_the_board(board: Board) -> None:
    gate = Gate(board, "agent")
    gate.propose(sent(0.6), "start")
    claim = gate.finish(close=True)
    assert board.closed
    assert gate.finish() == claim
    with pytest.raises(BoardClosed):
        board.submit(sent(0.7), team="late")
    assert board.close_board().finals == ()


@pytest.mark.parametrize("metric", ["f1", "roc_auc"])
def test_a_rare_class_that_parts_of_the_practice_rows_lack_stops_no_loop(tmp_path: Path, metric: str) -> None:
    rng = np.random.default_rng(2)
    labels = (rng.random(ROWS) < 0.05).astype(
        int
    )  # thirty in practice: one of its twenty parts has none, nearly surely
    scores = [labels + noise * rng.standard_normal(ROWS) for noise in (1.5, 0.6, 0.1)]
    frame = {"id": np.arange(ROWS), "label": labels}
    with Board.create(tmp_path / "bench", frame, id="id", target="label", metric=metric) as made:
        gate = Gate(made, "blue")
        told = [
            gate.propose({"id": np.arange(ROWS), "prediction": each if metric == "roc_auc" else (each > 0.8) * 1})
            for each in scores
        ]
        assert [each.note for each in told] == [None] * 3
        assert [each.keep for each in told] == [True] * 3
        assert gate.state.practice_gain == pytest.approx(told[2].practice - told[0].practice)  # type: ignore[operator]


def test_hardly_better_is_reverted_and_says_why(board: Board) -> None:
    gate = Gate(board, "blue")
    practice = board.holdout._practice_rows
    assert practice is not None
    assert practice.origin is not None
    rows = [int(board.ids[place]) for place in practice.origin]
    start = sent(0.5)["prediction"].copy()
    gate.propose({"id": np.arange(ROWS), "prediction": start})
    wrong, right = ([row for row in rows if bool(start[row] == Y[row]) is is_right] for is_right in (False, True))
    close, clear = start.copy(), start.copy()
    for change, gained, lost in ((close, 40, 37), (clear, 40, 30)):
        turned = wrong[:gained] + right[:lost]
        change[turned] = 1 - change[turned]
    told = gate.propose({"id": np.arange(ROWS), "prediction": close})
    assert not told.keep
    assert told.practice > told.before  # type: ignore[operator]
    assert "less than half of its standard error" in told.line
    assert gate.propose({"id": np.arange(ROWS), "prediction": clear}).keep


def test_a_claim_that_was_cut_off_is_told_also_by_a_team_that_spent_its_share(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(board, "blue")
    gate.propose(sent(0.5))
    gate.propose(sent(0.8))
    with monkeypatch.context() as patch:
        patch.setattr(gate._tables, "finish", _crash)
        with pytest.raises(MemoryError):
            gate.finish()
    asked = board.holdout.meter.asked
    assert asked >= 2
    monkeypatch.setattr("unworn.boards.gate.NATS_PER_SURPRISE", 1e-9)  # whatever was asked used everything up
    claim = gate.finish()
    assert claim.gain_low <= 0.3 <= claim.gain_high  # type: ignore[operator]
    assert board.holdout.meter.asked == asked


def test_the_parts_of_one_milestone_are_one_surprise(tmp_path: Path) -> None:
    labels = {"id": np.arange(ROWS), "label": Y}
    with Board.create(tmp_path / "bench", labels, id="id", target="label", metric="f1") as made:
        practice = made.holdout._practice_rows
        assert practice is not None
        assert practice.origin is not None
        gate = Gate(made, "blue")
        gate.propose(sent(0.5))
        cheat = sent(0.5, 1)["prediction"].copy()
        seen = [int(made.ids[place]) for place in practice.origin]
        cheat[seen] = Y[seen]
        told = gate.propose({"id": np.arange(ROWS), "prediction": cheat}, check=True).milestone
        assert told is not None
        assert told.is_surprise
        (spent,) = made.spending()
        assert (spent.submissions, spent.surprises) == (1, 1)
        assert made.holdout.meter.asked > 1
