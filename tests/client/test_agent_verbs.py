"""What a team has left is told with all that it spent: by submissions and behind the gate."""

from __future__ import annotations

from pathlib import Path

from litestar.testing import TestClient

from tests.boards.small_boards import make_board, overfitted, right_so_often
from unworn.boards.gate import Gate
from unworn.boards.team_spending import TeamSpending
from unworn.client.agent_verbs import BoardOfTeam
from unworn.server.app import create_app
from unworn.server.routes.board_routes import describe_board
from unworn.server.settings import ServerSettings


def test_a_surprise_behind_the_gate_is_one_of_those_a_team_has(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", metric="accuracy")
    with board:
        gate = Gate(board, "blue")
        gate.propose(right_so_often(labels, 0.5, 1))
        told = gate.propose(overfitted(board, labels, 2), check=True).milestone
        assert told is not None
        assert told.is_surprise  # half of the rows are right by heart: many standard errors
        budget = BoardOfTeam(board, "blue").budget()
        assert (budget.asked, budget.surprises, budget.surprises_left) == (0, 1, 4)
        assert board.team_spending("red") == TeamSpending("red", 0, 0, 0.0)
    app = create_app(ServerSettings(path=tmp_path))
    with TestClient(app) as client:
        accounts = app.state.services.accounts
        for name in ("blue", "red"):
            accounts.add(name, scopes=("board:bench",))
        tokens = {name: {"Authorization": f"Bearer {accounts.issue_token(name)}"} for name in ("blue", "red")}
        mine = client.get("/api/boards/bench/spending/mine", headers=tokens["blue"]).json()
        assert (mine["team"], mine["surprises"], mine["submissions"]) == ("blue", 1, 1)
        page = client.get("/boards/bench/mine.json", headers=tokens["blue"]).json()
        assert page["spending"] == {"surprises": 1, "allowed": 5}
        other = client.get("/api/boards/bench/spending/mine", headers=tokens["red"]).json()
        assert other == {"team": "red", "submissions": 0, "surprises": 0, "nats": 0.0}


def test_a_board_whose_rule_counts_no_surprises_promises_none(tmp_path: Path) -> None:
    board, labels = make_board(tmp_path / "bench", rule="ladder")
    with board:
        board.submit(right_so_often(labels, 0.6, 1), team="blue")
        budget = BoardOfTeam(board, "blue").budget()
        assert budget.surprises_left is None
        assert "left" not in budget.summary
        assert describe_board("bench", board)["surprises_per_team"] is None
