"""Follows the local references of a JSON schema, such as `#/$defs/Note`."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote


def resolve_pointer(root: Any, ref: str) -> Mapping[str, Any] | bool | None:
    """The schema that a local reference points to; None if it has no target, or is not a JSON pointer."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    node: Any = root
    for part in unquote(ref).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = cast(Mapping[str, Any], node).get(key)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(cast(list[Any], node)):
            node = cast(list[Any], node)[int(key)]
        else:
            return None
    return cast(Mapping[str, Any] | bool, node) if isinstance(node, Mapping | bool) else None
