"""A release as a notebook shows it: what it promises, and its tables with the largest errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.basics.display import show_html

if TYPE_CHECKING:
    from unworn.release.release import Release

_SHOWN = 12
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"


def html(release: Release) -> str:
    """Only what was released is shown; names are escaped, for they can contain anything."""
    kept, problem = release.certificate, release.problem
    promises = {
        "answers": f"{problem.questions:,} shares in {len(problem.blocks):,} tables of {problem.rows:,} rows",
        "from the rows": f"± {kept.sample_error:.3g} at most",
        "from the population": f"± {kept.population_error:.3g} at most, {100 * kept.confidence:.6g} % for all together",
        "privacy": f"ε = {kept.epsilon:g}, δ = {kept.delta:g}, for one row replaced by another",
        "made by": f"{kept.said['method']['method']}: {kept.said['theorems']['sample']}",
    }
    lines = "".join(
        f"<tr><th style='{_LEFT}'>{what}</th><td style='{_LEFT}'>{show_html(told)}</td></tr>"
        for what, told in promises.items()
    )
    items = "".join(f"<li>{show_html(assumption)}</li>" for assumption in kept.assumptions)
    return (
        f"<div><b>Release</b> · {show_html(str(kept.said['name']))}<table>{lines}</table>{_tables(release)}"
        f"<details><summary>Assuming</summary><ul>{items}</ul></details></div>"
    )


def _tables(release: Release) -> str:
    """The tables whose shares can be off most, the worst first, each error with a bar."""
    lines = [release.line(place) for place in range(len(release.problem.blocks))]
    worst = sorted(lines, key=lambda line: -float(line["sample_error"]))[:_SHOWN]
    most = max(float(line["sample_error"]) for line in lines) or 1.0
    body = "".join(
        f"<tr><td style='{_LEFT}'>{show_html(str(line['columns']).replace(', ', ' × '))}</td>"
        f"<td style='{_RIGHT}'>{line['questions']:,}</td>"
        f"<td style='{_RIGHT};background:{_bar(float(line['sample_error']) / most)}'>± {line['sample_error']:.2g}</td>"
        f"<td style='{_RIGHT}'>± {line['population_error']:.2g}</td></tr>"
        for line in worst
    )
    shown = f"{len(lines):,} tables" if len(lines) <= _SHOWN else f"The worst {_SHOWN} of {len(lines):,} tables"
    heads = "".join(f"<th>{head}</th>" for head in ("table", "shares", "from the rows", "from the population"))
    return f"<details open><summary>{shown}</summary><table><tr>{heads}</tr>{body}</table></details>"


def _bar(part: float) -> str:
    end = f"{100 * min(1.0, max(0.0, part)):.0f}%"
    return f"linear-gradient(to right, rgba(0,114,178,.18) {end}, transparent {end})"
