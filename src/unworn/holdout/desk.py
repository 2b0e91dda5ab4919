"""The desk: where a question becomes an entry, and an entry an answer.

Asked before? The recorded answer, free. Otherwise public numbers make an offer; if it breaks the plan or the width, it
is refused before any row is read. Then the rows are read, the symbol is entered, and only when the entry is durable is
the answer, a function of that entry, handed out.

From the moment rows are touched, whatever happens ends in an entry: what fails, in the asker's code or in ours, is
entered as a symbol of its own, and so is an interrupt. Nothing else about it leaves.

Questions that come together go together: whoever is first enters those of all who wait, in one transaction.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from unworn.errors import Conflict, Exhausted, Failed, LedgerError, ReadOnly, Refused, Unaskable, UnwornError
from unworn.holdout.asking.guesses import ledger_guess
from unworn.holdout.asking.labels import check_names
from unworn.holdout.draft_entry import DraftEntry, Written
from unworn.holdout.jobs import Ask, Job, interrupted_anew
from unworn.holdout.memo import Memo
from unworn.ledger import Entry, Key, Store
from unworn.ledger.store import RepeatableStore
from unworn.ledger.waiting_line import Line
from unworn.mechanisms import Offer
from unworn.mechanisms.contract.mechanism import STOPPED, State, has_failed
from unworn.noise import Stream
from unworn.queries.query import Query
from unworn.queries.row_protocol import Rows
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.transcript import Transcript, durable_gone

if TYPE_CHECKING:
    from unworn.rows import Sample
    from unworn.rows.memory.draw_pool import Pool

_TRIES = 10_000
"""How often another process may overtake one ask; each time somebody else got an answer."""
_TOGETHER = 64
"""Callers served at once from which on late ones wait for the next turn, or a stream of them would hold all up."""
_LATE = 0.25
"""Seconds for which late ones are taken up: where rows are far away, one question takes longer than many commits."""


_NEITHER = (
    "something failed while this question was answered, and it could not be entered; what failed is not told, because "
    "it may be a fact about rows.\n  Nothing was answered. Open the holdout again, and report it if it fails again."
)

_NO_DRAWS = (
    "rows could not be drawn ahead, and what failed is not told, because it may be a fact about rows.\n"
    "  Ask without gathering: each ask then draws its rows itself."
)


class Desk:
    """One holdout's rows, ledger and key, and the lock that puts questions in order."""

    def __init__(self, rows: Rows, store: Store, transcript: Transcript, key: Key | None) -> None:
        self.rows = rows
        self.store = store
        self.transcript = transcript
        self.key = key
        self._noise = b"" if key is None else key.derive("unworn/noise")
        self._clock: Callable[[], float] = store.clock if isinstance(store, RepeatableStore) else time.time
        self.max_width: float | None = None
        self.refused = 0
        self.pool: Pool | None = None
        self._cannot_gather = False
        self._jobs: deque[Job] = deque()
        self._line = Line(self._serve)
        self._durable = transcript.length - 1, transcript.head
        self._keep_checkpoints()
        self._lock = threading.RLock()
        self._owner = self._pid = os.getpid()

    def enter(self, asks: Sequence[Ask]) -> list[Answer]:
        """Answer a batch, durably, all or none.

        An interrupt goes on at once if no row was touched for it; else when what it interrupted is in the ledger.
        """
        self._mine()
        if self._line.led_by == threading.get_ident():
            raise Unaskable("a question's own code cannot ask the holdout that is running it")
        job = Job(asks, self.rows)
        interrupt: BaseException | None = None
        error: Exception | None = None
        for _ in range(_TRIES):
            if job.settled:
                break
            try:
                self._jobs.append(job)  # again if whoever had just taken it up was interrupted
                self._line.wait(job)
            except Exception as failure:
                error = failure
                break
            except BaseException as signal:
                interrupt = signal.with_traceback(None)
                if not job.memo.touched:
                    break
        if not job.settled:
            self._withdraw(job)  # nobody would hear the answer
        interrupt, error = interrupt or job.memo.interrupt, error or job.error
        if interrupt is not None:
            raise interrupted_anew(interrupt, job)
        if error is not None and job.memo.touched and not isinstance(error, UnwornError):
            raise LedgerError(_NEITHER)  # what it is may be a fact about rows
        if error is not None:
            raise error
        return job.answers

    def _withdraw(self, job: Job) -> None:
        with suppress(ValueError):
            while True:
                self._jobs.remove(job)

    def _serve(self) -> None:
        """Settle everybody's questions: read what they need, enter all of it at once, then let the answers go."""
        with self._lock:  # this process's: whoever comes here has just seen to that
            jobs: list[Job] = []
            try:
                for _ in range(_TRIES):
                    if self._enter_all(jobs):
                        return
                overtaken = f"other writers overtook this ask {_TRIES} times; nothing was charged, ask again later"
                for job in jobs:
                    job.settle(LedgerError(overtaken))
            finally:  # interrupted: whoever is not served yet leads next
                self._jobs.extendleft(reversed([job for job in jobs if not job.settled]))

    def _enter_all(self, jobs: list[Job]) -> bool:
        """One try; false when another process was first. Nobody hears anything before all of it is durable.

        Whoever comes with a short question while others are being served is served with them, for one commit more
        costs all of them more than one question more.
        """
        if self.transcript.torn or self.transcript.head != self._durable[1]:
            self.refresh()  # an earlier turn failed to: a repeat would be told what never became durable
        head = self.transcript.head
        entries: list[Entry] = []
        errors: dict[int, Exception] = {}
        try:
            for place, job in enumerate(self._taken_up(jobs)):
                known = self.transcript.length
                if self._is_entered(job):  # before its leader was interrupted
                    continue
                try:
                    job.places, job.written = self._hand_in(job.asks, job.memo)
                    entries += job.written
                except Exception as error:
                    self.transcript.truncate(known)  # what it made is not handed in, so nobody may build on it
                    errors[place] = error
            if entries:
                self.store.append(entries, expect=head)
                self._durable = entries[-1].index, entries[-1].hash
            for place, job in enumerate(jobs):
                if place not in errors and not job.memo.interrupted:
                    job.answers = [
                        self.answer(index, ask.query) for index, ask in zip(job.places, job.asks, strict=True)
                    ]
        except Conflict:
            self.refresh()
            return False
        except LedgerError as error:
            self.refresh()
            errors = dict.fromkeys(range(len(jobs)), error)
        except BaseException:
            self.refresh()  # forgets what was made and is not durable
            raise
        for place, job in enumerate(jobs):
            job.settle(errors.get(place))
        self.transcript.settle()
        self._keep_checkpoints()
        return True

    def _keep_checkpoints(self) -> None:
        """Keep what came due: the ledger is whole without, so whatever is in the way of it is in nobody else's."""
        for checkpoint in self.transcript.take_checkpoints():
            with suppress(LedgerError):
                self.store.keep_checkpoint(checkpoint)

    def _taken_up(self, jobs: list[Job]) -> Iterator[Job]:
        """Those of an earlier try, then whoever waits and, one by one, whoever comes meanwhile and is soon done."""
        yield from jobs
        waiting = self._jobs
        try:
            for _ in range(len(waiting)):
                job = waiting.popleft()
                if not (job.settled or job in jobs):  # put back, and come again, after an interrupt
                    jobs.append(job)
                    yield job
            if not waiting:
                return
            until = time.monotonic() + _LATE
            while len(jobs) < _TOGETHER and time.monotonic() < until and waiting[0].short:
                job = waiting.popleft()
                if not (job.settled or job in jobs):
                    jobs.append(job)
                    yield job
        except IndexError:  # nobody is left, or the last one has just given up
            return

    def _is_entered(self, job: Job) -> bool:
        """Whether what was written for a job became durable, though its leader was interrupted."""
        last = job.written[-1] if job.written else None
        if last is None or last.index >= self.transcript.length:
            return False
        return (self.transcript.hash_at(last.index) or self.transcript.entry(last.index).hash) == last.hash

    def offer(self, ask: Ask, position: int = 0) -> Offer:
        """The public numbers an ask would be answered by, or a refusal."""
        try:
            offer = self.transcript.offer(ask.facts, ask.guess, ask.parent, position, ask.final, ask.noise)
            if max(abs(offer.low), abs(offer.high)) > sys.float_info.max / 2 / self.transcript.terms.rows:
                raise Unaskable(f"{ask.query.label} has too wide a range: no float holds a sum of so many values")
            if offer.part is not None and not getattr(self.rows, "has_parts", True):
                raise Unaskable("rows kept in an engine have one use, all of them together: read them into memory")
            # A test has no width, and a final value has none that is narrower.
            limited = self.max_width is not None and offer.null is None and offer.final is None
            widest = self.transcript.mechanism.widest(offer) if limited else 0.0
            if self.max_width is not None and widest > self.max_width:
                raise Exhausted(
                    f"the next answer would be ± {widest:.4g}, wider than max_width = {self.max_width:g}.\n"
                    f"  {self.summary()}\n"
                    + (
                        "  Raise max_width, add rows, or bring better guesses: agreement is nearly free."
                        if self.transcript.mechanism.currency == "nats"
                        else "  Raise max_width, or seal more rows or a plan of fewer asks: all answers have its width."
                    ),
                    width=widest,
                    max_width=self.max_width,
                )
        except Refused:
            self.refused += 1
            raise
        return offer

    def guessed(self, ask: Ask) -> Ask:
        """The mechanism's own guess; else the asker's; else the latest answer to the same metric.

        The first and the last depend on where the ledger stands.
        """
        own = self.transcript.mechanism.own_guess(ask.query, ask.facts, self.transcript.records)
        if own is not None:
            return replace(ask, guess=own)
        if ask.guess is not None or ask.parent is not None or ask.final is not None:
            return ask
        if self.transcript.state.pattern is not None:
            return ask  # the last answer is a poor guess: in a search every better model would be a surprise
        guess = ledger_guess(ask.query, ask.facts, self.transcript)
        return ask if guess is None else replace(ask, guess=guess)

    def answer(self, index: int, query: Query | None = None) -> Answer:
        """The answer that an entry records."""
        transcript = self.transcript
        proof = Certificate(transcript.first, transcript.entry(index), transcript.terms, transcript.record(index))
        return Answer.of(proof, query)

    def refresh(self) -> None:
        """Take in what other writers entered, and drop what never became durable."""
        with self._mine():
            transcript, (index, hashed) = self.transcript, self._durable
            transcript.refresh()
            if transcript.length <= index or transcript.hash_at(index) not in (hashed, None):
                raise durable_gone(index, transcript.terms.name)
            self._durable = transcript.length - 1, transcript.head
            self._keep_checkpoints()

    def order(self) -> threading.RLock:
        """The lock to look under, by ``with``: one of C is let go whatever interrupt comes, our own might not be."""
        return self._mine()

    def released(self) -> Transcript:
        """Under :meth:`order`: the transcript, in which nothing waits to become durable, so that all may be shown."""
        if self._line.led_by == threading.get_ident():
            raise Unaskable("a question's own code cannot look at the holdout that is running it")
        self.refresh()
        return self.transcript

    def summary(self) -> str:
        """Where the holdout stands, in a line; under the lock, so that nothing in it is still to become durable."""
        with self._mine():
            terms, state = self.transcript.terms, self.transcript.state
        unit = "groups" if terms.schema.grouped else "rows"
        share = "" if terms.uses is None else f" ({terms.uses})"
        share += f" + {_spaced(terms.practice_size)} for practice" if terms.practice else ""
        return (
            f"{terms.name} · {_spaced(terms.size)} {unit}{share} · asked {_spaced(state.asked)} · "
            f"surprises {state.surprises} · {100 * terms.confidence:.6g} %"
        )

    def _mine(self) -> threading.RLock:
        """The lock of this process: a fork may have copied it while a thread that is not here held it."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.RLock(), os.getpid()
            self._jobs, self._line = deque(), Line(self._serve)
            if self.store.url is not None:
                self.refresh()  # what was queued at the fork is the parent's to commit
        return self._lock

    def _hand_in(self, asks: Sequence[Ask], memo: Memo) -> tuple[list[int], list[Entry]]:
        """Under the lock: find repeats, make offers, read rows, make the entries. Nothing is durable yet.

        Returns the index of each ask's entry, and the entries that are new: fewer, where an interrupt ended a batch.
        """
        self._check_owner()
        transcript, mechanism = self.transcript, self.transcript.mechanism
        check_names(asks, transcript)
        places: dict[int, int] = {}
        fresh: dict[tuple[str, int | None], int] = {}
        waiting: list[tuple[int, Ask]] = []
        for place, ask in enumerate(asks):
            name = ask.name
            told = None if ask.again else transcript.answered(*name)
            if told is not None:
                places[place] = told
            elif name in fresh and not ask.again:
                places[place] = fresh[name]
            else:
                fresh[name] = places[place] = transcript.length + len(waiting)
                waiting.append((place, self.guessed(ask)))
        if not waiting:
            return list(places.values()), []
        waiting = [(place, ask.placed(position, len(waiting))) for position, (place, ask) in enumerate(waiting)]
        offers = [(place, ask, self.offer(ask, position)) for position, (place, ask) in enumerate(waiting)]
        key = self.writable()
        state, head, now = transcript.state, transcript.head, round(self._clock(), 3)
        noises = [Stream(self._noise, "ask", offer.index, head, ask.query.fingerprint) for _, ask, offer in offers]
        if len(offers) > 1 and mechanism.reads != "draws" and not memo.failures:
            questions = [(ask.query, offer) for _, ask, offer in offers]
            memo.attempt(offers[0][0], partial(memo.prefetch, questions, noises, mechanism.reads == "rounded"))
            if not memo.interrupted:
                memo.failures.clear()  # each is read by itself, and those that fail are told
        written: list[Written] = []
        for position, ((place, ask, offer), noise) in enumerate(zip(offers, noises, strict=True)):
            batch, index = (position, len(offers)), transcript.length + position
            if position:
                offer = mechanism.reprice(offer, state)
            draft = DraftEntry(transcript.first.holdout, index, head, ask, offer, batch, now, key)
            found = None
            # What was offered stays; but a secret threshold may have ended with the answer before.
            if not (state.ended or place in memo.failures):
                found = memo.attempt(place, partial(self._read, draft, state, memo, noise))
            if found is None:
                found = draft.write_failure(mechanism, state, memo.failures.get(place, False))
            written.append(found)
            entry, record, state = found
            head = entry.hash
            if record.symbol == STOPPED:
                break  # nobody waits for the rest
        for one in written:
            transcript.extend(*one)
        return list(places.values()), [entry for entry, _, _ in written]

    def _read(self, draft: DraftEntry, state: State, memo: Memo, noise: Stream) -> Written:
        """Read the rows for one question, and make its entry: all that depends on rows is done here."""
        mechanism, offer = self.transcript.mechanism, draft.offer
        ready = None if self.pool is None else self.pool.take(self.transcript.drew)
        memo.offered(ready)
        if ready is not None:  # other rows, other noise: or a ledger put back would show two samples' difference
            noise = noise.within("drawn", *ready.draw)
        reply = mechanism.reply(state, offer, draft.ask.query, memo, noise)
        if has_failed(reply.symbol):
            return draft.write_failure(mechanism, state, memo.was_interrupted(draft.ask.query))
        return draft.write(mechanism, state, reply, memo.draw)

    def _check_owner(self) -> None:
        if self.store.url is None and self._owner != self._pid:
            raise LedgerError(
                "this process was forked from the one whose memory holds the ledger, so its asks would be lost.\n"
                "  Use ledger='file.db', or send the holdout to workers by pickle (n_jobs=... does)."
            )

    def gather(self, sample: Sample, samples: int, columns: Sequence[str] | None) -> int:
        """Draw rows for the next asks; how many asks there are rows for."""
        from unworn.rows.memory.draw_pool import Pool

        mechanism = self.transcript.mechanism
        with self._mine():
            self.pool = Pool(sample, self._noise) if self.pool is None else self.pool
            state = self.transcript.state
            if state.planned is not None:  # an ask past the plan is refused, so nobody would use them
                samples = min(samples, state.planned - state.asked - len(self.pool))
            if samples > 0:
                drawn, again = getattr(mechanism, "drawn", 1), getattr(mechanism, "replace", False)
                memo = Memo(self.rows)
                for name in columns or ():
                    sample.schema.of(name)
                if self._cannot_gather:
                    raise Unaskable(_NO_DRAWS)
                memo.attempt(0, partial(self.pool.gather, samples, drawn, again, columns))
                if memo.interrupted:
                    raise KeyboardInterrupt
                if memo.failures:
                    self._cannot_gather = True  # once, for it is a fact about rows that nobody pays for
                    raise Failed(_NO_DRAWS)
            return len(self.pool)

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
