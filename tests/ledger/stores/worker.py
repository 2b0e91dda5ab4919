"""Append a number of entries to a ledger from a process of its own: ``worker.py PATH HOLDOUT COUNT NAME``."""

from __future__ import annotations

import sys

from unworn.errors import Conflict
from unworn.ledger import Entry
from unworn.ledger.stores.sqlite_store import SQLiteStore


def main(path: str, holdout: str, count: int, name: str) -> None:
    store = SQLiteStore(path)
    key = store.key(holdout)
    assert key is not None
    last = store.read(holdout)[-1]
    for number in range(count):
        while True:
            entry = Entry.seal(holdout, last.index + 1, last.hash, {"worker": name, "number": number}, key)
            try:
                store.append([entry], expect=last.hash)
            except Conflict:
                last = store.read(holdout, last.index)[-1]
                continue
            last = entry
            break
        print(entry.index, entry.hash, flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
