"""JSON as it is written to files."""

import json
from typing import Any


def json_text(value: Any) -> str:
    """Indented, in the given order, with a line end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
