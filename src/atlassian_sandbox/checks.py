"""Checks of requests against the shapes of the API: unknown and missing query parameters and body fields.

shapes.json says for each operation which names it takes, of which type. It is generated from the API documents by
tools/sandbox_shapes.py, for the operations that the sandbox serves; a line of it reads

    "POST /rest/api/3/issueLink": {"body": {"fields": {"type": {...}}, "required": ["type"]}, "query": {}}

A type is "string", "integer", "number", "boolean", "any", {"items": type} or {"fields": {name: type}}. Other names are
refused, also where a document does not exclude them: they are mistakes of the client.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, cast

from atlassian_sandbox.http import JsonObject, Kind, Refusal, SiteRequest

_PLAIN: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@cache
def shapes(kind: Kind) -> dict[str, JsonObject]:
    text = Path(__file__).with_name("shapes.json").read_text(encoding="utf-8")
    return cast(dict[str, dict[str, JsonObject]], json.loads(text))[kind]


def operation(method: str, path: str) -> str:
    """The key of an operation: its path without the names of the parameters."""
    return f"{method} {re.sub(r'{[^{}]*}', '{}', path)}"


def check(request: SiteRequest, method: str, path: str) -> None:
    """Raise Refusal 400 for a request that the documents do not allow. `path` is the template of its route."""
    shape = shapes(request.kind).get(operation(method, path))
    if shape is None:
        return
    _check_query(request, shape)
    if "body" in shape and not _is_form(request):
        if request.json is None and shape.get("bodyRequired"):
            raise Refusal(400, "The request body is missing.")
        if request.json is not None:
            _check_value(request.json, shape["body"], "")


def _is_form(request: SiteRequest) -> bool:
    return request.headers.get("content-type", "").startswith("multipart/form-data")


def _check_query(request: SiteRequest, shape: JsonObject) -> None:
    known = shape["query"]
    unknown = sorted(name for name in request.query if name not in known)
    if unknown:
        allowed = ", ".join(sorted(known)) or "none"
        raise Refusal(400, f"Unknown query parameter '{unknown[0]}'. Allowed: {allowed}.")
    for name in shape.get("required", ()):
        if name not in request.query:
            raise Refusal(400, f"The query parameter '{name}' is required.")
    for name, values in request.query.items():
        for value in values:
            _check_text(name, value, known[name])


def _check_text(name: str, value: str, type: Any) -> None:
    if type == "integer" and not re.fullmatch(r"-?\d+", value):
        raise Refusal(400, f"The query parameter '{name}' must be a number, not '{value}'.")
    if type == "boolean" and value.lower() not in ("true", "false"):
        raise Refusal(400, f"The query parameter '{name}' must be true or false, not '{value}'.")


def _check_value(value: Any, type: Any, path: str) -> None:
    if type == "any" or value is None:
        return
    if isinstance(type, str):
        expected = _PLAIN[type]
        if not isinstance(value, expected) or (isinstance(value, bool) and type != "boolean"):
            raise Refusal(400, errors={path or "body": f"'{path}' must be a {type}."})
    elif "items" in type:
        if not isinstance(value, list):
            raise Refusal(400, errors={path or "body": f"'{path}' must be an array."})
        for item in cast(list[Any], value):
            _check_value(item, type["items"], path)
    else:
        _check_fields(value, type, path)


def _check_fields(value: Any, type: JsonObject, path: str) -> None:
    if not isinstance(value, dict):
        raise Refusal(400, errors={path or "body": f"'{path or 'The body'}' must be an object."})
    fields = type["fields"]
    for name, inner in cast(JsonObject, value).items():
        at = f"{path}.{name}" if path else name
        if name in fields:
            _check_value(inner, fields[name], at)
        else:
            allowed = ", ".join(sorted(fields))
            raise Refusal(400, errors={at: f"Unrecognized field '{name}'. Allowed: {allowed}."})
    for name in type.get("required", ()):
        if name not in value:
            at = f"{path}.{name}" if path else name
            raise Refusal(400, errors={at: f"The field '{at}' is required."})
