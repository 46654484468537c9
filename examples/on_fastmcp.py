"""Governed tools beside plain ones, on a FastMCP server. Needs `pip install 'toolcharter[fastmcp]'`."""

from fastmcp import FastMCP
from toolcharter_examples.words import build

from toolcharter import Settings
from toolcharter.fastmcp import add_tools, governed

app = build(Settings())
server = FastMCP("mixed", lifespan=governed(app))
add_tools(server, app)


@server.tool
def shout(text: str) -> str:
    """Write a text in capitals."""
    return text.upper()


if __name__ == "__main__":
    server.run(show_banner=False)
