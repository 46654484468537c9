"""The decks, note types and calendar of a collection. schema11 and schema15 read them from its two forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from mcp_noema.anki.deck_options import ANKI_DEFAULTS, DeckLimits, DeckOptions, deck_preset
from mcp_noema.anki.package import BadPackage, CollectionCalendar, PackageDeck, damaged
from mcp_noema.model import MAX_NAME_LENGTH, SEPARATOR, NoteType

MAX_TEMPLATE_LENGTH = 200_000
_MAX_UTC_OFFSET_MINUTES = 23 * 60
FIRST_TIME, LAST_TIME = datetime(1800, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
"""Times outside of these are not valid. Within them, time zones and intervals can be added."""
_MAX_TIMESTAMP = LAST_TIME.timestamp()


@dataclass(frozen=True, slots=True)
class AnkiCollection:
    """The objects that cards and notes refer to, by Anki's ids."""

    decks: Mapping[int, "AnkiDeck"]
    note_types: Mapping[int, NoteType]
    calendar: CollectionCalendar


@dataclass(frozen=True, slots=True)
class AnkiDeck:
    """A deck with the options of its cards. A filtered deck only borrows cards from other decks."""

    deck: PackageDeck
    options: DeckOptions
    is_filtered: bool = False


def normal_deck(name: str, description: str, options: DeckOptions, limits: DeckLimits) -> AnkiDeck:
    preset, other = deck_preset(options, limits), ANKI_DEFAULTS if options.is_untouched else options.anki_only
    return AnkiDeck(PackageDeck(_deck_name(name), description, preset, other), options)


def filtered_deck(name: str) -> AnkiDeck:
    return AnkiDeck(PackageDeck(_deck_name(name)), DeckOptions(), is_filtered=True)


def _deck_name(name: str) -> str:
    """A deck's path with our separator and without empty parts."""
    parts = [part.strip() or "blank" for part in name.replace("\x1f", SEPARATOR).split(SEPARATOR)]
    if len(path := SEPARATOR.join(parts)) > MAX_NAME_LENGTH:
        raise BadPackage(
            f"The deck {path[:50]!r}... has a name of {len(path)} characters; at most {MAX_NAME_LENGTH} are allowed. "
            "Shorten it in Anki and export it again."
        )
    return path


def check_note_type(note_type: NoteType) -> NoteType:
    """Check that names and templates are not too long: searches and cards read them each time."""
    names = (note_type.name, *note_type.fields, *(template.name for template in note_type.templates))
    if name := next((name for name in names if len(name) > MAX_NAME_LENGTH), None):
        raise BadPackage(
            f"The note type {note_type.name[:50]!r} has the name {name[:50]!r}... of {len(name):,} characters; at most "
            f"{MAX_NAME_LENGTH} are allowed. Shorten it in Anki and export it again."
        )
    longest = max((len(side) for each in note_type.templates for side in (each.front, each.back)), default=0)
    if longest > MAX_TEMPLATE_LENGTH:
        raise BadPackage(
            f"The note type {note_type.name[:50]!r} has a template of {longest:,} characters; at most "
            f"{MAX_TEMPLATE_LENGTH:,} are allowed. Shorten it in Anki and export it again."
        )
    return note_type


def parse_timestamp(seconds: float) -> datetime:
    """A time from a file, in UTC."""
    if not 0 <= seconds <= _MAX_TIMESTAMP:
        raise damaged(f"The file has the time {seconds:.0f} (seconds since 1970), which is not valid.")
    return datetime.fromtimestamp(seconds, UTC)


def parse_calendar(created: int, minutes_west: int | None, start_hour: int) -> CollectionCalendar:
    """The calendar of a collection. Day 0 is the day it was created, in a time zone `minutes_west` of UTC.

    Old collections have no time zone. Their creation time is the start of their first day.
    """
    created_at = parse_timestamp(created)
    if minutes_west is None:
        return CollectionCalendar(created_at.date(), UTC, created_at.hour)
    minutes_west = min(max(minutes_west, -_MAX_UTC_OFFSET_MINUTES), _MAX_UTC_OFFSET_MINUTES)
    zone = timezone(timedelta(minutes=-minutes_west)) if minutes_west else UTC
    return CollectionCalendar(created_at.astimezone(zone).date(), zone, start_hour)
