"""Rows in memory: the only code that reads them."""

from unworn.sample.fingerprint import Digests, digests, rows_digest
from unworn.sample.sample import Sample

__all__ = ["Digests", "Sample", "digests", "rows_digest"]
