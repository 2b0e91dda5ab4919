"""README's blocks run as they are written, one after another, from an empty folder, and print what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ALONE = """
from importlib.machinery import PathFinder as P
P.find_spec = lambda name, *rest, find=P.find_spec: find(name, *rest) if name[:6] not in ("pandas", "polars") else None
"""
"""What `unworn[all]` does not bring is not here."""
_SAID = re.compile(r"# prints: (.*)$", re.MULTILINE)


def _blocks(language: str, text: str = README) -> str:
    return "".join(block for kind, block in _BLOCK.findall(text) if kind == language)


def _expected(code: str) -> list[re.Pattern[str]]:
    """What comments promise, line by line; an ellipsis stands for digits that are random."""
    return [re.compile(re.escape(said).replace("…", "[0-9]+")) for said in _SAID.findall(code)]


def _run(command: list[str], folder: Path) -> str:
    # A stranger's shell: the environment's own programmes first, and a home that is empty.
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "UNWORN_HOME": str(folder / "home" / "unworn"),
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        command, cwd=folder / "empty", env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("home", "empty"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_the_blocks_run_from_an_empty_folder_and_print_what_they_say(folder: Path) -> None:
    code = _blocks("python")
    printed = _run([sys.executable, "-W", "error", "-c", _ALONE + code], folder).splitlines()
    expected = _expected(code)
    assert len(expected) >= 4
    assert len(printed) == len(expected)
    for said, line in zip(expected, printed, strict=True):
        assert said.fullmatch(line), f"README says {said.pattern}, and the block prints {line}"
    told = _run(["bash", "-euo", "pipefail", "-c", _blocks("sh")], folder)
    assert "The card is valid." in told
    assert {"plan.svg", "answer.json", "members.arrow", "release"} <= {
        path.name for path in (folder / "empty").iterdir()
    }


def test_a_promise_that_is_not_kept_is_seen() -> None:
    (said,) = _expected("print(1)  # prints: 0.… in [0.7, …]\n")
    assert said.fullmatch("0.75 in [0.7, 8]")
    assert not said.fullmatch("0.75 in [0.6, 8]")
