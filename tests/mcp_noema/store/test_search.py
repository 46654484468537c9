"""The cards that each term of a query matches, in both databases."""

import time
from datetime import timedelta

import pytest
import pytest_asyncio

from tests.mcp_noema.learner import Learner

Found = dict[str, str]
"""Names of cards, by query."""


class Collection:
    """Cards with names. `await search("is:new")` returns the names of the matching cards, sorted."""

    def __init__(self, ana: Learner) -> None:
        self.ana = ana
        self.decks: dict[str, str] = {}
        self.cards: dict[str, str] = {}

    async def add(self, names: str, deck: str, front: str, back: str, *, kind: str = "basic", tags: str = "") -> None:
        if deck not in self.decks:
            self.decks[deck] = await self.ana.deck(deck)
        made = await self.ana(
            "create-note", deckId=self.decks[deck], front=front, back=back, kind=kind, tags=tags.split()
        )
        self.cards |= zip(names.split(), made["cardIds"], strict=True)

    async def search(self, query: str) -> str:
        found = await self.ana("search-cards", query=query, limit=100)
        names = {card_id: name for name, card_id in self.cards.items()}
        assert found["total"] == len(found["cards"])
        return " ".join(sorted(names[card["cardId"]] for card in found["cards"]))

    async def check(self, expected: Found) -> None:
        """Each query matches these cards, and its negation matches all others."""
        assert {query: await self.search(query) for query in expected} == expected
        others = {
            f"-({query})": " ".join(sorted(set(self.cards) - set(names.split()))) for query, names in expected.items()
        }
        assert {query: await self.search(query) for query in others} == others


@pytest_asyncio.fixture
async def collection(ana: Learner) -> Collection:
    filled = Collection(ana)
    await filled.add("dog", "Languages::French", "the dog", "le chien", tags="animal Hard::very")
    await filled.add(
        "cheese fromage", "Languages::French", "the cheese", "le fromage", kind="basic-reversed", tags="food"
    )
    await filled.add(
        "paris france", "Math", "{{c1::Paris}} is in {{c2::France::where}}", "a map", kind="cloze", tags="GEO"
    )
    await filled.add("det", "Math::Linear algebra", "det(AB) 100%_x", "<b>det A</b> ·<br>det B")
    await filled.add("arzt", "Südküste", 'ÄRZTE say: "back\\slash"', "ЖИЗНЬ in der Straße", tags="Ärzte a.b")
    return filled


async def test_words_are_found_in_any_field_and_any_case(collection: Collection):
    await collection.check({
        "DOG": "dog",
        "the": "cheese dog fromage",
        "the dog": "dog",
        '"the dog"': "dog",
        '"dog the"': "",
        "paris is": "france paris",
        '"Paris is in France"': "france paris",
        "ärzte": "arzt",
        "жизнь": "arzt",
        "STRASSE": "arzt",
        '"det a · det b"': "det",
        "<b>": "",
        "nothing": "",
    })  # fmt: skip


async def test_wildcards_and_escapes(collection: Collection):
    await collection.check({
        "d_g": "dog",
        "le*en": "dog",
        "100%": "det",
        r"%\_x": "det",
        r"d\_g": "",
        r"le\*en": "",
        r"back\\slash": "arzt",
        r"\"back": "arzt",
        r"say\:": "arzt",
        r"det\(ab\)": "det",
        "ch_": "cheese dog fromage",
    })  # fmt: skip


async def test_a_field_is_compared_as_a_whole(collection: Collection):
    await collection.check({
        '"front:the dog"': "dog",
        "front:dog": "",
        "FRONT:*dog": "dog",
        "back:*dog": "",
        '"back:le *"': "cheese dog fromage",
        "back:*det*": "det",
        '"b*:a map"': "france paris",
        r"front:*\"back\\slash\"": "arzt",
        "back:*straße": "arzt",
        '"back extra:_*"': "france paris",
        "text:": "",
        r"front:*100%\_x": "det",
    })  # fmt: skip


async def test_a_deck_includes_its_subdecks(collection: Collection):
    await collection.check({
        "deck:Languages": "cheese dog fromage",
        "deck:languages::FRENCH": "cheese dog fromage",
        "deck:math": "det france paris",
        'deck:"Math::Linear algebra"': "det",
        "deck:*algebra": "det",
        "deck:m_th": "det france paris",
        "deck:süd*": "arzt",
        "deck:SÜDKÜSTE": "arzt",
        "deck:*": "arzt cheese det dog france fromage paris",
        "deck:nothing*": "",
        f"did:{collection.decks['Math']}": "france paris",
    })  # fmt: skip


async def test_stars_do_not_make_a_search_for_tags_slow(ana: Learner):
    deck = await ana.deck("French")
    tags = [f"{'a' * 95}b{letter}" for letter in "acdefghijklmnopqrst"]
    for number in range(3):
        await ana("create-note", deckId=deck, front=f"front {number}", back="b", tags=tags)
    before = time.process_time()
    found = await ana("search-cards", query=" OR ".join(f"tag:*a*a*{'a' * length}b" for length in range(30)))
    assert (found["total"], time.process_time() - before < 1) == (0, True)


@pytest.mark.parametrize("query", ["the", "front:the*", "tag:f*", "note:Basic*", "-cat"])
async def test_the_matches_of_a_text_can_be_sorted_by_their_edits(collection: Collection, query: str):
    by_edit = await collection.ana("search-cards", query=query, sortBy="edited")
    by_creation = await collection.ana("search-cards", query=query)
    assert by_edit["total"] == by_creation["total"] > 0


async def test_a_tag_includes_its_subtags(collection: Collection):
    await collection.check({
        "tag:food": "cheese fromage",
        "tag:FOOD": "cheese fromage",
        "tag:foo": "",
        "tag:foo*": "cheese fromage",
        "tag:hard": "dog",
        "tag:hard::very": "dog",
        "tag:hard::v": "",
        "tag:very": "",
        "tag:*very": "dog",
        "tag:a*very": "",
        "tag:geo": "france paris",
        "tag:ärzte": "arzt",
        "tag:a_b": "arzt",
        "tag:a.b": "arzt",
        "tag:a.*": "arzt",
        "tag:.*": "",
        "tag:none": "det",
        "tag:*": "arzt cheese dog france fromage paris",
    })  # fmt: skip


async def test_note_types_templates_and_ids(collection: Collection):
    await collection.check({
        "note:basic": "arzt det dog",
        "note:basic*": "arzt cheese det dog fromage",
        "note:Cloze": "france paris",
        "card:1": "arzt cheese det dog paris",
        "card:2": "france fromage",
        'card:"card 2"': "fromage",
        "card:cloze": "france paris",
        f"cid:{collection.cards['dog']},{collection.cards['det']}": "det dog",
        f"cid:{collection.cards['dog'].removeprefix('card_')}": "dog",
        "cid:card_999999": "",
    })  # fmt: skip
    note = (await collection.ana("get-card", cardId=collection.cards["cheese"]))["noteId"]
    await collection.check({f"nid:{note}": "cheese fromage", f"nid:{note},999999": "cheese fromage"})


async def test_and_or_and_not(collection: Collection):
    await collection.check({
        "deck:Languages -tag:food": "dog",
        "tag:geo OR tag:food": "cheese france fromage paris",
        "the (dog or cheese) card:1": "cheese dog",
        "-(the or is)": "arzt det",
        "--dog": "dog",
        "dog or the fromage": "cheese dog fromage",
    })  # fmt: skip
    assert await collection.search("") == "arzt cheese det dog france fromage paris"


async def test_the_status_of_cards(collection: Collection):
    ana, cards = collection.ana, collection.cards
    await ana("update-deck", deckId=collection.decks["Languages::French"], preset={"leechThreshold": 1})
    await ana("review-card", cardId=cards["dog"], grade="easy")
    ana.clock.forward(days=30)
    await ana("review-card", cardId=cards["dog"], grade="again")
    await ana("review-card", cardId=cards["det"], grade="easy")
    await ana("review-card", cardId=cards["cheese"], grade="good")
    await ana("suspend-cards", cardIds=[cards["paris"]])
    await collection.check({
        "is:new": "arzt france fromage paris",
        "is:learn": "cheese dog",
        "is:review": "det dog",
        "is:learn is:review": "dog",
        "is:suspended": "paris",
        "is:buried": "fromage",
        "is:leech": "dog",
        "is:due": "",
    })  # fmt: skip
    ana.clock.forward(minutes=11)
    await collection.check({"is:due": "cheese dog"})
    ana.clock.forward(days=1)
    await collection.check({"is:buried": "", "is:due -is:learn": ""})
    ana.clock.forward(days=6, hours=20)
    await collection.check({"is:due -is:learn": "det"})
    await ana("suspend-cards", cardIds=[cards["det"]])
    await collection.check({"is:due -is:learn": "", "is:review is:suspended": "det"})


async def test_numbers_are_compared(collection: Collection):
    ana, cards = collection.ana, collection.cards
    await ana("review-card", cardId=cards["dog"], grade="easy")
    stability = (await ana("get-card", cardId=cards["dog"]))["stability"]
    ana.clock.forward(days=8)
    await ana("review-card", cardId=cards["det"], grade="easy")
    await ana("review-card", cardId=cards["cheese"], grade="again")
    await collection.check({
        "prop:ivl=8": "det dog",
        "prop:ivl>=8": "det dog",
        "prop:ivl>8": "",
        "prop:ivl<8": "arzt cheese france fromage paris",
        "prop:ivl!=8": "arzt cheese france fromage paris",
        "prop:ivl<=7": "arzt cheese france fromage paris",
        "prop:due=0": "cheese dog",
        "prop:due=8": "det",
        "prop:due!=0": "det",
        "prop:due<8": "cheese dog",
        "prop:due<=8": "cheese det dog",
        "prop:due>0": "det",
        "prop:due>=999999": "",
        "prop:due<-1": "",
        "prop:reps=1": "cheese det dog",
        "prop:reps!=1": "arzt france fromage paris",
        "prop:lapses>0": "",
        f"prop:s>={stability - 0.001:.3f}": "det dog",
        "prop:s<1": "cheese",
        "prop:d<5": "det dog",
        "prop:d>5": "cheese",
    })  # fmt: skip
    ana.clock.forward(days=2)
    await collection.check({"prop:due=-2": "cheese dog", "prop:due<-2": "", "prop:due=6": "det"})


async def test_recent_events(collection: Collection):
    ana, cards = collection.ana, collection.cards
    await ana("review-card", cardId=cards["dog"], grade="easy")
    ana.clock.forward(days=2)
    await collection.add("late", "Math", "later", "")
    await ana("review-card", cardId=cards["dog"], grade="again")
    await ana("review-card", cardId=cards["det"], grade="good")
    note = (await ana("get-card", cardId=cards["arzt"]))["noteId"]
    await ana("update-note", noteId=note, back="ЖИЗНЬ in der Straße")
    everything = "arzt cheese det dog france fromage late paris"
    await collection.check({
        "added:1": "late",
        "added:2": "late",
        "added:3": everything,
        "added:99999": everything,
        "edited:1": "arzt late",
        "rated:1": "det dog",
        "rated:1:1": "dog",
        "rated:1:good": "det",
        "rated:2:4": "",
        "rated:3:4": "dog",
        "introduced:1": "det",
        "introduced:3": "det dog",
    })  # fmt: skip
    await ana("undo-review")
    await collection.check({"rated:1": "dog", "introduced:1": ""})


async def test_days_begin_in_the_time_zone_of_the_user(collection: Collection):
    ana = collection.ana
    await ana("set-preference", name="timezone", value="America/New_York")
    await ana("set-preference", name="dayStartHour", value=4)
    # The clocks of New York went back on 1 November 2026, and go forward on 14 March 2027.
    ana.clock.now = ana.clock.now.replace(year=2027, month=3, day=13, hour=12)
    await ana("review-card", cardId=collection.cards["dog"], grade="easy")
    ana.clock.now = ana.clock.now.replace(day=15, hour=8, minute=30)
    await collection.check({"rated:2": "", "rated:3": "dog"})
    ana.clock.now -= timedelta(hours=1)
    await collection.check({"rated:2": "dog", "rated:1": ""})


async def test_a_user_finds_their_own_cards_only(collection: Collection, bob: Learner):
    assert await bob("search-cards", query="") == {"cards": [], "total": 0}
    [card] = await bob.notes(await bob.deck("Math"))
    assert [found["cardId"] for found in (await bob("search-cards", query="deck:Math OR the"))["cards"]] == [card]
    assert (await bob("search-cards", query=f"cid:{collection.cards['dog']}"))["total"] == 0


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "deck:French",
            "query: no deck is named 'French'. Did you mean 'Languages::French'? list-decks shows all",
        ),
        ("-deck:Maht", "query: no deck is named 'Maht'. Did you mean 'Math'? list-decks shows all decks."),
        ("note:Basik", "query: no note type is named 'Basik'. Did you mean 'Basic'?"),
        ('card:"Card 3"', "query: no card template is named 'Card 3'. Did you mean 'Card 2' or 'Card 1'?"),
        ("frnt:dog", "query: no field is named 'frnt'. Did you mean 'Front'? Write frnt\\:dog if the colon is part of"),
        ("http://x", "Write http\\://x if the colon is part of the words."),
        ("is:dew", "The query cannot be read at character 1: 'is:dew' is not known; did you mean is:new?"),
    ],
)
async def test_an_unknown_name_is_an_error(collection: Collection, query: str, expected: str):
    kind, message = await collection.ana.fails("search-cards", query=query)
    assert kind == "ValidationError"
    assert expected in message
    assert collection.ana.hints["contextNeeded"] == ["a valid value for query"]
