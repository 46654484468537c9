"""Failures that a test asks for: the next matching requests fail, wait, or lose their connection."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal


class ConnectionDropped(ConnectionResetError):
    """The site closed the connection without a complete response."""


class ConnectionRefused(ConnectionDropped):
    """The site did not accept the connection, so that the request did not arrive."""


@dataclass
class Fault:
    action: Literal["status", "delay", "drop", "refuse"]
    method: str | None
    path: str  # a pattern such as "/rest/api/3/issue/*"
    remaining: int | None  # None: every time
    status: int = 500
    message: str = ""
    retry_after: int | str | None = None
    seconds: float = 0
    after: bool = False  # a drop after the request was carried out

    def matches(self, method: str, path: str) -> bool:
        return self.method in (None, method) and fnmatchcase(path, self.path)


@dataclass
class Faults:
    """The failures to come, in the order in which they were added."""

    _faults: list[Fault] = field(default_factory=list[Fault])

    def rate_limit(
        self, *, method: str | None = None, path: str = "*", times: int | None = 1, retry_after: int | str | None = 1
    ) -> None:
        message = "Rate limit exceeded."
        self._faults.append(Fault("status", method, path, times, 429, message, retry_after))

    def fail(
        self,
        status: int = 500,
        *,
        method: str | None = None,
        path: str = "*",
        times: int | None = 1,
        message: str = "Internal server error",
        retry_after: int | str | None = None,
    ) -> None:
        self._faults.append(Fault("status", method, path, times, status, message, retry_after))

    def conflict(self, *, method: str | None = None, path: str = "*", times: int | None = 1) -> None:
        message = "The content was changed by someone else."
        self._faults.append(Fault("status", method, path, times, 409, message))

    def slow(self, seconds: float, *, method: str | None = None, path: str = "*", times: int | None = None) -> None:
        self._faults.append(Fault("delay", method, path, times, seconds=seconds))

    def drop(self, *, method: str | None = None, path: str = "*", times: int | None = 1, after: bool = False) -> None:
        """Lose the connection; with `after`, only once the request was carried out."""
        self._faults.append(Fault("drop", method, path, times, after=after))

    def refuse(self, *, method: str | None = None, path: str = "*", times: int | None = 1) -> None:
        """Refuse the connection; the request certainly does not arrive."""
        self._faults.append(Fault("refuse", method, path, times))

    def clear(self) -> None:
        self._faults.clear()

    def take(self, method: str, path: str) -> list[Fault]:
        """The faults of this request: all delays, and the first other one."""
        taken: list[Fault] = []
        for fault in list(self._faults):
            is_second = fault.action != "delay" and any(other.action != "delay" for other in taken)
            if is_second or not fault.matches(method, path):
                continue
            taken.append(fault)
            if fault.remaining is not None:
                fault.remaining -= 1
                if fault.remaining == 0:
                    self._faults.remove(fault)
        return taken
