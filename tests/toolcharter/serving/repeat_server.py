"""A server whose answers are as long as its client wants."""

from mcp_core import App, Settings
from toolcharter.serving.run import run


async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def repeat(text: str, times: int) -> str:
    """Repeat a text."""
    return text * times


def build(settings: Settings) -> App:
    app = App("repeat", version="1", format="result", settings=settings)
    for tool in (add, repeat):
        app.tool(response_time="fast")(tool)
    return app


if __name__ == "__main__":
    run(build)
