"""All schemas inside a schema, each with its path. Declarations, rules, contracts and pages read schemas with it.

The walk takes linear time and memory for any schema: nodes are limited, a definition is entered once, and a path is
written only if it is asked for. It does not recurse.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from mcp_core.schema.fields import Schema, list_at, string_at, types_of
from mcp_core.schema.references import resolve_ref

MAP_KEYWORDS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
LIST_KEYWORDS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE_KEYWORDS = (
    *("items", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else"),
    *("propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
BRANCHES = frozenset({"anyOf", "oneOf", "allOf", "dependentSchemas", "not", "if", "then", "else"})
"""The keywords of schemas that are one condition among others for the same value."""
MAX_NODES = 20_000
"""The walk stops here. No real tool has as many."""
MAX_LEVELS = 33
"""A walk that follows references stops here."""

Inside = Callable[["Node"], Iterable[str]]
"""The keywords that are entered at a node, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A schema, or a schema inside one."""

    value: Any
    """The schema as it is written. Only a property may be something else than an object, such as `true`."""
    schema: Schema
    """The same with its reference followed, if the walk follows them; empty if the value is not an object."""
    keyword: str = ""
    """The keyword under which it stands; empty for the outermost."""
    name: str = ""
    """The name of a property or definition, or the position in a list."""
    required: bool = False
    """Whether it is a property that the object requires."""
    depth: int = 0
    """How many properties it is inside of: 0 for an argument, 1 for a member of an argument, and so on."""
    level: int = 0
    parent: "Node | None" = None
    step: str = ""
    """The path from the parent on."""

    @property
    def path(self) -> str:
        """The place in the definition of a tool, such as `inputSchema.properties.query`."""
        return "".join(reversed([node.step for node in self._upwards()]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the properties that lead to it."""
        return tuple(reversed([node.name for node in self._upwards() if node.keyword == "properties"]))

    @property
    def description(self) -> str:
        """The description, without space around it; empty if it has none."""
        return string_at(self.schema, "description").strip()

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that it may have, without null."""
        return tuple(kind for kind in types_of(self.schema) if kind != "null")

    def _upwards(self) -> Iterator["Node"]:
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent


def walk(
    schema: Schema, path: str = "", inside: Inside | None = None, *, follow: bool = False, by_level: bool = False
) -> Iterator[Node]:
    """The schema and the schemas inside it, each before what it contains; `by_level` the outer ones first.

    Without `inside`, all keywords are entered, in the order of the schema. With `follow`, references are followed.
    """
    visited: set[str] = set()
    pending = deque([Node(schema, resolve_ref(schema, schema) if follow else schema, step=path)])
    found = 1
    while pending:
        node = pending.popleft()
        yield node
        if found > MAX_NODES or (follow and (node.level > MAX_LEVELS or not _enter(node, visited))):
            continue
        inner = _children(node, inside(node) if inside else node.schema, schema if follow else None)
        children = list(islice(inner, MAX_NODES))
        found += len(children)
        if by_level:
            pending.extend(children)
        else:
            pending.extendleft(reversed(children))


def _enter(node: Node, visited: set[str]) -> bool:
    """Whether the schema is new. A definition is entered once, however often it is used: it may use itself."""
    ref = string_at(cast(Schema, node.value), "$ref") if node.parent and isinstance(node.value, dict) else ""
    if ref in visited:
        return False
    if ref:
        visited.add(ref)
    return True


def _children(node: Node, keywords: Iterable[str], root: Schema | None) -> Iterator[Node]:
    """The schemas directly inside a node. References are followed into the root, if it is given."""
    schema = node.schema
    for keyword in keywords:
        value: Any = schema.get(keyword)
        if isinstance(value, dict) and keyword in MAP_KEYWORDS:
            is_property = keyword == "properties"
            required = {one for one in list_at(schema, "required") if isinstance(one, str)} if is_property else ()
            for name, inner in cast(dict[str, Any], value).items():
                if is_property or isinstance(inner, dict):
                    yield _child(node, keyword, inner, root, name=name, required=name in required)
        elif isinstance(value, dict) and keyword in SINGLE_KEYWORDS:
            yield _child(node, keyword, value, root)
        elif isinstance(value, list) and (keyword in LIST_KEYWORDS or keyword == "items"):
            for number, inner in enumerate(cast(list[Any], value)):
                if isinstance(inner, dict):
                    yield _child(node, keyword, inner, root, name=str(number))


def _child(
    parent: Node, keyword: str, value: Any, root: Schema | None, *, name: str | None = None, required: bool = False
) -> Node:
    schema = cast(Schema, value) if isinstance(value, dict) else cast(Schema, {})
    return Node(
        value,
        resolve_ref(schema, root) if root is not None else schema,
        keyword,
        name or "",
        required,
        parent.depth + (parent.keyword == "properties"),
        parent.level + 1,
        parent,
        f".{keyword}" if name is None else f".{keyword}.{name}",
    )


def arguments(schema: Schema) -> Iterator[Node]:
    """The arguments of a schema without references, and the members of objects inside them, each before its members."""
    return (node for node in walk(schema, inside=_objects_inside) if node.keyword == "properties")


def _objects_inside(node: Node) -> Iterable[str]:
    if "properties" in node.schema or node.parent is None:
        return ("properties",)
    return ("items", "additionalProperties", *LIST_KEYWORDS)


def arguments_with_references(schema: Schema, path: str) -> Iterator[Node]:
    """The arguments of a schema and the members of objects inside them, with references followed."""
    nodes = walk(schema, path, _argument_keywords, follow=True)
    return (node for node in nodes if node.keyword == "properties")


def _argument_keywords(node: Node) -> Iterable[str]:
    is_inside_argument = node.depth or node.keyword == "properties"
    return ("properties", *(["items"] if is_inside_argument else []), "anyOf", "oneOf", "allOf")
