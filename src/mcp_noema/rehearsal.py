"""What the examples of the tools speak of."""

from mcp_core import App
from mcp_noema.keeping import Decks
from mcp_noema.model import World
from mcp_noema.tools.vocabulary import LOCAL


async def put_in_place(app: App) -> None:
    """Two decks with a few notes."""
    now = app.provided(World).now()
    await app.provided(Decks).add(LOCAL, "Languages::French", "", now)
