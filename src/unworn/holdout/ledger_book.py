"""A holdout's ledger while it is open: how it stands, what it would offer the next ask, and what it has answered."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from dataclasses import replace

from unworn.errors import Exhausted, LedgerError, ReadOnly, Refused, Unaskable
from unworn.holdout.ask_queue import AskQueue
from unworn.holdout.asking.guesses import ledger_guess
from unworn.holdout.asks import Ask
from unworn.ledger import Key, Store
from unworn.mechanisms import Offer
from unworn.mechanisms.contract.capabilities import GuessesItself
from unworn.mechanisms.contract.conversation import likely_width, widest_width
from unworn.queries.query import SUBSETS, Query
from unworn.queries.row_protocol import SealedRows
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.practice_estimate import PracticeEstimate
from unworn.record.transcript import Transcript, durable_gone


class LedgerBook:
    """One holdout's rows, ledger and key, and the lock under which they are looked at and changed."""

    def __init__(self, rows: SealedRows, store: Store, transcript: Transcript, key: Key | None) -> None:
        self.rows = rows
        self.store = store
        self.transcript = transcript
        self.key = key
        self.max_width: float | None = None
        self.refused = 0
        self._durable = transcript.length - 1, transcript.head
        self._queue = AskQueue()
        self._lock = threading.RLock()
        self._owner = self._pid = os.getpid()
        self._keep_checkpoints()

    def order(self) -> threading.RLock:
        """The lock to look under, by ``with``: one of C is let go whatever interrupt comes, our own might not be.

        It is this process's: a fork may have copied it while a thread that is not here held it.
        """
        if self._pid != os.getpid():
            self._lock, self._queue, self._pid = threading.RLock(), AskQueue(), os.getpid()
            if self.store.url is not None:
                self.refresh()  # what was queued at the fork is the parent's to commit
        return self._lock

    def refresh(self) -> None:
        """Take in what other writers entered, and drop what never became durable."""
        with self.order():
            transcript, (index, hashed) = self.transcript, self._durable
            transcript.refresh()
            if transcript.length <= index or transcript.hash_at(index) not in (hashed, None):
                raise durable_gone(index, transcript.terms.name)
            self._durable = transcript.length - 1, transcript.head
            self._keep_checkpoints()

    def _keep_checkpoints(self) -> None:
        """Keep what came due: the ledger is whole without, so whatever is in the way of it is in nobody else's."""
        for checkpoint in self.transcript.take_checkpoints():
            with suppress(LedgerError):
                self.store.keep_checkpoint(checkpoint)

    def released(self) -> Transcript:
        """Under :meth:`order`: the transcript, in which nothing waits to become durable, so that all may be shown."""
        if self._queue.led_by == threading.get_ident():
            raise Unaskable("a question's own code cannot look at the holdout that is running it")
        self.refresh()
        return self.transcript

    def answer(self, index: int, query: Query | None = None, practice: PracticeEstimate | None = None) -> Answer:
        """The answer that an entry records; with what the practice rows said, where they were asked."""
        transcript = self.transcript
        proof = Certificate(transcript.first, transcript.entry(index), transcript.terms, transcript.record(index))
        return Answer.of(proof, query, practice)

    # ---- the next ask

    def guessed(self, ask: Ask) -> Ask:
        """The mechanism's own guess; else the asker's; else the latest answer to the same metric.

        The first and the last depend on where the ledger stands.
        """
        mechanism = self.transcript.mechanism
        if isinstance(mechanism, GuessesItself):
            own = mechanism.own_guess(ask.query, ask.facts, self.transcript.records)
            if own is not None:
                return replace(ask, guess=own)
        if ask.guess is not None or ask.parent is not None or ask.final is not None:
            return ask
        if self.transcript.state.pattern is not None:
            return ask  # the last answer is a poor guess: in a search every better model would be a surprise
        guess = ledger_guess(ask.query, ask.facts, self.transcript)
        return ask if guess is None else replace(ask, guess=guess)

    def offer(self, ask: Ask, position: int = 0) -> Offer:
        """The public numbers an ask would be answered by, or a refusal."""
        try:
            offer = self.transcript.offer(ask.facts, ask.guess, ask.parent, position, ask.final, ask.noise)
            if max(abs(offer.low), abs(offer.high)) > sys.float_info.max / 2 / self.transcript.terms.rows:
                raise Unaskable(f"{ask.query.label} has too wide a range: no float holds a sum of so many values")
            if offer.payload.part is not None and not self.rows.has_parts:
                raise Unaskable("rows kept in an engine have one use, all of them together: read them into memory")
            # A test has no width, and a final value has none that is narrower.
            if self.max_width is not None and offer.null is None and offer.final is None:
                self._check_width(offer, self.max_width)
        except Refused:
            self.refused += 1
            raise
        return offer

    def _check_width(self, offer: Offer, max_width: float) -> None:
        # Any subset may turn out empty, and then nothing is told of it: what counts is the width to be expected.
        width_of = likely_width if offer.kind in SUBSETS else widest_width
        widest = width_of(self.transcript.mechanism, offer)
        if widest <= max_width:
            return
        advice = (
            "Raise max_width, add rows, or bring better guesses: agreement is nearly free."
            if self.transcript.mechanism.currency == "nats"
            else "Raise max_width, or seal more rows or a plan of fewer asks: all answers have its width."
        )
        raise Exhausted(
            f"the next answer would be ± {widest:.4g}, wider than max_width = {max_width:g}.\n"
            f"  {self.summary()}\n  {advice}",
            width=widest,
            max_width=max_width,
        )

    def summary(self) -> str:
        """Where the holdout stands, in a line; under the lock, so that nothing in it is still to become durable."""
        with self.order():
            terms, state = self.transcript.terms, self.transcript.state
        unit = "groups" if terms.schema.grouped else "rows"
        share = "" if terms.uses is None else f" ({terms.uses})"
        share += f" + {_spaced(terms.practice_size)} for practice" if terms.practice else ""
        return (
            f"{terms.name} · {_spaced(terms.size)} {unit}{share} · asked {_spaced(state.asked)} · "
            f"surprises {state.surprises} · {100 * terms.confidence:.6g} %"
        )

    def check_owner(self) -> None:
        """Refuse a forked process whose parent has the ledger in its memory."""
        if self.store.url is None and self._owner != self._pid:
            raise LedgerError(
                "this process was forked from the one whose memory holds the ledger, so its asks would be lost.\n"
                "  Use ledger='file.db', or send the holdout to workers by pickle (n_jobs=... does)."
            )

    def writable(self) -> Key:
        """The key, or a refusal that says what is missing."""
        if self.key is None:
            name, first = self.transcript.terms.name, self.transcript.terms.first
            beside = "" if first is None else f", or that of the first use of its rows, holdout {first[:8]}…,"
            raise ReadOnly(
                f"the key of holdout {name!r}{beside} is not beside its ledger, so it can be read and verified but not "
                "asked.\n  Bring the key back (see docs/ledger.md)."
            )
        return self.key


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")
