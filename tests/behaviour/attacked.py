"""A server whose tools a caller might try to use against another: cached, confirmed, with a secret."""

from typing import Annotated

from pydantic import Field

from toolcharter import App, Conflict, Example, Settings, ToolContext, run, tool

CALLS: list[str] = []


@tool.query(permissions=[], tags=["drawers"], cache_ttl=600, examples=[Example("Look", {}, "empty")], open_world=False)
async def look(context: ToolContext) -> str:
    """Look into the caller's own drawer. Use this when the user wants to see what is in it."""
    CALLS.append("look")
    return f"the drawer of {context.user_id}, look {len(CALLS)}"


@tool.mutation(
    permissions=[],
    tags=["locks"],
    idempotent=False,
    examples=[Example("Unlock", {"password": "x"}, "unlocked")],
    open_world=False,
)
async def unlock(
    password: Annotated[str, Field(max_length=60, description="The password of the drawer.")], context: ToolContext
) -> str:
    """Unlock the caller's own drawer. Use this when the user gives their password."""
    CALLS.append("unlock")
    if password != "right":
        raise Conflict(f"{password} is not the password of {context.user_id}")
    return f"unlocked for {context.user_id}, call {len(CALLS)}"


def build(settings: Settings) -> App:
    """Make the server."""
    return App("attacked", version="1.0.0", format="result", tools=[look, unlock], settings=settings)


if __name__ == "__main__":
    run(build)
