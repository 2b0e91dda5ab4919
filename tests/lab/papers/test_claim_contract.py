"""The form that all claims share, and who refuses what is not of it."""

from __future__ import annotations

from typing import Any

import pytest

from unworn.errors import SmallHoldout
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, UnfitClaim
from unworn.lab.papers.claim_registry import all_claims, claim_files, claim_named

GIVEN: dict[str, Any] = {
    "name": "one-half",
    "title": "A coin is fair",
    "statement": "A coin is right with one half.",
    "citation": "Bernoulli, Ars Conjectandi, 1713.",
    "lectures": ("000 Model",),
    "expected": "0.5 within 0.1",
    "measure": lambda effort, seed, progress: ClaimOutcome(True, "0.52", ({"share": 0.52},)),
    "draw": lambda rows, *, title, subtitle: (list(rows), title, list(subtitle)),
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "One Half"},
        {"name": "one_half"},
        {"title": " "},
        {"statement": ""},
        {"citation": ""},
        {"expected": ""},
        {"lectures": "000 Model"},
        {"lectures": ("lecture 24",)},
        {"lectures": ("000",)},
    ],
)
def test_a_claim_says_all_there_is_to_say(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnfitClaim, match=r"claim|name"):
        PaperClaim(**{**GIVEN, **wrong})


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ({"a": float("nan")},),
        ({"a": [1]},),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
    ],
)
def test_an_outcome_is_a_tidy_table_of_plain_values(rows: tuple[Any, ...]) -> None:
    with pytest.raises(UnfitClaim):
        ClaimOutcome(True, "0.52", rows)


def test_values_of_numpy_are_not_plain() -> None:
    import numpy as np

    for value in (np.float64(0.5), np.int64(1), np.bool_(True)):
        with pytest.raises(UnfitClaim, match="finite numbers"):
            ClaimOutcome(True, "0.52", ({"a": value},))
    with pytest.raises(UnfitClaim, match="wrap it in bool"):
        ClaimOutcome(np.bool_(True), "0.52", ({"a": 1},))  # type: ignore[arg-type]


def test_a_run_hands_on_effort_and_seed_and_refuses_others() -> None:
    seen: list[tuple[Effort, int]] = []

    def measure(effort: Effort, seed: int, progress: Progress) -> ClaimOutcome:
        import warnings

        warnings.warn("2,000 rows are few for it", SmallHoldout, stacklevel=1)  # an error in this suite, but for run()
        seen.append((effort, seed))
        progress(1, 1)
        return ClaimOutcome(False, "0.7", ({"share": 0.7},))

    claim = PaperClaim(**{**GIVEN, "measure": measure})
    outcome = claim.run("quick", 3)
    assert seen == [("quick", 3)]
    assert not claim.is_as_expected(outcome)
    assert PaperClaim(**{**GIVEN, "is_true": False}).is_as_expected(outcome)
    with pytest.raises(UnfitClaim, match="quick"):
        claim.run("fast")  # type: ignore[arg-type]
    with pytest.raises(UnfitClaim, match="seed"):
        claim.run("quick", -1)


def test_a_figure_is_captioned_with_the_claim() -> None:
    claim = PaperClaim(**GIVEN)
    rows, title, lines = claim.figure(claim.run())
    assert (rows, title) == ([{"share": 0.52}], "A coin is fair")
    assert lines == [claim.statement, "Measured: 0.52", claim.citation]


def test_every_claim_is_found_by_its_file() -> None:
    claims = all_claims()
    assert [claim.name for claim in claims] == list(claim_files())
    assert {"boosting", "freedman"} <= set(claim_files())
    assert len({claim.title for claim in claims}) == len(claims)
    for claim in claims:
        module = claim_files()[claim.name]
        assert module.rpartition(".")[2] == f"{claim.name.replace('-', '_')}_claim"
        assert claim.measure.__module__ == module


@pytest.mark.parametrize("name", ["", "nobody", "../freedman", "freedman_claim"])
def test_there_is_no_claim_of_another_name(name: str) -> None:
    with pytest.raises(UnfitClaim, match="there is no claim"):
        claim_named(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", claim_files())
def test_every_verdict_is_as_expected_and_every_figure_is_drawn(name: str) -> None:
    from unworn import charts

    claim = claim_named(name)
    outcome = claim.run("quick")
    assert claim.is_as_expected(outcome), outcome.measured
    drawn = charts.svg_text(claim.figure(outcome))
    assert drawn.startswith("<svg")
    assert claim.title.split()[0] in drawn
