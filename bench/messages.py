"""The JSON-RPC messages and HTTP requests that are sent, and how an answer is checked."""

import json
from typing import Any

LEGACY, MODERN = "2025-11-25", "2026-07-28"
INFO = {"name": "bench", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": INFO},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(era: str, id: int, method: str, **params: Any) -> dict[str, Any]:
    """A request as a client of that protocol sends it."""
    if era == MODERN:
        params["_meta"] = META
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def post(port: int, body: dict[str, Any], era: str, session: str | None = None) -> bytes:
    """A whole HTTP request."""
    data = json.dumps(body, separators=(",", ":")).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"host: 127.0.0.1:{port}",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        f"content-length: {len(data)}",
    ]
    if body["method"] != "initialize":
        lines.append(f"mcp-protocol-version: {era}")
    if era == MODERN:
        lines += [f"mcp-method: {body['method']}", f"mcp-name: {body['params'].get('name', '')}"]
    if session:
        lines.append(f"mcp-session-id: {session}")
    return "\r\n".join([*lines, "", ""]).encode() + data


def sum_in(answer: Any) -> int:
    """The sum in an answer to `add`, in any server's format. Raises ValueError for an error."""
    result = answer["result"]
    if result.get("isError"):
        raise ValueError(f"an error result: {answer}")
    return sum_in_text(result["content"][0]["text"])


def sum_in_text(text: str) -> int:
    value = json.loads(text)
    return value["data"] if isinstance(value, dict) else value
