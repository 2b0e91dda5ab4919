from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import numpy as np

from tests.boards.test_submission import ONE
from unworn.boards.standings import Standings, certified_steps
from unworn.boards.submission import NOT_BETTER, Submission


def told(number: int, team: str, value: float | None, width: float = 0.02, **more: object) -> Submission:
    ends = (None, None) if value is None else (value - width, value + width)
    made = replace(
        ONE, id=f"{number:016x}", number=number, team=team, practice=value, value=value, low=ends[0], high=ends[1]
    )
    return replace(made, **more)  # type: ignore[arg-type]


def standings(*submissions: Submission, higher: bool = True) -> Standings:
    return Standings.of(submissions, higher_is_better=higher, rule="practice-and-check")


def test_teams_that_cannot_be_told_apart_share_a_rank() -> None:
    rows = standings(told(1, "a", 0.80), told(2, "b", 0.82), told(3, "c", 0.70), told(4, "d", 0.90)).rows
    assert [(row.team, row.place) for row in rows] == [("d", "1"), ("b", "=2"), ("a", "=2"), ("c", "4")]


def test_a_rank_is_one_more_than_the_teams_that_are_certainly_better() -> None:
    rng = np.random.default_rng(3)
    made = [told(k + 1, f"t{k}", float(rng.random()), float(rng.random() / 5)) for k in range(60)]
    for higher in (True, False):
        for row in standings(*made, higher=higher).rows:
            own = row.submission
            better = [
                one
                for one in made
                if (one.low > own.high if higher else one.high < own.low)  # type: ignore[operator]
            ]
            assert row.rank == 1 + len(better)
            assert row.is_shared == (sum(other.rank == row.rank for other in standings(*made, higher=higher).rows) > 1)


def test_the_order_of_submissions_in_hand_does_not_matter() -> None:
    made = [told(1, "a", 0.8), told(2, "b", 0.9), told(3, "a", 0.85)]
    assert len({json.dumps(standings(*order).to_json()) for order in permutations(made)}) == 1


def test_a_team_is_shown_by_its_best_and_its_tries_are_counted() -> None:
    row = standings(told(1, "a", 0.8), told(2, "a", 0.9), told(3, "a", 0.7)).rows[0]
    assert (row.submission.number, row.tries) == (2, 3)
    lowest = standings(told(1, "a", 0.8), told(2, "a", 0.9), higher=False).rows[0]
    assert lowest.submission.number == 1


def test_what_is_unchecked_comes_last_and_has_no_rank() -> None:
    unchecked = replace(told(2, "b", None), practice=0.99, status="unchecked", why="used up", source=None)
    rows = standings(told(1, "a", 0.6), unchecked).rows
    assert [(row.team, row.rank, row.place) for row in rows] == [("a", 1, "1"), ("b", None, "–")]


def test_a_step_is_certified_where_the_whole_interval_lies_beyond_the_leader() -> None:
    made = [told(1, "a", 0.70), told(2, "b", 0.73), told(3, "c", 0.80), told(4, "d", 0.81), told(5, "e", 0.60)]
    assert certified_steps(made) == {made[2].id}
    assert [row.team for row in standings(*made).rows if row.is_step] == ["c"]


def test_steps_of_comparisons_are_ranked_by_who_beat_whom() -> None:
    def compared(number: int, team: str, source: str) -> Submission:
        return replace(told(number, team, None), source=source, practice=None)

    rows = standings(
        compared(1, "a", "first"), compared(2, "b", "better"), compared(3, "c", NOT_BETTER), compared(4, "d", "better")
    ).rows
    assert [(row.team, row.rank, row.is_step) for row in rows[:2]] == [("d", 1, True), ("b", 2, True)]
    assert {row.team for row in rows[2:]} == {"a", "c"}
    assert all(row.rank is None and not row.is_step for row in rows[2:])


def test_what_was_answered_last_beat_the_rest_whatever_its_number_is() -> None:
    first = replace(told(1, "a", None), source="first", indexes=(), practice=None)
    late = replace(told(2, "b", None), source="better", indexes=(2,), practice=None)
    early = replace(told(3, "c", None), source="better", indexes=(1,), practice=None)
    assert [(row.team, row.rank) for row in standings(first, late, early).rows[:2]] == [("b", 1), ("c", 2)]


def test_not_better_is_never_shown_with_a_value() -> None:
    bound = replace(told(2, "b", None), low=0.0, high=0.9, source=NOT_BETTER)
    shown = standings(told(1, "a", 0.8), bound)
    assert shown.table()["value"] == [0.8, None]
    assert shown.table()["status"] == ["checked", NOT_BETTER]


def test_standings_go_through_json_and_names_are_shown_as_text() -> None:
    made = standings(told(1, "<script>", 0.8), told(2, "b", None, status="unchecked", why="used up"))
    assert Standings.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert "<script>" not in made._repr_html_()
    assert list(made.frame()["team"]) == ["<script>", "b"]
