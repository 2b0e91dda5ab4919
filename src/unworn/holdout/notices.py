"""What whoever opens rows is told about them before anything is asked.

These are facts about rows, told to whoever hands the rows in, and so holds them: see docs/decisions/0033.
"""

from __future__ import annotations

import math
import os
import warnings
from typing import TYPE_CHECKING

from unworn.errors import PracticeRows, RepeatedRows, SmallHoldout, Unaskable
from unworn.mechanisms.contract.capabilities import BoundsWidthQuickly
from unworn.record.meter import Meter
from unworn.record.transcript import Transcript
from unworn.rows.fingerprints.repeated_rows import repeated_rows
from unworn.rows.fingerprints.shared_rows import shared_rows

if TYPE_CHECKING:
    from unworn.rows import Sample
    from unworn.rows.held_rows import HeldRows

_CHANCE = math.log(1e-6)
"""How often independent samples may be refused, at most, whatever population they come from."""
WIDE, GOOD = 0.2, 0.05
"""The half-width past which a holdout is called small, and the one that a plan is quoted for."""


def check_train(sample: HeldRows, train: Sample) -> None:
    """Refuse training rows that are the holdout's own: guesses from them would be looks at the holdout, unpaid for."""
    found = shared_rows(sample, train, os.urandom(32))
    if found is None or found.log_chance >= _CHANCE:
        return
    about = "" if found.exact else "about "
    raise Unaskable(
        f"train shares rows with the holdout: {about}{found.rows:,} of {sample.rows:,} rows are in both, far more than "
        "chance explains.\n  What train shows about them would bypass the ledger, and no interval would hold. Split "
        "the data again, or drop those rows from train.",
        shared=found.rows,
        rows=sample.rows,
    )


def warn_if_repeated(sample: Sample, stacklevel: int = 4) -> None:
    """Say how many rows are copies of others, once: when the rows are sealed."""
    repeats = repeated_rows(sample, os.urandom(32))
    if repeats:
        warnings.warn(
            f"{repeats:,} of {sample.rows:,} rows repeat another row exactly, which chance does not explain: they are "
            "not independent draws, and intervals are narrower than they should be.\n  Drop the copies, or name the "
            "unit they belong to: groups=.",
            RepeatedRows,
            stacklevel=stacklevel,
        )


def warn_of_practice(transcript: Transcript, stacklevel: int = 4) -> None:
    """Say that some rows are for practice, where nobody asked for it: once, when they are sealed."""
    terms = transcript.terms
    unit = "groups" if terms.schema.grouped else "rows"
    warnings.warn(
        f"{terms.practice_size:,} of {terms.practice_size + terms.size:,} {unit}, chosen at random, are for practice: "
        "their exact values are free (holdout.practice), and are the guesses that the sealed rest confirms.\n"
        f"  practice={terms.practice:g} means the same without this notice, practice=0 seals all {unit}, train= brings "
        "guesses of your own.",
        PracticeRows,
        stacklevel=stacklevel,
    )


def warn_if_small(transcript: Transcript, stacklevel: int = 4) -> None:
    """Say so where even a right guess, at the first ask, gets a wide interval: from public numbers alone."""
    terms = transcript.terms
    if transcript.length > 1 or terms.is_release or _are_surely_enough(transcript):
        return
    width = Meter.of(transcript).next_width
    if width is None or width <= WIDE:
        return
    from unworn.plan.plan_solver import rows_needed

    needed = rows_needed(terms.asks or 1, GOOD, 0, 1 - terms.confidence)
    unit = "groups" if terms.schema.grouped else "rows"
    if needed <= terms.size:
        few = f"{terms.size:,} {unit} are few for {type(transcript.mechanism).__name__} and its plan"
        advice = f"The default mechanism gets ± {GOOD} from {needed:,} {unit}: `unworn plan` compares all of them."
    else:
        few = f"{terms.size:,} {unit} are few"
        advice = f"For ± {GOOD} it takes {needed:,} {unit} (`unworn plan` says more); fewer are for trying things out."
    warnings.warn(
        f"{few}: the first answer is ± {width:.2g}, even if the guess is right.\n  {advice}",
        SmallHoldout,
        stacklevel=stacklevel,
    )


def _are_surely_enough(transcript: Transcript) -> bool:
    """Whether rough limits are narrow already: the exact ones lie inside, and need a library that is slow to load."""
    mechanism = transcript.mechanism
    return isinstance(mechanism, BoundsWidthQuickly) and mechanism.rough_width(transcript.state) <= WIDE
