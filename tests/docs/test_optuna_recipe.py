"""The callback of the Optuna guide takes parameters of every type that Optuna has, and outlives a trial that fails."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.docs.test_docs import _CODE, ROOT

optuna = pytest.importorskip("optuna")
pytest.importorskip("lightgbm")
CHOICES = [None, True, False, 3, 0.5, "text", "x" * 500, math.inf, math.nan]


class Constant:
    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), self.label)


class Broken:
    def predict(self, rows: Any) -> Any:
        raise ZeroDivisionError


def test_parameters_of_every_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guides" / "optuna.md").read_text().replace("24_000", "12_000")
    names: dict[str, Any] = {}
    exec(compile(_CODE.findall(page)[0], "optuna.md", "exec"), names)
    holdout, study = names["holdout"], optuna.create_study()

    def objective(trial: Any) -> float:
        trial.suggest_categorical("validation", CHOICES)  # also called like a tag of the guide's own
        trial.suggest_int("whole", 1, 9)
        trial.suggest_float("real", 0.0, 1.0)
        names["models"][trial.number] = Broken() if trial.number == 3 else Constant(trial.number % 2)
        return 0.5

    for choice in CHOICES:
        study.enqueue_trial({"validation": choice, "whole": 2, "real": 0.25})
    study.optimize(objective, n_trials=len(CHOICES), callbacks=[names["confirm"]])
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * len(CHOICES)
    assert "trial 3 was not confirmed" in capsys.readouterr().out
    told = holdout.answers
    assert set(told["tags.validation"]) == {0.5}
    assert set(told["tags.param.whole"]) == {2}
    assert told["tags.param.validation"].tolist()[:2] == ["None", "True"]  # a column of text has texts
    holdout.close()


def test_the_study_ends_where_the_holdout_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guides" / "optuna.md").read_text().replace("24_000", "12_000")
    names: dict[str, Any] = {}
    exec(compile(_CODE.findall(page)[0].replace("practice=0.25", "practice=0.25, asks=1"), "optuna.md", "exec"), names)

    def objective(trial: Any) -> float:
        names["models"][trial.number] = Constant(trial.number % 2)
        return 0.5

    study = optuna.create_study()
    study.optimize(objective, n_trials=9, callbacks=[names["confirm"]])
    assert len(study.trials) == 2
    names["holdout"].close()
