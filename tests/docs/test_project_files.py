"""What a forge and a reader of citations are told is true: workflow, templates, version, changes."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.built_archives import supported_versions
from unworn import __version__

ROOT = Path(__file__).parents[2]
FORGE = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def commands(script: str) -> list[str]:
    """What a script does, without the lines that make it a script."""
    lines = [line.strip() for line in script.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]


def jobs() -> dict[str, Any]:
    return dict(read_yaml(FORGE / "workflows" / "tests.yml")["jobs"])


def steps(job: dict[str, Any]) -> list[str]:
    return [command for step in job["steps"] for command in commands(step.get("run", ""))]


def test_the_workflow_does_what_the_own_script_does() -> None:
    job = jobs()["test"]
    assert steps(job) == commands((ROOT / ".ci" / "run").read_text()) != []
    assert job["strategy"]["matrix"]["python"] == supported_versions()
    assert job["container"]["image"] == "python:${{ matrix.python }}-bookworm"


def test_the_workflow_builds_what_would_be_published() -> None:
    job = jobs()["build"]
    assert steps(job) == ["make dist"]
    (kept,) = [step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert kept == "dist/"
    for command in [*steps(job), *steps(jobs()["test"])]:
        program, target = shlex.split(command)
        assert program == "make"
        assert target in TARGETS


def test_the_workflow_may_only_read() -> None:
    workflow = read_yaml(FORGE / "workflows" / "tests.yml")
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in (FORGE / "workflows" / "tests.yml").read_text()
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert checkout["with"] == {"persist-credentials": False}


@pytest.mark.parametrize("form", sorted((FORGE / "ISSUE_TEMPLATE").iterdir()), ids=lambda p: p.stem)
def test_a_form_is_one_that_a_forge_can_show(form: Path) -> None:
    told = read_yaml(form)
    assert set(told) == {"name", "description", "labels", "body"}
    fields = [field for field in told["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert any(field.get("validations", {}).get("required") for field in fields)
    for field in told["body"]:
        assert field["type"] in {"markdown", "dropdown", "textarea", "input"}
        assert field["attributes"]["value" if field["type"] == "markdown" else "label"]
        assert ("options" in field["attributes"]) == (field["type"] == "dropdown")


def test_templates_name_files_and_commands_that_there_are() -> None:
    for page in [*(FORGE / "ISSUE_TEMPLATE").iterdir(), FORGE / "PULL_REQUEST_TEMPLATE.md"]:
        text = page.read_text()
        assert all((ROOT / name).is_file() for name in re.findall(r"\b[A-Z]+\.md\b", text))
        assert set(re.findall(r"`make ([a-z-]+)`", text)) <= set(TARGETS)


def test_citation_and_changes_are_about_this_version() -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    assert str(citation["version"]) == __version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    newest = re.search(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == __version__
    assert newest[2] == str(citation.get("date-released", "unreleased"))


def test_the_version_is_written_once() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", __version__)
