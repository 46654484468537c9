"""Search queries as SQL: a query tree becomes a condition on cards and notes, for SQLite and PostgreSQL.

Every condition is true or false, never NULL, so that `-` matches exactly the cards that its term does not.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from mcp_noema.model import LEECH, SEPARATOR, CardId, CardState, Deck, DeckId, NoteId, NoteType, NumberedId
from mcp_noema.query.tree import (
    All,
    AnyOf,
    Everything,
    Excluding,
    Flagged,
    InDeck,
    InField,
    Is,
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
from mcp_noema.records import Owner
from mcp_noema.store import decks
from mcp_noema.store.conditions import DAY_SECONDS, NOT_UNDONE, not_buried, one_of, seconds_between
from mcp_noema.store.row_mapping import NOTE_TYPE_COLUMNS, to_note_type
from mcp_noema.store.tables import LEARNING, REVIEW, SUSPENDED, cards, note_tags, note_types, notes, reviews, tags
from toolcharter import InvalidArguments

Condition = ColumnElement[bool]

_MAX_COMPARED_NAMES = 2_000
"""How many names are compared with one that does not exist, to suggest a similar one."""
_NOTE_TERMS = (Words, InField, OfType, OfTemplate)
_UNTAGGED = Tagged(None)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """The user, the time, and the decks and note types that the query may name."""

    user: Owner
    now: datetime
    decks: Mapping[str, Deck]
    note_types: Sequence[NoteType]

    def day_start(self, days: int) -> datetime:
        """When the learning day begins that is this many days after today."""
        return self.user.preferences.day_start(self.now, days)


def load_context(connection: Connection, user: Owner, tree: Tree, now: datetime) -> SearchContext:
    """The context, with decks and note types only if the query names some."""
    used = {type(term) for term in terms(tree)}
    user_decks = decks.by_name(connection, user.id) if InDeck in used else {}
    user_types: list[NoteType] = []
    if used & {InField, OfType, OfTemplate}:
        query = sa.select(*NOTE_TYPE_COLUMNS).where(note_types.c.user_id == user.id)
        user_types = [to_note_type(row) for row in connection.execute(query)]
    return SearchContext(user, now, user_decks, user_types)


def select_matches(tree: Tree, context: SearchContext, *columns: Any) -> Any:
    """A SELECT of the user's cards that match the query. `notes` is joined if the query needs it."""
    needs_notes = any(isinstance(term, _NOTE_TERMS) or term == _UNTAGGED for term in terms(tree))
    source = cards.join(notes, notes.c.id == cards.c.note_id) if needs_notes else cards
    is_owned = cards.c.user_id == context.user.id
    return sa.select(*columns).select_from(source).where(is_owned, _condition(tree, context))


def _condition(tree: Tree, context: SearchContext) -> Condition:
    match tree:
        case Everything():
            return sa.true()
        case All(parts):
            return sa.and_(*(_condition(part, context) for part in parts))
        case AnyOf(parts):
            return sa.or_(*(_condition(part, context) for part in parts))
        case Excluding(part):
            return sa.not_(_condition(part, context))
        case _:
            return _TERM_CONDITIONS[type(tree)](tree, context)


# --- text --------------------------------------------------------------------------------------------------

_WHITE_SPACE = re.compile(r"\s+")


def _like(column: ColumnElement[str], pattern: Pattern, around: str = "") -> Condition:
    """Text is stored with single spaces, so those of the pattern are reduced too."""
    return column.like(f"{around}{_WHITE_SPACE.sub(' ', pattern.like())}{around}", escape="\\")


def _words(term: Words, _: SearchContext) -> Condition:
    return _like(notes.c.text, term.pattern, "%")


class line_of(GenericFunction[str]):  # noqa: N801 - an SQL function
    """The nth line of a text, from 1; empty if there is no such line."""

    type = sa.Text()
    inherit_cache = True


@compiles(line_of)
def _line_of_postgresql(element: line_of, compiler: Any, **options: Any) -> str:
    text, number = element.clauses
    return compiler.process(sa.func.split_part(text, "\n", number), **options)


@compiles(line_of, "sqlite")
def _line_of_sqlite(element: line_of, compiler: Any, **options: Any) -> str:
    """SQLite cannot split a text, so the lines are written as a JSON array and extracted from it."""
    text, number = element.clauses
    quoted = sa.func.replace(sa.func.replace(text, "\\", "\\\\"), '"', '\\"')
    array = sa.literal('["').concat(sa.func.replace(quoted, "\n", '","')).concat('"]')
    path = sa.literal("$[").concat(sa.cast(number - 1, sa.Text)).concat("]")
    return compiler.process(sa.func.coalesce(sa.func.json_extract(array, path), ""), **options)


def _in_field(term: InField, context: SearchContext) -> Condition:
    types_by_index: dict[int, list[int]] = {}
    for note_type in context.note_types:
        for index, name in enumerate(note_type.fields):
            if term.field.matches(name):
                types_by_index.setdefault(index, []).append(note_type.id)
    if not types_by_index:
        names = {name for note_type in context.note_types for name in note_type.fields}
        _check_name(term.field, names, "field", f"Write {_as_words(term)} if the colon is part of the words.")
    in_line = (
        sa.and_(one_of(notes.c.type_id, ids), _like(line_of(notes.c.text, index + 1), term.pattern))
        for index, ids in types_by_index.items()
    )
    # The whole text is checked first, because that is faster than to extract a line.
    return sa.and_(_like(notes.c.text, term.pattern, "%"), sa.or_(*in_line, sa.false()))


def _as_words(term: InField) -> str:
    return str(Words(Pattern((*term.field.parts, ":", *term.pattern.parts))))


class matches_expression(GenericFunction[bool]):  # noqa: N801 - an SQL function
    """Whether a text contains a match of a regular expression, written for PostgreSQL and for Python."""

    type = sa.Boolean()
    inherit_cache = True


@compiles(matches_expression)
def _matches_postgresql(element: matches_expression, compiler: Any, **options: Any) -> str:
    text, in_postgresql, _ = element.clauses
    return compiler.process(text.regexp_match(in_postgresql), **options)


@compiles(matches_expression, "sqlite")
def _matches_sqlite(element: matches_expression, compiler: Any, **options: Any) -> str:
    text, _, in_python = element.clauses
    return compiler.process(text.regexp_match(in_python), **options)


def _tagged(term: Tagged, context: SearchContext) -> Condition:
    if term.tag is None:
        return notes.c.tags == ""
    return _has_tag(_tag_matches(term.tag), context)


def _has_tag(condition: Condition, context: SearchContext) -> Condition:
    """The notes with a tag that meets the condition. A user has few tags, compared with notes."""
    ids = sa.select(note_tags.c.note_id).join_from(note_tags, tags, tags.c.id == note_tags.c.tag_id)
    return cards.c.note_id.in_(ids.where(tags.c.user_id == context.user.id, condition))


def _tag_matches(tag: Pattern) -> Condition:
    """The tags that match, with their subtags."""
    text = sa.literal(" ").concat(tags.c.name).concat(" ")
    folded = sa.func.lower(text)
    if not tag.has_wildcards and tag.is_ascii:
        ends = (" ", SEPARATOR)
        return sa.or_(*(folded.like(f"% {tag.like()}{end}%", escape="\\") for end in ends))
    end = f"({SEPARATOR}[^ ]*)? "
    in_postgresql, in_python = (
        f" {expression('[^ ]', _ignoring_case)}{end}" for expression in (tag.expression, tag.atomic_expression)
    )
    exact = matches_expression(text, in_postgresql, in_python)
    # LIKE excludes most tags first: SQLite runs regular expressions in Python.
    return sa.and_(folded.like(f"%{tag.like()}%", escape="\\"), exact) if tag.is_ascii else exact


def _ignoring_case(text: str) -> str:
    """A regular expression that ignores case, independent of the locale of the database."""
    return "".join(_character_ignoring_case(character) for character in text)


def _character_ignoring_case(character: str) -> str:
    forms = sorted({character, character.lower(), character.upper(), character.casefold()})
    if len(forms) > 1:
        return f"({'|'.join(forms)})"
    return character if character.isalnum() or not character.isascii() else f"\\{character}"


# --- names -------------------------------------------------------------------------------------------------


def _in_deck(term: InDeck, context: SearchContext) -> Condition:
    ids = [
        deck.id
        for deck in context.decks.values()
        if any(term.name.matches(name) for name in (deck.name, *deck.parent_names))
    ]
    if not ids:
        _check_name(term.name, {deck.name for deck in context.decks.values()}, "deck", "list-decks shows all decks.")
    return one_of(cards.c.deck_id, ids)


def _of_type(term: OfType, context: SearchContext) -> Condition:
    ids = [note_type.id for note_type in context.note_types if term.name.matches(note_type.name)]
    if not ids:
        names = {note_type.name for note_type in context.note_types}
        _check_name(term.name, names, "note type", "Use an existing note type.")
    return one_of(notes.c.type_id, ids)


def _of_template(term: OfTemplate, context: SearchContext) -> Condition:
    if isinstance(term.template, int):
        return cards.c.ordinal == term.template - 1
    of_types: list[Condition] = []
    for note_type in context.note_types:
        indexes = [index for index, template in enumerate(note_type.templates) if term.template.matches(template.name)]
        if indexes:
            # All cards of a cloze note are made by its one template.
            of_ordinals = sa.true() if note_type.is_cloze else one_of(cards.c.ordinal, indexes)
            of_types.append(sa.and_(notes.c.type_id == note_type.id, of_ordinals))
    if not of_types:
        names = {template.name for note_type in context.note_types for template in note_type.templates}
        _check_name(term.template, names, "card template", "You can also use its number, such as card:1.")
    return sa.or_(*of_types, sa.false())


def _check_name(pattern: Pattern, names: set[str], what: str, fix: str) -> None:
    """Refuse a name that does not exist: with `-`, it would match everything. A wildcard may match nothing."""
    if pattern.has_wildcards:
        return
    name = "".join(map(str, pattern.parts))
    by_key = {existing.casefold(): existing for existing in sorted(names)[:_MAX_COMPARED_NAMES]}
    subdecks = [existing for key, existing in by_key.items() if key.endswith(SEPARATOR + name.casefold())]
    similar = subdecks[:3] or [by_key[key] for key in get_close_matches(name.casefold(), by_key, 3)]
    if similar:
        hint = f" Did you mean {' or '.join(map(repr, similar))}?"
    else:
        hint = f" Existing {what}s: {', '.join(map(repr, sorted(names)[:10]))}." if names else ""
    raise InvalidArguments(f"query: no {what} is named {name!r}.{hint} {fix}", fields=("query",))


def _with_id(term: WithId, _: SearchContext) -> Condition:
    columns: Mapping[type[NumberedId], ColumnElement[int]] = {
        CardId: cards.c.id,
        NoteId: cards.c.note_id,
        DeckId: cards.c.deck_id,
    }
    return one_of(columns[term.kind], term.numbers)


# --- states and properties ---------------------------------------------------------------------------------


def _is(term: Is, context: SearchContext) -> Condition:
    state, queue, due = cards.c.state, cards.c.queue, cards.c.due
    match term.status:
        case "new":
            return state == CardState.NEW
        case "learn":
            return state.in_([CardState.LEARNING, CardState.RELEARNING])
        case "review":
            return state.in_([CardState.REVIEW, CardState.RELEARNING])
        case "due":
            is_due = sa.or_(
                sa.and_(queue == REVIEW, due < context.day_start(1)), sa.and_(queue == LEARNING, due <= context.now)
            )
            return sa.and_(due.is_not(None), is_due, not_buried(context.now))
        case "suspended":
            return queue == SUSPENDED
        case "buried":
            return sa.and_(queue != SUSPENDED, sa.not_(not_buried(context.now)))
        case "leech":
            return _has_tag(tags.c.name.like(LEECH), context)


_COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_COLUMNS = {"lapses": cards.c.lapses, "reps": cards.c.reps, "s": cards.c.stability, "d": cards.c.difficulty}


def _property(term: Property, context: SearchContext) -> Condition:
    if term.measure == "ivl":
        # Rounded to days. A card without an interval has one of 0 days.
        interval = sa.func.coalesce(seconds_between(cards.c.last_review, cards.c.due), 0)
        seconds = int(term.value) * DAY_SECONDS
        return _compare_range(interval, term.operator, seconds - DAY_SECONDS // 2, seconds + DAY_SECONDS // 2)
    if term.measure == "due":
        day = int(term.value)
        on_day = _compare_range(cards.c.due, term.operator, context.day_start(day), context.day_start(day + 1))
        return sa.and_(cards.c.due.is_not(None), on_day)
    column = _COLUMNS[term.measure]
    value = term.value if term.measure in ("s", "d") else int(term.value)
    return sa.and_(column.is_not(None), _COMPARE[term.operator](column, value))


def _compare_range(column: ColumnElement[Any], comparison: Operator, start: Any, end: Any) -> Condition:
    """A comparison with the range from `start` to just before `end`."""
    match comparison:
        case "=":
            return sa.and_(column >= start, column < end)
        case "!=":
            return sa.or_(column < start, column >= end)
        case "<":
            return column < start
        case "<=":
            return column < end
        case ">":
            return column >= end
        case ">=":
            return column >= start


# --- events ------------------------------------------------------------------------------------------------


def _within(term: Within, context: SearchContext) -> Condition:
    since = context.day_start(1 - term.days)
    match term.event:
        case "added":
            return cards.c.created_at >= since
        case "edited":
            edited = sa.select(notes.c.id).where(notes.c.user_id == context.user.id, notes.c.modified_at >= since)
            return cards.c.note_id.in_(edited)
        case "rated":
            rating = reviews.c.rating == term.rating if term.rating else reviews.c.rating > 0
            return cards.c.id.in_(_reviewed_cards(context, reviews.c.reviewed_at >= since, rating))
        case "introduced":
            before = sa.and_(reviews.c.card_id == cards.c.id, reviews.c.reviewed_at < since)
            recent = _reviewed_cards(context, reviews.c.reviewed_at >= since, reviews.c.rating > 0)
            return sa.and_(cards.c.id.in_(recent), ~_reviewed_cards(context, before, reviews.c.rating > 0).exists())


def _reviewed_cards(context: SearchContext, *conditions: Condition) -> sa.Select[Any]:
    """The cards of reviews that were not undone."""
    return sa.select(reviews.c.card_id).where(reviews.c.user_id == context.user.id, *conditions, NOT_UNDONE)


def _flagged(term: Flagged, _: SearchContext) -> Condition:
    return cards.c.flag == term.flag


_TERM_CONDITIONS: Mapping[type[Term], Callable[[Any, SearchContext], Condition]] = {
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
    Flagged: _flagged,
}
