"""The MCP SDK as a host: it answers what the fast path does not handle."""

from collections.abc import Generator
from contextlib import contextmanager

from mcp_core.process.start_errors import CannotStart


@contextmanager
def loading_sdk() -> Generator[None]:
    """Explains, at the start of a server, why the SDK cannot be loaded."""
    try:
        yield
    except ImportError as error:
        raise CannotStart(
            f"The MCP SDK cannot be loaded: {error}. Install toolcharter again, or start without --fast-path off."
        ) from None
