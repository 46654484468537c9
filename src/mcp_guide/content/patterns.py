r"""Globs over the paths of documents.

    *        any characters within one name             ?         one character within a name
    **       any folders, none included                 [a-c]     one of these; [!a-c] or [^a-c] one of the others
    {a,b}    either, nested too                         api/      everything below the folder api

A pattern whose name has no extension matches the document of that stem: `python` is python.md, python.txt or
python. An extension is a dot and a letter, or a dot and a wildcard, so `v1.2` is the stem of v1.2.md.
A name with an extension can be a stem too: `node.js` matches node.js.md, unless node.js exists.
Patterns are case-sensitive. Names are compared in the Unicode form NFC.
A special character stands for itself in brackets: `c[+][+]`.

No pattern is slow: the text that a `*` or `**` has consumed is never tried again (atomic groups). The earliest
match of the next fixed piece leaves the most room for the rest, so nothing is missed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from toolcharter import InvalidArguments

MAX_PATTERN_LENGTH = 1_000
MAX_ALTERNATIVES = 256
MAX_EXPANDED_LENGTH = 10_000
"""Of the alternatives of all patterns together: compiling a longer regular expression takes too long."""

_CLASS = re.compile(r"\[[!^]?.[^\]]*\]", re.DOTALL)
_EXTENSION = re.compile(r"\.(?:[A-Za-z][^.]*|[^.]*[*?][^.]*)\Z")
_SPECIAL = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class FolderScope:
    """The place of the documents of one alternative: below a folder, down to a depth (None: any depth)."""

    folder: str
    depth: int | None


@dataclass(frozen=True, slots=True)
class PatternSet:
    """Several patterns. A path matches when any of them matches."""

    matches: Callable[[str], object]
    """Whether a path, relative to the folder of the patterns, matches; use it as a condition."""
    scopes: tuple[FolderScope, ...]
    names: frozenset[str] | None
    """The only names and stems that can match; None when a name has a wildcard."""
    length: int
    """Of all patterns without braces; compiling takes about 7 microseconds a character."""


@lru_cache(maxsize=512)
def compile_patterns(patterns: tuple[str, ...]) -> PatternSet:
    """Compile patterns into one matcher. Raises InvalidArguments."""
    globs: list[tuple[str, ...]] = []
    length = 0
    for pattern in patterns:
        expanded = _alternatives(normalize(pattern), MAX_EXPANDED_LENGTH - length)
        length += sum(len(segment) for segments in expanded for segment in segments)
        globs += expanded
    regex = re.compile("|".join(f"(?:{_path_regex(segments)})" for segments in dict.fromkeys(globs)) or r"(?!)")
    literal = all(_is_literal(segments[-1]) for segments in globs)
    names = frozenset(segments[-1] for segments in globs) if literal else None
    return PatternSet(regex.fullmatch, _folder_scopes(globs), names, length)


def stem(name: str) -> str:
    """The name without its extension."""
    return name.rpartition(".")[0] or name


def split_outside_brackets(text: str, separators: str) -> list[str]:
    """Split a text at the separators outside `{...}` and `[...]`. Raises InvalidArguments."""
    parts, depth, start = [""], 0, 0
    for position, character in _characters_outside_classes(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                raise InvalidArguments(f"{quote_text(text)} has a '}}' without a '{{'. Remove it, or write [}}].")
        elif character in separators and depth == 0:
            parts[-1] = text[start:position]
            parts.append("")
            start = position + 1
    if depth:
        raise InvalidArguments(f"{quote_text(text)} has a '{{' that is not closed. Add the '}}', or write [{{].")
    parts[-1] = text[start:]
    return parts


def normalize(text: str) -> str:
    """The text in the Unicode form in which names are compared. macOS stores names in another form than people type."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def quote_text(text: str) -> str:
    """The text in quotes, shortened for a message."""
    return repr(text if len(text) <= 100 else f"{text[:97]}...")  # noqa: PLR2004 - about one line


def _characters_outside_classes(text: str) -> Iterator[tuple[int, str]]:
    """The characters outside `[...]`, each with its position."""
    position = 0
    while position < len(text):
        if text[position] == "[":
            position = _class_end(text, position)
        else:
            yield position, text[position]
        position += 1


def _class_end(text: str, start: int) -> int:
    """The position of the `]` that closes the `[` at `start`. The first character inside may itself be a `]`."""
    first = start + 2 if text[start + 1 : start + 2] in ("!", "^") else start + 1
    end = text.find("]", first + 1)
    if end < 0:
        raise InvalidArguments(f"{quote_text(text)} has a '[' that is not closed. Add the ']', or write [[].")
    return end


# --- braces, folders ---------------------------------------------------------------------------------------


def _alternatives(pattern: str, max_length: int) -> list[tuple[str, ...]]:
    """The patterns without braces that a pattern stands for, each as its folders and its name."""
    if not pattern or len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidArguments(
            f"The pattern {quote_text(pattern)} has {len(pattern):,} characters. Use 1 to {MAX_PATTERN_LENGTH:,}."
        )
    return [_split_segments(text, pattern) for text in _expand_braces(pattern, max_length)]


def _expand_braces(pattern: str, max_length: int) -> list[str]:
    """`a{b,c}` is ab and ac. Expands the first outer brace, then those that remain."""
    split_outside_brackets(pattern, "")
    done, todo = list[str](), [pattern]
    while todo:
        text = todo.pop()
        opened = next((at for at, character in _characters_outside_classes(text) if character == "{"), None)
        if opened is None:
            done.append(text)
        else:
            closed = _closing_brace(text, opened)
            inner = split_outside_brackets(text[opened + 1 : closed], ",")
            todo.extend(f"{text[:opened]}{part}{text[closed + 1 :]}" for part in reversed(inner))
        if len(done) + len(todo) > MAX_ALTERNATIVES or sum(map(len, done)) + sum(map(len, todo)) > max_length:
            raise InvalidArguments(
                f"The braces in {quote_text(pattern)}, with the patterns before it, expand to too many patterns. "
                "Use '*' instead."
            )
    return done


def _closing_brace(text: str, opened: int) -> int:
    depth = 0
    for position, character in _characters_outside_classes(text):
        if position >= opened and character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return position
    raise AssertionError("split_outside_brackets has checked that all braces are closed")


def _split_segments(text: str, pattern: str) -> tuple[str, ...]:
    if "\\" in text or "\0" in text:
        raise InvalidArguments(f"The pattern {quote_text(pattern)} has a backslash or NUL. Separate folders with '/'.")
    segments = split_outside_brackets(text, "/")
    if text.endswith("/"):
        segments[-1] = "**"
    if any(segment in ("", ".", "..") for segment in segments):
        raise InvalidArguments(
            f"The pattern {quote_text(pattern)} contains an empty folder name, '.' or '..'. "
            "Use folders and documents below the category, as in 'api/*.md'."
        )
    return tuple(s for n, s in enumerate(segments) if s != "**" or n == 0 or segments[n - 1] != "**")


def _is_literal(segment: str) -> bool:
    return _SPECIAL.isdisjoint(segment)


def _folder_scopes(globs: Sequence[tuple[str, ...]]) -> tuple[FolderScope, ...]:
    deepest: dict[str, int | None] = {}
    for segments in globs:
        folders = segments[:-1] if segments[-1] != "**" else segments
        fixed = next((n for n, segment in enumerate(folders) if not _is_literal(segment)), len(folders))
        folder, depth = "/".join(folders[:fixed]), None if "**" in folders else len(folders) - fixed
        known = deepest.get(folder, 0)
        deepest[folder] = None if depth is None or known is None else max(depth, known)
    return tuple(FolderScope(folder, depth) for folder, depth in deepest.items())


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
    has_extension = _EXTENSION.search(_CLASS.sub("?", name)) and not _is_literal(name)
    return regex if has_extension else rf"{regex}(?:\.[^./]*)?"


def _name_regex(segment: str) -> str:
    """The regular expression of one name. A piece between two stars has a fixed length: its first match is taken."""
    first, *pieces = _pieces(segment)
    if not pieces:
        return first
    *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + f"[^/]*{last}"


def _pieces(segment: str) -> list[str]:
    """The pieces between stars, each as a regular expression of fixed length."""
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
    negated = inside.startswith(("!", "^"))
    characters = inside[1:] if negated else inside
    ranges, position = "", 0
    while position < len(characters):
        low = high = characters[position]
        if characters[position + 1 : position + 2] == "-" and position + 2 < len(characters):
            high = characters[position + 2]
            position += 2
        if low > high:
            raise InvalidArguments(f"{quote_text(segment)} has the reversed range {low}-{high}. Write {high}-{low}.")
        ranges += f"\\U{ord(low):08x}-\\U{ord(high):08x}"
        position += 1
    return f"(?!/)[{'^' if negated else ''}{ranges}]"
