"""What a stranger gets: the two files that are published, and the core alone, without any extra, on every Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from email import message_from_string
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from tests.built_archives import MOMENT, ROOT, Archives, archives, build, find_python, supported_versions
from unworn import __version__

__all__ = ["archives"]  # pytest finds the fixture here
_CODE = """
import sys
from importlib.metadata import version
import numpy as np
import unworn
from unworn import Holdout, col, plan, share
from unworn.errors import MissingExtra

assert "site-packages" in unworn.__file__
assert unworn.__version__ == version("unworn")
rng = np.random.default_rng(0)
holdout = Holdout({"x": rng.normal(size=2000)}, rng.integers(0, 2, 2000), practice=0, ledger="core.db")
answer = holdout.ask(share(col("x") > 0), guess=0.5)
holdout.sharpen(answer)
holdout.verify()
assert holdout.answers["index"] == [1, 2], "without a frame library answers are a dict of lists"
assert plan(rows=2000, asks=100).best == "GuessAndCheck"
for module in ("pandas", "polars", "pyarrow", "sklearn", "altair", "sqlglot"):
    assert module not in sys.modules
assert holdout.ask("x > 0").index == 1, "SQL text is read by the core, and asks the same question"
try:
    Holdout("people.parquet")
except MissingExtra as error:
    assert "unworn[sql]" in str(error)
else:
    raise AssertionError("Parquet needs an extra")
"""


def test_the_wheel_is_the_package_and_nothing_else(archives: Archives) -> None:
    with zipfile.ZipFile(archives.wheel) as wheel:
        names = set(wheel.namelist())
        about = f"unworn-{__version__}.dist-info"
        told = Metadata.from_email(wheel.read(f"{about}/METADATA"), validate=True)
        moments = {entry.date_time for entry in wheel.infolist()}
    package = ROOT / "src" / "unworn"
    files = {p.relative_to(ROOT / "src").as_posix() for p in package.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert {name for name in names if not name.startswith(f"{about}/")} == files
    assert {"unworn/py.typed", "unworn/server/pages/static/unworn.css"} < files
    assert any(name.startswith("unworn/server/pages/templates/") for name in files)
    assert f"{about}/licenses/LICENSE" in names
    assert (told.name, str(told.version), told.license_expression) == ("unworn", __version__, "Apache-2.0")
    assert told.description == (ROOT / "README.md").read_text()
    assert all(url.startswith("https://") for url in (told.project_urls or {}).values())
    assert moments == {datetime.fromtimestamp(MOMENT, UTC).timetuple()[:6]}


def test_the_sources_have_all_that_git_does_and_build_the_same_wheel(archives: Archives, tmp_path: Path) -> None:
    with tarfile.open(archives.sources) as sources:
        for member in filter(tarfile.TarInfo.isfile, sources):
            place = tmp_path / member.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(sources.extractfile(member).read())  # today's date, and not the mode that it had
    tree = tmp_path / f"unworn-{__version__}"
    assert (tree / "tests" / "test_install.py").is_file()
    told = message_from_string((tree / "PKG-INFO").read_text())
    assert told["Version"] == __version__
    if (ROOT / ".git").exists() and shutil.which("git"):  # which has no place in the sources themselves
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
        known = {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}
        assert {p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()} - {"PKG-INFO"} == known
    (tree / "src" / "unworn" / "__main__.py").chmod(0o600)
    build(tree, tmp_path / "again", "-t", "wheel")
    (again,) = (tmp_path / "again").iterdir()
    assert again.name == archives.wheel.name
    assert again.read_bytes() == archives.wheel.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("version", supported_versions())
def test_the_core_works_alone(version: str, archives: Archives, tmp_path: Path) -> None:
    made = [find_python(version), "-m", "venv", tmp_path / "venv"]
    subprocess.run(made, check=True, capture_output=True, timeout=300)
    python = tmp_path / "venv" / "bin" / "python"
    quiet = ["--quiet", "--disable-pip-version-check"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pinned = ["--constraint", ROOT / "constraints.txt", "--only-binary", ":all:", "--no-compile"]
    run(python, "-m", "pip", "install", *quiet, *pinned, archives.wheel)
    assert run(python, "-c", "import sys; print(*sys.version_info[:2], sep='.')").strip() == version
    (package,) = (tmp_path / "venv" / "lib").glob("python*/site-packages/unworn")
    run(python, "-W", "error", "-m", "compileall", "-q", package)
    for command in ([python, "-m", "unworn"], [python.parent / "unworn"]):
        assert run(*command, "--version") == f"unworn {__version__}\n"
    (tmp_path / "people.parquet").touch()
    (tmp_path / "people.csv").write_text("age,plan\n" + "70,basic\n30,pro\n41.5,\n" * 1000)
    run(python, "-c", _CODE)
    told = json.loads(
        run(python, "-m", "unworn", "ask", "people.csv", "age > 65 and plan = 'basic'", "--guess", "0.33", "--json")
    )
    assert told["low"] <= 1 / 3 <= told["high"]
    assert '"best": "GuessAndCheck"' in run(python, "-m", "unworn", "plan", "--rows", "2000", "--asks", "100", "--json")
    assert "asked 2" in run(python, "-m", "unworn", "ledger", "core.db")
    if find_python(version) == sys.executable:  # once is enough: it takes as long as all of the above
        assert "plain holdout" in run(python, "-m", "unworn", "demo", "--out", tmp_path)  # and figures need an extra


@pytest.mark.slow
def test_the_demo_ends_within_a_minute(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unworn", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "unworn-demo.svg").stat().st_size > 10_000
    assert (tmp_path / "unworn-demo.png").stat().st_size > 10_000
