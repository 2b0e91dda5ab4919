from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from unworn.basics.json_text import canonical
from unworn.errors import Tampered
from unworn.ledger import Key
from unworn.ledger.checkpoint import Checkpoint

TOLD = {"head": "0" * 64, "follows": 0}


def test_it_tells_what_was_sealed_with_its_place_and_its_questions(key: Key, holdout: str) -> None:
    kept = Checkpoint.seal(holdout, 7, TOLD, b"questions", key)
    place = {"checkpoint": 7, "holdout": holdout, "questions": hashlib.sha256(b"questions").hexdigest()}
    assert kept.read(key.public) == {**TOLD, **place}


@pytest.mark.parametrize("moved", [{"index": 8}, {"holdout": "f" * 32}, {"questions": b"others"}, {"questions": b""}])
def test_one_that_was_made_for_another_place_does_not_count(key: Key, holdout: str, moved: dict[str, object]) -> None:
    kept = Checkpoint.seal(holdout, 7, TOLD, b"questions", key)
    with pytest.raises(Tampered, match="made for another place"):
        replace(kept, **moved).read(key.public)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["{}", "[1]", '{"checkpoint":7}', '{"checkpoint": 7}', "7", "{"])
def test_a_signed_text_that_tells_no_place_cannot_be_read(key: Key, holdout: str, text: str) -> None:
    signed = Checkpoint(holdout, 7, text, b"", key.sign(hashlib.sha256(text.encode()).hexdigest()))
    with pytest.raises(Tampered, match="checkpoint 7 cannot be read"):
        signed.read(key.public)


def test_one_changed_letter_is_not_signed(key: Key, holdout: str) -> None:
    kept = Checkpoint.seal(holdout, 7, TOLD, b"", key)
    other = canonical({**kept.read(key.public), "follows": 1})
    for changed in (replace(kept, text=other), replace(kept, signature="")):
        with pytest.raises(Tampered, match="was not signed by the holdout's key"):
            changed.read(key.public)
