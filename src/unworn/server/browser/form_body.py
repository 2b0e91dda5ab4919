"""What a form sends: a few short fields and at most one file, read piece by piece and cut at the limits."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from unworn.server.guards import caller_of, check_form, check_origin, services_of
from unworn.server.requests.request_body import FORMATS, AnyRequest, UploadedFile, _pieces
from unworn.server.server_errors import Malformed, NotAllowed

if TYPE_CHECKING:
    from multipart import MultipartSegment, PushMultipartParser  # type: ignore[import-untyped]

_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_MOST_FIELDS = 20
_MOST_FIELD_BYTES = 2**16


@dataclass
class SentForm:
    """The fields of a form, and its file."""

    fields: Mapping[str, str] = field(default_factory=dict)
    file: UploadedFile | None = None

    def text(self, name: str) -> str:
        """A field without the spaces around it; empty where it was left out."""
        return self.fields.get(name, "").strip()

    def optional(self, name: str) -> str | None:
        return self.text(name) or None

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


async def read_form(request: AnyRequest, *, needs_session: bool = True, takes_file: bool = False) -> SentForm:
    """The form that a page of this session sent; refused if another site made the browser send it.

    Only a form that ``takes_file`` may bring one, and it counts as an upload of the caller's: else whoever is not even
    signed in could fill the disk.
    """
    check_origin(request)
    kind, _, options = (request.headers.get("content-type") or "").partition(";")
    if takes_file and kind.strip().lower() == "multipart/form-data":
        form = await _read_parts(request, options)
    else:
        form = SentForm(await _read_fields(request))
    if needs_session:
        try:
            check_form(request, form.fields.get("_csrf"))
        except NotAllowed:
            form.close()
            raise
    return form


async def _read_fields(request: AnyRequest) -> dict[str, str]:
    most = services_of(request).settings.max_json
    body = b"".join([piece async for piece in _pieces(request, most)])
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise Malformed("the form cannot be read: it has too many fields, or text that is not UTF-8") from None
    return dict(pairs)


async def _read_parts(request: AnyRequest, options: str) -> SentForm:
    from multipart import MultipartError, PushMultipartParser, parse_options_header

    most = services_of(request).settings.max_upload
    boundary = parse_options_header(f"multipart/form-data;{options}")[1].get("boundary", "")
    collected = _Parts(services_of(request).begin_upload(caller_of(request).name))
    try:
        with PushMultipartParser(boundary, max_segment_count=_MOST_FIELDS, strict=True) as parser:
            async for piece in _pieces(request, most + _MOST_FIELDS * _MOST_FIELD_BYTES):
                collected.take(parser, piece)
        return collected.form()
    except (MultipartError, UnicodeDecodeError):
        collected.close()
        raise Malformed("the form cannot be read: it is cut off, or not what a browser sends") from None
    except BaseException:
        collected.close()
        raise


class _Parts:
    """What has arrived so far."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self._fields: dict[str, bytearray] = {}
        self._file: Any = None
        self._digest, self._size, self._format = hashlib.sha256(), 0, ""
        self._part: MultipartSegment | None = None

    def take(self, parser: PushMultipartParser, piece: bytes) -> None:
        for event in parser.parse(piece):
            if event is None:
                self._part = None
            elif isinstance(event, bytes | bytearray):
                self._add(event)
            else:
                self._start(event)

    def _start(self, part: MultipartSegment) -> None:
        self._part = part
        if part.filename is None:
            self._fields[part.name or ""] = bytearray()
        elif self._file is not None:
            raise Malformed("one file at a time, please")
        else:
            self._file = tempfile.NamedTemporaryFile(prefix="unworn-upload-")  # noqa: SIM115 - closed with the form
            ending = PurePosixPath(part.filename.lower()).suffix
            self._format = _ENDINGS.get(ending) or FORMATS.get(part.content_type or "", "")

    def _add(self, piece: bytes | bytearray) -> None:
        if self._part is not None and self._part.filename is not None:
            self._digest.update(piece)
            self._size += len(piece)
            self._file.write(piece)
        elif self._part is not None:
            kept = self._fields[self._part.name or ""]
            kept += piece
            if len(kept) > _MOST_FIELD_BYTES:
                raise Malformed(f"a field of a form has at most {_MOST_FIELD_BYTES:,} bytes")

    def form(self) -> SentForm:
        fields = {name: bytes(value).decode("utf-8") for name, value in self._fields.items()}
        if self._file is None:
            self._end()
            return SentForm(fields)
        self._file.flush()
        digest = self._digest.hexdigest()
        return SentForm(fields, UploadedFile(self._file, self._format, self._size, digest, self._end))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._end()
