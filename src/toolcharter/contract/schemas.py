"""A JSON schema, read into one form: references followed, draft-07 and 2020-12 spelled alike, order left out."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast

Schema = Mapping[str, Any] | bool
Fields = Mapping[str, Any]

EVERY_TYPE = frozenset({"null", "boolean", "integer", "fraction", "string", "array", "object"})
"""A number is an integer or a fraction, so that types can be compared as sets."""
TYPES: Mapping[str, frozenset[str]] = {
    **{name: frozenset({name}) for name in EVERY_TYPE - {"fraction"}},
    "number": frozenset({"integer", "fraction"}),
}
NUMBERS = TYPES["number"]

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
VALUES = frozenset({"default", "const", "examples", "example"})
"""Keywords that hold values, whose order means something and in which nothing is a schema."""
SETS = frozenset({"required", "enum", "type"})
STRUCTURE = frozenset({"$schema", "$id", "$defs", "definitions", "$anchor", "$vocabulary"})

# Keywords that are compared as a whole: equal, gone, new or changed.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "oneOf": ("oneOf",),
    "not": ("not",),
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
    "dependentRequired": ("dependentRequired",),
    "dependentSchemas": ("dependentSchemas",),
    "propertyNames": ("propertyNames",),
    "patternProperties": ("patternProperties",),
    "unevaluatedProperties": ("unevaluatedProperties",),
    "unevaluatedItems": ("unevaluatedItems",),
    "$ref": ("$ref", "$dynamicRef", "$recursiveRef"),
}
COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
SIMPLE = frozenset({
    *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("pattern", "format", "default", "uniqueItems", "required"),
    *COUNTS,
})  # fmt: skip
"""Keywords that say the same whatever stands beside them."""
JUDGED = frozenset({
    *SIMPLE,
    *("items", "prefixItems", "additionalItems", "dependencies"),
    *("properties", "additionalProperties", "anyOf", "allOf"),
    *(keyword for group in GROUPS.values() for keyword in group),
})  # fmt: skip


def canonical(node: Any, *, bare: bool = False) -> Any:
    """A schema without the order of what has none; `bare` leaves out the words that are for readers only."""
    if isinstance(node, list):
        return [canonical(item, bare=bare) for item in cast(list[Any], node)]
    if not isinstance(node, Mapping):
        return node
    out: dict[str, Any] = {}
    for key, value in cast(Fields, node).items():
        if bare and key not in JUDGED and key not in STRUCTURE:
            continue
        if key in VALUES:
            out[key] = value
        elif key in MAPS and isinstance(value, Mapping):
            out[key] = {name: canonical(item, bare=bare) for name, item in cast(Fields, value).items()}
        elif key in SETS and isinstance(value, list):
            out[key] = sorted(cast(list[Any], value), key=text)
        else:
            out[key] = canonical(value, bare=bare)
    return out


def text(value: Any) -> str:
    """JSON text that is the same for equal values: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast(Sequence[Any], value)]
    return value


class Document:
    """A whole schema, in which references point."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.text, self.bare = text(canonical(root)), text(canonical(root, bare=True))
        named = str(root.get("$schema", "")) if isinstance(root, Mapping) else ""
        # Until draft-07, whatever stands beside a reference is not looked at.
        self.reference_stands_alone = any(f"draft-0{number}" in named for number in (3, 4, 6, 7))

    def follow(self, schema: Any) -> Schema:
        """The schema that a reference leads to. One that leads nowhere, or round and round, is left as it is."""
        seen: set[str] = set()
        while isinstance(schema, Mapping) and "$ref" in schema:
            fields = cast(Fields, schema)
            ref = fields["$ref"]
            found = self._at(ref)
            if found is None or ref in seen:
                return fields
            seen.add(ref)
            beside = {key: value for key, value in fields.items() if key != "$ref" and key not in STRUCTURE}
            words = {key: value for key, value in beside.items() if key not in JUDGED or key == "default"}
            conditions = {key: value for key, value in beside.items() if key not in words}
            if self.reference_stands_alone or not conditions:
                conditions = {}
            elif not isinstance(found, Mapping) or not conditions.keys() <= SIMPLE - found.keys() or "$ref" in found:
                return {"allOf": [{"$ref": ref}, conditions], **words}
            schema = {**found, **conditions, **words} if isinstance(found, Mapping) else found
        return cast(Schema, schema) if isinstance(schema, Mapping | bool) else {}

    def _at(self, ref: Any) -> Schema | None:
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            return None
        node: Any = self.root
        for part in ref.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping):
                node = cast(Fields, node).get(name)
            elif isinstance(node, list) and name.isdecimal() and int(name) < len(cast(list[Any], node)):
                node = cast(list[Any], node)[int(name)]
            else:
                return None
        return cast(Schema, node) if isinstance(node, Mapping | bool) else None


@dataclass(frozen=True, slots=True)
class Form:
    """One schema, ready to be compared."""

    schema: Fields = field(default_factory=dict[str, Any])
    types: frozenset[str] = EVERY_TYPE
    enum: Mapping[str, Any] | None = None
    """The values, by their text."""
    lower: tuple[float, bool] | None = None
    """The bound, and whether it is excluded."""
    upper: tuple[float, bool] | None = None
    properties: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    required: frozenset[str] = frozenset()
    further: Schema | None = None
    """What is said about properties without a name; None when nothing is."""
    first_items: Sequence[Schema] = ()
    items: Schema = True
    branches: Sequence[Schema] | None = None
    all_of: Sequence[Schema] = ()
    groups: Mapping[str, Fields] = field(default_factory=dict[str, Fields])
    words: Fields = field(default_factory=dict[str, Any])

    @property
    def only_branches(self) -> bool:
        """Whether nothing is said beside the alternatives."""
        said = self.schema.keys() & JUDGED - {"default", "anyOf", "oneOf"}
        return self.branches is not None and not said and not self.groups

    @property
    def voices(self) -> int:
        """How many parts of the schema speak about the fields of an object."""
        own = bool(self.properties) or self.further is not None
        return own + (self.branches is not None) + len(self.all_of) + len(self.groups)


def read(schema: Schema, document: Document, *, member: bool = False) -> Form:
    """Read a schema. What is not well formed counts as not there. A `member` is read no deeper than itself."""
    plain = document.follow(schema)
    if isinstance(plain, bool):
        return Form(types=EVERY_TYPE if plain else frozenset())
    return _read(_unwrapped(plain, document), document, member=member)


def _unwrapped(schema: Fields, document: Document) -> Fields:
    """`allOf` with a single member and nothing beside it is that member; generators write it to add words."""
    members = schemas(schema.get("allOf"))
    beside = {key: value for key, value in schema.items() if key != "allOf" and key not in STRUCTURE}
    if len(members) != 1 or (beside.keys() & JUDGED - {"default"}):
        return schema
    inner = document.follow(members[0])
    # One level only: what is inside is read as it stands.
    return {**inner, **beside} if isinstance(inner, Mapping) and "$ref" not in inner else schema


def _read(schema: Fields, document: Document, *, member: bool) -> Form:
    types = _types(schema.get("type"))
    enum = _enum(schema, types)
    if enum is not None:
        types &= frozenset(type_of(value) for value in enum.values())
    groups = _groups(schema)
    one_of = schemas(schema.get("oneOf"))
    any_of = schemas(schema.get("anyOf"))
    branches: list[Schema] | None = any_of or None
    if not (branches or member) and one_of and are_disjoint([read(one, document, member=True) for one in one_of]):
        # Alternatives of which never two can hold are the same as `anyOf`, and can be judged one by one.
        branches = one_of
        del groups["oneOf"]
    first, rest = _items(schema)
    required = cast(list[Any], schema.get("required")) if isinstance(schema.get("required"), list) else []
    return Form(
        schema=schema,
        types=types,
        enum=enum,
        lower=_bound(schema, "minimum", "exclusiveMinimum", types),
        upper=_bound(schema, "maximum", "exclusiveMaximum", types),
        properties=named_schemas(schema.get("properties")),
        required=frozenset(name for name in required if isinstance(name, str)),
        further=_schema(schema.get("additionalProperties")),
        first_items=first,
        items=rest,
        branches=branches,
        all_of=schemas(schema.get("allOf")),
        groups=groups,
        words={key: value for key, value in schema.items() if key not in JUDGED and key not in STRUCTURE},
    )


def _types(given: Any) -> frozenset[str]:
    names = cast(list[Any], given) if isinstance(given, list) else [given]
    if not all(isinstance(name, str) and name in TYPES for name in names):
        return EVERY_TYPE
    return frozenset[str]().union(*(TYPES[name] for name in names))


def type_of(value: Any) -> str:
    """The type of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "fraction"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _enum(schema: Fields, types: frozenset[str]) -> Mapping[str, Any] | None:
    given = schema.get("enum")
    values = cast(list[Any], given) if isinstance(given, list) else None
    if "const" in schema:
        constant = schema["const"]
        values = [constant] if values is None or text(constant) in map(text, values) else []
    if values is None:
        return None
    return {text(value): value for value in values if type_of(value) in types}


def _groups(schema: Fields) -> dict[str, Fields]:
    fields = dict(schema)
    # draft-07 had one word for both.
    for name, needed in named(fields.pop("dependencies", None)).items():
        word = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        fields[word] = {**named(fields.get(word)), name: needed}
    found = {name: {key: fields[key] for key in keys if key in fields} for name, keys in GROUPS.items()}
    return {name: group for name, group in found.items() if group}


def _bound(schema: Fields, including: str, excluding: str, types: frozenset[str]) -> tuple[float, bool] | None:
    low = including == "minimum"
    bounds: list[tuple[float, bool]] = []
    at, beyond = schema.get(including), schema.get(excluding)
    if is_number(at):
        # In draft-04, `exclusiveMinimum: true` spoke about `minimum`.
        bounds.append((at, beyond is True))
    if is_number(beyond):
        bounds.append((beyond, True))
    if not bounds:
        return None
    strictest = max(bounds) if low else min(bounds, key=lambda bound: (bound[0], not bound[1]))
    return _whole(strictest, low=low) if not types & {"fraction"} else strictest


def _whole(bound: tuple[float, bool], *, low: bool) -> tuple[float, bool]:
    """The same bound for whole numbers: above 0 is from 1."""
    value, excluded = bound
    if not math.isfinite(value):
        return bound
    if low:
        return (math.floor(value) + 1 if excluded else math.ceil(value)), False
    return (math.ceil(value) - 1 if excluded else math.floor(value)), False


def _items(schema: Fields) -> tuple[Sequence[Schema], Schema]:
    """The schemas of the first items, and that of all others. draft-07 wrote them as a list in `items`."""
    items = schema.get("items")
    if isinstance(items, list):
        rest = _schema(schema.get("additionalItems"))
        return [_schema(item, otherwise=True) for item in cast(list[Any], items)], True if rest is None else rest
    rest = _schema(items)
    return schemas(schema.get("prefixItems")), True if rest is None else rest


def _schema(value: Any, *, otherwise: Any = None) -> Any:
    return cast(Schema, value) if isinstance(value, Mapping | bool) else otherwise


def schemas(value: Any) -> list[Schema]:
    """The schemas in a list."""
    return [_schema(item, otherwise=True) for item in cast(list[Any], value)] if isinstance(value, list) else []


def named(value: Any) -> Fields:
    """The fields of an object; none where it is no object."""
    return cast(Fields, value) if isinstance(value, Mapping) else {}


def named_schemas(value: Any) -> dict[str, Schema]:
    """The schemas in an object."""
    return {name: _schema(item, otherwise=True) for name, item in named(value).items()}


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_disjoint(forms: Sequence[Form]) -> bool:
    """Whether it is plain that no value fits two of the schemas."""
    return all(_two_disjoint(one, other) for i, one in enumerate(forms) for other in forms[:i])


def _two_disjoint(one: Form, other: Form) -> bool:
    if not one.types & other.types:
        return True
    if one.enum is not None and other.enum is not None and not one.enum.keys() & other.enum.keys():
        return True
    if one.types | other.types != TYPES["object"]:
        return False
    return any(
        _told_apart(one.properties.get(name), other.properties.get(name)) for name in one.required & other.required
    )


def _told_apart(one: Schema | None, other: Schema | None) -> bool:
    """Whether a field tells two objects apart by the values it may have. References are not followed here."""
    values = [
        _enum(schema, EVERY_TYPE) if isinstance(schema, Mapping) and "$ref" not in schema else None
        for schema in (one, other)
    ]
    return all(found is not None for found in values) and not values[0].keys() & values[1].keys()  # pyright: ignore[reportOptionalMemberAccess]
