"""Many queries at once: private tables, distributions and synthetic rows from one look at the rows.

:func:`fit` seals the rows and makes a :class:`Release`; the methods are named in ``auto.METHODS``.
"""

from __future__ import annotations

from unworn.release.fit import fit
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.problem import Problem, Tables
from unworn.release.release import Estimate, Release
from unworn.release.release_certificate import ReleaseCertificate

__all__ = ["Estimate", "Method", "Problem", "Release", "ReleaseCertificate", "ReleaseOutcome", "Tables", "fit"]
