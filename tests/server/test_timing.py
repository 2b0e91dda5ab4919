"""How long an answer takes does not tell what it is: agreement and surprise, as a client's clock sees them."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from litestar.testing import TestClient
from scipy import stats

from unworn.boards.board import Board
from unworn.boards.holdout_folder import create_holdout_folder
from unworn.server.app import create_app
from unworn.server.requests.answer_times import first_step, next_step
from unworn.server.services import Services
from unworn.server.settings import ServerSettings

ASKS = 240
FALSE_ALARM = 1e-6


def time_asks(
    client: TestClient[Any], headers: dict[str, str], seed: int, asks: int
) -> tuple[list[float], list[float]]:
    """Seconds of asks that the rows agree with, and of asks that surprise; guesses have one law for both."""
    rng, times = np.random.default_rng(seed), ([], [])  # type: ignore[var-annotated]
    for _ in range(asks):
        guess, offset = rng.uniform(0.4, 0.6), rng.choice([0.0, 0.25, -0.25], p=[0.5, 0.25, 0.25])
        limit = float(stats.norm.isf(guess + offset))
        body = {"question": f"x > {limit!r}", "guess": float(guess)}
        began = time.perf_counter()
        reply = client.post("/api/holdouts/normal/asks", headers=headers, json=body)
        seconds = time.perf_counter() - began
        assert reply.status_code == 200
        times['"source":"surprise"' in reply.text or bool(offset)].append(seconds)
    return times


@pytest.fixture
def asking(tmp_path: Path) -> Any:
    rng = np.random.default_rng(11)
    data = tmp_path / "normal.csv"
    data.write_text("x\n" + "\n".join(f"{value:.9f}" for value in rng.normal(size=4_000)) + "\n")
    create_holdout_folder(tmp_path / "normal", data)
    data.unlink()
    app = create_app(ServerSettings(tmp_path, rate=0.0))
    app.state.services.accounts.add("ana", role="analyst", scopes=["*"])
    headers = {"Authorization": f"Bearer {app.state.services.accounts.issue_token('ana')}"}
    with TestClient(app) as client:
        yield client, headers


def test_agreement_and_surprise_take_the_same_time(asking: Any) -> None:
    """Two laws of time that a rank test and a test of whole distributions cannot tell apart."""
    client, headers = asking
    time_asks(client, headers, 1, 20)  # whatever is loaded or cached at first
    agree, surprise = time_asks(client, headers, 2, ASKS)
    assert min(len(agree), len(surprise)) > ASKS / 4
    assert stats.mannwhitneyu(agree, surprise).pvalue > FALSE_ALARM
    assert stats.ks_2samp(agree, surprise).pvalue > FALSE_ALARM


def test_the_test_would_notice(asking: Any) -> None:
    """A surprise that took longer, by as much as times vary anyway, would be found out with as many asks."""
    client, headers = asking
    agree, surprise = time_asks(client, headers, 3, ASKS)
    step = float(np.subtract(*np.quantile(agree, [0.75, 0.25])))
    slower = [seconds + step for seconds in surprise]
    assert stats.mannwhitneyu(agree, slower).pvalue < FALSE_ALARM


LONG_PLACES, LONG_ASKS = 10, 2_000
"""Holdouts of the long form, and asks of each: in one, ten thousand surprises would make every interval the range."""


def work_of_asks(services: Services, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of work, in the thread and before it is drawn out, of asks that the rows agree with and that surprise."""
    worked: list[float] = []
    monkeypatch.setattr("unworn.server.requests.ask_batches.wait_for_step", lambda spent, _: worked.append(spent))
    rng, found = np.random.default_rng(5), ([], [])  # type: ignore[var-annotated]

    async def ask_all() -> None:
        for place in range(LONG_PLACES):
            for number in range(LONG_ASKS + 20):
                guess, offset = rng.uniform(0.4, 0.6), rng.choice([0.0, 0.25, -0.25], p=[0.5, 0.25, 0.25])
                told = {"question": f"x > {float(stats.norm.isf(guess + offset))!r}", "guess": float(guess)}
                reply = await services.batches.ask(services, f"normal{place}", partial(dict, told))
                assert (reply.sources == ("surprise",)) == bool(offset)
                if number >= 20:  # whatever is loaded or cached at first
                    found[bool(offset)].append(worked[-1])

    asyncio.run(ask_all())
    return np.array(found[0]), np.array(found[1])


@pytest.mark.slow
def test_twenty_thousand_asks_leave_at_times_that_tell_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps at which answers leave the thread, nearer than any client is; a false alarm once in a million runs.

    With ten thousand of either kind, a step that surprises pass more often would be noticed: by .01 where one in fifty
    asks passes it, by .035 where half of them do. Without steps a tenth of what times vary anyway is noticed.
    """
    rng, data = np.random.default_rng(12), tmp_path / "normal.csv"
    for place in range(LONG_PLACES):
        data.write_text("x\n" + "\n".join(f"{value:.9f}" for value in rng.normal(size=4_000)) + "\n")
        create_holdout_folder(tmp_path / f"normal{place}", data, practice=0).close()
        data.unlink()
    services = Services.of(ServerSettings(tmp_path))
    step, grid = first_step(), services.settings.answer_grid
    try:
        agree, surprise = work_of_asks(services, monkeypatch)
    finally:
        services.close()
    left = [np.array([round(next_step(spent, step, grid), 9) for spent in work]) for work in (agree, surprise)]
    values = np.unique(np.concatenate(left))
    told = f"first step {1e6 * step:.0f} µs; passed by {[round(float(np.mean(each > step)), 4) for each in left]}"
    shares = np.array([[np.sum(each == value) for value in values] for each in left])
    common = shares[:, shares.sum(axis=0) >= 20]
    if common.shape[1] > 1:
        assert stats.chi2_contingency(common).pvalue > FALSE_ALARM / 2, told
        assert stats.mannwhitneyu(*left).pvalue > FALSE_ALARM / 2, told
    slower = agree + float(np.subtract(*np.quantile(agree, [0.75, 0.25]))) / 10
    assert stats.mannwhitneyu(agree, slower).pvalue < FALSE_ALARM


def test_what_an_organisers_code_graded_leaves_at_multiples_of_a_coarser_grid(tmp_path: Path) -> None:
    """How long it takes may depend on labels; checking a file, which runs no code, does not wait."""
    grader = tmp_path / "grade.py"
    grader.write_text("import time\ndef score(p, r):\n    time.sleep(0.002 * (p == r))\n    return (p == r) * 1.0\n")
    ids, right = list(range(400)), ["yes", "no"] * 200
    labels = {"id": ids, "label": right}
    Board.create(tmp_path / "bench", labels, id="id", target="label", grader=f"{grader}:score").release()
    grid = 2.0
    app = create_app(ServerSettings(tmp_path, rate=0.0, model_grid=grid))
    accounts = app.state.services.accounts
    accounts.add("ann", scopes=["*"])
    headers = {"Authorization": f"Bearer {accounts.issue_token('ann')}", "Content-Type": "text/csv"}
    sent = {
        share: "id,prediction\n" + "".join(f"{id},{right[id] if id % 10 < share else 'x'}\n" for id in ids)
        for share in (5, 9)
    }
    with TestClient(app) as client:

        def seconds(path: str, share: int) -> float:
            began = time.perf_counter()
            reply = client.post(f"/api/boards/bench/{path}", headers=headers, content=sent[share])
            assert reply.status_code in (200, 201), reply.text
            return time.perf_counter() - began

        seconds("validate", 5)  # whatever is loaded at first
        assert seconds("validate", 9) < grid
        for path, share in (("submissions", 5), ("gate", 5), ("gate?check=1", 9)):
            taken = seconds(path, share)
            assert taken >= grid
            assert taken % grid < grid / 2
