"""Ten thousand submissions over HTTP that learn from their scores climb a naive board, and gain nothing on this one.

The labels are coins, so every rule is right half of the time: whatever a board says beyond that is overfitting. Two
analysts try. *Boosting* (Blum and Hardt 2015, as in the lab) sends random submissions, and at every square number the
majority of those that scored above one half. *Reconstructing* is as strong as one can be against exact scores: each is
a linear equation in the labels, so with more random submissions than rows it solves for all labels that the scores
depend on (on this board: every practice label, and which rows are for practice), and then plays what it knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.two_sizes import in_two_sizes, reseeded
from unworn.boards.board import Board
from unworn.boards.submission import Submission

pytest.importorskip("litestar")

MISS = 1e-6
"""How often the board may be wrong at all: then it may not be in a test either."""
Labels = NDArray[np.int64]
Score = Callable[[Labels], float]
Analyst = Callable[[int, int, Score, int], Iterator[float]]


def boosting(submissions: int, rows: int, score: Score, seed: int) -> Iterator[float]:
    """The majority of what did better than chance, again and again."""
    rng, votes = np.random.default_rng(seed), np.zeros(rows)
    for number in range(1, submissions + 1):
        is_majority = number > 1 and math.isqrt(number) ** 2 == number
        guess = (votes > 0).astype(np.int64) if is_majority else rng.integers(0, 2, rows)
        told = score(guess)
        if not is_majority:
            votes += (2 * guess - 1) * np.sign(told - 0.5)
        yield told


def reconstructing(submissions: int, rows: int, score: Score, seed: int) -> Iterator[float]:
    """Solve for the labels behind exact scores; then keep those, and look for the others by hill climbing.

    The score of a guess g of ±1 is one half and half of the mean of g·w, where w is the label on the rows that count.
    """
    rng = np.random.default_rng(seed)
    equations = int(1.25 * rows)
    guesses = rng.integers(0, 2, (equations, rows))
    told = []
    for guess in guesses:
        told.append(score(guess))
        yield told[-1]
    weights = np.linalg.lstsq(2.0 * guesses - 1.0, 2.0 * np.array(told) - 1.0, rcond=None)[0]
    known = np.abs(weights) > 0.5 * np.abs(weights).max()
    best = np.where(known, weights > 0, rng.integers(0, 2, rows)).astype(np.int64)
    highest = score(best)
    yield highest
    for _ in range(submissions - equations - 1):
        anew = np.where(~known & (rng.random(rows) < 0.2), rng.integers(0, 2, rows), best)
        found = score(anew)
        best, highest = (anew, found) if found > highest else (best, highest)
        yield found


@in_two_sizes((400, 1_000), (10_000, 2_000))
def test_boosting_over_http_gains_nothing(size: tuple[int, int], tmp_path: Path, monkeypatch: Any) -> None:
    naive, practice = attack(boosting, *size, tmp_path, monkeypatch)
    assert naive > 0.5 + 3 * 0.98 / math.sqrt(size[1])  # three times what a plain test set is off by
    assert practice > 0.6  # practice rows wear out as a naive board does, and say so


@in_two_sizes((260, 200), (10_000, 2_000))
def test_reconstructing_over_http_gains_nothing(size: tuple[int, int], tmp_path: Path, monkeypatch: Any) -> None:
    naive, practice = attack(reconstructing, *size, tmp_path, monkeypatch)
    assert naive == 1.0  # every label of a plain test set is known, and nothing about the population
    assert practice == 1.0


def attack(
    analyst: Analyst, submissions: int, rows: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[float, float]:
    """The best scores on a naive board and on the practice rows; whatever else the board says is checked here."""
    labels = np.random.default_rng(reseeded(1)).integers(0, 2, rows)
    naive = max(analyst(submissions, rows, lambda g: float(np.mean(g == labels)), reseeded(2)))

    monkeypatch.setenv("UNWORN_HOME", str(folder / "home"))
    frame = {"id": np.arange(rows), "label": labels}
    bench = folder / "site" / "bench"
    Board.create(bench, frame, id="id", target="label", confidence=1 - MISS).release()
    red, blue = [], []
    with served(folder / "site") as submit:

        def score(guess: Labels) -> float:
            red.append(submit("red", guess))
            assert red[-1].practice is not None
            return red[-1].practice

        practice = max(analyst(submissions, rows, score, reseeded(2)))
        right = np.where(np.random.default_rng(reseeded(3)).random(rows) < 0.8, labels, 1 - labels)
        blue.append(submit("blue", right))

    assert len(red) == submissions
    assert all(each.low <= 0.5 <= each.high for each in red if each.low is not None and each.high is not None)
    assert {each.status for each in red} <= {"checked", "unchecked"}
    with Board(bench) as board:
        spent = {each.team: each for each in board.spending()}
        cap = board.config.surprises_per_team
        assert 1 <= spent["red"].surprises <= cap
        row = next(row for row in board.standings().rows if row.team == "red")
        assert row.submission.low is None or row.submission.low <= 0.5
        (honest,), promise = blue, board.promise(submissions + 1, cap)
        assert honest.low is not None
        assert honest.high is not None
        assert honest.low <= 0.8 <= honest.high
        assert (honest.high - honest.low) / 2 < 1.1 * promise.width_with_surprises  # as was promised, whoever climbed
        finals = {each.team: each for each in board.close_board().finals}
    assert finals["red"].low <= 0.5 <= finals["red"].high
    assert finals["blue"].low <= 0.8 <= finals["blue"].high
    return naive, practice


class served:
    """A server on this folder, and what a participant can do there: send a file, and read the reply."""

    def __init__(self, site: Path) -> None:
        from litestar.testing import TestClient

        from unworn.server.app import create_app
        from unworn.server.settings import ServerSettings

        app = create_app(ServerSettings(site, rate=0.0))
        accounts, self._sent = app.state.services.accounts, {}
        for team in ("red", "blue"):
            accounts.add(team, role="participant", scopes=["board:bench"])
            token = accounts.issue_token(team)
            self._sent[team] = {"Authorization": f"Bearer {token}", "Content-Type": "text/csv"}
        self._client = TestClient(app)

    def __enter__(self) -> Callable[[str, Labels], Submission]:
        self._client.__enter__()
        return self._submit

    def __exit__(self, *error: Any) -> None:
        self._client.__exit__(*error)

    def _submit(self, team: str, guess: Labels) -> Submission:
        body = "id,prediction\n" + "\n".join(f"{row},{value}" for row, value in enumerate(guess.tolist()))
        reply = self._client.post("/api/boards/bench/submissions", headers=self._sent[team], content=body)
        assert reply.status_code in (200, 201), reply.text
        told = reply.json()
        made = Submission.from_json(told)
        assert told.keys() == made.to_json().keys()  # a submission as the library tells it, and no more
        return made
