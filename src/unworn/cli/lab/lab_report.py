"""Writing the lab's page to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unworn.basics.output_files import as_path, check_output, write_output
from unworn.cli.output import BadInput

if TYPE_CHECKING:
    from unworn.lab.papers.claim_runs import ClaimRun


def write_page(out: Path, runs: Sequence[ClaimRun] | None = None) -> Path:
    """Write the page of these runs; without runs, only refuse a name that could not be written."""
    from unworn.lab.papers.claim_page import SUBTITLE, claim_page

    def is_own(head: bytes) -> bool:
        return SUBTITLE.encode() in head

    try:
        target = as_path(out)
        if target.suffix.lower() not in (".html", ".htm"):
            raise BadInput(f"cannot write the page {target.name!r}: end its name in .html")
        if runs is None:
            return check_output(target, "a page of the lab", is_own)
        return write_output(target, claim_page(runs).encode(), "a page of the lab", is_own)
    except OSError as error:
        raise BadInput(f"the page {out} could not be written: {error.strerror}") from None
