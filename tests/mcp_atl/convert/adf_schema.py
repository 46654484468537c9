"""The published schema of the Atlassian Document Format."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from jsonschema import Draft4Validator, ValidationError, validators

from tests.shared_data import shared


@cache
def adf_validator() -> Callable[[Any], None]:
    """Checks a document. Without the schema beside the repository, the test is skipped."""
    schema = json.loads(shared("atlassian-api/adf-full-57.7.22.json").read_text(encoding="utf-8"))
    return validators.extend(Draft4Validator, {"anyOf": _matching_branches})(schema).validate


def _matching_branches(validator: Any, branches: list[Any], instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """`anyOf`, with only the branches for the type of the node: all others fail after a long search."""
    kind = instance.get("type") if isinstance(instance, dict) else None
    fitting = [one for one in branches if kind is None or not (types := _types(validator, one)) or kind in types]
    errors: list[ValidationError] = []
    for branch in fitting:
        found = list(validator.descend(instance, branch))
        if not found:
            return
        errors += found
    yield from errors[:1] or [ValidationError(f"{kind!r} may not stand here")]


def _types(validator: Any, branch: Any) -> set[str]:
    if "$ref" in branch:
        branch = _lookup(validator, branch["$ref"])
    parts = [*branch.get("allOf", []), *branch.get("anyOf", [])]
    if parts:
        return {name for part in parts for name in _types(validator, part)}
    return set(branch.get("properties", {}).get("type", {}).get("enum", []))


def _lookup(validator: Any, reference: str) -> Any:
    return (
        validator.schema["definitions"][reference.rpartition("/")[2]]
        if "definitions" in validator.schema
        else (validator._resolver.lookup(reference).contents)
    )
