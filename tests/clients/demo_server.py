"""The demo as clients start it, or find it: a command for stdio, an address for HTTP. The fast path is the default."""

import json
from pathlib import Path
from typing import Any

DEMO = str(Path(__file__).parents[2] / "examples" / "demo.py")
TOOLS = ["add", "list_notes", "get_note", "create_note", "delete_note", "digest_notes", "find_notes"]


def data_of(text: str) -> Any:
    """What a tool of the demo returned, out of the one block of JSON text that every answer is."""
    return json.loads(text)["data"]
