"""The real server on loopback, in a thread of the tests: a board, a holdout, and accounts for both."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn

from unworn.boards.board import Board
from unworn.boards.holdout_folder import create_holdout_folder
from unworn.server.app import create_app
from unworn.server.settings import ServerSettings

ROWS = 4_000


@dataclass
class RunningServer:
    """Where it listens, what it holds, and tokens by account."""

    url: str
    folder: Path
    app: Any
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def board(self) -> str:
        return f"{self.url}/boards/bench"

    @property
    def holdout(self) -> str:
        return f"{self.url}/holdouts/people"


def make_labels(seed: int = 1, rows: int = ROWS) -> dict[str, Any]:
    """Labels of the board: ids that are texts, and two classes."""
    labels = np.random.default_rng(seed).integers(0, 2, rows)
    return {"id": [f"r{place}" for place in range(rows)], "label": labels.tolist()}


def make_people(seed: int = 2, rows: int = ROWS) -> dict[str, Any]:
    """Rows of the holdout: an age, a plan, a feature that tells something of the label, and the label."""
    rng = np.random.default_rng(seed)
    feature = rng.normal(size=rows)
    return {
        "age": rng.integers(18, 90, rows),
        "plan": np.where(rng.random(rows) < 0.4, "basic", "full"),
        "x": feature,
        "y": (feature + rng.normal(size=rows) > 0).astype(int),
    }


def predict(labels: dict[str, Any], right: float, seed: int) -> dict[str, Any]:
    """Predictions that are right about as often as said."""
    rng = np.random.default_rng(seed)
    truth = np.array(labels["label"])
    return {"id": labels["id"], "prediction": np.where(rng.random(len(truth)) < right, truth, 1 - truth).tolist()}


@contextmanager
def serve_folder(folder: Path, *, port: int = 0, accounts: bool = True, **settings: Any) -> Iterator[RunningServer]:
    """A server for what is in a folder, with an account for each role."""
    app = create_app(ServerSettings(folder, log_requests=False, **settings))
    known = app.state.services.accounts
    tokens = {}
    for name, role, scopes in [
        ("olga", "owner", ["*"]),
        ("blue", "participant", ["board:bench"]),
        ("red", "participant", ["board:bench"]),
        ("ann", "analyst", ["*"]),
    ]:
        if accounts:
            known.add(name, name, role, scopes)
        tokens[name] = known.issue_token(name)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive(), "the server ended before it had started"
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield RunningServer(f"http://127.0.0.1:{port}", folder, app, tokens)
    finally:
        server.should_exit = True
        thread.join(60)


@contextmanager
def serve_everything(folder: Path, seeds: tuple[int, int] = (1, 2), **settings: Any) -> Iterator[RunningServer]:
    """A server with a board ``bench`` and a holdout ``people``."""
    import pandas as pd

    labels, data = make_labels(seeds[0]), folder.parent / f"{folder.name}.csv"
    pd.DataFrame(make_people(seeds[1])).to_csv(data, index=False)
    with pytest.MonkeyPatch.context() as patch:  # the same rows are sealed for several modules of tests
        patch.setenv("UNWORN_HOME", str(folder.parent / f"{folder.name}-home"))
        Board.create(folder / "bench", labels, id="id", target="label", metric="accuracy", name="bench").release()
        create_holdout_folder(folder / "people", data, target="y", practice=0.25).close()
    with serve_folder(folder, **settings) as server:
        yield server
