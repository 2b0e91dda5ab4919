"""Worker processes that were started before an ask have their own way to the terminal: code on rows gets none of them.

joblib keeps its workers between calls. Those that a fit has started inherited the real standard output and error, so
that what a parallel ``predict`` prints or warns of on sealed rows would come out past all that is withheld here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MODEL = """
import warnings
from joblib import Parallel, delayed


def look(value):
    if value == 4.0:
        print("SECRET print", flush=True)
        warnings.warn("SECRET warning")
    return int(value > 0)


class Model:
    def predict(self, X):
        return Parallel(n_jobs=2)(delayed(look)(value) for value in X[:, 0])
"""
SCRIPT = """
import sys
import numpy as np
from joblib import parallel_config
from model import Model
from unworn import Holdout, function

X = np.random.default_rng(1).normal(size=(800, 1))
model = Model()
model.predict(X[:8])  # the workers are there from now on
X[7] = 4.0
if sys.argv[1] == "openly":
    model.predict(X)
else:
    holdout = Holdout(X, X[:, 0] > 0, practice=0, ledger=None)
    with parallel_config(backend="loky", n_jobs=2):
        holdout.ask(function(lambda columns: model.predict(columns["x0"][:, None]), binary=True), 0.5)
    print(holdout.score(model, 0.9).index)
"""


def run(folder: Path, how: str) -> tuple[str, str]:
    (folder / "model.py").write_text(MODEL)
    (folder / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "script.py", how], cwd=folder, env=os.environ, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, ran.stderr


def test_workers_speak_where_nothing_withholds_it(tmp_path: Path) -> None:
    out, err = run(tmp_path, "openly")
    assert "SECRET print" in out
    assert "SECRET warning" in err


def test_workers_that_were_there_before_tell_nothing_of_the_rows(tmp_path: Path) -> None:
    out, err = run(tmp_path, "sealed")
    assert out == "2\n"
    assert "SECRET" not in err
