"""Predictions in files, in the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.server.routes.test_holdout_routes import asked, read_answer
from tests.server.served_site import ROWS, Site
from unworn.boards.files.table_files import FileTable
from unworn.errors import Unaskable
from unworn.server.routes.score_options import read_score_options
from unworn.server.routes.scored_files import read_prediction_columns
from unworn.server.server_errors import Malformed

PEOPLE = "/api/holdouts/people"


def column(values: Any, name: str = "prediction") -> str:
    return f"{name}\n" + "\n".join(map(str, values)) + "\n"


def mistaken(site: Site, wrong: int) -> Any:
    told = np.array(site.truth["people"]).copy()
    told[:wrong] = 1 - told[:wrong]
    return told


def test_a_score_is_checked_against_the_sealed_rows(site: Site) -> None:
    reply = site.send("ana", f"{PEOPLE}/scores?metric=accuracy&guess=0.9", column(mistaken(site, 40)))
    answer = read_answer(reply.json())
    assert answer.low < 0.9 < answer.high
    assert answer.certificate.record.by == "ana"
    before = asked(site)
    again = site.send("ana", f"{PEOPLE}/scores?metric=accuracy", column(mistaken(site, 40)))
    assert again.text == reply.text
    assert asked(site) == before


def test_composites_and_options(site: Site) -> None:
    reply = site.send("ana", f'{PEOPLE}/scores?metric=f1&options={{"positive":1}}', column(mistaken(site, 40)))
    assert reply.json()["derived"]["combine"]
    before = asked(site)
    path = f"{PEOPLE}/scores?metric=balanced_accuracy&again=true"
    first = site.send("ana", path, column(mistaken(site, 44)), Idempotency_Key="f")
    assert site.send("ana", path, column(mistaken(site, 44)), Idempotency_Key="f").text == first.text
    assert len(first.json()["entries"]) == 2
    assert asked(site) == before + 2
    assert site.send("ana", path, column(mistaken(site, 45)), Idempotency_Key="f").status_code == 422


def test_practice_and_comparison(site: Site) -> None:
    before = asked(site)
    told = site.send("ana", f"{PEOPLE}/practice?metric=accuracy", column(mistaken(site, 40))).json()
    assert told["rows"] == 100
    assert asked(site) == before
    files = {
        "first": ("a.csv", column(mistaken(site, 20)), "text/csv"),
        "second": ("b.csv", column(mistaken(site, 60)), "text/csv"),
    }
    reply = site.client.post(f"{PEOPLE}/comparisons?metric=accuracy", headers=site.headers("ana"), files=files)
    answer = read_answer(reply.json())
    assert answer.low < 0.1 < answer.high
    del files["second"]
    reply = site.client.post(f"{PEOPLE}/comparisons?metric=accuracy", headers=site.headers("ana"), files=files)
    assert reply.status_code == 400
    assert not site.services.uploads  # both were counted, and are gone
    site.services.uploads["ana"] = 4 * site.services.settings.threads
    reply = site.client.post(f"{PEOPLE}/comparisons?metric=accuracy", headers=site.headers("ana"), files=files)
    assert reply.status_code == 429
    del site.services.uploads["ana"]


WRONG = [
    ("metric=accuracy", column([1] * (ROWS - 1)), 422),
    ("metric=accuracy", column([1] * (3 * ROWS + 2_000)), 413),
    ("metric=nonsense", column([1] * ROWS), 422),
    ("metric=accuracy", "id,prediction\n" + "1,1\n" * ROWS, 422),
    ("metric=accuracy", column([""] * ROWS), 422),
    ("metric=accuracy&guess=high", column([1] * ROWS), 400),
    ("metric=accuracy&again=maybe", column([1] * ROWS), 400),
    ('metric=accuracy&options={"callable":"os"}', column([1] * ROWS), 400),
    ('metric=accuracy&options={"where":"salary > 1"}', column([1] * ROWS), 422),
    ("metric=accuracy&color=red", column([1] * ROWS), 400),
    ('metric=accuracy&tags={"request":"x"}', column([1] * ROWS), 422),
]


@pytest.mark.parametrize(("query", "text", "status"), WRONG)
def test_what_cannot_be_scored_costs_nothing(site: Site, query: str, text: str, status: int) -> None:
    before = asked(site)
    reply = site.send("ana", f"{PEOPLE}/scores?{query}", text)
    assert reply.status_code == status, reply.text
    assert asked(site) == before


def table(**columns: list[Any]) -> FileTable:
    return FileTable(columns, len(next(iter(columns.values()))), str, int)


def test_columns_become_what_they_are() -> None:
    assert read_prediction_columns(table(prediction=["1", "0"]), keep_text=True).tolist() == ["1", "0"]
    assert read_prediction_columns(table(prediction=["true", "false"]), keep_text=False).tolist() == [1, 0]
    assert read_prediction_columns(table(prediction=["0.5", "1"]), keep_text=False).tolist() == [0.5, 1.0]
    assert read_prediction_columns(table(any=["a", "1"]), keep_text=False).tolist() == ["a", "1"]
    assert read_prediction_columns(table(p0=["0.1"], p1=["0.9"]), keep_text=False).tolist() == [[0.1, 0.9]]
    assert set(read_prediction_columns(table(cat=[0.1], dog=[0.9]), keep_text=False)) == {"cat", "dog"}
    for wrong in (table(cat=["x"], dog=["0.9"]), table(prediction=[None]), table(prediction=[[1]])):
        with pytest.raises(Unaskable):
            read_prediction_columns(wrong, keep_text=False)


def test_options_are_an_allow_list() -> None:
    assert read_score_options({"guess": "[0.5, null]"}).guess == [0.5, None]
    for wrong in ({"options": '{"fn": 1}'}, {"guess": '"x"'}, {"nope": "1"}, {"tags": "[1]"}, {"guess": "1e999"}):
        with pytest.raises(Malformed):
            read_score_options(wrong)
