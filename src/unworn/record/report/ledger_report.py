"""Writing a report: a function of the ledger alone, in HTML or Markdown by the name's ending."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from unworn import charts
from unworn.basics.display import show_line
from unworn.basics.output_files import as_path, check_output, write_output
from unworn.errors import UnwornError
from unworn.record.report.html_report import html_report
from unworn.record.report.ledger_digest import LedgerDigest
from unworn.record.report.markdown_report import markdown_report
from unworn.record.report.report_blocks import Picture
from unworn.record.report.report_sections import report_sections

_SUBTITLE = "A report on a sealed holdout, made by unworn"
SUFFIXES = (".html", ".htm", ".md")


def check_report_path(path: str | os.PathLike[str]) -> Path:
    """Refuse a name that could not be written, before anything is read for it."""
    try:
        target = as_path(path)
        if target.suffix.lower() not in SUFFIXES:
            raise UnwornError(f"cannot write the report {target.name!r}: end its name in .html or .md")
        return check_output(target, "a report", _is_report)
    except OSError as error:
        raise _unwritten(path, error) from None


def write_report(digest: LedgerDigest, path: str | os.PathLike[str], ledger: str | None = None) -> Path:
    """Write what was asked, the best of it, surprises, budget, figures, and how to verify it; returns where.

    ``ledger`` is the path or URL that readers can verify it with. The figures of a Markdown report lie in a folder
    beside it; those of an HTML report are in it.
    """
    target = check_report_path(path)
    blocks = list(report_sections(digest, ledger, figures=charts.available()))
    title = f"What {digest.terms.name} was asked"
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    subtitle = f"{_SUBTITLE} on {now}"
    try:
        if target.suffix.lower() != ".md":
            return write_output(target, html_report(title, subtitle, blocks).encode(), "a report", _is_report)
        folder = target.with_name(f"{target.stem}-figures")
        pictures = [block for block in blocks if isinstance(block, Picture)]
        if pictures:
            folder.mkdir(exist_ok=True)
        for picture in pictures:
            write_output(folder / picture.file, picture.svg.encode(), "a figure", lambda head: b"<svg" in head)
        text = markdown_report(title, subtitle, blocks, folder.name)
        return write_output(target, text.encode(), "a report", _is_report)
    except OSError as error:
        raise _unwritten(target, error) from None


def _is_report(head: bytes) -> bool:
    return _SUBTITLE.encode() in head


def _unwritten(path: object, error: OSError) -> UnwornError:
    return UnwornError(f"the report {show_line(path)[:200]} could not be written: {error.strerror}")
