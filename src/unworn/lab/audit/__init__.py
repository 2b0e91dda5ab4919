"""The auditor: tries to show that a mechanism is less private, or less often right, than it claims."""

from unworn.lab.audit import controls
from unworn.lab.audit.auditor import audit
from unworn.lab.audit.catalogue import catalogue, find
from unworn.lab.audit.cell_counts import Cells, replaced
from unworn.lab.audit.claim import Claim
from unworn.lab.audit.conformance import Conformance, check_release
from unworn.lab.audit.counted_rows import Counted, neighbours
from unworn.lab.audit.coverage import Coverage, coverage
from unworn.lab.audit.mechanism_audit import mechanism_target
from unworn.lab.audit.mechanism_conformance import check_mechanism
from unworn.lab.audit.release_audit import release_target
from unworn.lab.audit.report import MeasuredOutcome, Report
from unworn.lab.audit.target import Outcome, Pair, Target

__all__ = [
    "Cells",
    "Claim",
    "Conformance",
    "Counted",
    "Coverage",
    "MeasuredOutcome",
    "Outcome",
    "Pair",
    "Report",
    "Target",
    "audit",
    "catalogue",
    "check_mechanism",
    "check_release",
    "controls",
    "coverage",
    "find",
    "mechanism_target",
    "neighbours",
    "release_target",
    "replaced",
]
