"""Scores of predictions in a file, and of models as ONNX; exact values on practice rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio
from litestar import Response, post
from litestar.datastructures import UploadFile
from litestar.params import FromPath

from unworn.basics.json_text import canonical
from unworn.queries import Composite
from unworn.server.account import Account
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.requests.json_reply import ReplyText, reply_json
from unworn.server.requests.request_body import (
    FORMATS,
    AnyRequest,
    UploadedFile,
    close_uploads,
    keep_upload,
    read_object,
    read_upload,
)
from unworn.server.requests.route_words import FILES, describe, request_key
from unworn.server.requests.upload_checks import check_upload
from unworn.server.routes.holdout_routes import tell, use_holdout
from unworn.server.routes.holdout_verbs import PracticeBody, answer_once, check_tags, read_question
from unworn.server.routes.score_options import ScoreOptions, read_score_options
from unworn.server.routes.scored_files import predictions_of
from unworn.server.server_errors import Malformed, WrongType

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.server.services import Services
    from unworn.server.settings import ServerSettings

Reply = Response[bytes]
_BASE = "/api/holdouts/{place:str}"
_KINDS = ("csv", "jsonl", "parquet", "onnx")
ONNX = "application/onnx"
_TAKEN = (*FILES, ONNX)
SCORING = describe("Score predictions or a model.", files=_TAKEN, charges=True, options=ScoreOptions)
COMPARING = describe(
    "Compare two, as one paired question.", form=("first", "second"), charges=True, options=ScoreOptions
)
PRACTISING = describe(
    "An exact value on the practice rows, for nothing.", body=PracticeBody, files=_TAKEN, options=ScoreOptions
)


@post(f"{_BASE}/scores", status_code=200, **SCORING)
async def score(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "ask", "holdout", place)
    services_of(request).workspace.folder("holdout", place)  # before anything is uploaded for nothing
    options = read_score_options(request.query_params)
    upload = await read_upload(request, _KINDS)
    return await _answer(request, place, [upload], options, lambda holdout: holdout.score)


@post(f"{_BASE}/comparisons", status_code=200, **COMPARING)
async def compare(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "ask", "holdout", place)
    services_of(request).workspace.folder("holdout", place)  # before anything is uploaded for nothing
    options = read_score_options(request.query_params)
    uploads = await _read_form(request)
    return await _answer(request, place, uploads, options, lambda holdout: holdout.compare)


@post(f"{_BASE}/practice", status_code=200, **PRACTISING)
async def practise(request: AnyRequest, place: FromPath[str]) -> Reply:
    check_may(caller_of(request), "ask", "holdout", place)
    kind = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if kind not in FORMATS:
        body, _ = await read_object(request, PracticeBody)
        question = read_question(body.question)
        return reply_json(
            asdict(await use_holdout(request, "ask", place, lambda holdout: holdout.practice.ask(question)))
        )
    options = read_score_options(request.query_params)
    upload = await read_upload(request, _KINDS)

    def look(holdout: Holdout) -> dict[str, Any]:
        predictions = _read_all(services_of(request), caller_of(request), holdout, [upload])[0]
        return asdict(holdout.practice.score(predictions, metric=options.metric, **options.more()))

    grid = grid_of(request, [upload])
    return reply_json(await use_holdout(request, "ask", place, look, [upload], grid))


async def _answer(
    request: AnyRequest,
    place: str,
    uploads: list[UploadedFile],
    options: ScoreOptions,
    verb: Callable[[Holdout], Any],
) -> Reply:
    """Score or compare what was uploaded: once for a key."""
    services, caller, key = services_of(request), caller_of(request), request_key(request)
    whole = canonical([place, options.to_json(), *(upload.digest for upload in uploads)])
    digest = hashlib.sha256(whole.encode()).hexdigest()

    def work(holdout: Holdout) -> ReplyText:
        sources = _read_all(services, caller, holdout, uploads)
        tags = check_tags(options.tags)

        def ask(more: dict[str, Any] | None = None) -> ReplyText:
            noted = tags if more is None else {**(tags or {}), **more}
            return ReplyText.one(verb(holdout)(*sources, **_arguments(options, caller, len(uploads) > 1), tags=noted))

        if options.again and key is not None:
            derived = _derived(holdout, sources, options)
            return answer_once(services.keys, holdout, caller, key, digest, ask, derived)
        services.keys.note(caller.name, key, digest)
        return ask()

    return tell(request, await use_holdout(request, "ask", place, work, uploads, grid_of(request, uploads)))


def _read_all(services: Services, caller: Account, holdout: Holdout, uploads: list[UploadedFile]) -> list[Any]:
    """What a holdout scores, out of files that were looked at first; large ones wait for their turn."""
    with services.reading.take(caller.name, sum(upload.size for upload in uploads)):
        for upload in uploads:
            check_upload(upload, services.settings)
        return [predictions_of(holdout, upload, services.settings) for upload in uploads]


def _arguments(options: ScoreOptions, caller: Account, paired: bool) -> dict[str, Any]:
    """What goes with the predictions, for a score or for a comparison."""
    plain: dict[str, Any] = {
        "guess": options.guess,
        "metric": options.metric,
        "guess_se": options.guess_se,
        "again": options.again,
        "by": caller.name,
        "name": options.name,
        **options.more(),
    }
    if paired:
        return {**plain, "discordance": options.discordance}
    return {**plain, "gauge": options.gauge, "noise": options.noise}


def _derived(holdout: Holdout, sources: list[Any], options: ScoreOptions) -> str:
    """How an answer that is asked anew is put together, in case it is told a second time."""
    from unworn.queries.metrics.paired_query import compare_questions

    questions = [holdout._metric(options.metric, each, None, options.more()) for each in sources]
    question = questions[0] if len(questions) == 1 else compare_questions(*questions)
    return canonical(question.to_json()) if isinstance(question, Composite) else "null"


def grid_of(request: AnyRequest, uploads: list[UploadedFile]) -> float:
    """The grid of time on which answers leave: a coarse one where a model ran, whose own time may depend on rows."""
    settings = services_of(request).settings
    return settings.model_grid if any(upload.format == "onnx" for upload in uploads) else settings.answer_grid


async def _read_form(request: AnyRequest) -> list[UploadedFile]:
    """The two files of a comparison."""
    settings = services_of(request).settings
    kind = request.headers.get("content-type") or ""
    if not kind.startswith("multipart/form-data"):
        raise WrongType("a comparison is sent as multipart/form-data with the files 'first' and 'second'")
    end = services_of(request).begin_upload(caller_of(request).name)
    try:
        uploads = await _read_files(request, settings)
    except BaseException:
        end()
        raise
    uploads[0].end = end
    return uploads


async def _read_files(request: AnyRequest, settings: ServerSettings) -> list[UploadedFile]:
    try:
        with anyio.fail_after(settings.request_seconds):
            form = await request.form()
    except TimeoutError:
        raise Malformed(f"the body did not arrive within {settings.request_seconds:g} s") from None
    uploads: list[UploadedFile] = []
    try:
        for name in ("first", "second"):
            part = form.get(name)
            if not isinstance(part, UploadFile):
                raise Malformed(f"the form has no file {name!r}")
            uploads.append(await keep_upload(part, part.content_type, settings.max_upload, _KINDS))
    except BaseException:
        close_uploads(uploads)
        raise
    return uploads


ROUTES = [score, compare, practise]
