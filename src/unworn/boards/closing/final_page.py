"""The page of a closed board: one file, without scripts, made of the signed summary and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from unworn.basics.display import show_html, show_number

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #4c78a8; --mark: #f58518; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
.bar { position: relative; height: .7rem; min-width: 10rem; background: var(--line); border-radius: .35rem; }
.bar span { position: absolute; height: 100%; background: var(--bar); border-radius: .35rem; }
.bar i { position: absolute; width: 3px; height: 100%; background: var(--mark); }
.wide { overflow-x: auto; } code { overflow-wrap: anywhere; } small { opacity: .8; }
"""


def final_page(document: Mapping[str, Any]) -> str:
    """The page; whatever teams wrote is shown as text."""
    settings, standings = document["settings"], document["standings"]
    closed = datetime.fromtimestamp(document["closed_at"], UTC).strftime("%Y-%m-%d %H:%M UTC")
    metric = settings["metric"] if settings["grader"] is None else f"graded: {settings['grader']}"
    rows = standings["rows"]
    intervals = [(each["submission"]["low"], each["submission"]["high"]) for each in rows]
    intervals += [(each["low"], each["high"]) for each in document["finals"]]
    ends = [end for pair in intervals for end in pair if end is not None]
    span = (min(ends, default=0.0), max(ends, default=1.0))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{show_html(document["title"])}: final standings</title><style>{_STYLE}</style></head><body>
<h1>{show_html(document["title"])}</h1>
<p>Closed {closed} after {document["submissions"]:,} submissions. Scored by {show_html(metric)} on {document["rows"]:,}
sealed rows, with {document["practice_rows"]:,} for practice. All intervals on this page hold together with
{100 * document["confidence"]:g} % probability.</p>
{_finals(document["finals"], span)}
{_standings(rows, span)}
<h2>Check it yourself</h2>
<p>The numbers on this page are those of <code>summary.json</code> beside it, which is signed: <code>unworn verify
summary.json</code>. Every answer has a card in <code>cards/</code>, which <code>unworn verify</code> checks too.
The ledger ends with <code>{show_html(document["ledger"]["head"])}</code>, the key is
<code>{show_html(document["public_key"])}</code>.</p>
</body></html>
"""


def _finals(finals: Sequence[Mapping[str, Any]], span: tuple[float, float]) -> str:
    if not finals:
        return ""
    what = "difference to the best" if finals[0]["is_difference"] else "score"
    lines = "".join(
        f"<tr><td>{show_html(each['team'])}</td><td>{show_number(each['value'])}</td>"
        f"<td>{_interval(each['low'], each['high'])}</td>"
        f"<td>{_bar(each['low'], each['high'], each['value'], span)}</td></tr>"
        for each in finals
    )
    return (
        f'<div class="wide"><table><caption>Final numbers: the exact {what} on the sealed rows</caption>'
        f"<tr><th>team</th><th>{what}</th><th>holds within</th><th></th></tr>{lines}</table></div>"
    )


def _standings(rows: Sequence[Mapping[str, Any]], span: tuple[float, float]) -> str:
    lines = []
    for each in rows:
        one = each["submission"]
        place = "–" if each["rank"] is None else f"{'=' if each['is_shared'] else ''}{each['rank']}"
        step = "certified step" if each["is_step"] else "surprise" if one["surprise"] else one["status"]
        step = one["source"] if one["value"] is None and not each["is_step"] else step
        lines.append(
            f"<tr><td>{place}</td><td>{show_html(each['team'])}</td><td>{show_html(one['name'] or '')}</td>"
            f"<td>{_number(one['value'])}</td><td>{_interval(one['low'], one['high'])}</td>"
            f"<td>{_bar(one['low'], one['high'], one['value'], span)}</td><td>{_number(one['practice'])}</td>"
            f"<td>{show_html(step or one['status'])}</td><td>{each['tries']}</td></tr>"
        )
    heads = ("rank", "team", "submission", "score", "certified", "", "practice", "", "tries")
    head = "".join(f"<th>{name}</th>" for name in heads)
    note = "<p><small>Teams with the same rank (=) cannot be told apart by these rows.</small></p>"
    return f'<div class="wide"><table><caption>Standings</caption><tr>{head}</tr>{"".join(lines)}</table></div>{note}'


def _number(value: float | None) -> str:
    return "" if value is None else show_number(value)


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{show_number(low)}, {show_number(high)}]"


def _bar(low: float | None, high: float | None, value: float | None, span: tuple[float, float]) -> str:
    length = span[1] - span[0]
    if low is None or high is None or not length:
        return ""
    left, width = (100 * (low - span[0]) / length, 100 * (high - low) / length)
    mark = "" if value is None else f'<i style="left:{100 * (value - span[0]) / length:.2f}%"></i>'
    return f'<div class="bar" aria-hidden="true"><span style="left:{left:.2f}%;width:{width:.2f}%"></span>{mark}</div>'
