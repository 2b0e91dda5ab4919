from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import Tampered
from unworn.ledger import Entry
from unworn.record.transcript import Transcript


def test_rows_drawn_ahead_serve_one_answer_until_it_is_taken_back() -> None:
    """Those of the latest answers, which no checkpoint keeps yet."""
    holdout = Holdout({"x": np.arange(400) % 7}, ledger=None, practice=0)
    holdout.ask(share(col("x") > 3), 0.4)
    desk = holdout._desk
    record, transcript = desk.transcript.record(1), Transcript(desk.transcript.first)

    def extend(number: int | None) -> None:
        entry = Entry.seal(holdout.id, transcript.length, transcript.head, {"n": number}, desk.writable())
        transcript.extend(entry, replace(record, draw=None if number is None else ("pool", number)))

    for number in (0, None, 1):
        extend(number)
    assert [transcript.drew(("pool", number)) for number in range(3)] == [True, True, False]
    assert not transcript.drew(("other pool", 0))
    for number in (0, 1):
        with pytest.raises(Tampered, match="entry 4 was made from rows drawn for another answer"):
            extend(number)
    transcript.truncate(3)
    assert [transcript.drew(("pool", number)) for number in range(3)] == [True, False, False]
    extend(1)
    assert transcript.drew(("pool", 1))
