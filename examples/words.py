"""The smallest governed server: one tool."""

from toolcharter import App, Example, Settings, run, tool


@tool.query(
    permissions=["texts:read"],
    tags=["texts"],
    cache_ttl=60,
    open_world=False,
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
    return App("words", version="1.0.0", tools=[count_words], settings=settings)


if __name__ == "__main__":
    run(build)
