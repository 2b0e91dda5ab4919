"""A name determines what runs: code that was edited, or a model fitted again, never gets the answer of the old one.

Each edit turns a rule that is right on every row into one that is wrong on every row. Were both known by one name, the
second would be told the first one's answer, [.99, 1], for nothing.
"""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tests.attacks.leaks.edited_cells import EDITS
from unworn import Holdout, function, statistic
from unworn.errors import Unaskable
from unworn.mechanisms import Gaussian
from unworn.queries import FromModel, NamedPredictions, accuracy, compare
from unworn.queries.code.code_digest import digest_code

RNG = np.random.default_rng(13)
X = RNG.normal(size=(2_000, 3))
Y = (X[:, 0] > 0).astype(int)

_numbers = itertools.count()


def run_cell(source: str) -> Any:
    """Run a cell of a notebook; what it calls ``model``."""
    notebook = types.ModuleType("notebook")
    sys.modules["notebook"] = notebook
    exec(compile(textwrap.dedent(source), f"<cell {next(_numbers)}>", "exec"), vars(notebook))
    return notebook.model  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of one's own, from which modules are imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("helpers", "notebook"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def assert_asked_anew(holdout: Holdout, before: Any, after: Callable[[], Any]) -> None:
    first = holdout.score(before, guess=1.0)
    assert (first.index, first.value) == (1, 1.0)
    second = holdout.score(after(), guess=0.0)
    assert second.index == 2
    assert second.low <= 0.0 <= second.high < 0.1


@pytest.mark.parametrize("what", EDITS)
def test_edited_code_is_another_question(what: str) -> None:
    cell, old, new = EDITS[what]
    assert old in cell
    assert_asked_anew(Holdout(X, Y, practice=0), run_cell(cell), lambda: run_cell(cell.replace(old, new)))


IMPORTS = {
    "a module": "import helpers\nclass M:\n    def predict(self, X): return helpers.cut(X[:, 0])\nmodel = M()",
    "one of its names": "from helpers import cut\nclass M:\n    def predict(self, X): return cut(X[:, 0])\nmodel = M()",
    "all of its names": "from helpers import *\nclass M:\n    def predict(self, X): return cut(X[:, 0])\nmodel = M()",
    "a name found at run time": (
        "import helpers\nclass M:\n    def predict(self, X): return getattr(helpers, 'cu' + 't')(X[:, 0])\nmodel = M()"
    ),
    "a module imported at run time": (
        "class M:\n    def predict(self, X):\n        import helpers\n        return helpers.cut(X[:, 0])\nmodel = M()"
    ),
    "a name imported at run time": (
        "class M:\n    def predict(self, X):\n        from helpers import cut\n        return cut(X[:, 0])\nmodel = M()"
    ),
    "its class": "from helpers import Rule\nclass M(Rule): pass\nmodel = M()",
}


@pytest.mark.parametrize("what", IMPORTS)
def test_an_edited_module_is_another_question(what: str, tmp_path: Path) -> None:
    source = (
        "S = 1\ndef cut(x): return S * x > 0\nclass Rule:\n    def predict(self, X): return cut(X[:, 0])\n"
        "import threading\nlock = threading.Lock()\n"
    )
    (tmp_path / "helpers.py").write_text(source)
    holdout = Holdout(X, Y, practice=0)
    before = run_cell(IMPORTS[what])

    def edited() -> Any:
        (tmp_path / "helpers.py").write_text(source.replace("S = 1", "S = -1"))
        sys.modules.pop("helpers", None)
        importlib.invalidate_caches()
        return run_cell(IMPORTS[what])

    assert_asked_anew(holdout, before, edited)


def test_a_module_edited_between_two_runs_of_a_script(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        textwrap.dedent(
            """
            import numpy as np
            from unworn import Holdout
            from helpers import Rule
            X = np.random.default_rng(13).normal(size=(2_000, 3))
            holdout = Holdout(X, (X[:, 0] > 0).astype(int), practice=0, ledger="rows.db")
            answer = holdout.score(Rule(), guess=0.5)
            print(answer.index, answer.low, answer.high)
            """
        )
    )
    told = []
    for rule in ("> 0", "> 0", "<= 0"):
        (tmp_path / "helpers.py").write_text(f"class Rule:\n    def predict(self, X): return X[:, 0] {rule}\n")
        ran = subprocess.run(
            [sys.executable, "-B", "run.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
        )
        told.append([float(word) for word in ran.stdout.split()])
    assert told[0] == told[1]  # and the same code in another process is the same question
    assert told[0][0] == 1
    assert told[0][2] == 1.0
    assert told[2][0] == 2
    assert told[2][1] == 0.0


FILES = {
    "by a text": "model = M('weights.npy')",
    "by bytes": "model = M(b'weights.npy')",
    "by bytes of the code": "M.path = property(lambda self: b'weights.npy')\nmodel = M(None)",
    "by a path": "from pathlib import Path\nmodel = M(Path('weights.npy'))",
    "by a whole path": "import os\nmodel = M(os.path.abspath('weights.npy'))",
    "by a constant of the code": "M.path = property(lambda self: 'weights.npy')\nmodel = M(None)",
    "by a global": "W = 'weights.npy'\nM.path = property(lambda self: W)\nmodel = M(None)",
}


@pytest.mark.parametrize("how", FILES)
def test_weights_saved_again_under_one_path_are_another_question(how: str) -> None:
    cell = (
        "import numpy as np\nclass M:\n    path = None\n    def __init__(self, path):\n"
        "        if path is not None: self.path = path\n"
        "    def predict(self, X): return X @ np.load(self.path) > 0\n" + FILES[how]
    )
    np.save("weights.npy", [1.0, 0.0, 0.0])
    before = run_cell(cell)

    def saved_again() -> Any:
        stamp = os.stat("weights.npy")
        np.save("weights.npy", [-1.0, 0.0, 0.0])
        os.utime("weights.npy", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # the same size and time as before
        return before

    assert_asked_anew(Holdout(X, Y, practice=0), before, saved_again)


def test_a_file_too_large_to_read_asks_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.queries.code.origins.LARGEST_FILE", 10)
    np.save("weights.npy", [1.0, 0.0, 0.0])
    model = run_cell("class M:\n    path = 'weights.npy'\n    def predict(self, X): return X[:, 0] > 0\nmodel = M()")
    holdout = Holdout(X, Y, practice=0)
    with pytest.raises(Unaskable, match=r"weights.npy.*give name="):
        holdout.score(model)
    assert holdout.score(model, name="v1", guess=1.0).value == 1.0


def test_a_ledger_that_a_model_names_is_not_opened_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing a second descriptor of a database would drop its locks."""
    model = run_cell("class M:\n    ledger = 'rows.db'\n    def predict(self, X): return X[:, 0] > 0\nmodel = M()")
    holdout = Holdout(X, Y, ledger=tmp_path / "rows.db", practice=0)
    monkeypatch.setattr("unworn.queries.code.origins.open", lambda *args: pytest.fail("opened"), raising=False)
    assert holdout.score(model, guess=1.0).index == 1
    holdout.close()


@pytest.mark.parametrize("what", ["a generator", "a file"])
def test_what_cannot_be_read_asks_for_a_name(what: str, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("x")
    hidden = {"a generator": "(x for x in range(3))", "a file": "open('rows.txt')"}[what]
    cell = f"hidden = {hidden}\nclass M:\n    def predict(self, X): return [next(iter(hidden))] * len(X)\nmodel = M()"
    model = run_cell(cell)
    holdout = Holdout(X, Y, practice=0)
    with pytest.raises(Unaskable, match=r"what M.predict refers to cannot be pickled"):
        holdout.score(model)
    if what == "a file":
        sys.modules["notebook"].hidden.close()  # type: ignore[attr-defined]
    assert holdout.meter.asked == 0


# ---------------------------------------------------------------- what is the same stays the same


CELL = '''
import numpy as np
LIMIT = 0
WORDS = {"alpha", "beta", "gamma", "delta"}

def cut(x):
    return x > LIMIT if "alpha" in {"alpha", "beta", "gamma"} else x < LIMIT

class M:
    """What it does."""
    names = {"one", "two", "three"}

    def predict(self, X):
        "In words."
        return [cut(x) and len(WORDS) == 4 for x in X[:, 0]]

model = M()
'''


@pytest.mark.parametrize(
    ("what", "edit"),
    [
        ("run again", lambda cell: cell),
        ("further down", lambda cell: "# a title\n\n\n" + cell.replace("class M", "\n\n# here\nclass M")),
        ("other words", lambda cell: cell.replace("What it does.", "What it did.").replace("In words.", "In others.")),
        ("a name nobody uses", lambda cell: cell + "\nunused = 3\n"),
    ],
)
def test_the_same_code_is_the_same_question(what: str, edit: Callable[[str], str]) -> None:
    holdout = Holdout(X, Y, practice=0)
    assert holdout.score(run_cell(CELL), guess=1.0).index == 1
    assert holdout.score(run_cell(edit(CELL)), guess=0.0).index == 1, what


def test_a_digest_is_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "cell.py").write_text(
        CELL + "\nfrom sklearn.tree import DecisionTreeClassifier\nrows = np.arange(40.0).reshape(20, 2)\n"
        "model.tree = DecisionTreeClassifier(random_state=0).fit(rows, rows[:, 0] > 9)\n"
        "from unworn.queries.code.code_digest import digest_code\nprint(digest_code(model))\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "cell.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


def test_running_a_fitted_model_does_not_change_its_name() -> None:
    for model in (LogisticRegression(), DecisionTreeClassifier()):
        before = digest_code(model.fit(X, Y))
        model.predict(X)
        assert digest_code(model) == before


# ---------------------------------------------------------------- one object, fitted again


def fitted(depth: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[:, 1:], (X[:, 1] + X[:, 2] > 0).astype(int))


ROWS = X[:, 1:], (X[:, 1] + X[:, 2] > 0).astype(int)
CHANGED = "changed since the question was made"


def refit(model: DecisionTreeClassifier) -> None:
    model.set_params(max_depth=1).fit(*ROWS)


@pytest.mark.parametrize("name", [None, "tree"])
def test_an_answer_is_not_sharpened_by_another_model(name: str | None) -> None:
    holdout, model = Holdout(*ROWS, practice=0), fitted(6)
    answer = holdout.score(model, guess=0.9, guess_se=0.05, name=name)  # so vague that sharpening pays
    assert holdout.sharpen(answer).index == 2  # nothing changed yet
    refit(model)
    with pytest.raises(Unaskable, match=CHANGED):
        holdout.sharpen(answer)
    assert holdout.meter.asked == 2


VERBS: dict[str, Callable[[Holdout, Any], Any]] = {
    "ask": lambda holdout, source: holdout.ask(accuracy(source)),
    "ask_many": lambda holdout, source: holdout.ask_many([accuracy(source)]),
    "score": lambda holdout, source: holdout.score(source),
    "compare": lambda holdout, source: holdout.compare(source, ROWS[1]),
    "compare the other way": lambda holdout, source: holdout.compare(ROWS[1], source),
    "ask for a comparison": lambda holdout, source: holdout.ask(compare(accuracy(source), accuracy(ROWS[1]))),
    "test": lambda holdout, source: holdout.test(accuracy(source), above=0.5),
    "quote": lambda holdout, source: holdout.quote(accuracy(source)),
}


@pytest.mark.parametrize("name", [None, "tree"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_question_made_earlier_is_not_asked_of_another_model(verb: str, name: str | None) -> None:
    holdout, model = Holdout(*ROWS, practice=0), fitted(6)
    source = FromModel(model, name=name)
    VERBS[verb](holdout, source)
    asked = holdout.meter.asked
    refit(model)
    with pytest.raises(Unaskable, match=CHANGED):
        VERBS[verb](holdout, source)
    assert holdout.meter.asked == asked
    VERBS[verb](holdout, FromModel(model))  # made again, it is a question like any other


PRACTICE: dict[str, Callable[[Holdout, Any], Any]] = {
    "ask": lambda holdout, source: holdout.practice.ask(accuracy(source)),
    "a composite": lambda holdout, source: holdout.practice.ask(accuracy(source) - accuracy(ROWS[1])),
    "score": lambda holdout, source: holdout.practice.score(source),
    "compare": lambda holdout, source: holdout.practice.compare(source, ROWS[1]),
    "compare the other way": lambda holdout, source: holdout.practice.compare(ROWS[1], source),
}


@pytest.mark.parametrize("name", [None, "tree"])
@pytest.mark.parametrize("verb", PRACTICE)
def test_a_practice_value_is_that_of_the_model_it_is_called_after(verb: str, name: str | None) -> None:
    """Free as it is, it is the guess that goes with a name."""
    holdout, model = Holdout(*ROWS, practice=0.25), fitted(6)
    source = FromModel(model, name=name)
    before = PRACTICE[verb](holdout, source)
    refit(model)
    with pytest.raises(Unaskable, match=CHANGED):
        PRACTICE[verb](holdout, source)
    assert PRACTICE[verb](holdout, FromModel(model)).value != before.value
    assert holdout.practice.score(model, name=name).rows == len(X) // 4


def test_a_function_has_no_practice_value_under_the_name_of_what_it_was() -> None:
    rule = run_cell("S = 1\ndef model(columns): return S * columns['x0'] > 0")
    holdout, question = Holdout(X, Y, practice=0.25), function(rule, binary=True)
    assert 0.4 < holdout.practice.ask(question).value < 0.6
    sys.modules["notebook"].S = -1  # type: ignore[attr-defined]
    with pytest.raises(Unaskable, match=CHANGED):
        holdout.practice.ask(question)


def test_one_estimator_in_a_batch_made_on_the_way() -> None:
    holdout, model = Holdout(*ROWS, practice=0), fitted(6)
    with pytest.raises(Unaskable, match=CHANGED):
        holdout.ask_many(accuracy(model.set_params(max_depth=depth).fit(*ROWS)) for depth in (6, 1))
    assert holdout.meter.asked == 0


def test_a_name_vouches_for_a_model_that_running_changes() -> None:
    model = run_cell(
        "class M:\n    calls = 0\n    def predict(self, X):\n        self.calls += 1\n        return X[:, 0] > 0\n"
        "model = M()"
    )
    holdout = Holdout(X, Y, practice=0)
    answer = holdout.score(model, guess=0.9, guess_se=0.05, name="v1")
    with pytest.raises(Unaskable, match="watch=False"):
        holdout.sharpen(answer)
    with pytest.raises(Unaskable, match="this name stands for something else"):
        holdout.score(model, name="v1")
    again = holdout.score(NamedPredictions(model, "v1", watch=False))
    assert again.index == answer.index
    assert holdout.sharpen(again).index == 2


@pytest.mark.parametrize("name", [None, "rule"])
@pytest.mark.parametrize("make", [function, statistic])
def test_a_function_whose_globals_changed_is_another(make: Any, name: str | None) -> None:
    rule = run_cell("S = 1\ndef model(columns): return (S * columns['x0'] > 0) * 1.0")
    options: dict[str, Any] = {"range": (0, 1), "name": name}
    terms: dict[str, Any] = {}
    if make is statistic:
        options["sensitivity"] = 1 / len(X)
        rule = run_cell("S = 1\ndef model(columns): return (S * columns['x0'] > 0).mean()")
        terms = {"mechanism": Gaussian(accounting="D2"), "asks": 5}
    holdout = Holdout(X, **terms)
    question = make(rule, **options)
    holdout.ask(question)
    sys.modules["notebook"].S = -1  # type: ignore[attr-defined]
    with pytest.raises(Unaskable, match=CHANGED):
        holdout.ask(question)
    assert holdout.meter.asked == 1
    if name is None:
        assert holdout.ask(make(rule, **options)).index == 2


def test_a_large_model_has_a_name_too() -> None:
    """Its arrays reach the digest as buffers."""
    model = run_cell(
        "import numpy as np\nclass M:\n    def __init__(self): self.weights = np.zeros((3, 100_000), order='F')\n"
        "    def predict(self, X): return X[:, 0] > 0\nmodel = M()"
    )
    before = digest_code(model)
    model.weights[1, 1] += 1
    assert digest_code(model) != before
