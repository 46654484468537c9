"""A server to start with several workers: `worker_app.py http --workers 2 --redis URL`."""

import os

from mcp_core import App, Confirm, Settings
from tests.mcp_core.declared import Text, mutation, query
from toolcharter import run


@query()
async def where() -> int:
    """Say which process answers."""
    return os.getpid()


@mutation({"note": "n"}, confirm=Confirm(required=True))
async def send_note(note: Text) -> str:
    """Send a note."""
    return f"sent {note} from {os.getpid()}"


def build(settings: Settings) -> App:
    return App("notes", version="1.0.0", format="result", tools=[where, send_note], settings=settings)


if __name__ == "__main__":
    run(build)
