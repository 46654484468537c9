"""Every text of a tool that an agent reads: names, prose, and the values in schemas."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

from mcp_core.declare.listed import ListedTool

Kind = Literal["name", "prose", "value"]

_PROSE = frozenset({"description", "title", "$comment", "markdownDescription"})
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions"})
"""Under these words the keys are names that somebody chose."""
_MARKS = {ord("\u2019"): "'", ord("\u2018"): "'", ord("\u201c"): '"', ord("\u201d"): '"'}
MOST = 20_000
"""Where the walk ends: no honest tool has that many texts."""


class Text(NamedTuple):
    """A text and where it stands."""

    path: str
    kind: Kind
    text: str
    plain: str
    """In lower case, without what cannot be seen, with single blanks; a name with blanks between its words."""


class Texts:
    """The texts of one tool."""

    def __init__(self, listed: ListedTool) -> None:
        self._listed = listed

    @cached_property
    def all(self) -> tuple[Text, ...]:
        """All of them, in order."""
        return tuple(Text(path, kind, text, plain(text, kind)) for path, kind, text in _walk(self._listed))

    @cached_property
    def joined(self) -> str:
        """All of them in their plain form: for looking whether a word is there at all."""
        return "\n".join(text.plain for text in self.all)


def plain(text: str, kind: Kind = "prose") -> str:
    """A text as it is compared: an attacker's blanks and invisible characters make no difference."""
    if not text.isascii():
        text = "".join(c for c in text.translate(_MARKS) if c.isprintable() or c.isspace())
    if kind == "name":
        text = text.replace("_", " ").replace("-", " ")
    return " ".join(text.lower().split())


def _walk(listed: ListedTool) -> Iterator[tuple[str, Kind, str]]:
    yield "name", "name", listed.name
    for path, text in (("title", listed.title), ("description", listed.description)):
        if text:
            yield path, "prose", text
    for path, part in (
        ("annotations", listed.annotations),
        ("inputSchema", listed.input_schema),
        ("outputSchema", listed.output_schema or {}),
        ("_meta", listed.meta),
    ):
        yield from _inside(path, part)


def _inside(path: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Kind, str]]:
    # A list of what is left to read, not recursion: a schema may be nested deeper than Python calls.
    left: list[tuple[str, str, Any]] = [(path, "", part)]
    for _ in range(MOST):
        if not left:
            return
        here, word, value = left.pop()
        if isinstance(value, str):
            yield here, "prose" if word in _PROSE else "value", value
        elif isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            if word in _MAPS:
                for name in fields:
                    yield f"{here}.{name}", "name", name
            left += [(f"{here}.{name}", _word(word, name), fields[name]) for name in reversed(fields)]
        elif isinstance(value, list):
            left += [(f"{here}.{n}", word, one) for n, one in reversed(list(enumerate(cast(list[Any], value))))]


def _word(above: str, name: str) -> str:
    """The schema word that a value stands under. A property may be called `description` or `properties`."""
    return "" if above in _MAPS else name
