"""What a server is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 2**20


@dataclass(frozen=True)
class ServerSettings:
    """Where the boards and holdouts are, where the server's own tables are, and its limits.

    ``path`` is the folder of a board, of a holdout, or of several of them. ``database`` holds accounts, sessions and
    idempotency keys: by default ``server.db`` in ``path``.
    """

    path: Path
    database: str | None = None
    max_upload: int = 64 * MEBIBYTE
    """Bytes of the largest file of predictions, or model."""
    max_json: int = 1 * MEBIBYTE
    """Bytes of the largest request in JSON."""
    max_columns: int = 1_000
    """Columns of the widest file."""
    max_rows: int = 20_000_000
    """Rows of the longest Parquet file."""
    max_unpacked: int = 512 * MEBIBYTE
    """Bytes that a Parquet file may become when it is unpacked."""
    max_model: int = 64 * MEBIBYTE
    """Bytes of the largest ONNX model."""
    model_seconds: float = 5.0
    """How long a model may run on all rows."""
    model_memory: int = 4096 * MEBIBYTE
    """Bytes of address space that a model may have."""
    answer_grid: float = 0.004
    """Work that is charged takes a multiple of so many seconds: agreement and surprise take the same time."""
    ask_step: float | None = None
    """A plain ask that comes alone may leave earlier: when its work has taken so many seconds, or twice or four times
    as many, and so on; if None, four times what made-up rows take on this machine."""
    model_grid: float = 1.0
    """Answers about models leave at multiples of so many seconds, so that how long a model took tells nothing."""
    request_seconds: float = 120.0
    """How long a request may take from its first byte to its answer."""
    upload_gap_seconds: float = 20.0
    """How long an upload may pause."""
    rate: float = 200.0
    """Requests a second that one account may go on making; 0 sets no limit."""
    burst: int = 1_000
    """Requests that it may make at once before that counts."""
    open_places: int = 1_000
    """Boards and holdouts that are kept open at the same time, where the system allows as many open files."""
    threads: int = 64
    """Requests that are worked on at the same time."""
    session_seconds: float = 14 * 24 * 3600.0
    secure_cookies: bool = False
    """Whether cookies are for HTTPS only: set it behind a proxy that speaks it."""
    public: bool = False
    """Whether standings and rules of boards can be read without an account."""
    address: str = "http://127.0.0.1:8765"
    """How people reach this server: the beginning of its links."""
    log_requests: bool = True

    @property
    def database_url(self) -> str | Path:
        return self.database if self.database is not None else self.path / "server.db"
