"""The dice server: the only module that puts its parts together."""

from random import Random, SystemRandom

from mcp_dice import tools
from toolcharter import App, Settings


def build(settings: Settings) -> App:
    """The server."""
    app = App("dice", version="1.0.0", title="Dice", tools=[tools], format="bare", settings=settings)
    app.provide(Random, SystemRandom())
    return app
