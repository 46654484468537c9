"""What rules look at: a server's tools, with what many rules want to know about them worked out once."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

from mcp_core.declare.listed import ListedTool
from mcp_core.declare.naming import Naming
from mcp_core.declare.spec import ToolSpec
from toolcharter.verify.schema_nodes import Node, nodes_of
from toolcharter.verify.texts import Texts
from toolcharter.verify.values import list_at
from toolcharter.verify.words import ADVERBS, BASE, EFFECTS, NOUNS_TOO, OPENINGS, VERBS, Effect

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n{2,}")
_TEXT_WORD = re.compile(r"[a-z0-9']+")
_BESIDE_PROSE = re.compile(r"```.*?(?:```|\Z)|^#{1,6} [^\n]*$", re.DOTALL | re.MULTILINE)
_ENGLISH = frozenset(["a", "an", "and", "for", "from", "in", "is", "of", "or", "the", "this", "to", "when", "with"])
_FIRST_WIDE = "\u2e80"
_FIRST_BEYOND_LATIN = "\u0250"
CHARACTERS_IN_A_TOKEN = 4
"""Of English and JSON alike, roughly; models differ by a fifth either way."""
DEEPEST = 32
FEW = 3
"""So many names with the same beginning make a prefix."""

Schema = Mapping[str, Any]


class Parameter(NamedTuple):
    """One argument of a tool, or a member of an object inside one."""

    name: str
    path: str
    """Where its schema stands, such as `inputSchema.properties.query`."""
    schema: Schema
    required: bool
    depth: int
    """0 for an argument, 1 for a member of an argument, and so on."""

    @property
    def description(self) -> str:
        text = self.schema.get("description")
        return text.strip() if isinstance(text, str) else ""

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types it may have; null left out."""
        return tuple(kind for kind in types_of(self.schema) if kind != "null")


@dataclass(frozen=True)
class Tool:
    """A listed tool, read closely."""

    listed: ListedTool
    spec: ToolSpec | None = None
    """What its author declared, where the server is one of ours and in this process."""

    @property
    def name(self) -> str:
        return self.listed.name

    @property
    def schema(self) -> Schema:
        return self.listed.input_schema

    @cached_property
    def description(self) -> str:
        return self.listed.description.strip()

    @cached_property
    def name_words(self) -> tuple[str, ...]:
        """`getUser_byID2` is get, user, by, id, 2."""
        return tuple(word.lower() for word in _WORD.findall(self.name))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the description."""
        return tuple(part.strip() for part in _SENTENCE.split(self.description) if part.strip())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the description, in lower case."""
        return tuple(_TEXT_WORD.findall(self.description.lower()))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All arguments, and the members of objects inside them, in order."""
        return tuple(_parameters(resolve(self.schema, self.schema), "inputSchema", 0, _Reading(self.schema, set())))

    @cached_property
    def arguments(self) -> tuple[Parameter, ...]:
        """The arguments alone."""
        return tuple(parameter for parameter in self.parameters if parameter.depth == 0)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The input schema and every schema inside it."""
        return nodes_of(self.schema, "inputSchema")

    @cached_property
    def all_nodes(self) -> tuple[Node, ...]:
        """The same, with those of the output schema."""
        return self.nodes + nodes_of(self.listed.output_schema or {}, "outputSchema")

    @cached_property
    def tokens(self) -> int:
        """What the tool costs a model in every request, about."""
        text = json.dumps(self.listed.for_model(), ensure_ascii=False, separators=(",", ":"), default=str)
        return -(-len(text) // CHARACTERS_IN_A_TOKEN)

    def hint(self, name: str) -> bool | None:
        """An annotation such as `readOnlyHint`; None where it is not given."""
        value = self.listed.annotations.get(name)
        return value if isinstance(value, bool) else None

    @property
    def title(self) -> str:
        """What people are shown; older servers have it among the annotations."""
        given = self.listed.title or self.listed.annotations.get("title")
        return given.strip() if isinstance(given, str) else ""

    @cached_property
    def prose(self) -> str:
        """The description without headings and fenced blocks: what is said in sentences."""
        if "```" not in self.description and "#" not in self.description:
            return self.description
        return _BESIDE_PROSE.sub("", self.description).strip()

    @cached_property
    def prose_words(self) -> tuple[str, ...]:
        """The words of the prose, in lower case."""
        return self.words if self.prose is self.description else tuple(_TEXT_WORD.findall(self.prose.lower()))

    @cached_property
    def length(self) -> int:
        """How long the prose is, in letters of a Latin script; a sign of a script such as Chinese counts three."""
        return len(self.prose) if self.prose.isascii() else sum(3 if sign > _FIRST_WIDE else 1 for sign in self.prose)

    @cached_property
    def is_english(self) -> bool:
        """Whether rules about wording can judge the description."""
        latin = len(self.prose) if self.prose.isascii() else sum(sign < _FIRST_BEYOND_LATIN for sign in self.prose)
        if latin < len(self.prose) * 0.8:
            return False
        return self.said_verb is not None or not _ENGLISH.isdisjoint(self.prose_words)

    @cached_property
    def said_verb(self) -> str | None:
        """The verb that the description begins with: `Permanently deletes a note.` is delete."""
        words = [word for word in self.prose_words[:7] if word not in ADVERBS]
        while words and words[0] in OPENINGS:  # This tool can be used to ...
            words = words[1:]
        return BASE.get(words[0]) if words else None

    @cached_property
    def texts(self) -> Texts:
        """Every text in it that an agent reads."""
        return Texts(self.listed)


@dataclass(frozen=True)
class Server:
    """All tools of a server."""

    tools: Sequence[Tool]
    name: str = ""
    naming: Naming | None = None
    """The policy it declares, where it is one of ours."""

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def prefixes(self) -> frozenset[tuple[str, ...]]:
        """The words before the names proper: `git` of git_status, or `crm` of a few such as crm_get_lead."""
        names = [tool.name_words for tool in self.tools if len(tool.name_words) > 1]
        found: set[tuple[str, ...]] = {
            (word.lower(),) for word in _WORD.findall(self.name) if word.lower() not in EFFECTS
        }
        # How many names have a verb and its object after this word.
        namespaced = Counter(words[0] for words in names if len(words) > 2 and words[1] in VERBS)  # noqa: PLR2004
        for length in (1, 2):
            starts = Counter(words[:length] for words in names if len(words) > length)
            for start, count in starts.items():
                if start[-1] not in EFFECTS and (length == 1 or start[:1] in found):
                    most = count > 1 and count * 2 > len(self.tools)
                    if most or (length == 1 and count >= FEW and namespaced[start[0]] * 2 >= count):
                        found.add(start)
        return frozenset(found)

    def own_words(self, tool: Tool) -> tuple[str, ...]:
        """The words of a tool's name without the server's prefix."""
        words = tool.name_words
        length = next((n for n in (2, 1) if len(words) > n and words[:n] in self.prefixes), 0)
        return words[length:]

    def named_verb(self, tool: Tool) -> str | None:
        """The verb of a tool's name: the first word, the last, as in notes_create, or one between."""
        words = self.own_words(tool)
        places = (*words[:1], *words[-1:], *words[1:3])
        plain = next((word for word in places if word in VERBS and word not in NOUNS_TOO), None)
        return plain or (words[0] if words and words[0] in VERBS else None)

    def effect(self, tool: Tool) -> Effect | None:
        """What a tool does to the world, by the verb of its name, else of its description; None where neither says."""
        named, said = self.named_verb(tool), tool.said_verb
        verb = said or named if named is None or named in NOUNS_TOO else named
        if verb == "add" and tool.arguments and all(_is_number(argument) for argument in tool.arguments):
            return "computing"  # a sum
        return EFFECTS.get(verb) if verb else None


def _is_number(argument: Parameter) -> bool:
    return bool(argument.types) and set(argument.types) <= {"number", "integer"}


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types a schema names, in `type` or in the branches of a choice."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if isinstance(named, list):
        return tuple(str(kind) for kind in cast(list[Any], named))
    found: list[str] = []
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            for branch in cast(list[Any], branches):
                found += types_of(cast(Schema, branch)) if isinstance(branch, dict) else ()
    return tuple(dict.fromkeys(found))


def resolve(schema: Schema, root: Schema) -> Schema:
    """A schema with its local `$ref` followed; one that leads nowhere, or in a circle, stays as it is."""
    seen: set[str] = set()
    while isinstance(ref := schema.get("$ref"), str) and ref.startswith("#/") and ref not in seen:
        seen.add(ref)
        target: Any = root
        for part in ref[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            target = cast(Schema, target).get(key) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            return schema
        schema = {**cast(Schema, target), **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _parameters(schema: Schema, path: str, depth: int, reading: "_Reading") -> Iterator[Parameter]:
    properties = schema.get("properties")
    needed = schema.get("required")
    required = [name for name in cast(list[Any], needed) if isinstance(name, str)] if isinstance(needed, list) else []
    if isinstance(properties, dict):
        for name, given in cast(dict[str, Any], properties).items():
            place = f"{path}.properties.{name}"
            inner: Schema = resolve(cast(Schema, given), reading.root) if isinstance(given, dict) else {}
            yield Parameter(name, place, inner, name in required, depth)
            yield from _members(given, place, depth + 1, reading)
    if depth:
        yield from _members(schema.get("items"), f"{path}.items", depth, reading)
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            for number, branch in enumerate(cast(list[Any], branches)):
                yield from _members(branch, f"{path}.{word}.{number}", depth, reading)


def _members(given: Any, path: str, depth: int, reading: "_Reading") -> Iterator[Parameter]:
    """What is inside a schema. A definition is read once, however often it is used: it may use itself."""
    if not isinstance(given, dict) or reading.level > DEEPEST:
        return
    schema = cast(Schema, given)
    ref = schema.get("$ref")
    if isinstance(ref, str):
        if ref in reading.read:
            return
        reading.read.add(ref)
    inner = _Reading(reading.root, reading.read, reading.level + 1)
    yield from _parameters(resolve(schema, reading.root), path, depth, inner)


class _Reading(NamedTuple):
    root: Schema
    read: set[str]
    """The definitions that were met."""
    level: int = 0


@lru_cache(maxsize=10_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: `userID_list2` is user, id, list, 2."""
    return tuple(word.lower() for word in _WORD.findall(name))


def branches_of(schema: Schema) -> list[Schema]:
    """The choices of a schema, where it has any."""
    choices = [branch for word in ("anyOf", "oneOf") for branch in list_at(schema, word)]
    return [cast(Schema, branch) for branch in choices if isinstance(branch, dict)]
