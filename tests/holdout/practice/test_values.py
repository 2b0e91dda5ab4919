"""What practice rows say, for nothing: and that it is the guess, unless somebody has a better one."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from tests.holdout.practice.support import ROWS, Sign, people, split
from unworn import Holdout, col, function, mean, share, statistic
from unworn.errors import Unaskable
from unworn.mechanisms import Gaussian, Naive
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.practice_estimate import PracticeEstimate

FRAME = people()
Y = FRAME["y"].to_numpy()
RIGHT = (FRAME["a"].to_numpy() > 0) == (Y == 1)


@pytest.fixture
def holdout() -> Holdout:
    return Holdout(FRAME, "y", practice=0.25, ledger=None)


def test_the_exact_value_its_error_and_what_it_is_worth(holdout: Holdout) -> None:
    aside, _ = split(holdout)
    told = holdout.practice.score(Sign(), name="sign")
    right = RIGHT[aside].mean()
    assert told == PracticeEstimate(right, math.sqrt(right * (1 - right) / 250), 250, "accuracy of sign")
    assert float(told) == right
    assert str(told).endswith("on 250 practice rows (free, may wear out: no promise)")
    assert "no promise" in told._repr_html_()
    with pytest.raises(AttributeError):
        told.value = 1.0  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(told)) == told
    assert "<" not in PracticeEstimate(0.5, 0.1, 9, "a<b")._repr_html_().split("·")[1].split("<br>")[0]


def test_arrays_are_for_all_rows_and_questions_for_the_part(holdout: Holdout) -> None:
    aside, _ = split(holdout)
    coin = np.random.default_rng(3).integers(0, 2, ROWS)
    assert holdout.practice.score(coin).value == np.mean(coin[aside] == Y[aside])
    assert holdout.practice.ask("a > 0").value == np.mean(FRAME["a"].to_numpy()[aside] > 0)
    told = holdout.practice.ask(mean(col("a").fill(0), range=(-4, 4)))
    seen = np.clip(FRAME["a"].to_numpy()[aside], -4, 4)
    assert told.value == pytest.approx(seen.mean())
    assert told.error == pytest.approx(seen.std() / math.sqrt(250))
    with pytest.raises(Unaskable, match="250 predictions for 1000 rows"):
        holdout.practice.score(coin[aside])
    difference = holdout.practice.compare(coin, 1 - coin)
    assert difference.value == pytest.approx(2 * holdout.practice.score(coin).value - 1)


def test_nothing_is_entered_or_charged(holdout: Holdout) -> None:
    head, meter = holdout.head, holdout.meter
    for _ in range(50):
        holdout.practice.score(Sign())
        holdout.practice.compare(Sign(), Sign(0.1), metric="accuracy")
        holdout.practice.ask("a > 0")
    assert (holdout.head, holdout.meter) == (head, meter)


def test_the_practice_value_is_the_guess(holdout: Holdout) -> None:
    told, answer = holdout.practice.score(Sign()), holdout.score(Sign())
    guess = answer.certificate.record.guess
    assert guess is not None
    assert (guess.value, guess.error, guess.discordance, guess.origin) == (told.value, told.error, None, "practice")
    assert answer.source == "guess"
    assert answer.value == told.value
    assert answer.practice == told
    assert "(agrees with practice; the promise" in str(answer)
    assert "agrees with practice" in answer._repr_html_()
    assert holdout.answers["guess"].tolist() == [told.value]
    assert answer.low < 0.75 < answer.high  # what Sign gets right of the population
    again = holdout.score(Sign())
    assert (again.index, again.practice, holdout.meter.asked) == (1, told, 1)


def test_a_final_value_is_shown_beside_that_of_practice(holdout: Holdout) -> None:
    asked = holdout.score(Sign())
    assert asked.practice is not None
    assert holdout.final(asked).practice == asked.practice


def test_sealed_rows_alone_are_asked(holdout: Holdout) -> None:
    aside, sealed = split(holdout)
    odd = np.where(np.isin(np.arange(ROWS), aside), Y, 1 - Y)  # right on every practice row, wrong on all others
    answer = holdout.score(odd)
    assert answer.source == "surprise"
    assert answer.practice is not None
    assert answer.practice.value == 1.0
    assert answer.high < 0.2
    assert f"(surprise; practice 1 ± {1 / 250:.2g}" in str(answer)
    exact = Holdout(FRAME, "y", practice=0.25, mechanism=Naive(), ledger=None)
    assert exact.score(Sign()).value == RIGHT[split(exact)[1]].mean()
    assert len(sealed) == exact.size


def test_who_guesses() -> None:
    train = (people(400, seed=9)[["a", "word", "team"]], people(400, seed=9)["y"])
    both = Holdout(FRAME, "y", practice=0.25, train=train, ledger=None)
    answers = [both.score(Sign(), guess=0.7), both.score(Sign(0.1)), both.score(Y * 0), both.ask("a > 0", 0.5)]
    assert [answer.certificate.record.guess.origin for answer in answers] == ["asker", "train", "practice", "asker"]  # type: ignore[union-attr]
    assert all(answer.practice is not None for answer in answers)
    assert f"; practice {answers[0].practice.short}" in str(answers[0])  # type: ignore[union-attr]
    alone = Holdout(people(seed=2), "y", practice=0.25, ledger=None)
    batch = alone.ask_many(["a > 0", "a > 1"], guesses=[None, 0.16])
    assert [answer.certificate.record.guess.origin for answer in batch] == ["practice", "asker"]  # type: ignore[union-attr]
    assert alone.quote("a > 0.5").guess == alone.practice.ask("a > 0.5").value


def test_comparing_takes_the_discordance_from_practice(holdout: Holdout) -> None:
    answer = holdout.compare(Sign(), Sign(0.2))
    guess = answer.certificate.record.guess
    assert guess is not None
    assert guess.origin == "practice"
    aside, _ = split(holdout)
    apart = np.mean(Sign().predict(FRAME)[aside] != Sign(0.2).predict(FRAME)[aside])
    assert guess.discordance == pytest.approx(2 * max(apart, 8 / 250))
    plain = Holdout(FRAME, "y", practice=0, ledger=None).compare(Sign(), Sign(0.2))
    assert answer.width < plain.width


def test_classes_come_from_practice(holdout: Holdout) -> None:
    aside, _ = split(holdout)
    told = holdout.practice.score(Sign(), metric="balanced_accuracy")
    recalls = [np.mean(Sign().predict(FRAME)[aside][Y[aside] == label] == label) for label in (0, 1)]
    assert told.value == pytest.approx(np.mean(recalls))
    assert [part.index for part in holdout.score(Sign(), metric="balanced_accuracy").parts] == [1, 2]


def test_functions_statistics_and_tests(holdout: Holdout) -> None:
    positive = function(lambda columns: columns["a"] > 0, binary=True, name="positive")
    assert holdout.practice.ask(positive).value == holdout.practice.ask("a > 0").value
    spread = statistic(lambda columns: float(np.std(columns["a"])), range=(0, 9), sensitivity=1, name="spread")
    with pytest.raises(Unaskable, match="a statistic is about samples of one size"):
        holdout.practice.ask(spread)
    noisy = Holdout(FRAME, "y", practice=0.25, mechanism=Gaussian(), asks=2, ledger=None)
    answer = noisy.ask(statistic(lambda columns: 1.0, range=(0, 9), sensitivity=0.05, name="one"))
    assert answer.practice is None
    assert answer.certificate.record.guess is None
    assert holdout.test(share(col("a") > 0), above=0.1).rejected


def test_cards_say_that_only_sealed_rows_count(holdout: Holdout) -> None:
    certificate = holdout.score(Sign()).certificate
    assert {"rows": 750, "practice_share": 0.25, "practice_rows": 250}.items() <= certificate.numbers.items()
    again = Certificate.from_json(certificate.to_json())
    again.verify()
    answer = Answer.of(again)
    assert answer.practice is not None
    assert answer.practice.value == answer.value
    assert answer.explained == "agrees with practice"
    assert pickle.loads(pickle.dumps(answer)).practice == answer.practice
    assert "750 rows + 250 for practice" in repr(holdout)
    assert "250 rows: exact values are free" in repr(holdout.practice)
    assert (
        certificate.assumptions
        == Holdout(people(seed=4), "y", practice=0, ledger=None).score(Sign()).certificate.assumptions
    )
