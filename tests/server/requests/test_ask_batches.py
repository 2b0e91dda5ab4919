"""Asks that come together go in together, each with its own answer, error and place in the ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from anyio import CapacityLimiter

from unworn import Holdout
from unworn.errors import Unaskable
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.server.requests.ask_batches import AskBatches
from unworn.server.requests.json_reply import ReplyText
from unworn.server.server_errors import NotThere, StillBusy
from unworn.server.workspace import Workspace

X = {"x": np.arange(400) / 400}


class CommitCounter(SQLiteStore):
    commits = 0
    pause = 0.0

    def append(self, entries: Any, expect: str) -> None:
        self.commits += 1
        time.sleep(self.pause)
        super().append(entries, expect)


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    store = CommitCounter(tmp_path / "ledger.db")
    holdout = Holdout(X, ledger=store, practice=0)
    (tmp_path / "places" / "people").mkdir(parents=True)
    (tmp_path / "places" / "people" / "holdout.toml").write_text("")
    monkeypatch.setattr("unworn.server.workspace._open", lambda kind, folder: holdout)
    settings = SimpleNamespace(request_seconds=60.0, answer_grid=0.004, ask_step=0.0005)
    made = SimpleNamespace(
        workspace=Workspace(tmp_path / "places"), settings=settings, limiter=CapacityLimiter(4), store=store
    )
    yield made
    holdout.close()
    store.close()


def above(cut: float) -> Any:
    def prepare() -> Mapping[str, Any]:
        if cut > 1:
            raise Unaskable("no such number")
        return {"question": f"x > {cut}", "guess": 1 - cut}

    return prepare


def test_those_who_wait_go_in_together(services: Any) -> None:
    async def ask_all() -> list[Any]:
        batches = AskBatches()
        asks = [batches.ask(services, "people", above(number / 40)) for number in range(1, 41)]
        asks.append(batches.ask(services, "people", above(2.0)))
        found = await asyncio.gather(*asks, return_exceptions=True)
        await asyncio.sleep(0)
        assert (batches._tasks, batches._waiting) == ({}, {})
        return found

    found = asyncio.run(ask_all())
    assert isinstance(found.pop(), Unaskable)
    assert all(isinstance(each, ReplyText) for each in found)
    assert len({each.text for each in found}) == 40
    assert services.store.commits <= 2  # all that had come before the first thread began, and perhaps the rest
    (holdout,) = services.store.holdouts()
    assert services.store.length(holdout) == 41


def test_a_place_that_cannot_be_opened_is_everybodys_error(services: Any) -> None:
    async def ask_all() -> list[Any]:
        batches = AskBatches()
        asks = [batches.ask(services, "nobody", above(0.5)) for _ in range(3)]
        return await asyncio.gather(*asks, return_exceptions=True)

    assert [type(each) for each in asyncio.run(ask_all())] == [NotThere] * 3


def test_who_leaves_or_waits_too_long_does_not_take_the_ask_along(services: Any) -> None:
    services.settings.request_seconds = 0.0

    async def ask_all() -> None:
        batches = AskBatches()
        with pytest.raises(StillBusy, match="same Idempotency-Key"):
            await batches.ask(services, "people", above(0.25))
        leaving = asyncio.create_task(batches.ask(services, "people", above(0.75)))
        await asyncio.sleep(0)
        leaving.cancel()
        while batches._tasks:
            await asyncio.sleep(0.01)

    asyncio.run(ask_all())
    (holdout,) = services.store.holdouts()
    assert services.store.length(holdout) == 3


def test_what_the_store_takes_is_not_drawn_out(services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry is complete by then, so no part of it depends on the rows; and a disk would fill any step by itself."""
    worked: list[float] = []
    monkeypatch.setattr("unworn.server.requests.ask_batches.wait_for_step", lambda spent, _: worked.append(spent))
    services.store.pause = 1.0

    async def ask_two() -> None:
        batches = AskBatches()
        await batches.ask(services, "people", above(0.25))
        await batches.ask(services, "people", above(0.75))

    began = time.perf_counter()
    asyncio.run(ask_two())
    assert time.perf_counter() - began > 2.0
    assert len(worked) == 2
    assert all(0 < spent < 1.0 for spent in worked)


def test_only_who_comes_alone_leaves_before_the_grid(services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    for name in ("wait_for_step", "wait_for_grid"):
        monkeypatch.setattr(f"unworn.server.requests.ask_batches.{name}", lambda *_, name=name: left.append(name))

    async def ask_them() -> None:
        batches = AskBatches()
        await batches.ask(services, "people", above(0.25))
        await asyncio.gather(*(batches.ask(services, "people", above(cut)) for cut in (0.5, 0.75)))

    asyncio.run(ask_them())
    assert left == ["wait_for_step", "wait_for_grid"]
