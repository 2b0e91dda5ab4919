from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.boards.small_boards import ROWS, make_board, right_so_often
from unworn.boards.board import Board
from unworn.boards.board_errors import InvalidBoard


def test_a_ladder_compares_rows_and_tells_better_or_not(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", rule="ladder")
    with board:
        assert board.practice_size == 0
        told = [board.submit(right_so_often(labels, share, k), team=f"t{k}") for k, share in enumerate((0.6, 0.9, 0.6))]
        assert [each.source for each in told] == ["first", "better", "not better"]
        assert all(each.value is None and each.low is None and each.practice is None for each in told)
        rows = board.standings().rows
        assert (rows[0].team, rows[0].rank, rows[0].is_step) == ("t1", 1, True)
        assert all(row.rank is None for row in rows[1:])
        # Two files that hardly differ are compared by the rows on which they do: that is free, and told by the files.
        nearly = right_so_often(labels, 0.9, 1)
        nearly["prediction"] = np.array(nearly["prediction"])
        nearly["prediction"][:40] = labels[:40]
        (card,) = board.cards(board.submit(nearly, team="t4").id)
        assert card.record.guess is None or card.record.guess.discordance is None or card.record.guess.discordance < 0.1
        board.holdout.verify()


def test_a_step_that_a_crash_left_untold_is_told_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, labels = make_board(tmp_path / "bench", rule="ladder")
    with board, Board(tmp_path / "bench") as other:
        board.submit(right_so_often(labels, 0.5, 0), team="a")
        assert other.holdout.meter.asked == 0  # opened, so that it does not find the crash when it is
        with monkeypatch.context() as patch:
            patch.setattr("unworn.boards.submission_table.SubmissionTable.finish", _crash)
            with pytest.raises(MemoryError):
                board.submit(right_so_often(labels, 0.7, 1), team="a")
        assert other.submit(right_so_often(labels, 0.85, 2), team="b").source == "better"
        told = other.submit(right_so_often(labels, 0.7, 1), team="a")
        assert (told.source, told.indexes) == ("better", (1,))
        assert other.holdout.meter.asked == 2
        assert [row.team for row in other.standings().rows] == ["b", "a"]


def _crash(*_: object) -> None:
    raise MemoryError


def test_not_better_never_shows_the_boards_best_value(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", rule="ladder", step=0.01)
    with board:
        best = board.submit(right_so_often(labels, 0.9, 0), team="a")
        assert (best.source, best.practice) == ("ladder", None)
        assert best.value is not None
        worse = board.submit(right_so_often(labels, 0.6, 1), team="b")
        assert (worse.source, worse.value, worse.score) == ("not better", None, None)
        (card,) = board.cards(worse.id)
        assert card.record.published.value == pytest.approx(best.value)  # what the mechanism itself publishes
        assert str(round(best.value, 3)) not in worse.line.split("in [")[0]
        assert board.standings().table()["value"] == [best.value, None]


@pytest.mark.parametrize("metric", ["recall", "roc_auc", "f1"])
def test_a_ladder_of_steps_where_rows_cannot_be_compared(tmp_path: Path, metric: str) -> None:
    board, labels = make_board(tmp_path / "bench", rule="ladder", metric=metric)
    with board:
        assert board.config.step is not None
        assert board.submit(right_so_often(labels, 0.8, 0), team="a").source == "ladder"


def test_a_ladder_has_one_score(tmp_path: Path) -> None:
    with pytest.raises(InvalidBoard, match="made of several questions"):
        make_board(tmp_path / "bench", rule="ladder", metric="matthews_corrcoef", step=0.01)


def test_any_mechanism_by_name_and_parameters(tmp_path: Path) -> None:
    mechanism = {"name": "BoundedNoise"}
    board, labels = make_board(tmp_path / "bench", rule="mechanism", mechanism=mechanism, asks=20)
    with board:
        told = board.submit(right_so_often(labels, 0.8, 0), team="a")
        assert (told.source, told.status) == ("noise", "checked")
        assert type(board.holdout.mechanism).__name__ == "BoundedNoise"
    with Board(tmp_path / "bench") as again:
        assert again.submissions() == [told]
    for wrong, words in (
        ({"name": "Noise"}, "knows no mechanism"),
        ({"name": "Ladder", "steps": 1}, "no field"),
        ({"name": "Naive"}, "promises nothing"),
    ):
        with pytest.raises(InvalidBoard, match=words):
            make_board(tmp_path / "other", rule="mechanism", mechanism=wrong)


def test_one_class_against_the_rest_is_named_where_there_are_many(tmp_path: Path) -> None:
    labels = np.random.default_rng(0).integers(0, 3, ROWS)
    rows = {"id": np.arange(ROWS), "label": labels}
    with pytest.raises(InvalidBoard, match="there are 3: say which by positive="):
        Board.create(tmp_path / "bench", rows, id="id", target="label", metric="f1")
    with Board.create(tmp_path / "bench", rows, id="id", target="label", metric="f1", positive=2) as board:
        assert board.submit({"id": np.arange(ROWS), "prediction": labels}, team="a").practice == 1.0


def test_what_cannot_be_asked_seals_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidBoard, match=r"PairedLadder|compare"):
        make_board(tmp_path / "bench", rule="mechanism", mechanism={"name": "PairedLadder"})
    with pytest.raises(InvalidBoard, match="range"):
        make_board(tmp_path / "bench", metric="mae")
    board, labels = make_board(tmp_path / "bench")  # the same rows, in the same folder
    with board:
        assert board.submit(right_so_often(labels, 0.8, 1), team="a").status == "checked"


METRICS: list[tuple[str, dict[str, Any]]] = [
    ("accuracy", {}),
    ("precision", {}),
    ("f1", {"average": "macro"}),
    ("balanced_accuracy", {}),
    ("matthews_corrcoef", {}),
    ("roc_auc", {}),
    ("brier", {}),
    ("log_loss", {}),
    ("neg_log_loss", {}),
    ("mae", {"range": (0, 2)}),
    ("rmse", {"range": (0, 1)}),
    ("r2", {"range": (0, 1), "baseline": 0.5}),
    ("pinball", {"range": (0, 2), "alpha": 0.9}),
]


@pytest.mark.parametrize(("metric", "options"), METRICS)
def test_every_kind_of_metric_is_scored_and_ranked_the_right_way_round(
    tmp_path: Path, metric: str, options: dict[str, Any]
) -> None:
    board, labels = make_board(tmp_path / "bench", metric=metric, **options)
    with board:
        for team, share in (("bad", 0.4), ("good", 0.95)):
            sent = right_so_often(labels, share, 3)
            if metric in ("roc_auc", "brier", "log_loss", "neg_log_loss"):
                sent["prediction"] = 0.1 + 0.8 * sent["prediction"]
            told = board.submit(sent, team=team)
            assert told.status == "checked"
        rows = board.standings().rows
        assert [row.team for row in rows] == ["good", "bad"]
        assert [row.rank for row in rows] == [1, 2]
        assert rows[0].is_step
        board.holdout.verify()


def test_a_column_per_class(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["cat", "dog", "eel"], ROWS)
    rows = {"id": np.arange(ROWS), "label": labels}
    with Board.create(tmp_path / "bench", rows, id="id", target="label", metric="top_k_accuracy", k=2) as board:
        assert board.config.options["classes"] == ["cat", "dog", "eel"]
        sent = {name: np.where(labels == name, 2.0, rng.random(ROWS)) for name in ("eel", "dog", "cat")}
        assert board.submit({"id": np.arange(ROWS), **sent}, team="a").practice == 1.0


def test_a_subgroup_is_scored_by_the_rows_where_it_holds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels, plan = rng.integers(0, 2, ROWS), rng.choice(["basic", "pro"], ROWS)
    rows = {"id": np.arange(ROWS), "label": labels, "plan": plan}
    with Board.create(tmp_path / "bench", rows, id="id", target="label", where="plan = 'basic'") as board:
        sent = np.where(plan == "basic", labels, 1 - labels)
        assert board.submit({"id": np.arange(ROWS), "prediction": sent}, team="a").practice == 1.0


def test_a_metric_without_a_value_on_practice_rows_is_not_asked(tmp_path: Path) -> None:
    board, _ = make_board(tmp_path / "bench", metric="precision")
    with board:
        told = board.submit({"id": np.arange(ROWS), "prediction": np.zeros(ROWS, dtype=int)}, team="a")
        assert told.status == "unchecked"
        assert told.why is not None
        assert "no value" in told.why
        assert board.holdout.meter.asked == 0
