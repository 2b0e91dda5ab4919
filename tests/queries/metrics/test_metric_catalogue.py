"""Metrics by name mean what scikit-learn means by them; in a subgroup, what it says of the subgroup's rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs
from sklearn.linear_model import LinearRegression, LogisticRegression

from unworn import col
from unworn.errors import Unaskable
from unworn.queries import parse, parse_composite
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.metric_catalogue import metric
from unworn.queries.metrics.paired_query import compare, compare_questions
from unworn.rows import Sample

RNG = np.random.default_rng(11)
N = 900
X = RNG.normal(size=(N, 3))
GROUP = RNG.choice(["a", "b"], N)
Y = (X[:, 0] + RNG.normal(size=N) > 0.7).astype(int)
SAID = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0.5).astype(int)
CHANCE = np.round(1 / (1 + np.exp(-2 * X[:, 0])), 2)  # with ties
THREE = RNG.integers(0, 3, N)
CALLED = np.where(RNG.random(N) < 0.6, THREE, RNG.integers(0, 3, N))
SCORES = RNG.dirichlet(np.ones(3), N) + 0.3 * np.eye(3)[THREE]
NUMBER = X @ [1.0, 2.0, -1.0] + RNG.normal(size=N)
FITTED = X @ [1.0, 1.8, -0.9]


def told(question: Question, labels: np.ndarray) -> float:
    """The exact value over all rows, put together from what the rows say to each part."""
    rows = Sample.read({"carrier": GROUP}, labels)
    parts = list(question.questions) if isinstance(question, Composite) else [question]
    values = []
    for part, found in zip(parts, rows.statistics(parts), strict=True):
        facts = part.facts(rows.schema, rows.length)
        if facts.kind == "conditional":
            values.append(found[0] / found[1])
        else:
            values.append(found / N if facts.kind == "binary" else found[0] if facts.kind == "ranking" else found)
    return question.value(values) if isinstance(question, Composite) else values[0]


C3 = {"classes": [0, 1, 2]}
CASES: list[tuple[str, np.ndarray, np.ndarray, dict[str, Any], Any]] = [
    ("precision", Y, SAID, {}, theirs.precision_score),
    ("recall", Y, SAID, {}, theirs.recall_score),
    ("specificity", Y, SAID, {}, lambda y, p: theirs.recall_score(y, p, pos_label=0)),
    ("f1", Y, SAID, {}, theirs.f1_score),
    ("jaccard", Y, SAID, {}, theirs.jaccard_score),
    ("matthews_corrcoef", Y, SAID, {}, theirs.matthews_corrcoef),
    ("cohen_kappa_score", Y, SAID, {}, theirs.cohen_kappa_score),
    ("roc_auc", Y, CHANCE, {}, theirs.roc_auc_score),
    ("precision", Y, SAID, {"positive": 0}, lambda y, p: theirs.precision_score(y, p, pos_label=0)),
    ("precision_macro", THREE, CALLED, C3, lambda y, p: theirs.precision_score(y, p, average="macro")),
    ("recall_macro", THREE, CALLED, C3, lambda y, p: theirs.recall_score(y, p, average="macro")),
    ("f1_macro", THREE, CALLED, C3, lambda y, p: theirs.f1_score(y, p, average="macro")),
    ("jaccard_macro", THREE, CALLED, C3, lambda y, p: theirs.jaccard_score(y, p, average="macro")),
    ("precision_micro", THREE, CALLED, {}, lambda y, p: theirs.precision_score(y, p, average="micro")),
    ("recall_weighted", THREE, CALLED, {}, lambda y, p: theirs.recall_score(y, p, average="weighted")),
    ("f1_micro", THREE, CALLED, {}, lambda y, p: theirs.f1_score(y, p, average="micro")),
    ("jaccard_micro", THREE, CALLED, {}, lambda y, p: theirs.jaccard_score(y, p, average="micro")),
    ("balanced_accuracy", THREE, CALLED, C3, theirs.balanced_accuracy_score),
    (
        "roc_auc_ovr",
        THREE,
        SCORES,
        C3,
        lambda y, p: theirs.roc_auc_score(y, p / p.sum(1, keepdims=True), multi_class="ovr"),
    ),
    ("neg_log_loss", Y, CHANCE.clip(0.01, 0.99), {}, lambda y, p: -theirs.log_loss(y, p)),
    ("neg_brier_score", Y, CHANCE, {}, lambda y, p: -theirs.brier_score_loss(y, p)),
    ("rmse", NUMBER, FITTED, {"range": (0, 100)}, theirs.root_mean_squared_error),
    (
        "neg_root_mean_squared_error",
        NUMBER,
        FITTED,
        {"range": (0, 100)},
        lambda y, p: -theirs.root_mean_squared_error(y, p),
    ),
    ("mape", NUMBER + 20, FITTED + 20, {"range": (0, 100)}, theirs.mean_absolute_percentage_error),
    (
        "pinball",
        NUMBER,
        FITTED,
        {"range": (0, 100), "alpha": 0.9},
        lambda y, p: theirs.mean_pinball_loss(y, p, alpha=0.9),
    ),
    ("r2", NUMBER, FITTED, {"range": (0, 400), "baseline": NUMBER.mean()}, theirs.r2_score),
    ("accuracy", THREE, CALLED, {}, theirs.accuracy_score),
    ("mae", NUMBER, FITTED, {"range": (0, 100)}, theirs.mean_absolute_error),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_metric_is_what_scikit_learn_says(case: Any) -> None:
    name, labels, said, options, theirs_says = case
    assert told(metric(name, said, **options), labels) == pytest.approx(theirs_says(labels, said), rel=1e-9)


INSIDE = [case for case in CASES if case[0] not in ("roc_auc_ovr", "r2")]


@pytest.mark.parametrize("case", INSIDE, ids=lambda case: case[0])
@pytest.mark.parametrize("where", ["carrier == 'a'", "carrier = 'a'", col("carrier") == "a"], ids=["==", "=", "col"])
def test_where_is_the_metric_of_the_subgroup(case: Any, where: Any) -> None:
    name, labels, said, options, theirs_says = case
    inside = GROUP == "a"
    found = told(metric(name, said, where=where, **options), labels)
    assert found == pytest.approx(theirs_says(labels[inside], said[inside]), rel=1e-9)


def test_r2_in_a_subgroup_is_against_the_named_constant() -> None:
    inside = GROUP == "a"
    question = metric("r2", FITTED, where="carrier = 'a'", range=(0, 400), baseline=1.5)
    error = ((NUMBER - FITTED)[inside] ** 2).sum() / ((NUMBER - 1.5)[inside] ** 2).sum()
    assert told(question, NUMBER) == pytest.approx(1 - error, rel=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_it_reads_back_from_json(case: Any) -> None:
    name, _, said, options, _ = case
    for where in (None, "carrier = 'a'"):
        question = metric(name, said, where=where, **options)
        if isinstance(question, Composite):
            assert parse_composite(question.to_json()) == question
        for part in question.questions if isinstance(question, Composite) else [question]:
            assert parse(part.to_json()) == part
            assert part.family is None or isinstance(part.family, str)


labels = st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_subsets_are_plain_counts_also_of_few_rows(data: Any) -> None:
    y = np.array(data.draw(labels))
    said = np.array(data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(y), max_size=len(y))))
    rows = Sample.read(None, y)
    called, actual = said == 1, y == 1
    expected = {
        "precision": (called & actual, called),
        "recall": (called & actual, actual),
        "specificity": (~called & ~actual, ~actual),
        "jaccard": (called & actual, called | actual),
    }
    for name, (yes, subset) in expected.items():
        question = metric(name, said, positive=1)
        assert not isinstance(question, Composite)
        assert rows.statistics([question]) == [(int(yes.sum()), int(subset.sum()))]


@pytest.mark.parametrize("positive", [0, 1, -127, 127, -128, 128, 300, 0.5])
def test_labels_in_a_byte_are_counted_as_those_of_any_width(positive: float) -> None:
    """What a byte cannot hold equals no class that it can; a missing label is of no class."""
    y = np.array([0.0, 1.0, 0.5, 300.0, 127.0, -127.0, -128.0, 128.0, np.nan, positive])
    said = np.where(np.arange(10) % 3 == 0, 1, np.arange(10) - 4)  # each fits into a byte
    rows = Sample.read(None, y, schema={"y": "number?"})
    actual, called = y == positive, said == positive
    ((yes, subset),) = rows.statistics([metric("jaccard", said, positive=positive)])  # type: ignore[list-item]
    assert (yes, subset) == ((actual & called).sum(), (actual | called).sum())


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_auc_counts_pairs(data: Any) -> None:
    size = data.draw(st.integers(1, 25))
    y = np.array(data.draw(st.lists(st.sampled_from([0, 1]), min_size=size, max_size=size)))
    scores = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=size, max_size=size)))
    ((found, rarer),) = Sample.read(None, y).statistics([metric("roc_auc", scores)])  # type: ignore[list-item]
    assert rarer == min(y.sum(), (1 - y).sum())
    assert found == pytest.approx(theirs.roc_auc_score(y, scores) if rarer else 0.5)


def test_models_and_text_classes() -> None:
    names = np.array(["no", "yes"])
    model = LogisticRegression().fit(X, names[Y])
    rows = Sample.read(X, names[Y])
    said = model.predict(X)
    for name, expected in (
        ("precision", theirs.precision_score(names[Y], said, pos_label="yes")),
        ("recall", theirs.recall_score(names[Y], said, pos_label="yes")),
    ):
        ((yes, subset),) = rows.statistics([metric(name, model)])  # type: ignore[list-item]
        assert yes / subset == pytest.approx(expected)
    ((auc, _),) = rows.statistics([metric("roc_auc", model)])  # type: ignore[list-item]
    assert auc == pytest.approx(theirs.roc_auc_score(Y, model.predict_proba(X)[:, 1]))
    ((against, _),) = rows.statistics([metric("roc_auc", model, positive="no")])  # type: ignore[list-item]
    assert against == pytest.approx(auc)
    assert [part.positive for part in metric("recall_macro", model).questions] == ["no", "yes"]  # type: ignore


def test_a_score_of_a_model_that_is_no_number_is_the_worst() -> None:
    class Odd:
        def predict_proba(self, X: Any) -> Any:
            return np.array([[0.0, np.nan], [0.5, 0.5], [0.0, np.inf], [0.9, 0.1]])

    y = np.array([1, 1, 0, 0])
    question = metric("roc_auc", Odd(), classes=[0, 1])
    ((found, _),) = Sample.read(np.zeros((4, 1)), y).statistics([question])  # type: ignore[list-item]
    assert found == 0.25  # of four pairs only the second positive outranks the last negative


def test_missing_labels_and_predictions() -> None:
    y = np.array([1.0, np.nan, 0.0, 1.0, 0.0])
    said = np.array([1, 1, 1, 0, 0])
    rows = Sample.read(None, y, schema={"y": "number?"})
    counts = {name: rows.statistics([metric(name, said)])[0] for name in ("precision", "recall", "specificity")}  # type: ignore[list-item]
    assert counts == {"precision": (1, 3), "recall": (1, 2), "specificity": (1, 2)}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: metric("r2", FITTED, range=(0, 9)), "give baseline="),
        (lambda: metric("r2", FITTED, baseline=0.0), "give range="),
        (lambda: metric("rmse", FITTED), "give range="),
        (lambda: metric("recall_macro", CALLED), "give classes="),
        (lambda: metric("precision", SAID, posi=1), "precision takes no posi="),
        (lambda: metric("top_k_accuracy", SCORES), "top_k_accuracy needs k="),
        (lambda: metric("accuracy", SAID, where=3), "where= is a predicate"),
        (lambda: metric("accuracy", SAID, where=col("carrier") + 1), "predicate"),
        (lambda: metric("pinball", FITTED, range=(0, 1), alpha=2), "alpha"),
        (lambda: metric("neg_accuracy", SAID), "there is no metric"),
        (lambda: metric("roc_auc", SCORES, positive=1, classes=[0, 1]), "3 columns of scores"),
        (lambda: metric("matthews_corrcoef", LogisticRegression().fit(X, THREE)), "more than two"),
    ],
)
def test_what_is_missing_is_said(ask: Any, said: str) -> None:
    with pytest.raises(Unaskable, match=said):
        ask()


def test_where_needs_a_column_there_is() -> None:
    rows = Sample.read({"carrier": GROUP}, Y)
    with pytest.raises(Unaskable, match="no column"):
        rows.statistics([metric("accuracy", SAID, where="plane = 3")])  # type: ignore[list-item]


def test_groups_are_refused_with_the_reason() -> None:
    rows = Sample.read({"carrier": GROUP}, Y, groups=np.arange(N) // 2)
    for name, said in (("precision", SAID), ("roc_auc", CHANCE)):
        with pytest.raises(Unaskable, match="sampled unit is a group"):
            rows.statistics([metric(name, said)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("predictions", "labels", "said"),
    [
        (CHANCE, Y, "probabilities"),
        (FITTED, Y, "predicted numbers"),
        (np.array(["no", "yes"])[SAID], Y, "compares like with like"),
        (LinearRegression().fit(X, NUMBER), Y, "is a regressor"),
        (LogisticRegression().fit(X, np.array(["no", "yes"])[Y]), Y, "compares like with like"),
    ],
)
@pytest.mark.parametrize("name", ["accuracy", "precision", "f1", "recall"])
def test_the_wrong_kind_of_predictions_is_refused_from_types_alone(
    predictions: Any, labels: np.ndarray, said: str, name: str
) -> None:
    rows = Sample.read(X, labels)
    question = metric(name, predictions)
    (part,) = question.questions if isinstance(question, Composite) else (question,)
    with pytest.raises(Unaskable, match=said):
        part.facts(rows.schema, rows.length)


def test_ratings_in_halves_are_labels() -> None:
    stars = RNG.integers(1, 11, N) / 2
    ((count),) = Sample.read(None, stars).statistics([metric("accuracy", stars)])  # type: ignore[list-item]
    assert count == N


def test_a_plain_function_is_a_model() -> None:
    rows = Sample.read(X, Y)

    def first(features: Any) -> Any:
        return (features[:, 0] > 0.5).astype(int)

    question = metric("accuracy", first)
    assert rows.statistics([question]) == [int(((X[:, 0] > 0.5) == Y).sum())]  # type: ignore[list-item]
    assert question.label == "accuracy of first"


def test_two_are_compared_in_pairs_where_they_are_means_and_one_by_one_elsewhere() -> None:
    paired = compare_questions(metric("accuracy", SAID), metric("accuracy", Y))
    assert not isinstance(paired, Composite)
    apart = compare_questions(metric("f1", SAID), metric("f1", 1 - SAID))
    assert told(apart, Y) == pytest.approx(theirs.f1_score(Y, SAID) - theirs.f1_score(Y, 1 - SAID))
    with pytest.raises(Unaskable):
        compare_questions(metric("accuracy", SAID), metric("f1", SAID))


def test_two_of_a_negative_loss_are_compared_in_pairs_the_other_way_around() -> None:
    chances = [CHANCE, 1 - CHANCE]
    paired = compare_questions(*(metric("neg_brier", each) for each in chances))
    assert paired == compare(*reversed(chances), metric="brier") == compare(*chances, metric="neg_brier")
    better = theirs.brier_score_loss(Y, chances[1]) - theirs.brier_score_loss(Y, chances[0])
    (answer,) = Sample.read({"carrier": GROUP}, Y).differences([paired])  # type: ignore[list-item]
    assert answer[0] == pytest.approx(better)
    with pytest.raises(Unaskable, match="one setting"):
        compare_questions(metric("neg_brier", CHANCE), metric("neg_mae", CHANCE, range=(0, 1)))
    apart = compare_questions(*(metric("neg_rmse", each, range=(0, 1)) for each in chances))  # no mean over rows
    assert isinstance(apart, Composite)
    assert len(apart.questions) == 2


def test_values_are_what_they_are() -> None:
    graded = RNG.random(N)
    rows = Sample.read({"carrier": GROUP})
    assert rows.statistics([metric("values", graded)])[0] == pytest.approx(graded.mean())  # type: ignore[list-item]
    assert rows.statistics([metric("values", graded > 0.5)]) == [int((graded > 0.5).sum())]  # type: ignore[list-item]
    inside = metric("values", graded > 0.5, where="carrier = 'a'")
    assert rows.statistics([inside]) == [(int(((graded > 0.5) & (GROUP == "a")).sum()), int((GROUP == "a").sum()))]  # type: ignore[list-item]
    wide = metric("values", 10 * graded, range=(0, 10))
    assert math.isclose(rows.statistics([wide])[0], 10 * graded.mean())  # type: ignore[list-item]
    for bad, said in ((2 * graded + 1, "between 1"), (np.array(["a"] * N), "one number per row")):
        with pytest.raises(Unaskable, match=said):
            metric("values", bad)
