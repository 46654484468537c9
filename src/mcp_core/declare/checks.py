"""The rules for a full declaration. Each problem names the tool, the field and the fix."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from string import Formatter
from typing import Any, cast, get_args

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from mcp_core.declare import schema
from mcp_core.declare.charter import MIN_DESCRIPTION_LENGTH, NOTICE
from mcp_core.declare.output import types_without_json, value_type
from mcp_core.declare.spec import (
    DEFAULTS,
    UNSET,
    Category,
    Confirm,
    Declaration,
    Deprecation,
    Example,
    Icon,
    RateLimit,
    ResponseTime,
    TaskPolicy,
    ToolSpec,
)
from mcp_core.text import json_text

_PERMISSION = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*")
_SEMVER = re.compile(r"\d+\.\d+\.\d+([-+].+)?")

REQUIRED: Mapping[str, str] = {
    "permissions": "a list of 'resource:action', empty if none is needed",
    "category": "one of query, mutation, analysis, generation",
    "response_time": "fast, medium or slow, or a number of seconds",
    "idempotent": "True or False",
    "examples": "at least one Example(description, params, expected_result)",
    "tags": "at least one tag",
}

TASK_POLICIES = frozenset(get_args(TaskPolicy))

Problems = list[tuple[str, str]]
"""Each is a field and what is wrong with it."""
Check = Callable[[ToolSpec], Problems]


def spec_problems(spec: ToolSpec) -> list[str]:
    """Everything that is wrong with a full declaration."""
    missing = [name for name in REQUIRED if getattr(spec.declaration, name) is UNSET]
    problems = [(name, f"is missing; give {REQUIRED[name]}") for name in missing]
    return _sentences(spec, problems + _run(spec, _ALL))


def value_problems(spec: ToolSpec) -> list[str]:
    """The problems of the values of a declaration, which need not be full."""
    return _sentences(spec, _run(spec, _OF_VALUES))


def _sentences(spec: ToolSpec, problems: Problems) -> list[str]:
    return [f"{spec.name}: {field}: {problem}" for field, problem in problems]


def _run(spec: ToolSpec, checks: Sequence[Check]) -> Problems:
    # The other checks read values, which must be of the right type for that.
    return _types(spec.declaration) or [problem for check in checks for problem in check(spec)]


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_filled, cast(list[Any], value)))


def _are_examples(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(e, Example) and _is_filled(e.description) and isinstance(cast(Any, e.params), Mapping)
        for e in cast(list[Any], value)
    )


def _are_icons(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(icon, Icon) and str(icon.src).startswith(("https:", "http:", "data:"))
        for icon in cast(list[Any], value)
    )


def _is_meta(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    keys = cast(dict[Any, Any], value).keys()
    try:
        json_text.to_text(value)
    except TypeError:
        return False
    return all(_is_filled(key) and not key.startswith("dev.toolcharter/") for key in keys)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_limit(value: Any) -> bool:
    return isinstance(value, RateLimit) and _is_number(value.max_calls) and _is_number(value.window_ms)


def _is_deprecation(value: Any) -> bool:
    return isinstance(value, Deprecation) and _are_texts((value.since, value.replacement, value.removal_date))


def _is_confirm(value: Any) -> bool:
    if not isinstance(value, Confirm):
        return False
    texts = (value.literal is None or _is_filled(value.literal), isinstance(value.ask, bool) or _is_filled(value.ask))
    return all(texts) and (value.target is None or callable(value.target)) and _is_bool(value.required)


def _are_messages(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_filled, cast(Mapping[Any, Any], value).values()))


_TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "permissions": (_are_texts, REQUIRED["permissions"]),
    "tags": (_are_texts, "a list of tags, none of them empty"),
    "examples": (_are_examples, f"a list with {REQUIRED['examples']}, each with a description"),
    "cache_ttl": (_is_number, "a number of seconds above 0"),
    "rate_limit": (_is_limit, "a RateLimit(max_calls, window_ms)"),
    "deprecated": (_is_deprecation, "a Deprecation(since, replacement, removal_date)"),
    "version": (_is_filled, "a semantic version such as '1.2.3'"),
    "name": (_is_filled, "a name such as list_notes, or nothing for the function's own"),
    "title": (_is_filled, "a title such as 'List notes', or nothing for one made of the name"),
    "icons": (_are_icons, "a list of Icon(src), each with an https: or data: address"),
    "meta": (_is_meta, "a dict of JSON with keys such as 'com.example/team', none of them under dev.toolcharter/"),
    "prefix": (_is_text, "a prefix such as 'notes', or the empty text for none"),
    "description": (_is_filled, "a text, or nothing for the docstring"),
    "read_only": (_is_bool, "True or False"),
    "destructive": (_is_bool, "True or False"),
    "open_world": (_is_bool, "True or False"),
    "confirm": (_is_confirm, 'a Confirm, such as Confirm("DELETE_NOTE", ask="Delete {note_id}?")'),
    "task": (TASK_POLICIES.__contains__, "one of never, auto and always"),
    "hints": (callable, "a function from arguments and value to AgentHints"),
    "error_messages": (_are_messages, "a sentence for each 'argument' or 'argument.kind of error'"),
}


def _types(declared: Declaration) -> Problems:
    """Values of a wrong type, such as a text where a list of texts belongs."""
    problems: Problems = []
    for name, (matches, wanted) in _TYPES.items():
        value = getattr(declared, name)
        if value is not DEFAULTS[name] and not matches(value):
            problems.append((name, f"{value!r} is not valid; give {wanted}"))
    return problems


def permission_problems(permissions: Any) -> list[str]:
    """The problems of a list of permissions."""
    if not _are_texts(permissions):
        return [f"{permissions!r} is not valid; give {REQUIRED['permissions']}"]
    wrong = [name for name in permissions if not _PERMISSION.fullmatch(name)]
    return [f"{name!r} is not 'resource:action'; write for example 'cards:read'" for name in wrong]


def _description(spec: ToolSpec) -> Problems:
    if (length := len(spec.description.strip())) >= MIN_DESCRIPTION_LENGTH:
        return []
    fix = "say in the docstring what it does, when to use it and what it returns"
    return [("description", f"has {length} of {MIN_DESCRIPTION_LENGTH} characters; {fix}")]


def _identity(spec: ToolSpec) -> Problems:
    problems = [("permissions", problem) for problem in permission_problems(spec.permissions)]
    if not _SEMVER.fullmatch(version := spec.declaration.version):
        problems.append(("version", f"{version!r} is not a semantic version; write for example '1.2.3'"))
    return problems


def _behaviour(spec: ToolSpec) -> Problems:
    problems: Problems = []
    declared = spec.declaration
    if declared.category is not UNSET and declared.category not in get_args(Category):
        problems.append(("category", f"{declared.category!r} is not known; use one of {', '.join(get_args(Category))}"))
    if declared.idempotent is not UNSET and not _is_bool(declared.idempotent):
        problems.append(("idempotent", f"{declared.idempotent!r} is not True or False"))
    if spec.category == "query" and declared.idempotent is False:
        problems.append(("idempotent", "is False, but a query has no side effects; set it to True"))
    return problems if "category" in dict(problems) else problems + _effects(spec)


def _effects(spec: ToolSpec) -> Problems:
    """Declarations of what a tool changes that contradict each other."""
    declared, category = spec.declaration, spec.category
    # A generation may change something, or not, such as a roll of dice.
    changes = {"query": False, "analysis": False, "mutation": True}.get(category)
    if declared.read_only is not None and declared.read_only == changes:
        words = "something" if changes else "nothing"
        return [("read_only", f"is {declared.read_only}, but a {category} changes {words}; remove one of them")]
    if spec.reads_only and spec.destructive:
        field = "category" if declared.category is not UNSET else "read_only" if declared.read_only else "cache_ttl"
        value = {"category": category, "read_only": True, "cache_ttl": declared.cache_ttl}[field]
        if declared.destructive:
            return [(field, f"is {value}, but the tool is destructive; make it a mutation")]
        return [(field, f"is {value}, but confirm makes the tool destructive; make it a mutation, or not destructive")]
    return []


def _response_time(spec: ToolSpec) -> Problems:
    declared, names = spec.declaration.response_time, ", ".join(get_args(ResponseTime))
    if declared is UNSET or declared in get_args(ResponseTime):
        return []
    if not _is_number(declared):
        return [("response_time", f"{declared!r} is not known; use one of {names}, or a number of seconds")]
    return [] if cast(float, declared) > 0 else [("response_time", f"is {declared}; give seconds above 0")]


def _caching(spec: ToolSpec) -> Problems:
    declared = spec.declaration
    if declared.cache_ttl is None:
        return []
    if declared.cache_ttl <= 0:
        return [("cache_ttl", f"is {declared.cache_ttl}; give a number of seconds above 0")]
    if spec.category in ("mutation", "generation"):
        return [("cache_ttl", f"is {declared.cache_ttl}, but a {spec.category} is never cached; remove it")]
    return []


def _documentation(spec: ToolSpec) -> Problems:
    problems: Problems = []
    if spec.declaration.examples is not UNSET and not spec.examples:
        problems.append(("examples", f"is empty; give {REQUIRED['examples']}"))
    if spec.declaration.tags is not UNSET and not spec.tags:
        problems.append(("tags", f"is empty; give {REQUIRED['tags']}"))
    for name in schema.undescribed(spec.input_schema):
        problems.append((f"argument {name}", "has no description; say what it is for and which values it takes"))
    return problems


def _examples(spec: ToolSpec) -> Problems:
    problems: Problems = []
    for example in spec.examples:
        try:
            json_text.to_text(example.expected_result)
            # As strictly as a call is read.
            spec.parameters.model_validate_json(to_json(dict(example.params)), strict=True)
        except TypeError as error:
            problems.append(("examples", f"{example.description!r} has an expected_result that is not JSON: {error}"))
        except PydanticSerializationError as error:
            problems.append(("examples", f"{example.description!r} has params that are not JSON: {error}"))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            problems.append(("examples", f"{example.description!r} does not match the schema: {place}: {first['msg']}"))
    return problems


def _limits(spec: ToolSpec) -> Problems:
    limit = spec.declaration.rate_limit
    if limit and (limit.max_calls < 1 or limit.window_ms < 1):
        return [("rate_limit", "max_calls and window_ms must be above 0")]
    return []


def _deprecation(spec: ToolSpec) -> Problems:
    deprecated = spec.declaration.deprecated
    if deprecated is None:
        return []
    try:
        removal = date.fromisoformat(deprecated.removal_date)
        since = None if _SEMVER.fullmatch(deprecated.since) else date.fromisoformat(deprecated.since)
    except ValueError as error:
        wanted = "since is an ISO date such as 2026-07-28 or a version such as 1.4.0, removal_date is a date"
        return [("deprecated", f"{wanted} ({error})")]
    if since is not None and removal - since < NOTICE:
        earliest = since + NOTICE
        return [("deprecated", f"is removed {(removal - since).days} days after since; not before {earliest}")]
    return []


def _placeholders(text: str) -> set[str]:
    """The names in braces; a text that cannot be filled in counts as one name."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}


def _requires_consent(shown: schema.JsonSchema) -> bool:
    """Whether the literal must be given, at the top or inside an argument that must be given."""
    required = shown.get("required", ())
    inside = (shown["properties"].get(name, {}) for name in required)
    return schema.CONSENT_FIELD in required or any("properties" in one and _requires_consent(one) for one in inside)


def _arguments(spec: ToolSpec) -> Problems:
    declared, confirm = spec.declaration, spec.declaration.confirm or Confirm(ask=True)
    if confirm.literal is not None and spec.consent != confirm.literal:
        return [("confirm", f"is {confirm.literal!r}, but {schema.CONSENT_FIELD} demands {spec.consent!r}")]
    if spec.consent is not None and not _requires_consent(spec.input_schema):
        return [("confirm", f"{schema.CONSENT_FIELD} has a default, so nobody has to state it; remove the default")]
    if confirm.literal is None and not confirm.asks_person:
        return [("confirm", "has no literal and asks nobody; give a literal, ask= or required=True")]
    known = set(spec.input_schema["properties"])
    if strange := sorted({name for name in declared.error_messages or () if name.partition(".")[0] not in known}):
        return [
            ("error_messages", f"names {', '.join(strange)}, which is not an argument; begin with an argument's name")
        ]
    shown = known if confirm.target is None else known | {"target"}
    if unknown := sorted(_placeholders(confirm.ask if isinstance(confirm.ask, str) else "") - shown):
        return [("confirm", f"ask names {', '.join(unknown)}, which is not an argument; use argument names in braces")]
    return []


def _returned(spec: ToolSpec) -> Problems:
    names = types_without_json(value_type(spec.signature.returns))
    fix = "return a dataclass, a pydantic model or an object with to_dict(); for a picture, an Image"
    return [("return type", f"{name} has no JSON form; {fix}") for name in names]


_OF_VALUES: Sequence[Check] = (
    _identity,
    _behaviour,
    _response_time,
    _caching,
    _examples,
    _limits,
    _deprecation,
    _arguments,
    _returned,
)
_ALL: Sequence[Check] = (
    _description,
    _identity,
    _behaviour,
    _response_time,
    _caching,
    _documentation,
    _examples,
    _limits,
    _deprecation,
    _arguments,
    _returned,
)
