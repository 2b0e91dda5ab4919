"""The last word: final values, what they are quoted at, what closes, what goes on, and what is forged."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Certificate, Holdout, accuracy, col, compare, function, mae, mean, share
from unworn.bounds import clopper_pearson
from unworn.bounds.code_length import Pattern
from unworn.errors import Exhausted, ReadOnly, Tampered, Unaskable
from unworn.events import Finished
from unworn.mechanisms import (
    AboveThreshold,
    Gaussian,
    Ladder,
    Naive,
    PairedLadder,
    Rounding,
    SampleSplitting,
)

ROWS = 2_000
X = np.random.default_rng(0).normal(size=(ROWS, 2))
Y = (X[:, 0] > 0.1).astype(int)
HIGH, LOW = share(col("x0") > 0.5), share(col("x0") < -1)
CLOSED = r"the final values have been released, and the holdout is closed with them[\s\S]*Seal fresh rows"


class Cut:
    """A model: 1 where x0 is above the cut."""

    def __init__(self, cut: float) -> None:
        self.cut = cut

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > self.cut).astype(int)


def sealed(**terms: Any) -> Holdout:
    return Holdout(X, Y, **{"ledger": None, "practice": 0, **terms})


def level_of(holdout: Holdout) -> float:
    """ln of what the conversation so far has left."""
    return math.log(0.05) - holdout.meter.spent


def count_of(cut: float) -> int:
    return int((X[:, 0] > cut).sum())


# ---------------------------------------------------------------- what it tells


def test_after_300_right_guesses_it_is_nearly_a_fresh_test_sets() -> None:
    """20,000 rows: ± .0079 at one half, where rows that nobody had touched give ± .0070."""
    labels = np.random.default_rng(2).integers(0, 2, 20_000)
    holdout = Holdout({"x": labels * 1.0, "i": np.arange(20_000)}, ledger=None)
    for cut in range(300):
        holdout.ask(share(col("i") < 10_000 + cut), guess=0.5 + cut / 20_000)
    assert holdout.meter.surprises == 0
    final = holdout.final(share(col("x") > 0.5))
    assert final.width <= 0.0079
    fresh = clopper_pearson(int(labels.sum()), 20_000, math.log(0.05))
    assert final.width < 1.14 * float(fresh[1] - fresh[0]) / 2
    assert (final.value, final.source) == (labels.mean(), "final")


def test_the_exact_value_at_the_level_that_is_left() -> None:
    holdout = sealed()
    told = holdout.ask(HIGH, guess=0.3)
    holdout.ask(LOW, guess=0.9)
    level = level_of(holdout)
    final = holdout.final(told)
    low, high = clopper_pearson(count_of(0.5), ROWS, level)
    assert final.value == count_of(0.5) / ROWS
    assert (final.low, final.high) == (
        pytest.approx(max(float(low), told.low)),
        pytest.approx(min(float(high), told.high)),
    )
    assert final.certificate.record.event == Finished(True, 0.0)
    assert final.certificate.record.parent == told.index
    holdout.verify()
    final.certificate.verify()


def test_several_fixed_together_share_the_level() -> None:
    holdout = sealed()
    questions = [share(col("x0") > cut / 10) for cut in range(4)]
    finals = holdout.final(questions)
    for cut, final in enumerate(finals):
        low, high = clopper_pearson(count_of(cut / 10), ROWS, math.log(0.05 / 4))
        assert (final.low, final.high) == (pytest.approx(float(low)), pytest.approx(float(high)))
        assert final.certificate.record.offer.final == (cut, 4, True)
        assert final.certificate.record.batch == (cut, 4)
    holdout.verify()


def test_never_wider_than_what_was_known() -> None:
    """After many surprises a final value is wide; the first answer still holds, and so does where both agree."""
    holdout = sealed()
    early = holdout.ask(HIGH, guess=0.3)
    for cut in range(12):
        holdout.ask(share(col("x1") > cut / 10), guess=0.99)
    final = holdout.final(early)
    assert (final.low, final.high) == (early.low, early.high)
    assert final.certificate.record.offer.payload.within == (early.low, early.high)
    holdout.verify()


def test_the_narrowest_answer_is_the_one_that_counts() -> None:
    holdout = sealed()
    vague = holdout.ask(HIGH, guess=0.3, guess_se=0.05)
    sharp = holdout.sharpen(vague)
    assert sharp.width < vague.width
    assert holdout.final(vague).certificate.record.parent == sharp.index
    holdout.verify()


FORMS: dict[str, Callable[[Holdout], Any]] = {
    "a share": lambda holdout: HIGH,
    "SQL": lambda holdout: "x0 > 0.5",
    "a mean": lambda holdout: mean(col("x0").fill(0), range=(-6, 6)),
    "predictions": lambda holdout: accuracy(Cut(0.2).predict(X)),
    "a model": lambda holdout: accuracy(Cut(0.2)),
    "a loss": lambda holdout: mae(Y + 0.5, range=(0, 4)),
    "code": lambda holdout: function(lambda columns: columns["x0"] > 0, range=(0, 1), name="code"),
    "an answer": lambda holdout: holdout.ask(HIGH, guess=0.3),
    "an answer to a model": lambda holdout: holdout.score(Cut(0.3), guess=0.9),
    "a comparison": lambda holdout: holdout.compare(Cut(0.1).predict(X), Cut(0.2).predict(X), discordance=0.1),
    "a comparison not asked": lambda holdout: compare(accuracy(Cut(0.1).predict(X)), accuracy(Cut(0.2).predict(X))),
    "a comparison of losses": lambda holdout: compare(mae(Y + 0.5, range=(0, 4)), mae(Y + 0.1, range=(0, 4))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_question_has_one_and_it_is_at_most_as_wide_as_quoted(form: str) -> None:
    holdout = sealed()
    holdout.ask(LOW, guess=0.16)
    question = FORMS[form](holdout)
    spent, asked = holdout.meter.spent, holdout.meter.asked
    quote = holdout.quote_final(question)
    assert (holdout.meter.spent, holdout.meter.asked) == (spent, asked)
    assert quote.closes
    assert quote.cost == 0
    assert "the holdout is closed" in str(quote)
    assert f"± {quote.widths[0]:.4f}" in quote._repr_html_()
    final = holdout.final(question)
    assert final.low <= final.value <= final.high
    assert final.width <= quote.widths[0] + 1e-12
    if form not in ("a comparison", "a comparison not asked", "a comparison of losses"):
        assert final.width > 0.3 * quote.widths[0]  # the quote is of a value in the middle
    assert holdout.meter.spent == spent  # a last word is not charged
    holdout.verify()
    final.certificate.verify(holdout._desk.transcript.entries)


def test_a_quote_is_exact_where_nothing_depends_on_the_value() -> None:
    holdout = sealed()
    balanced = share(col("x0") > float(np.median(X[:, 0])))
    assert holdout.quote_final(balanced).widths[0] == pytest.approx(holdout.final(balanced).width, rel=1e-9)


@pytest.mark.parametrize("surprised", [False, True])
@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("cut", [-1.5, -0.8, 0.0, 0.8, 1.5])
def test_what_a_quote_expects_is_what_comes(cut: float, close: bool, surprised: bool) -> None:
    """Also away from one half, and where the exact value tells little more than is known."""
    holdout, question = sealed(), share(col("x0") < cut)
    told = holdout.ask(question, float((X[:, 0] < cut).mean()))
    if surprised:
        holdout.sharpen(told)
        for guess in (0.05, 0.5, 0.95):
            holdout.ask(HIGH, guess, again=True)
    quote = holdout.quote_final(told, close=close)
    assert quote.likely[0] <= quote.widths[0]
    assert quote.likely[0] == pytest.approx(holdout.final(told, close=close).width, rel=0.2)


def test_groups_are_the_units() -> None:
    groups = np.arange(ROWS) % 400
    holdout = Holdout({"x": np.repeat(1.0, ROWS)}, groups=groups, ledger=None)
    final = holdout.final(mean(col("x").fill(0), range=(0, 2)))
    assert final.certificate.record.offer.rows == 400
    assert final.value == pytest.approx(1.0)
    holdout.verify()


# ---------------------------------------------------------------- closing, and going on


def test_afterwards_nothing_is_asked_and_everything_is_repeated() -> None:
    holdout = sealed(train=(np.random.default_rng(1).normal(size=(50, 2)), np.arange(50) % 2))
    told = holdout.ask(HIGH, guess=0.3)
    final = holdout.final(told)
    refused: list[Callable[[], Any]] = [
        lambda: holdout.ask(LOW, guess=0.1),
        lambda: holdout.ask_many([LOW, HIGH]),
        lambda: holdout.score(Cut(0.2)),
        lambda: holdout.compare(Y, 1 - Y),
        lambda: holdout.test(LOW, above=0.1),
        lambda: holdout.sharpen(told),
        lambda: holdout.final(LOW),
        lambda: holdout.final([HIGH, LOW]),
        lambda: holdout.final(LOW, close=False),
        lambda: holdout.quote(LOW),
        lambda: holdout.quote_final(LOW),
        lambda: holdout.ask(HIGH, guess=0.3, again=True),
    ]
    for ask in refused:
        with pytest.raises(Exhausted, match=CLOSED):
            ask()
    assert holdout.ask(HIGH) == told
    assert holdout.final(HIGH) == holdout.final(told) == final
    assert holdout.final([told, HIGH]) == [final, final]
    assert holdout.quote_final(HIGH).widths == (final.width,)
    assert holdout.meter.asked == 2
    assert holdout.meter.next_width is None
    holdout.verify()


def test_closed_stays_closed_in_the_file(tmp_path: Path) -> None:
    holdout = sealed(ledger=tmp_path / "ledger.db")
    other = sealed(ledger=tmp_path / "ledger.db")  # another process, as it were
    final = holdout.final(HIGH)
    with pytest.raises(Exhausted, match=CLOSED):
        other.ask(LOW, guess=0.1)
    assert other.final("x0 > 0.5") == final
    holdout.close()
    other.close()
    again = sealed(ledger=tmp_path / "ledger.db")
    with pytest.raises(Exhausted, match=CLOSED):
        again.ask(LOW, guess=0.1)
    assert again.final(HIGH) == final
    again.verify()
    again.close()


def test_going_on_costs_what_was_quoted() -> None:
    holdout = sealed()
    told = holdout.ask(HIGH, guess=0.3)
    spent = holdout.meter.spent
    quote = holdout.quote_final(told, close=False)
    assert not quote.closes
    assert "pays" in str(quote)
    final = holdout.final(told, close=False)
    assert holdout.meter.spent - spent == pytest.approx(quote.cost)
    assert quote.cost > math.log(2)
    assert final.width <= quote.widths[0] + 1e-12
    assert final.low <= count_of(0.5) / ROWS <= final.high
    last = sealed()
    closing = last.final(last.ask(HIGH, guess=0.3))
    level = final.certificate.record.offer.log_level
    assert level == pytest.approx(math.log(0.05) - spent - math.log(2))  # the claim has half of what is left
    assert 1.0 < final.width / closing.width < 1.25  # ln 2 less, and a cell
    after = holdout.ask(LOW, guess=0.16)
    assert after.certificate.record.offer.log_level == pytest.approx(math.log(0.05) - spent - quote.cost)
    assert holdout.final(HIGH, close=False) == final
    really = holdout.final([HIGH, LOW])
    assert [answer.certificate.record.offer.final for answer in really] == [(0, 2, True), (1, 2, True)]
    assert really[0].width <= final.width  # it closes now, and is cut to what was known
    holdout.verify()


def test_going_on_with_several_pays_the_half_once() -> None:
    holdout = sealed()
    questions = [share(col("x0") > cut / 10) for cut in range(3)]
    quote = holdout.quote_final([*questions, questions[0]], close=False)
    finals = holdout.final([*questions, questions[0]], close=False)
    assert finals[3] == finals[0]
    events = [final.certificate.record.event for final in finals[:3]]
    assert holdout.meter.spent == pytest.approx(quote.cost) == sum(event.nats for event in events)  # type: ignore[union-attr]
    words = [math.log(final.certificate.record.offer.payload.cells) for final in finals[:3]]
    assert quote.cost == pytest.approx(math.log(2) + sum(words), abs=1e-6)
    assert holdout.meter.asked == 3
    holdout.ask(LOW, guess=0.16)
    holdout.verify()


def test_a_comparison_that_goes_on_is_asked_first() -> None:
    holdout = sealed()
    pair = compare(accuracy(Cut(0.1).predict(X)), accuracy(Cut(0.2).predict(X)))
    with pytest.raises(Unaskable, match="ask the question itself first"):
        holdout.final(pair, close=False)
    assert holdout.meter.asked == 0
    told = holdout.ask(pair)
    final = holdout.final(told, close=False)
    assert final.low <= final.value <= final.high
    assert final.width <= told.width
    holdout.ask(HIGH, guess=0.3)
    holdout.verify()


# ---------------------------------------------------------------- what is refused


def test_what_has_no_final_value_says_why() -> None:
    holdout = sealed()
    verdict = holdout.test(HIGH, above=0.2)
    bad: list[tuple[Any, str]] = [
        ([], "name at least one"),
        (3, "final questions"),
        (None, "final questions"),
        ([HIGH, 3], "not int"),
        ("x9 > 1", "x9"),
        (verdict, "Verdict"),
    ]
    for questions, words in bad:
        with pytest.raises(Unaskable, match=words):
            holdout.final(questions)
    with pytest.raises(Unaskable, match="close= is True or False"):
        holdout.final(HIGH, close=1)  # type: ignore[arg-type]
    with pytest.raises(Unaskable, match="another holdout"):
        Holdout(X[:500], Y[:500], ledger=None, practice=0).final(holdout.ask(HIGH, guess=0.3))
    assert holdout.meter.asked == 2
    holdout.verify()


@pytest.mark.parametrize(
    ("mechanism", "asks"),
    [(Naive(), None), (SampleSplitting(), 5), (Gaussian(), 20)],
    ids=["naive", "splitting", "noise"],
)
def test_who_has_none_says_who_has(mechanism: Any, asks: int | None) -> None:
    holdout = sealed(mechanism=mechanism, asks=asks)
    for asked in (holdout.final, holdout.quote_final):
        with pytest.raises(Unaskable, match="no final values: seal rows with GuessAndCheck"):
            asked(HIGH)  # type: ignore[operator]
    assert holdout.meter.asked == 0


@pytest.mark.parametrize(
    "mechanism",
    [Rounding(20), AboveThreshold(0.5, tops=None), Ladder(0.05, baseline=0.2), Ladder(0.05), PairedLadder()],
    ids=repr,
)
@pytest.mark.parametrize("close", [True, False])
def test_every_mechanism_of_words_has_them(mechanism: Any, close: bool) -> None:
    holdout = sealed(mechanism=mechanism)
    right, wrong = accuracy(Cut(0.2).predict(X)), accuracy(Cut(1.0).predict(X))
    asked: Any = compare(right, wrong) if isinstance(mechanism, PairedLadder) else right
    told = holdout.ask(asked)
    final = holdout.final(asked, close=close)
    truth = float(np.mean(Cut(0.2).predict(X) == Y)) - (
        float(np.mean(Cut(1.0).predict(X) == Y)) if isinstance(mechanism, PairedLadder) else 0.0
    )
    assert final.low <= truth <= final.high
    assert final.width <= told.width
    if close:
        assert final.value == pytest.approx(truth)
        with pytest.raises(Exhausted, match=CLOSED):
            holdout.ask(compare(wrong, right) if isinstance(mechanism, PairedLadder) else wrong)
    else:
        holdout.ask(compare(wrong, right) if isinstance(mechanism, PairedLadder) else wrong)
    holdout.verify()


def test_a_plan_of_rounding_has_room_for_one_until_its_last_ask() -> None:
    holdout = sealed(mechanism=Rounding(20), asks=2)
    holdout.ask(HIGH)
    final = holdout.final(LOW)
    assert final.source == "final"
    spent = sealed(mechanism=Rounding(20), asks=1)
    spent.ask(HIGH)
    with pytest.raises(Exhausted, match="planned asks are spent"):
        spent.final(HIGH)
    for each in (holdout, spent):
        each.verify()


def test_a_cap_on_asks_does_not_keep_the_last_word_back() -> None:
    holdout = sealed(asks=1)
    told = holdout.ask(HIGH, guess=0.3)
    assert holdout.final(told).source == "final"
    holdout.verify()


def test_without_the_key_it_is_quoted_and_not_told(tmp_path: Path) -> None:
    made = sealed(ledger=tmp_path / "ledger.db")
    told = made.ask(HIGH, guess=0.3)
    made.close()
    for key in (tmp_path / "ledger.db.keys").iterdir():
        key.unlink()
    holdout = sealed(ledger=tmp_path / "ledger.db", name="holdout")
    with pytest.raises(ReadOnly, match="Bring the key back"):
        holdout.final(told)
    assert holdout.quote_final(told).widths[0] < told.width
    assert holdout.meter.asked == 1
    holdout.close()


def test_a_card_of_a_final_value_proves_itself(tmp_path: Path) -> None:
    holdout = sealed()
    final = holdout.final(HIGH)
    card = Certificate.load(final.certificate.save(tmp_path / "card.json"))
    card.verify()
    card.verify(holdout._desk.transcript.entries)
    assert card.theorem == "code length (Theorem C')"
    assert card.to_json()["answer"]["source"] == "final"
    text = (tmp_path / "card.json").read_text()
    (tmp_path / "card.json").write_text(text.replace('"final"', '"grid"'))
    with pytest.raises(Tampered):
        Certificate.load(tmp_path / "card.json").verify()


def test_what_a_conversation_costs_is_what_its_pattern_says() -> None:
    """So that what is left for a final value is beta times the law of all that was said."""
    holdout, pattern, words = sealed(), Pattern(), 0.0
    for cut, guess in ((0.0, 0.5), (0.5, 0.9), (1.0, 0.16), (1.5, 0.5)):
        answer = holdout.ask(share(col("x0") > cut), guess=guess)
        surprise = answer.source == "surprise"
        pattern = pattern.after("asker", surprise)
        words += answer.certificate.record.event.nats  # type: ignore[union-attr]
    final = holdout.final(HIGH)
    assert final.certificate.record.offer.log_level == pytest.approx(math.log(0.05) - pattern.nats - words)


def test_averages_over_classes_of_a_model_are_made_final_with_few_rows() -> None:
    """They were refused: of each class the worst value was expected that its first answer left possible."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 10, 900)
    told = np.where(rng.random(900) < 0.95, y, rng.integers(0, 10, 900))

    def model(rows: object) -> np.ndarray:
        return np.asarray(rows["told"])  # type: ignore[index]

    holdout = Holdout({"told": told}, y, ledger=None, practice=0.25)
    answer = holdout.score(model, metric="f1_macro", classes=range(10))
    final = holdout.final(answer)
    assert final.width < 0.6 * answer.width
