"""The files in deploy/ say what they should, and name commands and options that there are."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main

from unworn.cli import app
from unworn.server.settings import ServerSettings

DEPLOY = Path(__file__).parents[2] / "deploy"
PYPROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text()


def options_of(command: list[str]) -> Any:
    """What the command line makes of the words after ``unworn``; an error if it does not know them."""
    group: Any = typer.main.get_command(app)
    name, *rest = command
    found = group.get_command(None, name)
    return found.make_context(name, rest, resilient_parsing=False).params


def read_unit() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "unworn.service")
    return parser


def test_the_unit_has_its_own_user_and_a_private_folder() -> None:
    service = dict(read_unit()["Service"])
    assert (service["User"], service["Group"]) == ("unworn", "unworn")
    assert (service["StateDirectory"], service["StateDirectoryMode"], service["UMask"]) == ("unworn", "0700", "0077")
    for wall in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "PrivateDevices"):
        assert service[wall] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    program, *command = shlex.split(service["ExecStart"])
    assert program.endswith("/unworn")
    told = options_of(command)
    assert told["path"].is_relative_to("/var/lib/unworn")
    assert told["host"] == "127.0.0.1"
    assert f"server_name {told['address'].removeprefix('https://')};" in (DEPLOY / "nginx.conf").read_text()
    assert service["KillSignal"] == "SIGTERM"
    assert int(service["TimeoutStopSec"]) > 30


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_reads_the_unit() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", str(DEPLOY / "unworn.service")], capture_output=True, text=True, check=False
    )
    unknown = [line for line in done.stderr.splitlines() if "Unknown" in line or "Failed to parse" in line]
    assert unknown == []


def test_the_container_has_no_root() -> None:
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    words = [line.split(maxsplit=1) for line in lines]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"}
    assert {word[0] for word in words} <= known | {"ENTRYPOINT", "CMD"}
    final = words[max(place for place, word in enumerate(words) if word[0] == "FROM") :]
    said = {word[0]: word[1] for word in final}
    assert said["USER"] == "unworn"
    assert said["VOLUME"] == "/places"
    entry = [*re.findall(r'"([^"]*)"', said["ENTRYPOINT"]), *re.findall(r'"([^"]*)"', said["CMD"])]
    told = options_of(entry[1:])
    assert told["host"] == "0.0.0.0"
    assert str(told["port"]) == said["EXPOSE"]
    extras = re.findall(r"\.\[([a-z,]+)\]", text)[0].split(",")
    for extra in extras:
        assert re.search(rf"^{extra} = \[", PYPROJECT, re.MULTILINE), extra
    assert (DEPLOY / "Containerfile").read_text().count("0700") == 1


def test_the_proxy_has_the_servers_limits() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    settings = ServerSettings(Path())
    assert f"client_max_body_size {settings.max_upload // 2**20}m;" in text
    limit = re.findall(r"proxy_read_timeout (\d+)s;", text)
    assert int(limit[0]) > settings.request_seconds
    assert text.count("{") == text.count("}")
    assert "access_log off;" in text.partition("sign-in")[2].partition("}")[0]
