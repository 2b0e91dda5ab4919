"""The auditor: tries to show that a mechanism is less private, or less often right, than it claims."""

from unworn.audit import controls
from unworn.audit.auditor import audit
from unworn.audit.claim import Claim
from unworn.audit.report import Checked, Report
from unworn.audit.target import Outcome, Pair, Target

__all__ = ["Checked", "Claim", "Outcome", "Pair", "Report", "Target", "audit", "controls"]
