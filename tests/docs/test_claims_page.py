"""The page of claims shows every claim there is, with its figure, as the claims and the kept results say it."""

from __future__ import annotations

import pytest

from tests.docs.claims_page import FIGURES, KEPT, PAGE, read_results, verdict, with_claims
from tests.docs.lecture_pages import anchor
from unworn.lab.papers.claim_registry import all_claims, claim_files


def test_the_page_is_made_from_the_claims_and_their_results() -> None:
    page = PAGE.read_text()
    assert page == with_claims(page, read_results()), "write it anew: make claims"


def test_every_claim_has_a_figure_and_the_verdict_it_should_have() -> None:
    results = {result["name"]: result for result in read_results()}
    assert list(results) == list(claim_files()), "a claim is missing: make claims"
    assert {path.stem for path in FIGURES.glob("*.svg")} == set(results)
    for claim in all_claims():
        assert results[claim.name]["holds"] is claim.is_true, claim.name
        assert tuple(results[claim.name]) == KEPT


def test_headings_have_anchors_of_their_own() -> None:
    anchors = [anchor(claim.title) for claim in all_claims()]
    assert len(set(anchors)) == len(anchors)


@pytest.mark.parametrize(("holds", "word"), [(True, "holds"), (False, "does not hold, **not as expected**")])
def test_a_verdict_that_is_not_as_expected_says_so(holds: bool, word: str) -> None:
    result = {**read_results()[0], "holds": holds}
    assert verdict(result) == word
    assert word in with_claims("", [result])
