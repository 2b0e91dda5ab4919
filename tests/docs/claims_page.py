"""The page of the lab's claims, from runs that were kept: ``python -m tests.docs.claims_page FOLDER`` writes it anew.

``make claims`` runs them first. The page's figures lie in ``docs/gallery/claims``, with what was measured in
``results.json``: the page itself is made from that and from the claims, so that a test can make it again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.docs.lecture_pages import anchor, escaped, page_names
from tests.docs.rooms_map import ROOT
from unworn.lab.papers.claim_registry import claim_named

PAGE, FIGURES = ROOT / "docs" / "claims.md", ROOT / "docs" / "gallery" / "claims"
START, END = "<!-- claims: made by python -m tests.docs.claims_page -->\n", "<!-- end of claims -->\n"
KEPT = ("name", "effort", "seed", "version", "holds", "measured")


def claim_lines(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The table of all claims, and then each with its figure."""
    good = sum(result["holds"] is claim_named(result["name"]).is_true for result in results)
    yield f"{good} of {len(results)} verdicts are as expected."
    yield ""
    yield "| what one sees | claim | lecture | verdict |"
    yield "| --- | --- | --- | --- |"
    for result in results:
        claim = claim_named(result["name"])
        numbers = sorted({text[:3] for text in claim.lectures})
        links = ", ".join(f"[{number}](lectures/{page_names()[number]})" for number in numbers)
        yield f"| [{escaped(claim.title)}](#{anchor(claim.title)}) | `{claim.name}` | {links} | {verdict(result)} |"
    for result in results:
        yield from section(result)


def verdict(result: dict[str, Any]) -> str:
    word = "holds" if result["holds"] else "does not hold"
    return word if result["holds"] is claim_named(result["name"]).is_true else f"{word}, **not as expected**"


def section(result: dict[str, Any]) -> Iterator[str]:
    """A claim: its figure, what is said, expected and measured, and what runs it again."""
    claim = claim_named(result["name"])
    quick = " --quick" if result["effort"] == "quick" else ""
    yield f"\n## {claim.title}\n"
    yield f"![{claim.title}](gallery/claims/{claim.name}.svg)\n"
    yield f"**Claim.** {escaped(claim.statement)} *{escaped(claim.citation)}*\n"
    yield f"**Expected.** {escaped(claim.expected)}\n"
    yield f"**Measured.** {escaped(result['measured'])} Verdict: {verdict(result)}.\n"
    yield f"```console\n$ unworn lab run {claim.name}{quick} --seed {result['seed']}   # by {result['version']}\n```"


def with_claims(page: str, results: Sequence[dict[str, Any]]) -> str:
    """The page with what stands between its two marks made anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    before = before or "# Claims, run again\n\n"
    made = "\n".join(claim_lines(results))
    return f"{before}{START}\n{made}\n\n{END}{after}"


def read_results() -> list[dict[str, Any]]:
    return list(json.loads((FIGURES / "results.json").read_text()))


def keep(folder: Path) -> list[dict[str, Any]]:
    """Draw the runs of a folder without captions, which stand on the page, and keep what was measured."""
    from unworn import charts
    from unworn.lab.papers.claim_runs import saved_runs

    runs = saved_runs(folder)
    if wrong := [run.name for run in runs if run.outcome is None]:
        raise SystemExit(f"the experiments of {wrong} failed: run them again")
    FIGURES.mkdir(parents=True, exist_ok=True)
    for run in runs:
        assert run.outcome is not None
        figure = run.claim.draw(run.outcome.rows, title=run.claim.title, subtitle=())
        (FIGURES / f"{run.name}.svg").write_text(charts.svg_text(figure))
    results = [{name: run.to_json()[name] for name in KEPT} for run in runs]
    (FIGURES / "results.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return results


if __name__ == "__main__":
    told = keep(Path(sys.argv[1]))
    PAGE.write_text(with_claims(PAGE.read_text() if PAGE.exists() else "", told))
