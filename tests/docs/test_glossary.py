"""The glossary's words are those of the pages, and the field's words are found where our objects are described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_docs import PAGES, ROOT

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
OURS, FIELD = GLOSSARY.split("\n## The field's words\n")
TERMS = re.findall(r"^### (.*)$", OURS, re.MULTILINE)
FIELD_WORDS = {
    "statistical query": "questions.md",
    "linear query": "questions.md",
    "low-sensitivity query": "questions.md",
    "adaptive data analysis": "promise.md",
    "generalisation": "promise.md",
    "reusable holdout": "mechanisms/thresholdout.md",
    "sample splitting": "mechanisms/sample-splitting.md",
    "description length": "theory/code-length.md",
    "differential privacy": "theory/privacy.md",
    "composition": "theory/privacy.md",
    "transfer theorem": "theory/transfer.md",
    "max-information": "theory/tests.md",
    "Gaussian mechanism": "mechanisms/gaussian.md",
    "Laplace mechanism": "mechanisms/laplace.md",
    "sparse vector technique": "mechanisms/sparse-vector.md",
    "AboveThreshold": "mechanisms/above-threshold.md",
    "query release": "release.md",
    "pairwise": "release.md",
    "synthetic data": "release.md",
    "projection": "release/tables.md",
    "exponential mechanism": "release/mwem.md",
    "MWEM": "release/mwem.md",
    "PMW": "mechanisms/multiplicative-weights.md",
    "median mechanism": "mechanisms/median-oracle.md",
    "convex": "optimisation.md",
    "Frank and Wolfe": "theory/optimisation.md",
    "leaderboard": "boards.md",
    "post-selection": "theory/tests.md",
}
"""Words that a reader of the literature searches for, and the page that must have them."""


def text_of(page: Path) -> str:
    return " ".join(page.read_text().split()).lower()


def test_the_terms_are_in_order_and_defined() -> None:
    assert sorted(TERMS) == TERMS
    assert len(set(TERMS)) == len(TERMS) > 40
    for entry in OURS.split("\n### ")[1:]:
        term, _, meaning = entry.partition("\n")
        assert len(meaning.split()) >= 5, term


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term: str) -> None:
    form = re.compile(rf"\b{term}(?:s|es|ed|led|ing|ly)?\b")
    own = ROOT / "docs" / "glossary.md"
    used = [page for page in PAGES if page != own and page.name != "CHANGELOG.md" and form.search(text_of(page))]
    assert len(used) >= 2, f"nobody says {term}"


@pytest.mark.parametrize(("word", "page"), FIELD_WORDS.items())
def test_a_word_of_the_field_is_where_one_looks(word: str, page: str) -> None:
    stem = re.escape(word.lower().removesuffix("y")).replace(r"\ ", " ")
    assert re.search(stem, text_of(ROOT / "docs" / page)), f"{page} does not say {word}"
    assert re.search(stem.replace("frank and wolfe", "frank–wolfe"), " ".join(FIELD.split()).lower())
