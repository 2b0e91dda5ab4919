"""The OpenAPI document has every route for programs; whatever follows it gets an answer that is no mistake of ours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.server.served_site import Site, predictions_csv, serve_site
from unworn.server.app import ROUTE_MODULES
from unworn.server.openapi import make_document

EXAMPLES = int(os.environ.get("UNWORN_EXAMPLES", "8"))
"""Requests to each operation, in all three kinds."""
KNOWN = {"place": ["bench", "people", "nowhere"], "name": ["ann", "nobody"], "id": ["0123456789abcdef"]}


def document() -> dict[str, Any]:
    from importlib import import_module

    handlers = [handler for module in ROUTE_MODULES for handler in import_module(module).ROUTES]
    return make_document(handlers, "http://testserver.local")


def operations() -> list[tuple[str, str]]:
    return [(path, method) for path, methods in document()["paths"].items() for method in methods]


def test_every_route_for_programs_is_described(site: Site) -> None:
    told = site.client.get("/openapi.json").json()
    shown = {path.replace("{", "").replace("}", "") for path in told["paths"]}
    routes = {route.path for route in site.client.app.routes}
    there = {path.replace("{", "").replace("}", "").replace(":str", "").replace(":int", "") for path in routes}
    api = {path for path in there if path.startswith("/api/")} | {"/health", "/ready", "/metrics", "/openapi.json"}
    assert shown == api
    for methods in told["paths"].values():
        for operation in methods.values():
            assert operation["summary"].endswith((".", "?"))


def prepare(site: Site) -> None:
    """Something to look at, so that not every look finds nothing."""
    site.send("ann", "/api/boards/bench/submissions", predictions_csv(site.truth["bench"], 100))
    site.post("ana", "/api/holdouts/people/asks", {"question": "age > 65", "guess": 0.3})


@pytest.mark.parametrize(("path", "method"), operations())
def test_whatever_follows_the_document_is_answered(site: Site, path: str, method: str) -> None:
    """0 answers of 5xx; and whatever goes wrong is told as problem+json."""
    prepare(site)
    declared = document()["paths"][path][method]["responses"]
    operation = schemathesis.openapi.from_dict(document())[path][method.upper()]
    seen = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def follow(case: Any) -> None:
        for name, value in case.path_parameters.items():  # else nearly every request would be to a place not there
            if name in KNOWN and len(seen) % 4 < 3 and isinstance(value, str):
                case.path_parameters[name] = KNOWN[name][len(seen) % len(KNOWN[name])]
        told = case.as_transport_kwargs(base_url="http://testserver.local")
        headers = {key: value for key, value in dict(told.pop("headers", {})).items() if key.lower() != "authorization"}
        told.pop("cookies", None)
        if isinstance(told.get("data"), bytes | str):
            told["content"] = told.pop("data")
        if isinstance(told.get("files"), list):
            told["files"] = [(name, str(part).encode()) for name, part in told["files"]]
        account = ("owner", "ann", "ana")[len(seen) % 3]
        if path.endswith(("/close", "/final")):
            account = "bob"  # what ends a place for good would end this test
        reply = site.client.request(
            told.pop("method"), told.pop("url"), headers={**headers, **site.headers(account)}, **told
        )
        seen.append(reply.status_code)
        assert str(reply.status_code) in declared
        assert reply.status_code < 500 or reply.status_code == 501, reply.text
        if reply.status_code >= 400:
            assert reply.headers["content-type"] == "application/problem+json"
            problem = json.loads(reply.text)
            assert problem["status"] == reply.status_code
            assert str(site.root) not in reply.text

    follow()
    assert seen


def test_every_operation_succeeds_as_the_document_says(tmp_path: Path) -> None:
    """Each once, with what it asks for: the status and the kind of body that are declared."""
    told, tried = document()["paths"], set()
    with serve_site(tmp_path) as site:

        def use(account: str, method: str, path: str, **sent: Any) -> Any:
            address, headers = path, site.headers(account)
            names = {"place": "bench" if "/boards/" in path else "people", **sent.pop("names", {})}
            for name, value in names.items():
                address = address.replace(f"{{{name}}}", str(value))
            if "content" in sent:
                headers["Content-Type"] = "text/csv"
            reply = site.client.request(method, address, headers=headers, **sent)
            operation = told[path][method.lower()]
            (status,) = [status for status in operation["responses"] if status.startswith("2")]
            kinds = operation["responses"][status]["content"]
            assert str(reply.status_code) == status, (method, path, reply.text)
            assert reply.headers["content-type"].partition(";")[0] in kinds
            tried.add((path, method.lower()))
            return reply

        board, holdout = "/api/boards/{place}", "/api/holdouts/{place}"
        good = {"content": predictions_csv(site.truth["bench"], 40)}
        for path in ("/health", "/ready", "/metrics", "/openapi.json", "/api/me"):
            use("owner", "GET", path)
        use("owner", "POST", "/api/accounts", json={"name": "kim", "role": "analyst", "scopes": ["holdout:people"]})
        kim = {"names": {"name": "kim"}}
        use("owner", "POST", "/api/accounts/{name}/tokens", json={}, **kim)
        use("owner", "POST", "/api/accounts/{name}/links", json={}, **kim)
        id = use("owner", "GET", "/api/accounts/{name}/tokens", **kim).json()[0]["id"]
        use("owner", "DELETE", "/api/accounts/{name}/tokens/{id}", names={"name": "kim", "id": id})
        for path in ("/api/accounts", "/api/boards", "/api/holdouts"):
            use("owner", "GET", path)
        use("ann", "POST", f"{board}/validate", **good)
        sent = use("ann", "POST", f"{board}/submissions", **good).json()
        for rest in ("", "/cards", "/composite"):
            use("ann", "GET", f"{board}/submissions/{{id}}{rest}", names={"id": sent["id"]})
        for rest in ("", "/ids.csv", "/standings", "/submissions", "/spending/mine", "/gate"):
            use("ann", "GET", f"{board}{rest}")
        use("una", "GET", f"{board}/spending")
        for wrong in (60, 20):
            use(
                "ann", "POST", f"{board}/gate", content=predictions_csv(site.truth["bench"], wrong), params={"check": 1}
            )
        index = next(each for each in range(1, 20) if _is_there(site, f"/api/boards/bench/gate/cards/{each}"))
        use("ann", "GET", f"{board}/gate/cards/{{index}}", names={"index": index})
        use("ann", "POST", f"{board}/gate/finish")
        use("una", "POST", f"{board}/close", json={})
        for path in ("", "/asks", "/quotes"):
            body = {"json": {"question": "age > 40", "guess": 0.7}} if path else {}
            use("ana", "POST" if path else "GET", f"{holdout}{path}", **body)
        use("ana", "POST", f"{holdout}/asks/batch", json={"asks": [{"question": "age > 50", "guess": 0.5}]})
        use("ana", "POST", f"{holdout}/tests", json={"question": "age > 30", "above": 0.5})
        use("ana", "POST", f"{holdout}/practice", json={"question": "age > 30"})
        coarse = {"question": "x > 0", "guess": 0.5, "guess_se": 0.1}
        index = use("ana", "POST", f"{holdout}/asks", json=coarse).json()["entries"][0]["index"]
        use("ana", "POST", f"{holdout}/sharpen", json={"index": index})
        values = "prediction\n" + "\n".join(map(str, site.truth["people"])) + "\n"
        use("ana", "POST", f"{holdout}/scores", content=values, params={"metric": "accuracy", "guess": 0.9})
        files = {name: (f"{name}.csv", values, "text/csv") for name in ("first", "second")}
        use("ana", "POST", f"{holdout}/comparisons", files=files, params={"metric": "accuracy"})
        for rest in ("/answers", "/entries", "/report.html"):
            use("ana", "GET", f"{holdout}{rest}")
        use("ana", "GET", f"{holdout}/cards/{{index}}", names={"index": 1})
        use("owner", "POST", f"{holdout}/final", json={"indexes": [1], "close": False})
        use("owner", "POST", "/api/admin/backup")
    assert tried == set(operations())


def _is_there(site: Site, path: str) -> bool:
    return bool(site.get("ann", path).status_code == 200)
