"""The records of one call. Each step makes a fuller one: Request -> Call -> Permit -> Body -> Answer.

They are named tuples: as immutable as frozen dataclasses and five times as fast to make. A call makes seven.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel

from mcp_core.auth import Caller
from mcp_core.context import (
    NO_HEADERS,
    Elicit,
    ListFolders,
    NotifyComplete,
    ReportProgress,
    RequestHeaders,
    ToolContext,
)
from mcp_core.declare.spec import ToolSpec

CallOutcome = Literal["ok", "validation", "business", "system", "cancelled", "asked"]


class Reply(NamedTuple):
    """A person's answer that came with a call, and the sealed state of the question."""

    state: str
    accepted: bool
    """Whether the person agreed, if the question was whether the call may be carried out."""
    responses: Mapping[str, Any] = MappingProxyType({})
    """The answers to the questions of a handler, by the name of the question."""


Ask = Callable[[str], Awaitable[bool]]
"""Asks the person a yes-or-no question and waits, for clients that can be asked during a call."""


class LongCall(Protocol):
    """A call that can become a task, which outlives its request."""

    @property
    def extra_seconds(self) -> float:
        """How much longer it may take than its tool says."""
        ...

    @property
    def answer_seconds(self) -> float:
        """How long a person has to answer its questions."""
        ...

    async def start(self) -> None:
        """Become a task before the handler begins, if the tool always is one. Raises Busy or Unavailable."""
        ...


class Request(NamedTuple):
    """A call as a host received it. Nothing in it has been checked."""

    tool: str
    arguments: Mapping[str, Any]
    caller: Caller = Caller()
    agent_id: str = "unknown"
    agent_version: str = "unknown"
    session_id: str | None = None
    meta: Mapping[str, Any] = MappingProxyType({})
    progress: ReportProgress | None = None
    folders: ListFolders | None = None
    ask: Ask | None = None
    can_return_questions: bool = False
    """Whether the client takes a question as the answer, and calls again with the reply."""
    must_declare: bool = False
    """Whether a client that does not declare elicitation gets a protocol error where a confirmation is required."""
    reply: Reply | None = None
    headers: RequestHeaders = NO_HEADERS
    """Those that the app declared. They are not logged, audited or traced, and no answer to them is cached."""
    modes: frozenset[str] = frozenset()
    """How the client can ask the person what a handler wants to know: form, url, both, or not at all."""
    elicit: Elicit | None = None
    """Asks that, and waits for the answer."""
    notify_complete: NotifyComplete | None = None
    """Notifies the client that the person has finished at an address."""
    takes_tasks: bool | None = None
    """Whether the client takes a task as the answer; None where no client of the protocol calls."""
    task: LongCall | None = None
    """The call, if it can become a task."""


class Call(NamedTuple):
    """A request with its tool and its ids."""

    request: Request
    spec: ToolSpec
    final_name: str
    context: ToolContext

    def with_confirmation(self) -> "Call":
        """The call, with a context that says that the person has agreed."""
        return self._replace(context=self.context._replace(is_confirmed=True))


class Permit(NamedTuple):
    """Proof that a call has passed every gate: limit, authorize, parse, consent."""

    call: Call
    arguments: BaseModel
    arguments_json: str


class Question(NamedTuple):
    """A question that the person must answer before the call goes on. `state` comes back with the reply."""

    text: str
    state: str
    requests: Mapping[str, Mapping[str, Any]] | None = None
    """The questions of a handler, by name: the parameters of `elicitation/create`. None for a confirmation."""


class VerbatimResult(NamedTuple):
    """The result of a tool of another server, to be passed on as it is. Handlers of remote tools return it."""

    content: Sequence[Mapping[str, Any]]
    structured: Mapping[str, Any] | None = None
    error: str | None = None
    """The text of an error; None for a success."""
    meta: Mapping[str, Any] | None = None


class Answer(NamedTuple):
    """The result of a call as hosts send it."""

    text: str
    """The first content block; without one, an empty text."""
    is_error: bool = False
    structured_json: str | None = None
    meta: Mapping[str, Any] | None = None
    blocks: str = ""
    """Further content blocks as JSON texts, with commas between them."""
    is_plain: bool = False
    """Whether the text is a value of its own, not JSON."""

    @property
    def structured(self) -> Any:
        """The structured content; None without it."""
        return None if self.structured_json is None else json.loads(self.structured_json)

    @property
    def size(self) -> int:
        """The length of what a model reads: of the text, or of the structured content where there is no text."""
        return len(self.text or (not self.blocks and self.structured_json) or "") + len(self.blocks)

    def without_copy(self) -> "Answer":
        """The same without the text, where the structured content says it too."""
        return self if self.structured_json is None else self._replace(text="")

    def with_note(self, note: str) -> "Answer":
        """The same with a text at its end."""
        block = json.dumps({"type": "text", "text": note}, ensure_ascii=False, separators=(",", ":"))
        return self._replace(blocks=f"{self.blocks},{block}" if self.blocks else block)

    def content(self) -> list[dict[str, Any]]:
        """All content blocks."""
        text = [{"type": "text", "text": self.text}] if self.text else []
        return [*text, *json.loads(f"[{self.blocks}]")] if self.blocks else text
