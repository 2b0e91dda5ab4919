"""Unpacks a Parquet file once, with little memory and time, to see what becomes of it. Run by its path, on its own.

It is given a file, and the most columns, rows and bytes. It ends with 0 if the file is within these, with 3 if not, and
with 4 if it is no Parquet; what the memory limit ends, ends otherwise, and means 3.
"""

import resource
import sys

SECONDS = 30
SPARE = 3 * 2**30
"""Bytes beside what is unpacked: libraries, and address space that is never used."""


def main(path: str, columns: int, rows: int, most: int) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (SPARE + 2 * most, SPARE + 2 * most))
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        return 0  # whoever reads it without pyarrow says what is missing
    try:
        file = parquet.ParquetFile(path, memory_map=True, pre_buffer=False, thrift_string_size_limit=2**24)
        about = file.metadata
        if about.num_columns > columns or about.num_rows > rows or about.num_row_groups > 10_000:
            return 3
        if sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups)) > most:
            return 3
        size = 0
        for batch in file.iter_batches(batch_size=1024, use_threads=False):
            size += batch.nbytes
            if size > most:
                return 3
    except MemoryError:
        return 3
    except Exception as error:
        return 3 if "alloc" in str(error).lower() or "memory" in str(error).lower() else 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:5])))
