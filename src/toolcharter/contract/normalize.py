"""Normalizes a JSON schema: follows references, writes draft-07 and 2020-12 alike, and ignores the order of sets."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast

from mcp_core.schema.references import resolve_pointer
from mcp_core.schema.walk import MAP_KEYWORDS

Schema = Mapping[str, Any] | bool
JsonObject = Mapping[str, Any]

ALL_TYPES = frozenset({"null", "boolean", "integer", "fraction", "string", "array", "object"})
"""A number is an integer or a fraction, so that types can be compared as sets."""
TYPES: Mapping[str, frozenset[str]] = {
    **{name: frozenset({name}) for name in ALL_TYPES - {"fraction"}},
    "number": frozenset({"integer", "fraction"}),
}
NUMBERS = TYPES["number"]

_MAP_KEYWORDS = frozenset({*MAP_KEYWORDS, "dependencies"})
VALUE_KEYWORDS = frozenset({"default", "const", "examples", "example"})
"""Keywords that hold plain values. Their order counts, and nothing in them is a schema."""
SET_KEYWORDS = frozenset({"required", "enum", "type"})
STRUCTURE_KEYWORDS = frozenset({"$schema", "$id", "$defs", "definitions", "$anchor", "$vocabulary"})

# Keywords that are compared as a whole: equal, removed, added or changed.
GROUPED_KEYWORDS: Mapping[str, tuple[str, ...]] = {
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
COUNT_KEYWORDS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
SIMPLE_KEYWORDS = frozenset({
    *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("pattern", "format", "default", "uniqueItems", "required"),
    *COUNT_KEYWORDS,
})  # fmt: skip
"""Keywords whose meaning does not depend on other keywords."""
CONSTRAINTS = frozenset({
    *SIMPLE_KEYWORDS,
    *("items", "prefixItems", "additionalItems", "dependencies"),
    *("properties", "additionalProperties", "anyOf", "allOf"),
    *(keyword for group in GROUPED_KEYWORDS.values() for keyword in group),
})  # fmt: skip


def canonical(node: Any, *, constraints_only: bool = False) -> Any:
    """A schema with sets sorted. With `constraints_only`, descriptions and other annotations are left out."""
    if isinstance(node, list):
        return [canonical(item, constraints_only=constraints_only) for item in cast(list[Any], node)]
    if not isinstance(node, Mapping):
        return node
    out: dict[str, Any] = {}
    for key, value in cast(JsonObject, node).items():
        if constraints_only and key not in CONSTRAINTS and key not in STRUCTURE_KEYWORDS:
            continue
        if key in VALUE_KEYWORDS:
            out[key] = value
        elif key in _MAP_KEYWORDS and isinstance(value, Mapping):
            out[key] = {
                name: canonical(item, constraints_only=constraints_only)
                for name, item in cast(JsonObject, value).items()
            }
        elif key in SET_KEYWORDS and isinstance(value, list):
            out[key] = sorted(cast(list[Any], value), key=canonical_json)
        else:
            out[key] = canonical(value, constraints_only=constraints_only)
    return out


def canonical_json(value: Any) -> str:
    """JSON text that is the same for equal values: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(_unify_numbers(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _unify_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _unify_numbers(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_unify_numbers(item) for item in cast(Sequence[Any], value)]
    return value


class SchemaDocument:
    """A root schema, in which references are resolved."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.text = canonical_json(canonical(root))
        self.constraints_text = canonical_json(canonical(root, constraints_only=True))
        draft = str(root.get("$schema", "")) if isinstance(root, Mapping) else ""
        # Up to draft-07, keywords beside a reference are ignored.
        self.ignores_ref_siblings = any(f"draft-0{number}" in draft for number in (3, 4, 6, 7))

    def follow(self, schema: Any) -> Schema:
        """The schema that a reference points to. A reference without a target, or in a circle, is left as it is."""
        seen: set[str] = set()
        while isinstance(schema, Mapping) and "$ref" in schema:
            fields = cast(JsonObject, schema)
            ref = fields["$ref"]
            target = resolve_pointer(self.root, ref) if isinstance(ref, str) else None
            if target is None or ref in seen:
                return fields
            seen.add(ref)
            siblings = {key: value for key, value in fields.items() if key != "$ref" and key not in STRUCTURE_KEYWORDS}
            annotations = {key: value for key, value in siblings.items() if key not in CONSTRAINTS or key == "default"}
            conditions = {key: value for key, value in siblings.items() if key not in annotations}
            if self.ignores_ref_siblings or not conditions:
                conditions = {}
            elif (
                not isinstance(target, Mapping)
                or not conditions.keys() <= SIMPLE_KEYWORDS - target.keys()
                or "$ref" in target
            ):
                return {"allOf": [{"$ref": ref}, conditions], **annotations}
            schema = {**target, **conditions, **annotations} if isinstance(target, Mapping) else target
        return cast(Schema, schema) if isinstance(schema, Mapping | bool) else {}


@dataclass(frozen=True, slots=True)
class NormalizedSchema:
    """A schema in a form that can be compared."""

    keywords: JsonObject = field(default_factory=dict[str, Any])
    types: frozenset[str] = ALL_TYPES
    enum: Mapping[str, Any] | None = None
    """The values, by their canonical JSON."""
    lower: tuple[float, bool] | None = None
    """The bound, and whether the bound itself is excluded."""
    upper: tuple[float, bool] | None = None
    properties: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    required: frozenset[str] = frozenset()
    additional: Schema | None = None
    """The value of `additionalProperties`; None if it is not given."""
    prefix_items: Sequence[Schema] = ()
    items: Schema = True
    branches: Sequence[Schema] | None = None
    all_of: Sequence[Schema] = ()
    groups: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    annotations: JsonObject = field(default_factory=dict[str, Any])

    @property
    def has_only_branches(self) -> bool:
        """Whether the schema has no constraint beside its alternatives."""
        others = self.keywords.keys() & CONSTRAINTS - {"default", "anyOf", "oneOf"}
        return self.branches is not None and not others and not self.groups

    @property
    def property_sources(self) -> int:
        """How many parts of the schema constrain the properties of an object."""
        own = bool(self.properties) or self.additional is not None
        return own + (self.branches is not None) + len(self.all_of) + len(self.groups)


def normalize(schema: Schema, document: SchemaDocument, *, member: bool = False) -> NormalizedSchema:
    """Normalize a schema. A malformed keyword counts as missing. The alternatives of a `member` are not normalized."""
    followed = document.follow(schema)
    if isinstance(followed, bool):
        return NormalizedSchema(types=ALL_TYPES if followed else frozenset())
    return _normalize(_unwrap_all_of(followed, document), document, member=member)


def _unwrap_all_of(schema: JsonObject, document: SchemaDocument) -> JsonObject:
    """Replace an `allOf` that has a single member, and no constraint beside it, by that member."""
    members = schema_list(schema.get("allOf"))
    siblings = {key: value for key, value in schema.items() if key != "allOf" and key not in STRUCTURE_KEYWORDS}
    if len(members) != 1 or (siblings.keys() & CONSTRAINTS - {"default"}):
        return schema
    inner = document.follow(members[0])
    # One level only.
    return {**inner, **siblings} if isinstance(inner, Mapping) and "$ref" not in inner else schema


def _normalize(schema: JsonObject, document: SchemaDocument, *, member: bool) -> NormalizedSchema:
    types = _types(schema.get("type"))
    enum = _enum_values(schema, types)
    if enum is not None:
        types &= frozenset(type_of(value) for value in enum.values())
    groups = _grouped_keywords(schema)
    one_of = schema_list(schema.get("oneOf"))
    any_of = schema_list(schema.get("anyOf"))
    branches: list[Schema] | None = any_of or None
    if not (branches or member) and one_of and are_disjoint([normalize(one, document, member=True) for one in one_of]):
        # If no value can match two alternatives, `oneOf` means `anyOf`, and they can be compared one by one.
        branches = one_of
        del groups["oneOf"]
    first, rest = _items(schema)
    required = cast(list[Any], schema.get("required")) if isinstance(schema.get("required"), list) else []
    return NormalizedSchema(
        keywords=schema,
        types=types,
        enum=enum,
        lower=_bound(schema, "minimum", "exclusiveMinimum", types),
        upper=_bound(schema, "maximum", "exclusiveMaximum", types),
        properties=schema_map(schema.get("properties")),
        required=frozenset(name for name in required if isinstance(name, str)),
        additional=_schema(schema.get("additionalProperties")),
        prefix_items=first,
        items=rest,
        branches=branches,
        all_of=schema_list(schema.get("allOf")),
        groups=groups,
        annotations={
            key: value for key, value in schema.items() if key not in CONSTRAINTS and key not in STRUCTURE_KEYWORDS
        },
    )


def _types(value: Any) -> frozenset[str]:
    names = cast(list[Any], value) if isinstance(value, list) else [value]
    if not all(isinstance(name, str) and name in TYPES for name in names):
        return ALL_TYPES
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


def _enum_values(schema: JsonObject, types: frozenset[str]) -> Mapping[str, Any] | None:
    enum = schema.get("enum")
    values = cast(list[Any], enum) if isinstance(enum, list) else None
    if "const" in schema:
        constant = schema["const"]
        values = [constant] if values is None or canonical_json(constant) in map(canonical_json, values) else []
    if values is None:
        return None
    return {canonical_json(value): value for value in values if type_of(value) in types}


def _grouped_keywords(schema: JsonObject) -> dict[str, JsonObject]:
    fields = dict(schema)
    # draft-07 has one keyword for both.
    for name, needed in as_object(fields.pop("dependencies", None)).items():
        keyword = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        fields[keyword] = {**as_object(fields.get(keyword)), name: needed}
    found = {name: {key: fields[key] for key in keys if key in fields} for name, keys in GROUPED_KEYWORDS.items()}
    return {name: group for name, group in found.items() if group}


def _bound(schema: JsonObject, including: str, excluding: str, types: frozenset[str]) -> tuple[float, bool] | None:
    low = including == "minimum"
    bounds: list[tuple[float, bool]] = []
    at, beyond = schema.get(including), schema.get(excluding)
    if is_number(at):
        # In draft-04, `exclusiveMinimum: true` changes the meaning of `minimum`.
        bounds.append((at, beyond is True))
    if is_number(beyond):
        bounds.append((beyond, True))
    if not bounds:
        return None
    strictest = max(bounds) if low else min(bounds, key=lambda bound: (bound[0], not bound[1]))
    return _integer_bound(strictest, low=low) if not types & {"fraction"} else strictest


def _integer_bound(bound: tuple[float, bool], *, low: bool) -> tuple[float, bool]:
    """The same bound for integers: above 0 is from 1."""
    value, excluded = bound
    if not math.isfinite(value):
        return bound
    if low:
        return (math.floor(value) + 1 if excluded else math.ceil(value)), False
    return (math.ceil(value) - 1 if excluded else math.floor(value)), False


def _items(schema: JsonObject) -> tuple[Sequence[Schema], Schema]:
    """The schemas of the first items, and of all others. draft-07 has the first as a list in `items`."""
    items = schema.get("items")
    if isinstance(items, list):
        rest = _schema(schema.get("additionalItems"))
        return [_schema(item, otherwise=True) for item in cast(list[Any], items)], True if rest is None else rest
    rest = _schema(items)
    return schema_list(schema.get("prefixItems")), True if rest is None else rest


def _schema(value: Any, *, otherwise: Any = None) -> Any:
    return cast(Schema, value) if isinstance(value, Mapping | bool) else otherwise


def schema_list(value: Any) -> list[Schema]:
    return [_schema(item, otherwise=True) for item in cast(list[Any], value)] if isinstance(value, list) else []


def as_object(value: Any) -> JsonObject:
    """A JSON object; empty if the value is something else."""
    return cast(JsonObject, value) if isinstance(value, Mapping) else {}


def schema_map(value: Any) -> dict[str, Schema]:
    """The schemas in an object."""
    return {name: _schema(item, otherwise=True) for name, item in as_object(value).items()}


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number. A boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_disjoint(forms: Sequence[NormalizedSchema]) -> bool:
    """Return whether it is certain that no value matches two of the schemas."""
    return all(_is_disjoint_pair(one, other) for i, one in enumerate(forms) for other in forms[:i])


def _is_disjoint_pair(one: NormalizedSchema, other: NormalizedSchema) -> bool:
    if not one.types & other.types:
        return True
    if one.enum is not None and other.enum is not None and not one.enum.keys() & other.enum.keys():
        return True
    if one.types | other.types != TYPES["object"]:
        return False
    return any(
        _distinguishes(one.properties.get(name), other.properties.get(name)) for name in one.required & other.required
    )


def _distinguishes(one: Schema | None, other: Schema | None) -> bool:
    """Whether a field has different values in two objects. References are not followed here."""
    values = [
        _enum_values(schema, ALL_TYPES) if isinstance(schema, Mapping) and "$ref" not in schema else None
        for schema in (one, other)
    ]
    return all(found is not None for found in values) and not values[0].keys() & values[1].keys()  # pyright: ignore[reportOptionalMemberAccess]
