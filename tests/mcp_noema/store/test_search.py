"""What each term of a query finds, over both databases."""

from datetime import timedelta

import pytest
import pytest_asyncio

from tests.mcp_noema.learner import Learner

Found = dict[str, str]
"""Names of cards, by query."""


class Collection:
    """Cards with names. `await search("is:new")` is the names of the cards that are found, in order of the names."""

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

    async def found(self, expected: Found) -> None:
        """Each query finds these cards, and its opposite finds all others."""
        assert {query: await self.search(query) for query in expected} == expected
        others = {
            f"-({query})": " ".join(sorted(set(self.cards) - set(names.split()))) for query, names in expected.items()
        }
        assert {query: await self.search(query) for query in others} == others


@pytest_asyncio.fixture
async def kept(ana: Learner) -> Collection:
    kept = Collection(ana)
    await kept.add("dog", "Languages::French", "the dog", "le chien", tags="animal Hard::very")
    await kept.add(
        "cheese fromage", "Languages::French", "the cheese", "le fromage", kind="basic-reversed", tags="food"
    )
    await kept.add(
        "paris france", "Math", "{{c1::Paris}} is in {{c2::France::where}}", "a map", kind="cloze", tags="GEO"
    )
    await kept.add("det", "Math::Linear algebra", "det(AB) 100%_x", "<b>det A</b> ·<br>det B")
    await kept.add("arzt", "Südküste", 'ÄRZTE say: "back\\slash"', "ЖИЗНЬ in der Straße", tags="Ärzte a.b")
    return kept


async def test_words_are_found_in_any_field_and_any_case(kept: Collection):
    await kept.found({
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


async def test_wildcards_and_escapes(kept: Collection):
    await kept.found({
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


async def test_a_field_is_compared_as_a_whole(kept: Collection):
    await kept.found({
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


async def test_a_deck_includes_those_in_it(kept: Collection):
    await kept.found({
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
        f"did:{kept.decks['Math']}": "france paris",
    })  # fmt: skip


async def test_a_tag_includes_those_below_it(kept: Collection):
    await kept.found({
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


async def test_note_types_templates_and_ids(kept: Collection):
    await kept.found({
        "note:basic": "arzt det dog",
        "note:basic*": "arzt cheese det dog fromage",
        "note:Cloze": "france paris",
        "card:1": "arzt cheese det dog paris",
        "card:2": "france fromage",
        'card:"card 2"': "fromage",
        "card:cloze": "france paris",
        f"cid:{kept.cards['dog']},{kept.cards['det']}": "det dog",
        f"cid:{kept.cards['dog'].removeprefix('card_')}": "dog",
        "cid:card_999999": "",
    })  # fmt: skip
    note = (await kept.ana("get-card", cardId=kept.cards["cheese"]))["noteId"]
    await kept.found({f"nid:{note}": "cheese fromage", f"nid:{note},999999": "cheese fromage"})


async def test_terms_are_joined(kept: Collection):
    await kept.found({
        "deck:Languages -tag:food": "dog",
        "tag:geo OR tag:food": "cheese france fromage paris",
        "the (dog or cheese) card:1": "cheese dog",
        "-(the or is)": "arzt det",
        "--dog": "dog",
        "dog or the fromage": "cheese dog fromage",
    })  # fmt: skip
    assert await kept.search("") == "arzt cheese det dog france fromage paris"


async def test_how_cards_stand(kept: Collection):
    ana, cards = kept.ana, kept.cards
    await ana("update-deck", deckId=kept.decks["Languages::French"], preset={"leechThreshold": 1})
    await ana("review-card", cardId=cards["dog"], grade="easy")
    ana.clock.forward(days=30)
    await ana("review-card", cardId=cards["dog"], grade="again")
    await ana("review-card", cardId=cards["det"], grade="easy")
    await ana("review-card", cardId=cards["cheese"], grade="good")
    await ana("suspend-cards", cardIds=[cards["paris"]])
    await kept.found({
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
    await kept.found({"is:due": "cheese dog"})
    ana.clock.forward(days=1)
    await kept.found({"is:buried": "", "is:due -is:learn": ""})
    ana.clock.forward(days=6, hours=20)
    await kept.found({"is:due -is:learn": "det"})
    await ana("suspend-cards", cardIds=[cards["det"]])
    await kept.found({"is:due -is:learn": "", "is:review is:suspended": "det"})


async def test_numbers_are_compared(kept: Collection):
    ana, cards = kept.ana, kept.cards
    await ana("review-card", cardId=cards["dog"], grade="easy")
    stability = (await ana("get-card", cardId=cards["dog"]))["stability"]
    ana.clock.forward(days=8)
    await ana("review-card", cardId=cards["det"], grade="easy")
    await ana("review-card", cardId=cards["cheese"], grade="again")
    await kept.found({
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
    await kept.found({"prop:due=-2": "cheese dog", "prop:due<-2": "", "prop:due=6": "det"})


async def test_what_happened_lately(kept: Collection):
    ana, cards = kept.ana, kept.cards
    await ana("review-card", cardId=cards["dog"], grade="easy")
    ana.clock.forward(days=2)
    await kept.add("late", "Math", "later", "")
    await ana("review-card", cardId=cards["dog"], grade="again")
    await ana("review-card", cardId=cards["det"], grade="good")
    note = (await ana("get-card", cardId=cards["arzt"]))["noteId"]
    await ana("update-note", noteId=note, back="ЖИЗНЬ in der Straße")
    everything = "arzt cheese det dog france fromage late paris"
    await kept.found({
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
    await kept.found({"rated:1": "dog", "introduced:1": ""})


async def test_days_begin_where_the_user_lives(kept: Collection):
    ana = kept.ana
    await ana("set-preference", name="timezone", value="America/New_York")
    await ana("set-preference", name="dayStartHour", value=4)
    # The clocks of New York went back on 1 November 2026, and go forward on 14 March 2027.
    ana.clock.now = ana.clock.now.replace(year=2027, month=3, day=13, hour=12)
    await ana("review-card", cardId=kept.cards["dog"], grade="easy")
    ana.clock.now = ana.clock.now.replace(day=15, hour=8, minute=30)
    await kept.found({"rated:2": "", "rated:3": "dog"})
    ana.clock.now -= timedelta(hours=1)
    await kept.found({"rated:2": "dog", "rated:1": ""})


async def test_a_user_finds_their_own_cards_only(kept: Collection, bob: Learner):
    assert await bob("search-cards", query="") == {"cards": [], "total": 0}
    [card] = await bob.notes(await bob.deck("Math"))
    assert [found["cardId"] for found in (await bob("search-cards", query="deck:Math OR the"))["cards"]] == [card]
    assert (await bob("search-cards", query=f"cid:{kept.cards['dog']}"))["total"] == 0


@pytest.mark.parametrize(
    ("query", "told"),
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
async def test_a_name_that_nothing_has_is_a_mistake(kept: Collection, query: str, told: str):
    kind, message = await kept.ana.fails("search-cards", query=query)
    assert kind == "ValidationError"
    assert told in message
    assert kept.ana.hints["contextNeeded"] == ["a valid value for query"]
