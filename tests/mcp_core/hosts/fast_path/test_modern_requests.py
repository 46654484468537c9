"""Headers that repeat arguments, for tools that come while a server is running."""

from typing import Annotated, Any

import httpx2
from pydantic import Field

from mcp_core import App, Example
from mcp_core.declare.spec import spec_of
from mcp_core.hosts.fast_path.http import HttpFastPath
from tests.mcp_core.declared import query

ROME = [Example("One city", {"city": "Rome"}, "Rome")]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "visit",
}


@query(examples=ROME)
async def visit(city: Annotated[str, Field(description="Where to go.")]) -> str:
    return city


@query(name="visit", examples=ROME)
async def visit_with_header(
    city: Annotated[str, Field(description="Where to go.", json_schema_extra={"x-mcp-header": "City"})],
) -> str:
    return city


async def test_a_tool_that_is_replaced_has_its_arguments_compared_with_the_headers():
    app = App("trips", version="1.0.0", format="result", tools=[visit])
    fast_path = HttpFastPath(app)
    params = {"name": "visit", "arguments": {"city": "Rome"}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    transport = httpx2.ASGITransport(app=fast_path, client=("127.0.0.1", 5))
    async with fast_path.lifespan(), httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:

        async def call(**headers: str) -> Any:
            answer = await http.post("/mcp", json=message, headers={**HEADERS, **headers})
            return answer.status_code, answer.json().get("error", {}).get("code")

        assert await call() == (200, None)
        app.replace_tools([spec_of(visit_with_header)])
        assert await call() == (400, -32020)
        assert await call(**{"mcp-param-city": "Paris"}) == (400, -32020)
        assert await call(**{"mcp-param-city": "Rome"}) == (200, None)
