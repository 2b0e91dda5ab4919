"""Ledgers that were sealed under Theorem C keep it: they verify, go on, and say so; new ones name Theorem C′."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ledger.older_conversations import CONVERSATIONS, FOLDER, X, Y, one_share, store_of
from tests.mechanisms.changed_offers import number_in
from unworn import Certificate, Holdout, accuracy, col, compare, mae, share
from unworn.errors import LedgerError, Mismatch, Unaskable
from unworn.ledger import Entry, open_store, verify
from unworn.mechanisms import GuessAndCheck, Ladder, Rounding
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism
from unworn.mechanisms.contract.mechanism import RAISED
from unworn.queries import Query
from unworn.record.certificate import replay

EACH = pytest.mark.parametrize("name", CONVERSATIONS)


def entries_of(name: str) -> list[Entry]:
    return [Entry.from_line(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def opened(name: str, **terms: object) -> Holdout:
    """On the same rows, with the same key, and nothing said about the terms but the mechanism as users write it."""
    entries, store = entries_of(name), store_of(name)
    store.create(entries[0], store.new_key())
    store.append(entries[1:], expect=entries[0].hash)
    asked = {"mechanism": CONVERSATIONS[name].mechanism, "asks": CONVERSATIONS[name].asks, **terms}
    return Holdout(X, Y, ledger=store, **asked)  # type: ignore[arg-type]


def test_they_are_what_they_are_taken_for() -> None:
    """No law in entry 0, and every form of entry there was."""
    every = {name: entries_of(name) for name in CONVERSATIONS}
    assert sorted(path.stem for path in FOLDER.glob("*.jsonl")) == sorted(every)
    assert all("law" not in entries[0].body["mechanism"] for entries in every.values())
    told = [entry.body for entries in every.values() for entry in entries[1:]]
    assert {body["published"][3] for body in told} == {
        *("guess", "surprise", "grid", "test"),
        *("above", "below", "ladder", "not better", "better", "heuristically better"),
    }
    own = [entry.body for entry in every["guess_and_check"][1:]]
    offsets = [body["symbol"] for body in own if isinstance(body["symbol"], int) and body["offer"][8] is not None]
    assert min(offsets) < 0 < max(offsets)
    assert any(isinstance(body["symbol"], list) for body in own)
    assert any(body["parent"] for body in own)
    assert any(body["guess"] and body["guess"][3] == "ledger" for body in own)
    assert any(body["batch"][1] > 1 for body in own)
    assert sum(body["symbol"] == RAISED for body in told) >= 10
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000


@EACH
def test_they_verify_and_their_cards_name_theorem_c(name: str) -> None:
    entries = entries_of(name)
    verify(entries)
    transcript = replay(entries)
    assert isinstance(transcript.mechanism, CodedMechanism)
    assert transcript.mechanism.law == "C"
    assert transcript.state.pattern is None
    for entry in entries[1:]:
        card = Certificate.of(entries[0], entry)
        card.verify()
        card.verify(entries)
        assert card.theorem.startswith("code length (Theorem C)")


@EACH
def test_they_go_on_under_theorem_c(name: str) -> None:
    holdout = opened(name)
    before = len(entries_of(name))
    answer = CONVERSATIONS[name].more(holdout)
    assert answer.index == before  # one more entry
    offer = answer.certificate.record.offer
    assert (number_in(offer, "place"), offer.final) == (None, None)
    assert answer.certificate.theorem.startswith("code length (Theorem C)")
    assert CONVERSATIONS[name].more(holdout) == answer
    assert holdout.meter.spent > 0
    holdout.verify()
    replay(holdout._desk.transcript.entries)


@EACH
def test_they_have_no_final_values_and_say_what_to_do(name: str) -> None:
    holdout = opened(name)
    question: Query = share(col("a") > 0.33)
    if name.startswith("paired"):
        question = compare(accuracy(Y), accuracy(1 - Y))
    elif name == "ladder_of_losses":
        question = mae(Y + 1.5, range=(0, 5))
    for asked in (holdout.final, holdout.quote_final):
        with pytest.raises(Unaskable, match=r"sealed under Theorem C, [\s\S]*Sharpen an answer, or seal fresh rows"):
            asked(question)  # type: ignore[operator]
    assert len(holdout._desk.transcript.entries) == len(entries_of(name))
    CONVERSATIONS[name].more(holdout)


def test_what_was_answered_is_answered_again_free() -> None:
    holdout = opened("guess_and_check")
    asked = holdout.meter.asked
    told = holdout.ask(share(col("a") > 0.8))
    assert (told.index, holdout.meter.asked) == (2, asked)
    assert holdout.sharpen(holdout.ask(share(col("a") > 0.5))).index == 5
    assert holdout.meter.asked == asked


def test_the_last_answer_is_still_the_guess_there() -> None:
    holdout = opened("guess_and_check")
    guess = holdout.score(1 - Y, name="third").certificate.record.guess
    assert guess is not None
    assert guess.origin == "ledger"


def test_sharpening_there_has_eight_pieces_and_never_gains_nothing() -> None:
    holdout = opened("guess_and_check_planned", mechanism=GuessAndCheck())
    vague = holdout.ask(share(col("b") > 0.44), guess=0.5, guess_se=0.2)
    sharp = holdout.sharpen(vague)
    assert sharp.certificate.record.offer.payload.cells == 8
    assert sharp.width < 0.9 * vague.width
    holdout.verify()


@pytest.mark.parametrize("mechanism", [GuessAndCheck(z=4.0), GuessAndCheck(pieces=8), GuessAndCheck(law="C")])
def test_they_open_by_what_they_were_sealed_with(mechanism: GuessAndCheck) -> None:
    assert opened("guess_and_check", mechanism=mechanism).mechanism == GuessAndCheck(4.0, None, 8, "cells", law="C")


@pytest.mark.parametrize(
    "mechanism", [GuessAndCheck(z=3.5), GuessAndCheck(pieces=16), GuessAndCheck(law="C'"), Rounding(12)]
)
def test_and_by_nothing_else(mechanism: object) -> None:
    with pytest.raises((Mismatch, LedgerError)):
        opened("guess_and_check", mechanism=mechanism)


def test_new_ledgers_name_the_new_theorem(tmp_path: Path) -> None:
    for mechanism in (GuessAndCheck(), Rounding(12), Ladder(0.05)):
        path, rows = tmp_path / f"{type(mechanism).__name__}.db", np.random.default_rng(len(str(mechanism))).random(300)
        made = Holdout({"b": rows}, mechanism=mechanism, ledger=path)
        card = one_share(made).certificate
        made.close()
        again = Holdout({"b": rows}, mechanism=mechanism, ledger=path)
        assert again.mechanism.law == "C'"  # type: ignore[attr-defined]
        assert card.theorem.startswith("code length (Theorem C')")
        assert card.first.body["mechanism"]["law"] == "C'"
        again.verify(card)
        again.close()


def test_one_of_each_law_in_one_file(tmp_path: Path) -> None:
    """An older ledger file, opened by today's package, holds both."""
    store = open_store(tmp_path / "both.db")
    entries, key = entries_of("guess_and_check"), store_of("guess_and_check").new_key()
    store.create(entries[0], key)
    store.append(entries[1:], expect=entries[0].hash)
    older = Holdout(X, Y, ledger=tmp_path / "both.db")
    newer = Holdout({"a": np.random.default_rng(3).random(700)}, name="newer", ledger=tmp_path / "both.db")
    cards = [holdout.ask(share(col("a") > 0.77), guess=0.23).certificate for holdout in (older, newer)]
    assert [card.theorem for card in cards] == ["code length (Theorem C)", "code length (Theorem C')"]
    for holdout in (older, newer):
        holdout.verify()
        holdout.close()
