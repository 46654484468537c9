r"""The search language, as people know it from Anki: `deck:Math tag:hard is:due -is:suspended "exact words"`.

    query = parts OR parts ...        OR binds less than standing side by side
    parts = part part ...             or part AND part
    part  = -part, (query) or a term
    term  = words or key:value        "in quotes" where there is a space

In words and values, * stands for any letters, _ for one, and \ makes a sign mean itself. docs/noema-search.md has
every key with an example.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NoReturn, cast, get_args

from mcp_core import InvalidArguments
from mcp_noema.model import RATINGS, CardId, DeckId, NoteId, NumberedId
from mcp_noema.query_tree import (
    All,
    AnyOf,
    Event,
    Everything,
    InDeck,
    InField,
    Is,
    Measure,
    Not,
    OfTemplate,
    OfType,
    Operator,
    Pattern,
    Property,
    Standing,
    Tagged,
    Term,
    Tree,
    Wild,
    WithId,
    Within,
    Words,
)

LONGEST = 4000
MOST_TERMS = 100
DEEPEST = 20
MOST_STARS = 10
MOST_STARS_IN_NAME = 3
"""Tags and names are compared one by one, where a star costs more than in the database."""


_ODD = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff]")


def parse(query: str) -> Tree:
    """The tree of a query. What is wrong with it is an InvalidArguments that says where, and what to write instead."""
    if len(query) > LONGEST:
        _refuse(f"The query has {len(query)} characters; {LONGEST} is the most. Search for less at once.")
    if odd := _ODD.search(query):
        _refuse_at(odd.start(), f"\\x{ord(odd[0]):02x}", "is no sign that a text has; remove it")
    return _Parser(_read(query)).tree()


# --- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A bracket, a minus, or a word. Each sign of a word is one text; with a backslash before it, it is two letters."""

    kind: Literal["(", ")", "-", "word"]
    place: int
    signs: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def text(self) -> str:
        return "".join(self.signs) if self.kind == "word" else self.kind

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and not self.quoted and self.text.lower() == word


_ESCAPED = frozenset('\\":()-*_')
_BRACKETS: Mapping[str, Literal["(", ")"]] = {"(": "(", ")": ")"}


def _read(query: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while place < len(query):
        sign = query[place]
        if sign.isspace():
            place += 1
        elif sign in _BRACKETS:
            tokens.append(_Token(_BRACKETS[sign], place))
            place += 1
        elif sign == "-" and query[place + 1 : place + 2].strip(" )"):
            tokens.append(_Token("-", place))
            place += 1
        else:
            token, place = _read_word(query, place)
            tokens.append(token)
    return tokens


def _read_word(query: str, start: int) -> tuple[_Token, int]:
    signs: list[str] = []
    place, quote = start, -1
    while place < len(query):
        sign = query[place]
        if sign == '"':
            quote = -1 if quote >= 0 else place
        elif quote < 0 and (sign.isspace() or sign in _BRACKETS):
            break
        elif sign == "\\":
            signs.append(_escape(query, place))
            place += 1
        else:
            signs.append(sign)
        place += 1
    if quote >= 0:
        _refuse_at(quote, query[quote:], 'has no second quote; close it with ", or write \\" for the sign itself')
    return _Token("word", start, tuple(signs), quoted='"' in query[start:place]), place


def _escape(query: str, place: int) -> str:
    escaped = query[place : place + 2]
    if len(escaped) < 2 or escaped[1] not in _ESCAPED:  # noqa: PLR2004
        _refuse_at(place, escaped, 'is no escape; write \\\\ for a backslash, and one before \\ " : ( ) - * _ only')
    return escaped


class _Parser:
    """Makes the tree, from left to right."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._terms = 0

    def tree(self) -> Tree:
        if not self._tokens:
            return Everything()
        tree = self._any_of(0)
        if token := self._next():
            _refuse_at(token.place, ")", _NOT_OPENED)
        return tree

    def _next(self) -> _Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _any_of(self, depth: int) -> Tree:
        parts = [self._all_of(depth)]
        while (token := self._next()) and token.is_word("or"):
            self._place += 1
            parts.append(self._all_of(depth, after=token))
        return AnyOf(tuple(parts)) if len(parts) > 1 else parts[0]

    def _all_of(self, depth: int, after: _Token | None = None) -> Tree:
        parts = [self._part(depth, after)]
        while (token := self._next()) and token.kind != ")" and not token.is_word("or"):
            joining = token.is_word("and")
            self._place += joining
            parts.append(self._part(depth, token if joining else None))
        return All(tuple(parts)) if len(parts) > 1 else parts[0]

    def _part(self, depth: int, after: _Token | None) -> Tree:
        token = self._next()
        if token is None or token.kind == ")" or token.is_word("or") or token.is_word("and"):
            self._missing(token, after)
        self._place += 1
        if token.kind == "-":
            self._deeper(token, depth)
            return Not(self._part(depth + 1, token))
        if token.kind == "(":
            return self._group(token, depth)
        self._terms += 1
        if self._terms > MOST_TERMS:
            _refuse_at(token.place, token.text, f"is one term too many; {MOST_TERMS} are the most. Search for less")
        return _term(token)

    def _group(self, opening: _Token, depth: int) -> Tree:
        self._deeper(opening, depth)
        inside = self._next()
        if inside and inside.kind == ")":
            _refuse_at(opening.place, "()", "is empty; write something to search for in it, or remove it")
        tree = self._any_of(depth + 1)
        if self._next() is None:
            _refuse_at(opening.place, "(", _NOT_CLOSED)
        self._place += 1
        return tree

    def _deeper(self, token: _Token, depth: int) -> None:
        if depth >= DEEPEST:
            _refuse_at(token.place, token.kind, f"is nested more than {DEEPEST} deep; write it with fewer brackets")

    def _missing(self, token: _Token | None, after: _Token | None) -> NoReturn:
        if token and token.kind == "word":
            _refuse_at(token.place, token.text, f'has nothing before it to join; write "{token.text}" for the word')
        if after:
            _refuse_at(after.place, after.text, "has nothing after it; write what to search for, or remove it")
        if token:
            _refuse_at(token.place, ")", _NOT_OPENED)
        _refuse_at(self._tokens[-1].place, "(", _NOT_CLOSED)


_NOT_OPENED = "closes a bracket that was not opened; remove it, or write \\) for the sign"
_NOT_CLOSED = "is never closed; write ) after what belongs together, or \\( for the sign"


# --- terms -------------------------------------------------------------------------------------------------


def _term(token: _Token) -> Term:
    if ":" not in token.signs:
        if not token.signs:
            _refuse_at(token.place, '""', "is empty; write the words to search for between the quotes")
        return Words(_pattern(token, token.signs))
    colon = token.signs.index(":")
    name, value = token.signs[:colon], token.signs[colon + 1 :]
    key = "".join(name).lower()
    if read := _KEYS.get(key):
        return read(token, value)
    if key in _UNKNOWN:
        _refuse_at(token.place, token.text, _UNKNOWN[key])
    if not name:
        _refuse_at(token.place, token.text, f"has nothing before the colon; {_AS_TEXT}")
    return InField(_pattern(token, name, MOST_STARS_IN_NAME), _pattern(token, value))


_AS_TEXT = "write \\: for a colon that is part of the words"

_UNKNOWN: Mapping[str, str] = {
    "re": "is a regular expression, which cannot be used here; use * for any letters and _ for one",
    "w": "asks for whole words, which cannot be told apart here; write the word, with a space in quotes if need be",
    "nc": "ignores accents, which cannot be done here; write the words as they are, with _ for a letter",
    "sc": "strips clozes, which is always done here; write the words alone",
    "flag": "asks for a flag, and cards have none here; use tags, such as tag:marked",
    "dupe": "asks for duplicates; search for the words of the note instead",
    "mid": "asks for the id of a note type; use its name, such as note:Basic",
    "preset": "asks for a preset; each deck has its own here, so use deck:",
    "resched": "asks for rescheduled cards, which are not recorded here; use rated:7 or prop:due",
    "has-cd": "asks for custom data, and cards have none here",
}


def _pattern(token: _Token, signs: Sequence[str], stars: int = MOST_STARS) -> Pattern:
    """The signs as a pattern, in as few parts as possible."""
    parts: list[str | Wild] = []
    for sign in signs:
        part: str | Wild = Wild(sign) if sign in ("*", "_") else sign[-1]
        last = parts[-1] if parts else Wild.ONE
        if isinstance(part, str) and isinstance(last, str):
            parts[-1] = last + part
        elif not (part is last is Wild.ANY):
            parts.append(part)
    if parts.count(Wild.ANY) > stars:
        _refuse_at(token.place, token.text, f"has more than {stars} stars; use fewer")
    return Pattern(tuple(parts))


def _named(token: _Token, value: Sequence[str], example: str) -> Pattern:
    if not value:
        _refuse_at(token.place, token.text, f"names nothing; write for example {example}")
    return _pattern(token, value, MOST_STARS_IN_NAME)


def _deck(token: _Token, value: Sequence[str]) -> InDeck:
    if "".join(value).lower() == "current":
        _refuse_at(
            token.place, token.text, "asks for the current deck; there is none here, so name it, as in deck:Math"
        )
    return InDeck(_named(token, value, 'deck:Math or deck:"Math::Linear algebra"'))


def _tag(token: _Token, value: Sequence[str]) -> Tagged:
    if "".join(value).lower() == "none":
        return Tagged(None)
    if any(sign.isspace() for sign in value):
        _refuse_at(token.place, token.text, "has a space, which no tag has; write tag: for each tag by itself")
    return Tagged(_named(token, value, "tag:hard, or tag:none for notes without tags"))


def _standing(token: _Token, value: Sequence[str]) -> Is:
    word = "".join(value).lower()
    if word not in get_args(Standing):
        known = ", ".join(f"is:{name}" for name in get_args(Standing))
        nearest = get_close_matches(word, get_args(Standing), 1, 0.5)
        meant = f"is:{nearest[0]} may be meant; " if nearest else ""
        _refuse_at(token.place, token.text, f"is not known; {meant}there are {known}")
    return Is(cast(Standing, word))


def _type(token: _Token, value: Sequence[str]) -> OfType:
    return OfType(_named(token, value, "note:Basic or note:Cloze"))


def _template(token: _Token, value: Sequence[str]) -> OfTemplate:
    digits = "".join(value)
    if re.fullmatch(r"[1-9][0-9]{0,3}", digits):
        return OfTemplate(int(digits))
    return OfTemplate(_named(token, value, 'card:1 or card:"Card 1"'))


_NUMBER = r"-?[0-9]{1,6}(?:\.[0-9]{1,6})?"
_PROPERTY = re.compile(rf"(?P<name>[a-z]+)(?P<operator><=|>=|!=|=|<|>)(?P<value>{_NUMBER})", re.IGNORECASE)
_WHOLE = frozenset({"ivl", "due", "lapses", "reps"})
_COMPUTED: Mapping[str, str] = {
    "r": "asks for retrievability, which changes by the minute and is not stored; use prop:s (stability), or "
    "predict-retention",
    "ease": "asks for the ease of an older scheduler; use prop:d (difficulty, 1 to 10)",
    "pos": "asks for the position of new cards; use is:new and sort by position",
}


def _property(token: _Token, value: Sequence[str]) -> Property:
    text = "".join(value)
    match = _PROPERTY.fullmatch(text)
    name = match["name"].lower() if match else ""
    for unknown, why in _COMPUTED.items():
        if re.match(rf"{unknown}\b", text, re.IGNORECASE):
            _refuse_at(token.place, token.text, why)
    if not match or name not in get_args(Measure):
        known = ", ".join(get_args(Measure))
        _refuse_at(token.place, token.text, f"is no comparison; write for example prop:ivl>=10, with one of {known}")
    number = float(match["value"])
    if name in _WHOLE and not number.is_integer():
        _refuse_at(token.place, token.text, f"compares with {match['value']}; {name} is a whole number")
    if name == "d" and not 1 <= number <= 10:  # noqa: PLR2004
        _refuse_at(token.place, token.text, _about_difficulty(number))
    return Property(cast(Measure, name), cast(Operator, match["operator"]), number)


def _about_difficulty(number: float) -> str:
    anki = f"; {number:g} in Anki is {1 + 9 * number:g} here" if 0 <= number <= 1 else ""
    return f"compares with {number:g}; difficulty goes from 1 to 10, as get-card shows it{anki}"


_GRADES: Mapping[str, int] = {**RATINGS, **{str(number): number for number in RATINGS.values()}}
_DAYS = re.compile(r"[1-9][0-9]{0,4}")


def _within(event: Event) -> Callable[[_Token, Sequence[str]], Within]:
    def read(token: _Token, value: Sequence[str]) -> Within:
        days, colon, grade = "".join(value).lower().partition(":")
        if not _DAYS.fullmatch(days) or (colon and event != "rated"):
            _refuse_at(token.place, token.text, f"needs a number of days from 1, such as {event}:7")
        rating = _GRADES.get(grade)
        if colon and not rating:
            _refuse_at(token.place, token.text, "needs a grade from 1 (again) to 4 (easy), such as rated:7:1")
        return Within(event, int(days), rating)

    return read


def _with_id(kind: type[NumberedId], key: str) -> Callable[[_Token, Sequence[str]], WithId]:
    form = re.compile(rf"(?:{kind.prefix}_)?([1-9][0-9]{{0,17}})", re.IGNORECASE)

    def read(token: _Token, value: Sequence[str]) -> WithId:
        given = [form.fullmatch(part) for part in "".join(value).split(",")]
        if None in given:
            example = f"{key}:{kind.prefix}_1 or {key}:{kind.prefix}_1,{kind.prefix}_2"
            _refuse_at(token.place, token.text, f"needs one or more ids, such as {example}")
        return WithId(kind, tuple(int(match[1]) for match in given if match))

    return read


_KEYS: Mapping[str, Callable[[_Token, Sequence[str]], Term]] = {
    "deck": _deck,
    "tag": _tag,
    "is": _standing,
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
}


# --- refusing ----------------------------------------------------------------------------------------------

_LONGEST_QUOTE = 60


def _refuse_at(place: int, text: str, why: str) -> NoReturn:
    quote = text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "..."
    _refuse(f"The query cannot be read at character {place + 1}: '{quote}' {why}.")


def _refuse(error: str) -> NoReturn:
    raise InvalidArguments(error, fields=("query",))
