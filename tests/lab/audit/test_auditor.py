"""The auditor on mechanisms whose privacy is known in closed form, and on bad input."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from scipy import stats

from unworn.bounds.privacy import Homogeneous
from unworn.lab.audit import Claim, Outcome, Pair, Target, audit
from unworn.lab.audit.outcome_search import proposals
from unworn.lab.audit.output_features import codes, key_of


def gaussian(sd: float) -> Any:
    return lambda count, trials, rng: count + rng.normal(0.0, sd, (trials, np.size(count)))


def laplace(scale: float) -> Any:
    return lambda counts, trials, rng: np.asarray(counts) + rng.laplace(0.0, scale, (trials, np.size(counts)))


def target(run: Any, claim: Claim, pairs: list[Pair] | None = None) -> Target:
    return Target("noise", claim, pairs or [Pair([0.0], [1.0])], run)


def test_the_bound_comes_near_the_truth() -> None:
    """One answer each: the truth is mu = 1 and epsilon = 1. An audit errs with probability 1e-6."""
    normal = audit(target(gaussian(1.0), Claim.gaussian(1.0)), trials=400_000)
    assert 0.97 < normal.lower_bound <= 1.0
    assert not normal.refuted
    double = audit(target(laplace(1.0), Claim.pure(1.0)), trials=400_000)
    assert 0.95 < double.lower_bound <= 1.0
    assert not double.refuted


@pytest.mark.parametrize("confidence", [0.5, 0.999])
def test_all_limits_of_an_audit_share_its_chance_of_error(confidence: float) -> None:
    """Two limits of each outcome that is measured, by an independent formula: none may have the whole chance."""
    trials = 4_000  # half of them are searched
    report = audit(target(laplace(1.0), Claim.pure(1.0)), trials=trials, confidence=confidence)
    measured, each = trials // 2, (1 - confidence) / (2 * len(report.checked))
    assert len(report.checked) > 1
    for told in report.checked:
        likelier, other = (round(share * measured) for share in told.seen)
        assert told.above == pytest.approx(stats.beta.ppf(each, likelier, measured - likelier + 1), rel=1e-9)
        assert told.below == pytest.approx(stats.beta.isf(each, other + 1, measured - other), rel=1e-9)


@pytest.mark.parametrize(
    ("run", "claim"),
    [
        (gaussian(0.8), Claim.gaussian(1.0)),
        (laplace(0.8), Claim.pure(1.0)),
        (laplace(0.5), Claim.approximate(1.0, 0.01)),
        (gaussian(0.0), Claim.gaussian(5.0)),
    ],
)
def test_too_little_noise_is_refuted(run: Any, claim: Claim) -> None:
    assert audit(target(run, claim), trials=200_000).refuted


def test_composition_is_seen() -> None:
    """Three answers with the noise of one: sums, differences and learned odds all show it."""
    for second in ([1.0, 1.0, 1.0], [1.0, -1.0, 1.0]):
        pairs = [Pair([0.0, 0.0, 0.0], second)]
        assert not audit(target(gaussian(1.0), Claim.gaussian(3**0.5), pairs), trials=100_000).refuted
        assert audit(target(gaussian(1.0), Claim.gaussian(1.3), pairs), trials=100_000).refuted


def test_a_whole_profile_is_refuted_where_its_end_is_not() -> None:
    """Eight answers of epsilon = 1/2: 4 in all is true. As if only 4 were composed, 2, it is refuted long before."""
    pairs = [Pair([0.0] * 8, [1.0] * 8)]
    assert not audit(target(laplace(2.0), Claim(Homogeneous(0.5, 0.0, 8)), pairs), trials=80_000).refuted
    report = audit(target(laplace(2.0), Claim(Homogeneous(0.5, 0.0, 4)), pairs), trials=80_000)
    assert report.refuted


def test_a_reused_draw_is_found_by_differences() -> None:
    def reused(counts: Any, trials: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(counts) + rng.integers(-50, 51, (trials, 1))

    report = audit(target(reused, Claim.pure(4.0), [Pair([0, 0], [0, 1])]), trials=4_000)
    assert report.refuted
    assert report.lower_bound > 4


def test_either_direction_and_any_pair() -> None:
    silent = Pair([0.0], [0.0], "the same")
    told = audit(target(laplace(0.5), Claim.pure(1.0), [silent, Pair([1.0], [0.0], "one row")]), trials=100_000)
    assert told.refuted
    assert told.best.pair == "one row"


def test_what_never_differs_gives_nothing() -> None:
    report = audit(target(laplace(1.0), Claim.pure(1.0), [Pair([0.0], [0.0])]), trials=2_000)
    assert report.lower_bound < 0.3
    assert not report.refuted
    constant = Target("constant", Claim.pure(0.1), [Pair(0, 1)], lambda given, trials, rng: np.zeros(trials))
    assert audit(constant, trials=1_000).lower_bound == 0.0


@pytest.mark.parametrize("values", [1, 2, 7, 30, 10_000])
def test_the_fewest_trials_on_any_number_of_values(values: int) -> None:
    whole = Target("whole", Claim.pure(0.5), [Pair(0, 1)], lambda given, trials, rng: rng.integers(0, values, trials))
    assert not audit(whole, trials=100).refuted


def test_the_same_seed_the_same_report() -> None:
    made = target(laplace(1.0), Claim.pure(1.0))
    assert audit(made, trials=1_000, seed=4) == audit(made, trials=1_000, seed=4)
    assert audit(made, trials=1_000, seed=4) != audit(made, trials=1_000, seed=5)


def test_the_report() -> None:
    ticks: list[tuple[int, int]] = []
    report = audit(target(laplace(0.2), Claim.pure(1.0)), trials=20_000, progress=lambda *told: ticks.append(told))
    told = json.loads(json.dumps(report.to_json()))
    assert {"name", "claimed", "lower_bound", "confidence", "refuted"} <= told.keys()
    assert (told["name"], told["claimed"], told["refuted"], told["unit"]) == ("noise", 1.0, True, "epsilon")
    assert told["lower_bound"] == report.lower_bound > 1
    assert "REFUTED" in str(report)
    assert "refuted" in report._repr_html_()
    assert ticks[-1][0] == ticks[-1][1] == 40_000
    assert [done for done, _ in ticks] == sorted(done for done, _ in ticks)
    with pytest.raises(FrozenInstanceError):
        report.refuted = False  # type: ignore[misc]


def test_the_chart() -> None:
    pytest.importorskip("altair")
    for sd in (0.2, 2.0):
        chart = audit(target(gaussian(sd), Claim.gaussian(1.0)), trials=2_000).chart().to_dict()
        assert "what the claim allows" in json.dumps(chart)
        assert ("is not refuted" in json.dumps(chart)) is (sd == 2.0)


@pytest.mark.parametrize("trials", [0, 50, 1.5, float("nan")])
def test_too_few_trials(trials: Any) -> None:
    with pytest.raises(ValueError, match="trials"):
        audit(target(laplace(1.0), Claim.pure(1.0)), trials=trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan"), 2.0])
def test_impossible_confidence(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        audit(target(laplace(1.0), Claim.pure(1.0)), trials=200, confidence=confidence)


def test_a_target_that_cannot_be_run() -> None:
    with pytest.raises(ValueError, match="at least one Pair"):
        Target("none", Claim.pure(1.0), [], laplace(1.0))
    for outputs in (np.zeros(3), np.zeros((2, 2, 2)), np.array(["a"] * 100)):
        with pytest.raises(ValueError, match="must return 100 rows"):
            Target("bad", Claim.pure(1.0), [Pair(0, 1)], lambda *_: outputs).outputs(0, 100, np.random.default_rng(0))  # noqa: B023


def run_of(*widths: int) -> Any:
    """Returns another number of numbers each time it is called."""
    told = iter(widths)
    return lambda given, trials, rng: rng.random((trials, next(told)))


@pytest.mark.parametrize("widths", [(2, 1), (2, 2, 3), (2, 2, 2, 1)])
def test_the_number_of_places_must_not_vary(widths: tuple[int, ...]) -> None:
    """Neither from input to input nor from search to measurement."""
    with pytest.raises(ValueError, match=r"uneven.*returned 2 numbers per trial once and"):
        audit(Target("uneven", Claim.pure(1.0), [Pair(0, 1)], run_of(*widths)), trials=100)


def test_the_number_of_places_must_not_vary_from_chunk_to_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.lab.audit.auditor._CHUNK", 30)
    with pytest.raises(ValueError, match="returned 1 numbers per trial once and 2 another time"):
        audit(Target("uneven", Claim.pure(1.0), [Pair(0, 1)], run_of(1, 2)), trials=100)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda trials: np.zeros((trials, 0)), "without any: NaN says"),
        (lambda trials: [[1]] * (trials - 1) + [[1, 2]], "all of the same length"),
        (lambda trials: np.zeros(trials + 1), "returned shape"),
        (lambda trials: None, "returned shape"),
    ],
)
def test_outputs_that_are_no_table(returned: Any, says: str) -> None:
    made = Target("bad", Claim.pure(1.0), [Pair(0, 1)], lambda given, trials, rng: returned(trials))
    with pytest.raises(ValueError, match=f"bad: run.*{says}"):
        audit(made, trials=200)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", None])
def test_an_impossible_seed(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number from 0"):
        audit(target(laplace(1.0), Claim.pure(1.0)), trials=200, seed=seed)


@pytest.mark.parametrize(
    "holds", [lambda outputs: np.array([True]), lambda outputs: outputs > -np.inf, lambda outputs: outputs[:, 0] * 0.5]
)
def test_a_hint_says_yes_or_no_of_each_trial(holds: Any) -> None:
    pair = Pair([0.0, 0.0], [1.0, 0.0], hints=(Outcome("mine", holds),))
    with pytest.raises(ValueError, match=r"outcome 'mine' must say true or false of each of \d+ trials"):
        audit(target(laplace(1.0), Claim.pure(1.0), [pair]), trials=200)


def test_a_violation_is_named_where_the_quoted_number_is_kept() -> None:
    """Eight answers worth .71 each, claimed at .5: no odds of e^4 are seen, and yet odds that the profile forbids."""
    pairs = [Pair([0.0] * 8, [1.0] * 8)]
    report = audit(target(laplace(1.4), Claim(Homogeneous(0.5, 0.0, 8)), pairs), trials=20_000)
    assert report.refuted
    assert report.lower_bound < report.claimed.value == 4.0
    most = float(report.claimed.allowed(report.best.below))
    assert report.best.above > most
    assert f"{report.best.above:.4g} > {most:.4g}, the most that the whole profile allows" in str(report)
    assert "whole profile" in report._repr_html_()
    assert audit(target(laplace(1.4), Claim.pure(6.0), pairs), trials=1_000).violation is None  # not refuted
    assert audit(target(laplace(0.1), Claim.pure(0.1)), trials=1_000).violation is None  # by its number


def test_every_proposal_holds_as_often_as_it_says() -> None:
    """The counts a search reports are those of its outcomes, for symbols and numbers, words and silence."""
    rng = np.random.default_rng(7)
    symbols = rng.integers(0, 3, (4_000, 3))
    numbers = np.where(rng.random((4_000, 2)) < 0.2, np.nan, rng.normal(size=(4_000, 2)))
    words = np.where(rng.random((4_000, 1)) < 0.3, np.inf, rng.integers(0, 40, (4_000, 1)))
    both = np.column_stack([symbols, numbers, words])
    one, two = both[:2_000], both[2_000:]
    hint = Outcome("first is 0", lambda outputs: outputs[:, 0] == 0)
    counted, told = proposals(Pair(0, 1, hints=(hint,)), one, two)
    assert counted == 1_000
    assert told[0].outcome is hint
    assert len({found.outcome.label.split(" ")[0] for found in told}) > 5
    for found in told:
        assert found.first == int(found.outcome.holds(one[1::2]).sum()), found.outcome.label
        assert found.second == int(found.outcome.holds(two[1::2]).sum()), found.outcome.label


def test_codes_tell_outputs_apart() -> None:
    outputs = np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, np.nan], [0.0, 0.0], [0.0, np.inf]])
    first, last = list(codes(outputs))
    assert first[0] == first[1] == first[3] != first[2]
    assert len(set(last.tolist())) == 4
    assert key_of(np.array([np.inf, np.inf, -np.inf, np.nan, 2.0])) == "below² above – 2"
