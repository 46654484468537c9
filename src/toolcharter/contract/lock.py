"""A lock file: what a server shows of its tools, as text that is the same if the tools are the same."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_core.declare.listed import ListedTool
from toolcharter.contract.normalize import canonical, canonical_json
from toolcharter.contract.tool_diff import version_of

FORMAT = 1
"""The version of the file format."""
_REWRITE = "Write it again from the server: `toolcharter lock SERVER --output {} --relock`."


class InvalidLock(Exception):
    """The file is not a lock, or was edited. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The tools of a server at one point in time."""

    server: str
    version: str | None
    tools: Mapping[str, ListedTool]
    is_released: bool = True
    """Whether agents use these tools already. In a project that was never released, everything may change."""

    @classmethod
    def from_tools(cls, server: str, version: str | None, tools: Iterable[ListedTool]) -> "Lock":
        """The lock of the tools that a server lists."""
        return cls(server, version, {tool.name: tool for tool in tools})

    def digests(self) -> dict[str, str]:
        """The digest of each tool."""
        return {name: digest(tool) for name, tool in self.tools.items()}

    def to_text(self) -> str:
        """Canonical JSON: sorted keys, two spaces, a newline at the end."""
        tools = {name: _entry(tool) for name, tool in self.tools.items()}
        whole: dict[str, Any] = {} if self.is_released else {"released": False}
        whole |= {"contract": FORMAT, "server": self.server, "version": self.version, "tools": tools}
        return json.dumps(whole, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def digest(tool: ListedTool) -> str:
    """The digest of everything that an agent can see of a tool. The order inside sets does not count."""
    wire = tool.to_wire()
    for key in ("inputSchema", "outputSchema"):
        if key in wire:
            wire[key] = canonical(wire[key])
    return "sha256:" + hashlib.sha256(canonical_json(wire).encode("utf-8", "surrogatepass")).hexdigest()


def _entry(tool: ListedTool) -> dict[str, Any]:
    entry: dict[str, Any] = {"digest": digest(tool), "version": version_of(tool), **tool.to_wire()}
    del entry["name"]
    return entry


def is_lock(content: Any) -> bool:
    """Whether a JSON value looks like a lock."""
    return isinstance(content, dict) and "contract" in content


def parse_lock(content: Any, name: str) -> Lock:
    """Parse the JSON of a lock file, and check its digests. Raises InvalidLock."""
    fields = _object(content, name, "the file is not a JSON object")
    if fields.get("contract") != FORMAT:
        raise InvalidLock(
            f"{name}: contract is {fields.get('contract')!r}, but this version reads {FORMAT}. "
            "Write the file again with `toolcharter lock`, or use the version that wrote it."
        )
    server, version = fields.get("server"), fields.get("version")
    if not isinstance(server, str) or not isinstance(version, str | None):
        raise InvalidLock(f"{name}: server or version is missing. {_REWRITE.format(name)}")
    tools: dict[str, ListedTool] = {}
    for tool, entry in _object(fields.get("tools"), name, "tools is not an object").items():
        parts = _object(entry, name, f"{tool!r} is not an object")
        tools[tool] = ListedTool.from_wire({**parts, "name": tool})
        if parts.get("digest") != digest(tools[tool]) or parts.get("version") != version_of(tools[tool]):
            raise InvalidLock(
                f"{name}: {tool!r} does not match its digest, so the file was edited. {_REWRITE.format(name)}"
            )
    return Lock(server, version, tools, fields.get("released") is not False)


def _object(value: Any, name: str, problem: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidLock(f"{name}: {problem}. {_REWRITE.format(name)}")
    return cast(dict[str, Any], value)
