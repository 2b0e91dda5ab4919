"""Many queries at once: private tables, distributions and synthetic rows from one look at the rows.

:func:`fit` seals the rows and makes a :class:`Release`; the methods are named in ``auto.METHODS``.
"""

from __future__ import annotations

from unworn.release.certificate import ReleaseCertificate
from unworn.release.fit import fit
from unworn.release.method import Method, Outcome
from unworn.release.problem import Problem, Tables
from unworn.release.release import Estimate, Release

__all__ = ["Estimate", "Method", "Outcome", "Problem", "Release", "ReleaseCertificate", "Tables", "fit"]
