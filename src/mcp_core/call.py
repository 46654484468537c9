"""What one call carries, fuller at each step: Request -> Call -> Permit -> Body -> Answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from mcp_core.context import ReportProgress, ToolContext
from mcp_core.errors import ErrorKind
from mcp_core.spec import ToolSpec

Outcome = Literal["ok", "validation", "business", "system", "cancelled", "asked"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what they may do. `key` is what limits, cached answers and confirmations are bound to."""

    key: str = "local"
    user_id: str | None = None
    grants: frozenset[str] = frozenset()

    def lacks(self, permissions: tuple[str, ...]) -> tuple[str, ...]:
        """The permissions that are not granted. `*` grants all, `cards:*` all actions on cards."""
        grants = self.grants
        if not permissions or "*" in grants:
            return ()
        return tuple(p for p in permissions if p not in grants and f"{p.partition(':')[0]}:*" not in grants)


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer that a client brought back, with the sealed state it was asked under."""

    state: str
    accepted: bool


Ask = Callable[[str], Awaitable[bool]]
"""Puts a yes-or-no question to the person and waits: for clients that can be asked during a call."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call as a host received it; nothing about it is checked yet."""

    tool: str
    arguments: Mapping[str, Any]
    caller: Caller = Caller()
    agent_id: str = "unknown"
    agent_version: str = "unknown"
    session_id: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    progress: ReportProgress | None = None
    ask: Ask | None = None
    can_return_questions: bool = False
    """Whether the client takes a question as an answer and calls again with the reply."""
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request for a tool that exists, with its ids."""

    request: Request
    spec: ToolSpec
    final_name: str
    context: ToolContext


@dataclass(frozen=True, slots=True)
class Permit:
    """Proof that a call has passed every gate: limit, parse, authorize, consent."""

    call: Call
    arguments: BaseModel
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Question:
    """What the person must be asked before the call can go on; `state` comes back with the reply."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed, in words that may leave the server."""

    error: str
    error_type: str
    kind: ErrorKind
    error_id: str | None = None
    exception_type: str | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A checked answer before it takes its wire format. `data` and `hints` are JSON text already."""

    data: str | None = None
    failure: Failure | None = None
    message: str | None = None
    instruction: str | None = None
    hints: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes over the wire."""

    text: str
    is_error: bool = False
    structured: Any = None
    meta: Mapping[str, Any] | None = None
