"""Sealing rows for a release, making it, and signing what came out.

Entry 0 is the charge: it is durable before anything is drawn. All noise follows from the key and that entry, so a crash
loses nothing, and the same release on the same terms is the same again.
"""

from __future__ import annotations

from unworn.errors import ReadOnly
from unworn.holdout.opening import Wanted, open_rows
from unworn.ledger import Store
from unworn.mechanisms.released import Released
from unworn.mechanisms.uses import Uses
from unworn.noise import Stream
from unworn.release.auto import method_from_json
from unworn.release.certificate import ReleaseCertificate, assumptions
from unworn.release.intervals import Intervals
from unworn.release.method import Method, Progress
from unworn.release.packing import digest, packed
from unworn.release.problem import Problem
from unworn.release.release import Release
from unworn.sample import Sample
from unworn.sample.coding import Coded


def sealed(
    sample: Sample,
    store: Store,
    problem: Problem,
    method: Method,
    *,
    name: str | None = None,
    uses: Uses | None = None,
    auto: bool = False,
    progress: Progress | None = None,
    tables: Coded | None = None,
) -> Release:
    """Seal the rows on these terms (or find them sealed so) and make the release; ``tables`` are the rows, coded."""
    if tables is None:
        tables = Coded(sample, problem.domain)  # refuses rows that the domain has no place for, before they are sealed
    terms = Released(
        method.to_json(),
        problem.workload.to_json(),
        problem.domain.to_json(),
        problem.epsilon,
        problem.delta,
        any_method=auto,
    )
    opened = open_rows(sample, store, Wanted(name, terms, problem.confidence, None, uses))
    key = opened.key
    if key is None:
        raise ReadOnly(
            "the key of this release is not beside its ledger, so it cannot be made again: see docs/ledger.md"
        )
    first, entered = opened.transcript.first, opened.transcript.terms
    if isinstance(entered.mechanism, Released):
        method = method_from_json(entered.mechanism.method)
    if opened.rows is not sample:
        tables = Coded(opened.rows, problem.domain)
    noise = Stream(key.derive("unworn/noise"), "release", first.hash)
    outcome = method.run(problem, tables, noise, progress)
    intervals = Intervals(problem, method.profile(problem), outcome)
    said = {
        "name": entered.name,
        "method": method.to_json(),
        "workload": problem.workload.to_json(),
        "domain": problem.domain.to_json(),
        "epsilon": problem.epsilon,
        "delta": problem.delta,
        "unit": "one row replaced by another",
        "rows": problem.rows,
        "questions": problem.questions,
        "confidence": problem.confidence,
        "sample_error": intervals.sample_error,
        "population_error": intervals.population_error,
        "adaptive_width": intervals.adaptive.width,
        "theorems": {
            "sample": method.theorem,
            "population": "Clopper and Pearson's limits for all questions of the workload together",
            "chosen later": "privacy transfer (Theorem D2)",
        },
        "assumptions": assumptions(entered, problem.domain.origin, shared=uses is not None),
        "numbers": outcome.numbers,
        "digest": digest(*packed(outcome)),
        "version": entered.version,
        "public_key": entered.public,
    }
    return Release(problem, method, outcome, ReleaseCertificate.sign(first, said, key), sample.backend)
