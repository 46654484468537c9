"""An agent that keeps a todo list for you: the OpenAI Agents SDK, and `mcp-todo` over stdio.

pip install openai-agents
OPENAI_API_KEY=... python examples/todo_agent.py ana

Type what you want, such as "don't let me forget the passport" or "what is left?". An empty line ends the program.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from agents import Agent, Model, RunConfig, Runner, TResponseInputItem
from agents.mcp import MCPServerStdio

# Beside the Python that runs this, so that it is found even if the environment is not activated.
MCP_TODO = Path(sys.executable).with_name("mcp-todo")

INSTRUCTIONS = """
You keep the todo list of one person, whose user_id is {user}.
Look up the id of a task with list_tasks before you change it.
When a tool answers with an error, say so in plain words, or correct the call and try again.
"""


async def keep_list(
    requests: AsyncIterator[str], user: str, *, model: str | Model | None = None, options: tuple[str, ...] = ()
) -> AsyncIterator[str]:
    """Answer one request after the other. If `model` is None, the SDK's default is used."""
    async with MCPServerStdio({"command": str(MCP_TODO), "args": ["--user", user, *options]}) as server:
        agent = Agent(name="Todo list", instructions=INSTRUCTIONS.format(user=user), mcp_servers=[server], model=model)
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
    async for answer in keep_list(read_lines(), user=sys.argv[1] if len(sys.argv) > 1 else "me"):
        print(answer)


if __name__ == "__main__":
    asyncio.run(main())
