"""A notebook shows more than what is printed: displays, tracebacks, widgets and figures of code on sealed rows are not
among it, and everything that comes before and after is."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import matplotlib as mpl
import pytest

from unworn.queries.code.withheld_output import withhold_output

CELL = """
    import logging, sys, warnings
    import numpy as np, pandas as pd
    from IPython.display import HTML, clear_output, display, update_display
    import matplotlib.pyplot as plt
    from comm import create_comm
    from unworn import Holdout

    SECRET = "secret"
    early = sys.stdout.write
    handle = display("a handle", display_id="one")

    def fail():
        try:
            raise ValueError(SECRET)
        except ValueError:
            get_ipython().showtraceback()

    def plot():
        plt.figure()
        plt.title(SECRET)

    WAYS = {
        "display": lambda X: display(X),
        "markup": lambda X: display(HTML(SECRET)),
        "update": lambda X: update_display(SECRET, display_id="one"),
        "clear": lambda X: clear_output(),
        "traceback": lambda X: fail(),
        "cell": lambda X: get_ipython().run_cell("'secret'"),
        "hook": lambda X: sys.displayhook(SECRET),
        "a method kept from before": lambda X: early(SECRET),
        "shell": lambda X: get_ipython().system("echo secret"),
        "widget": lambda X: create_comm(target_name="words", data={"words": SECRET}),
        "figure": lambda X: plot(),
        "figure and show": lambda X: (plot(), plt.show()),
    }

    class Model:
        def __init__(self, way):
            self.way = way

        def predict(self, X):
            WAYS[self.way](X)
            return np.zeros(len(X), dtype=int)

    rows = pd.DataFrame({"a": np.arange(600.0), "word": [SECRET] * 600})
    holdout = Holdout(rows, np.arange(600) % 2, practice=PRACTICE, ledger=None)
    for way in WAYS:
        print("before", way)
        VERB(Model(way), name=way)
        display(f"after {way}")
    plt.figure()
    plt.plot([1, 2])
"""


def shown(practice: float, verb: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that a page is sent while the cell runs, as text, of a real kernel."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    cell = textwrap.dedent(CELL).replace("PRACTICE", str(practice)).replace("VERB", verb)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    told: list[str] = []
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True)
    handle = client.process_message

    def note(message: dict[str, object], *rest: object) -> object:
        if message["msg_type"] != "execute_input":  # the cell itself
            told.append(f"{message['msg_type']} {message['content']}")
        return handle(message, *rest)

    client.process_message = note
    client.execute()
    return told


def test_a_page_is_shown_nothing_of_sealed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = shown(0, "holdout.score", tmp_path, monkeypatch)
    assert not [message for message in told if "secret" in message or message.startswith(("error", "clear", "comm"))]
    assert sum("after " in message for message in told) == 12
    assert "".join(told).count("before ") == 12
    images = [message for message in told if "image/png" in message]
    assert len(images) == 1  # the asker's own figure, at the end of the cell


def test_of_practice_rows_a_page_is_shown_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = shown(0.25, "holdout.practice.score", tmp_path, monkeypatch)
    for kind in ("display_data", "update_display_data", "clear_output", "error", "comm_open"):
        assert [message for message in told if message.startswith(kind)], kind
    assert sum("image/png" in message for message in told) >= 2  # one by the code


ASKING = """
    import numpy as np
    from unworn import Holdout
    from unworn.errors import Failed

    class Model:
        def predict(self, X):
            input("secret")
            return np.zeros(len(X), dtype=int)

    holdout = Holdout(np.zeros((600, 1)), np.arange(600) % 2, practice=0, ledger=None)
    try:
        holdout.score(Model(), name="asking")
    except Failed:
        input("failed")
"""


def test_code_on_sealed_rows_has_no_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jupyter = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    prompts: list[str] = []
    manager, client = jupyter.start_new_kernel(kernel_name="python3")

    def answer(message: dict[str, dict[str, str]]) -> None:
        prompts.append(message["content"]["prompt"])
        client.input("")

    try:
        reply = client.execute_interactive(
            textwrap.dedent(ASKING), allow_stdin=True, stdin_hook=answer, output_hook=lambda message: None, timeout=300
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok"
    assert prompts == ["failed"]


def test_figures_of_before_stay_open_and_those_of_the_code_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    pyplot.close("all")
    mine = pyplot.figure()
    with withhold_output():
        pyplot.figure()
        pyplot.figure(mine.number)
    assert pyplot.get_fignums() == [mine.number]
    pyplot.close("all")
