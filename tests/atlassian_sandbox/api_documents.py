"""The API documents, to check the sandbox's responses against. They lie beside the repository, in ../shared."""

import json
from functools import cache
from typing import Any
from urllib.parse import quote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from atlassian_sandbox.checks import operation
from atlassian_sandbox.http import Kind
from tests.shared_data import SHARED
from tools.sandbox_shapes import SOURCES

FOLDER = SHARED / "atlassian-api"


def as_json_schema(node: Any) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema. Branches may overlap, and an object without fields is anything."""
    if isinstance(node, list):
        return [as_json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {name: as_json_schema(value) for name, value in node.items()}
    if isinstance(made.get("oneOf"), list):
        made["anyOf"] = made.pop("oneOf")
    if made.get("additionalProperties") is False and isinstance(made.get("required"), list):
        # Some documents require a name that they neither describe nor allow.
        made["required"] = [name for name in made["required"] if name in made.get("properties", {})]
    if made.get("type") == "object" and not {"properties", "additionalProperties", "anyOf", "allOf"} & made.keys():
        del made["type"]
    return made


def without_nulls(value: Any) -> Any:
    """Sites write null for what a document calls optional."""
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return value


def _escape(part: str) -> str:
    """A part of a JSON pointer, in the fragment of an address."""
    return quote(part.replace("~", "~0").replace("/", "~1"))


@cache
def responses(kind: Kind) -> dict[str, dict[str, Validator]]:
    """The validators of all documented JSON responses, by operation and status."""
    found: dict[str, dict[str, Validator]] = {}
    for name, prefix in SOURCES[kind]:
        document = as_json_schema(json.loads((FOLDER / name).read_text(encoding="utf-8")))
        registry = Registry().with_resource(name, Resource(document, DRAFT202012))
        for path, item in document["paths"].items():
            for method, details in item.items():
                if method not in ("get", "put", "post", "delete"):
                    continue
                key = operation(method.upper(), (prefix + path).rstrip("/"))
                by_status = found.setdefault(key, {})
                for status, response in details["responses"].items():
                    schema = response.get("content", {}).get("application/json", {}).get("schema")
                    if schema:
                        place = "/".join(_escape(part) for part in ("paths", path, method, "responses", status))
                        reference = {"$ref": f"{name}#/{place}/content/application~1json/schema"}
                        by_status.setdefault(status, Draft202012Validator(reference, registry=registry))
    return found


def problem(kind: Kind, key: str, status: int, body: Any) -> str | None:
    """What is wrong with a response, or None. A response that no document describes is not checked."""
    validator = responses(kind).get(key, {}).get(str(status))
    if validator is None:
        return None
    # The document of Jira Data Center describes the items of a list, not the list.
    is_list_of_items = kind == "datacenter" and isinstance(body, list)
    for each in without_nulls(body) if is_list_of_items else [without_nulls(body)]:
        error = best_match(validator.iter_errors(each))
        if error is not None:
            return f"{key} {status} {list(error.absolute_path)}: {error.message[:300]}"
    return None
