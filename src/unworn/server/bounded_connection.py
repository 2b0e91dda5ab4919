"""A connection with an end to everything that comes before a request is somebody's.

The limits of uploads begin where a handler reads. Before that there is a head (the line of the request and its
headers), sent by whoever can reach the port: uvicorn waits for it without end, and keeps all of it. Here a head has a
size and a time, trailers have a size, a reply that nobody reads has a time, and connections are counted. And a body
ends with its answer: uvicorn would receive the rest of ten gigabytes that were refused.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD: Final = 2**16
"""Bytes of a head, and of the trailers behind a body."""
HEAD_SECONDS: Final = 20.0
"""Seconds that a head may take, from the first byte or from the opening of the connection."""
MOST_UNWANTED: Final = 2**20
"""Bytes of a body that may come after its answer: they were on their way."""
UNREAD_SECONDS: Final = 120.0
"""Seconds that a reply may wait for its reader."""
MOST_CONNECTIONS: Final = 8_192
"""Connections of one process at the same time."""


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's protocol, within these limits. Whoever goes beyond them is cut off: there is nobody to be told."""

    most_head, head_seconds, unread_seconds = MOST_HEAD, HEAD_SECONDS, UNREAD_SECONDS
    most_connections, most_unwanted = MOST_CONNECTIONS, MOST_UNWANTED

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._head_size = self._trailers = self._unwanted = 0
        self._is_in_body = self._is_head_over = False

    # ---- heads

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.abort()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        is_head, self._is_head_over = not self._is_in_body, False
        if is_head and self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        super().data_received(data)
        if is_head and not self._is_head_over:
            self._head_size += len(data)
            if self._head_size > self.most_head:
                self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._stop_head_timer()
        self._is_in_body, self._is_head_over = True, True
        self._head_size = self._trailers = self._unwanted = 0
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_in_body:
            super().on_header(name, value)
            return
        self._trailers += len(name) + len(value)  # which nobody here reads
        if self._trailers > self.most_head:
            self.transport.abort()

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if self.cycle.response_complete:
            self._unwanted += len(body)
            if self._unwanted > self.most_unwanted:
                self.transport.close()  # what was answered is sent first

    def on_message_complete(self) -> None:
        self._is_in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_in_body:  # it was answered before its body came to an end
            self._await_head()

    def _await_head(self) -> None:
        self._stop_head_timer()
        self._head_timer = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    # ---- replies

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_read_timer()

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_read_timer()
        super().connection_lost(exc)
