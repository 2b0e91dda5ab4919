"""What a server's process asks of its system."""

from __future__ import annotations

import subprocess
import sys


def test_many_boards_may_be_open_where_a_shell_allows_few_files() -> None:
    code = (
        "import resource; from unworn.server.process import allow_many_files\n"
        "before = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))\n"
        "allow_many_files(); after = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "assert after[1] == before[1] and after[0] > 256, (before, after)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 300)); allow_many_files()\n"
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, 300)\n"
        "allow_many_files()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_no_more_places_are_open_than_there_are_files_for() -> None:
    code = (
        "import resource; from unworn.server.services import places_for_files\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "for soft, places in ((256, 16), (1024, 64), (12, 1)):\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        "    assert places_for_files() == places, (soft, places_for_files())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
