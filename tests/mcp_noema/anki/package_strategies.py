"""AnkiPackages made up: all that reading can find in a file, and writing keeps."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from mcp_noema.anki.deck_options import ANKI_DEFAULTS, AnkiOnlyOptions
from mcp_noema.anki.package import Package, PackageCard, PackageDeck, PackageLogEntry, PackageNote, PackageReview
from mcp_noema.model import BASIC, CLOZE, REVERSED, CardState, CardTemplate, NoteType, Preset, Schedule

WRITTEN = datetime(2026, 11, 16, 12, tzinfo=UTC)
_WORDS = st.text(st.characters(exclude_characters="\0\x1f", exclude_categories=["Cs"]), max_size=20)
_NAMES = st.text("abcdé 漢", min_size=1, max_size=5).map(str.strip).filter(bool)
_TAGS = st.lists(st.text("abc:é", min_size=1, max_size=5), max_size=3).map(tuple)
_ODD = NoteType("Odd", ("A", "B", "C"), (CardTemplate("1", "{{A}}", "{{B}}"),), css=".card { color: red }")
_TYPES = st.sampled_from((BASIC, REVERSED, CLOZE, _ODD))
_SECONDS = st.integers(0, 10**9).map(lambda n: datetime(2005, 1, 1, tzinfo=UTC) + timedelta(seconds=n))
_FLOATS = st.floats(0.001, 36_500, allow_nan=False)
_PRESETS = st.builds(
    Preset,
    desired_retention=st.floats(0.7, 0.99),
    learning_steps=st.lists(st.integers(1, 100_000), max_size=4).map(lambda steps: tuple(sorted(steps))),
    relearning_steps=st.lists(st.integers(1, 100_000), max_size=4).map(lambda steps: tuple(sorted(steps))),
    maximum_interval=st.integers(1, 36_500),
    new_per_day=st.integers(0, 9999),
    reviews_per_day=st.integers(0, 9999),
    leech_threshold=st.integers(1, 99),
    bury_siblings=st.booleans(),
)
_ANKI_ONLY = st.builds(
    AnkiOnlyOptions,
    leech_action=st.integers(0, 1),
    new_insert_order=st.integers(0, 1),
    new_mix=st.integers(0, 2),
    review_order=st.integers(0, 12),
    easy_days=st.just(()) | st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 6, st.just(0.25)),
    initial_ease=st.integers(1300, 9999).map(lambda n: n / 1000),
)
_ZONES = st.integers(-12 * 4, 14 * 4).map(lambda n: timezone(timedelta(minutes=15 * n)) if n else UTC)


@st.composite
def schedules(draw: st.DrawFn, steps: int) -> Schedule:
    """A review is due whole days after the last one: more than the day is not kept."""
    state = draw(st.sampled_from(CardState))
    if state is CardState.NEW:
        return Schedule()
    last_review = draw(_SECONDS)
    memory = draw(_FLOATS), draw(st.floats(1, 10))
    if state is CardState.REVIEW:
        return Schedule(state, None, *memory, last_review + timedelta(days=draw(st.integers(1, 36_500))), last_review)
    # Of a step that ends on a later day, Anki keeps the day alone.
    due = min(last_review + timedelta(seconds=draw(st.integers(1, 10**6))), WRITTEN)
    # Anki counts the steps that are left, and one always is.
    return Schedule(state, draw(st.integers(0, max(steps - 1, 0))) if steps else 0, *memory, due, last_review)


@st.composite
def packages(draw: st.DrawFn) -> Package:
    """As reading would give them: in the order of their ids, which are moments."""
    names = sorted(
        draw(st.sets(_NAMES.map(str.casefold).filter(lambda name: name != "default"), min_size=1, max_size=3))
    )
    decks = tuple(_deck(draw, name) for name in names)
    notes: list[PackageNote] = []
    cards: list[PackageCard] = []
    for place in range(draw(st.integers(0, 4))):
        kind = draw(_TYPES)
        values = tuple(draw(_WORDS) for _ in kind.fields)
        moment = WRITTEN + timedelta(seconds=place)
        notes.append(PackageNote(f"guid {place}", kind, values, draw(_TAGS), moment, draw(_SECONDS)))
        deck = draw(st.integers(0, len(decks) - 1))
        preset = decks[deck].preset or Preset()
        steps = min(len(preset.learning_steps), len(preset.relearning_steps))
        schedule = draw(schedules(steps))
        suspended, buried = draw(st.sampled_from([(False, False), (True, False), (False, True)]))
        numbers = (draw(st.integers(0, 10**6)), schedule, draw(st.integers(0, 999)), draw(st.integers(0, 99)))
        ease = 0 if schedule.state is CardState.NEW else draw(st.integers(1300, 9999))
        flag = draw(st.integers(0, 7))
        ordinal = draw(st.integers(0, 3))
        cards.append(PackageCard(place, deck, ordinal, *numbers, suspended, buried, moment, flag, ease))
    reviews = tuple(_reviews(draw, len(cards)))
    entries = tuple(_log_entries(draw, len(cards)))
    zone, hour = draw(_ZONES), draw(st.integers(0, 23))
    return Package(decks, tuple(notes), tuple(cards), reviews, WRITTEN, entries, zone=zone, day_start_hour=hour)


def _deck(draw: st.DrawFn, name: str) -> PackageDeck:
    preset = draw(st.none() | _PRESETS)
    return PackageDeck(name, draw(_WORDS), preset, draw(_ANKI_ONLY) if preset else ANKI_DEFAULTS)


def _log_entries(draw: st.DrawFn, cards: int) -> list[PackageLogEntry]:
    """Manual changes that do not make a card new, and cramming; after all answers."""
    kinds = st.sampled_from([(0, 2500, 4), (0, 2500, 5), (3, 0, 3)])
    entries: list[PackageLogEntry] = []
    for place in range(draw(st.integers(0, 3)) if cards else 0):
        rating, ease, kind = draw(kinds)
        intervals = draw(st.integers(-9999, 9999)), draw(st.integers(-9999, 9999))
        at = WRITTEN + timedelta(seconds=place + 1)
        entries.append(PackageLogEntry(draw(st.integers(0, cards - 1)), at, rating, *intervals, ease, 99, kind))
    return entries


def _reviews(draw: st.DrawFn, cards: int) -> list[PackageReview]:
    """The first of a card is of a new one, if it was learned; the others are not."""
    found: list[PackageReview] = []
    seen: set[int] = set()
    for place in range(draw(st.integers(0, 5)) if cards else 0):
        card = draw(st.integers(0, cards - 1))
        states = (
            (CardState.NEW, CardState.REVIEW)
            if card not in seen
            else (CardState.LEARNING, CardState.REVIEW, CardState.RELEARNING)
        )
        seen.add(card)
        intervals = st.integers(0, 86_399) | st.integers(1, 36_500).map(lambda days: days * 86_400)
        ease = draw(st.none() | st.integers(100, 1000) | st.integers(1300, 9999))
        is_difficulty = ease is not None and ease <= 1000
        found.append(
            PackageReview(
                card=card,
                rating=draw(st.integers(1, 4)),
                reviewed_at=WRITTEN + timedelta(milliseconds=place),
                duration_ms=draw(st.integers(0, 10**6)),
                state=draw(st.sampled_from(states)),
                interval_s=draw(intervals),
                last_interval_s=draw(intervals),
                difficulty=(ease / 1000 - 0.1) * 9 + 1 if is_difficulty else None,
                ease=None if is_difficulty else ease,
            )
        )
    return found
