"""One page for all claims that were run: verdicts, figures, versions, seeds, and the command that runs each again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unworn import charts
from unworn.lab.papers.claim_runs import ClaimRun
from unworn.record.report.html_report import html_report
from unworn.record.report.report_blocks import Block, Commands, Grid, Heading, KeyFacts, Paragraph, Picture

SUBTITLE = "Claims of papers and lectures on adaptive data analysis, run again by unworn"
_MOST_ROWS = 400


def claim_page(runs: Sequence[ClaimRun]) -> str:
    """The page, with every figure in it."""
    footer = "Made by unworn from what the experiments measured. Every figure is drawn from the numbers under it."
    return html_report("What the lab found", SUBTITLE, _blocks(runs), footer)


def verdict_of(run: ClaimRun) -> str:
    """The verdict in words.

    >>> verdict_of(ClaimRun("boosting", "quick", 0, "0.1.0", 1.0, None, "no rows"))
    'failed'
    """
    if run.outcome is None:
        return "failed"
    word = "holds" if run.outcome.holds else "does not hold"
    return word if run.is_as_expected else f"{word}, which is NOT as expected"


def _blocks(runs: Sequence[ClaimRun]) -> Iterator[Block]:
    good = sum(run.is_as_expected for run in runs)
    seeds = sorted({run.seed for run in runs})
    yield KeyFacts(
        [
            ("claims", f"{len(runs)}"),
            ("as expected", f"{good}"),
            ("seconds", f"{sum(run.seconds for run in runs):,.0f}"),
            ("seed" if len(seeds) == 1 else "seeds", ", ".join(map(str, seeds))),
            ("unworn", ", ".join(sorted({run.version for run in runs}))),
        ]
    )
    yield Grid(
        ["claim", "lectures", "verdict", "effort"],
        [[run.name, " ".join(_numbers(run)), verdict_of(run), run.effort] for run in runs],
    )
    for run in runs:
        yield from _section(run)


def _section(run: ClaimRun) -> Iterator[Block]:
    claim = run.claim
    yield Heading(claim.title)
    yield Paragraph(f"{claim.statement} ({claim.citation} Lectures: {'; '.join(claim.lectures)}.)")
    if run.outcome is None:
        yield Paragraph("The experiment failed:")
        yield Commands(run.error.strip().split("\n"))
        return
    yield Paragraph(f"Expected: {claim.expected}")
    yield Paragraph(f"Measured: {run.outcome.measured}")
    yield Paragraph(f"Verdict: {verdict_of(run)}.")
    if charts.available():
        words = f"{claim.title}. {run.outcome.measured}"
        figure = claim.draw(run.outcome.rows, title=claim.title, subtitle=())  # its caption stands above it
        yield Picture(f"{run.name}.svg", words, charts.svg_text(figure))
    rows = run.outcome.rows
    columns = list(rows[0])
    numbers = [place for place, name in enumerate(columns) if isinstance(rows[0][name], int | float)]
    cells = [["" if value is None else _cell(value) for value in row.values()] for row in rows[:_MOST_ROWS]]
    more = f", the first {_MOST_ROWS}" if len(rows) > _MOST_ROWS else ""
    yield Grid(columns, cells, numbers, folded=f"The numbers ({len(rows)} rows{more})")
    yield Commands([run.command])
    yield Paragraph(f"unworn {run.version}, seed {run.seed}, {run.effort}, {run.seconds:.0f} seconds")


def _numbers(run: ClaimRun) -> list[str]:
    return sorted({text[:3] for text in run.claim.lectures})


def _cell(value: str | int | float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
