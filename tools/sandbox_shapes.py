"""Write src/atlassian_sandbox/shapes.json: what the API documents say of the operations that the sandbox serves.

Usage: python tools/sandbox_shapes.py [--check]. It needs ../shared/atlassian-api beside the repository.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from atlassian_sandbox.app import routes
from atlassian_sandbox.checks import operation
from atlassian_sandbox.http import Kind

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ROOT.parent / "shared" / "atlassian-api"
TARGET = ROOT / "src" / "atlassian_sandbox" / "shapes.json"

# Each document, and what its paths begin with on the sandbox.
SOURCES: dict[Kind, list[tuple[str, str]]] = {
    "cloud": [
        ("jira-platform-v3.json", ""),
        ("jira-software.json", ""),
        ("jsm.json", ""),
        ("confluence-v1.json", ""),
        ("confluence-v2.json", "/wiki/api/v2"),
    ],
    "datacenter": [
        ("jira-dc-10.3.json", "/rest"),
        ("confluence-dc-10.0.3.json", "/confluence"),
        ("jsm.json", ""),  # Data Center has the same service desk API
    ],
}
MAX_DEPTH = 6
# Parameters that a document explains in its text, but leaves out of its list.
ONLY_IN_TEXT = {"GET /rest/api/2/issue/{}/transitions": {"expand": "string"}}
# The text says that a body can also be a list.
LISTS_TOO = {"POST /confluence/rest/api/content/{}/label"}


class Document:
    def __init__(self, name: str) -> None:
        self.data = json.loads((DOCUMENTS / name).read_text(encoding="utf-8"))

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            target = self.data
            for part in node["$ref"].split("/")[1:]:
                target = target[part.replace("~1", "/")]
            node = target
        return node

    def type_of(self, schema: dict[str, Any], depth: int = 0) -> Any:
        schema = self.resolve(schema)
        if depth > MAX_DEPTH:
            return "any"
        parts = [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, [])]
        if parts:
            return self.merge([self.type_of(part, depth + 1) for part in parts], schema, depth)
        kind = schema.get("type")
        if kind == "array":
            return {"items": self.type_of(schema.get("items", {}), depth + 1)}
        if "properties" in schema:
            return self.object_type(schema, depth)
        return kind if kind in ("string", "integer", "number", "boolean") else "any"

    def object_type(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        fields = {name: self.type_of(inner, depth + 1) for name, inner in sorted(schema["properties"].items())}
        result: dict[str, Any] = {"fields": fields}
        # Some documents require a name that they do not describe.
        required = [name for name in schema.get("required", []) if name in fields]
        if required:
            result["required"] = sorted(required)
        return result

    def merge(self, types: list[Any], schema: dict[str, Any], depth: int) -> Any:
        """One type for the branches of a schema: their fields together; what some of them lack is not required."""
        if "properties" in schema:
            types.append(self.object_type(schema, depth))
        if any(not isinstance(part, dict) or "fields" not in part for part in types):
            return types[0] if all(part == types[0] for part in types) else "any"
        fields = {name: inner for part in types for name, inner in part["fields"].items()}
        merged: dict[str, Any] = {"fields": dict(sorted(fields.items()))}
        in_all = "allOf" in schema
        sets = [set(part.get("required", [])) for part in types]
        required = set.union(*sets) if in_all else set.intersection(*sets)
        if required:
            merged["required"] = sorted(required)
        return merged

    def shape(self, path: str, method: str) -> dict[str, Any]:
        item = self.data["paths"][path]
        details = item[method]
        parameters = [self.resolve(each) for each in (*item.get("parameters", []), *details.get("parameters", []))]
        query = [each for each in parameters if each["in"] == "query"]
        result: dict[str, Any] = {"query": {each["name"]: self.type_of(each.get("schema", {})) for each in query}}
        required = [each["name"] for each in query if each.get("required")]
        if required:
            result["required"] = required
        body = self.resolve(details.get("requestBody", {}))
        content = body.get("content", {}).get("application/json")
        if content is not None:
            result["body"] = self.type_of(content.get("schema", {}))
            if body.get("required"):
                result["bodyRequired"] = True
        return result


def all_shapes(kind: Kind) -> dict[str, Any]:
    served = {operation(route.method, route.path) for route in routes(kind)}
    found: dict[str, Any] = {}
    for name, prefix in SOURCES[kind]:
        document = Document(name)
        for path, item in document.data["paths"].items():
            for method in item:
                key = operation(method.upper(), re.sub(r"/+$", "", prefix + path))
                if key in served and key not in found:
                    found[key] = document.shape(path, method)
                    found[key]["query"] |= ONLY_IN_TEXT.get(key, {})
                    if key in LISTS_TOO:
                        found[key]["body"] = "any"
    return dict(sorted(found.items()))


def text() -> str:
    kinds: list[str] = []
    for kind in SOURCES:
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in all_shapes(kind).items()]
        kinds.append(f'"{kind}": {{\n' + ",\n".join(lines) + "\n}")
    return "{" + ", ".join(kinds) + "}\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == text() else "shapes.json is out of date")
    TARGET.write_text(text(), encoding="utf-8")
