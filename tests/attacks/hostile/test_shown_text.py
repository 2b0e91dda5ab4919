"""Names can hold anything: what a screen would obey, a page would run or a renderer would stop at is written out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from unworn import Holdout, Unaskable, col, share
from unworn.basics.display import escape_json, show_html, show_line, show_text, show_value
from unworn.charts import available, intervals
from unworn.cli import app
from unworn.errors import Mismatch
from unworn.queries import NamedPredictions, metric
from unworn.queries.predictions import as_source
from unworn.record.certificate import Certificate

ESCAPES = "".join(map(chr, (*range(32), *range(127, 160), 0x200B, 0x200F, 0x2028, 0x2029, 0x202E, 0x2066, 0xFEFF)))
TAG = "</script><img src=x onerror=alert(1)><!--"
HOSTILE = f"\x1b[31mred{ESCAPES}{TAG}"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

needs_charts = pytest.mark.skipif(not available(), reason="draws")


def asked(ledger: Path | None = None) -> tuple[Holdout, Any]:
    rows = np.random.default_rng(0).normal(size=300)
    holdout = Holdout({HOSTILE: rows}, name=HOSTILE, ledger=None if ledger is None else str(ledger))
    return holdout, holdout.ask(share(col(HOSTILE) > 0), 0.5, by=HOSTILE)


class Elements(HTMLParser):
    """Which elements a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(tag)


def test_every_hidden_character_is_written_out_and_no_other() -> None:
    every = "".join(map(chr, range(0x110000)))
    assert not OBEYED.search(show_line(every))
    assert "\n" not in show_line(every)
    unseen = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *range(0xE0000, 0xE1000)}
    visible = "".join(character for character in every if character.isprintable() and ord(character) not in unseen)
    assert show_line(visible) == visible
    assert show_text("two\n\tlines") == "two\n\tlines"
    assert show_line(ESCAPES).isprintable()


def test_json_is_escaped_without_loss() -> None:
    told = {HOSTILE: [HOSTILE, "\ud800", "\U000e0001"]}
    text = escape_json(json.dumps(told, ensure_ascii=False))
    assert not OBEYED.search(text)
    assert json.loads(text) == told


def test_a_value_that_cannot_be_shown_is_named_by_its_type() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert show_value(Mute()) == "a value of type Mute"
    assert show_value(10**5000) == "a value of type int"
    assert len(show_value("x" * 10**7)) < 70


def test_reprs_of_a_holdout_its_answers_and_its_meter() -> None:
    holdout, answer = asked()
    shown = [repr(holdout), str(answer), repr(answer), str(holdout.meter), answer.row()["by"], answer.row()["question"]]
    for text in shown:
        assert not OBEYED.search(text)
        assert "\n" not in text
    for page in (holdout._repr_html_(), answer._repr_html_(), answer.certificate._repr_html_()):
        assert not OBEYED.search(page)
        assert not {"script", "img"} & set(Elements(page).found)
    assert answer.certificate.record.by == HOSTILE == holdout.name  # what is kept stays as it is
    verdict = holdout.test(share(col(HOSTILE) > 0), above=0.1)
    assert not OBEYED.search(str(verdict) + verdict._repr_html_())


def test_the_name_of_a_use_is_no_html() -> None:
    rows = {"a": np.random.default_rng(0).normal(size=300)}
    holdout = Holdout(rows, uses={TAG: 0.5, "asks": 0.5}, use=TAG)
    assert "img" not in Elements(holdout.meter._repr_html_()).found
    assert "img" not in Elements(holdout._repr_html_()).found


def test_errors_carry_no_escapes() -> None:
    holdout, _ = asked()
    with pytest.raises(Unaskable) as refused:
        holdout.ask(share(col("age") > 0))  # names the columns there are
    assert not OBEYED.search(str(refused.value))
    assert not OBEYED.search(refused.value.message)
    assert show_html(TAG).startswith("&lt;/script")
    assert str(Mismatch(f"a\x9b31m\n  {HOSTILE}", name=HOSTILE)).count("\n") == 2  # the line's end in the name is kept
    assert Mismatch("x", name=HOSTILE).numbers["name"] == HOSTILE


def test_the_command_line_prints_no_escapes(tmp_path: Path) -> None:
    ledger = tmp_path / "x.db"
    holdout, answer = asked(ledger)
    answer.certificate.save(tmp_path / "card.json")
    holdout.close()
    for words in (
        ["ledger", str(ledger)],
        ["verify", str(tmp_path / "card.json")],
        ["verify", "--ledger", str(ledger)],
    ):
        for more in ([], ["--json"]):
            told = CliRunner().invoke(app, [*words, *more])
            assert told.exit_code == 0, told.output
            assert not OBEYED.search(told.output.replace("\n", "").replace("\t", ""))
            if more:
                assert escape_json(json.dumps(HOSTILE, ensure_ascii=False)) in told.stdout  # a program gets the name
    assert not OBEYED.search((tmp_path / "card.json").read_text())
    assert Certificate.load(tmp_path / "card.json").terms.name == HOSTILE


@needs_charts
@pytest.mark.parametrize("suffix", [".svg", ".png", ".html", ".json"])
def test_a_figure_of_any_name_is_drawn(tmp_path: Path, suffix: str) -> None:
    """In another process, since the renderer would take this one along."""
    code = f"""
import math
from unworn.charts import intervals, save
hostile = {HOSTILE!r} + chr(0xD800) + chr(0xFFFE)
row = dict(index=1, value=.5, low=-math.inf, high=math.nan, source=hostile, question=hostile)
save(intervals([row], title=hostile, subtitle=hostile), {str(tmp_path / "x")!r} + {suffix!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    drawn = (tmp_path / f"x{suffix}").read_bytes()
    assert len(drawn) > 500
    if suffix == ".svg":
        import xml.etree.ElementTree as Tree

        Tree.fromstring(drawn)
    if suffix == ".html":
        page = drawn.decode()
        assert Elements(page).found.count("script") == 3
        assert "img" not in Elements(page).found
        spec = json.loads(page.split('id="spec">')[1].split("</script>")[0])
        assert "img src=x onerror" in spec["title"]["text"]
        assert "Content-Security-Policy" in page


@needs_charts
def test_a_notebook_puts_no_tag_into_its_script() -> None:
    row = {"index": 1, "value": 0.5, "low": 0.4, "high": 0.6, "source": "guess", "question": TAG}
    assert "</script" not in json.dumps(intervals([row], title=TAG, subtitle=[TAG]).to_dict())


def test_a_release_of_hostile_names_is_saved(tmp_path: Path) -> None:
    from unworn.release import fit

    rng = np.random.default_rng(0)
    name = "a\x1b[31m" + TAG + "![x](http://x)`"
    data = {name: rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}
    code = fit(data, 2, epsilon=1.0, domain={name: [0, 1], "b": [0, 1]})
    folder = code.save(tmp_path / "release", rows=20)
    page = (folder / "README.md").read_text()
    assert not OBEYED.search(page)
    assert "<img" not in page
    assert "](http" not in page
    assert "img" not in Elements(code._repr_html_()).found
    assert not OBEYED.search(code._repr_html_())
    assert (folder / "rows.csv").read_text().count(TAG) == 1  # the data stay what they are


def test_what_questions_are_called_is_written_out_in_their_reprs_and_quotes() -> None:
    made = metric("f1", NamedPredictions([0, 1, 1], HOSTILE))
    model = as_source(lambda rows: rows, ("__call__",), name=HOSTILE)
    assert not any(OBEYED.search(repr(thing)) for thing in (made, model))
    quote = asked()[0].quote((share(col(HOSTILE) > 0) - share(col(HOSTILE) > 1)).named(HOSTILE), guess=[0.5, 0.2])
    for shown in (repr(quote), str(quote), quote._repr_html_()):
        assert not OBEYED.search(shown)
    assert "img" not in Elements(quote._repr_html_()).found
