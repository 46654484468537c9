"""The shapes of parameters: the parts of MCP's schema that the fast lane relies on.

A shape is one of:

    a type, or a tuple of types
    a frozenset of texts         one of them
    [shape]                      a list of values of that shape
    Each(shape)                  an object whose members all have that shape
    {name: shape}                an object; a member that is present and not null has its shape
    a function                   that decides
"""

from typing import Any, NamedTuple, cast

from mcp_core.hosts.protocol import CAPABILITIES_KEY, CLIENT_KEY
from mcp_core.json_text import JsonObject

Shape = Any


class Each(NamedTuple):
    """An object whose members all have one shape."""

    shape: Shape


def matches(value: Any, shape: Shape) -> bool:
    """Whether a decoded JSON value has a shape. Members that the shape does not name may be anything."""
    # No casts: each is a call, and a request has ten such checks.
    kind: Any = type(shape)  # pyright: ignore[reportUnknownVariableType]
    value_type: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is dict:
        return value_type is dict and _members_match(value, shape)
    if kind is type:
        return value_type is shape
    if kind is tuple:
        return value_type in shape
    if kind is frozenset:
        return value_type is str and value in shape
    if kind is list:
        return value_type is list and all(matches(item, shape[0]) for item in value)
    if kind is Each:
        return value_type is dict and all(matches(item, shape.shape) for item in value.values())
    return shape(value)


def _members_match(value: JsonObject, shape: dict[str, Shape]) -> bool:
    for key, item in value.items():
        if item is not None:
            member_shape = shape.get(key)
            if member_shape is not None and not matches(item, member_shape):
                return False
    return True


OBJECT: Shape = {}

_THEMES = frozenset({"light", "dark"})
_LOG_LEVELS = frozenset({"alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"})
_ICON: Shape = {"mimeType": str, "sizes": [str], "src": str, "theme": _THEMES}
_CLIENT_INFO: Shape = {"name": str, "version": str, "title": str, "description": str, "websiteUrl": str}
_SAMPLING: Shape = {"context": OBJECT, "tools": OBJECT}
_ELICITATION: Shape = {"form": OBJECT, "url": OBJECT}
_ELICIT_RESULT: Shape = {"action": frozenset({"accept", "decline", "cancel"})}
_SCALARS = (str, int, float, bool, type(None))


def _is_progress_token(value: Any) -> bool:
    """A float such as 1.0 passes, because the SDK lets it pass. No progress is reported under it."""
    return type(value) in (str, int, bool) or (type(value) is float and value.is_integer())


def _is_icon(value: Any) -> bool:
    return matches(value, _ICON) and "src" in value and value["src"] is not None


def _is_client_info(value: Any) -> bool:
    if not matches(value, _CLIENT_INFO) or value.get("name") is None or value.get("version") is None:
        return False
    icons = value.get("icons")
    return icons is None or matches(icons, [_is_icon])


def _is_form_value(value: Any) -> bool:
    return matches(value, _SCALARS) or matches(value, [str])


def _is_input_response(value: Any) -> bool:
    """A person's answer. Responses to requests that this server never makes pass unchecked."""
    if type(value) is not dict:
        return False
    fields = cast(JsonObject, value)
    if fields.get("action") is None:
        return "roots" in fields or "model" in fields
    content = fields.get("content")
    return matches(fields, _ELICIT_RESULT) and (content is None or matches(content, Each(_is_form_value)))


_HANDSHAKE_CAPABILITIES: Shape = {
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
_MODERN_CAPABILITIES: Shape = {
    "elicitation": _ELICITATION,
    "experimental": Each(OBJECT),
    "extensions": Each(OBJECT),
    "roots": OBJECT,
    "sampling": _SAMPLING,
}
_HANDSHAKE_META: Shape = {"progressToken": _is_progress_token}
_MODERN_META: Shape = {
    "progressToken": _is_progress_token,
    CAPABILITIES_KEY: _MODERN_CAPABILITIES,
    CLIENT_KEY: _is_client_info,
    "io.modelcontextprotocol/logLevel": _LOG_LEVELS,
}


def _is_handshake_meta(value: Any) -> bool:
    return matches(value, _HANDSHAKE_META) and value.get("progressToken", "") is not None


def _is_modern_meta(value: Any) -> bool:
    return (
        matches(value, _MODERN_META)
        and value.get("progressToken", "") is not None
        and value.get(CAPABILITIES_KEY) is not None
    )


_PAGE: Shape = {"cursor": str}
# The SDK checks these members in both eras, though only the newer one defines them.
_REPLY: Shape = {"requestState": str, "inputResponses": Each(_is_input_response)}
_CALL: Shape = {"name": str, "arguments": OBJECT, "task": {"ttl": int}, **_REPLY}
_READ: Shape = {"uri": str, **_REPLY}

ROOTS: Shape = [{"uri": str}]
NOTIFICATION: Shape = {"_meta": OBJECT}
INITIALIZE: Shape = {
    "_meta": _is_handshake_meta,
    "capabilities": _HANDSHAKE_CAPABILITIES,
    "clientInfo": _is_client_info,
    "protocolVersion": str,
}
_METHODS: dict[str, Shape] = {
    "tools/list": _PAGE,
    "tools/call": _CALL,
    "resources/list": _PAGE,
    "resources/templates/list": _PAGE,
    "resources/read": _READ,
}
_PROMPT_METHODS: dict[str, Shape] = {
    "prompts/list": _PAGE,
    "prompts/get": {"name": str, "arguments": Each(str), **_REPLY},
}


def method_shapes(*, prompts: bool) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The shape of the parameters of each method: with a handshake, and in the modern protocol."""
    methods = _METHODS | _PROMPT_METHODS if prompts else _METHODS
    handshake = {m: {"_meta": _is_handshake_meta, **shape} for m, shape in {**methods, "ping": OBJECT}.items()}
    modern = {m: {"_meta": _is_modern_meta, **shape} for m, shape in {**methods, "server/discover": OBJECT}.items()}
    return handshake, modern
