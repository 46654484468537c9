"""A query as SQL: a tree becomes a condition on cards, and on their notes. The same on SQLite and PostgreSQL.

Every condition is true or false, never NULL, so that `-` finds exactly what its term does not.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from mcp_core import InvalidArguments
from mcp_noema.model import LEECH, SEPARATOR, CardId, Deck, DeckId, NoteId, NoteType, NumberedId, Preferences, State
from mcp_noema.query_tree import (
    All,
    AnyOf,
    Everything,
    InDeck,
    InField,
    Is,
    Not,
    OfTemplate,
    OfType,
    Operator,
    Pattern,
    Property,
    Tagged,
    Term,
    Tree,
    WithId,
    Within,
    Words,
    terms,
)
from mcp_noema.repositories import Person
from mcp_noema.store import decks, queues
from mcp_noema.store.rows import NOTE_TYPE, note_type_of
from mcp_noema.store.tables import LEARNING, REVIEW, SUSPENDED, cards, note_types, notes, reviews, undone

Condition = ColumnElement[bool]

DAY_S = 86_400
FURTHEST = 36_500
"""Days: a hundred years are as good as more."""
_ABOUT_NOTES = (Words, InField, Tagged, OfType, OfTemplate)


@dataclass(frozen=True, slots=True)
class Scope:
    """Who searches, when, and what the names in a query can mean."""

    person: Person
    now: datetime
    decks: Mapping[str, Deck]
    types: Sequence[NoteType]

    def morning(self, days: int) -> datetime:
        """When the learning day begins that is so many days from today."""
        return morning(self.person.preferences, self.now, days)


def morning(preferences: Preferences, now: datetime, days: int) -> datetime:
    """When the learning day begins that is so many days from today."""
    # From noon to noon: a day with a change of the clock is an hour longer or shorter.
    noon = timedelta(days=max(-FURTHEST, min(days, FURTHEST)), hours=12)
    return preferences.day_of(preferences.day_of(now).begins + noon).begins


def scope_of(connection: Connection, person: Person, tree: Tree, now: datetime) -> Scope:
    """With no more than the query speaks of."""
    used = {type(term) for term in terms(tree)}
    known = decks.by_name(connection, person.id) if InDeck in used else {}
    types: list[NoteType] = []
    if used & {InField, OfType, OfTemplate}:
        mine = sa.select(*NOTE_TYPE).where(note_types.c.user_id == person.id)
        types = [note_type_of(row) for row in connection.execute(mine)]
    return Scope(person, now, known, types)


def found(tree: Tree, scope: Scope, *columns: Any) -> Any:
    """A selection from the user's cards that the query finds. `notes` is joined where the query needs it."""
    of_notes = any(isinstance(term, _ABOUT_NOTES) or term in _LEECHES for term in terms(tree))
    source = cards.join(notes, notes.c.id == cards.c.note_id) if of_notes else cards
    mine = cards.c.user_id == scope.person.id
    return sa.select(*columns).select_from(source).where(mine, condition(tree, scope))


def condition(tree: Tree, scope: Scope) -> Condition:
    """What holds for the cards that a tree finds."""
    match tree:
        case Everything():
            return sa.true()
        case All(parts):
            return sa.and_(*(condition(part, scope) for part in parts))
        case AnyOf(parts):
            return sa.or_(*(condition(part, scope) for part in parts))
        case Not(part):
            return sa.not_(condition(part, scope))
        case _:
            return _TERMS[type(tree)](tree, scope)


# --- text --------------------------------------------------------------------------------------------------

_WHITE = re.compile(r"\s+")


def _like(column: ColumnElement[str], pattern: Pattern, around: str = "") -> Condition:
    """In the text of a note, which has one space where a field may have more."""
    return column.like(f"{around}{_WHITE.sub(' ', pattern.like())}{around}", escape="\\")


def _words(term: Words, _: Scope) -> Condition:
    return _like(notes.c.text, term.pattern, "%")


class line_of(GenericFunction[str]):  # noqa: N801 - a function of SQL
    """A line of a text, counted from 1; without such a line, an empty one."""

    type = sa.Text()
    inherit_cache = True


@compiles(line_of)
def _split(element: line_of, compiler: Any, **options: Any) -> str:
    text, number = element.clauses
    return compiler.process(sa.func.split_part(text, "\n", number), **options)


@compiles(line_of, "sqlite")
def _extract(element: line_of, compiler: Any, **options: Any) -> str:
    """SQLite cannot split, but it reads JSON, and a list of lines is easily written as such."""
    text, number = element.clauses
    quoted = sa.func.replace(sa.func.replace(text, "\\", "\\\\"), '"', '\\"')
    listed = sa.literal('["').concat(sa.func.replace(quoted, "\n", '","')).concat('"]')
    path = sa.literal("$[").concat(sa.cast(number - 1, sa.Text)).concat("]")
    return compiler.process(sa.func.coalesce(sa.func.json_extract(listed, path), ""), **options)


def _in_field(term: InField, scope: Scope) -> Condition:
    places: dict[int, list[int]] = {}
    for each in scope.types:
        for place, name in enumerate(each.fields):
            if term.field.matches(name):
                places.setdefault(place, []).append(each.id)
    if not places:
        names = {name for each in scope.types for name in each.fields}
        _unknown(term.field, names, "field", f"Write {_escaped(term)} if the colon is part of the words.")
    fits = (
        sa.and_(_one_of(notes.c.type_id, ids), _like(line_of(notes.c.text, place + 1), term.pattern))
        for place, ids in places.items()
    )
    # What is nowhere in the text is in no line of it, and that is found out faster.
    return sa.and_(_like(notes.c.text, term.pattern, "%"), sa.or_(*fits, sa.false()))


def _escaped(term: InField) -> str:
    return str(Words(Pattern((*term.field.parts, ":", *term.pattern.parts))))


def _tagged(term: Tagged, _: Scope) -> Condition:
    if term.tag is None:
        return notes.c.tags == ""
    folded = sa.func.lower(notes.c.tags)
    if not term.tag.is_open and term.tag.is_ascii:
        ends = (" ", SEPARATOR)
        return sa.or_(*(folded.like(f"% {term.tag.like()}{end}%", escape="\\") for end in ends))
    exact = notes.c.tags.regexp_match(f" {term.tag.expression('[^ ]', _any_case)}({SEPARATOR}[^ ]*)? ")
    # Most notes can be told apart without a regular expression, which SQLite leaves to Python.
    return sa.and_(folded.like(f"%{term.tag.like()}%", escape="\\"), exact) if term.tag.is_ascii else exact


def _any_case(text: str) -> str:
    """A regular expression for a text in upper or lower case, whatever the database knows about letters."""
    return "".join(_letter(letter) for letter in text)


def _letter(letter: str) -> str:
    forms = sorted({letter, letter.lower(), letter.upper(), letter.casefold()})
    if len(forms) > 1:
        return f"({'|'.join(forms)})"
    return letter if letter.isalnum() or not letter.isascii() else f"\\{letter}"


# --- names -------------------------------------------------------------------------------------------------


def _in_deck(term: InDeck, scope: Scope) -> Condition:
    inside = [
        deck.id for deck in scope.decks.values() if any(term.name.matches(name) for name in (deck.name, *deck.above))
    ]
    if not inside:
        _unknown(term.name, {deck.name for deck in scope.decks.values()}, "deck", "list-decks shows all.")
    return _one_of(cards.c.deck_id, inside)


def _of_type(term: OfType, scope: Scope) -> Condition:
    ids = [each.id for each in scope.types if term.name.matches(each.name)]
    if not ids:
        _unknown(term.name, {each.name for each in scope.types}, "note type", "Use one that is there.")
    return _one_of(notes.c.type_id, ids)


def _of_template(term: OfTemplate, scope: Scope) -> Condition:
    if isinstance(term.template, int):
        return cards.c.ordinal == term.template - 1
    fits: list[Condition] = []
    for each in scope.types:
        places = [place for place, made in enumerate(each.templates) if term.template.matches(made.name)]
        if places:
            # All cards of a cloze note are made by its one template.
            places_fit = sa.true() if each.is_cloze else _one_of(cards.c.ordinal, places)
            fits.append(sa.and_(notes.c.type_id == each.id, places_fit))
    if not fits:
        names = {made.name for each in scope.types for made in each.templates}
        _unknown(term.template, names, "card template", "A number does too, such as card:1.")
    return sa.or_(*fits, sa.false())


def _unknown(wanted: Pattern, names: set[str], what: str, fix: str) -> None:
    """A name that nothing has is a mistake, and `-` would turn it into everything. A pattern may well find nothing."""
    if wanted.is_open:
        return
    name = "".join(map(str, wanted.parts))
    known = {each.casefold(): each for each in names}
    ends = [each for key, each in known.items() if key.endswith(SEPARATOR + name.casefold())]
    near = ends[:3] or [known[key] for key in get_close_matches(name.casefold(), known, 3)] or sorted(names)[:10]
    meant = f" There is {', '.join(map(repr, near))}." if near else ""
    raise InvalidArguments(f"query: there is no {what} {name!r}.{meant} {fix}", fields=("query",))


def _one_of(column: ColumnElement[int], numbers: Iterable[int]) -> Condition:
    """Numbers stand in the statement themselves: there may be more of them than a statement takes arguments."""
    return column.in_(sa.bindparam(None, list(numbers), sa.BigInteger, expanding=True, literal_execute=True))


def _with_id(term: WithId, _: Scope) -> Condition:
    columns: Mapping[type[NumberedId], ColumnElement[int]] = {
        CardId: cards.c.id,
        NoteId: cards.c.note_id,
        DeckId: cards.c.deck_id,
    }
    return _one_of(columns[term.kind], term.numbers)


# --- how cards stand ---------------------------------------------------------------------------------------

_LEECHES = (Is("leech"),)


def _is(term: Is, scope: Scope) -> Condition:
    state, queue, due = cards.c.state, cards.c.queue, cards.c.due
    match term.standing:
        case "new":
            return state == State.NEW
        case "learn":
            return state.in_([State.LEARNING, State.RELEARNING])
        case "review":
            return state.in_([State.REVIEW, State.RELEARNING])
        case "due":
            waits = sa.or_(
                sa.and_(queue == REVIEW, due < scope.morning(1)), sa.and_(queue == LEARNING, due <= scope.now)
            )
            return sa.and_(due.is_not(None), waits, queues.available(scope.now))
        case "suspended":
            return queue == SUSPENDED
        case "buried":
            return sa.and_(queue != SUSPENDED, sa.not_(queues.available(scope.now)))
        case "leech":
            return notes.c.tags.like(f"% {LEECH} %")


class seconds_between(GenericFunction[int]):  # noqa: N801 - a function of SQL
    """From one moment to a later one."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(seconds_between)
def _epoch(element: seconds_between, compiler: Any, **options: Any) -> str:
    earlier, later = element.clauses
    return f"extract(epoch from {compiler.process(later, **options)} - {compiler.process(earlier, **options)})"


@compiles(seconds_between, "sqlite")
def _unix(element: seconds_between, compiler: Any, **options: Any) -> str:
    earlier, later = (compiler.process(each, **options) for each in element.clauses)
    return f"(strftime('%s', {later}) - strftime('%s', {earlier}))"


_COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_COLUMNS = {"lapses": cards.c.lapses, "reps": cards.c.reps, "s": cards.c.stability, "d": cards.c.difficulty}


def _property(term: Property, scope: Scope) -> Condition:
    if term.measure == "ivl":
        # The day whose middle it is. A card without an interval has one of 0 days.
        interval = sa.func.coalesce(seconds_between(cards.c.last_review, cards.c.due), 0)
        middle = int(term.value) * DAY_S
        return _ranged(interval, term.operator, middle - DAY_S // 2, middle + DAY_S // 2)
    if term.measure == "due":
        day = int(term.value)
        compared = _ranged(cards.c.due, term.operator, scope.morning(day), scope.morning(day + 1))
        return sa.and_(cards.c.due.is_not(None), compared)
    column = _COLUMNS[term.measure]
    value = term.value if term.measure in ("s", "d") else int(term.value)
    return sa.and_(column.is_not(None), _COMPARE[term.operator](column, value))


def _ranged(column: ColumnElement[Any], compared: Operator, first: Any, after: Any) -> Condition:
    """A comparison with something that lasts from `first` to just before `after`."""
    match compared:
        case "=":
            return sa.and_(column >= first, column < after)
        case "!=":
            return sa.or_(column < first, column >= after)
        case "<":
            return column < first
        case "<=":
            return column < after
        case ">":
            return column >= after
        case ">=":
            return column >= first


# --- what happened to cards --------------------------------------------------------------------------------


def _within(term: Within, scope: Scope) -> Condition:
    since = scope.morning(1 - term.days)
    match term.event:
        case "added":
            return cards.c.created_at >= since
        case "edited":
            edited = sa.select(notes.c.id).where(notes.c.user_id == scope.person.id, notes.c.modified_at >= since)
            return cards.c.note_id.in_(edited)
        case "rated":
            rating = reviews.c.rating == term.rating if term.rating else reviews.c.rating > 0
            return cards.c.id.in_(_answers(scope, reviews.c.reviewed_at >= since, rating))
        case "introduced":
            before = sa.and_(reviews.c.card_id == cards.c.id, reviews.c.reviewed_at < since)
            lately = _answers(scope, reviews.c.reviewed_at >= since, reviews.c.rating > 0)
            return sa.and_(cards.c.id.in_(lately), ~_answers(scope, before, reviews.c.rating > 0).exists())


def _answers(scope: Scope, *conditions: Condition) -> sa.Select[Any]:
    """The cards of answers that were not taken back."""
    taken_back = sa.exists().where(undone.c.review_id == reviews.c.id)
    return sa.select(reviews.c.card_id).where(reviews.c.user_id == scope.person.id, *conditions, ~taken_back)


_TERMS: Mapping[type[Term], Callable[[Any, Scope], Condition]] = {
    Words: _words,
    InField: _in_field,
    Tagged: _tagged,
    InDeck: _in_deck,
    OfType: _of_type,
    OfTemplate: _of_template,
    WithId: _with_id,
    Is: _is,
    Property: _property,
    Within: _within,
}
