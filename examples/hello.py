"""The smallest governed server: one tool."""

from mcp_core import App, Example, Settings, tool
from mcp_core.run import run


@tool(
    category="query",
    response_time="fast",
    permissions=["texts:read"],
    cacheable=True,
    cache_ttl=60,
    idempotent=True,
    tags=["texts"],
    examples=[Example("Two words", {"text": "hello world"}, 2)],
)
async def count_words(text: str) -> int:
    """Count the words of a text.

    Use this when the user asks how long a text is.

    Args:
        text: The text whose words are counted.

    Returns:
        The number of words.
    """
    return len(text.split())


def build(settings: Settings) -> App:
    """The server."""
    return App("hello", version="1.0.0", tools=[count_words], settings=settings)


if __name__ == "__main__":
    run(build)
