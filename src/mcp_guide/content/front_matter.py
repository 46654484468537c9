"""Front matter: YAML between two `---` lines at the start of a document.

Only a mapping counts, so a document that begins with a horizontal rule stays text. Values are taken as written:
a date or a version stays text, and nothing is escaped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

Type = Literal["user", "agent", "instruction"]

MAX_FRONT_MATTER_LENGTH = 64_000
MAX_VALUES = 1_000
MAX_DEPTH = 20

# A block may be empty; its end is a line of its own.
_BLOCK = re.compile(r"---[ \t]*\r?\n(?:(.*?)\r?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TYPES: Mapping[str, Type] = {
    "user": "user",
    "agent": "agent",
    "instruction": "instruction",
    "user/information": "user",
    "agent/information": "agent",
    "agent/instruction": "instruction",
}
_KEYWORD_VALUES = (
    ("true", True),
    ("yes", True),
    ("on", True),
    ("false", False),
    ("no", False),
    ("off", False),
    ("null", None),
)
_KEYWORDS: Mapping[str, bool | None] = {
    **{spelling: value for word, value in _KEYWORD_VALUES for spelling in (word, word.capitalize(), word.upper())},
    "": None,
    "~": None,
}
_WHOLE_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The known fields of front matter; `extra` has the others."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    type: Type | None = None
    instruction: str | None = None
    requires: tuple[str, ...] = ()
    """Flags that must be set for the document to be shown."""
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class SplitText(NamedTuple):
    """A text, split into front matter and body."""

    front: FrontMatter
    text: str
    warnings: tuple[str, ...] = ()


def split_front_matter(text: str) -> SplitText:
    """Split front matter from the body. Front matter that cannot be parsed stays in the text, with a warning."""
    if not text.startswith("---"):
        return SplitText(FrontMatter(), text)
    block = _BLOCK.match(text, 0, MAX_FRONT_MATTER_LENGTH)
    if block is None:
        return SplitText(FrontMatter(), text)
    try:
        values = _parse_block(block[1] or "")
    except ValueError as error:
        reason = " ".join(str(error).split())
        return SplitText(FrontMatter(), text, (f"The front matter is not valid and was left in the text: {reason}",))
    if values is None:
        return SplitText(FrontMatter(), text)
    front, warnings = _make_front_matter(values)
    return SplitText(front, text[block.end() :], warnings)


# --- YAML --------------------------------------------------------------------------------------------------


def _parse_block(block: str) -> dict[str, Any] | None:
    """The mapping in a YAML block, or None if it is something else. Raises ValueError if it is not YAML."""
    if not block.strip():
        return {}
    import yaml  # noqa: PLC0415 - 14 ms, and many documents have no front matter

    try:
        # Reads events: the library builds values by recursion, and deep ones would end the process.
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        value = _EventReader(cast(Any, yaml).parse(block, Loader=loader)).read_document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise ValueError(f"line {mark.line + 2}: {problem}" if mark else problem) from error  # after the line `---`
    except yaml.YAMLError as error:
        raise ValueError(error) from error
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


class _EventReader:
    """Builds plain values from YAML events, within limits of size and depth."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._left = MAX_VALUES

    def read_document(self) -> Any:
        next(self._events)  # StreamStartEvent
        if type(next(self._events)).__name__ == "StreamEndEvent":
            return None  # a comment, or a heading in Markdown
        value = self._read(next(self._events), 0)
        next(self._events)  # DocumentEndEvent
        if type(next(self._events)).__name__ != "StreamEndEvent":
            raise ValueError("it contains a second document")
        return value

    def _read(self, event: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise ValueError("it is too large or too deep")
        match type(event).__name__:
            case "MappingStartEvent":
                return {str(key): self._read(next(self._events), depth + 1) for key in self._items(depth)}
            case "SequenceStartEvent":
                return list(self._items(depth))
            case "ScalarEvent":
                return _scalar(event.value) if event.implicit[0] else event.value
            case _:
                raise ValueError("it contains an alias (*name), which is not supported")

    def _items(self, depth: int) -> Iterator[Any]:
        for event in self._events:
            if type(event).__name__ in ("MappingEndEvent", "SequenceEndEvent"):
                return
            yield self._read(event, depth + 1)


def _scalar(value: str) -> Any:
    """The value of an unquoted scalar. A date, a fraction or a version stays text."""
    if value in _KEYWORDS:
        return _KEYWORDS[value]
    return int(value) if _WHOLE_NUMBER.fullmatch(value) else value


# --- fields ------------------------------------------------------------------------------------------------


def _make_front_matter(values: dict[str, Any]) -> tuple[FrontMatter, tuple[str, ...]]:
    warnings: list[str] = []

    def text(name: str) -> str | None:
        value = values.pop(name, None)
        if isinstance(value, dict | list):
            warnings.append(f"{name!r} in the front matter must be a string and was ignored.")
            return None
        return None if value is None else _to_text(value)

    def texts(name: str) -> tuple[str, ...]:
        value = values.pop(name, None)
        if isinstance(value, dict):
            warnings.append(f"{name!r} in the front matter must be a list and was ignored.")
            return ()
        items = cast(list[Any], value) if isinstance(value, list) else _to_text(value or "").split(",")
        return tuple(filter(None, (_to_text(item).strip() for item in items if not isinstance(item, dict | list))))

    kind = text("type")
    if kind is not None and kind not in _TYPES:
        warnings.append(f"'type' in the front matter is {kind[:50]!r}; it must be user, agent or instruction.")
    front = FrontMatter(
        title=text("title"),
        description=text("description"),
        tags=texts("tags"),
        type=_TYPES.get(kind or ""),
        instruction=text("instruction"),
        requires=texts("requires"),
        extra=MappingProxyType(values),
    )
    return front, tuple(warnings)


def _to_text(value: Any) -> str:

    return str(value).lower() if isinstance(value, bool) else str(value)
