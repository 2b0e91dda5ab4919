"""Plans: every mechanism on the same terms, the numbers those of the theorems, and the best one named."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from unworn import Plan, mechanisms, plan
from unworn.bounds import best_rounding, clopper_pearson, splitting_exact
from unworn.bounds.code_length import Pattern
from unworn.bounds.noisy_agreement import all_surprises
from unworn.bounds.transfer import registry
from unworn.mechanisms import Guess, OneSample, Subsampled
from unworn.mechanisms.contract.conversation import charge_symbol, follow_event, publish_symbol, published_width
from unworn.mechanisms.contract.mechanism import FinalPlace
from unworn.plan import Option, guess_price
from unworn.plan.option_choice import best_of
from unworn.plan.plan_solver import rows_needed
from unworn.plan.result import is_of_values
from unworn.queries.query import Facts

NOISES = {"BoundedNoise": "bounded", "Gaussian": "Gaussian", "Laplace": "Laplace"}
UNPRICED = {"Mechanism", "Naive"}
planned = cache(plan)


def by_name(found: Plan) -> dict[str, Option]:
    return {option.mechanism: option for option in found.mechanisms}


def test_every_mechanism_with_a_promise_is_an_option_and_says_why() -> None:
    found = planned(10_000, 1_000).mechanisms
    assert {option.mechanism for option in found} == set(mechanisms.kinds()) - UNPRICED
    assert all(option.reason for option in found)


def test_what_answers_something_else_never_competes() -> None:
    found = planned(10_000, 1_000)
    shown = by_name(found)
    assert shown["AboveThreshold"].width < shown["GuessAndCheck"].width  # type: ignore[operator]
    assert (found.best, found.best_without_guesses) == ("GuessAndCheck", "BoundedNoise")
    kinds = {"sides": {"AboveThreshold", "SparseVector"}, "coins": {"OneSample"}}
    kinds["bests"] = {"Ladder", "PairedLadder", "PrivateLadder"}
    kinds["domain values"] = {"MultiplicativeWeights", "MedianOracle"}
    for tells, names in kinds.items():
        assert {option.mechanism for option in found.mechanisms if option.tells == tells} == names


def test_other_mechanisms_are_priced_as_they_would_be_sealed() -> None:
    rows, asks, found = 1_000_000, 10_000, by_name(planned(1_000_000, 10_000))
    sparse = mechanisms.SparseVector.for_(rows=rows, asks=asks)
    offer = sparse.offer(sparse.begin(rows, 0.95, asks), Facts("binary", 0.0, 1.0, True), None)
    low = sparse.threshold - publish_symbol(sparse, offer, "above").low
    assert found["SparseVector"].width == pytest.approx(low, rel=0.02)
    checked = mechanisms.PrivateGuessAndCheck(tops=1).settled(rows, 0.95, asks)
    assert found["PrivateGuessAndCheck"].width == checked.reach(rows, asks)
    weights = mechanisms.MultiplicativeWeights.for_(rows=rows, asks=asks, domain={"x": range(1_024)})
    assert found["MultiplicativeWeights"].width == weights.reach(rows, asks)
    board = mechanisms.Ladder.for_(rows=rows, asks=asks)
    state = replace(board.begin(rows, 0.95), best=999)
    first = published_width(board, board.offer(state, Facts("binary", 0.0, 1.0, True), None), 1)
    assert first < found["Ladder"].width < 1.5 * first  # type: ignore[operator]


def test_every_theorem_is_there_with_its_width() -> None:
    found = planned(1_000_000, 10_000)
    shown = by_name(found)
    widths = registry.widths(1_000_000, 10_000)
    for name, noise in NOISES.items():
        theorem = "D2" if name == "Laplace" else "F"
        assert shown[name].width == widths.pop(f"{theorem} {noise}")
        assert f"Theorem {theorem}" in shown[name].theorem
    assert shown["SampleSplitting"].width == widths.pop("splitting, exact") == splitting_exact(10**6, 10**4, 1 - 0.95)
    assert shown["Rounding"].width == widths.pop("rounding") == best_rounding(10**6, 10**4, 1 - 0.95)[1]
    assert sorted(widths.values()) == [option.width for option in found.comparisons]
    assert {option.theorem.partition(",")[0] for option in found.comparisons} == {
        *("D2", "D1+", "D1", "JLNRSS20", "Rogers20", "BNSSSU16", "DFHPRR15", "sample splitting")
    }
    assert len({(option.mechanism, option.theorem) for option in found.options}) == len(found.options)


def test_options_are_in_order_and_comparisons_come_last() -> None:
    for found in (planned(10_000, 1_000), planned(1_000_000, 10_000), planned(100, 10)):
        assert [*found.mechanisms, *found.comparisons] == list(found.options)
        values = [option for option in found.mechanisms if is_of_values(option)]
        assert list(found.mechanisms[: len(values)]) == values
        for group in (values, found.mechanisms[len(values) :], found.comparisons):
            widths = [1.0 if option.width is None else option.width for option in group]
            assert widths == sorted(widths)
            assert all(option.width is None or 0 < option.width < 0.5 for option in group)


def test_drawing_mechanisms_say_what_they_do() -> None:
    shown = by_name(planned(1_000_000, 10_000))
    assert shown["Subsampled"].width == Subsampled(drawn=10_000).best(10**6, 10**4, 1 - 0.95)[1]
    assert "10,000 rows" in shown["Subsampled"].reason
    chance = 2 * (OneSample.for_(rows=10**6, asks=10**4).flip or 0)
    assert shown["OneSample"].width is None
    assert "a coin, not an interval" in shown["OneSample"].reason
    assert f"± {chance:.3g}" in shown["OneSample"].reason
    assert "all rows" in by_name(planned(10_000, 1_000))["Subsampled"].reason


def test_the_best_depends_on_the_guesses() -> None:
    few, many = planned(1_000_000, 100_000), planned(1_000_000, 100_000, None, 5_000)
    assert (few.best, few.best_without_guesses) == ("GuessAndCheck", "BoundedNoise")
    assert few.reason == "GuessAndCheck, if every guess is right; without guesses BoundedNoise, ± 0.0325"
    assert (many.best, many.best_without_guesses) == ("BoundedNoise", "BoundedNoise")
    assert "if all but 5,000 of 100,000 guesses are right" in many.reason
    assert many.advice.startswith("Ask with care")
    # What was solved for stays that of guess and check, whatever is best.
    assert many.width == by_name(many)["GuessAndCheck"].width
    assert by_name(few)["Gaussian"] == by_name(many)["Gaussian"]


def test_many_wrong_guesses_are_planned_where_that_is_narrowest() -> None:
    found = planned(10_000, 1_000, None, 20)
    shown = by_name(found)
    noisy = shown["GuessAndCheck(surprises=20)"]
    assert (found.best, found.best_without_guesses) == ("GuessAndCheck(surprises=20)", "BoundedNoise")
    assert (
        noisy.width
        == found.noisy_check_width
        == min(one.width or 1.0 for one in found.options if one.tells == "values")
    )
    assert "Theorem U" in noisy.theorem
    assert found.reason.startswith("GuessAndCheck(surprises=20), if all but 20 of 1,000 guesses are right; without")
    assert found.advice.startswith("Ask with care")
    assert "after them, if 20 guesses are wrong" in found.advice.lower()
    # Where noise for every answer is narrower still, the better way to guess is what stands beside it.
    many = planned(1_000_000, 100_000, None, 5_000)
    assert "GuessAndCheck(surprises=5000) gives ± 0.03" in many.reason
    assert not any("(" in option.mechanism for option in planned(10_000, 1_000).options)
    assert (
        by_name(planned(10_000, 1_000, None, 1))["GuessAndCheck(surprises=1)"].width
        > planned(10_000, 1_000, None, 1).width
    )


def test_what_is_foreseen_of_noisy_checks_is_what_comes() -> None:
    """All planned surprises and as many by chance as are reckoned with: then terms are those of twice as many."""
    rows, asks, wrong = 10_000, 1_000, 20
    mechanism = mechanisms.GuessAndCheck(surprises=wrong)
    state, share = mechanism.begin(rows, 0.95, asks), Facts("binary", 0.0, 1.0, zero_one=True)
    for ask in range(asks - 1):
        offer = mechanism.offer(state, share, Guess(0.5))
        symbol = [1, 6_500] if ask % 38 == 0 and ask < 38 * all_surprises(wrong) else 0
        state = follow_event(mechanism, state, charge_symbol(mechanism, offer, symbol))
    assert state.surprises == all_surprises(wrong)
    found = planned(rows, asks, None, wrong)
    agreed = published_width(mechanism, mechanism.offer(state, share, Guess(0.5)), 0)
    assert found.noisy_check_width == pytest.approx(agreed, rel=1e-3)
    last = published_width(mechanism, mechanism.offer_final(state, share, FinalPlace()), 0.5)
    final = guess_price.noisy_check_final(rows, asks, wrong, 1 - 0.95)
    assert final == pytest.approx(last, rel=1e-3)
    assert f"a final number of ± {final:.4f}" in found.advice


def test_a_few_asks_without_guesses_are_best_split() -> None:
    assert planned(10_000, 5).best_without_guesses == "SampleSplitting"
    assert planned(100_000, 1_000).best_without_guesses == "BoundedNoise"


def test_nothing_can_serve() -> None:
    found = planned(10, 100)
    assert (found.best, found.best_without_guesses) == ("GuessAndCheck", None)
    assert "bring more rows" in found.reason
    assert all(option.width is None and option.reason for option in found.options if option.tells == "values")


def test_words_for_the_best() -> None:
    guess, noise = Option("GuessAndCheck", "C", 0.05, ""), Option("Gaussian", "D2", None, "")
    compared = Option("Gaussian", "D1", 0.01, "", comparison=True)
    assert best_of([guess, noise, compared], 10, 0)[1:] == (
        None,
        "GuessAndCheck, if every guess is right; without guesses none can answer so many",
    )
    none = Option("Gaussian", "D2", None, "", asks=0)
    assert best_of([guess, none], 10, 1)[1:] == (
        None,
        "GuessAndCheck, if all but 1 of 10 guesses are right; without guesses none answers even one within that width",
    )
    only = Option("Gaussian", "D2", 0.3, "")
    assert "GuessAndCheck gives no interval" in best_of([only], 10, 1)[2]


def test_solving_for_asks_counts_them_for_each_mechanism() -> None:
    found = planned(100_000, None, 0.05)
    asks = {option.mechanism: option.asks for option in found.mechanisms}
    assert asks["GuessAndCheck"] == found.asks
    assert asks["Subsampled"] is None
    assert asks["OneSample"] is None
    for name, theorem in (
        ("Gaussian", "F Gaussian"),
        ("SampleSplitting", "splitting, exact"),
        ("Rounding", "rounding"),
    ):
        exact = registry.most_asks(theorem, 100_000, 0.05, 1 - 0.95)
        assert 0.99 * exact - 1 <= (asks[name] or 0) <= exact
    best = max((count or 0, name) for name, count in asks.items() if name != "GuessAndCheck")
    assert found.best_without_guesses == best[1] == "BoundedNoise"
    assert f"BoundedNoise, which answers {best[0]:,} within that width" in found.reason
    assert all(option.asks is None for option in planned(10_000, 1_000).options)


def test_more_rows_are_never_wider_and_more_asks_never_narrower() -> None:
    rows = [planned(rows, 1_000) for rows in (3_000, 10_000, 30_000, 100_000)]
    asks = [planned(10_000, asks) for asks in (3_000, 1_000, 300, 30)]
    for plans in (rows, asks):
        for before, after in pairwise(plans):
            assert after.width <= before.width
            assert after.floor <= before.floor
            old = {(option.mechanism, option.theorem): option.width for option in before.options}
            for option in after.options:
                earlier = old.get((option.mechanism, option.theorem))
                assert earlier is None or (option.width is not None and option.width <= earlier)


def test_importing_plans_loads_no_theorem_about_noise() -> None:
    code = "import sys, unworn; print([name for name in sys.modules if 'transfer' in name or 'scipy' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_solving_prices_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    from unworn.plan import option_choice

    calls, options = [], planned(10_000, 1_000).options
    monkeypatch.setattr(option_choice, "options", lambda *terms: calls.append(terms) or options)
    assert plan(asks=1_000, width=0.05).rows <= 10_000
    assert plan(10_000, 1_000, 0.07, None).surprises == 3
    assert len(calls) == 2


@pytest.mark.parametrize("asks", [2, 30, 31, 1_000, 3_001])
def test_plans_of_guess_and_check_are_monotone(asks: int) -> None:
    surprises = sorted({*range(min(asks, 40)), asks // 2, *range(max(0, asks - 40), asks)})
    for reach in (guess_price.guess_width, guess_price.floor_width, guess_price.final_width):
        widths = [reach(10_000, asks, wrong, 0.05) for wrong in surprises]
        assert all(after >= before for before, after in pairwise(widths))
        for wrong in surprises:
            assert reach(10_000, asks + 1, wrong, 0.05) >= reach(10_000, asks, wrong, 0.05)
            assert reach(10_100, asks, wrong, 0.05) <= reach(10_000, asks, wrong, 0.05)


def test_what_is_solved_for_is_the_last_that_fits() -> None:
    rows = rows_needed(1_000, 0.03, 3, 0.05)
    assert guess_price.guess_width(rows, 1_000, 3, 0.05) <= 0.03 < guess_price.guess_width(rows - 1, 1_000, 3, 0.05)
    found = planned(10_000, 1_000, 0.07, None)
    assert found.width <= 0.07 < guess_price.guess_width(10_000, 1_000, found.surprises + 1, 1 - 0.95)
    # Right guesses do not wear rows out: what 30,000 asks can have, any number of asks can.
    assert planned(10_000, None, 0.05).asks == guess_price.MOST
    assert "as many asks as you like" in planned(10_000, None, 0.05).advice


def test_the_final_number_is_nearly_that_of_an_untouched_test_set() -> None:
    found = planned(20_000, 300)
    assert found.final == pytest.approx(0.0075, abs=5e-5)  # theory: .0078 by a dearer law
    assert found.untouched == pytest.approx(0.0070, abs=5e-5)
    low, high = clopper_pearson(10_000, 20_000, math.log(0.05))
    assert found.untouched == pytest.approx((high - low) / 2)
    assert f"final number will be ± {found.final:.4f}" in found.advice
    assert found.floor < found.final < found.width


def test_a_wrong_guess_costs_what_the_advice_says() -> None:
    found = planned(10_000, 1_000)
    spent = guess_price.code_nats(1_000, 1) - guess_price.code_nats(1_000, 0)
    assert found.surprise_nats == spent
    assert f"costs about {spent:.0f} nats" in found.advice
    assert "asks= is a cap" in found.advice


def test_the_foreseen_price_is_never_below_the_real_one() -> None:
    for places in ((5,), (1, 2, 3), (100, 200, 290), (298, 299, 300)):
        pattern = Pattern()
        for ask in range(1, 301):
            pattern = pattern.after("asker", ask in places)
        assert pattern.nats <= Pattern.typical(300, len(places)).nats


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"rows": 100}, "asks, width"),
        ({"rows": 100, "asks": 10, "width": 0.1}, "none is left out"),
        ({"rows": 100.5, "asks": 10}, "from 1 to 1e"),
        ({"rows": float("inf"), "asks": 10}, "from 1 to 1e"),
        ({"rows": 100, "asks": 2e15}, "from 1 to 1e"),
        ({"rows": 100, "width": 0.6}, r"\(0, 0.5\]"),
        ({"rows": 100, "width": float("nan")}, r"\(0, 0.5\]"),
        ({"rows": 100, "asks": 10, "confidence": 1.0}, "between 0 and 1"),
        ({"rows": 100, "asks": 10, "surprises": 10}, "do not fit"),
        ({"rows": 100, "width": 0.001}, "larger width"),
        ({"asks": 10, "width": 1e-9}, "larger width"),
    ],
)
def test_impossible_plans(terms: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plan(**terms)


def test_extreme_sizes_are_answered() -> None:
    for terms in ((1, 1), (2, 10**15), (10**12, 10**12)):
        found = planned(*terms)
        assert len(found.mechanisms) == len(mechanisms.kinds()) - 1
        assert all(option.reason for option in found.options)
    assert by_name(planned(10**12, 10**12))["BoundedNoise"].reason == "more than can be priced here"


def test_json_frame_text_and_html_say_the_same() -> None:
    found = planned(100_000, None, 0.05)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    options = tuple(Option(**option) for option in told.pop("options"))
    assert Plan(**told, options=options) == found
    assert list(found.frame()["mechanism"]) == [option.mechanism for option in found.mechanisms]
    frame = found.frame(theorems=True)
    assert list(frame["mechanism"]) == [option.mechanism for option in found.options]
    assert list(frame["comparison"]) == [option.comparison for option in found.options]
    text, html = str(found), found._repr_html_()
    assert found.reason in text
    assert html.count("<tr>") == len(found.options) + 3
    assert html.index("BoundedNoise") < html.index("for comparison") < html.index("JLNRSS20")
    assert f"{found.asks:,}" in html
