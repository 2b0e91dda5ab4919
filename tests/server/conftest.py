"""A server that all tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.served_site import Site, serve_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWORN_HOME", str(tmp_path_factory.mktemp("home")))
        with serve_site(tmp_path_factory.mktemp("site")) as made:
            yield made
