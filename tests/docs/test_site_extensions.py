"""What turns docstrings, links and figures into pages of the site."""

from __future__ import annotations

import doctest
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.test_docs import ROOT

pytest.importorskip("sphinx")
FOLDER = ROOT / "docs" / "extensions"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


@pytest.mark.parametrize("name", ["outside_pages", "plain_docstrings"])
def test_their_examples(name: str) -> None:
    tried = doctest.testmod(load(name))
    assert tried.failed == 0
    assert tried.attempted >= 2


def test_a_colon_in_the_first_sentence_of_a_property_makes_no_type_of_it() -> None:
    from sphinx.ext.napoleon import Config, NumpyDocstring

    extension, what = load("plain_docstrings"), ("property", "Holdout.head", None, None)
    lines = ["The hash of the last entry: note it somewhere."]
    extension.shield_docstring(None, *what, lines)
    lines = str(NumpyDocstring(lines, Config(napoleon_use_ivar=True), what=what[0], name=what[1])).split("\n")
    extension.mend_docstring(None, *what, lines)
    assert lines == ["The hash of the last entry: note it somewhere."]


def test_pages_for_files_outside_exist() -> None:
    for file, page in load("outside_pages").PAGES.items():
        assert (ROOT / file).is_file()
        assert (ROOT / "docs" / page).is_file()


def test_every_figure_has_a_caption_and_every_page_it_names_is_there() -> None:
    captions = load("gallery_page").read_captions(ROOT / "docs" / "gallery")
    assert len(captions) >= 4
    for caption in captions:
        assert (ROOT / "docs" / caption.page.partition("#")[0]).is_file()
        assert len(caption.claim.split()) >= 20


def test_a_figure_without_a_caption_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "captions.json").write_text(
        json.dumps([{"figure": "a.svg", "title": "A", "claim": "A claim.", "command": "unworn demo"}])
    )
    (tmp_path / "a.svg").touch()
    gallery = load("gallery_page")
    assert gallery.read_captions(tmp_path)[0].markdown("there", ".")[2] == "![A](there/a.svg)"
    (tmp_path / "b.png").touch()
    with pytest.raises(ValueError, match=r"without a caption: \['b.png'\]"):
        gallery.read_captions(tmp_path)
    (tmp_path / "b.png").unlink()
    (tmp_path / "a.svg").unlink()
    with pytest.raises(ValueError, match=r"without a figure: \['a.svg'\]"):
        gallery.read_captions(tmp_path)
