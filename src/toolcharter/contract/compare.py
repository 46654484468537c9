"""Two schemas compared: every difference, and whether a value that was accepted may no longer be.

What cannot be shown to be safe counts as unsafe. A name that an object does not mention is nothing an agent would
send, so a new optional field is safe; unless the old schema says that further fields are welcome.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import gt, lt
from typing import Any, cast

from toolcharter.contract.changes import Difference
from toolcharter.contract.schemas import COUNTS, NUMBERS, Document, Form, Schema, canonical, is_number, read, text

MOST_STEPS = 5_000
"""Schemas that point to one another in many alternatives take more and more steps; somewhere it has to end."""
LONGEST = 60


class TooLarge(Exception):
    """The comparison took too many steps."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a schema we are: as a JSON path, and as a reader says it."""

    path: str
    label: str = ""

    def at(self, *keys: str | int) -> "Place":
        """Further in, under the same label."""
        return Place(self.path + "".join(_step(key) for key in keys), self.label)

    def field(self, name: str) -> "Place":
        """A field of the object here."""
        return Place(self.at("properties", name).path, f"{self.label}.{name}" if self.label else name)

    def item(self, place: "Place") -> "Place":
        """An item of the list here, at another path."""
        return Place(place.path, f"{self.label}[]")

    def __str__(self) -> str:
        return f"'{self.label}'" if self.label else "the whole"


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isidentifier() else f"[{text(key)}]"


def compare(old: Schema, new: Schema, path: str) -> list[Difference]:
    """All differences. Raises TooLarge."""
    return Comparison(Document(old), Document(new)).compare(old, new, Place(path), shared=False)


class Comparison:
    """The way through two documents at once."""

    def __init__(self, old: Document, new: Document) -> None:
        self._old, self._new = old, new
        self._under_way: set[tuple[str, str, bool]] = set()
        self._steps = 0

    def compare(self, old: Schema, new: Schema, place: Place, *, shared: bool) -> list[Difference]:
        """The differences here and below. `shared` says that other schemas speak about the same object."""
        key = (text(canonical(old)), text(canonical(new)), shared)
        # A schema that contains itself is asked about itself again: then the answer is the one being worked out.
        if key in self._under_way or (key[0] == key[1] and self._is_settled(key[0])):
            return []
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLarge
        self._under_way.add(key)
        try:
            return list(self._forms(read(old, self._old), read(new, self._new), place, shared=shared))
        finally:
            self._under_way.discard(key)

    def _is_settled(self, written: str) -> bool:
        """Whether equal text means equal schemas: it points nowhere, or to what is the same in both documents."""
        return not _points(written) or self._old.text == self._new.text

    def _forms(self, old: Form, new: Form, place: Place, *, shared: bool) -> Iterator[Difference]:
        yield from _words(old, new, place)
        yield from _default(old, new, place)
        if (old.branches is None) != (new.branches is None) and (old.only_branches or new.only_branches):
            yield from self._branches(_alternatives(old), _alternatives(new), place, shared=shared)
            return
        yield from _types(old, new, place)
        yield from _enum(old, new, place)
        both = old.types & new.types
        if not both:
            return
        yield from _texts(old, new, place)
        for kinds, keywords in ((NUMBERS, _numbers), ({"string"}, _string_counts)):
            if both & kinds:
                yield from keywords(old, new, place)
        if "array" in both:
            yield from self._arrays(old, new, place)
        if "object" in both:
            yield from self._objects(old, new, place, shared=shared)
        yield from self._parts(old, new, place, shared=shared)

    # --- objects and lists -----------------------------------------------------------------------------

    def _objects(self, old: Form, new: Form, place: Place, *, shared: bool) -> Iterator[Difference]:
        yield from _counts(old, new, place, "minProperties", "maxProperties")
        for name in sorted(old.properties.keys() | new.properties.keys()):
            here = place.field(name)
            if name not in new.properties:
                yield Difference("parameter-removed", here.path, f"{here} is gone")
            elif name in old.properties:
                yield from self.compare(old.properties[name], new.properties[name], here, shared=False)
            elif name not in new.required - old.required:
                yield Difference("parameter-added", here.path, f"{here} is new, and optional")
                yield from self._intruder(name, old, new, here, shared=shared)
        yield from _required(old, new, place)
        yield from self._further(old, new, place)

    def _intruder(self, name: str, old: Form, new: Form, here: Place, *, shared: bool) -> Iterator[Difference]:
        """A new field may refuse what could be sent under its name before."""
        others = shared or old.branches is not None or bool(old.all_of) or bool(old.groups)
        before: Schema | None = old.further
        if others or name in old.required or ("properties" not in old.schema and here.label != name):
            before = True
        if before is None or before is False:
            return
        found = self.compare(before, new.properties[name], here, shared=False)
        yield from (difference for difference in found if difference.may_refuse)

    def _further(self, old: Form, new: Form, place: Place) -> Iterator[Difference]:
        here = place.at("additionalProperties")
        before = True if old.further is None else old.further
        after = True if new.further is None else new.further
        if before is False and after is not False:
            yield Difference("object-opened", here.path, f"{place} takes further fields, and did not")
        elif after is False and before is not False:
            yield Difference("object-closed", here.path, f"{place} takes no further fields any more")
        elif before is not False:
            yield from self.compare(before, after, Place(here.path, f"{place.label}.*"), shared=False)

    def _arrays(self, old: Form, new: Form, place: Place) -> Iterator[Difference]:
        yield from _counts(old, new, place, "minItems", "maxItems")
        before, after = old.schema.get("uniqueItems") is True, new.schema.get("uniqueItems") is True
        if before != after:
            kind = "bound-tightened" if after else "bound-loosened"
            words = "must all differ" if after else "may be equal"
            yield Difference(kind, place.at("uniqueItems").path, f"the items of {place} {words}")
        for index in range(max(len(old.first_items), len(new.first_items))):
            here = place.item(place.at("prefixItems", index))
            yield from self.compare(_item(old, index), _item(new, index), here, shared=False)
        yield from self.compare(old.items, new.items, place.item(place.at("items")), shared=False)

    # --- schemas made of schemas -----------------------------------------------------------------------

    def _parts(self, old: Form, new: Form, place: Place, *, shared: bool) -> Iterator[Difference]:
        inside = shared or old.voices > 1
        if old.branches is not None and new.branches is not None:
            yield from self._branches(old.branches, new.branches, place, shared=inside)
        elif old.branches is not None or new.branches is not None:
            yield _condition("anyOf", place, added=old.branches is None)
        yield from self._matched(
            (old.all_of, new.all_of), place.at("allOf"), ("condition-dropped", "condition-added"), shared=inside
        )
        for name in sorted(old.groups.keys() | new.groups.keys()):
            yield from self._group(name, old, new, place)
        watched = {"unevaluatedProperties", "unevaluatedItems"} & (old.groups.keys() | new.groups.keys())
        if watched and _bare(old.schema) != _bare(new.schema):
            name = min(watched)
            yield Difference("condition-changed", place.at(name).path, f"what {name} covers in {place} changed")

    def _branches(
        self, old: Sequence[Schema], new: Sequence[Schema], place: Place, *, shared: bool
    ) -> Iterator[Difference]:
        kinds = ("alternative-removed", "alternative-added")
        yield from self._matched((old, new), place.at("anyOf"), kinds, shared=shared)

    def _matched(
        self,
        members: tuple[Sequence[Schema], Sequence[Schema]],
        place: Place,
        kinds: tuple[str, str],
        *,
        shared: bool,
    ) -> Iterator[Difference]:
        """Each old member with the new one that is most like it, whatever the order; what is left is gone or new."""
        left = list(enumerate(members[1]))
        gone: list[tuple[int, Schema]] = []
        for index, member in enumerate(members[0]):
            trials = [
                (self.compare(member, other, place.at(at), shared=shared), (at, other))
                for at, other in left
                if read(member, self._old).types & read(other, self._new).types
            ]
            if not trials:
                gone.append((index, member))
                continue
            found, taken = min(trials, key=lambda trial: _weight(trial[0]))
            left.remove(taken)
            yield from found
        for index, member in gone:
            yield Difference(kinds[0], place.at(index).path, f"{place} no longer has {_short(member)}")
        for index, member in left:
            yield Difference(kinds[1], place.at(index).path, f"{place} has {_short(member)}, which is new")

    def _group(self, name: str, old: Form, new: Form, place: Place) -> Iterator[Difference]:
        before, after = old.groups.get(name), new.groups.get(name)
        if before is None or after is None:
            found = _condition(name, place, added=before is None)
            # Fields that match a pattern do not fall under `additionalProperties`, which may refuse more or less.
            yield replace(found, kind="condition-changed") if name == "patternProperties" else found
        elif _bare(before) != _bare(after) or (_points(_bare(after)) and self._old.bare != self._new.bare):
            yield Difference("condition-changed", place.at(name).path, f"{name} of {place} changed")
        elif text(canonical(before)) != text(canonical(after)):
            yield Difference("note-changed", place.at(name).path, f"words inside {name} of {place} changed")


def _alternatives(form: Form) -> Sequence[Schema]:
    """The alternatives of a schema; one that has none is its own, one for each type."""
    if form.branches is not None:
        return form.branches
    if not form.types:
        return ()
    rest = {key: value for key, value in form.schema.items() if key not in form.words and key != "default"}
    given = form.schema.get("type")
    return (
        [{**rest, "type": name} for name in sorted(cast(list[Any], given), key=str)]
        if isinstance(given, list)
        else [rest]
    )


def _weight(found: Sequence[Difference]) -> tuple[int, int]:
    return sum(difference.may_refuse for difference in found), len(found)


def _item(form: Form, index: int) -> Schema:
    return form.first_items[index] if index < len(form.first_items) else form.items


def _points(written: str) -> bool:
    return any(f'"{word}"' in written for word in ("$ref", "$dynamicRef", "$recursiveRef"))


def _bare(schema: Any) -> str:
    return text(canonical(schema, bare=True))


def _short(value: Any) -> str:
    words = text(canonical(value))
    return words if len(words) <= LONGEST else words[: LONGEST - 3] + "..."


def _condition(name: str, place: Place, *, added: bool) -> Difference:
    kind = "condition-added" if added else "condition-dropped"
    words = "has a condition that it did not have" if added else "has one condition less"
    return Difference(kind, place.at(name).path, f"{place} {words}: {name}")


# --- keywords that stand for themselves --------------------------------------------------------------------


def _words(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    for key in sorted(old.words.keys() | new.words.keys()):
        if text(old.words.get(key)) != text(new.words.get(key)):
            kind = "parameter-description-changed" if key == "description" else "note-changed"
            before, after = (_short(form.words[key]) if key in form.words else "none" for form in (old, new))
            yield Difference(kind, place.at(key).path, f"the {key} of {place} goes from {before} to {after}")


def _default(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    before, after = (text(form.schema["default"]) if "default" in form.schema else None for form in (old, new))
    here = place.at("default").path
    if before is None and after is not None:
        yield Difference("default-stated", here, f"the default of {place} is stated: {_short(new.schema['default'])}")
    elif before != after:
        yield Difference("default-changed", here, f"the default of {place} goes from {before} to {after or 'none'}")


def _types(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    if new.enum is not None and (old.enum is not None or new.types <= old.types):
        return  # the values tell more
    here, words = place.at("type").path, f"{place} takes {_named(new.types)}, and took {_named(old.types)}"
    if old.types - new.types and new.types - old.types:
        yield Difference("type-changed", here, words)
    elif old.types - new.types:
        yield Difference("type-narrowed", here, words)
    elif new.types - old.types:
        yield Difference("type-widened", here, words)


def _named(types: frozenset[str]) -> str:
    if len(types) > 4:  # noqa: PLR2004 - longer lists tell nobody anything
        return "nearly every type" if len(types) < 7 else "every type"  # noqa: PLR2004 - there are seven
    names = types - NUMBERS | {"number"} if types >= NUMBERS else types
    return " or ".join(sorted(names)) or "nothing"


def _enum(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    here = place.at("enum").path
    if old.enum is not None and new.enum is not None:
        for value in sorted(old.enum.keys() - new.enum.keys()):
            yield Difference("enum-value-removed", here, f"{place} no longer takes {value}")
        for value in sorted(new.enum.keys() - old.enum.keys()):
            yield Difference("enum-value-added", here, f"{place} takes {value}, and did not")
    elif new.enum is not None:
        yield Difference("enum-introduced", here, f"{place} takes only {', '.join(sorted(new.enum)) or 'nothing'}")
    elif old.enum is not None:
        yield Difference("enum-dropped", here, f"{place} is no longer limited to {', '.join(sorted(old.enum))}")


def _texts(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    for key in ("pattern", "format"):
        before, after = old.schema.get(key), new.schema.get(key)
        if before != after:
            way = "added" if before is None else "dropped" if after is None else "changed"
            words = f"the {key} of {place} goes from {_or_none(before)} to {_or_none(after)}"
            yield Difference(f"{key}-{way}", place.at(key).path, words)


def _or_none(value: Any) -> str:
    return "none" if value is None else _short(value)


def _numbers(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    if old.lower != new.lower:
        tighter = new.lower is not None and (old.lower is None or new.lower > old.lower)
        yield _moved("minimum", place, _bound_words(old.lower), _bound_words(new.lower), tighter=tighter)
    if old.upper != new.upper:
        tighter = new.upper is not None and (old.upper is None or _below(new.upper, old.upper))
        yield _moved("maximum", place, _bound_words(old.upper), _bound_words(new.upper), tighter=tighter)
    before, after = old.schema.get("multipleOf"), new.schema.get("multipleOf")
    if text(before) != text(after):
        moved = _moved("multipleOf", place, _or_none(before), _or_none(after), tighter=after is not None)
        if before is not None and after is not None:
            tighter, looser = _is_multiple(after, before), _is_multiple(before, after)
            moved = replace(moved, kind=f"bound-{'tightened' if tighter else 'loosened' if looser else 'changed'}")
        yield moved


def _below(one: tuple[float, bool], other: tuple[float, bool]) -> bool:
    return (one[0], not one[1]) < (other[0], not other[1])


def _is_multiple(of: Any, step: Any) -> bool:
    """Whether every multiple of one number is a multiple of the other."""
    if not (is_number(of) and is_number(step) and math.isfinite(of) and math.isfinite(step)) or step <= 0:
        return False
    return (Fraction(str(of)) / Fraction(str(step))).denominator == 1


def _bound_words(bound: tuple[float, bool] | None) -> str:
    return "none" if bound is None else f"{bound[0]}{' (excluded)' if bound[1] else ''}"


def _moved(key: str, place: Place, before: str, after: str, *, tighter: bool) -> Difference:
    kind = "bound-tightened" if tighter else "bound-loosened"
    return Difference(kind, place.at(key).path, f"{key} of {place} goes from {before} to {after}")


def _string_counts(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    return _counts(old, new, place, "minLength", "maxLength")


def _counts(old: Form, new: Form, place: Place, low: str, high: str) -> Iterator[Difference]:
    for key, is_tighter in ((low, gt), (high, lt)):
        before, after = _count(old, key), _count(new, key)
        if before != after:
            tighter = after is not None and (before is None or is_tighter(after, before))
            yield _moved(key, place, _or_none(before), _or_none(after), tighter=tighter)


def _count(form: Form, key: str) -> float | None:
    value = form.schema.get(key)
    return value if is_number(value) and not (key in COUNTS[::2] and value <= 0) else None


def _required(old: Form, new: Form, place: Place) -> Iterator[Difference]:
    for name in sorted(new.required - old.required):
        here = place.field(name)
        if name in old.properties or name not in new.properties:
            yield Difference("parameter-made-required", here.path, f"{here} is required, and was optional")
        elif _is_consent(new.properties[name]):
            yield Difference("consent-added", here.path, f"{here} is new: the literal that says the user agreed")
        else:
            yield Difference("required-parameter-added", here.path, f"{here} is new, and required")
    for name in sorted(old.required - new.required):
        if name in new.properties or name not in old.properties:
            here = place.field(name)
            yield Difference("parameter-made-optional", here.path, f"{here} is optional, and was required")


def _is_consent(schema: Schema) -> bool:
    """A field with exactly one value, a text, asks for nothing but to be said."""
    enum = read(schema, Document(schema)).enum
    return enum is not None and len(enum) == 1 and all(isinstance(value, str) for value in enum.values())
