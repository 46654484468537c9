"""Every kind of change that an agent or a client can notice, with its effect and what it needs.

The table in docs/contracts.md is generated from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Effect = Literal["breaking", "behavioural", "additive"]
Direction = Literal["narrower", "wider", "unclear", "same"]
"""Whether a schema accepts fewer values than before, more, possibly others, or the same."""


@dataclass(frozen=True, slots=True)
class VersioningRule:
    """A rule for versions of tools, and what a change under this rule needs before it is published."""

    text: str
    needs: str


OPTIONAL = VersioningRule("New optional fields can be added anytime.", "nothing")
REQUIRED = VersioningRule("New required fields require a major version bump.", "a major version of the tool")
RENAMED = VersioningRule(
    "A name must not change once published.",
    "the old name kept beside the new one, deprecated for at least ninety days",
)
BREAKING = VersioningRule(
    "Breaking changes require a new tool name, and the old tool kept until its removal date.",
    "a new tool name, with the old tool deprecated for at least ninety days",
)
REMOVAL = VersioningRule(
    "A tool is removed after its removal date, at least ninety days after it was deprecated.",
    "the tool restored, and deprecated for at least ninety days",
)
METADATA = VersioningRule("A tool shows its version, and its deprecation with the removal date.", "nothing")
WORDING = VersioningRule(
    "Agents choose a tool by its wording.", "a check that agents still choose and use it correctly"
)
SECURITY = VersioningRule(
    "A change must not add text that manipulates agents.", "the text removed, or examined and locked with --relock"
)


@dataclass(frozen=True, slots=True)
class ChangeKind:
    effect: Effect
    what: str
    rule: VersioningRule


def _breaking(what: str, rule: VersioningRule = BREAKING) -> ChangeKind:
    return ChangeKind("breaking", what, rule)


def _additive(what: str) -> ChangeKind:
    return ChangeKind("additive", what, OPTIONAL)


def _behavioural(what: str, rule: VersioningRule = WORDING) -> ChangeKind:
    return ChangeKind("behavioural", what, rule)


TOOL_KINDS: Mapping[str, ChangeKind] = {
    "tool-removed": _breaking("a tool was removed", REMOVAL),
    "tool-renamed": _breaking("a tool was renamed; schema and description are the same", RENAMED),
    "tool-added": _additive("a new tool"),
    "tool-deprecated": _behavioural(
        "a tool was deprecated, is no longer deprecated, or has another removal date", METADATA
    ),
    "title-changed": _behavioural("the title of a tool changed"),
    "description-changed": _behavioural("the description of a tool changed"),
    "version-changed": _behavioural("the version of a tool changed", METADATA),
    "read-only-hint-flipped": _breaking("a tool is no longer read-only, or has become read-only"),
    "destructive-hint-flipped": _breaking("a tool has become destructive, or is no longer destructive"),
    "idempotent-hint-lost": _breaking("a tool is no longer idempotent"),
    "idempotent-hint-gained": _additive("a tool has become idempotent"),
    "open-world-hint-gained": _breaking("a tool has become open-world: it reaches external systems"),
    "open-world-hint-lost": _additive("a tool is no longer open-world"),
    "hint-stated": _behavioural("a hint was added or removed, and clients assume the same as before", METADATA),
    "permission-added": _breaking("a tool requires another permission"),
    "permission-removed": _additive("a tool no longer requires a permission"),
    "meta-changed": _behavioural("anything else in `_meta` or the annotations changed", METADATA),
    "security-finding": _breaking("new text in which a security rule of `toolcharter verify` finds an error", SECURITY),
    "unjudged": _breaking("a schema is too deep or too large to compare"),
}

DIRECTIONS: Mapping[str, Direction] = {
    "parameter-removed": "narrower",
    "parameter-added": "wider",
    "required-parameter-added": "narrower",
    "consent-added": "narrower",
    "parameter-made-required": "narrower",
    "parameter-made-optional": "wider",
    "type-narrowed": "narrower",
    "type-changed": "unclear",
    "type-widened": "wider",
    "enum-value-removed": "narrower",
    "enum-value-added": "wider",
    "enum-introduced": "narrower",
    "enum-dropped": "wider",
    "bound-tightened": "narrower",
    "bound-loosened": "wider",
    "bound-changed": "unclear",
    "pattern-changed": "unclear",
    "pattern-added": "narrower",
    "pattern-dropped": "wider",
    "format-changed": "unclear",
    "format-added": "narrower",
    "format-dropped": "wider",
    "default-changed": "unclear",
    "default-stated": "same",
    "object-closed": "narrower",
    "object-opened": "wider",
    "alternative-removed": "narrower",
    "alternative-added": "wider",
    "condition-changed": "unclear",
    "condition-added": "narrower",
    "condition-dropped": "wider",
    "parameter-description-changed": "same",
    "note-changed": "same",
}
"""The kinds of difference between two schemas. Their effect depends on the side: arguments or result."""

INPUT_KINDS: Mapping[str, ChangeKind] = {
    "parameter-removed": _breaking("a parameter was removed"),
    "parameter-added": _additive("a new optional parameter"),
    "required-parameter-added": _breaking("a new required parameter", REQUIRED),
    "consent-added": _breaking("a new required literal that states the consent of the user", REQUIRED),
    "parameter-made-required": _breaking("an optional parameter became required"),
    "parameter-made-optional": _additive("a required parameter became optional"),
    "type-narrowed": _breaking("fewer types"),
    "type-changed": _breaking("another type"),
    "type-widened": _additive("more types"),
    "enum-value-removed": _breaking("a value of an `enum` or `const` was removed"),
    "enum-value-added": _additive("a new value of an `enum` or `const`"),
    "enum-introduced": _breaking("an `enum` or `const` where any value was accepted"),
    "enum-dropped": _additive("an `enum` or `const` was removed"),
    "bound-tightened": _breaking("a minimum, maximum, length, count, `multipleOf` or `uniqueItems` that rejects more"),
    "bound-changed": _breaking("another `multipleOf`, neither a divisor nor a multiple of the old one"),
    "bound-loosened": _additive("a minimum, maximum, length, count, `multipleOf` or `uniqueItems` that rejects less"),
    "pattern-changed": _breaking("another `pattern`"),
    "pattern-added": _breaking("a new `pattern`"),
    "pattern-dropped": _additive("a `pattern` was removed"),
    "format-changed": _breaking("another `format`"),
    "format-added": _breaking("a new `format`"),
    "format-dropped": _additive("a `format` was removed"),
    "default-changed": _breaking("another default, or the default was removed"),
    "default-stated": _behavioural("a new default"),
    "object-closed": _breaking("additional fields are no longer accepted (`additionalProperties`)"),
    "object-opened": _additive("additional fields are accepted (`additionalProperties`)"),
    "alternative-removed": _breaking("an alternative of `anyOf` or `oneOf` was removed"),
    "alternative-added": _additive("a new alternative of `anyOf` or `oneOf`"),
    "condition-changed": _breaking(
        "`oneOf`, `not`, `if`, `contains` or a similar keyword changed, and cannot be shown to be safe"
    ),
    "condition-added": _breaking("such a keyword, or another `allOf`, was added"),
    "condition-dropped": _additive("such a keyword was removed"),
    "parameter-description-changed": _behavioural("the description of a parameter changed"),
    "note-changed": _behavioural("titles, examples and other annotations inside a schema changed"),
}

OUTPUT_KINDS: Mapping[str, ChangeKind] = {
    "output-schema-removed": _breaking("the output schema was removed"),
    "output-schema-added": _additive("a new output schema"),
    "output-field-removed": _breaking("a field of the result was removed"),
    "output-field-added": _additive("a new field of the result"),
    "output-field-made-optional": _breaking("a field of the result may now be missing"),
    "output-widened": _breaking("the result may have more types or values, or wider bounds"),
    "output-changed": _breaking("the output schema changed, and cannot be shown to be safe"),
    "output-narrowed": _additive("the result has fewer types or values, or tighter bounds"),
    "output-described": _behavioural("annotations inside the output schema changed"),
}

KINDS: Mapping[str, ChangeKind] = {**TOOL_KINDS, **INPUT_KINDS, **OUTPUT_KINDS}

_OUTPUT_FIELDS: Mapping[str, str] = {
    "parameter-removed": "output-field-removed",
    "parameter-added": "output-field-added",
    "required-parameter-added": "output-field-added",
    "consent-added": "output-field-added",
    "parameter-made-optional": "output-field-made-optional",
    "default-changed": "output-described",
}
_OUTPUT_DIRECTIONS: Mapping[Direction, str] = {
    "narrower": "output-narrowed",
    "wider": "output-widened",
    "unclear": "output-changed",
    "same": "output-described",
}


def output_kind(kind: str) -> str:
    """The kind that a difference has in an output schema, where wider is worse."""
    return _OUTPUT_FIELDS.get(kind) or _OUTPUT_DIRECTIONS[DIRECTIONS[kind]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two schemas."""

    kind: str
    path: str
    sentence: str

    @property
    def may_reject(self) -> bool:
        """Whether a value that was accepted may be rejected now."""
        return DIRECTIONS[self.kind] in ("narrower", "unclear")


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a tool that an agent or a client can notice."""

    kind: str
    tool: str
    path: str
    sentence: str
    accepted: str | None = None
    """Why a breaking change is allowed."""

    @property
    def effect(self) -> Effect:
        """The effect on users of the tool."""
        return KINDS[self.kind].effect

    @property
    def rule(self) -> VersioningRule:
        """The versioning rule for this kind of change."""
        return KINDS[self.kind].rule

    @property
    def is_breaking(self) -> bool:
        """Whether the change is breaking, and not accepted."""
        return self.effect == "breaking" and self.accepted is None
