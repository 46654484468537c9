"""The JSON-RPC messages and HTTP requests of real clients, and how an answer is checked.

tests/data/http_requests has a call of each client as it was sent. Requests of the load generator have the same heads,
the same order of fields and the same metadata, and are sent in as many writes.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REQUESTS = Path(__file__).parents[1] / "tests" / "data" / "http_requests"
SDK = "sdk"
"""The MCP Python SDK's client, whose requests are sent if nothing else is asked for."""
RECORDED = (SDK, "fastmcp", "node")
FILES = {SDK: "python-sdk", "fastmcp": "fastmcp", "node": "typescript", "agents": "openai-agents"}
"""The start of the name of a recording, by client."""
LEGACY, MODERN = "2025-11-25", "2026-07-28"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
HEAD_END = b"\r\n\r\n"

Pieces = tuple[bytes, ...]
"""An HTTP request, as the writes in which it is sent."""


@dataclass(frozen=True)
class Recorded:
    """A call as a client sent it."""

    writes: int
    head: tuple[tuple[str, str], ...]
    body: Mapping[str, Any]

    @functools.cached_property
    def metadata(self) -> Mapping[str, Any]:
        return self.body["params"].get("_meta", {})


@functools.cache
def recorded(client: str, era: str) -> Recorded:
    name = f"{FILES[client]}-{'modern' if era == MODERN else 'legacy'}"
    head, _, body = (REQUESTS / f"{name}.http").read_bytes().partition(HEAD_END)
    _, *lines = head.decode().split("\r\n")
    writes = json.loads((REQUESTS / "writes.json").read_text(encoding="utf-8"))
    return Recorded(writes[name], tuple(tuple(line.split(": ", 1)) for line in lines), json.loads(body))


def request(era: str, id: int, method: str, *, client: str = SDK, **params: Any) -> dict[str, Any]:
    """A request as that client sends it with that protocol."""
    sent = recorded(client, era)
    if sent.metadata:
        params["_meta"] = dict(sent.metadata)
        if "progressToken" in sent.metadata:
            params["_meta"]["progressToken"] = id
    values = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return {name: values[name] for name in sent.body}


def post(
    port: int,
    body: Mapping[str, Any],
    era: str,
    session: str | None = None,
    *,
    client: str = SDK,
    token: str | None = None,
) -> Pieces:
    """A whole HTTP request as that client sends it."""
    data = json.dumps(body, separators=(",", ":")).encode()
    values = {
        "host": f"127.0.0.1:{port}",
        "content-length": str(len(data)),
        "mcp-protocol-version": None if body["method"] == "initialize" else era,
        "mcp-session-id": session,
        "mcp-method": body["method"],
        "mcp-name": body.get("params", {}).get("name"),
    }
    sent = recorded(client, era)
    fields = [(name, values.get(name.lower(), value)) for name, value in sent.head]
    if token is not None:
        fields.insert(1, ("authorization", f"Bearer {token}"))
    lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in fields if value is not None)]
    head = "\r\n".join(lines).encode() + HEAD_END
    return (head + data,) if sent.writes == 1 else (head, data)


def post_call(port: int, tool: str, arguments: Mapping[str, Any], id: int = 1, *, token: str | None = None) -> Pieces:
    """A call of a tool with the newer protocol."""
    return post(port, request(MODERN, id, "tools/call", name=tool, arguments=arguments), MODERN, token=token)


def post_sum(port: int, number: int, era: str = MODERN, session: str | None = None, *, client: str = SDK) -> Pieces:
    """A call of `add` with a number and its double."""
    return post(port, add(era, number, client=client), era, session, client=client)


def add(era: str, number: int, *, client: str = SDK) -> dict[str, Any]:
    arguments = {"a": number, "b": 2 * number}
    return request(era, number, "tools/call", client=client, name="add", arguments=arguments)


def add_task(era: str, number: int, *, client: str = SDK) -> dict[str, Any]:
    arguments = {"user_id": "bench", "title": _title(number)}
    return request(era, number, "tools/call", client=client, name="add_task", arguments=arguments)


def _title(number: int) -> str:
    return f"Task {number}"


BODIES = {"add": add, "add_task": add_task}
"""The bodies of the calls that the load generator makes, by the tool."""


def check(tool: str, number: int, answer: Any) -> None:
    """Raise ValueError if this is not the answer to that call."""
    right = answer.get("id") == number and (sum_in(answer) == 3 * number if tool == "add" else _added(number, answer))
    if not right:
        raise ValueError(f"{tool} {number}: got {answer}")


def _added(number: int, answer: Any) -> bool:
    result = answer["result"]
    text = result["content"][0]["text"]
    return not result.get("isError") and json.loads(text)["title"] == _title(number)


def sum_in(answer: Any) -> int:
    """The sum in an answer to `add`, in any server's format. Raises ValueError for an error."""
    result = answer["result"]
    if result.get("isError"):
        raise ValueError(f"an error result: {answer}")
    return sum_in_text(result["content"][0]["text"])


def sum_in_text(text: str) -> int:
    value = json.loads(text)
    return value["data"] if isinstance(value, dict) else value
