import re
from collections.abc import Callable, Iterable
from typing import Any, cast, get_args

from mcp_core.calling.render import META
from mcp_core.declare.spec import Category
from toolcharter.verify.declared import declared
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server, Tool

_VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_PERMISSION = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*")


def _texts(value: Any) -> list[str] | None:
    """A list of texts; None where it is none."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast(list[Any], value)):
        return None
    return cast(list[str], value)


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _is_category(value: Any) -> bool:
    return value in get_args(Category)


def _are_tags(value: Any) -> bool:
    tags = _texts(value)
    return bool(tags) and all(tag.strip() for tag in tags)


def _are_permissions(value: Any) -> bool:
    names = _texts(value)
    return names is not None and all(map(_PERMISSION.fullmatch, names))


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "version": (_is_version, "a semantic version such as '1.2.3'"),
    "category": (_is_category, f"one of {', '.join(get_args(Category))}"),
    "tags": (_are_tags, "a list of at least one tag"),
    "permissions": (_are_permissions, "a list of 'resource:action'"),
}


def check(tool: Tool, _: Server) -> Iterable[Found]:
    for name, (fits, wanted) in _FORMS.items():
        value = declared(tool, name)
        if value is not None and not fits(value):
            yield Found(f"its {name} is {str(value)[:60]!r}, not {wanted}", f"_meta.{META}{name}")


RULE = Rule(
    id="CHA002",
    name="malformed-declaration",
    family="charter",
    severity="error",
    what="A declared version, category, tag or permission does not have the form that the charter gives it.",
    why="Gates, caches and catalogues read these values. One that they cannot read is one that does not protect.",
    fix="Write a semantic version, a category of the four, at least one tag, and permissions as 'resource:action'.",
    bad=[{"_meta": {META + "permissions": ["read notes"]}}],
    good=[{"_meta": {META + "permissions": ["notes:read"]}}],
    check=check,
)
