"""The site is built with warnings as errors and notebooks run; its links lead somewhere, and it needs no network."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.built_site import broken_links, read_links
from tests.docs.test_api_pages import MODULES
from tests.docs.test_docs import ROOT

pytest.importorskip("myst_nb")
pytest.importorskip("pydata_sphinx_theme")
DOCS = ROOT / "docs"


def build(source: Path, site: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    return subprocess.run(
        [*command, "-d", str(site.parent / "read"), str(source), str(site)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_the_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = build(DOCS, site)
    assert built.returncode == 0, built.stderr[-5_000:]

    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert not [page for page in pages if not (site / page).is_file()]
    assert not list(broken_links(site))
    for sheet in site.rglob("*.css"):
        assert not any(
            f"{start}{scheme}" in sheet.read_text() for start in ("url(", 'url("') for scheme in ("http", "//")
        )

    for module in MODULES:
        anchors = read_links(site / "api" / f"{module.rpartition('.')[2]}.html").anchors
        assert not {f"{module}.{name}" for name in importlib.import_module(module).__all__} - anchors
    for page in (site / "api").glob("*.html"):
        assert ">Type<" not in page.read_text()  # of a property whose first sentence has a colon

    notebooks = {path.stem for path in (DOCS / "notebooks").glob("*.md")} - {"index"}
    downloads = {path.stem: json.loads(path.read_text()) for path in site.rglob("*.ipynb")}
    assert notebooks == set(downloads)
    assert len(notebooks) == 5
    for notebook in downloads.values():
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert all(cell["execution_count"] for cell in cells)
        assert sum(bool(cell["outputs"]) for cell in cells) >= 3
        shown = json.dumps([cell["outputs"] for cell in cells])
        assert "Warning:" not in shown
        assert "site-packages" not in shown
    assert "<strong>name, max_width</strong>" in (site / "api" / "unworn.html").read_text()
    assert not [page.name for page in (site / "api").glob("*.html") if "_NestedSequence" in page.read_text()]


def test_a_page_that_is_wrong_is_no_site(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_text('extensions = ["myst_nb"]\n')
    (source / "index.md").write_text("# One\n\n[two](two.md)\n")
    built = build(source, tmp_path / "site")
    assert built.returncode != 0
    assert "two.md" in built.stderr


def test_figures_of_another_folder_are_shown(tmp_path: Path) -> None:
    source, made = tmp_path / "docs", tmp_path / "made"
    for folder, name in ((source / "gallery", "ours"), (made, "theirs")):
        folder.mkdir(parents=True)
        (folder / f"{name}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        caption = {"figure": f"{name}.svg", "title": name, "claim": f"What {name} shows.", "command": "unworn demo"}
        (folder / "captions.json").write_text(json.dumps([{**caption, "measured": "One half.", "source": "Somebody"}]))
    extensions = (
        f'import sys\nsys.path.insert(0, {str(DOCS / "extensions")!r})\nextensions = ["myst_nb", "gallery_page"]\n'
    )
    (source / "conf.py").write_text(extensions + 'exclude_patterns = ["gallery/**"]\n')
    (source / "index.md").write_text("# Figures\n\n```{gallery} gallery\n```\n")
    built = build(source, tmp_path / "site", UNWORN_FIGURES=str(made))
    assert built.returncode == 0, built.stderr
    assert {"_images/ours.svg", "_images/theirs.svg"} <= set(read_links(tmp_path / "site" / "index.html").loaded)
    assert (tmp_path / "site" / "_images" / "theirs.svg").is_file()


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<a href="https://example.org">4</a><img src="data:,"><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#here">1</a>')
    assert sorted(broken_links(tmp_path)) == [
        "a.html links to b.html#there, which is no place on that page",
        "a.html links to c.html, which is no file",
        "a.html loads https://example.org/x.js",
    ]
