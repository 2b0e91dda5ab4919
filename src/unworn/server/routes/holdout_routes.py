"""Holdouts: what was released, and asking."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery

from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.requests.json_reply import ReplyText, entry_text, reply_json, reply_text
from unworn.server.requests.request_body import AnyRequest, UploadedFile, read_object, run_in_thread
from unworn.server.requests.route_words import describe, request_key
from unworn.server.routes.holdout_verbs import (
    AskBody,
    BatchBody,
    FinalBody,
    HypothesisBody,
    SharpenBody,
    ask_batch,
    ask_question,
    check_hypothesis,
    finish_answers,
    prepare_ask,
    quote_question,
    sharpen_answer,
)
from unworn.server.routes.released_entries import is_closed, list_answers, read_certificate, read_entries
from unworn.server.safe_headers import REPORT_POLICY

if TYPE_CHECKING:
    from unworn.holdout import Holdout

T = TypeVar("T")
Reply = Response[bytes]
_BASE = "/api/holdouts/{place:str}"
FINISHING = "Exact values as the last word. Closing the holdout with them, for everybody, is for its owner."


async def use_holdout(
    request: AnyRequest,
    verb: str,
    place: str,
    work: Callable[[Holdout], T],
    uploads: Sequence[UploadedFile] = (),
    grid: float = 0.0,
) -> T:
    """Do something with a holdout that the caller may do this with, in a thread."""
    services = services_of(request)
    check_may(caller_of(request), verb, "holdout", place)

    def work_in_thread() -> T:
        with services.workspace.lease_holdout(place) as holdout:
            return work(holdout)

    return await run_in_thread(request, work_in_thread, uploads, grid)


def tell(request: AnyRequest, told: ReplyText) -> Reply:
    """The reply to what was asked, counted."""
    services_of(request).counters.count_answers(told.sources)
    return reply_text(told.text)


@get("/api/holdouts", sync_to_thread=False, **describe("The holdouts that this account can reach."))
def list_holdouts(request: AnyRequest) -> Reply:
    caller = caller_of(request)
    names = services_of(request).workspace.holdouts()
    return reply_json([{"name": name} for name in names if caller.may("see", "holdout", name)])


@get(_BASE, **describe("What is public about a holdout: its terms, its columns, what was asked and spent."))
async def show_holdout(request: AnyRequest, place: FromPath[str]) -> Reply:
    return reply_json(await use_holdout(request, "see", place, lambda holdout: describe_holdout(place, holdout)))


def describe_holdout(place: str, holdout: Holdout) -> dict[str, Any]:
    """What everybody may know who can reach a holdout."""
    terms, meter = holdout.terms, holdout.meter
    return {
        "name": place,
        "title": holdout.name,
        "size": holdout.size,
        "practice_size": terms.practice_size,
        "confidence": holdout.confidence,
        "mechanism": type(holdout.mechanism).__name__,
        "max_width": holdout.max_width,
        "schema": terms.schema.to_json(),
        "closed": is_closed(holdout),
        "meter": meter.to_json(),
        "head": holdout.head,
        "public_key": terms.public,
    }


@get(f"{_BASE}/answers", **describe("Answers in the order of the ledger, a thousand at most; the last without start."))
async def show_answers(
    request: AnyRequest, place: FromPath[str], start: FromQuery[int] = 0, stop: FromQuery[int | None] = None
) -> Reply:
    return reply_json(await use_holdout(request, "see", place, lambda holdout: list_answers(holdout, start, stop)))


@get(f"{_BASE}/entries", **describe("Entries of the ledger as they were signed, a thousand at most."))
async def show_entries(
    request: AnyRequest, place: FromPath[str], start: FromQuery[int] = 0, stop: FromQuery[int | None] = None
) -> Reply:
    entries = await use_holdout(request, "see", place, lambda holdout: read_entries(holdout, max(start, 0), stop))
    return reply_text("[" + ",".join(map(entry_text, entries)) + "]")


@get(f"{_BASE}/cards/{{index:int}}", **describe("The certificate of one answer: a card that can be verified."))
async def show_card(request: AnyRequest, place: FromPath[str], index: FromPath[int]) -> Reply:
    found = await use_holdout(request, "see", place, lambda holdout: read_certificate(holdout, index).to_json())
    return reply_json(found)


@get(f"{_BASE}/report.html", **describe("A report on what was asked, as a page.", produces="text/html"))
async def show_report(request: AnyRequest, place: FromPath[str]) -> Reply:
    def write(holdout: Holdout) -> bytes:
        with tempfile.TemporaryDirectory(prefix="unworn-report-") as folder:
            return holdout.report(Path(folder) / "report.html").read_bytes()

    page = await use_holdout(request, "see", place, write)
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY})


# ---------------------------------------------------------------------- asking


@post(f"{_BASE}/asks", status_code=200, **describe("Ask one question.", body=AskBody, charges=True))
async def ask(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "ask", "holdout", place)
    body, digest = await read_object(request, AskBody)
    services, key, caller = services_of(request), request_key(request), caller_of(request)
    if not (body.again and key is not None):
        prepare = partial(prepare_ask, caller, body, services.keys, key, f"{place} {digest}")
        return tell(request, await services.batches.ask(services, place, prepare))

    def work(holdout: Holdout) -> ReplyText:
        return ask_question(holdout, caller, body, services.keys, key, f"{place} {digest}")

    return tell(request, await use_holdout(request, "ask", place, work, grid=services.settings.answer_grid))


@post(f"{_BASE}/asks/batch", status_code=200, **describe("Ask several, all or none.", body=BatchBody, charges=True))
async def ask_several(request: AnyRequest, place: FromPath[str]) -> Reply:
    return await _charge(request, place, BatchBody, ask_batch)


@post(f"{_BASE}/tests", status_code=200, **describe("Test a hypothesis.", body=HypothesisBody, charges=True))
async def test(request: AnyRequest, place: FromPath[str]) -> Reply:
    return await _charge(request, place, HypothesisBody, check_hypothesis)


@post(f"{_BASE}/sharpen", status_code=200, **describe("A narrower interval.", body=SharpenBody, charges=True))
async def sharpen(request: AnyRequest, place: FromPath[str]) -> Reply:
    return await _charge(request, place, SharpenBody, sharpen_answer)


@post(f"{_BASE}/final", status_code=200, **describe(FINISHING, body=FinalBody, charges=True))
async def finish(request: AnyRequest, place: FromPath[str]) -> Reply:
    return await _charge(request, place, FinalBody, finish_answers, lambda body: "manage" if body.close else "ask")


@post(f"{_BASE}/quotes", status_code=200, **describe("What a question would cost, for nothing.", body=AskBody))
async def quote(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "ask", "holdout", place)
    body, _ = await read_object(request, AskBody)
    return reply_json(await use_holdout(request, "ask", place, lambda holdout: quote_question(holdout, body)))


async def _charge(
    request: AnyRequest,
    place: str,
    shape: Any,
    verb: Callable[[Holdout, Any, Any], ReplyText],
    right: Callable[[Any], str] = lambda body: "ask",
) -> Reply:
    """Do what is charged the first time and free afterwards, because the ledger knows it."""
    check_may(caller_of(request), "ask", "holdout", place)
    body, digest = await read_object(request, shape)
    check_may(caller_of(request), right(body), "holdout", place)
    keys, key, caller = services_of(request).keys, request_key(request), caller_of(request)

    def work(holdout: Holdout) -> ReplyText:
        keys.note(caller.name, key, f"{verb.__name__} {place} {digest}")
        return verb(holdout, caller, body)

    return tell(request, await use_holdout(request, "ask", place, work, grid=services_of(request).settings.answer_grid))


ROUTES = [
    list_holdouts,
    show_holdout,
    show_answers,
    show_entries,
    show_card,
    show_report,
    ask,
    ask_several,
    test,
    sharpen,
    finish,
    quote,
]
