"""Whatever is sent to whichever route of a place: from outside, a place that is there is like one that is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.served_site import Site, predictions_csv

OUTSIDERS = ("ann", "ana", "vic", "una", None)
"""Everybody who has nothing to do with the board ``rival`` and the holdout ``others``."""


def all_routes(site: Site) -> list[str]:
    """The addresses of everything about a place: for programs and for people, twins and pictures too."""
    return [path for path in {route.path_format for route in site.client.app.routes} if "{place" in path]


@pytest.fixture(scope="module")
def used(site: Site) -> Site:
    """With something to find in each place."""
    site.send("bob", "/api/boards/rival/submissions", predictions_csv(site.truth["rival"], 20))
    site.post("owner", "/api/holdouts/others/asks", {"question": "age > 30"})
    return site


@pytest.mark.parametrize("outsider", OUTSIDERS)
def test_no_route_tells_whether_a_place_exists(used: Site, outsider: str | None) -> None:
    submission = used.get("bob", "/api/boards/rival/submissions").json()[0]["id"]
    routes = all_routes(used)
    assert len(routes) > 40
    for route in routes:
        for place in ("rival", "others"):
            path = route.replace("{id}", submission).replace("{index}", "1")
            for method in ("GET", "POST"):
                there, nowhere = (ask(used, outsider, method, path, name) for name in (place, "nowhere"))
                assert there == nowhere, (method, path)
                assert there[0] >= 400, (method, path)


def ask(site: Site, account: str | None, method: str, path: str, place: str) -> tuple[Any, ...]:
    """Status, headers and text, but for the name that was asked for."""
    headers = {} if account is None else site.headers(account)
    body = {} if method == "GET" else {"content": predictions_csv(site.truth["rival"], 10)}
    sent = {**headers, "Content-Type": "text/csv"}
    reply = site.client.request(method, path.replace("{place}", place), headers=sent, follow_redirects=False, **body)
    kept = {name: value for name, value in reply.headers.items() if name.lower() != "content-length"}
    return reply.status_code, kept, reply.text.replace(place, "PLACE")


def test_no_card_and_no_lane_of_another_team_is_shown(used: Site) -> None:
    """Within one board: what a team asked is its own, until the standings show it."""
    accounts = used.services.accounts
    accounts.add("kim", "kims", "participant", ["board:rival"])
    used.tokens["kim"] = accounts.issue_token("kim")
    for wrong in (150, 120):  # the second is the team's best: the first is in no standings
        used.send(
            "bob", "/api/boards/rival/submissions?message=secret", predictions_csv(used.truth["rival"], wrong, wrong)
        )
    used.send("bob", "/api/boards/rival/gate", predictions_csv(used.truth["rival"], 110, 1))
    own = used.get("bob", "/api/boards/rival/submissions").json()
    shown = {row["submission"]["id"] for row in used.get("kim", "/api/boards/rival/standings").json()["rows"]}
    hidden = [each for each in own if each["id"] not in shown]
    assert hidden
    for each in hidden:
        for rest in ("", "/cards", "/composite"):
            assert used.get("kim", f"/api/boards/rival/submissions/{each['id']}{rest}").status_code == 404
        for page in (f"/boards/rival/submissions/{each['id']}", f"/boards/rival/submissions/{each['id']}.json"):
            assert used.get("kim", page).status_code == 404
        for index in each["indexes"]:
            for path in (
                f"/cards/rival/{index}",
                f"/cards/rival/{index}.json",
                f"/api/boards/rival/gate/cards/{index}",
            ):
                assert (
                    used.get("kim", path).status_code == used.get("kim", path.replace(str(index), "99999")).status_code
                )
    assert "secret" not in used.get("kim", "/api/boards/rival/standings").text
    assert used.get("kim", "/api/boards/rival/gate").json()["proposals"] == 0
    assert used.get("bob", "/api/boards/rival/gate").json()["proposals"] == 1
