"""Many queries at once: private tables, distributions and synthetic rows from one look at the rows.

:func:`fit` seals the rows and makes a :class:`Release`; each method has a class of its own.
:func:`predictions` says beforehand what error each would have.
"""

from __future__ import annotations

from unworn.release.fit import fit
from unworn.release.methods.additive_noise import GaussianRelease, LaplaceRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.methods.method_choice import predictions
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.methods.small_db import SmallDB
from unworn.release.methods.threshold_release import ThresholdRelease
from unworn.release.problem import Problem, Tables
from unworn.release.release import Estimate, Release
from unworn.release.release_certificate import ReleaseCertificate

Outcome = ReleaseOutcome
"""The name it had first, for methods that were written then."""

__all__ = [
    "MWEM",
    "AveragedMWEM",
    "Estimate",
    "GaussianRelease",
    "LaplaceRelease",
    "Method",
    "Outcome",
    "Problem",
    "Projection",
    "Release",
    "ReleaseCertificate",
    "ReleaseOutcome",
    "SmallDB",
    "Tables",
    "ThresholdRelease",
    "fit",
    "predictions",
]
