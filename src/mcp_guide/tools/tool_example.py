"""A tool that shows every convention. Served only with MCP_INCLUDE_EXAMPLE_TOOLS=true.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from toolcharter import Confirm, Example, InvalidArguments, RateLimit, Result, ToolArguments, ToolContext, instructions


class ExampleArgs(ToolArguments):
    """One model per tool. Every field says what it is for and which values are valid."""

    text: Annotated[str, Field(min_length=1, max_length=200, description="Text to repeat, 1 to 200 characters.")]
    explicit_action: Annotated[
        Literal["RUN_EXAMPLE"], Field(description="Must be 'RUN_EXAMPLE' to state that the user asked for it.")
    ]
    times: Annotated[int, Field(ge=1, le=5, description="How often to repeat it, 1 to 5.")] = 1
    style: Annotated[Literal["plain", "loud"], Field(description="Unchanged (plain) or in capitals (loud).")] = "plain"


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    # The kind of work. A mutation is never cached; a query is always idempotent.
    category="mutation",
    response_time="fast",
    idempotent=True,
    # Who may call it, and how often.
    permissions=["examples:run"],
    rate_limit=RateLimit(max_calls=60, window_ms=60_000),
    open_world=False,
    # The literal that the agent must send, and the question for the user, in clients that can ask.
    confirm=Confirm("RUN_EXAMPLE", ask="Run the example with {text}?"),
    destructive=False,
    # For search and for readers. The tests run every example.
    tags=["examples"],
    version="1.0.0",
    examples=[
        Example(
            "Repeat a text twice, in capitals",
            {"text": "hello", "times": 2, "style": "loud", "explicit_action": "RUN_EXAMPLE"},
            {"said": ["HELLO", "HELLO"], "agent": "<text>"},
        )
    ],
)
async def example_tool(args: ExampleArgs, context: ToolContext) -> Result[dict[str, Any]]:
    """Repeat a text.

    Use it to see how a tool of this server is written and called.

    This paragraph has what else an agent needs to know. It is part of the full description only.

    Returns:
        The repeated texts, and the agent that called.

    Usage:
        example_tool(text="hello", explicit_action="RUN_EXAMPLE")
        example_tool(text="hello", times=2, style="loud", explicit_action="RUN_EXAMPLE")
    """
    if not args.text.strip():
        # What went wrong, the value, and what to do next. The instruction says what the agent should do.
        raise InvalidArguments(
            f"The text {args.text!r} is blank. Use at least one letter.",
            fields=["text"],
            instruction=instructions.ask_for_clarification("what to say"),
        )
    text = args.text.upper() if args.style == "loud" else args.text
    return Result[dict[str, Any]].ok(
        {"said": [text] * args.times, "agent": context.agent_id},
        message=f"Repeated {args.times} times.",  # for the user
        instruction=instructions.NO_CHANGES,  # for the agent
    )
