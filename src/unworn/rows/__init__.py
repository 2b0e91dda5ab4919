"""Rows in memory: the only code that reads them."""

from unworn.rows.fingerprints.fingerprint import Digests, digests, rows_digest
from unworn.rows.memory.sample import Sample

__all__ = ["Digests", "Sample", "digests", "rows_digest"]
