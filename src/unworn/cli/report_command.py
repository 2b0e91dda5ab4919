"""``unworn report``: what a holdout was asked, for whoever was not there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unworn.cli.ledger_lookup import existing, pick_one, read
from unworn.cli.output import BadInput, Json, emit, say
from unworn.mechanisms.sealed_release import Released
from unworn.record.report.ledger_digest import LedgerDigest
from unworn.record.report.ledger_report import check_report_path, write_report


def report(
    where: Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger's file or URL.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write it here: .html or .md.")] = Path(
        "report.html"
    ),
    name: Annotated[str | None, typer.Option(help="The holdout with this name (or id).")] = None,
    json: Json = False,
) -> None:
    """Write a report on a holdout: what was asked, the best of each metric, surprises, budget, and how to verify it.

    A report is made from the ledger alone: neither rows nor key are needed. HTML is one file with its figures in it;
    those of Markdown are in a folder beside it.

    \b
    Examples:
      unworn report churn.db
      unworn report churn.db --out report.md
      unworn report churn.db --name people --out people.html
    """
    check_report_path(out)
    with existing(where) as store:
        transcript = read(store, pick_one(store, name))
        if isinstance(transcript.terms.mechanism, Released):
            raise BadInput(
                "this holdout made one release, and has no answers to report.\n  `unworn verify` checks a release."
            )
        digest = LedgerDigest.of(transcript)
    written = write_report(digest, out, where)
    if json:
        emit({"report": str(written), "ledger": where, "holdout": digest.terms.name, "answers": digest.asked})
    else:
        say(f"report: {written}")
