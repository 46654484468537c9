"""The tools that the conformance suite calls, as far as an App can offer them.

python tests/conformance/fixture.py [the options of every server]

Two servers on one port. `plain` has no tool that asks, so the fast lane answers all of its requests but the unusual
ones. `asking` has some: there, a client of the older protocol that can show a form gets a session of the SDK's.
"""

import asyncio
import sys
from argparse import ArgumentParser
from typing import Annotated

from pydantic import Field

from mcp_core import App, InvalidArguments, Settings, ToolContext, mcp_log
from mcp_core.hosts.http import serve_http
from mcp_core.settings import add_options, from_options

logger = mcp_log.get_logger("conformance")

STEP = 0.05
"""Seconds between two reports of progress, as the suite wants them."""


async def test_simple_text() -> str:
    """Return a simple text."""
    return "This is a simple text response for testing."


async def test_error_handling() -> str:
    """Fail."""
    raise InvalidArguments("This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(STEP)
    return "Done."


async def test_logging_tool() -> str:
    """Write to the log, which is the server's and nobody else's."""
    logger.info("called")
    return "Logged."


async def mirrored(
    region: Annotated[
        str, Field(description="A value that also travels in a header.", json_schema_extra={"x-mcp-header": "Region"})
    ] = "",
) -> str:
    """Take an argument that is mirrored into a header."""
    return region


async def test_elicitation(message: Annotated[str, Field(description="What the person is asked.")]) -> str:
    """Ask the person with the caller's words."""
    return message


async def test_streaming_elicitation() -> str:
    """Ask the person."""
    return "Agreed."


async def test_input_required_result_elicitation() -> str:
    """Ask the person. The suite wants their name; an App asks yes or no."""
    return "Agreed."


async def test_input_required_result_request_state() -> str:
    """Ask the person, and keep the state of the call in a seal."""
    return "state-ok"


async def test_input_required_result_tampered_state() -> str:
    """The same, for a seal that the suite breaks."""
    return "state-ok"


PLAIN = (test_simple_text, test_error_handling, test_tool_with_progress, test_logging_tool, mirrored)
ASKING = (
    test_streaming_elicitation,
    test_input_required_result_elicitation,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
)


def build(name: str, settings: Settings) -> App:
    app = App(name, version="1.0.0", title="Conformance fixture", settings=settings)
    for function in PLAIN:
        app.tool()(function)
    if name == "asking":
        app.tool(confirm="required", question="{message}")(test_elicitation)
        for function in ASKING:
            app.tool(confirm="required")(function)
    return app


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    add_options(parser)
    settings = from_options(parser.parse_args())
    mcp_log.configure(settings.log_level)
    serve_http([build("plain", settings), build("asking", settings)], settings)


if __name__ == "__main__":
    sys.exit(main())
