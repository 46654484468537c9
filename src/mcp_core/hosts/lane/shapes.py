"""The shape of what clients send: the parts of MCP's schema that the fast lane relies on.

A shape is a type, a tuple of types, a set of words, `[shape]` for a list, `Each(shape)` for an object whose members
all have it, a function that decides, or an object's members that must have theirs where they are given and not null.
"""

from typing import Any, NamedTuple, cast

Shape = Any


class Each(NamedTuple):
    """An object whose members all have one shape."""

    shape: Shape


def fits(value: Any, shape: Shape) -> bool:
    """Whether a decoded JSON value has a shape. Members that the shape does not name may be anything."""
    kind = cast(type[Any], type(shape))
    if kind is dict:
        return type(value) is dict and _members_fit(cast(dict[str, Any], value), shape)
    if kind is type:
        return type(value) is shape
    if kind is tuple:
        return type(value) in shape
    if kind is frozenset:
        return type(value) is str and value in shape
    if kind is list:
        return type(value) is list and all(fits(item, shape[0]) for item in cast(list[Any], value))
    if kind is Each:
        return type(value) is dict and all(fits(item, shape.shape) for item in cast(dict[str, Any], value).values())
    return shape(value)


def _members_fit(value: dict[str, Any], shape: dict[str, Shape]) -> bool:
    for key, item in value.items():
        if item is not None:
            wanted = shape.get(key)
            if wanted is not None and not fits(item, wanted):
                return False
    return True


OBJECT: Shape = {}

_THEMES = frozenset({"light", "dark"})
_LEVELS = frozenset({"alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"})
_ICON: Shape = {"mimeType": str, "sizes": [str], "src": str, "theme": _THEMES}
_ABOUT: Shape = {"name": str, "version": str, "title": str, "description": str, "websiteUrl": str}
_SAMPLING: Shape = {"context": OBJECT, "tools": OBJECT}
_ELICITATION: Shape = {"form": OBJECT, "url": OBJECT}
_ELICITED: Shape = {"action": frozenset({"accept", "decline", "cancel"})}
_SCALARS = (str, int, float, bool, type(None))


def _token(value: Any) -> bool:
    """A whole number may be written in any way; one that is no text and no integer is then never used."""
    return type(value) in (str, int, bool) or (type(value) is float and value.is_integer())


def _icon(value: Any) -> bool:
    return fits(value, _ICON) and "src" in value and value["src"] is not None


def names_itself(value: Any) -> bool:
    """Whether this is a client's description of itself, which has a name and a version at least."""
    if not fits(value, _ABOUT) or value.get("name") is None or value.get("version") is None:
        return False
    icons = value.get("icons")
    return icons is None or fits(icons, [_icon])


def _field(value: Any) -> bool:
    return fits(value, _SCALARS) or fits(value, [str])


def _response(value: Any) -> bool:
    """A person's answer. What a client returns to requests that are never made here is let pass."""
    if type(value) is not dict:
        return False
    fields = cast(dict[str, Any], value)
    if fields.get("action") is None:
        return "roots" in fields or "model" in fields
    content = fields.get("content")
    return fits(fields, _ELICITED) and (content is None or fits(content, Each(_field)))


_OLD_CAPABILITIES: Shape = {
    "elicitation": _ELICITATION,
    "experimental": Each(OBJECT),
    "extensions": Each(OBJECT),
    "roots": {"listChanged": bool},
    "sampling": _SAMPLING,
    "tasks": {
        "cancel": OBJECT,
        "list": OBJECT,
        "requests": {"elicitation": {"create": OBJECT}, "sampling": {"createMessage": OBJECT}},
    },
}
_CAPABILITIES: Shape = {
    "elicitation": _ELICITATION,
    "experimental": Each(OBJECT),
    "extensions": Each(OBJECT),
    "roots": OBJECT,
    "sampling": _SAMPLING,
}
_OLD_META: Shape = {"progressToken": _token}
_META: Shape = {
    "progressToken": _token,
    "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
    "io.modelcontextprotocol/clientInfo": names_itself,
    "io.modelcontextprotocol/logLevel": _LEVELS,
}


def _old_meta(value: Any) -> bool:
    return fits(value, _OLD_META) and value.get("progressToken", "") is not None


def _meta(value: Any) -> bool:
    return (
        fits(value, _META)
        and value.get("progressToken", "") is not None
        and value.get("io.modelcontextprotocol/clientCapabilities") is not None
    )


_PAGE: Shape = {"cursor": str}
# The SDK looks at what the one era has added in the other as well.
_REPLY: Shape = {"requestState": str, "inputResponses": Each(_response)}
_CALL: Shape = {"name": str, "arguments": OBJECT, "task": {"ttl": int}, **_REPLY}
_READ: Shape = {"uri": str, **_REPLY}

ROOTS: Shape = [{"uri": str}]
NOTIFICATION: Shape = {"_meta": OBJECT}
INITIALIZE: Shape = {
    "_meta": _old_meta,
    "capabilities": _OLD_CAPABILITIES,
    "clientInfo": names_itself,
    "protocolVersion": str,
}
_BOTH: dict[str, Shape] = {
    "tools/list": _PAGE,
    "tools/call": _CALL,
    "resources/list": _PAGE,
    "resources/templates/list": _PAGE,
    "resources/read": _READ,
}
_PROMPTS: dict[str, Shape] = {
    "prompts/list": _PAGE,
    "prompts/get": {"name": str, "arguments": Each(str), **_REPLY},
}


def served(*, prompts: bool) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The parameters of each method that is served, in the older era and in the newer."""
    both = _BOTH | _PROMPTS if prompts else _BOTH
    old = {m: {"_meta": _old_meta, **shape} for m, shape in {**both, "ping": OBJECT}.items()}
    new = {m: {"_meta": _meta, **shape} for m, shape in {**both, "server/discover": OBJECT}.items()}
    return old, new
