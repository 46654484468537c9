"""An agent that learns with you: the OpenAI Agents SDK, and `mcp-noema` over stdio.

pip install openai-agents
OPENAI_API_KEY=... python examples/noema_agent.py

Type what you want, such as "I want to learn the capitals of Europe", "quiz me" or "how am I doing?", and your answers.
An empty line ends the program. What you have learned is kept for the next time.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agents import Agent, Model, RunConfig, Runner, TResponseInputItem
from agents.mcp import MCPServerStdio

# Beside the Python that runs this, so that it is found even if the environment is not activated.
MCP_NOEMA = Path(sys.executable).with_name("mcp-noema")

INSTRUCTIONS = """
You are a tutor. What the person wants to learn is on flashcards, which are asked when they are about to be forgotten.
To study, call review-next-card, show the front only, and end your turn. When the person has answered, compare it with
the back, tell them, and call review-card with the right grade (again, hard, good or easy) and next true, which returns
the next card. Then continue.
Every answer of a tool has agentHints.suggestedNextActions: do the first of them unless the person wants something else.
Never delete anything that the person has not asked you to.
"""


async def learn(
    requests: AsyncIterator[str], *, model: str | Model | None = None, options: tuple[str, ...] = ()
) -> AsyncIterator[str]:
    """Answer one request after the other. If `model` is None, the SDK's default is used."""
    async with MCPServerStdio({"command": str(MCP_NOEMA), "args": list(options)}) as server:
        agent = Agent(name="Tutor", instructions=INSTRUCTIONS, mcp_servers=[server], model=model)
        conversation: list[TResponseInputItem] = []
        async for request in requests:
            conversation.append({"role": "user", "content": request})
            result = await Runner.run(agent, conversation, run_config=RunConfig(tracing_disabled=True))
            conversation = result.to_input_list()
            yield result.final_output


async def read_lines() -> AsyncIterator[str]:
    """The lines that the person types, up to an empty one."""
    print("> ", end="", flush=True)
    while request := (await asyncio.to_thread(sys.stdin.readline)).strip():
        yield request
        print("> ", end="", flush=True)


async def main() -> None:
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("Set OPENAI_API_KEY to the key of your OpenAI account, and start again.")
    async for answer in learn(read_lines()):
        print(answer)


if __name__ == "__main__":
    asyncio.run(main())
