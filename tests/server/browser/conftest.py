from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from tests.server.browser.site_under_test import Site


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of a module's own: with other rows than the others have, since rows have one ledger."""
    made = Site.of(tmp_path_factory.mktemp("site"), seed=zlib.crc32(request.module.__name__.encode()))
    yield made
    made.app.state.services.close()
