"""A small server for tests: two boards and two holdouts, and accounts that may each do something else."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from litestar.testing import TestClient

from unworn.boards.board import Board
from unworn.boards.holdout_folder import create_holdout_folder
from unworn.server.app import create_app
from unworn.server.services import Services
from unworn.server.settings import ServerSettings

ROWS = 400
ACCOUNTS = {
    "owner": ("owner", ["*"]),
    "ann": ("participant", ["board:bench"]),
    "bob": ("participant", ["board:rival"]),
    "vic": ("viewer", ["board:bench", "holdout:people"]),
    "ana": ("analyst", ["holdout:people"]),
    "una": ("owner", ["board:bench"]),
}
"""Everybody by role and scopes; a team is called like its account."""


@dataclass
class Site:
    """A running application, and what is needed to ask it."""

    root: Path
    client: TestClient[Any]
    services: Services
    tokens: dict[str, str]
    truth: dict[str, Any] = field(default_factory=dict)

    def headers(self, name: str, **more: str) -> dict[str, str]:
        """The token of an account, and other headers."""
        return {"Authorization": f"Bearer {self.tokens[name]}", **{key.replace("_", "-"): more[key] for key in more}}

    def get(self, name: str, path: str, **params: Any) -> Any:
        return self.client.get(path, headers=self.headers(name), params=params)

    def post(self, name: str, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.post(path, headers=self.headers(name, **headers), json={} if body is None else body)

    def send(self, name: str, path: str, content: Any, kind: str = "text/csv", **headers: str) -> Any:
        sent = {**self.headers(name, **headers), "Content-Type": kind}
        return self.client.post(path, headers=sent, content=content)


def make_places(root: Path, seed: int = 7) -> dict[str, Any]:
    """Two boards and two holdouts in a folder; returns the labels, which a test may use to submit something good."""
    rng = np.random.default_rng(seed)
    truth: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for place in ("bench", "rival"):
            labels = rng.integers(0, 2, ROWS)
            truth[place] = labels
            frame = {"id": [f"r{row}" for row in range(ROWS)], "label": labels.tolist()}
            Board.create(root / place, frame, id="id", target="label", metric="accuracy").release()
        for place in ("people", "others"):
            y = rng.integers(0, 2, ROWS)
            truth[place] = y
            data = root / f"{place}.csv"
            features = rng.integers(18, 90, ROWS), rng.normal(size=ROWS)
            lines = (f"{age},{x:.6f},{label}" for age, x, label in zip(*features, y, strict=True))
            data.write_text("age,x,y\n" + "\n".join(lines) + "\n")
            create_holdout_folder(root / place, data, target="y", practice=0.25)
            data.unlink()
    return truth


@contextmanager
def serve_site(root: Path, **settings: Any) -> Iterator[Site]:
    """The application over a new folder, with a client of its own."""
    truth = make_places(root)
    app = create_app(ServerSettings(root, **{"rate": 0.0, **settings}))
    services: Services = app.state.services
    tokens = {}
    for name, (role, scopes) in ACCOUNTS.items():
        services.accounts.add(name, role=role, scopes=scopes)
        tokens[name] = services.accounts.issue_token(name)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Site(root, client, services, tokens, truth)


def predictions_csv(labels: Any, wrong: int = 0, seed: int = 0) -> str:
    """A file of predictions for a board: the labels, of which some are wrong."""
    told = np.array(labels).copy()
    places = np.random.default_rng(seed).permutation(len(told))[:wrong]
    told[places] = 1 - told[places]
    return "id,prediction\n" + "\n".join(f"r{row},{value}" for row, value in enumerate(told)) + "\n"
