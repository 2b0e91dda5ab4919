"""What cannot be asked is refused by name, with the reason and the nearest thing that can."""

from __future__ import annotations

import pytest
from sklearn.metrics import get_scorer_names

from unworn.errors import Unaskable
from unworn.queries.metrics.named_metrics import metric, metric_name
from unworn.queries.metrics.refused_metrics import REFUSED, known_as


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("f1", "balanced_accuracy"),
        ("f1_macro", "balanced_accuracy"),
        ("f1_weighted", "two shares"),
        ("precision", "two shares"),
        ("recall_micro", "accuracy"),
        ("jaccard", "accuracy"),
        ("roc_auc", "brier"),
        ("roc_auc_ovr_weighted", "compare"),
        ("average_precision", "log_loss"),
        ("r2", "mse"),
        ("r2_score", "mse"),
        ("explained_variance", "mse"),
        ("rmse", "mse"),
        ("neg_root_mean_squared_error", "mse"),
        ("neg_median_absolute_error", "share(error <= t)"),
        ("neg_max_error", "share(error <= t)"),
        ("mape", "mae"),
        ("matthews_corrcoef", "accuracy"),
        ("cohen_kappa", "accuracy"),
        ("ndcg", "top_k_accuracy"),
        ("adjusted_rand_score", "share"),
    ],
)
def test_refused_by_name(name: str, instead: str) -> None:
    with pytest.raises(Unaskable) as caught:
        metric(name, [1])
    message = str(caught.value)
    assert message.startswith(f"{name} cannot be asked")
    assert "not a mean over rows of a value with a declared range" in message
    assert instead in message
    assert caught.value.numbers == {"metric": name}


@pytest.mark.parametrize("name", get_scorer_names())
def test_every_scorer_of_scikit_learn_is_known(name: str) -> None:
    if known_as(name) in REFUSED:
        with pytest.raises(Unaskable, match="cannot be asked"):
            metric_name(name)
    else:
        assert metric_name(name)


@pytest.mark.parametrize("reason", REFUSED.values())
def test_the_table_reads_as_a_sentence(reason: tuple[str, str]) -> None:
    assert reason[1].startswith("ask ")


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(Unaskable, match=r"did you mean log_loss.*accuracy, balanced_accuracy"):
        metric("logloss", [1])
    with pytest.raises(Unaskable, match="the metrics are"):
        metric("zzz", [1])
