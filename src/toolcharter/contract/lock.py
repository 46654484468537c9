"""A lock: what a server shows of its tools, as text that is the same whenever the tools are."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_core.declare.listed import ListedTool
from toolcharter.contract.diff import version_of
from toolcharter.contract.schemas import canonical, text

CONTRACT = 1
"""The form of the file."""


class BadLock(Exception):
    """The file is no lock, or was changed by hand; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The tools of a server at one time."""

    server: str
    version: str | None
    tools: Mapping[str, ListedTool]

    @classmethod
    def of(cls, server: str, version: str | None, tools: Iterable[ListedTool]) -> "Lock":
        """The lock of what a server lists."""
        return cls(server, version, {tool.name: tool for tool in tools})

    def digests(self) -> dict[str, str]:
        """The digest of each tool."""
        return {name: digest(tool) for name, tool in self.tools.items()}

    def to_text(self) -> str:
        """Canonical JSON: sorted keys, two spaces, a newline at the end."""
        tools = {name: _entry(tool) for name, tool in self.tools.items()}
        whole = {"contract": CONTRACT, "server": self.server, "version": self.version, "tools": tools}
        return json.dumps(whole, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def digest(tool: ListedTool) -> str:
    """The digest of all that an agent can see of a tool. The order of what has none does not count."""
    seen = tool.to_wire()
    for key in ("inputSchema", "outputSchema"):
        if key in seen:
            seen[key] = canonical(seen[key])
    return "sha256:" + hashlib.sha256(text(seen).encode("utf-8", "surrogatepass")).hexdigest()


def _entry(tool: ListedTool) -> dict[str, Any]:
    entry: dict[str, Any] = {"digest": digest(tool), "version": version_of(tool), **tool.to_wire()}
    del entry["name"]
    return entry


def is_lock(content: Any) -> bool:
    """Whether a JSON value means to be a lock."""
    return isinstance(content, dict) and "contract" in content


def read_lock(content: Any, name: str) -> Lock:
    """Read a lock from the JSON in a file, and check that nobody has changed it. Raises BadLock."""
    fields = _object(content, name, "it is no object")
    if fields.get("contract") != CONTRACT:
        raise BadLock(
            f"{name}: contract is {fields.get('contract')!r}, and this program reads {CONTRACT}. "
            "Write the file anew with `toolcharter lock`, or use the version that wrote it."
        )
    server, version = fields.get("server"), fields.get("version")
    if not isinstance(server, str) or not isinstance(version, str | None):
        raise BadLock(
            f"{name}: server or version is missing. Write it anew: `toolcharter lock TARGET --output {name} --relock`."
        )
    tools: dict[str, ListedTool] = {}
    for tool, entry in _object(fields.get("tools"), name, "tools is no object").items():
        parts = _object(entry, name, f"{tool!r} is no object")
        tools[tool] = ListedTool.from_wire({**parts, "name": tool})
        if parts.get("digest") != digest(tools[tool]) or parts.get("version") != version_of(tools[tool]):
            raise BadLock(
                f"{name}: {tool!r} does not match its digest, so the file was changed by hand. "
                f"Write it anew from the server: `toolcharter lock TARGET --output {name} --relock`."
            )
    return Lock(server, version, tools)


def _object(value: Any, name: str, otherwise: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadLock(f"{name}: {otherwise}. Write it anew: `toolcharter lock TARGET --output {name} --relock`.")
    return cast(dict[str, Any], value)
