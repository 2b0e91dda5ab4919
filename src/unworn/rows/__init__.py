"""The only code that reads rows: in memory, in files that are mapped, in DuckDB and in Spark."""

from unworn.rows.fingerprints.fingerprint import Digests, digests, rows_digest
from unworn.rows.memory.sample import Sample

__all__ = ["Digests", "Sample", "digests", "rows_digest"]
