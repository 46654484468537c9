"""The shapes of parameters: the parts of MCP's schema that the fast path relies on.

A shape is a type, or a function that checks a decoded JSON value. The functions are put together once, so that a
request is checked without looking at how its shape is described:

    one_of(texts)       one of these texts
    any_of(types)       a value of one of these types
    list_of(shape)      a list of values of that shape
    each(shape)         an object whose members all have that shape
    members({...})      an object; a member that is present and not null has its shape, others may be anything
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from mcp_core.hosts.names import CAPABILITIES_KEY, CLIENT_KEY, SKILLS, TASKS

Check = Callable[[Any], bool]
Shape = type | Check


def check_of(shape: Shape) -> Check:
    """The function that checks a shape."""
    if not isinstance(shape, type):
        return shape
    return lambda value: type(value) is shape


def one_of(texts: frozenset[str]) -> Check:
    """One of these texts."""
    return lambda value: type(value) is str and value in texts


def any_of(*types: type) -> Check:
    """A value of one of these types."""
    return lambda value: type(value) in types


def list_of(shape: Shape) -> Check:
    """A list of values of one shape."""
    check = check_of(shape)
    return lambda value: type(value) is list and all(map(check, value))  # pyright: ignore[reportUnknownArgumentType]


def each(shape: Shape) -> Check:
    """An object whose members all have one shape."""
    check = check_of(shape)
    return lambda value: type(value) is dict and all(map(check, value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def members(shapes: Mapping[str, Shape]) -> Check:
    """An object whose members have these shapes, where they are present and not null."""
    shape_of = dict(shapes).get

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, member in value.items():  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            shape = shape_of(name)  # pyright: ignore[reportUnknownArgumentType]
            # Types are compared here, without a call: a request has about ten of them.
            if shape is None or type(member) is shape or member is None:  # pyright: ignore[reportUnknownArgumentType]
                continue
            if isinstance(shape, type) or not shape(member):
                return False
        return True

    return check


_icon = members(
    {
        "mimeType": str,
        "sizes": list_of(str),
        "src": str,
        "theme": one_of(frozenset({"light", "dark"})),
    }
)
_client_info = members({"name": str, "version": str, "title": str, "description": str, "websiteUrl": str})
_elicit_result = members({"action": one_of(frozenset({"accept", "decline", "cancel"}))})
_form_scalar, _form_texts = any_of(str, int, float, bool, type(None)), list_of(str)
_SAMPLING = members({"context": dict, "tools": dict})
_ELICITATION = members({"form": dict, "url": dict})
_LOG_LEVEL = one_of(frozenset({"alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"}))


def _is_progress_token(value: Any) -> bool:
    """A float such as 1.0 passes, because the SDK lets it pass. No progress is reported under it."""
    return type(value) in (str, int, bool) or (type(value) is float and value.is_integer())


def _is_icon(value: Any) -> bool:
    return _icon(value) and "src" in value and value["src"] is not None


_icons = list_of(_is_icon)


def _is_client_info(value: Any) -> bool:
    if not _client_info(value) or value.get("name") is None or value.get("version") is None:
        return False
    icons = value.get("icons")
    return icons is None or _icons(icons)


def _is_form_value(value: Any) -> bool:
    return _form_scalar(value) or _form_texts(value)


_form_values = each(_is_form_value)


def _is_input_response(value: Any) -> bool:
    """A person's answer. Responses to requests that this server never makes pass unchecked."""
    if type(value) is not dict:
        return False
    fields: Any = value  # pyright: ignore[reportUnknownVariableType]
    if fields.get("action") is None:
        return "roots" in fields or "model" in fields
    content = fields.get("content")
    return _elicit_result(fields) and (content is None or _form_values(content))


_CAPABILITIES: dict[str, Shape] = {
    "elicitation": _ELICITATION,
    "experimental": each(dict),
    "extensions": each(dict),
    "sampling": _SAMPLING,
}
_HANDSHAKE_CAPABILITIES = members(
    {
        **_CAPABILITIES,
        "roots": members({"listChanged": bool}),
        "tasks": members(
            {
                "cancel": dict,
                "list": dict,
                "requests": members(
                    {
                        "elicitation": members({"create": dict}),
                        "sampling": members({"createMessage": dict}),
                    }
                ),
            }
        ),
    }
)
_handshake_meta = members({"progressToken": _is_progress_token})
_modern_meta = members(
    {
        "progressToken": _is_progress_token,
        CAPABILITIES_KEY: members({**_CAPABILITIES, "roots": dict}),
        CLIENT_KEY: _is_client_info,
        "io.modelcontextprotocol/logLevel": _LOG_LEVEL,
    }
)


def _is_handshake_meta(value: Any) -> bool:
    return _handshake_meta(value) and value.get("progressToken", "") is not None


def is_modern_meta(value: Any) -> bool:
    """Whether a value is the `_meta` of a request of the modern protocol."""
    return (
        _modern_meta(value) and value.get("progressToken", "") is not None and value.get(CAPABILITIES_KEY) is not None
    )


_PAGE: dict[str, Shape] = {"cursor": str}
# The SDK checks these members in both eras, though only the newer one defines them.
_REPLY: dict[str, Shape] = {"requestState": str, "inputResponses": each(_is_input_response)}
_METHODS: dict[str, dict[str, Shape]] = {
    "tools/list": _PAGE,
    "tools/call": {"name": str, "arguments": dict, "task": members({"ttl": int}), **_REPLY},
    "resources/list": _PAGE,
    "resources/templates/list": _PAGE,
    "resources/read": {"uri": str, **_REPLY},
}
_PROMPT_METHODS: dict[str, dict[str, Shape]] = {
    "prompts/list": _PAGE,
    "prompts/get": {"name": str, "arguments": each(str), **_REPLY},
}

_TASK_METHODS: dict[str, dict[str, Shape]] = {
    "tasks/get": {"taskId": str},
    "tasks/update": {"taskId": str, "inputResponses": each(dict)},
    "tasks/cancel": {"taskId": str},
}

_SKILL_METHODS: dict[str, dict[str, Shape]] = {
    "skills/list": _PAGE,
    "skills/get": {"uri": str},
    "resources/directory/read": {"uri": str, **_PAGE},
}

_COMPLETION: dict[str, dict[str, Shape]] = {
    "completion/complete": {
        "ref": members({"type": one_of(frozenset({"ref/prompt", "ref/resource"})), "name": str, "uri": str}),
        "argument": members({"name": str, "value": str}),
        "context": members({"arguments": each(str)}),
    },
}


def is_elicit_result(value: Any) -> bool:
    """Whether a response to `elicitation/create` is one."""
    return _is_input_response(value) and value.get("action") is not None


is_roots = list_of(members({"uri": str}))
is_notification = members({"_meta": dict})
is_initialize = members(
    {
        "_meta": _is_handshake_meta,
        "capabilities": _HANDSHAKE_CAPABILITIES,
        "clientInfo": _is_client_info,
        "protocolVersion": str,
    }
)


class MethodChecks(NamedTuple):
    """The check of the parameters of each method."""

    handshake: dict[str, Check]
    modern: dict[str, Check]
    modern_but_meta: dict[str, Check]
    """For requests whose `_meta` has been checked."""


@cache
def method_checks(
    *, prompts: bool, completions: bool = False, extensions: frozenset[str] = frozenset()
) -> MethodChecks:
    """The checks of the methods that are served. All servers of a process share them: 17 KB for each otherwise."""
    methods = _METHODS | (_PROMPT_METHODS if prompts else {}) | (_COMPLETION if completions else {})
    handshake, modern = {**methods, "ping": {}}, {**methods, "server/discover": {}}
    modern |= (_TASK_METHODS if TASKS in extensions else {}) | (_SKILL_METHODS if SKILLS in extensions else {})
    return MethodChecks(
        handshake={method: members({"_meta": _is_handshake_meta, **shapes}) for method, shapes in handshake.items()},
        modern={method: members({"_meta": is_modern_meta, **shapes}) for method, shapes in modern.items()},
        modern_but_meta={method: members(shapes) for method, shapes in modern.items()},
    )


def is_without_numbers(value: Any) -> bool:
    """Whether a JSON value has only texts, lists and objects. An equal value then has the same shape."""
    if isinstance(value, dict):
        return all(map(is_without_numbers, value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    if isinstance(value, list):
        return all(map(is_without_numbers, value))  # pyright: ignore[reportUnknownArgumentType]
    return value is None or isinstance(value, str)
