"""Every picture, once, from plain tables: notebook, command line and page draw the same.

A chart is a function of numbers that were already released; this package cannot reach the rows, nor anything that can.
Colours are told apart by people who do not see red or green, and every line is named where it ends.
"""

from unworn.charts.answers import intervals
from unworn.charts.audits import audit
from unworn.charts.chart_files import SUFFIXES, available, check, save, svg_text
from unworn.charts.climbs import climbs
from unworn.charts.contrast import demonstration
from unworn.charts.measured_lines import measured_lines
from unworn.charts.plans import plans, widths
from unworn.charts.rankings import ranking
from unworn.charts.regimes import regimes
from unworn.charts.releases import release
from unworn.charts.restarts import restarts

__all__ = [
    "SUFFIXES",
    "audit",
    "available",
    "check",
    "climbs",
    "demonstration",
    "intervals",
    "measured_lines",
    "plans",
    "ranking",
    "regimes",
    "release",
    "restarts",
    "save",
    "svg_text",
    "widths",
]
