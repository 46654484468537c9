"""The API documents, to check requests against. They lie beside the repository, in ../shared."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from atlassian_sandbox.app import SentRequest
from atlassian_sandbox.http import Kind
from tests.atlassian_sandbox.api_documents import FOLDER, as_json_schema
from tools.sandbox_shapes import LISTS_TOO, ONLY_IN_TEXT, SOURCES

METHODS = ("get", "put", "post", "delete")


@dataclass(frozen=True)
class Operation:
    """One documented operation, with its document to resolve references in."""

    key: str
    pattern: re.Pattern[str]
    literal_characters: int
    details: dict[str, Any]
    parameters: list[dict[str, Any]]
    document: str
    registry: Registry[Any]

    def errors(self, schema: Any, value: Any) -> str | None:
        """What is wrong with a value; None if it is valid."""
        absolute = json.loads(json.dumps(schema).replace('"#/', f'"{self.document}#/'))
        error = best_match(Draft202012Validator(absolute, registry=self.registry).iter_errors(value))
        return f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}" if error else None

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            node = self.registry.resolver(self.document).lookup(node["$ref"]).contents
        return node


@cache
def operations(kind: Kind) -> list[Operation]:
    """All documented operations; those with the fewest parameters in their path first."""
    found: list[Operation] = []
    for name, prefix in SOURCES[kind]:
        document = as_json_schema(json.loads((FOLDER / name).read_text(encoding="utf-8")))
        registry = Registry().with_resource(name, Resource(document, DRAFT202012))
        for path, item in document["paths"].items():
            full = (prefix + path).rstrip("/")
            pattern = re.compile("".join(_pattern(part) for part in re.split(r"({[^}]*})", full)))
            for method in METHODS:
                if method in item:
                    parameters = [*item.get("parameters", []), *item[method].get("parameters", [])]
                    key = f"{method.upper()} {re.sub(r'{[^}]*}', '{}', full)}"
                    literal = len(re.sub(r"{[^}]*}", "", full))
                    found.append(Operation(key, pattern, literal, item[method], parameters, name, registry))
    return sorted(found, key=lambda one: -one.literal_characters)


def _pattern(part: str) -> str:
    return "[^/]+" if part.startswith("{") else re.escape(part)


def request_problems(
    kind: Kind, sent: SentRequest, allowed: dict[str, str], scopes: Collection[str] | None = None
) -> list[str]:
    """What the documents do not allow in a request.

    `allowed` has operations that may be deprecated or undocumented; `scopes` are those of an access token.
    """
    path = re.sub(r"^/ex/(jira|confluence)/[^/]+", "", sent.path.partition("?")[0])  # behind the gateway
    operation = next(
        (
            one
            for one in operations(kind)
            if one.key.startswith(f"{sent.method} ") and one.pattern.fullmatch(path.rstrip("/"))
        ),
        None,
    )
    if operation is None:
        known = any(_matches(key, sent.method, path) for key in allowed)
        return [] if known else [f"{sent.method} {unquote(path)}: no such operation"]
    problems = [*_query_problems(operation, sent), *_body_problems(operation, sent)]
    if operation.details.get("deprecated") and operation.key not in allowed:
        problems.append("the operation is deprecated")
    wanted = [
        one for entry in operation.details.get("security", []) for name, one in entry.items() if name != "basicAuth"
    ]
    if scopes is not None and wanted and not any(set(one) <= set(scopes) for one in wanted):
        problems.append(f"sign-in does not ask for its scopes: {' or '.join(map(str, wanted))}")
    return [f"{operation.key}: {problem}" for problem in problems]


def _matches(key: str, method: str, path: str) -> bool:
    return re.fullmatch(re.escape(key).replace(r"\{\}", "[^/]+"), f"{method} {path}") is not None


def _query_problems(operation: Operation, sent: SentRequest) -> list[str]:
    resolved = [operation.resolve(one) for one in operation.parameters]
    known = {one["name"]: one for one in resolved if one["in"] == "query"}
    known |= {name: {"schema": {"type": kind}} for name, kind in ONLY_IN_TEXT.get(operation.key, {}).items()}
    problems = [f"unknown query parameter {name!r}" for name in sent.query if name not in known]
    problems += [
        f"the query parameter {name!r} is missing"
        for name, one in known.items()
        if one.get("required") and name not in sent.query
    ]
    for name, values in sent.query.items():
        if name not in known:
            continue
        if known[name].get("deprecated"):
            problems.append(f"the query parameter {name!r} is deprecated")
        schema = operation.resolve(known[name].get("schema", {}))
        if schema.get("type") == "object":
            continue  # a document calls a text with commas an object
        if error := operation.errors(schema, _query_value(operation, known[name], schema, values)):
            problems.append(f"query parameter {name!r}: {error}")
    return problems


def _query_value(operation: Operation, parameter: dict[str, Any], schema: dict[str, Any], values: list[str]) -> Any:
    """The value that the text of a query parameter stands for."""
    if schema.get("type") == "array":
        items = operation.resolve(schema.get("items", {}))
        separate = values if parameter.get("explode", True) else [one for value in values for one in value.split(",")]
        return [_plain_value(items, one) for one in separate]
    assert len(values) == 1, f"{parameter.get('name')} is sent {len(values)} times"
    return _plain_value(schema, values[0])


def _plain_value(schema: dict[str, Any], text: str) -> Any:
    if schema.get("type") in ("integer", "number") and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text == "true" if schema.get("type") == "boolean" and text in ("true", "false") else text


def _body_problems(operation: Operation, sent: SentRequest) -> list[str]:
    body = operation.resolve(operation.details.get("requestBody", {}))
    documented = body.get("content", {})
    if not sent.content:
        return ["the body is missing"] if body.get("required") else []
    if not documented:
        return [f"a body is sent, but none is documented: {sent.content[:80]!r}"]
    sent_type = sent.headers.get("content-type", "").partition(";")[0]
    content = documented.get(sent_type) or documented.get("*/*")
    if content is None:
        return [f"the body is {sent_type}; documented: {', '.join(documented)}"]
    if sent_type != "application/json":
        return []  # the documents describe uploads loosely
    value = json.loads(sent.content)
    # Where the text says that a list is accepted too, the schema describes one of its items.
    values = value if operation.key in LISTS_TOO and isinstance(value, list) else [value]
    schema = content.get("schema", {})
    return [f"body: {error}" for each in values if (error := operation.errors(schema, each))]
