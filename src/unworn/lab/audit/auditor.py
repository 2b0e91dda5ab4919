"""The audit itself: search in some trials, measure in others."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from unworn.bounds import clopper_pearson
from unworn.bounds.numerics import Floats, whole
from unworn.lab.audit.claim import Claim
from unworn.lab.audit.outcome_search import CountedOutcome, proposals
from unworn.lab.audit.report import MeasuredOutcome, Report
from unworn.lab.audit.target import Outcome, Outputs, Pair, Target

CONFIDENCE = 1 - 1e-6
_FINALISTS = 4
"""How many outcomes are measured: each takes its share of the error that is allowed."""
_SEARCHED = 200_000
"""More trials than this teach a search nothing."""
_CHUNK = 250_000
"""Trials held in memory at once."""


@dataclass(frozen=True)
class Finalist:
    """An outcome worth measuring. ``turned``: it is likelier on the second input."""

    place: int
    pair: Pair
    outcome: Outcome
    turned: bool


def audit(
    target: Target,
    trials: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Try to show that a mechanism is less private than it claims.

    Each input of each pair is run ``trials`` times. One half of them (200,000 at most) is searched for outputs that are
    likelier on one input than on its neighbour; the best few are then counted in the other trials, and Clopper and
    Pearson's exact limits, all together wrong with probability at most 1 − ``confidence``, bound the epsilon (or mu)
    that the mechanism has at least.

    Parameters
    ----------
    progress
        Called with (runs done, runs in all), now and then.

    Examples
    --------
    >>> from unworn.lab.audit import controls
    >>> report = audit(controls.lyu_5.target(), trials=20_000)
    >>> report.refuted, report.lower_bound > 3
    (True, True)
    """
    number, seed = whole("trials", target.trials if trials is None else trials, 100), whole("seed", seed, 0)
    if not 0.5 <= confidence < 1.0:
        raise ValueError(f"confidence must lie in [0.5, 1), not {confidence!r}; 1 - 1e-6 is the default")
    searched = min(number // 2, _SEARCHED)
    runs = _Runs(target, seed, 2 * len(target.pairs) * number, progress)
    log_side = math.log1p(-confidence) - math.log(2 * _FINALISTS)
    finalists = _finalists(target, runs, searched, number - searched, log_side)
    checked = tuple(_measure(target.claimed, finalists, runs, number - searched, log_side))
    runs.finish()
    return Report(
        target.name,
        target.claimed,
        max(told.least for told in checked),
        confidence,
        any(told.refutes for told in checked),
        target.broken,
        number,
        seed,
        checked,
    )


class _Runs:
    """Runs of a target: every chunk of trials has a generator of its own, so that no trial is used twice."""

    def __init__(self, target: Target, seed: int, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._target, self._seed, self._total, self._progress = target, seed, total, progress
        self._done, self._places = 0, 0

    def chunks(self, place: int, side: int, phase: int, trials: int) -> Iterator[Outputs]:
        pair = self._target.pairs[place]
        given = pair.second if side else pair.first
        for part, start in enumerate(range(0, trials, _CHUNK)):
            rng = np.random.default_rng([self._seed, place, side, phase, part])
            size = min(_CHUNK, trials - start)
            outputs = self._target.outputs(given, size, rng)
            self._check(outputs.shape[1])
            yield outputs
            self._done += size
            if self._progress is not None:
                self._progress(self._done, self._total)

    def _check(self, places: int) -> None:
        """An outcome reads all trials alike: where a number stands must not depend on the input or on other trials."""
        self._places = self._places or places
        if places != self._places:
            raise ValueError(
                f"{self._target.name}: run(input, trials, rng) returned {self._places} numbers per trial once and "
                f"{places} another time: every trial on every input must have as many, with NaN where nothing came out"
            )

    def finish(self) -> None:
        if self._progress is not None:
            self._progress(self._total, self._total)


def _finalists(target: Target, runs: _Runs, searched: int, measured: int, log_side: float) -> list[Finalist]:
    """The outcomes that promise most: half of them by the bound they should give, half by how clearly they refute."""
    found: list[tuple[float, float, int, Finalist]] = []
    for place, pair in enumerate(target.pairs):
        one, two = (np.concatenate(list(runs.chunks(place, side, 0, searched))) for side in (0, 1))
        counted, told = proposals(pair, one, two)
        tried = _distinct(told)
        for turned in (False, True):
            least, margin = _promise(target.claimed, tried, turned, counted, measured, log_side)
            likely = {*np.argsort(-least)[:_FINALISTS].tolist(), *np.argsort(-margin)[:_FINALISTS].tolist()}
            for which in sorted(likely):
                finalist = Finalist(place, pair, tried[which].outcome, turned)
                found.append((float(least[which]), float(margin[which]), len(found), finalist))
    refuting = [told for told in found if told[1] > 0.0]  # where nothing refutes, the least margin says nothing
    clearest = heapq.nlargest(_FINALISTS // 2, refuting, key=lambda told: (told[1], -told[2]))
    others = [told for told in found if told not in clearest]
    widest = heapq.nlargest(_FINALISTS - len(clearest), others, key=lambda told: (told[0], -told[2]))
    return [told[3] for told in clearest + widest]


def _distinct(tried: Iterable[CountedOutcome]) -> list[CountedOutcome]:
    """Of outcomes that the same trials had, the first: the others are most likely the same in other words."""
    seen: dict[tuple[int, int], CountedOutcome] = {}
    for told in tried:
        seen.setdefault((told.first, told.second), told)
    return list(seen.values())


def _promise(
    claim: Claim, tried: list[CountedOutcome], turned: bool, counted: int, measured: int, log_side: float
) -> tuple[Floats, Floats]:
    """What each outcome should give when it is measured, if it was one standard deviation lucky in the search."""
    counts = np.array([(told.second, told.first) if turned else (told.first, told.second) for told in tried], float)
    high = np.maximum(counts[:, 0] - np.sqrt(counts[:, 0]), 0.0)
    low = np.minimum(counts[:, 1] + np.sqrt(counts[:, 1]) + 1.0, counted)
    scale = measured / counted
    above = clopper_pearson(np.floor(high * scale), float(measured), log_side + math.log(2))[0]
    below = clopper_pearson(np.ceil(low * scale), float(measured), log_side + math.log(2))[1]
    return claim.least(above, below), _margin(claim, above, below)


def _margin(claim: Claim, above: Floats, below: Floats) -> Floats:
    """By how many nats a probability exceeds what the claim allows; negative where it does not."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(above) - np.log(claim.allowed(below)))


def _measure(
    claim: Claim, finalists: list[Finalist], runs: _Runs, trials: int, log_side: float
) -> Iterator[MeasuredOutcome]:
    counts = np.zeros((len(finalists), 2), dtype=np.int64)
    for place in sorted({finalist.place for finalist in finalists}):
        mine = [which for which, finalist in enumerate(finalists) if finalist.place == place]
        for side in (0, 1):
            for outputs in runs.chunks(place, side, 1, trials):
                for which in mine:
                    counts[which, side] += finalists[which].outcome.count(outputs)
    for finalist, pair in zip(finalists, counts.tolist(), strict=True):
        likelier, other = reversed(pair) if finalist.turned else pair
        above = clopper_pearson(float(likelier), float(trials), log_side + math.log(2))[0]
        below = clopper_pearson(float(other), float(trials), log_side + math.log(2))[1]
        refutes = above > float(claim.allowed(below)) * (1 + 1e-9)
        seen = (likelier / trials, other / trials)
        least = float(claim.least(above, below))
        yield MeasuredOutcome(finalist.outcome.label, finalist.pair.label, above, below, seen, least, refutes)
