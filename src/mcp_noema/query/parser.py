r"""The parser of the search language, which is Anki's: `deck:Math tag:hard is:due -is:suspended "exact words"`.

    query = parts OR parts ...        OR has the lowest precedence
    parts = part part ...             or part AND part
    part  = -part, (query) or a term
    term  = words or key:value        in quotes if it contains a space

In words and values, * matches any text, _ matches one character, and \ escapes a character. docs/noema-search.md has
every key with an example.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NoReturn, cast, get_args

from mcp_noema.model import RATINGS, CardId, DeckId, NoteId, NumberedId
from mcp_noema.query.tree import (
    All,
    AnyOf,
    Event,
    Everything,
    Excluding,
    Flagged,
    InDeck,
    InField,
    Is,
    Measure,
    OfTemplate,
    OfType,
    Operator,
    Pattern,
    Property,
    Status,
    Tagged,
    Term,
    Tree,
    Wildcard,
    WithId,
    Within,
    Words,
)
from toolcharter import InvalidArguments

MAX_LENGTH = 4000
MAX_TERMS = 100
MAX_DEPTH = 20
MAX_STARS = 10
MAX_STARS_IN_NAME = 3
"""In tags and names, which are compared in Python."""


_CONTROL_CHARACTER = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff]")


def parse(query: str) -> Tree:
    """The tree of a query. An error says where the query is wrong, and what to write instead."""
    if len(query) > MAX_LENGTH:
        _fail(f"The query has {len(query)} characters; at most {MAX_LENGTH} are allowed. Search for less at once.")
    if match := _CONTROL_CHARACTER.search(query):
        _fail_at(match.start(), f"\\x{ord(match[0]):02x}", "is a control character; remove it")
    return _QueryParser(_tokenize(query)).parse()


# --- tokens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A bracket, a minus, or a word. An item of `characters` is one character, or a backslash and a character."""

    kind: Literal["(", ")", "-", "word"]
    position: int
    characters: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def text(self) -> str:
        return "".join(self.characters) if self.kind == "word" else self.kind

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and not self.quoted and self.text.lower() == word


_ESCAPABLE = frozenset('\\":()-*_')
_BRACKETS: Mapping[str, Literal["(", ")"]] = {"(": "(", ")": ")"}


def _tokenize(query: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(query):
        character = query[position]
        if character.isspace():
            position += 1
        elif character in _BRACKETS:
            tokens.append(_Token(_BRACKETS[character], position))
            position += 1
        elif character == "-" and query[position + 1 : position + 2].strip(" )"):
            tokens.append(_Token("-", position))
            position += 1
        else:
            token, position = _read_word(query, position)
            tokens.append(token)
    return tokens


def _read_word(query: str, start: int) -> tuple[_Token, int]:
    """A word and the position after it."""
    characters: list[str] = []
    position, quote = start, -1
    while position < len(query):
        character = query[position]
        if character == '"':
            quote = -1 if quote >= 0 else position
        elif quote < 0 and (character.isspace() or character in _BRACKETS):
            break
        elif character == "\\":
            characters.append(_read_escape(query, position))
            position += 1
        else:
            characters.append(character)
        position += 1
    if quote >= 0:
        _fail_at(quote, query[quote:], 'has no closing quote; add ", or write \\" for the character itself')
    return _Token("word", start, tuple(characters), quoted='"' in query[start:position]), position


def _read_escape(query: str, position: int) -> str:
    escape = query[position : position + 2]
    if len(escape) < 2 or escape[1] not in _ESCAPABLE:  # noqa: PLR2004 - the backslash and one character
        _fail_at(
            position, escape, 'is not an escape; only \\ " : ( ) - * _ can be escaped, so write \\\\ for a backslash'
        )
    return escape


class _QueryParser:
    """A recursive descent parser."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._term_count = 0

    def parse(self) -> Tree:
        if not self._tokens:
            return Everything()
        tree = self._any_of(0)
        if token := self._next():
            _fail_at(token.position, ")", _NOT_OPENED)
        return tree

    def _next(self) -> _Token | None:
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    def _any_of(self, depth: int) -> Tree:
        parts = [self._all_of(depth)]
        while (token := self._next()) and token.is_word("or"):
            self._index += 1
            parts.append(self._all_of(depth, after=token))
        return AnyOf(tuple(parts)) if len(parts) > 1 else parts[0]

    def _all_of(self, depth: int, after: _Token | None = None) -> Tree:
        parts = [self._part(depth, after)]
        while (token := self._next()) and token.kind != ")" and not token.is_word("or"):
            is_and = token.is_word("and")
            self._index += is_and
            parts.append(self._part(depth, token if is_and else None))
        return All(tuple(parts)) if len(parts) > 1 else parts[0]

    def _part(self, depth: int, after: _Token | None) -> Tree:
        token = self._next()
        if token is None or token.kind == ")" or token.is_word("or") or token.is_word("and"):
            self._fail_missing(token, after)
        self._index += 1
        if token.kind == "-":
            self._check_depth(token, depth)
            return Excluding(self._part(depth + 1, token))
        if token.kind == "(":
            return self._group(token, depth)
        self._term_count += 1
        if self._term_count > MAX_TERMS:
            _fail_at(
                token.position, token.text, f"is one term too many; at most {MAX_TERMS} are allowed. Search for less"
            )
        return _term(token)

    def _group(self, opening: _Token, depth: int) -> Tree:
        self._check_depth(opening, depth)
        inside = self._next()
        if inside and inside.kind == ")":
            _fail_at(opening.position, "()", "is empty; write something to search for in it, or remove it")
        tree = self._any_of(depth + 1)
        if self._next() is None:
            _fail_at(opening.position, "(", _NOT_CLOSED)
        self._index += 1
        return tree

    def _check_depth(self, token: _Token, depth: int) -> None:
        if depth >= MAX_DEPTH:
            _fail_at(token.position, token.kind, f"is nested more than {MAX_DEPTH} deep; write it with fewer brackets")

    def _fail_missing(self, token: _Token | None, after: _Token | None) -> NoReturn:
        if token and token.kind == "word":
            _fail_at(token.position, token.text, f'has nothing before it to join; write "{token.text}" for the word')
        if after:
            _fail_at(after.position, after.text, "has nothing after it; write what to search for, or remove it")
        if token:
            _fail_at(token.position, ")", _NOT_OPENED)
        _fail_at(self._tokens[-1].position, "(", _NOT_CLOSED)


_NOT_OPENED = "closes a bracket that was not opened; remove it, or write \\) for the character"
_NOT_CLOSED = "is never closed; write ) after the group, or \\( for the character"


# --- terms -------------------------------------------------------------------------------------------------


def _term(token: _Token) -> Term:
    if ":" not in token.characters:
        if not token.characters:
            _fail_at(token.position, '""', "is empty; write the words to search for between the quotes")
        return Words(_pattern(token, token.characters))
    colon = token.characters.index(":")
    name, value = token.characters[:colon], token.characters[colon + 1 :]
    key = "".join(name).lower()
    if read_value := _KEYS.get(key):
        return read_value(token, value)
    if key in _UNSUPPORTED:
        _fail_at(token.position, token.text, _UNSUPPORTED[key])
    if not name:
        _fail_at(
            token.position, token.text, "has nothing before the colon; write \\: for a colon that is part of the words"
        )
    _refuse_expression(token, value)
    return InField(_pattern(token, name, MAX_STARS_IN_NAME), _pattern(token, value))


def _refuse_expression(token: _Token, value: Sequence[str]) -> None:
    """A regular expression or another mode after the key would find nothing in silence."""
    for mode in ("re", "nc"):
        if "".join(value[:3]).lower() == f"{mode}:":
            _fail_at(token.position, token.text, _UNSUPPORTED[mode])


_UNSUPPORTED: Mapping[str, str] = {
    "re": "is a regular expression, which is not supported; use * for any text and _ for one character",
    "w": "is a search for whole words, which is not supported; write the word alone, in quotes if it has a space",
    "nc": "ignores accents, which is not supported; write the words as they are, with _ for any one character",
    "sc": "ignores clozes, which every search does; write the words alone",
    "dupe": "is a search for duplicates, which is not supported; search for the words of the note",
    "mid": "is the id of a note type, which is not supported; use its name, such as note:Basic",
    "preset": "is a search for a preset, which is not supported; each deck has its own, so use deck:",
    "resched": "is a search for rescheduled cards, which are not recorded here; use rated:7 or prop:due",
    "has-cd": "is a search for custom data, which cards do not have here",
}


def _pattern(token: _Token, characters: Sequence[str], max_stars: int = MAX_STARS) -> Pattern:
    """The characters as a pattern, in as few parts as possible."""
    parts: list[str | Wildcard] = []
    for character in characters:
        part: str | Wildcard = Wildcard(character) if character in ("*", "_") else character[-1]
        last = parts[-1] if parts else Wildcard.ONE
        if isinstance(part, str) and isinstance(last, str):
            parts[-1] = last + part
        elif not (part is last is Wildcard.ANY):
            parts.append(part)
    if parts.count(Wildcard.ANY) > max_stars:
        _fail_at(token.position, token.text, f"has more than {max_stars} stars; use fewer")
    return Pattern(tuple(parts))


def _name(token: _Token, value: Sequence[str], example: str) -> Pattern:
    if not value:
        _fail_at(token.position, token.text, f"has no name after the colon; write for example {example}")
    return _pattern(token, value, MAX_STARS_IN_NAME)


def _deck(token: _Token, value: Sequence[str]) -> InDeck:
    if "".join(value).lower() == "current":
        _fail_at(
            token.position,
            token.text,
            "is not supported, because no deck is current here; write the name, such as deck:Math",
        )
    return InDeck(_name(token, value, 'deck:Math or deck:"Math::Linear algebra"'))


def _tag(token: _Token, value: Sequence[str]) -> Tagged:
    if "".join(value).lower() == "none":
        return Tagged(None)
    if any(character.isspace() for character in value):
        _fail_at(token.position, token.text, "has a space, which a tag cannot have; write tag: for each tag separately")
    _refuse_expression(token, value)
    return Tagged(_name(token, value, "tag:hard, or tag:none for notes without tags"))


def _status(token: _Token, value: Sequence[str]) -> Is:
    word = "".join(value).lower()
    if word not in get_args(Status):
        known = ", ".join(f"is:{name}" for name in get_args(Status))
        nearest = get_close_matches(word, get_args(Status), 1, 0.5)
        suggestion = f"did you mean is:{nearest[0]}? " if nearest else ""
        _fail_at(token.position, token.text, f"is not known; {suggestion}Use one of {known}")
    return Is(cast(Status, word))


def _type(token: _Token, value: Sequence[str]) -> OfType:
    return OfType(_name(token, value, "note:Basic or note:Cloze"))


def _template(token: _Token, value: Sequence[str]) -> OfTemplate:
    digits = "".join(value)
    if re.fullmatch(r"[1-9][0-9]{0,3}", digits):
        return OfTemplate(int(digits))
    return OfTemplate(_name(token, value, 'card:1 or card:"Card 1"'))


_NUMBER = r"-?[0-9]{1,6}(?:\.[0-9]{1,6})?"
_PROPERTY = re.compile(rf"(?P<name>[a-z]+)(?P<operator><=|>=|!=|=|<|>)(?P<value>{_NUMBER})", re.IGNORECASE)
_INTEGER_PROPERTIES = frozenset({"ivl", "due", "lapses", "reps"})
_UNSUPPORTED_PROPERTIES: Mapping[str, str] = {
    "r": "compares retrievability, which changes all the time and is not stored; use prop:s (stability), or "
    "predict-retention",
    "ease": "compares the ease of an older scheduler; use prop:d (difficulty, 1 to 10)",
    "pos": "compares the position of new cards, which is not supported; use is:new and sort by position",
}


def _property(token: _Token, value: Sequence[str]) -> Property:
    text = "".join(value)
    match = _PROPERTY.fullmatch(text)
    name = match["name"].lower() if match else ""
    for unsupported, reason in _UNSUPPORTED_PROPERTIES.items():
        if re.match(rf"{unsupported}\b", text, re.IGNORECASE):
            _fail_at(token.position, token.text, reason)
    if not match or name not in get_args(Measure):
        known = ", ".join(get_args(Measure))
        _fail_at(
            token.position, token.text, f"is not a comparison; write for example prop:ivl>=10, with one of {known}"
        )
    number = float(match["value"])
    if name in _INTEGER_PROPERTIES and not number.is_integer():
        _fail_at(token.position, token.text, f"compares with {match['value']}, but {name} is a whole number")
    if name == "d" and not 1 <= number <= 10:  # noqa: PLR2004 - the range of difficulties
        _fail_at(token.position, token.text, _difficulty_error(number))
    return Property(cast(Measure, name), cast(Operator, match["operator"]), number)


def _difficulty_error(number: float) -> str:
    anki = f"; {number:g} in Anki is {1 + 9 * number:g} here" if 0 <= number <= 1 else ""
    return f"compares with {number:g}, but difficulty is from 1 to 10, as in get-card{anki}"


_GRADES: Mapping[str, int] = {**RATINGS, **{str(number): number for number in RATINGS.values()}}
_DAYS = re.compile(r"[1-9][0-9]{0,4}")


def _within(event: Event) -> Callable[[_Token, Sequence[str]], Within]:
    def read(token: _Token, value: Sequence[str]) -> Within:
        days, colon, grade = "".join(value).lower().partition(":")
        if not _DAYS.fullmatch(days) or (colon and event != "rated"):
            _fail_at(token.position, token.text, f"needs a number of days from 1, such as {event}:7")
        rating = _GRADES.get(grade)
        if colon and not rating:
            _fail_at(token.position, token.text, "needs a grade from 1 (again) to 4 (easy), such as rated:7:1")
        return Within(event, int(days), rating)

    return read


def _with_id(kind: type[NumberedId], key: str) -> Callable[[_Token, Sequence[str]], WithId]:
    form = re.compile(rf"(?:{kind.prefix}_)?([1-9][0-9]{{0,17}})", re.IGNORECASE)

    def read(token: _Token, value: Sequence[str]) -> WithId:
        matches = [form.fullmatch(part) for part in "".join(value).split(",")]
        if None in matches:
            example = f"{key}:{kind.prefix}_1 or {key}:{kind.prefix}_1,{kind.prefix}_2"
            _fail_at(token.position, token.text, f"needs one or more ids, such as {example}")
        return WithId(kind, tuple(int(match[1]) for match in matches if match))

    return read


def _flag(token: _Token, value: Sequence[str]) -> Flagged:
    digit = "".join(value)
    if not re.fullmatch(r"[0-7]", digit):
        _fail_at(token.position, token.text, "needs a flag from 1 to 7, such as flag:1 (red), or flag:0 for none")
    return Flagged(int(digit))


_KEYS: Mapping[str, Callable[[_Token, Sequence[str]], Term]] = {
    "deck": _deck,
    "tag": _tag,
    "is": _status,
    "note": _type,
    "card": _template,
    "prop": _property,
    "added": _within("added"),
    "edited": _within("edited"),
    "rated": _within("rated"),
    "introduced": _within("introduced"),
    "nid": _with_id(NoteId, "nid"),
    "cid": _with_id(CardId, "cid"),
    "did": _with_id(DeckId, "did"),
    "flag": _flag,
}


# --- errors ------------------------------------------------------------------------------------------------

_MAX_QUOTE = 60


def _fail_at(position: int, text: str, problem: str) -> NoReturn:
    quote = text if len(text) <= _MAX_QUOTE else text[:_MAX_QUOTE] + "..."
    _fail(f"The query cannot be read at character {position + 1}: '{quote}' {problem}.")


def _fail(message: str) -> NoReturn:
    raise InvalidArguments(message, fields=("query",))
