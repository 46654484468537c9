"""A tool that shows every convention, and does nothing else. Served only with MCP_INCLUDE_EXAMPLE_TOOLS=true.

How a tool is documented: src/mcp_guide/tools/README.md
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_core import Example, InvalidArguments, RateLimit, Result, ToolArguments, ToolContext, instructions


class ExampleArgs(ToolArguments):
    """One model a tool. Every field says what it is for and which values it takes."""

    text: Annotated[str, Field(min_length=1, max_length=200, description="What to say, 1 to 200 characters.")]
    explicit_action: Annotated[
        Literal["RUN_EXAMPLE"], Field(description="Must be 'RUN_EXAMPLE' to state that the user asked for it.")
    ]
    times: Annotated[int, Field(ge=1, le=5, description="How often to say it, 1 to 5.")] = 1
    style: Annotated[Literal["plain", "loud"], Field(description="As it is (plain) or in capitals (loud).")] = "plain"


# Documented as src/mcp_guide/tools/README.md shows.
@ToolArguments.declare(
    # What kind of work it is. A mutation is never cached; a query is always idempotent.
    category="mutation",
    response_time="fast",
    cacheable=False,
    idempotent=True,
    # Who may call it, and how often.
    permissions=["examples:run"],
    rate_limit=RateLimit(max_calls=60, window_ms=60_000),
    # The literal that the agent must write, and the question that the person is asked where the client can ask.
    consent="RUN_EXAMPLE",
    confirm="if_possible",
    question="Run the example with {text}?",
    destructive=False,
    # For finding it, and for the reader. The tests run every example.
    tags=["examples"],
    version="1.0.0",
    examples=[
        Example(
            "Say something twice, loudly",
            {"text": "hello", "times": 2, "style": "loud", "explicit_action": "RUN_EXAMPLE"},
            {"said": ["HELLO", "HELLO"], "agent": "<text>"},
        )
    ],
)
async def example_tool(args: ExampleArgs, context: ToolContext) -> Result[dict[str, Any]]:
    """Say a text back.

    Use it to see how a tool of this server is written, called and answered.

    This paragraph has what an agent needs to know beyond that, and stands in the full description only.

    Returns:
        What was said, and the agent that asked.

    Usage:
        example_tool(text="hello", explicit_action="RUN_EXAMPLE")
        example_tool(text="hello", times=2, style="loud", explicit_action="RUN_EXAMPLE")
    """
    if not args.text.strip():
        # What went wrong, with the value, and what to do next. The instruction tells the agent how to go on.
        raise InvalidArguments(
            f"text is {args.text!r}, which is nothing to say; give at least one letter.",
            fields=["text"],
            instruction=instructions.ask_for_clarification("what to say"),
        )
    said = args.text.upper() if args.style == "loud" else args.text
    return Result[dict[str, Any]].ok(
        {"said": [said] * args.times, "agent": context.agent_id},
        message=f"Said {args.times} times.",  # for the person
        instruction=instructions.NO_CHANGES,  # for the agent
    )
