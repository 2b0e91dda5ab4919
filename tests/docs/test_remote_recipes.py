"""The recipes for other programs run as they are printed, against the real server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.client.real_server import RunningServer, make_labels, make_people, serve_everything, serve_folder
from tests.docs.test_docs import ROOT
from unworn.boards.board import Board

_BLOCK = re.compile(r"^```(py|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serve_everything(tmp_path_factory.mktemp("served")) as running:
        yield running


def blocks(page: str, kind: str, url: str) -> list[str]:
    """The code of a page, at the address of this test's server."""
    text = (ROOT / "docs" / "guides" / page).read_text()
    found = [code for language, code in _BLOCK.findall(text) if language == kind]
    assert found
    return [code.replace("http://127.0.0.1:8765", url) for code in found]


def test_an_optuna_study(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNWORN_TOKEN", server.tokens["ann"])
    pd.DataFrame(make_people()).drop(columns="y").to_csv("features.csv", index=False)
    pd.DataFrame(make_people(seed=55, rows=2_000)).to_csv("own.csv", index=False)
    names: dict[str, Any] = {}
    for code in blocks("remote-optuna.md", "py", server.url):
        exec(compile(code, "remote-optuna.md", "exec"), names)
    study, table = names["study"], names["table"]
    trials = set(table["tags.trial"].dropna())
    assert trials <= {trial.number for trial in study.trials}
    assert len(trials) >= 3  # the same predictions again are no new answer
    truth = 0.75  # of the best rule there is
    assert all(table["low"] < truth + 0.05)


def test_a_log_of_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ids = [f"q{place}" for place in range(1_000)]
    labels = {"id": ids, "target": [str(place + 1) for place in range(1_000)]}
    Board.create("served/evals", labels, id="id", target="target", grader="exact", name="evals").release()
    Path("logs").mkdir()
    with zipfile.ZipFile("logs/run.eval", "w", zipfile.ZIP_DEFLATED) as log:
        for place, name in enumerate(ids):
            said = {"completion": str(place + 1 if place % 5 else 0)}
            log.writestr(f"samples/{name}_epoch_1.json", json.dumps({"id": name, "epoch": 1, "output": said}))
        header = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "mockllm/model"}}
        log.writestr("header.json", json.dumps(header))
    with serve_folder(tmp_path / "served") as server:
        monkeypatch.setenv("UNWORN_TOKEN", server.tokens["olga"])
        names: dict[str, Any] = {}
        for code in blocks("inspect.md", "py", server.url):
            exec(compile(code, "inspect.md", "exec"), names)
        told = names["submission"]
        assert told.low < 0.8 < told.high
        names["board"].release()
        command = [
            sys.executable,
            "-m",
            "unworn",
            "submit",
            "logs/run.eval",
            "--to",
            f"{server.url}/boards/evals",
            "--json",
        ]
        again = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)
        assert again["id"] == told.id  # from the command line it is the same submission


PREDICT = """#!{python}
import numpy as np
skill, seed = map(float, open("program.txt").read().split())
labels = np.load({labels!r})
rng = np.random.default_rng(int(seed))
predictions = np.where(rng.random(len(labels)) < skill, labels, 1 - labels)
print("id,prediction")
for place, prediction in enumerate(predictions):
    print(f"r{{place}},{{prediction}}")
"""
CHANGE = """#!{python}
import numpy as np
skill, seed = map(float, open("program.txt").read().split())
skill = skill + [0.1, -0.1][int(seed) % 2]
open("program.txt", "w").write(f"{{skill}} {{int(seed) + 1}}")
"""


def test_a_shell_loop_with_git(server: RunningServer, tmp_path: Path) -> None:
    import numpy as np

    work = tmp_path / "work"
    work.mkdir()
    np.save(tmp_path / "labels.npy", np.array(make_labels()["label"]))
    for name, code in (("predict.sh", PREDICT), ("change.sh", CHANGE)):
        path = work / name
        path.write_text(code.format(python=sys.executable, labels=str(tmp_path / "labels.npy")))
        path.chmod(0o755)
    (work / "program.txt").write_text("0.6 0")
    (work / ".gitignore").write_text("preds.csv\nloop.sh\n")
    (loop,) = blocks("shell-loop.md", "bash", server.url)
    (work / "loop.sh").write_text(loop)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "BOARD": server.board,
        "UNWORN_TOKEN": server.tokens["blue"],
        "TRIES": "4",
        **{f"GIT_{who}_{what}": "loop@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("git", "init", "-q")
    call("git", "add", ".")
    call("git", "commit", "-q", "-m", "where it starts")
    told = call("bash", "loop.sh")
    assert "final" in told
    tags = call("git", "tag").split()
    assert "proposal-1" in tags
    assert "proposal-2" in tags  # .1 better
    assert "proposal-3" not in tags  # .1 worse: reverted
    assert call("git", "log", "--format=%s").splitlines()[-1] == "where it starts"
    assert (work / "program.txt").read_text().startswith("0.7")
