"""Composites through a holdout: parts asked together, nothing charged if one is refused, and what is made of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from unworn import Answer, Composite, DerivedAnswer, Holdout, col, compare, log_loss, mean, ratio, rmse, share, values
from unworn.errors import Unaskable
from unworn.mechanisms import Gaussian
from unworn.queries.metrics.array_discordance import array_discordance, sealed_discordance

RNG = np.random.default_rng(5)
N = 4_000
ARM = RNG.choice(["A", "B"], N)
WON = RNG.random(N) < np.where(ARM == "B", 0.4, 0.3)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=N)


def people(**terms: Any) -> Holdout:
    return Holdout({"arm": ARM, "won": WON}, ledger=None, **terms)


def test_a_difference_of_two_shares() -> None:
    holdout = people()
    question = share(col("won") & (col("arm") == "B")) - share(col("won") & (col("arm") == "A"))
    answer = holdout.ask(question, guess=[0.2, 0.15])
    assert isinstance(answer, DerivedAnswer)
    b, a = answer.parts
    assert (answer.low, answer.high) == pytest.approx((b.low - a.high, b.high - a.low))
    assert answer.low < answer.value < answer.high
    assert answer.value == pytest.approx(b.value - a.value)
    assert float(answer) == answer.value
    assert answer.confidence == holdout.confidence
    assert holdout.meter.asked == 2
    assert holdout.ask(question).parts == answer.parts  # a repeat is free
    assert holdout.meter.asked == 2
    assert "made of answers 1, 2" in str(answer)
    assert f"{answer:.2f}" == f"{answer.value:.2f}"
    assert "<table>" in answer._repr_html_()
    assert ">95 % for all answers together" in answer._repr_html_()
    again = pickle.loads(pickle.dumps(answer))
    assert (again.value, again.low, again.high, again.label) == (answer.value, answer.low, answer.high, answer.label)


def test_a_ratio_of_two_plain_shares() -> None:
    question = ratio(share((col("arm") == "B") & col("won")), share(col("arm") == "B"))
    answer = people().ask(question, guess=[0.2, 0.5])
    assert answer.low < 0.4 < answer.high


def test_quote_final_and_what_is_refused() -> None:
    holdout = people()
    question = share(col("won")) - share(col("arm") == "A")
    quote = holdout.quote(question, guess=[0.35, 0.5])
    assert holdout.meter.asked == 0
    assert quote.width < 0.3
    with pytest.raises(Unaskable, match="one number does not say"):
        holdout.ask(question, guess=0.1)
    with pytest.raises(Unaskable, match="made of 2 questions"):
        holdout.ask(question, guess=[0.1])
    with pytest.raises(Unaskable, match="no column"):
        holdout.ask(share(col("won")) - share(col("lost")))
    assert holdout.meter.asked == 0
    answer = holdout.ask(question, guess=[0.35, 0.5])
    final = holdout.final([answer, share(col("won"))])
    assert isinstance(final[0], DerivedAnswer)
    assert final[0].width <= answer.width
    assert final[0].parts[0].value == final[1].value == WON.mean()
    assert final[0].value == pytest.approx(WON.mean() - (ARM == "A").mean())


def test_rmse_and_r2_of_a_model_with_train() -> None:
    model = LinearRegression().fit(X[:1000], Y[:1000])
    holdout = Holdout(X[2000:], Y[2000:], train=(X[1000:2000], Y[1000:2000]), ledger=None)
    found = holdout.score(model, metric="rmse", range=(0, 100))
    assert found.low < 1 < found.high
    assert found.source == "guess"
    explained = holdout.score(model, range=(0, 100))  # the metric of a regressor
    assert explained.label.startswith("r2 of LinearRegression")
    assert holdout.meter.asked == 2  # the squared error was asked before
    truth = 1 - 1 / 6
    assert explained.low < truth < explained.high
    other = DummyRegressor().fit(X[:1000], Y[:1000])
    holdout.score(other, range=(0, 100))
    assert holdout.meter.asked == 3  # the baseline too
    with pytest.raises(Unaskable, match="is a regressor"):
        holdout.score(model, metric="accuracy")
    assert holdout.score(model, metric="neg_mae", range=(0, 10)).high <= 0
    with pytest.raises(Unaskable, match="neg_rmse"):
        holdout.scorer("rmse", range=(0, 100))
    assert holdout.scorer("neg_rmse", range=(0, 100))(model, X[:500], Y[:500]) < 0


def test_a_guess_of_a_root_is_a_guess_of_its_square() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0)
    answer = holdout.ask(rmse(X @ [1.0, 2.0], range=(0, 50)), guess=1.0, guess_se=0.01)
    assert answer.parts[0].certificate.record.guess is not None
    assert answer.parts[0].certificate.record.guess.value == 1.0
    assert answer.parts[0].certificate.record.guess.error == pytest.approx(0.02, rel=1e-3)


def test_practice_rows_say_what_is_made_of_their_values() -> None:
    holdout = Holdout(X, Y, ledger=None, practice=0.25)
    estimate = holdout.practice.score(X @ [1.0, 2.0], metric="rmse", range=(0, 50))
    assert abs(estimate.value - 1) < 0.1
    assert 0 < estimate.error < 0.2


def test_kinds_without_an_interval_are_refused_before_rows_are_read() -> None:
    holdout = people(mechanism=Gaussian(), asks=10)
    with pytest.raises(Unaskable, match=r"ratio\("):
        holdout.ask(share(col("won"), given=col("arm") == "B"))
    assert holdout.meter.asked == 0
    assert holdout.ask(ratio(share(col("won") & (col("arm") == "B")), share(col("arm") == "B"))).high > 0.4


def test_two_arrays_say_how_much_they_differ() -> None:
    y = RNG.integers(0, 2, N)
    one = np.where(RNG.random(N) < 0.8, y, 1 - y)
    other = np.where(RNG.random(N) < 0.02, 1 - one, one)
    differ = float((one != other).mean())
    question = compare(one, other)
    bound = array_discordance(question)
    assert bound == pytest.approx(differ)
    holdout = Holdout(None, y, ledger=None, practice=0)
    answer = holdout.compare(one, other)
    assert answer.width < 0.03
    truth = float(((one == y).astype(int) - (other == y)).mean())
    assert answer.low <= truth <= answer.high
    assert isinstance(answer.certificate.record.guess.discordance, float)  # type: ignore[union-attr]
    same = holdout.compare(one, one.copy())
    assert same.low <= 0 <= same.high
    assert holdout.test(compare(one, 1 - one)).rejected
    part = Holdout(None, y, ledger=None, practice=0.25).compare(one, other)
    assert part.low <= truth <= part.high


@pytest.mark.parametrize("seed", range(20))
def test_the_discordance_of_arrays_is_never_too_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, one, other = rng.integers(0, 2, 50), rng.random(50), rng.random(50)
    hold = Holdout(None, y, ledger=None, practice=0)
    for name, made, losses in (
        ("brier", {}, [(p - y) ** 2 for p in (one, other)]),
        ("mae", {"range": (0, 1)}, [np.abs(p - y) for p in (one, other)]),
    ):
        bound = array_discordance(compare(one, other, metric=name, **made))
        assert bound is not None
        assert bound >= np.abs(losses[0] - losses[1]).mean() - 1e-12
    text = np.array(["no", "yes"])
    words = array_discordance(compare(text[y], text[(one > 0.5).astype(int)]))
    assert words == pytest.approx((y != (one > 0.5)).mean())
    assert array_discordance(compare(values(one), values(other))) == pytest.approx(np.abs(one - other).mean())
    assert hold.meter.asked == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_discordance_of_log_losses_is_never_too_small_and_narrows_the_comparison(seed: int) -> None:
    """Against scikit-learn's losses, row by row; of chances near 0 they are cut to the range."""
    rng = np.random.default_rng(seed)
    two, three = rng.random((2, 50)) ** rng.choice([1, 9]), rng.dirichlet(np.full(3, 0.3), (2, 50))
    for arrays, labels in ((two, rng.integers(0, 2, 50)), (three, rng.integers(0, 3, 50))):
        bound = array_discordance(compare(*arrays, metric="log_loss"))
        columns = [array if array.ndim == 2 else np.column_stack([1 - array, array]) for array in arrays]
        one, other = (np.clip(-np.log(array[np.arange(50), labels]), 0, 7) for array in columns)
        assert bound is not None
        assert np.abs(one - other).mean() <= bound < 7
    assert array_discordance(compare(*three, metric="log_loss", classes=["a", "b", "c"])) == pytest.approx(bound)
    named = (log_loss(three[0], classes=["a", "b", "c"]), log_loss(three[1], classes=["c", "b", "a"]))
    assert array_discordance(compare(*named)) is None  # the columns are not the same labels


def test_log_losses_of_two_arrays_are_told_apart() -> None:
    """Widths of the first answer: 4,000 rows, a range of 7, log losses that differ by .02 or so."""
    chance = RNG.uniform(0.1, 0.9, N)
    labels = (RNG.random(N) < chance).astype(int)
    holdout = Holdout(None, labels, ledger=None, practice=0)
    answer = holdout.compare(chance, chance + 0.01, metric="neg_log_loss")
    assert isinstance(answer, Answer)
    assert answer.width < 0.1
    assert answer.low <= 0.02
    assert answer.high >= -0.02


def test_of_a_part_of_the_rows_it_has_room() -> None:
    assert sealed_discordance(0.1, 1.0, 100, 100) == 0.1
    assert 0.1 < sealed_discordance(0.1, 1.0, 75, 100) <= 0.1 * 100 / 75


def test_means_of_floats_use_the_guess_of_train() -> None:
    price = RNG.gamma(2.0, 20.0, 2 * N)
    frame = pd.DataFrame({"price": price, "cut": RNG.choice(["Fair", "Good", "Ideal"], 2 * N)})
    holdout = Holdout(frame[:N], train=frame[N:], ledger=None)
    answer = holdout.ask(mean(col("price"), range=(0, 200)))
    assert answer.source == "guess"
    nullable = Holdout(frame[:N], train=frame[N:], schema={"price": "number?"}, ledger=None)
    assert nullable.ask(mean(col("price").fill(0), range=(0, 200))).source == "guess"
    with pytest.raises(Unaskable, match=r"mean\(col\('price'\), range=\(low, high\)\)"):
        holdout.ask("price")
    with pytest.raises(Unaskable, match="ordered"):
        holdout.ask(share(col("cut") > "Good"))
    ordered = col("cut").ordered(["Fair", "Good", "Ideal"])
    assert holdout.ask(share(ordered > "Good")).source == "guess"


def test_an_asker_s_own_values() -> None:
    holdout = Holdout({"arm": ARM}, ledger=None)
    graded = RNG.random(N)
    answer = holdout.ask(values(graded, range=(0, 1)), guess=0.5)
    assert answer.low < graded.mean() < answer.high
    assert isinstance(holdout.ask(values(graded) - values(graded**2), guess=[0.5, 0.33]), DerivedAnswer)
    assert isinstance(values(graded) - values(graded**2), Composite)
