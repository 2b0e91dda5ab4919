"""Writing a report: a function of the ledger alone, in HTML or Markdown by the name's ending."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from unworn import charts
from unworn.errors import UnwornError
from unworn.record.report.html_report import html_report
from unworn.record.report.ledger_digest import LedgerDigest
from unworn.record.report.markdown_report import markdown_report
from unworn.record.report.report_blocks import Picture
from unworn.record.report.report_sections import report_sections

SUFFIXES = (".html", ".htm", ".md")


def check_report_path(path: str | os.PathLike[str]) -> Path:
    """Refuse a name that could not be written, before anything is read for it."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UnwornError(f"cannot write the report {target.name!r}: end its name in .html or .md")
    if not target.absolute().parent.is_dir():
        raise UnwornError(f"the report {target} could not be written: there is no folder {target.parent}")
    return target


def write_report(digest: LedgerDigest, path: str | os.PathLike[str], ledger: str | None = None) -> Path:
    """Write what was asked, the best of it, surprises, budget, figures, and how to verify it; returns where.

    ``ledger`` is the path or URL that readers can verify it with. The figures of a Markdown report lie in a folder
    beside it; those of an HTML report are in it.
    """
    target = check_report_path(path)
    blocks = list(report_sections(digest, ledger, figures=charts.available()))
    title = f"What {digest.terms.name} was asked"
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    subtitle = f"A report on a sealed holdout, made by unworn on {now}"
    try:
        if target.suffix.lower() != ".md":
            target.write_text(html_report(title, subtitle, blocks), encoding="utf-8")
            return target
        folder = target.with_name(f"{target.stem}-figures")
        pictures = [block for block in blocks if isinstance(block, Picture)]
        if pictures:
            folder.mkdir(exist_ok=True)
        for picture in pictures:
            (folder / picture.file).write_text(picture.svg, encoding="utf-8")
        target.write_text(markdown_report(title, subtitle, blocks, folder.name), encoding="utf-8")
    except OSError as error:
        raise UnwornError(f"the report {target} could not be written: {error.strerror}") from None
    return target
