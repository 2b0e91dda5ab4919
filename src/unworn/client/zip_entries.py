"""Entries of a zip file that somebody else made, each read up to a limit and never unpacked to disk.

Logs of Inspect are compressed with Zstandard, which zip files of older Pythons do not know: such an entry is read here,
by whichever decoder is installed.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unworn.errors import MissingExtra

ZSTANDARD = 93
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD)
_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 0x1
_CHUNK = 2**20


class ZipFault(ValueError):
    """The file is no zip file as such programs write it, or an entry is larger than it may be."""


class ZipEntries:
    """A zip file, opened for reading some of its entries."""

    def __init__(self, path: Path, *, most_entries: int, most_bytes: int, most_in_all: int) -> None:
        self._path, self._most, self._left = path, most_bytes, most_in_all
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as why:
            raise ZipFault(f"it is not a zip file ({type(why).__name__})") from None
        self._entries = self._zip.infolist()
        if len(self._entries) > most_entries:
            self._zip.close()
            raise ZipFault(f"it has {len(self._entries):,} entries, and {most_entries:,} are the most that are read")

    def names(self) -> Iterator[str]:
        return (entry.filename for entry in self._entries)

    def read(self, name: str) -> bytes:
        """One entry, whole and as long as it says; whatever it unpacks to, no more than the limit is held."""
        entry = self._zip.getinfo(name)
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _KNOWN:
            raise ZipFault(f"the entry {name[:80]!r} is encrypted, or compressed in a way that is not read here")
        most = min(self._most, self._left)
        if entry.file_size > most:
            raise ZipFault(f"the entry {name[:80]!r} has {entry.file_size:,} bytes, and {most:,} are the most")
        try:
            if entry.compress_type == ZSTANDARD:
                data = _unpack(self._raw(entry), entry.file_size + 1)
            else:
                with self._zip.open(entry) as file:
                    data = file.read(entry.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, struct.error):
            raise ZipFault(f"the entry {name[:80]!r} cannot be unpacked") from None
        if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
            raise ZipFault(f"the entry {name[:80]!r} is not what the zip file says of it")
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._zip.close()

    def _raw(self, entry: zipfile.ZipInfo) -> bytes:
        """An entry as it is stored, behind its own header."""
        with self._path.open("rb") as file:
            file.seek(entry.header_offset)
            mark, name, extra = _HEADER.unpack(file.read(_HEADER.size))
            if mark != b"PK\x03\x04":
                raise zipfile.BadZipFile
            file.seek(name + extra, 1)
            return file.read(min(entry.compress_size, self._most))


def _unpack(data: bytes, most: int) -> bytes:
    """Zstandard, up to ``most`` bytes."""
    if find_spec("compression") is not None:  # Python 3.14
        decoder: Any = import_module("compression.zstd").ZstdDecompressor()
        try:
            return bytes(decoder.decompress(data, max_length=most))
        except Exception:
            raise zipfile.BadZipFile from None
    if find_spec("pyarrow") is not None:
        arrow = import_module("pyarrow")
        with arrow.CompressedInputStream(arrow.BufferReader(data), "zstd") as stream:
            pieces, size = [], 0
            while size < most and (piece := stream.read(min(_CHUNK, most - size))):
                pieces.append(piece)
                size += len(piece)
            return b"".join(pieces)
    raise MissingExtra.of("sql", "reading a log that is compressed with Zstandard")
