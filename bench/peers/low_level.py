"""The bare low-level SDK: no validation, no governance, and a look-up of schemas by name."""

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "description": "The first number."},
        "b": {"type": "integer", "description": "The second number."},
    },
    "required": ["a", "b"],
}


def build(tools: int) -> Server[Any]:
    names = ["add", *(f"add_{number}" for number in range(1, tools))]
    listed = [types.Tool(name=name, description="Add two whole numbers.", input_schema=SCHEMA) for name in names]
    schemas = dict.fromkeys(names, SCHEMA)

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        total = arguments["a"] + arguments["b"]
        return types.CallToolResult(content=[types.TextContent(type="text", text=str(total))])

    return Server("low-level", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=schemas.get)


def http_app(tools: int) -> Any:
    return build(tools).streamable_http_app(json_response=True, stateless_http=True)


async def stdio(tools: int) -> None:
    server = build(tools)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(stdio(1))
