"""Compares two schemas: every difference, and whether a value that was accepted may be rejected now.

A change that cannot be shown to be safe counts as unsafe. An agent does not send fields that a schema does not name, so
a new optional field is safe, unless the old schema explicitly accepts additional fields.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import gt, lt
from typing import Any, cast

from toolcharter.contract.changed_words import changed_words
from toolcharter.contract.changes import Difference
from toolcharter.contract.normalize import (
    ALL_TYPES,
    COUNT_KEYWORDS,
    NUMBERS,
    NormalizedSchema,
    Schema,
    SchemaDocument,
    canonical,
    canonical_json,
    is_number,
    normalize,
)

Differences = Iterator[Difference]

MAX_STEPS = 5_000
"""A limit for schemas that refer to each other in many alternatives: the steps grow exponentially."""
MAX_QUOTE = 60


class SchemaTooLarge(Exception):
    """The comparison took too many steps."""


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A place in a schema: its JSON path, and its name in sentences."""

    path: str
    label: str = ""

    def at(self, *keys: str | int) -> "SchemaPlace":
        """A place below this one, with the same label."""
        return SchemaPlace(self.path + "".join(_step(key) for key in keys), self.label)

    def field(self, name: str) -> "SchemaPlace":
        """A field of the object at this place."""
        return SchemaPlace(self.at("properties", name).path, f"{self.label}.{name}" if self.label else name)

    def item(self, place: "SchemaPlace") -> "SchemaPlace":
        """An item of the list at this place, which has a path of its own."""
        return SchemaPlace(place.path, f"{self.label}[]")

    def __str__(self) -> str:
        return f"'{self.label}'" if self.label else "the schema"


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() else f"[{canonical_json(key)}]"


def diff_schemas(old: Schema, new: Schema, path: str) -> list[Difference]:
    """All differences. Raises SchemaTooLarge."""
    return SchemaComparison(SchemaDocument(old), SchemaDocument(new)).compare(old, new, SchemaPlace(path), shared=False)


class SchemaComparison:
    """Walks through two documents at the same time."""

    def __init__(self, old: SchemaDocument, new: SchemaDocument) -> None:
        self._old, self._new = old, new
        self._in_progress: set[tuple[str, str, bool]] = set()
        self._steps = 0

    def compare(self, old: Schema, new: Schema, place: SchemaPlace, *, shared: bool) -> list[Difference]:
        """The differences at a place and below it. `shared` means that other schemas constrain the same object."""
        key = (canonical_json(canonical(old)), canonical_json(canonical(new)), shared)
        # A recursive schema leads back to a comparison that is in progress, which reports the differences itself.
        if key in self._in_progress or (key[0] == key[1] and self._same_text_means_same(key[0])):
            return []
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise SchemaTooLarge
        self._in_progress.add(key)
        try:
            return list(
                self._compare_normalized(normalize(old, self._old), normalize(new, self._new), place, shared=shared)
            )
        finally:
            self._in_progress.discard(key)

    def _same_text_means_same(self, text: str) -> bool:
        """Whether equal texts mean equal schemas: they have no reference, or both documents are equal."""
        return not _has_ref(text) or self._old.text == self._new.text

    def _compare_normalized(
        self, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace, *, shared: bool
    ) -> Differences:
        yield from _annotations(old, new, place)
        yield from _default(old, new, place)
        if (old.branches is None) != (new.branches is None) and (old.has_only_branches or new.has_only_branches):
            yield from self._branches(_alternatives(old), _alternatives(new), place, shared=shared)
            return
        yield from _types(old, new, place)
        yield from _enum(old, new, place)
        both = old.types & new.types
        if not both:
            return
        yield from _pattern_and_format(old, new, place)
        for kinds, keywords in ((NUMBERS, _numbers), ({"string"}, _string_counts)):
            if both & kinds:
                yield from keywords(old, new, place)
        if "array" in both:
            yield from self._arrays(old, new, place)
        if "object" in both:
            yield from self._objects(old, new, place, shared=shared)
        yield from self._combinators(old, new, place, shared=shared)

    # --- objects and arrays ----------------------------------------------------------------------------

    def _objects(
        self, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace, *, shared: bool
    ) -> Differences:
        yield from _counts(old, new, place, "minProperties", "maxProperties")
        for name in sorted(old.properties.keys() | new.properties.keys()):
            here = place.field(name)
            if name not in new.properties:
                yield Difference("parameter-removed", here.path, f"{here} was removed")
            elif name in old.properties:
                yield from self.compare(old.properties[name], new.properties[name], here, shared=False)
            elif name not in new.required - old.required:
                yield Difference("parameter-added", here.path, f"{here} is new and optional")
                yield from self._new_property_conflicts(name, old, new, here, shared=shared)
        yield from _required(old, new, place)
        yield from self._additional_properties(old, new, place)

    def _new_property_conflicts(
        self, name: str, old: NormalizedSchema, new: NormalizedSchema, here: SchemaPlace, *, shared: bool
    ) -> Differences:
        """A new field may reject a value that the old schema accepted under the same name."""
        others = shared or old.branches is not None or bool(old.all_of) or bool(old.groups)
        before: Schema | None = old.additional
        if others or name in old.required or ("properties" not in old.keywords and here.label != name):
            before = True
        if before is None or before is False:
            return
        found = self.compare(before, new.properties[name], here, shared=False)
        yield from (difference for difference in found if difference.may_reject)

    def _additional_properties(self, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
        here = place.at("additionalProperties")
        before = True if old.additional is None else old.additional
        after = True if new.additional is None else new.additional
        if before is False and after is not False:
            yield Difference("object-opened", here.path, f"{place} now accepts additional fields")
        elif after is False and before is not False:
            yield Difference("object-closed", here.path, f"{place} no longer accepts additional fields")
        elif before is not False:
            yield from self.compare(before, after, SchemaPlace(here.path, f"{place.label}.*"), shared=False)

    def _arrays(self, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
        yield from _counts(old, new, place, "minItems", "maxItems")
        before, after = old.keywords.get("uniqueItems") is True, new.keywords.get("uniqueItems") is True
        if before != after:
            kind = "bound-tightened" if after else "bound-loosened"
            rule = "must be unique" if after else "need not be unique"
            yield Difference(kind, place.at("uniqueItems").path, f"the items of {place} {rule}")
        for index in range(max(len(old.prefix_items), len(new.prefix_items))):
            here = place.item(place.at("prefixItems", index))
            yield from self.compare(_item_schema(old, index), _item_schema(new, index), here, shared=False)
        yield from self.compare(old.items, new.items, place.item(place.at("items")), shared=False)

    # --- schemas made of schemas -----------------------------------------------------------------------

    def _combinators(
        self, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace, *, shared: bool
    ) -> Differences:
        inside = shared or old.property_sources > 1
        if old.branches is not None and new.branches is not None:
            yield from self._branches(old.branches, new.branches, place, shared=inside)
        elif old.branches is not None or new.branches is not None:
            yield _condition("anyOf", place, added=old.branches is None)
        yield from self._match_members(
            (old.all_of, new.all_of), place.at("allOf"), ("condition-dropped", "condition-added"), shared=inside
        )
        for name in sorted(old.groups.keys() | new.groups.keys()):
            yield from self._group(name, old, new, place)
        watched = {"unevaluatedProperties", "unevaluatedItems"} & (old.groups.keys() | new.groups.keys())
        if watched and _constraints(old.keywords) != _constraints(new.keywords):
            name = min(watched)
            yield Difference("condition-changed", place.at(name).path, f"what {name} covers in {place} changed")

    def _branches(
        self, old: Sequence[Schema], new: Sequence[Schema], place: SchemaPlace, *, shared: bool
    ) -> Differences:
        kinds = ("alternative-removed", "alternative-added")
        yield from self._match_members((old, new), place.at("anyOf"), kinds, shared=shared)

    def _match_members(
        self,
        members: tuple[Sequence[Schema], Sequence[Schema]],
        place: SchemaPlace,
        kinds: tuple[str, str],
        *,
        shared: bool,
    ) -> Differences:
        """Compare each old member with the most similar new one, in any order. The rest were removed or added."""
        left = list(enumerate(members[1]))
        removed: list[tuple[int, Schema]] = []
        for index, member in enumerate(members[0]):
            trials = [
                (self.compare(member, other, place.at(at), shared=shared), (at, other))
                for at, other in left
                if normalize(member, self._old).types & normalize(other, self._new).types
            ]
            if not trials:
                removed.append((index, member))
                continue
            found, taken = min(trials, key=lambda trial: _weight(trial[0]))
            left.remove(taken)
            yield from found
        for index, member in removed:
            yield Difference(kinds[0], place.at(index).path, f"{place} no longer has {_short(member)}")
        for index, member in left:
            yield Difference(kinds[1], place.at(index).path, f"{place} now has {_short(member)}")

    def _group(self, name: str, old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
        before, after = old.groups.get(name), new.groups.get(name)
        if before is None or after is None:
            found = _condition(name, place, added=before is None)
            # `additionalProperties` does not apply to fields that match a pattern, so either may reject more or less.
            yield replace(found, kind="condition-changed") if name == "patternProperties" else found
        elif self._constraints_differ(before, after):
            yield Difference("condition-changed", place.at(name).path, f"{name} of {place} changed")
        elif canonical_json(canonical(before)) != canonical_json(canonical(after)):
            yield Difference("note-changed", place.at(name).path, f"annotations inside {name} of {place} changed")

    def _constraints_differ(self, before: Any, after: Any) -> bool:
        if _constraints(before) != _constraints(after):
            return True
        return _has_ref(_constraints(after)) and self._old.constraints_text != self._new.constraints_text


def _alternatives(schema: NormalizedSchema) -> Sequence[Schema]:
    """The alternatives of a schema. A schema without any is its own alternative, once for each type."""
    if schema.branches is not None:
        return schema.branches
    if not schema.types:
        return ()
    rest = {key: value for key, value in schema.keywords.items() if key not in schema.annotations and key != "default"}
    types = schema.keywords.get("type")
    if not isinstance(types, list):
        return [rest]
    return [{**rest, "type": name} for name in sorted(cast(list[Any], types), key=str)]


def _weight(found: Sequence[Difference]) -> tuple[int, int]:
    return sum(difference.may_reject for difference in found), len(found)


def _item_schema(schema: NormalizedSchema, index: int) -> Schema:
    return schema.prefix_items[index] if index < len(schema.prefix_items) else schema.items


def _has_ref(text: str) -> bool:
    return any(f'"{keyword}"' in text for keyword in ("$ref", "$dynamicRef", "$recursiveRef"))


def _constraints(schema: Any) -> str:
    return canonical_json(canonical(schema, constraints_only=True))


def _short(value: Any) -> str:
    text = canonical_json(canonical(value))
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 3] + "..."


def _condition(name: str, place: SchemaPlace, *, added: bool) -> Difference:
    kind = "condition-added" if added else "condition-dropped"
    change = "has a new condition" if added else "no longer has the condition"
    return Difference(kind, place.at(name).path, f"{place} {change}: {name}")


# --- single keywords ---------------------------------------------------------------------------------------


def _annotations(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    for key in sorted(old.annotations.keys() | new.annotations.keys()):
        if canonical_json(old.annotations.get(key)) != canonical_json(new.annotations.get(key)):
            kind = "parameter-description-changed" if key == "description" else "note-changed"
            change = _annotation_change(old.annotations.get(key), new.annotations.get(key))
            yield Difference(kind, place.at(key).path, f"the {key} of {place} changed{change}")


def _annotation_change(old: Any, new: Any) -> str:
    if isinstance(old or "", str) and isinstance(new or "", str):
        return f": {changed_words(old or '', new or '')}"
    before, after = ("none" if value is None else _short(value) for value in (old, new))
    return f" from {before} to {after}"


def _default(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    before, after = (
        canonical_json(schema.keywords["default"]) if "default" in schema.keywords else None for schema in (old, new)
    )
    here = place.at("default").path
    if before is None and after is not None:
        yield Difference("default-stated", here, f"{place} has a new default: {_short(new.keywords['default'])}")
    elif before != after:
        yield Difference("default-changed", here, f"the default of {place} changed from {before} to {after or 'none'}")


def _types(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    if new.enum is not None and (old.enum is not None or new.types <= old.types):
        return  # the difference between the values says more
    here = place.at("type").path
    sentence = f"the type of {place} changed from {_type_names(old.types)} to {_type_names(new.types)}"
    if old.types - new.types and new.types - old.types:
        yield Difference("type-changed", here, sentence)
    elif old.types - new.types:
        yield Difference("type-narrowed", here, sentence)
    elif new.types - old.types:
        yield Difference("type-widened", here, sentence)


def _type_names(types: frozenset[str]) -> str:
    if len(types) > 4:  # noqa: PLR2004 - a longer list is hard to read
        return "any type" if types == ALL_TYPES else "almost any type"
    names = types - NUMBERS | {"number"} if types >= NUMBERS else types
    return " or ".join(sorted(names)) or "no type"


def _enum(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    here = place.at("enum").path
    if old.enum is not None and new.enum is not None:
        for value in sorted(old.enum.keys() - new.enum.keys()):
            yield Difference("enum-value-removed", here, f"{place} no longer accepts {value}")
        for value in sorted(new.enum.keys() - old.enum.keys()):
            yield Difference("enum-value-added", here, f"{place} now accepts {value}")
    elif new.enum is not None:
        yield Difference(
            "enum-introduced", here, f"{place} now accepts only {', '.join(sorted(new.enum)) or 'nothing'}"
        )
    elif old.enum is not None:
        yield Difference("enum-dropped", here, f"{place} is no longer limited to {', '.join(sorted(old.enum))}")


def _pattern_and_format(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    for key in ("pattern", "format"):
        before, after = old.keywords.get(key), new.keywords.get(key)
        if before != after:
            change = "added" if before is None else "dropped" if after is None else "changed"
            sentence = f"the {key} of {place} changed from {_or_none(before)} to {_or_none(after)}"
            yield Difference(f"{key}-{change}", place.at(key).path, sentence)


def _or_none(value: Any) -> str:
    return "none" if value is None else _short(value)


def _numbers(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    if old.lower != new.lower:
        tighter = new.lower is not None and (old.lower is None or new.lower > old.lower)
        yield _bound_difference("minimum", place, _bound_text(old.lower), _bound_text(new.lower), tighter=tighter)
    if old.upper != new.upper:
        tighter = new.upper is not None and (old.upper is None or _below(new.upper, old.upper))
        yield _bound_difference("maximum", place, _bound_text(old.upper), _bound_text(new.upper), tighter=tighter)
    before, after = old.keywords.get("multipleOf"), new.keywords.get("multipleOf")
    if canonical_json(before) != canonical_json(after):
        found = _bound_difference("multipleOf", place, _or_none(before), _or_none(after), tighter=after is not None)
        if before is not None and after is not None:
            tighter, looser = _is_multiple(after, before), _is_multiple(before, after)
            found = replace(found, kind=f"bound-{'tightened' if tighter else 'loosened' if looser else 'changed'}")
        yield found


def _below(one: tuple[float, bool], other: tuple[float, bool]) -> bool:
    return (one[0], not one[1]) < (other[0], not other[1])


def _is_multiple(of: Any, step: Any) -> bool:
    """Whether every multiple of one number is a multiple of the other."""
    if not (is_number(of) and is_number(step) and math.isfinite(of) and math.isfinite(step)) or step <= 0:
        return False
    return (Fraction(str(of)) / Fraction(str(step))).denominator == 1


def _bound_text(bound: tuple[float, bool] | None) -> str:
    return "none" if bound is None else f"{bound[0]}{' (excluded)' if bound[1] else ''}"


def _bound_difference(key: str, place: SchemaPlace, before: str, after: str, *, tighter: bool) -> Difference:
    kind = "bound-tightened" if tighter else "bound-loosened"
    return Difference(kind, place.at(key).path, f"the {key} of {place} changed from {before} to {after}")


def _string_counts(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    return _counts(old, new, place, "minLength", "maxLength")


def _counts(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace, low: str, high: str) -> Differences:
    for key, is_tighter in ((low, gt), (high, lt)):
        before, after = _count(old, key), _count(new, key)
        if before != after:
            tighter = after is not None and (before is None or is_tighter(after, before))
            yield _bound_difference(key, place, _or_none(before), _or_none(after), tighter=tighter)


def _count(schema: NormalizedSchema, key: str) -> float | None:
    value = schema.keywords.get(key)
    return value if is_number(value) and not (key in COUNT_KEYWORDS[::2] and value <= 0) else None


def _required(old: NormalizedSchema, new: NormalizedSchema, place: SchemaPlace) -> Differences:
    for name in sorted(new.required - old.required):
        here = place.field(name)
        if name in old.properties or name not in new.properties:
            yield Difference("parameter-made-required", here.path, f"{here} became required")
        elif _is_consent(new.properties[name]):
            yield Difference("consent-added", here.path, f"{here} is new: the literal that states the user's consent")
        else:
            yield Difference("required-parameter-added", here.path, f"{here} is new and required")
    for name in sorted(old.required - new.required):
        if name in new.properties or name not in old.properties:
            here = place.field(name)
            yield Difference("parameter-made-optional", here.path, f"{here} became optional")


def _is_consent(schema: Schema) -> bool:
    """Whether a field accepts exactly one value, a string: such a field only states something."""
    enum = normalize(schema, SchemaDocument(schema)).enum
    return enum is not None and len(enum) == 1 and all(isinstance(value, str) for value in enum.values())
