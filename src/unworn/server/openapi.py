"""The OpenAPI document: made from the routes that there are, and from what they say of themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from unworn.basics.version import __version__

_PATH = re.compile(r"\{(\w+):(\w+)\}")
_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
}
_REF = "#/components/schemas/{name}"
_STATUSES = {
    "400": "the request cannot be read",
    "401": "no token, or none that holds",
    "403": "this account may not do that",
    "404": "there is nothing here",
    "409": "refused, from public facts alone; or the question's own code failed, and was charged",
    "413": "too large",
    "415": "a body of a kind that is not taken",
    "422": "what was sent cannot be asked or scored",
    "429": "too many requests",
    "501": "an extra is not installed on the server",
    "503": "busy: send it again with the same Idempotency-Key",
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key and body is answered once and charged once; the same key with another body is 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}


def make_document(handlers: Iterable[Any], address: str) -> dict[str, Any]:
    """The document of all routes that describe themselves: those of programs, not the pages for people."""
    told = [handler for handler in handlers if "words" in handler.opt]
    shapes = {shape for handler in told for shape in (_words(handler)["body"], _words(handler)["options"]) if shape}
    ordered = sorted(shapes, key=lambda shape: str(shape.__name__))
    _, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    components["Problem"] = _PROBLEM
    paths: dict[str, dict[str, Any]] = {}
    for handler in told:
        for path in handler.paths:
            for method in handler.http_methods:
                shown = _PATH.sub(r"{\1}", path)
                paths.setdefault(shown, {})[str(method).lower()] = _operation(handler, path, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "unworn",
            "version": __version__,
            "description": "Boards and holdouts that others can use and nobody can overfit.",
        },
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "unw_…"}},
        },
    }


def _words(handler: Any) -> dict[str, Any]:
    words: dict[str, Any] = handler.opt["words"]
    return words


def _operation(handler: Any, path: str, components: dict[str, Any]) -> dict[str, Any]:
    words = _words(handler)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if kind == "int" else "string"}}
        for name, kind in _PATH.findall(path)
    ]
    parameters += _query_parameters(handler, {name for name, _ in _PATH.findall(path)})
    if words["options"] is not None:
        parameters += _option_parameters(components[words["options"].__name__])
    if words["charges"]:
        parameters.append(_KEY)
    operation: dict[str, Any] = {
        "operationId": handler.handler_name,
        "summary": handler.summary,
        "parameters": parameters,
        "responses": {
            str(words["status"]): {"description": "done", "content": {words["produces"]: {}}},
            **{status: {"description": why, "content": _PROBLEM_CONTENT} for status, why in _STATUSES.items()},
        },
    }
    if handler.opt.get("open"):
        operation["security"] = []
    content = _body_content(words)
    if content:
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _body_content(words: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if words["body"] is not None:
        content["application/json"] = {"schema": {"$ref": _REF.format(name=words["body"].__name__)}}
    for kind in words["files"]:
        content[kind] = {"schema": {"type": "string", "format": "binary"}}
    if words["form"]:
        parts = {name: {"type": "string", "format": "binary"} for name in words["form"]}
        content["multipart/form-data"] = {"schema": {"type": "object", "properties": parts, "required": list(parts)}}
    return content


def _query_parameters(handler: Any, path_names: set[str]) -> list[dict[str, Any]]:
    """What a handler takes beside its path: the parameters of its function."""
    found = []
    for name, parameter in inspect.signature(inspect.unwrap(handler.fn)).parameters.items():
        if name in path_names or name == "request":
            continue
        kinds = str(parameter.annotation)
        kind = next(kind for kind in _TYPES if kind.__name__ in kinds)
        schema = dict(_TYPES[kind])
        if parameter.default not in (None, inspect.Parameter.empty):
            schema["default"] = parameter.default
        found.append({"name": name, "in": "query", "required": False, "schema": schema})
    return found


def _option_parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Options of a score: those that are lists or objects travel as JSON."""
    found = []
    for name, each in schema["properties"].items():
        is_text = name in ("metric", "name")
        shown = {"schema": {"type": "string"}} if is_text else {"content": {"application/json": {"schema": each}}}
        found.append({"name": name, "in": "query", "required": False, **shown})
    return found


_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "numbers"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "the name of the error, such as Exhausted"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what happened, the numbers, what to do next"},
        "numbers": {"type": "object"},
    },
}
_PROBLEM_CONTENT = {"application/problem+json": {"schema": {"$ref": _REF.format(name="Problem")}}}
