"""The auditor: tries to show that a mechanism is less private, or less often right, than it claims."""

from unworn.audit import controls
from unworn.audit.auditor import audit
from unworn.audit.catalogue import catalogue, find
from unworn.audit.cells import Cells, replaced
from unworn.audit.claim import Claim
from unworn.audit.conformance import Conformance, check_release
from unworn.audit.counted import Counted, neighbours
from unworn.audit.coverage import Coverage, coverage
from unworn.audit.mechanism import mechanism_target
from unworn.audit.release import release_target
from unworn.audit.report import Checked, Report
from unworn.audit.target import Outcome, Pair, Target

__all__ = [
    "Cells",
    "Checked",
    "Claim",
    "Conformance",
    "Counted",
    "Coverage",
    "Outcome",
    "Pair",
    "Report",
    "Target",
    "audit",
    "catalogue",
    "check_release",
    "controls",
    "coverage",
    "find",
    "mechanism_target",
    "neighbours",
    "release_target",
    "replaced",
]
