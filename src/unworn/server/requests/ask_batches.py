"""Asks that arrive while others are being answered go in together, by one thread and in one commit.

A thread for each would spend more time on taking turns than on asking. Who waits for the same holdout waits once; each
has its own answer or error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from unworn.server.requests.answer_times import wait_for_grid, wait_for_step
from unworn.server.requests.json_reply import ReplyText
from unworn.server.server_errors import StillBusy

if TYPE_CHECKING:
    from unworn.server.services import Services

Prepare = Callable[[], Mapping[str, Any]]
"""Checks an ask, in the thread, and returns what ``Holdout.ask`` is told."""
_MOST = 256
"""Asks that go in together."""


class AskBatches:
    """The asks that wait, by holdout. For one loop of events; its tasks end when nothing waits."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[Prepare, asyncio.Future[ReplyText]]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, services: Services, place: str, prepare: Prepare) -> ReplyText:
        """What is told to one asker, when it is in the ledger. A client that leaves does not take its ask with it."""
        answer: asyncio.Future[ReplyText] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(place, []).append((prepare, answer))
        if place not in self._tasks:
            self._tasks[place] = asyncio.create_task(self._go_on(services, place))
        try:
            async with asyncio.timeout(services.settings.request_seconds):
                return await answer
        except TimeoutError:
            raise StillBusy(
                f"this takes longer than {services.settings.request_seconds:g} s. It goes on, and what it charges "
                "stays charged: send it again with the same Idempotency-Key to get its answer"
            ) from None

    async def _go_on(self, services: Services, place: str) -> None:
        try:
            while waiting := self._waiting.pop(place, None):
                now, later = waiting[:_MOST], waiting[_MOST:]
                if later:
                    self._waiting[place] = later + self._waiting.get(place, [])
                prepares = [prepare for prepare, _ in now]
                try:
                    told = await anyio.to_thread.run_sync(_ask, services, place, prepares, limiter=services.limiter)
                except Exception as error:  # the holdout cannot be opened
                    told = [error] * len(now)
                for (_, answer), each in zip(now, told, strict=True):
                    if answer.done():  # nobody waits for it any more
                        continue
                    if isinstance(each, ReplyText):
                        answer.set_result(each)
                    else:
                        answer.set_exception(each)
        finally:
            del self._tasks[place]


def _ask(services: Services, place: str, prepares: list[Prepare]) -> list[ReplyText | Exception]:
    """In the thread: what came of it, once that has taken one of the steps of time.

    Several leave together at a multiple of the grid: meanwhile others gather, who then share a commit. For one alone
    what counts is the time from when rows may be read, without that of the store: before it nothing is known of what
    they say, and what is entered was complete before it was handed to the store.
    """
    from unworn.holdout.asking.several_callers import answer_several, prepare_several, storing_seconds

    called = time.perf_counter()
    told: list[ReplyText | Exception | None] = []
    asks: list[Mapping[str, Any]] = []
    with services.workspace.lease_holdout(place) as holdout:
        for prepare in prepares:
            try:
                asks.append(prepare())
                told.append(None)
            except Exception as error:
                told.append(error)
        prepared = prepare_several(holdout, asks)
        began, stored = time.perf_counter(), storing_seconds(holdout)
        answers = iter(answer_several(holdout, prepared))
        found = [_tell(next(answers)) if each is None else each for each in told]
        worked = time.perf_counter() - began - (storing_seconds(holdout) - stored)
    if len(prepares) == 1:
        wait_for_step(max(worked, 0.0), services.settings)
    else:
        wait_for_grid(called, services.settings.answer_grid)
    return found


def _tell(answer: Any) -> ReplyText | Exception:
    return answer if isinstance(answer, Exception) else ReplyText.one(answer)
