"""The gate over HTTP."""

from __future__ import annotations

from tests.server.served_site import Site, predictions_csv
from unworn.boards.gate_values import GateState, GateVerdict

GATE = "/api/boards/bench/gate"


def propose(site: Site, wrong: int, seed: int = 0, **headers: str) -> GateVerdict:
    text = predictions_csv(site.truth["bench"], wrong, seed)
    reply = site.client.post(
        GATE,
        params={"message": "wider"},
        headers={**site.headers("ann", **headers), "Content-Type": "text/csv"},
        content=text,
    )
    assert reply.status_code == 200, reply.text
    return GateVerdict.from_json(reply.json())


def test_a_loop_keeps_and_reverts(site: Site) -> None:
    first = propose(site, 180)
    better = propose(site, 60)
    worse = propose(site, 190, seed=3)
    assert (first.keep, better.keep, worse.keep) == (True, True, False)
    again = propose(site, 50, Idempotency_Key="g1")
    assert propose(site, 50, Idempotency_Key="g1") == again
    state = GateState.from_json(site.get("ann", GATE).json())
    assert state is not None
    assert site.get("ann", f"{GATE}/cards/999").status_code == 404
    assert site.get("vic", f"{GATE}/cards/1").status_code == 403
    assert site.get("vic", GATE).status_code == 403
    assert site.get("bob", GATE).status_code == 403


def test_a_lane_ends_with_a_claim(site: Site) -> None:
    propose(site, 40)
    reply = site.post("ann", f"{GATE}/finish")
    assert reply.status_code == 200, reply.text
