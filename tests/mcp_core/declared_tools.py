"""A module with a tool, for apps that include it."""

from toolcharter import tool


@tool.query(permissions=[])
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n
