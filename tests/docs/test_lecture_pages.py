"""The lectures' pages say what the lecture map says, and every page that it names is there."""

from __future__ import annotations

import pytest

from tests.docs.claims_page import FIGURES
from tests.docs.lecture_pages import END, FOLDER, START, anchor, escaped, page_names, page_title, with_rows
from unworn.lab.lectures.lecture_contract import Lecture, LectureRow
from unworn.lab.lectures.lecture_registry import lecture_named, lecture_numbers


@pytest.mark.parametrize("number", lecture_numbers())
def test_the_page_is_that_of_the_map(number: str) -> None:
    page = (FOLDER / page_names()[number]).read_text()
    assert page.count(START) == page.count(END) == 1
    assert page == with_rows(page, lecture_named(number)), "write it anew: python -m tests.docs.lecture_pages"
    assert len(page.partition(START)[0]) > 400, "a page begins with an introduction"


def test_every_page_is_in_the_navigation() -> None:
    index = (FOLDER / "index.md").read_text()
    tree = index.partition("```{toctree}")[2].split()
    for name in page_names().values():
        assert name.removesuffix(".md") in tree
        assert f"]({name})" in index
    assert {path.name for path in FOLDER.glob("*.md")} == {"index.md", *page_names().values()}


@pytest.mark.parametrize("number", lecture_numbers())
def test_every_place_to_read_is_there(number: str) -> None:
    for row in lecture_named(number).rows:
        assert not row.page or page_title(row.page)


@pytest.mark.parametrize("number", lecture_numbers())
def test_each_claim_has_its_figure_once(number: str) -> None:
    page = (FOLDER / page_names()[number]).read_text()
    for claim in {row.claim for row in lecture_named(number).rows if row.claim}:
        assert page.count(f"](../gallery/claims/{claim}.svg)") == 1, claim
        assert (FIGURES / f"{claim}.svg").exists()


def test_a_place_that_is_not_there_is_seen() -> None:
    with pytest.raises(ValueError, match="no heading"):
        page_title("lab.md#nothing-like-this")


def test_a_row_that_changes_changes_the_page() -> None:
    row = LectureRow(
        section="§1 Queries",
        kind="definition",
        says="φ_i maps to [0, 1].",
        ours=("unworn.queries.share",),
        page="questions.md",
        claim="boosting",
        erratum="For φ = 2.",
    )
    page = with_rows("", Lecture("009", "Title", "somewhere", (row,)))
    assert page.startswith("# Title\n")
    assert "[§1 Queries](#1-queries)" in page
    assert "**Definition.** φ\\_i maps to \\[0, 1\\]." in page
    assert "- *Read:* [What can be asked](../questions.md)" in page
    assert "- *Measure:* `unworn lab run boosting`: [Random labels climb" in page
    assert "(../claims.md#random-labels-climb-a-plain-board-and-no-protected-one)" in page
    assert "- **Erratum**: For φ = 2." in page
    assert page.count("![Random labels climb a plain board, and no protected one](../gallery/claims/boosting.svg)") == 1
    assert with_rows(page, Lecture("009", "Title", "somewhere", (row,))) == page


def test_anchors_are_those_of_headings() -> None:
    assert anchor("DP ⇒ generalization") == "dp--generalization"
    assert anchor("“Below” is (nearly) free") == "below-is-nearly-free"
    assert escaped("a_b*c") == r"a\_b\*c"
