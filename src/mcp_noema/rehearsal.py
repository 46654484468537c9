"""What the examples of the tools speak of."""

from mcp_core import App
from mcp_noema.keeping import Answered, Decks, Draft, Notes, Studies
from mcp_noema.model import CardId, DeckId, World
from mcp_noema.tools.vocabulary import LOCAL


async def put_in_place(app: App) -> None:
    """A deck inside another (deck_1, deck_2), with three cards (card_1 to card_3), the last of them answered once."""
    now = app.provided(World).now()
    await app.provided(Decks).add(LOCAL, "Languages::French", "", now)
    drafts = [Draft("basic-reversed", ("the cheese", "le fromage"), ("food",)), Draft("basic", ("the dog", "le chien"))]
    await app.provided(Notes).add(LOCAL, DeckId("deck_2"), drafts, now, duplicates=False)
    await app.provided(Studies).record(LOCAL, Answered(CardId("card_3"), 3, 4_000), now, None)
