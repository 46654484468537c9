"""What a document says about itself: YAML between two `---` lines at its very start.

Only a mapping counts, so a document that begins with a rule stays text. Values are taken as they are written:
a date or a version stays the text it is, and nothing is escaped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

Type = Literal["user", "agent", "instruction"]

LONGEST_FRONT_MATTER = 64_000
MOST_VALUES = 1_000
DEEPEST_VALUE = 20

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
_SPELLINGS = (
    ("true", True),
    ("yes", True),
    ("on", True),
    ("false", False),
    ("no", False),
    ("off", False),
    ("null", None),
)
_WORDS: Mapping[str, bool | None] = {
    **{spelt: value for word, value in _SPELLINGS for spelt in (word, word.capitalize(), word.upper())},
    "": None,
    "~": None,
}
_WHOLE_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields this package knows; what else there is, is in `extra`."""

    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    type: Type | None = None
    instruction: str | None = None
    requires: tuple[str, ...] = ()
    """The flags without which the document is not meant."""
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class Parts(NamedTuple):
    """A document's text, apart."""

    front: FrontMatter
    text: str
    warnings: tuple[str, ...] = ()


def split(text: str) -> Parts:
    """The front matter and the rest. What cannot be read stays in the text, with a warning."""
    if not text.startswith("---"):
        return Parts(FrontMatter(), text)
    block = _BLOCK.match(text, 0, LONGEST_FRONT_MATTER)
    if block is None:
        return Parts(FrontMatter(), text)
    try:
        values = _values(block[1] or "")
    except ValueError as error:
        reason = " ".join(str(error).split())
        return Parts(FrontMatter(), text, (f"The front matter cannot be read, and was left in the text: {reason}",))
    if values is None:
        return Parts(FrontMatter(), text)
    front, warnings = _fields(values)
    return Parts(front, text[block.end() :], warnings)


# --- YAML --------------------------------------------------------------------------------------------------


def _values(block: str) -> dict[str, Any] | None:
    """The mapping, or None where there is none. Raises ValueError where it is not YAML."""
    if not block.strip():
        return {}
    yaml = import_module("yaml")  # 20 ms that a start without such a document does not take
    try:
        # Events, because the library makes values of them by recursion, and deep ones end the process.
        value = _Reader(yaml.parse(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))).read_document()
    except yaml.YAMLError as error:
        raise ValueError(error) from error
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


class _Reader:
    """Makes plain values of YAML events, of so many and so deep."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._left = MOST_VALUES

    def read_document(self) -> Any:
        next(self._events)  # the stream starts
        if type(next(self._events)).__name__ == "StreamEndEvent":
            return None  # a comment, or a heading in Markdown
        value = self._read(next(self._events), 0)
        next(self._events)  # the document ends
        if type(next(self._events)).__name__ != "StreamEndEvent":
            raise ValueError("it has a second document in it")
        return value

    def _read(self, event: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST_VALUE:
            raise ValueError("it is too large or too deep")
        match type(event).__name__:
            case "MappingStartEvent":
                return {str(key): self._read(next(self._events), depth + 1) for key in self._items(depth)}
            case "SequenceStartEvent":
                return list(self._items(depth))
            case "ScalarEvent":
                return _scalar(event.value) if event.implicit[0] else event.value
            case _:
                raise ValueError("it has an alias (*name) in it, which is not supported")

    def _items(self, depth: int) -> Iterator[Any]:
        for event in self._events:
            if type(event).__name__ in ("MappingEndEvent", "SequenceEndEvent"):
                return
            yield self._read(event, depth + 1)


def _scalar(value: str) -> Any:
    """What an unquoted value means. A date, a fraction or a version stays as it is written."""
    if value in _WORDS:
        return _WORDS[value]
    return int(value) if _WHOLE_NUMBER.fullmatch(value) else value


# --- fields ------------------------------------------------------------------------------------------------


def _fields(values: dict[str, Any]) -> tuple[FrontMatter, tuple[str, ...]]:
    warnings: list[str] = []

    def text(name: str) -> str | None:
        value = values.pop(name, None)
        if isinstance(value, dict | list):
            warnings.append(f"{name!r} in the front matter should be a text, and was left out.")
            return None
        return None if value is None else _written(value)

    def texts(name: str) -> tuple[str, ...]:
        value = values.pop(name, None)
        if isinstance(value, dict):
            warnings.append(f"{name!r} in the front matter should be a list, and was left out.")
            return ()
        listed = cast(list[Any], value) if isinstance(value, list) else _written(value or "").split(",")
        return tuple(filter(None, (_written(v).strip() for v in listed if not isinstance(v, dict | list))))

    kind = text("type")
    if kind is not None and kind not in _TYPES:
        warnings.append(f"'type' in the front matter is {kind[:50]!r}; it should be user, agent or instruction.")
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


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
