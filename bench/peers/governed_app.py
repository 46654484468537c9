"""The governed tools that both of our contenders serve, with everything on.

Permission, rate limit, cache (missed each time: no two calls are alike), strict validation, deadline, hints, metrics
and an audit file. The caller holds the one permission that `add` asks for, and no more.
"""

import os
from pathlib import Path

from mcp_core import App, Example, RateLimit, Settings, tool
from mcp_core.declare.spec import Declaration, ToolSpec, declaration_of, spec_of


@tool(
    category="query",
    response_time="fast",
    permissions=["math:use"],
    cache_ttl=60,
    idempotent=True,
    rate_limit=RateLimit(max_calls=1_000_000, window_ms=60_000),
    tags=["math"],
    examples=[Example("Two and three make five", {"a": 2, "b": 3}, 5)],
)
async def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Use this when the user wants the exact sum of two whole numbers.

    Args:
        a: The first number.
        b: The second number.

    Returns:
        Their sum.
    """
    return a + b


def build(tools: int) -> App:
    folder = Path(os.environ["BENCH_FOLDER"])
    return App(
        "governed",
        version="1.0.0",
        tools=[add, *(further(number) for number in range(1, tools))],
        format="hints",
        settings=Settings(audit=str(folder / f"audit-{os.getpid()}.jsonl"), grants=("math:use",)),
    )


def further(number: int) -> ToolSpec:
    """The same tool under another name."""
    declared = declaration_of(add)
    given = {field: getattr(declared, field) for field in Declaration.__slots__}
    return spec_of(add, Declaration(**given | {"name": f"add_{number}"}))
