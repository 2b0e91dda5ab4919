"""Running claims, several at a time, and keeping what came of them: numbers, figure, and what it takes to run again."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from unworn import charts
from unworn.basics.durable_files import write_durably
from unworn.basics.json_text import read_json, write_json
from unworn.lab.papers.claim_contract import ClaimOutcome, Effort, PaperClaim, Progress, UnfitClaim
from unworn.lab.papers.claim_registry import claim_named

_FORM = "unworn claim run 1"


@dataclass(frozen=True)
class ClaimRun:
    """A claim that was run: by which version, with which seed and effort, how long, and what came of it.

    ``outcome`` is None, and ``error`` says why, where the experiment ended in an exception.
    """

    name: str
    effort: Effort
    seed: int
    version: str
    seconds: float
    outcome: ClaimOutcome | None
    error: str = ""

    @property
    def claim(self) -> PaperClaim:
        return claim_named(self.name)

    @property
    def is_as_expected(self) -> bool:
        return self.outcome is not None and self.claim.is_as_expected(self.outcome)

    @property
    def command(self) -> str:
        """What runs it again."""
        quick = " --quick" if self.effort == "quick" else ""
        return f"unworn lab run {self.name}{quick} --seed {self.seed}"

    def to_json(self) -> dict[str, Any]:
        """Everything in plain values; :meth:`from_json` reads it."""
        outcome = self.outcome
        return {
            "form": _FORM,
            "name": self.name,
            "statement": self.claim.statement,
            "citation": self.claim.citation,
            "expected": self.claim.expected,
            "effort": self.effort,
            "seed": self.seed,
            "version": self.version,
            "seconds": round(self.seconds, 1),
            "as_expected": self.is_as_expected,
            "holds": None if outcome is None else outcome.holds,
            "measured": None if outcome is None else outcome.measured,
            "error": self.error,
            "rows": [] if outcome is None else [dict(row) for row in outcome.rows],
        }

    @classmethod
    def from_json(cls, told: Any) -> ClaimRun:
        """What was saved, checked as anything that comes from outside."""
        if not isinstance(told, dict) or told.get("form") != _FORM:
            raise UnfitClaim("this is not a saved run of a claim")
        try:
            outcome = None
            if told["holds"] is not None:
                outcome = ClaimOutcome(told["holds"], told["measured"], tuple(told["rows"]))
            run = cls(
                claim_named(told["name"]).name,
                told["effort"],
                int(told["seed"]),
                str(told["version"]),
                float(told["seconds"]),
                outcome,
                str(told["error"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnfitClaim(f"this is not a saved run of a claim: {error}") from None
        if run.effort not in ("quick", "full"):
            raise UnfitClaim(f"this is not a saved run of a claim: effort {run.effort!r:.40}")
        return run


def run_claim(name: str, effort: Effort, seed: int, progress: Progress | None = None) -> ClaimRun:
    """Run one claim; an exception of its experiment is kept as its outcome, so that others go on."""
    claim, started = claim_named(name), time.perf_counter()
    outcome, error = None, ""
    try:
        outcome = claim.run(effort, seed, progress)
    except Exception:
        error = traceback.format_exc(limit=-4)
    return ClaimRun(name, effort, seed, version("unworn"), time.perf_counter() - started, outcome, error)


def run_claims(names: Sequence[str], effort: Effort, seed: int, processes: int) -> Iterator[ClaimRun]:
    """Run claims in so many processes, each as it ends. What comes out does not depend on how many there are."""
    if processes < 2 or len(names) < 2:
        yield from (run_claim(name, effort, seed) for name in names)
        return
    # Started afresh: a fork would inherit threads of libraries in whatever state they are.
    with ProcessPoolExecutor(min(processes, len(names)), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(run_claim, name, effort, seed) for name in names]
        try:
            for done in as_completed(running):
                yield done.result()
        finally:
            for each in running:
                each.cancel()


def save_run(run: ClaimRun, folder: Path) -> list[Path]:
    """Write ``NAME.json``, and the figure as ``NAME.svg`` and ``NAME.png`` where it can be drawn; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{run.name}.json"
    write_durably(kept, write_json(run.to_json()).encode(), mode=0o666, replace=True)
    if run.outcome is None or not charts.available():
        return [kept]
    figure = run.claim.figure(run.outcome)
    return [kept, *(charts.save(figure, folder / f"{run.name}{ending}") for ending in (".svg", ".png"))]


def saved_runs(folder: Path) -> list[ClaimRun]:
    """The runs that were saved in a folder, by name. A file that is no run is refused, and named."""
    runs = []
    for path in sorted(folder.glob("*.json")):
        try:
            runs.append(ClaimRun.from_json(read_json(path.read_bytes())))
        except (ValueError, UnfitClaim) as error:
            raise UnfitClaim(f"{path.name}: {error}") from None
    return runs


def default_processes() -> int:
    """How many processes run claims where nobody says: one for each core that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
