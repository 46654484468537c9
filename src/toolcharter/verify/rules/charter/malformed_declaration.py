import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast, get_args

from mcp_core.declare.charter import META
from toolcharter.verify.declaration import declared_value, has_declared_values
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_PERMISSION = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*")


def _strings(value: Any) -> list[str] | None:
    """A list of strings; None if it is something else."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast(list[Any], value)):
        return None
    return cast(list[str], value)


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _are_tags(value: Any) -> bool:
    tags = _strings(value)
    return bool(tags) and all(tag.strip() for tag in tags)


def _are_permissions(value: Any) -> bool:
    names = _strings(value)
    return names is not None and all(map(_PERMISSION.fullmatch, names))


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_rate_limit(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    limit = cast(dict[str, Any], value)
    return _is_positive(limit.get("maxCalls")) and _is_positive(limit.get("windowMs"))


def _are_examples(value: Any) -> bool:
    examples = cast(list[Any], value) if isinstance(value, list) else []
    return bool(examples) and all(map(_is_example, examples))


def _is_example(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    example = cast(dict[str, Any], value)
    return isinstance(example.get("description"), str) and isinstance(example.get("params"), dict)


@cache
def _forms() -> dict[str, tuple[Callable[[Any], bool], str]]:
    """The test of each value, and what it should be."""
    from mcp_core.declare.spec import Category, ResponseTime  # noqa: PLC0415 - 90 ms, not for an undeclared tool

    categories, times = get_args(Category), get_args(ResponseTime)
    return {
        "version": (_is_version, "a semantic version such as '1.2.3'"),
        "category": (categories.__contains__, f"one of {', '.join(categories)}"),
        "tags": (_are_tags, "a list of at least one tag"),
        "permissions": (_are_permissions, "a list of 'resource:action'"),
        "responseTime": (times.__contains__, f"one of {', '.join(times)}"),
        "cacheable": (_is_bool, "true or false"),
        "cacheTTL": (_is_positive, "a number of seconds above 0"),
        "idempotent": (_is_bool, "true or false"),
        "rateLimit": (_is_rate_limit, "an object with maxCalls and windowMs, both above 0"),
        "examples": (_are_examples, "a list of objects with description, params and expectedResult"),
    }


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for name, (matches, expected) in _forms().items() if has_declared_values(tool) else ():
        value = declared_value(tool, name)
        if value is not None and not matches(value):
            yield Problem(f"its {name} is {str(value)[:60]!r}, not {expected}", f"_meta.{META}{name}")


RULE = Rule(
    id="CHA002",
    name="malformed-declaration",
    family="charter",
    severity="error",
    what="A declared value, such as a version, a permission or a rate limit, is malformed.",
    why="Gates, caches and catalogues read these values. A value that they cannot read does not protect anything.",
    fix="Correct the value as the finding says. A tool that is declared with `tool` has only valid values.",
    bad=[{"_meta": {META + "permissions": ["read notes"]}}],
    good=[{"_meta": {META + "permissions": ["notes:read"]}}],
    check=check,
)
