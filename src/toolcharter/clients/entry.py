"""A server as a client knows it: a program that the client starts, or an address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """How a client reaches a server: by `command`, or at `url`."""

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None
    token: str | None = None
    description: str = ""
    is_enabled: bool = True

    @property
    def started(self) -> dict[str, Any]:
        """The entry that most clients have for a program."""
        environment = {"env": dict(self.environment)} if self.environment else {}
        return {"command": self.command[0], "args": list(self.command[1:]), **environment}

    def remote(self, key: str = "url", headers: str = "headers") -> dict[str, Any]:
        """The entry that most clients have for an address, under the names that this one uses."""
        secret = {headers: {"Authorization": f"Bearer {self.token}"}} if self.token else {}
        return {key: self.url, **secret}


def read_entry(name: str, entry: Mapping[str, Any]) -> ServerEntry:
    """The entry of any client. It has neither a command nor an address if it is not a server that we understand."""
    command = entry.get("command", entry.get("cmd"))
    words = _texts(entry.get("args")) if isinstance(command, str) else []
    url = next((entry[key] for key in ("url", "httpUrl", "serverUrl", "uri") if isinstance(entry.get(key), str)), None)
    headers = _members(entry.get("headers", entry.get("http_headers")))
    token = str(headers.get("Authorization", "")).removeprefix("Bearer ").strip()
    environment = _members(entry.get("env", entry.get("envs")))
    return ServerEntry(
        name,
        (command, *words) if isinstance(command, str) else (),
        {key: str(value) for key, value in environment.items()},
        url if isinstance(url, str) and url.startswith(("http://", "https://")) else None,
        token or None,
        is_enabled=entry.get("disabled") is not True and entry.get("enabled") is not False,
    )


def _members(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [str(one) for one in cast(list[Any], value)] if isinstance(value, list) else []
