r"""Globs over the paths of documents.

    *        any characters within one name             ?         one character within a name
    **       any folders, none included                 [a-c]     one of these; [!a-c] one of the others
    {a,b}    either, nested too                         api/      everything below the folder api

A pattern whose name has no extension matches the document of that stem: `python` is python.md, python.txt or
python. An extension is a dot and a letter, or a dot and a wildcard, so `v1.2` is the stem of v1.2.md.
Upper and lower case differ. A special character stands for itself in brackets: `c[+][+]`.

No pattern is slow: whatever a `*` or `**` has passed is never tried again (atomic groups), because the first
place where the next fixed piece fits leaves the most room for the rest.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from mcp_core.errors import InvalidArguments

LONGEST_PATTERN = 1_000
MOST_ALTERNATIVES = 256
LONGEST_ALTERNATIVES = 10_000  # all of them together: a regular expression of this length takes a moment to compile

_CLASS = re.compile(r"\[!?.[^\]]*\]", re.DOTALL)
_EXTENSION = re.compile(r"\.(?:[A-Za-z][^.]*|[^.]*[*?][^.]*)\Z")
_SPECIAL = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class Place:
    """Where documents of one alternative can be: below a folder, at most so deep (None: any depth)."""

    folder: str
    depth: int | None


@dataclass(frozen=True, slots=True)
class PatternSet:
    """Several patterns, any of which may match a path."""

    fits: Callable[[str], object]
    """Whether a path, relative to the folder the patterns are about, matches; true or false as a condition."""
    places: tuple[Place, ...]
    names: frozenset[str] | None
    """The names and stems that can match at all, where no name has a wildcard."""


@lru_cache(maxsize=512)
def compile_patterns(patterns: tuple[str, ...]) -> PatternSet:
    """What the patterns mean together. Raises InvalidArguments."""
    globs = [segments for pattern in patterns for segments in _alternatives(pattern)]
    regex = re.compile("|".join(f"(?:{_path_regex(segments)})" for segments in dict.fromkeys(globs)) or r"(?!)")
    literal = all(_is_literal(segments[-1]) for segments in globs)
    names = frozenset(segments[-1] for segments in globs) if literal else None
    return PatternSet(regex.fullmatch, _places(globs), names)


def stem(name: str) -> str:
    """The name without its extension."""
    return name.rpartition(".")[0] or name


def split_outside(text: str, separators: str) -> list[str]:
    """The parts between separators that stand outside of `{...}` and `[...]`. Raises InvalidArguments."""
    parts, depth, start = [""], 0, 0
    for position, character in _outside_brackets(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                raise InvalidArguments(f"{shown(text)} has a '}}' without a '{{'. Remove it, or write [}}].")
        elif character in separators and depth == 0:
            parts[-1] = text[start:position]
            parts.append("")
            start = position + 1
    if depth:
        raise InvalidArguments(f"{shown(text)} has a '{{' that is not closed. Add the '}}', or write [{{].")
    parts[-1] = text[start:]
    return parts


def shown(text: str) -> str:
    """The text in quotes, cut to a length that can stand in a message."""
    return repr(text if len(text) <= 100 else f"{text[:97]}...")  # noqa: PLR2004 - about one line


def _outside_brackets(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside of `[...]`, each with its place."""
    position = 0
    while position < len(text):
        if text[position] == "[":
            position = _class_end(text, position)
        else:
            yield position, text[position]
        position += 1


def _class_end(text: str, start: int) -> int:
    """Where the `]` is that ends what starts there. The first character may itself be a `]`."""
    first = start + 2 if text[start + 1 : start + 2] == "!" else start + 1
    end = text.find("]", first + 1)
    if end < 0:
        raise InvalidArguments(f"{shown(text)} has a '[' that is not closed. Add the ']', or write [[].")
    return end


# --- braces, folders ---------------------------------------------------------------------------------------


def _alternatives(pattern: str) -> list[tuple[str, ...]]:
    """The pattern without braces, as many times as needed, each as its folders and its name."""
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise InvalidArguments(
            f"The pattern {shown(pattern)} has {len(pattern):,} characters. Give 1 to {LONGEST_PATTERN:,}."
        )
    return [_segments(text, pattern) for text in _expand(pattern)]


def _expand(pattern: str) -> list[str]:
    """`a{b,c}` is ab and ac. The first outer brace is opened, then whatever is left."""
    split_outside(pattern, "")
    done, todo = list[str](), [pattern]
    while todo:
        text = todo.pop()
        opened = next((at for at, character in _outside_brackets(text) if character == "{"), None)
        if opened is None:
            done.append(text)
        else:
            closed = _closing(text, opened)
            inner = split_outside(text[opened + 1 : closed], ",")
            todo.extend(f"{text[:opened]}{part}{text[closed + 1 :]}" for part in reversed(inner))
        if len(done) + len(todo) > MOST_ALTERNATIVES or sum(map(len, done)) > LONGEST_ALTERNATIVES:
            raise InvalidArguments(f"The braces of {shown(pattern)} stand for too many patterns. Use fewer, or a '*'.")
    return done


def _closing(text: str, opened: int) -> int:
    depth = 0
    for position, character in _outside_brackets(text):
        if position >= opened and character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return position
    raise AssertionError("split_outside has seen that braces are closed")


def _segments(text: str, pattern: str) -> tuple[str, ...]:
    if "\\" in text or "\0" in text:
        raise InvalidArguments(f"The pattern {shown(pattern)} has a backslash or a NUL in it. Separate folders by '/'.")
    segments = split_outside(text, "/")
    if text.endswith("/"):
        segments[-1] = "**"
    if any(segment in ("", ".", "..") for segment in segments):
        raise InvalidArguments(
            f"The pattern {shown(pattern)} has an empty folder, '.' or '..' in it. "
            "Name folders and documents below the category, as in 'api/*.md'."
        )
    return tuple(s for n, s in enumerate(segments) if s != "**" or n == 0 or segments[n - 1] != "**")


def _is_literal(segment: str) -> bool:
    return _SPECIAL.isdisjoint(segment)


def _places(globs: Sequence[tuple[str, ...]]) -> tuple[Place, ...]:
    deepest: dict[str, int | None] = {}
    for segments in globs:
        folders = segments[:-1] if segments[-1] != "**" else segments
        fixed = next((n for n, segment in enumerate(folders) if not _is_literal(segment)), len(folders))
        folder, depth = "/".join(folders[:fixed]), None if "**" in folders else len(folders) - fixed
        known = deepest.get(folder, 0)
        deepest[folder] = None if depth is None or known is None else max(depth, known)
    return tuple(Place(folder, depth) for folder, depth in deepest.items())


# --- regular expressions -----------------------------------------------------------------------------------


def _path_regex(segments: tuple[str, ...]) -> str:
    if segments[-1] == "**":
        segments = (*segments, "*")
    runs = [list(run) for is_stars, run in groupby(segments, key=lambda segment: segment == "**") if not is_stars]
    *folders, name = runs[-1]
    last = "".join(f"(?>{_name_regex(folder)}/)" for folder in folders) + _document_regex(name)
    if "**" not in segments:
        return last
    middle = runs[:-1]
    first = "" if segments[0] == "**" else _run_regex(middle.pop(0))
    return first + "".join(f"(?>(?:[^/]+/)*?{_run_regex(run)})" for run in middle) + "(?:[^/]+/)*" + last


def _run_regex(run: Sequence[str]) -> str:
    return "".join(f"(?>{_name_regex(folder)}/)" for folder in run)


def _document_regex(name: str) -> str:
    regex = _name_regex(name)
    return regex if _EXTENSION.search(_CLASS.sub("?", name)) else rf"{regex}(?:\.[^./]*)?"


def _name_regex(segment: str) -> str:
    """One name. Between two stars is a piece of fixed length: where it fits first is where it goes."""
    first, *pieces = _pieces(segment)
    if not pieces:
        return first
    *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _pieces(segment: str) -> list[str]:
    """What stands between stars, each as a regular expression of fixed length."""
    pieces, position = [""], 0
    while position < len(segment):
        character = segment[position]
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            end = _class_end(segment, position)
            pieces[-1] += _class_regex(segment[position + 1 : end], segment)
            position = end
        else:
            pieces[-1] += re.escape(character)
        position += 1
    return pieces


def _class_regex(inside: str, segment: str) -> str:
    negated = inside.startswith("!")
    characters = inside[1:] if negated else inside
    ranges, position = "", 0
    while position < len(characters):
        low = high = characters[position]
        if characters[position + 1 : position + 2] == "-" and position + 2 < len(characters):
            high = characters[position + 2]
            position += 2
        if low > high:
            raise InvalidArguments(f"{shown(segment)} has the range {low}-{high}. Write it as {high}-{low}.")
        ranges += f"\\U{ord(low):08x}-\\U{ord(high):08x}"
        position += 1
    return f"(?!/)[{'^' if negated else ''}{ranges}]"
