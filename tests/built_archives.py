"""What is published: the wheel and the sources, built once from this tree, and Pythons to install the wheel in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
MOMENT = 1_700_000_000
"""The time that all files of an archive get, in seconds since 1970."""


class Archives(NamedTuple):
    wheel: Path
    sources: Path


def build(tree: Path, folder: Path, *options: str) -> None:
    """Build what ``options`` name (nothing: wheel and sources) from a tree, as ``make dist`` does."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(MOMENT)}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    """Wheel and sources of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    (wheel,), (sources,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Archives(wheel, sources)


def supported_versions() -> list[str]:
    """Every Python that the classifiers name, as in 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    last = [line.rpartition(" :: ")[2] for line in project["classifiers"] if line.startswith("Programming Language")]
    return [version for version in last if version.startswith("3.")]


def find_python(version: str) -> str:
    """A Python of that version: this one, on the path, or one of pyenv's; the test is skipped where there is none."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [shutil.which(name), *map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/{name}")))]
    for place in places:  # a shim of pyenv's is on the path also where it leads nowhere
        if place and subprocess.run([place, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0:
            return place
    pytest.skip(f"there is no Python {version} here")
