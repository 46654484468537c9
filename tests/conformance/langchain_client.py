"""LangChain's adapters: run by a Python of their own, because they want an older MCP library.

python langchain_client.py TARGET...    an address, or a command; prints {"tools": [...], "text": "..."}
"""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def talk(target: list[str]) -> dict[str, object]:
    if target[0].startswith("http"):
        server = {"transport": "streamable_http", "url": target[0]}
    else:
        server = {"transport": "stdio", "command": target[0], "args": target[1:]}
    tools = await MultiServerMCPClient({"demo": server}).get_tools()
    add = next(tool for tool in tools if tool.name == "add")
    (block,) = await add.ainvoke({"a": 2, "b": 3})
    return {"tools": [tool.name for tool in tools], "text": block["text"]}


sys.stdout.write(json.dumps(asyncio.run(talk(sys.argv[1:]))))
