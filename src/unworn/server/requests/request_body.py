"""Bodies of requests, read piece by piece: cut at the limit of their size and of their time, never all in memory."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import anyio
import msgspec
from litestar import Request

from unworn.basics.json_text import read_json
from unworn.server.guards import caller_of, services_of
from unworn.server.requests.answer_times import wait_for_grid
from unworn.server.server_errors import BodyTooLarge, Malformed, StillBusy, WrongType

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
AnyRequest = Request[Any, Any, Any]

FORMATS = {
    "text/csv": "csv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/vnd.apache.parquet": "parquet",
    "application/onnx": "onnx",
}
"""The kinds of files that are taken, by their content type."""


class Gone(Exception):
    """The client went away in the middle of its request: nobody is there to be told anything."""

    status_code = 400


@dataclass
class UploadedFile:
    """A file that arrived whole: where it is, of which kind, and its SHA-256."""

    file: IO[bytes]
    format: str
    size: int
    digest: str
    end: Callable[[], None] | None = None
    """What is to be done once it is gone."""

    def read(self) -> bytes:
        """All of it."""
        self.file.seek(0)
        return self.file.read()

    def close(self) -> None:
        self.file.close()
        end, self.end = self.end, None
        if end is not None:
            end()

    @property
    def path(self) -> Path:
        """Where it lies on disk."""
        return Path(self.file.name)


async def read_upload(request: AnyRequest, formats: tuple[str, ...] = ("csv", "jsonl", "parquet")) -> UploadedFile:
    """A file from a request's body, of one of these formats by its content type."""
    settings = services_of(request).settings
    format = format_of(request.headers.get("content-type"), formats)
    end = services_of(request).begin_upload(caller_of(request).name)
    file = tempfile.NamedTemporaryFile(prefix="unworn-upload-")  # noqa: SIM115 - closed by whoever reads it
    digest, size = hashlib.sha256(), 0
    try:
        async for piece in _pieces(request, settings.max_upload):
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        file.flush()
    except BaseException:
        file.close()
        end()
        raise
    return UploadedFile(file, format, size, digest.hexdigest(), end)


def format_of(content_type: str | None, formats: tuple[str, ...]) -> str:
    """The format that a content type names, if it is one of these."""
    format = FORMATS.get((content_type or "").partition(";")[0].strip().lower())
    if format is None or format not in formats:
        known = ", ".join(name for name, each in FORMATS.items() if each in formats)
        raise WrongType(f"a file is sent with a Content-Type that says what it is: {known}")
    return format


async def keep_upload(part: Any, content_type: str | None, most: int, formats: tuple[str, ...]) -> UploadedFile:
    """A file out of a form, as one that was the whole body."""
    format = format_of(content_type, formats)
    file = tempfile.NamedTemporaryFile(prefix="unworn-upload-")  # noqa: SIM115 - closed by whoever reads it
    digest, size = hashlib.sha256(), 0
    while piece := await part.read(2**18):
        size += len(piece)
        if size > most:
            file.close()
            raise _too_large(size, most)
        digest.update(piece)
        file.write(piece)
    file.flush()
    return UploadedFile(file, format, size, digest.hexdigest())


async def read_object(request: AnyRequest, shape: type[S]) -> tuple[S, str]:
    """A JSON object of a known shape, and the SHA-256 of its text: read in one way only, or refused."""
    body = await read_small(request)
    try:
        return msgspec.convert(read_json(body), shape), hashlib.sha256(body).hexdigest()
    except (ValueError, RecursionError) as why:  # msgspec's own error is one of the first
        raise Malformed(f"the body is not the JSON that is expected here: {why}") from None


async def read_small(request: AnyRequest) -> bytes:
    """A body that is no file."""
    most = services_of(request).settings.max_json
    return b"".join([piece async for piece in _pieces(request, most)])


async def _pieces(request: AnyRequest, most: int) -> Any:
    """A body's pieces, until there are too many of them or one takes too long."""
    settings = services_of(request).settings
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise WrongType("a body is sent as it is, without Content-Encoding: nothing is unpacked here")
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise _too_large(int(announced), most)
    size, ends = 0, time.monotonic() + settings.request_seconds
    while True:
        try:
            async with asyncio.timeout(min(settings.upload_gap_seconds, max(ends - time.monotonic(), 0.0))):
                event: Any = await request.receive()
        except TimeoutError:
            raise Malformed(
                f"the body did not arrive within {settings.request_seconds:g} s, or paused for too long"
            ) from None
        if event["type"] == "http.disconnect":
            raise Gone
        piece: bytes = event.get("body", b"")
        size += len(piece)
        if size > most:
            raise _too_large(size, most)
        if piece:
            yield piece
        if not event.get("more_body", False):
            return


def _too_large(size: int, most: int) -> BodyTooLarge:
    return BodyTooLarge(f"a body of {size:,} bytes or more is over this server's limit of {most:,}", limit=most)


async def run_in_thread(
    request: AnyRequest, work: Callable[[], T], uploads: Sequence[UploadedFile] = (), grid: float = 0.0
) -> T:
    """Do what blocks in a thread, and close the files that it is about.

    With a ``grid`` it takes a multiple of so many seconds, whatever comes of it: how long something took must not tell
    what the rows said. What takes too long goes on without the client, who may come back for its answer.
    """
    services, has_begun = services_of(request), False

    def work_and_close() -> T:
        nonlocal has_begun
        has_begun = True
        began = time.perf_counter()
        try:
            return work()
        finally:
            close_uploads(uploads)
            wait_for_grid(began, grid)

    try:
        with anyio.fail_after(services.settings.request_seconds):
            async with services.share_of(caller_of(request).name):
                return await anyio.to_thread.run_sync(work_and_close, limiter=services.limiter, abandon_on_cancel=True)
    except TimeoutError:
        raise StillBusy(
            f"this takes longer than {services.settings.request_seconds:g} s. It goes on, and what it charges stays "
            "charged: send it again with the same Idempotency-Key to get its answer"
        ) from None
    finally:
        if not has_begun:  # else the thread closes them, when it ends
            close_uploads(uploads)


def close_uploads(uploads: Sequence[UploadedFile]) -> None:
    """Let go of files: they are gone with that."""
    for upload in uploads:
        upload.close()
