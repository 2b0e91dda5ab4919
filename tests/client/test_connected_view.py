"""What is seen of a holdout behind a wall is rebuilt from signed entries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client.real_server import RunningServer
from unworn import connect
from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.connecting import open_connection
from unworn.errors import Tampered

Entries = list[dict[str, Any]]


class ChangedEntries(httpx.BaseTransport):
    """Passes everything on, and changes the entries that come back."""

    def __init__(self, change: Callable[[Entries], Entries]) -> None:
        self.inner, self.change = httpx.HTTPTransport(), change

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = self.inner.handle_request(request)
        reply.read()
        if not request.url.path.endswith("/entries"):
            return reply
        return httpx.Response(reply.status_code, json=self.change(json.loads(reply.content)))

    def close(self) -> None:
        self.inner.close()


def _improve(entries: Entries) -> Entries:
    entries[1]["body"]["published"][0] = 0.99
    return entries


def test_the_table_of_answers_is_of_signed_entries(server: RunningServer) -> None:
    holdout = connect(server.holdout, server.tokens["ann"])
    assert isinstance(holdout, ConnectedHoldout)
    asked = [holdout.ask(f"age > {age}", guess=(90 - age) / 72, tags={"age": age}) for age in (31, 32, 33)]
    table = holdout.answers
    rows = {int(row["index"]): row for row in table.to_dict("records")}
    assert [rows[each.index]["value"] for each in asked] == [each.value for each in asked]  # type: ignore[union-attr]
    assert [rows[each.index]["tags.age"] for each in asked] == [31, 32, 33]  # type: ignore[union-attr]
    holdout.close()


@pytest.mark.parametrize("change", [_improve, lambda entries: [entries[0], *entries[2:]]], ids=["changed", "left out"])
def test_other_entries_than_the_ledgers_are_refused(
    server: RunningServer, change: Callable[[Entries], Entries]
) -> None:
    holdout = open_connection(server.holdout, server.tokens["ann"], transport=ChangedEntries(change))
    assert isinstance(holdout, ConnectedHoldout)
    for age in (41, 42):
        holdout.ask(f"age > {age}", guess=(90 - age) / 72)
    with pytest.raises(Tampered):
        _ = holdout.answers
    holdout.close()
