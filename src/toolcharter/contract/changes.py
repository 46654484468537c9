"""Every kind of change that an agent or a client can notice, with what it does to them and what it needs.

The table in docs/contracts.md is written from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Effect = Literal["breaking", "behavioural", "additive"]
Move = Literal["narrower", "wider", "unclear", "words"]
"""What becomes of the values that a schema accepts: fewer, more, not known, or the same in other words."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the versioning of tools, and what a change that falls under it needs."""

    says: str
    needs: str


OPTIONAL = Rule("New optional fields can be added anytime.", "nothing")
REQUIRED = Rule("New required fields require a major version bump.", "a major version of the tool")
RENAMED = Rule(
    "A name must not change once published.",
    "the old name kept beside the new one, deprecated for at least ninety days",
)
BREAKING = Rule(
    "Breaking changes require a new tool name, and the old tool kept until its removal date.",
    "a new tool name, with the old tool deprecated for at least ninety days",
)
REMOVAL = Rule(
    "A tool is removed after its removal date, at least ninety days after it was deprecated.",
    "the tool back, deprecated for at least ninety days",
)
NOTED = Rule("A tool shows its version, and its deprecation with the removal date.", "nothing")
WORDS = Rule("Agents choose a tool by its words.", "a look at whether agents still choose and use it rightly")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of change."""

    effect: Effect
    what: str
    rule: Rule


def _breaking(what: str, rule: Rule = BREAKING) -> Kind:
    return Kind("breaking", what, rule)


def _additive(what: str) -> Kind:
    return Kind("additive", what, OPTIONAL)


def _behavioural(what: str, rule: Rule = WORDS) -> Kind:
    return Kind("behavioural", what, rule)


TOOL_KINDS: Mapping[str, Kind] = {
    "tool-removed": _breaking("a tool is gone", REMOVAL),
    "tool-renamed": _breaking("a tool has another name; schema and description are the same", RENAMED),
    "tool-added": _additive("a new tool"),
    "tool-deprecated": _behavioural("a tool is deprecated, or no longer is, or for another date", NOTED),
    "title-changed": _behavioural("the title of a tool"),
    "description-changed": _behavioural("the description of a tool"),
    "version-changed": _behavioural("the version of a tool", NOTED),
    "read-only-hint-flipped": _breaking("a tool is no longer read-only, or has become so"),
    "destructive-hint-flipped": _breaking("a tool has become destructive, or no longer is"),
    "idempotent-hint-lost": _breaking("a tool can no longer be called again safely"),
    "idempotent-hint-gained": _additive("a tool can be called again safely"),
    "open-world-hint-gained": _breaking("a tool reaches outside, and did not"),
    "open-world-hint-lost": _additive("a tool no longer reaches outside"),
    "hint-stated": _behavioural("a hint is stated, or no longer, and clients take it the same way", NOTED),
    "permission-added": _breaking("a tool wants a further permission"),
    "permission-removed": _additive("a tool no longer wants a permission"),
    "meta-changed": _behavioural("anything else in `_meta` or the annotations", NOTED),
    "unjudged": _breaking("a schema is too deep or too large to be compared"),
}

MOVES: Mapping[str, Move] = {
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
    "default-stated": "words",
    "object-closed": "narrower",
    "object-opened": "wider",
    "alternative-removed": "narrower",
    "alternative-added": "wider",
    "condition-changed": "unclear",
    "condition-added": "narrower",
    "condition-dropped": "wider",
    "parameter-description-changed": "words",
    "note-changed": "words",
}
"""The kinds of difference between two schemas. What they mean depends on the side: arguments or answer."""

INPUT_KINDS: Mapping[str, Kind] = {
    "parameter-removed": _breaking("a parameter is gone"),
    "parameter-added": _additive("a new optional parameter"),
    "required-parameter-added": _breaking("a new required parameter", REQUIRED),
    "consent-added": _breaking("a new required literal, by which the agent says that the user agreed", REQUIRED),
    "parameter-made-required": _breaking("an optional parameter is required"),
    "parameter-made-optional": _additive("a required parameter is optional"),
    "type-narrowed": _breaking("fewer types"),
    "type-changed": _breaking("another type"),
    "type-widened": _additive("more types"),
    "enum-value-removed": _breaking("a value of an `enum` or `const` is gone"),
    "enum-value-added": _additive("a new value of an `enum` or `const`"),
    "enum-introduced": _breaking("an `enum` or `const` where any value was taken"),
    "enum-dropped": _additive("no `enum` or `const` any more"),
    "bound-tightened": _breaking("a minimum, maximum, length, count, `multipleOf` or `uniqueItems` that refuses more"),
    "bound-changed": _breaking("another `multipleOf`, neither a part nor a multiple of the old one"),
    "bound-loosened": _additive("a minimum, maximum, length, count, `multipleOf` or `uniqueItems` that refuses less"),
    "pattern-changed": _breaking("another `pattern`"),
    "pattern-added": _breaking("a `pattern` where there was none"),
    "pattern-dropped": _additive("no `pattern` any more"),
    "format-changed": _breaking("another `format`"),
    "format-added": _breaking("a `format` where there was none"),
    "format-dropped": _additive("no `format` any more"),
    "default-changed": _breaking("another default, or none any more"),
    "default-stated": _behavioural("a default is stated, and was not"),
    "object-closed": _breaking("further fields are refused (`additionalProperties`)"),
    "object-opened": _additive("further fields are taken (`additionalProperties`)"),
    "alternative-removed": _breaking("an alternative of `anyOf` or `oneOf` is gone"),
    "alternative-added": _additive("a new alternative of `anyOf` or `oneOf`"),
    "condition-changed": _breaking(
        "`oneOf`, `not`, `if`, `contains` and the like, changed in a way not shown to be safe"
    ),
    "condition-added": _breaking("the same, where there was none, or one more `allOf`"),
    "condition-dropped": _additive("the same, no longer there"),
    "parameter-description-changed": _behavioural("the description of a parameter"),
    "note-changed": _behavioural("titles, examples and other words inside a schema"),
}

OUTPUT_KINDS: Mapping[str, Kind] = {
    "output-schema-removed": _breaking("an answer no longer has a schema"),
    "output-schema-added": _additive("an answer has a schema"),
    "output-field-removed": _breaking("a field of the answer is gone"),
    "output-field-added": _additive("a new field of the answer"),
    "output-field-made-optional": _breaking("a field of the answer may be missing"),
    "output-widened": _breaking("the answer may hold what it could not: a type, a value, a bound"),
    "output-changed": _breaking("the answer changed in a way not shown to be safe"),
    "output-narrowed": _additive("the answer promises more than before"),
    "output-described": _behavioural("words inside the schema of the answer"),
}

KINDS: Mapping[str, Kind] = {**TOOL_KINDS, **INPUT_KINDS, **OUTPUT_KINDS}

_OUTPUT_FIELDS: Mapping[str, str] = {
    "parameter-removed": "output-field-removed",
    "parameter-added": "output-field-added",
    "required-parameter-added": "output-field-added",
    "consent-added": "output-field-added",
    "parameter-made-optional": "output-field-made-optional",
    "default-changed": "output-described",
}
_OUTPUT_MOVES: Mapping[Move, str] = {
    "narrower": "output-narrowed",
    "wider": "output-widened",
    "unclear": "output-changed",
    "words": "output-described",
}


def output_kind(kind: str) -> str:
    """What a difference between schemas means in an answer: there, wider is worse."""
    return _OUTPUT_FIELDS.get(kind) or _OUTPUT_MOVES[MOVES[kind]]


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two schemas, and where."""

    kind: str
    path: str
    sentence: str

    @property
    def move(self) -> Move:
        """What it does to the values that are accepted."""
        return MOVES[self.kind]

    @property
    def may_refuse(self) -> bool:
        """Whether a value that was accepted may no longer be."""
        return self.move in ("narrower", "unclear")


@dataclass(frozen=True, slots=True)
class Change:
    """What an agent or a client can notice at a tool."""

    kind: str
    tool: str
    path: str
    sentence: str
    accepted: str | None = None
    """Why a breaking change is allowed all the same."""

    @property
    def effect(self) -> Effect:
        """What it does to those who use the tool."""
        return KINDS[self.kind].effect

    @property
    def rule(self) -> Rule:
        """The rule it falls under."""
        return KINDS[self.kind].rule

    @property
    def breaks(self) -> bool:
        """Whether it is breaking, and nothing allows it."""
        return self.effect == "breaking" and self.accepted is None
