"""Bodies are read piece by piece, and only as far and as long as they may be."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from anyio import CapacityLimiter

from unworn.server.requests.request_body import Gone, read_upload, run_in_thread
from unworn.server.server_errors import BodyTooLarge, Malformed, StillBusy, WrongType
from unworn.server.services import Services
from unworn.server.settings import ServerSettings

CSV = {"content-type": "text/csv"}


class FakeRequest:
    """A request whose body comes as it is told to: bytes, pauses, or an end in the middle."""

    def __init__(self, settings: ServerSettings, headers: dict[str, str], pieces: list[Any]) -> None:
        self.headers, self._pieces = headers, iter(pieces)
        fields = {"settings": settings, "limiter": CapacityLimiter(4), "shares": {}, "uploads": Counter[str]()}
        services = SimpleNamespace(**fields, uploads_lock=threading.Lock())
        services.share_of = lambda account: Services.share_of(services, account)  # type: ignore[arg-type]
        services.begin_upload = lambda account: Services.begin_upload(services, account)  # type: ignore[arg-type]
        self.app = SimpleNamespace(state=SimpleNamespace(services=services))
        self.scope: dict[str, Any] = {"state": {}}

    async def receive(self) -> dict[str, Any]:
        piece = next(self._pieces, None)
        if piece is None:
            return {"type": "http.disconnect"}
        if isinstance(piece, float):
            await anyio.sleep(piece)
            return await self.receive()
        return {"type": "http.request", "body": piece, "more_body": piece != b"."}


@pytest.fixture
def settings(tmp_path: Path) -> ServerSettings:
    return ServerSettings(tmp_path, max_upload=1_000, request_seconds=2.0, upload_gap_seconds=0.3)


def read(settings: ServerSettings, pieces: list[Any], headers: dict[str, str] = CSV) -> Any:
    return anyio.run(read_upload, FakeRequest(settings, headers, pieces))


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files arrive, apart from those of other servers on this machine."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_file_arrives_whole(settings: ServerSettings) -> None:
    upload = read(settings, [b"id,", b"", b"prediction\n", b"."])
    assert (upload.read(), upload.size, upload.format) == (b"id,prediction\n.", 15, "csv")
    path = upload.path
    assert path.stat().st_mode & 0o077 == 0
    upload.close()
    assert not path.exists()


@pytest.mark.parametrize(
    ("pieces", "headers", "error"),
    [
        ([b"a" * 600, b"a" * 600, b"."], CSV, BodyTooLarge),
        ([b"."], {**CSV, "content-length": "1001"}, BodyTooLarge),
        ([b"a", 0.6, b"."], CSV, Malformed),
        ([b"a"], CSV, Gone),
        ([b"."], {**CSV, "content-encoding": "gzip"}, WrongType),
        ([b"."], {"content-type": "application/pickle"}, WrongType),
        ([b"."], {}, WrongType),
    ],
)
def test_what_does_not_arrive_leaves_no_file(
    settings: ServerSettings, uploads: Path, pieces: list[Any], headers: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(settings, pieces, headers)
    assert list(uploads.iterdir()) == []


def drip() -> Iterator[Any]:
    while True:
        yield 0.1
        yield b"a"


def test_a_drip_ends_with_the_time_of_a_request(settings: ServerSettings) -> None:
    began = time.perf_counter()
    with pytest.raises(Malformed):
        read(settings, drip())  # type: ignore[arg-type]
    assert 1.5 < time.perf_counter() - began < 20


def test_what_takes_too_long_goes_on_and_closes_its_files(settings: ServerSettings) -> None:
    done, gate = threading.Event(), threading.Event()

    async def take_long() -> Any:
        request: Any = FakeRequest(settings, CSV, [b"data", b"."])
        upload = await read_upload(request)

        def work() -> None:
            gate.wait(30)
            assert upload.read() == b"data."
            done.set()

        try:
            await run_in_thread(request, work, [upload])
        except StillBusy:
            assert upload.path.exists()
            gate.set()
            return upload.path
        raise AssertionError("it was waited for")

    path = anyio.run(take_long)
    assert done.wait(30)
    for _ in range(100):
        if not path.exists():
            return
        time.sleep(0.05)
    raise AssertionError("its file is still there")


def test_work_on_a_grid_takes_a_multiple_of_it(settings: ServerSettings) -> None:
    async def measure(seconds: float) -> float:
        request: Any = FakeRequest(settings, CSV, [])
        began = time.perf_counter()
        await run_in_thread(request, lambda: time.sleep(seconds), grid=1.0)
        return time.perf_counter() - began

    short, longer = anyio.run(measure, 0.01), anyio.run(measure, 0.6)
    assert abs(short - longer) < 0.3
    assert short >= 1.0
