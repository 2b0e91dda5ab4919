"""A server's folder for tests of pages: one board, one holdout, and files to send."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from litestar import Litestar
from litestar.testing import TestClient

from unworn.boards.board import Board
from unworn.server.app import create_app
from unworn.server.settings import ServerSettings

ROWS = 3000
IDS = [f"r{place:05d}" for place in range(ROWS)]
CLASSES = np.array(["billing", "refund", "other"])


def true_labels(seed: int) -> np.ndarray[Any, Any]:
    return CLASSES[np.random.default_rng(seed).integers(0, 3, ROWS)]


def predictions(seed: int, accuracy: float) -> bytes:
    """A CSV file of predictions that are right so often."""
    rng = np.random.default_rng([seed, round(1000 * accuracy)])
    truth = true_labels(seed)
    guess = np.where(rng.random(ROWS) < accuracy, truth, CLASSES[rng.integers(0, 3, ROWS)])
    return ("id,prediction\n" + "".join(f"{id},{word}\n" for id, word in zip(IDS, guess, strict=True))).encode()


def make_folder(root: Path, seed: int) -> Path:
    """A folder with the board ``intents`` and the holdout ``churn``."""
    labels = {"id": IDS, "label": list(true_labels(seed))}
    board = Board.create(
        root / "intents", labels, id="id", target="label", metric="accuracy", title="Customer intents", practice=0.5
    )
    board.release()
    make_holdout(root, seed)
    return root


def make_holdout(root: Path, seed: int) -> None:
    from unworn.boards.holdout_folder import create_holdout_folder

    rng = np.random.default_rng(seed + 1)
    people = root / "people.csv"
    ages, plans = rng.integers(18, 90, ROWS), rng.choice(["basic", "pro"], ROWS)
    people.write_text("age,plan\n" + "".join(f"{age},{plan}\n" for age, plan in zip(ages, plans, strict=True)))
    create_holdout_folder(root / "churn", people).close()


@dataclass
class Site:
    """An application and its accounts."""

    app: Litestar
    seed: int

    @classmethod
    def of(cls, root: Path, seed: int, **settings: Any) -> Site:
        site = cls(create_app(ServerSettings(make_folder(root, seed), **settings)), seed)
        accounts = site.accounts
        accounts.add("ann", "organisers", "owner", ("*",))
        accounts.add("bo", "Tidewater", "participant", ("board:intents",))
        accounts.add("cy", "Octave", "participant", ("board:intents",))
        accounts.add("di", "analysts", "analyst", ("holdout:churn",))
        accounts.add("ed", "organisers", "owner", ("board:intents",))
        return site

    @property
    def accounts(self) -> Any:
        return self.app.state.services.accounts

    def visit(self, name: str | None = None) -> Visitor:
        """A browser of its own, signed in by a link."""
        client = TestClient(self.app)
        if name is not None:
            reply = client.post("/sign-in", data={"code": self.accounts.issue_link(name)}, follow_redirects=False)
            assert reply.status_code == 303, reply.text
        return Visitor(client)


@dataclass
class Visitor:
    """Somebody who looks at pages and sends their forms."""

    client: TestClient[Litestar]

    def get(self, address: str) -> Any:
        return self.client.get(address)

    def post(self, page: str, address: str, fields: dict[str, str], file: tuple[str, bytes] | None = None) -> Any:
        """Send a form as it stands on a page: with what is hidden in it."""
        html = self.get(page).text
        token = re.search(r'name="_csrf" value="([^"]+)"', html)
        request = re.search(r'name="request" value="([^"]+)"', html)
        hidden = {"_csrf": token.group(1) if token else ""} | ({"request": request.group(1)} if request else {})
        sent = None if file is None else {"file": (file[0], file[1], "application/octet-stream")}
        return self.client.post(address, data={**hidden, **fields}, files=sent, follow_redirects=False)

    def submit(self, file: bytes, name: str = "preds.csv", **fields: str) -> Any:
        given = {"action": "submit", **fields}
        return self.post("/boards/intents/submit", "/boards/intents/submit", given, (name, file))
