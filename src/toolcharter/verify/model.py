"""The server and the tools that rules check. What many rules need is computed once."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mcp_core.declare.listed import ListedTool
from mcp_core.declare.naming import Naming
from mcp_core.schema.fields import Schema
from mcp_core.schema.walk import Node, arguments_with_references, walk
from toolcharter.verify.texts import Texts
from toolcharter.verify.vocabulary import (
    ADVERBS,
    ALSO_NOUNS,
    BASE_FORMS,
    DELETING,
    EFFECTS,
    OPENING_WORDS,
    RESTORABLE_THINGS,
    VERBS,
    VerbEffect,
)

if TYPE_CHECKING:
    from mcp_core.declare.spec import ToolSpec

_NAME_WORD = re.compile(
    r"(?<![A-Za-z])[A-Za-z]\d+[a-z]+(?![A-Za-z])"  # k8s, i18n
    r"|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n{2,}")
_PROSE_WORD = re.compile(r"[a-z0-9']+")
_NOT_PROSE = re.compile(r"```.*?(?:```|\Z)|^#{1,6} [^\n]*$", re.DOTALL | re.MULTILINE)
_ENGLISH = frozenset(["a", "an", "and", "for", "from", "in", "is", "of", "or", "the", "this", "to", "when", "with"])
_FIRST_WIDE = "\u2e80"
_FIRST_AFTER_LATIN = "\u0250"
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The annotations that say what a tool does."""
CHARACTERS_PER_TOKEN = 4
"""Roughly, for English and for JSON. Models differ by up to a fifth."""
MIN_PREFIXED = 3
"""This many names with the same first word have a prefix."""

MAX_OBVIOUS_ARGUMENTS = 2
"""A tool with at most this many arguments may be understood by its name."""


@dataclass(frozen=True)
class Tool:
    """A tool as a server lists it."""

    listed: ListedTool
    spec: "ToolSpec | None" = None
    """The declaration, if the server is one of ours and in this process."""

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
        """The words of the name, in lower case."""
        return words_of(self.name)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the description."""
        return tuple(part.strip() for part in _SENTENCE.split(self.description) if part.strip())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the description, in lower case."""
        return tuple(_PROSE_WORD.findall(self.description.lower()))

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """All arguments and the members of objects inside them, in order."""
        return tuple(arguments_with_references(self.schema, "inputSchema"))

    @cached_property
    def arguments(self) -> tuple[Node, ...]:
        """The arguments, without the members of objects."""
        return tuple(parameter for parameter in self.parameters if parameter.depth == 0)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The input schema and every schema inside it."""
        return _all_nodes(self.schema, "inputSchema")

    @cached_property
    def output_nodes(self) -> tuple[Node, ...]:
        """The output schema and every schema inside it."""
        return _all_nodes(self.listed.output_schema or {}, "outputSchema")

    @cached_property
    def all_nodes(self) -> tuple[Node, ...]:
        """The schemas of input and output."""
        return self.nodes + self.output_nodes

    @cached_property
    def tokens(self) -> int:
        """About how many tokens the tool costs a model in every request."""
        text = json.dumps(self.listed.for_model(), ensure_ascii=False, separators=(",", ":"), default=str)
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def hint(self, name: str) -> bool | None:
        """An annotation such as `readOnlyHint`; None if it is not given."""
        value = self.listed.annotations.get(name)
        return value if isinstance(value, bool) else None

    @property
    def title(self) -> str:
        """The title for people. Older servers have it in the annotations."""
        title = self.listed.title or self.listed.annotations.get("title")
        return title.strip() if isinstance(title, str) else ""

    @cached_property
    def prose(self) -> str:
        """The description without headings and code blocks."""
        if "```" not in self.description and "#" not in self.description:
            return self.description
        return _NOT_PROSE.sub("", self.description).strip()

    @cached_property
    def prose_words(self) -> tuple[str, ...]:
        """The words of the prose, in lower case."""
        return self.words if self.prose is self.description else tuple(_PROSE_WORD.findall(self.prose.lower()))

    @cached_property
    def length(self) -> int:
        """The number of characters in the prose. A character of a script such as Chinese counts as three."""
        return len(self.prose) if self.prose.isascii() else sum(3 if char > _FIRST_WIDE else 1 for char in self.prose)

    @cached_property
    def is_english(self) -> bool:
        """Whether the description is in English, as rules about wording require."""
        latin = len(self.prose) if self.prose.isascii() else sum(char < _FIRST_AFTER_LATIN for char in self.prose)
        if latin < len(self.prose) * 0.8:
            return False
        return self.description_verb is not None or not _ENGLISH.isdisjoint(self.prose_words)

    @cached_property
    def description_verb(self) -> str | None:
        """The verb that the description begins with, such as delete in `Permanently deletes a note`."""
        words = [word for word in self.prose_words[:7] if word not in ADVERBS]
        while words and words[0] in OPENING_WORDS:  # This tool can be used to ...
            words = words[1:]
        return BASE_FORMS.get(words[0]) if words else None

    @cached_property
    def texts(self) -> Texts:
        """Every text that an agent reads."""
        return Texts(self.listed)


class OtherText(NamedTuple):
    """A text of a server outside its tools, in the form of a tool, so that rules about texts can check it."""

    label: str
    """Its kind and name, such as `the prompt 'review'`."""
    path: str
    tool: Tool

    @property
    def is_prompt(self) -> bool:
        """Whether this is the text of a prompt."""
        return self.path.startswith("prompts.")


@dataclass(frozen=True)
class Server:
    """All tools of a server."""

    tools: Sequence[Tool]
    name: str = ""
    naming: Naming | None = None
    """The naming policy, if the server is one of ours."""
    others: Sequence[OtherText] = ()
    """Instructions, prompts and resources, for the security rules and those that check prompts."""

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def prefixes(self) -> frozenset[tuple[str, ...]]:
        """The prefixes of names: `git` in git_status, or `crm` in several names such as crm_get_lead."""
        names = [tool.name_words for tool in self.tools if len(tool.name_words) > 1]
        found: set[tuple[str, ...]] = {(word,) for word in words_of(self.name) if word not in EFFECTS}
        # How many names have a verb and an object after this word.
        namespaced = Counter(words[0] for words in names if len(words) > 2 and words[1] in VERBS)  # noqa: PLR2004 - a prefix, a verb and a noun
        for length in (1, 2):
            starts = Counter(words[:length] for words in names if len(words) > length)
            for start, count in starts.items():
                if start[-1] not in EFFECTS and (length == 1 or start[:1] in found):
                    most = count > 1 and count * 2 > len(self.tools)
                    if most or (length == 1 and count >= MIN_PREFIXED and namespaced[start[0]] * 2 >= count):
                        found.add(start)
        return frozenset(found)

    def unprefixed_words(self, tool: Tool) -> tuple[str, ...]:
        """The words of the name of a tool, without the prefix of the server."""
        words = tool.name_words
        length = next((n for n in (2, 1) if len(words) > n and words[:n] in self.prefixes), 0)
        return words[length:]

    def name_verb(self, tool: Tool) -> str | None:
        """The verb in the name of a tool: the first word, the last, as in notes_create, or one between."""
        words = self.unprefixed_words(tool)
        places = (*words[:1], *words[-1:], *words[1:3])
        plain = next((word for word in places if word in VERBS and word not in ALSO_NOUNS), None)
        return plain or (words[0] if words and words[0] in VERBS else None)

    def is_self_evident(self, tool: Tool) -> bool:
        """Whether a few words are enough: it says an action that takes nothing away, and describes its arguments."""
        says_action = tool.description_verb is not None or (
            not tool.prose.isascii() and self.name_verb(tool) is not None
        )
        few = len(tool.arguments) <= MAX_OBVIOUS_ARGUMENTS
        described = all(argument.description for argument in tool.arguments)
        verb = self.name_verb(tool) or tool.description_verb
        deletes = verb in DELETING and RESTORABLE_THINGS.isdisjoint(tool.name_words)
        return says_action and (few or described) and self.effect(tool) != "sending" and not deletes

    def effect(self, tool: Tool) -> VerbEffect | None:
        """The effect of a tool, by the verb in its name, or else in its description; None if neither has a verb."""
        in_name, in_description = self.name_verb(tool), tool.description_verb
        verb = in_description or in_name if in_name is None or in_name in ALSO_NOUNS else in_name
        if verb == "add" and tool.arguments and all(_is_number(argument) for argument in tool.arguments):
            return "computing"  # it adds numbers
        return EFFECTS.get(verb) if verb else None


def _all_nodes(schema: Schema, path: str) -> tuple[Node, ...]:
    """The schema and all schemas inside it, the outer ones first. An empty schema has none."""
    nodes = walk(schema, path, by_level=True) if schema else ()
    return tuple(node for node in nodes if isinstance(node.value, dict))


def _is_number(argument: Node) -> bool:
    return bool(argument.types) and set(argument.types) <= {"number", "integer"}


@lru_cache(maxsize=10_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: user, id, list, 2 for `userID_list2`."""
    return tuple(word.lower() for word in _NAME_WORD.findall(name))
