"""The desk: where a question becomes an entry, and an entry an answer.

Asked before? The recorded answer, free. Otherwise public numbers make an offer; if it breaks the plan or the width, it
is refused before any row is read. Then the rows are read, the symbol is entered, and only when the entry is durable is
the answer, a function of that entry, handed out.

From the moment rows are touched, whatever happens ends in an entry: what fails, in the asker's code or in ours, is
entered as a symbol of its own, and so is an interrupt. Nothing else about it leaves.

Questions that come together go together: whoever is first enters those of all who wait, in one transaction. This is the
only queue there is: a store commits what it is given, and returns when that is durable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unworn.errors import Conflict, LedgerError, Unaskable, UnwornError
from unworn.holdout.ask_queue import Job, Place
from unworn.holdout.asking.code_on_train import say_what_is_withheld
from unworn.holdout.asks import Ask, DraftEntry, Written, check_names
from unworn.holdout.ledger_book import LedgerBook
from unworn.holdout.memo import Memo
from unworn.ledger import Entry, Key, Store
from unworn.ledger.store import RepeatableStore
from unworn.mechanisms import Offer
from unworn.mechanisms.contract.conversation import make_reply, reprice_offer
from unworn.mechanisms.contract.mechanism import STOPPED, State, has_failed
from unworn.noise import Stream
from unworn.queries.metrics.graded_metrics import GradedRows
from unworn.queries.row_protocol import SealedRows
from unworn.record.answer import Answer
from unworn.record.transcript import Transcript

if TYPE_CHECKING:
    from unworn.rows.memory.draw_pool import Pool

_TRIES = 10_000
"""How often another process may overtake one ask; each time somebody else got an answer."""

_NEITHER = (
    "something failed while this question was answered, and it could not be entered; what failed is not told, because "
    "it may be a fact about rows.\n  Nothing was answered. Open the holdout again, and report it if it fails again."
)


class Desk(LedgerBook):
    """A holdout's ledger, and the way in: questions are put in order, answered and entered here."""

    def __init__(self, rows: SealedRows, store: Store, transcript: Transcript, key: Key | None) -> None:
        super().__init__(rows, store, transcript, key)
        self.noise_key = b"" if key is None else key.derive("unworn/noise")
        self.pool: Pool | None = None
        self.storing_seconds = 0.0
        self._clock: Callable[[], float] = store.clock if isinstance(store, RepeatableStore) else time.time

    def enter(self, asks: Sequence[Ask]) -> list[Answer]:
        """Answer a batch, durably, all or none.

        An interrupt goes on at once if no row was touched for it; else when what it interrupted is in the ledger.
        """
        self.order()
        if self._queue.led_by == threading.get_ident():
            raise Unaskable("a question's own code cannot ask the holdout that is running it")
        if any(ask.facts.runs_code and not isinstance(ask.query, GradedRows) for ask in asks):
            say_what_is_withheld()  # but not of graders, whose code has a process of its own
        job, queue = Job(asks, self.rows), self._queue
        interrupt: BaseException | None = None
        error: Exception | None = None
        for _ in range(_TRIES):
            try:
                queue.waiting.append(job)  # again if it was overtaken, or whoever had just taken it up interrupted
                place = Place(job)
                with place.stay:
                    if queue.is_to_lead(place):
                        try:
                            self._serve()
                        finally:
                            queue.hand_over(place)
            except Exception as failure:
                error = failure
                break
            except BaseException as signal:
                interrupt = signal.with_traceback(None)
                if not job.memo.touched:
                    break
            if job.settled:
                break
        if not job.settled:
            queue.withdraw(job)  # nobody would hear the answer
        interrupt, error = interrupt or job.memo.interrupt, error or job.error
        if error is not None and job.memo.touched:  # nothing is entered: whether code interrupted is not told either
            raise error if isinstance(error, UnwornError) else LedgerError(_NEITHER)  # else it may be a fact about rows
        if interrupt is not None:
            raise _interrupted_anew(interrupt, job)
        if error is not None:
            raise error
        if not job.settled:
            raise LedgerError(f"other writers overtook this ask {_TRIES} times; nothing was charged, ask again later")
        return job.answers

    def enter_each(self, several: Sequence[Sequence[Ask]]) -> list[list[Answer] | Exception]:
        """Batches of several callers, handed in by one thread: each is answered, or has an error, by itself.

        For questions that run no code of their askers. As in :meth:`enter`, what has touched rows ends in an entry.
        """
        self.order()
        if self._queue.led_by == threading.get_ident():
            raise Unaskable("a question's own code cannot ask the holdout that is running it")
        jobs, queue = [Job(asks, self.rows) for asks in several], self._queue
        failure: Exception | None = None
        interrupt: BaseException | None = None
        for _ in range(_TRIES):
            waiting = [job for job in jobs if not job.settled and (interrupt is None or job.memo.touched)]
            if not waiting or failure is not None:
                break
            try:
                queue.waiting.extend(waiting)
                place = Place(waiting[-1])  # those before it are served no later than it is
                with place.stay:
                    if queue.is_to_lead(place):
                        try:
                            self._serve()
                        finally:
                            queue.hand_over(place)
            except Exception as error:
                failure = error
            except BaseException as signal:
                interrupt = signal.with_traceback(None)
        for job in jobs:
            if not job.settled:
                queue.withdraw(job)
        interrupt = interrupt or next((job.memo.interrupt for job in jobs if job.memo.interrupt is not None), None)
        if interrupt is not None:
            raise _interrupted_anew(interrupt, jobs[-1])
        return [_outcome(job, failure) for job in jobs]

    def _serve(self) -> None:
        """One turn: answer everybody's questions, enter all of it at once, then let the answers go.

        Nobody hears anything before all of it is durable. Whoever is not served, because another process was first or
        an interrupt came, is the first of the next turn; what it became meanwhile is in the ledger or forgotten.
        """
        jobs: list[Job] = []
        entries: list[Entry] = []
        errors: dict[Job, Exception] = {}
        # The lock is this process's: whoever comes here has just seen to that. And what NumPy tells its caller while
        # rows are read would be facts about them.
        with self._lock, np.errstate(all="ignore"):
            transcript = self.transcript
            try:
                if transcript.torn or transcript.head != self._durable[1]:
                    self.refresh()  # an earlier turn failed to: a repeat would be told what never became durable
                head = transcript.head
                for job in self._queue.take_up(jobs):
                    known = transcript.length
                    if job.written and self._is_entered(job.written[-1]):  # before its leader was interrupted
                        continue
                    try:
                        job.places, job.written = self._hand_in(job.asks, job.memo)
                        entries += job.written
                    except Exception as error:
                        transcript.truncate(known)  # what it made is not handed in, so nobody may build on it
                        errors[job] = error
                if entries:
                    began = time.perf_counter()
                    self.store.append(entries, expect=head)
                    self.storing_seconds += time.perf_counter() - began
                    self._durable = entries[-1].index, entries[-1].hash
                for job in jobs:
                    if job not in errors and not job.memo.interrupted:
                        asked = zip(job.places, job.asks, strict=True)
                        job.answers = [self.answer(index, ask.query, ask.practice) for index, ask in asked]
            except Conflict:
                self.refresh()
            except LedgerError as error:
                self.refresh()
                for job in jobs:
                    job.settle(error)
            except BaseException:
                self.refresh()  # forgets what was made and is not durable
                raise
            else:
                for job in jobs:
                    job.settle(errors.get(job))
                transcript.settle()
                self._keep_checkpoints()
            finally:
                self._queue.put_back(jobs)

    def _is_entered(self, last: Entry) -> bool:
        """Whether what was written for a job became durable, though its leader was interrupted."""
        if last.index >= self.transcript.length:
            return False
        return (self.transcript.hash_at(last.index) or self.transcript.entry(last.index).hash) == last.hash

    # ---- from questions to entries

    def _hand_in(self, asks: Sequence[Ask], memo: Memo) -> tuple[list[int], list[Entry]]:
        """Under the lock: find repeats, make offers, read rows, make the entries. Nothing is durable yet.

        Returns the index of each ask's entry, and the entries that are new: fewer, where an interrupt ended a batch.
        """
        self.check_owner()
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
        offers: list[tuple[int, Ask, Offer]] = []
        for position, (place, ask) in enumerate(waiting):
            here = ask.placed(position, len(waiting))
            offers.append((place, here, self.offer(here, position)))
        key = self.writable()
        state, head, now = transcript.state, transcript.head, round(self._clock(), 3)
        noises = [Stream(self.noise_key, "ask", offer.index, head, ask.query.fingerprint) for _, ask, offer in offers]
        if len(offers) > 1 and mechanism.reads != "draws" and not memo.failures:
            self._read_together(offers, noises, memo)
        written: list[Written] = []
        for position, ((place, ask, offer), noise) in enumerate(zip(offers, noises, strict=True)):
            batch, index = (position, len(offers)), transcript.length + position
            if position:
                offer = reprice_offer(mechanism, offer, state)
            draft = DraftEntry(transcript.first.holdout, index, head, ask, offer, batch, now, key)
            found = None
            # What was offered stays; but a secret threshold may have ended with the answer before.
            if not (state.ended or place in memo.failures):
                with memo.attempt(place):
                    found = self._read(draft, state, memo, noise)
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

    def _read_together(self, offers: Sequence[tuple[int, Ask, Offer]], noises: Sequence[Stream], memo: Memo) -> None:
        """Read what a batch needs in one pass; what fails is read again, each by itself, and told as its own."""
        is_rounded = self.transcript.mechanism.reads == "rounded"
        with memo.attempt(offers[0][0]):
            memo.prefetch([(ask.query, offer) for _, ask, offer in offers], noises, is_rounded)
        if not memo.interrupted:
            memo.failures.clear()

    def _read(self, draft: DraftEntry, state: State, memo: Memo, noise: Stream) -> Written:
        """Read the rows for one question, and make its entry: all that depends on rows is done here."""
        mechanism, offer = self.transcript.mechanism, draft.offer
        ready = None if self.pool is None else self.pool.take(self.transcript.drew)
        memo.offered(ready)
        if ready is not None:  # other rows, other noise: or a ledger put back would show two samples' difference
            noise = noise.within("drawn", *ready.draw)
        reply = make_reply(mechanism, state, offer, draft.ask.query, memo, noise)
        if has_failed(reply.symbol):
            return draft.write_failure(mechanism, state, memo.was_interrupted(draft.ask.query))
        return draft.write(mechanism, state, reply, memo.draw)


def _outcome(job: Job, failure: Exception | None) -> list[Answer] | Exception:
    """What became of a job that one thread handed in together with others."""
    error = job.error if job.settled else failure or LedgerError("other writers overtook this ask; ask again later")
    if error is None:
        return job.answers
    if job.memo.touched and not isinstance(error, UnwornError):
        return LedgerError(_NEITHER)  # else it may be a fact about rows
    return error


def _interrupted_anew(interrupt: BaseException, job: Job) -> BaseException:
    """The interrupt again, with what it cost, and without the frames it came through, which hold rows."""
    again = SystemExit(interrupt.code) if isinstance(interrupt, SystemExit) else KeyboardInterrupt()
    if job.settled and job.error is None and job.written:
        index = job.written[-1].index
        again.add_note(
            f"The interrupt came while rows were read: it is entered and charged as answer {index}.\n"
            "ask(..., again=True) asks the question anew."
            if job.memo.interrupted
            else f"Answer {index} is entered and charged: asking the same question again returns it, free."
        )
    return again
