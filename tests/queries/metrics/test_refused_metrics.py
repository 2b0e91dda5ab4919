"""What cannot be asked is refused by name, with the reason and the nearest thing that can."""

from __future__ import annotations

import pytest
from sklearn.metrics import get_scorer_names

from unworn.errors import Unaskable
from unworn.queries.metrics.metric_catalogue import _MAKERS as METRICS
from unworn.queries.metrics.metric_catalogue import metric, metric_name
from unworn.queries.metrics.refused_metrics import REFUSED, SAID_OTHERWISE, known_as


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("f1_weighted", "f1_macro"),
        ("precision_samples", "precision_macro"),
        ("roc_auc_ovo", "roc_auc_ovr"),
        ("roc_auc_ovr_weighted", "roc_auc_ovr"),
        ("average_precision", "roc_auc"),
        ("explained_variance", "r2"),
        ("neg_root_mean_squared_log_error", "logarithms"),
        ("neg_median_absolute_error", "within_tolerance"),
        ("neg_max_error", "within_tolerance"),
        ("neg_negative_likelihood_ratio", "recall and specificity"),
        ("ndcg", "top_k_accuracy"),
        ("adjusted_rand_score", "share"),
    ],
)
def test_refused_by_name(name: str, instead: str) -> None:
    with pytest.raises(Unaskable) as caught:
        metric(name, [1])
    message = str(caught.value)
    assert message.startswith(f"{name} cannot be asked")
    assert "no interval for it is known to hold" in message
    assert instead in message
    assert caught.value.numbers == {"metric": name}


@pytest.mark.parametrize("name", get_scorer_names())
def test_every_scorer_of_scikit_learn_is_known(name: str) -> None:
    """Answered under the same name and sign, or refused with what to ask instead: never unknown."""
    if known_as(name) in REFUSED:
        with pytest.raises(Unaskable, match=r"cannot be asked.*Instead, ask "):
            metric_name(name)
    else:
        assert metric_name(name).startswith("neg_") == name.startswith("neg_")


@pytest.mark.parametrize("reason", REFUSED.values())
def test_the_table_reads_as_a_sentence(reason: tuple[str, str]) -> None:
    assert reason[1].startswith("ask ")


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(Unaskable, match=r"did you mean log_loss.*accuracy, balanced_accuracy"):
        metric("log_los", [1])
    with pytest.raises(Unaskable, match="the metrics are"):
        metric("zzz", [1])


@pytest.mark.parametrize(
    ("spelled", "known"),
    [
        ("AUC", "roc_auc"),
        ("R2", "r2"),
        ("Balanced Accuracy", "balanced_accuracy"),
        ("neg-log-loss", "neg_log_loss"),
        ("LogLoss", "log_loss"),
        ("ppv", "precision"),
        ("exact_match", "accuracy"),
    ],
)
def test_however_a_name_is_spelled(spelled: str, known: str) -> None:
    assert metric_name(spelled) == known


@pytest.mark.parametrize("name", [*SAID_OTHERWISE, "fpr", "hamming_loss", "zero_one_loss", "neg_huber_loss", "Gini"])
def test_what_we_say_otherwise_names_something_askable(name: str) -> None:
    with pytest.raises(Unaskable, match=r"there is no metric .* here; ") as refusal:
        metric_name(name)
    advice = refusal.value.message.partition("; ")[2]
    asked = [word.strip(":;,") for word in advice.split()]
    assert "values(array" in asked or any(word in METRICS for word in asked)


@pytest.mark.parametrize("name", ["qux", "my metric", "", "neg_"])
def test_nothing_far_off_is_suggested(name: str) -> None:
    with pytest.raises(Unaskable) as refusal:
        metric_name(name)
    assert "did you mean" not in refusal.value.message
