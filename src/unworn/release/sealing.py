"""Sealing rows for a release, making it, and signing what came out.

Entry 0 is the charge: it is durable before anything is drawn. All noise follows from the key and that entry, so a crash
loses nothing, and the same release on the same terms is the same again. Entry 1, durable before the release leaves,
holds a digest of the random path it took: where another machine or version would take another, it is refused, because
two different releases of the same rows would reveal twice as much.
"""

from __future__ import annotations

import numpy as np

from unworn.errors import Conflict, Failed, Mismatch, ReadOnly, Unavailable
from unworn.holdout.opening import open_rows
from unworn.holdout.row_recognition import knows
from unworn.holdout.rows_ledger import RowsLedger
from unworn.holdout.wanted_terms import WantedTerms
from unworn.ledger import Entry, Key, Store
from unworn.mechanisms.sealed_release import Released
from unworn.noise import Stream
from unworn.record.declared_uses import Uses
from unworn.release.folder.packing import digest, pack_outcome, path
from unworn.release.intervals import Intervals
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.method_choice import method_from_json
from unworn.release.problem import Problem
from unworn.release.release import Release
from unworn.release.release_certificate import ReleaseCertificate, follows
from unworn.rows import Sample
from unworn.rows.memory.domain_coding import CodedRows


def seal_and_release(
    sample: Sample,
    place: RowsLedger,
    problem: Problem,
    method: Method,
    *,
    name: str | None = None,
    uses: Uses | None = None,
    auto: bool = False,
    progress: Progress | None = None,
    tables: CodedRows | None = None,
) -> Release:
    """Seal the rows on these terms (or find them sealed so) and make the release; ``tables`` are the rows, coded."""
    store = place.store
    terms = Released(
        method.to_json(),
        problem.workload.to_json(),
        problem.domain.to_json(),
        problem.epsilon,
        problem.delta,
        any_method=auto,
    )
    if tables is None and not knows(sample, store):
        tables = CodedRows(
            sample, problem.domain
        )  # refuses rows that the domain has no place for, before they are sealed
    wanted = WantedTerms(name, terms, problem.confidence, None, uses, beside=place.elsewhere is not None)
    opened = open_rows(sample, store, wanted)
    place.confirm(opened.transcript.first.holdout)
    key = opened.key
    if key is None:
        raise ReadOnly(
            "the key of this release is not beside its ledger, so it cannot be made again: see docs/ledger.md"
        )
    first, entered = opened.transcript.first, opened.transcript.terms
    if isinstance(entered.sealed_for, Released):
        method = method_from_json(entered.sealed_for.method)
        method.check(problem)
    if tables is None or opened.rows is not sample:
        if not isinstance(opened.rows, Sample):
            raise TypeError("a release is made of rows in memory")
        tables = CodedRows(opened.rows, problem.domain)
    noise = Stream(key.derive("unworn/noise"), "release", first.hash)
    outcome = _run(method, problem, tables, noise, progress)
    _enter(store, first, key, path(outcome))
    intervals = Intervals(problem, method.profile(problem), outcome)
    said = {
        **follows(first, problem, method),
        "sample_error": intervals.sample_error,
        "population_error": intervals.population_error,
        "adaptive_width": intervals.adaptive.width,
        "numbers": outcome.numbers,
        "digest": digest(*pack_outcome(outcome)),
    }
    return Release(problem, method, outcome, ReleaseCertificate.sign(first, said, key), sample.backend)


def _run(
    method: Method, problem: Problem, tables: CodedRows, noise: Stream, progress: Progress | None
) -> ReleaseOutcome:
    """The release itself. Whatever fails in it is one and the same :class:`~unworn.errors.Failed`.

    What it was, its text and its traceback would be facts about rows that no noise hides. The callback that hears of
    progress is the owner's, and is told public numbers: what it raises is its own.
    """
    heard: Exception | None = None

    def listen(done: int, steps: int) -> None:
        nonlocal heard
        try:
            if progress is not None:
                progress(done, steps)
        except Exception as error:
            heard = error
            raise

    try:
        with np.errstate(all="ignore"):  # of what the caller wants to hear of, something may be about rows
            return method.run(problem, tables, noise, None if progress is None else listen)
    except Unavailable:
        raise
    except Exception:
        interrupt = False
    except KeyboardInterrupt:
        interrupt = True
    if heard is not None:
        raise heard
    if interrupt:  # anew, without the frames it came through, which hold rows
        again = KeyboardInterrupt()
        again.add_note("The rows stay sealed for this release: making it again, on the same terms, makes the same one.")
        raise again
    raise Failed(Failed.RELEASE)


def _enter(store: Store, first: Entry, key: Key, taken: str) -> None:
    """Record which path the release took, or find that it took the same before."""
    made = store.read(first.holdout, 1)
    if not made:
        entry = Entry.seal(first.holdout, 1, first.hash, {"type": "released", "path": taken}, key)
        try:
            store.append([entry], first.hash)
            return
        except Conflict:  # another process has just made it
            made = store.read(first.holdout, 1)
    if made[0].body.get("path") != taken:
        raise Mismatch(
            "this release was made before, and here it would come out otherwise: another version of unworn or NumPy, "
            "or another machine, rounds differently.\n  A second release would reveal twice as much. Load the one that "
            "was saved (Release.load), or make it where it was made.",
            holdout=first.holdout,
        )
