"""Work on rows done by Spark's own Python workers: batches of Arrow in, arrays of NumPy out as plain bytes.

Workers import this module, so the package must be installed where they run. What they send back is read as numbers in
the layout of ``.npy``, never as a pickle.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.schema import ColumnKind
from unworn.rows.contract import BATCH, Batch, Work
from unworn.rows.reading.arrow_batches import column_of
from unworn.rows.sql.spark.spark_hashes import halves

SENT = "part int, size bigint, high bigint, low bigint, told binary"
"""What a worker sends of every batch: its partition, how many rows it had, what their hashes add up to, in two halves,
and what was made of them."""
_LARGE = 2**30
"""How many bytes are enough whatever the number of rows: Arrow holds less than twice as many of text in one piece."""


def on_batches(
    kinds: Mapping[str, ColumnKind], first: Sequence[int], work: Work
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a worker does with the batches of a partition, given the place of the first row of each partition.

    The last column that comes is the hash of the others.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        # A partition that was not there before has no place. Its rows are counted, and all is done again.
        place = first[part] if part < len(first) else 0
        for table in _gathered(batches):
            *arrays, hashes = [pa.concat_arrays(column.chunks) for column in table.columns]
            named = zip(kinds.items(), arrays, strict=True)
            batch = Batch({name: column_of(array, kind) for (name, kind), array in named}, table.num_rows)
            sent = (part, batch.size, *halves(hashes.to_numpy(zero_copy_only=False)), _bytes(work(place, batch)))
            yield pa.RecordBatch.from_arrays([pa.array([each]) for each in sent], schema=_schema())
            place += batch.size

    return run


def read_reply(told: bytes) -> NDArray[Any]:
    """What a worker made of a batch."""
    found: NDArray[Any] = np.load(io.BytesIO(told), allow_pickle=False)
    return found


def _bytes(told: NDArray[Any]) -> bytes:
    written = io.BytesIO()
    np.save(written, told, allow_pickle=False)
    return written.getvalue()


def _schema() -> Any:
    import pyarrow as pa

    kinds = {"int": pa.int32(), "bigint": pa.int64(), "binary": pa.binary()}
    return pa.schema([(name, kinds[kind]) for name, kind in (each.split() for each in SENT.split(", "))])


def _gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Spark's batches are small: together they make larger ones, of the size that work is cut for."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows = size = 0
    for batch in batches:
        if rows and size + batch.nbytes > _LARGE:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= BATCH:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(waiting)
