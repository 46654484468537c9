"""The time of a call, from its context: no command asks the clock itself."""

from datetime import datetime

from toolcharter import ToolContext


def now_of(context: ToolContext) -> datetime:
    """When the call was made, in UTC."""
    return datetime.fromisoformat(context.timestamp)
