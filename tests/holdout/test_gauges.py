"""Shares of a subset, rankings and means that vary little, through the real holdout: what they cost and how wide."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from unworn import Holdout, accuracy, col, compare, mae, mean, precision, roc_auc, share
from unworn.errors import Exhausted, Unaskable
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import (
    AboveThreshold,
    Gaussian,
    Guess,
    GuessAndCheck,
    Ladder,
    Mechanism,
    Naive,
    Offer,
    PairedLadder,
    Rounding,
    SampleSplitting,
)
from unworn.mechanisms.contract.record import Record
from unworn.queries import metric
from unworn.queries.query import Facts, Query
from unworn.record.replay.store_check import check_stored_chain

RNG = np.random.default_rng(11)
N = 6_000
X = {"a": RNG.random(N), "arm": RNG.integers(0, 2, N)}
Y = (RNG.random(N) < 0.3).astype(int)
SCORES = np.clip(0.4 + 0.25 * Y + 0.18 * RNG.standard_normal(N), 0, 1)
CALLED = (SCORES > 0.55).astype(int)
PRICES = 300 * RNG.lognormal(0, 1, N)
PREDICTED = PRICES + 290 * RNG.standard_t(4, N)


def records(holdout: Holdout) -> list[Record]:
    return [Record.from_body(entry.body) for entry in holdout._desk.store.read(holdout.id, 1)]


def verified(store: SeededStore) -> bool:
    ((holdout, first),) = store.holdouts().items()
    check_stored_chain(store, first, len(store.read(holdout, 0)))
    return True


@pytest.mark.parametrize("metric", ["precision", "recall", "specificity", "f1", "roc_auc", "matthews_corrcoef"])
def test_practice_rows_guess_and_declare(metric: str) -> None:
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(X, Y, practice=0.25, ledger=store)
    answer = holdout.score(SCORES if metric == "roc_auc" else CALLED, metric=metric)
    assert answer.low < answer.value < answer.high
    for record in records(holdout):
        assert record.published.source == "guess"
        assert record.facts.kind == "binary" or (record.guess is not None and record.guess.gauge)
    assert holdout.meter.surprises == 0
    final = holdout.final(answer)
    assert final.width < 0.75 * answer.width
    assert verified(store)


def test_final_values_are_the_rows_own() -> None:
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(X, Y, practice=0, ledger=store)
    area, f1 = holdout.score(SCORES, metric="roc_auc"), holdout.score(CALLED, metric="f1")
    assert {record.published.source for record in records(holdout)} == {"grid"}  # nobody guessed: octave and cell
    told = holdout.final([area, f1])
    assert told[0].value == pytest.approx(roc_auc_score(Y, SCORES))
    assert told[1].value == pytest.approx(f1_score(Y, CALLED))
    assert told[0].width < area.width
    assert verified(store)


def test_a_mean_that_varies_little_has_a_narrow_interval() -> None:
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(X, PRICES, practice=0.25, ledger=store)
    answer = holdout.score(PREDICTED, metric="mae", range=(0, 5000))
    (record,) = records(holdout)
    assert record.guess is not None
    assert record.guess.gauge is not None
    assert answer.source == "guess"
    assert answer.width < 60
    assert holdout.quote_final(answer).widths[0] < 22
    final = holdout.final(answer)
    assert final.width < 22
    assert verified(store)
    plain = Holdout(X, PRICES, practice=0, ledger=None)  # nobody declares anything: as wide as the range makes it
    assert plain.score(PREDICTED, metric="mae", range=(0, 5000), guess=288.0).width > 80
    assert len(records(plain)[0].offer.to_json()) < 28


def test_the_asker_declares_and_is_surprised() -> None:
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(X, Y, practice=0, ledger=store)
    values = mean(col("a").fill(0), range=(0, 10))
    narrow = holdout.ask(values, guess=0.5, gauge=0.3)
    assert narrow.source == "guess"
    assert narrow.width < 0.12
    wrong = holdout.ask(mean(col("a").fill(0), range=(0, 20)), guess=0.5, gauge=0.1)
    assert wrong.source == "surprise"
    assert isinstance(records(holdout)[-1].symbol, list)
    few = holdout.ask(share(col("a") > 0.5, given=col("arm") == 1), guess=0.5, gauge=2_500)
    assert few.source == "guess"
    many = holdout.ask(share(col("a") > 0.6, given=col("arm") == 1), guess=0.4, gauge=5_000)
    assert many.source == "surprise"
    assert holdout.meter.surprises == 2
    assert verified(store)


def test_what_is_declared_is_checked_first() -> None:
    holdout = Holdout(X, Y, practice=0, ledger=None)
    subset = share(col("a") > 0.5, given=col("arm") == 1)
    for question, gauge, why in (
        (subset, -1, "fewest rows"),
        (subset, N + 1, "fewest rows"),
        (subset, float("nan"), "fewest rows"),
        (share(col("a") > 0.5), 0.1, "leave it out"),
        (mean(col("a").fill(0), range=(0, 1)), float("inf"), "finite"),
    ):
        with pytest.raises(Unaskable, match=why):
            holdout.ask(question, guess=0.5, gauge=gauge)
    with pytest.raises(Unaskable, match="give guess="):
        holdout.ask(subset, gauge=100)
    with pytest.raises(Unaskable, match="its own gauge"):
        holdout.score(CALLED, metric="f1", guess=0.6, gauge=100)
    with pytest.raises(Unaskable, match="noise hides"):
        holdout.ask(subset, noise=True)
    assert holdout.meter.asked == 0


def test_an_array_says_how_many_rows_it_calls_positive() -> None:
    holdout = Holdout(X, Y, practice=0, ledger=None)
    guess = float(np.mean(Y[CALLED == 1]))
    assert holdout.score(CALLED, metric="precision", guess=guess).source == "guess"
    (record,) = records(holdout)
    assert record.guess is not None
    assert record.guess.gauge == np.count_nonzero(CALLED)


def test_tests_of_shares_of_a_subset_and_of_rankings() -> None:
    holdout = Holdout(X, Y, practice=0, ledger=None)
    subset = share(col("a") > 0.5, given=col("arm") == 1)
    assert holdout.test(subset, above=0.4).rejected
    assert not holdout.test(subset, above=0.55).rejected


def test_others_split_or_refuse() -> None:
    question = share(col("a") > 0.5, given=col("arm") == 1)
    for mechanism, asks in ((SampleSplitting(), 3), (Naive(), None)):
        # One of forty splits would miss at 95 %, and the one that this test's name draws is such a one.
        holdout = Holdout(X, Y, mechanism=mechanism, asks=asks, practice=0, ledger=None, confidence=0.99999)
        answer = holdout.ask(question)
        assert answer.low < 0.5 < answer.high
        area = holdout.score(SCORES, metric="roc_auc")
        assert area.low < area.value < area.high
    holdout = Holdout(X, Y, mechanism=Gaussian(), asks=3, practice=0, ledger=None)
    with pytest.raises(Unaskable, match="ratio"):
        holdout.ask(question)


SUBSET = share(col("a") > 0.5, given=col("arm") == 1)


@pytest.mark.parametrize("mechanism", [Rounding(), AboveThreshold(0.4, tops=9), Ladder(0.05), Ladder(0.05, 0.3)])
def test_coded_mechanisms_tell_how_many_rows_count(mechanism: Mechanism) -> None:
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(X, Y, mechanism=mechanism, practice=0, ledger=store)
    truths = {0.5: SUBSET, float(np.mean(Y[CALLED == 1])): precision(CALLED), roc_auc_score(Y, SCORES): roc_auc(SCORES)}
    for truth, question in truths.items():
        quoted, answer = holdout.quote(question), holdout.ask(question)
        assert answer.low <= truth <= answer.high
        assert quoted.widest == 0.5
    symbols = [record.symbol for record in records(holdout)]
    assert any(isinstance(symbol, list) for symbol in symbols)
    area = holdout.final(truths[roc_auc_score(Y, SCORES)])
    assert area.value == pytest.approx(roc_auc_score(Y, SCORES))
    assert verified(store)


def test_rows_are_declared_without_a_guess_where_none_is_needed() -> None:
    for mechanism, source in ((AboveThreshold(0.6), "below"), (Ladder(0.1, baseline=0.75), "not better")):
        store = SeededStore(np.random.default_rng(5))
        holdout = Holdout(X, Y, mechanism=mechanism, practice=0, ledger=store)
        declared, unknown = holdout.ask(SUBSET, gauge=2_500), holdout.ask(SUBSET, again=True)
        assert declared.source == unknown.source == source
        assert declared.high < 0.9
        assert (unknown.low, unknown.high) == (0.0, 1.0)
        assert holdout.answers["guess"].isna().all()
        called = holdout.score(CALLED == 2, metric="precision", positive=True)  # no row is called so
        assert (called.low, called.high) == (0.0, 1.0)
        few = holdout.ask(share(col("a") > 0.7, given=col("arm") == 1), gauge=5_000)
        assert few.source == source
        assert isinstance(records(holdout)[-1].symbol, list)
        assert holdout.meter.surprises == 1
        assert verified(store)


def test_a_board_for_f1_climbs_by_jaccard() -> None:
    board = Holdout(X, Y, mechanism=Ladder(0.05), practice=0, ledger=None)
    answer = board.score(CALLED, metric="f1")
    assert answer.low < f1_score(Y, CALLED) < answer.high
    with pytest.raises(Unaskable, match="one submission at a time"):
        board.score(CALLED, metric="matthews_corrcoef")


def test_practice_rows_declare_how_many_count() -> None:
    holdout = Holdout(X, Y, mechanism=AboveThreshold(0.99), practice=0.25, ledger=None)
    assert holdout.score(CALLED, metric="recall").high < 1.0
    assert holdout.score(SCORES, metric="roc_auc").high < 1.0
    assert holdout.ask(mean(col("a").fill(0), range=(0, 1))).source == "below"
    first, second, third = records(holdout)
    assert first.guess is not None
    assert first.guess.gauge == first.offer.payload.gauge
    assert second.offer.payload.gauge is not None
    assert third.guess is not None
    assert third.guess.gauge is None


def test_a_comparison_of_recalls_is_refused_in_words() -> None:
    holdout = Holdout(X, Y, mechanism=PairedLadder(), practice=0, ledger=None)
    with pytest.raises(Unaskable, match="not a mean over rows"):
        holdout.compare(CALLED, 1 - CALLED, metric="recall")
    assert holdout.meter.asked == 0


def test_offers_without_a_gauge_are_written_as_before() -> None:
    mechanism = GuessAndCheck()
    state = mechanism.begin(1000, 0.95)

    facts = Facts("unit", 0.0, 1.0)
    old, new = (mechanism.offer(state, facts, Guess(0.1, gauge=gauge)) for gauge in (None, 0.01))
    assert len(Guess(0.1).to_json()) == 4
    assert len(old.to_json()) == 22
    assert len(new.to_json()) == 29
    assert Offer.from_json(old.to_json()) == old
    assert Offer.from_json(new.to_json()) == new
    assert mechanism.offer(state, facts, Guess(0.1, gauge=0.25)).payload.gauge is None  # says nothing


def test_a_largest_width_is_held_against_what_a_subset_is_expected_to_tell() -> None:
    """That it may be empty is no reason to refuse it; that it is expected to be small is one."""
    rng = np.random.default_rng(8)
    rows = {"a": rng.random(20_000), "b": rng.random(20_000)}
    holdout = Holdout(rows, ledger=None, practice=0, max_width=0.05)
    answer = holdout.ask(share(col("b") < 0.5, given=col("a") < 0.5), guess=0.5, gauge=9_000)
    assert answer.width <= 0.05
    with pytest.raises(Exhausted, match="wider than max_width"):
        holdout.ask(share(col("b") < 0.5, given=col("a") < 0.5), guess=0.5, gauge=100, again=True)


@pytest.mark.parametrize("visible", ["train", "practice"])
def test_a_final_mean_that_was_never_asked_is_as_sharp_as_one_that_was(visible: str) -> None:
    """Visible rows say how much it varies; nothing else would, and the range alone makes it several times wider."""
    widths = {}
    for asked in (False, True):
        store = SeededStore(np.random.default_rng(6))
        rows = {"prediction": PREDICTED}
        if visible == "train":
            seen = {name: column[:1_500] for name, column in rows.items()}
            rest = {name: column[1_500:] for name, column in rows.items()}
            holdout = Holdout(rest, PRICES[1_500:], train=(seen, PRICES[:1_500]), ledger=store)
            question = mae(lambda X: np.asarray(X["prediction"]), range=(0, 5_000))
        else:
            holdout = Holdout(rows, PRICES, practice=0.25, ledger=store)
            question = mae(PREDICTED, range=(0, 5_000))
        if asked:
            holdout.ask(question)
        quoted = holdout.quote_final(question)
        final = holdout.final(question)
        assert visible == "train" or final.width <= quoted.widths[0]
        assert final.low < np.minimum(np.abs(PREDICTED - PRICES), 5_000).mean() < final.high
        assert verified(store)
        widths[asked] = final.width
    assert widths[False] < 1.1 * widths[True]


class Scaled:
    """A model that is one column, scaled."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def predict(self, X: object) -> np.ndarray:
        return self.scale * np.asarray(X)[:, 0]


def losses(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(21)
    x = rng.normal(size=(rows, 1))
    return x, 100 * x[:, 0] + rng.normal(0, 300, rows)


def test_a_difference_of_losses_has_the_variance_that_train_declares() -> None:
    x, y = losses(2 * N)
    store = SeededStore(np.random.default_rng(5))
    holdout = Holdout(x[:N], y[:N], train=(x[N:], y[N:]), ledger=store)
    question = compare(mae(Scaled(90), range=(0, 5000)), mae(Scaled(70), range=(0, 5000)))
    answer = holdout.ask(question)
    apart = np.abs(y[:N] - 90 * x[:N, 0]) - np.abs(y[:N] - 70 * x[:N, 0])
    (record,) = records(holdout)
    assert (record.facts.kind, record.facts.low, record.facts.high) == ("unit", -5000.0, 5000.0)
    assert answer.low < apart.mean() < answer.high
    before = Holdout(x[:N], y[:N], practice=0, ledger=SeededStore(np.random.default_rng(6)))
    by_size = before.ask(question, guess=0.0)  # by the mean size of differences, as far as nobody declares anything
    assert answer.width < 0.5 * by_size.width
    assert holdout.sharpen(answer).width < answer.width
    final = holdout.final(answer)
    assert final.value == pytest.approx(apart.mean())
    assert final.width < 0.5 * answer.width
    assert verified(store)


def test_the_gauge_of_a_difference_is_a_deviation_and_a_smaller_known_size_wins() -> None:
    x, y = losses(N)
    one, two, near = 90 * x[:, 0], 70 * x[:, 0], 90 * x[:, 0] + (x[:, 0] > 3)
    holdout = Holdout(x, y, practice=0, ledger=SeededStore(np.random.default_rng(5)))
    plain = holdout.ask(compare(mae(one, range=(0, 5000)), mae(two, range=(0, 5000))), guess=0.0)
    told = holdout.ask(compare(mae(one, range=(0, 5000)), mae(two, range=(0, 5000))), 0.0, gauge=25.0, again=True)
    assert told.width < 0.5 * plain.width
    assert [record.facts.kind for record in records(holdout)] == ["paired", "unit"]
    assert holdout.meter.surprises == 0
    bold = holdout.ask(compare(mae(one, range=(0, 5000)), mae(two, range=(0, 5000))), 0.0, gauge=0.001, again=True)
    assert bold.source == "surprise"  # it is checked, on the rows
    practised = Holdout(x, y, practice=0.25, ledger=SeededStore(np.random.default_rng(7)))
    practised.ask(compare(mae(one, range=(0, 5000)), mae(near, range=(0, 5000))), guess=0.0)
    assert records(practised)[0].facts.kind == "paired"  # two arrays that hardly differ
    with pytest.raises(Unaskable, match="gauge= is for means that are not 0/1"):
        holdout.ask(compare(accuracy(one.astype(int)), accuracy(two.astype(int))), 0.0, gauge=0.1)


UNSEEN = {
    "a value that does not occur": share(col("a") > 0.5, given=col("arm") == 7),
    "a class that nobody was called": precision(np.zeros(N, dtype=int)),
    "a ranking in such a subgroup": metric("roc_auc", SCORES, where="arm = 7"),
}


@pytest.mark.parametrize("question", UNSEEN.values(), ids=UNSEEN)
def test_a_subset_that_no_visible_row_is_in_is_refused_for_nothing(question: Query) -> None:
    """It was answered with the whole range for seven nats: a misspelt value doubled the width of all that followed."""
    holdout = Holdout(X, Y, practice=0.25, ledger=None)
    with pytest.raises(Unaskable, match="none of the 1,500 rows that may be seen"):
        holdout.ask(question)
    assert holdout.meter.asked == 0
    told = holdout.ask(question, guess=0.5, gauge=100)  # who knows better says so
    assert (told.low, told.high) == (0.0, 1.0)
    assert holdout.ask(question).index == told.index  # and a repeat is a repeat


def test_few_visible_rows_refuse_nothing() -> None:
    holdout = Holdout({"a": X["a"][20:]}, Y[20:], ledger=None, train=({"a": X["a"][:20]}, Y[:20]))
    assert X["a"][:20].min() > 0.001
    told = holdout.ask(share(col("a") > 0.0005, given=col("a") < 0.001))  # 20 rows that may be seen say little
    assert holdout.meter.asked == 1
    assert told.source == "grid"


def test_a_ladder_says_not_better_of_them_for_nothing() -> None:
    holdout = Holdout(X, Y, practice=0.25, ledger=None, mechanism=Ladder(step=0.01))
    assert holdout.ask(UNSEEN["a value that does not occur"]).low == 0
