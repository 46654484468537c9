"""What a collection says about itself: its decks, note types and days, whichever way it says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from mcp_noema.anki.archive import AGAIN
from mcp_noema.anki.deck_options import Options, as_preset, with_limits
from mcp_noema.anki.package import BadPackage, DayCount, PackedDeck
from mcp_noema.model import LONGEST_NAME, SEPARATOR, NoteType

_FURTHEST_WEST = 23 * 60
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""


@dataclass(frozen=True, slots=True)
class Described:
    """What cards and notes refer to, by the ids that Anki gave them."""

    decks: Mapping[int, "AnkiDeck"]
    types: Mapping[int, NoteType]
    days: DayCount


@dataclass(frozen=True, slots=True)
class AnkiDeck:
    """A deck with the options that hold for its cards. A filtered one only borrows cards."""

    packed: PackedDeck
    options: Options
    is_filtered: bool = False


@dataclass(frozen=True, slots=True)
class OwnLimits:
    """What one deck sets besides its options."""

    new: int | None = None
    reviews: int | None = None
    retention: float | None = None


def deck(name: str, description: str, options: Options, own: OwnLimits) -> AnkiDeck:
    """A deck that cards live in."""
    preset = None if options.is_untouched else as_preset(options)
    preset = with_limits(preset, own.new, own.reviews, own.retention)
    return AnkiDeck(PackedDeck(named(name), description, preset), options)


def filtered_deck(name: str) -> AnkiDeck:
    """A deck that cards visit."""
    return AnkiDeck(PackedDeck(named(name)), Options(), is_filtered=True)


def named(name: str) -> str:
    """A deck's name as we write it: no part is empty."""
    parts = [part.strip() or "blank" for part in name.replace("\x1f", SEPARATOR).split(SEPARATOR)]
    if len(whole := SEPARATOR.join(parts)) > LONGEST_NAME:
        raise BadPackage(
            f"The deck {whole[:50]!r}... has a name of {len(whole)} characters, and {LONGEST_NAME} are the most. "
            "Shorten it in Anki and export again."
        )
    return whole


def moment(seconds: float) -> datetime:
    """A moment in a file."""
    if not 0 <= seconds <= _LAST_SECOND:
        raise BadPackage(f"The file speaks of {seconds:.0f} seconds after 1970, which no clock shows. {AGAIN}")
    return datetime.fromtimestamp(seconds, UTC)


def days(created: int, west: int | None, hour: int) -> DayCount:
    """Day 0 is the day on which the collection was made, by the clock there: it is `west` minutes behind UTC.

    Old collections do not say where that was. Theirs is the moment at which their first day began.
    """
    began = moment(created)
    if west is None:
        return DayCount(began.date(), UTC, began.hour)
    west = min(max(west, -_FURTHEST_WEST), _FURTHEST_WEST)
    zone = timezone(timedelta(minutes=-west)) if west else UTC
    return DayCount(began.astimezone(zone).date(), zone, hour)
