"""`ToolContext`: who calls, through which agent, as part of which trace."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mcp_core.errors import Declined, InvalidAnswer
from mcp_core.mcp_log import secret_field

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")
Read = Callable[[Mapping[str, Any]], tuple[Any, list[str]]]
"""Reads what a person filled in: the value, and what is wrong with it."""

MAX_TRIES = 3
"""How often a person is asked the same question, until the answer is valid."""

ListFolders = Callable[[], Awaitable[tuple[str, ...]]]
Elicit = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Asks the person: takes the parameters of `elicitation/create`, and gives its result."""
NotifyComplete = Callable[[str], Awaitable[None]]
"""Notifies the client of a session that the person has finished at an address: takes the `elicitationId`."""
ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class RequestHeaders(dict[str, str]):
    """Headers of an HTTP request, by their names in lower case. They may be credentials: the repr has only names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"RequestHeaders({', '.join(self)})"


NO_HEADERS = RequestHeaders()


WaitForPerson = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Waits for something that the person does. The time does not count toward the deadline of the call."""


class UserAnswer(NamedTuple):
    """The answer of a person to a question of a handler."""

    action: str
    """accept, decline or cancel."""
    content: Mapping[str, Any] = MappingProxyType({})
    """The values that they filled in, by field; empty unless they accepted."""

    @property
    def is_accepted(self) -> bool:
        """Whether they answered."""
        return self.action == "accept"


class ToolContext(NamedTuple):
    """The facts about a call that its handler can know."""

    correlation_id: str
    trace_id: str
    agent_id: str
    agent_version: str
    timestamp: str
    user_id: str | None = None
    session_id: str | None = None
    metadata: Mapping[str, Any] = MappingProxyType({})
    read_only: bool = False
    """Whether the tool declares that it changes nothing; a transaction can enforce that."""
    progress: ReportProgress | None = None
    folders: ListFolders | None = None
    caller_key: str = "local"
    """Identifies the caller also without a name. Keep what belongs to a session by this and `session_id` together."""
    headers: Mapping[str, str] = NO_HEADERS
    """The headers of the HTTP request that the app declared with `request_headers`."""
    is_confirmed: bool = False
    """Whether the person was asked about this call, and agreed."""

    elicit: Elicit | None = None
    """Asks the person, for tools that declare `asks`."""
    wait: WaitForPerson | None = None
    """Waits for what the person does besides, for the same tools."""
    modes: frozenset[str] = frozenset()
    """How the client can ask the person for such a tool: form, url, both, or not at all."""
    notify_complete: NotifyComplete | None = None
    """Notifies the client that the person has finished at an address, also after the call; None without sessions."""

    async def ask(self, form: "type[M]", message: str, *, name: str | None = None) -> M:
        """Ask the person to fill in a form, and wait. The time that they take does not count toward the deadline.

        `form` is a model with texts, numbers, booleans, dates, choices (`Literal` or `Enum`) and lists of choices.
        If an answer is not valid, the person is asked again. Raises Declined or InvalidAnswer, which a handler need
        not catch. `name` is the name of the question for a client that keeps answers.

        The tool must declare `asks`. A client that cannot ask ends the call with an error; `modes` says so before.
        """
        from mcp_core.schema.forms import form_schema, read_form  # noqa: PLC0415 - few handlers ask

        def read(content: Mapping[str, Any]) -> tuple[Any, list[str]]:
            found = read_form(form, content)
            return (None, found) if isinstance(found, list) else (found, [])

        action, answers = await self._fill_in(message, form_schema(form), read, name)
        if action != "accept":
            raise Declined(f"The user did not answer {message!r}.", action=action)
        return answers

    async def ask_user(self, message: str, schema: Mapping[str, Any], *, name: str | None = None) -> UserAnswer:
        """Ask the person to fill in a form that is written as JSON Schema, and wait.

        `schema` is a flat schema of an object: texts, numbers, booleans and choices. The answer is checked against it,
        as that of `ask` is; to decline is an answer as well.
        """
        from mcp_core.schema.forms import read_answer  # noqa: PLC0415 - few handlers ask

        action, content = await self._fill_in(message, schema, lambda content: read_answer(schema, content), name)
        return UserAnswer(action, content or {})

    async def _fill_in(self, message: str, schema: Mapping[str, Any], read: Read, name: str | None) -> tuple[str, Any]:
        if self.elicit is None:
            raise RuntimeError("a handler that asks the user declares it: asks=True")
        if secret := secret_field(schema):
            raise ValueError(
                f"a form must not ask for {secret!r}: the client, and the model, could see it. Use ask_url for secrets"
            )
        asked: dict[str, Any] = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        problems: list[str] = []
        for _ in range(MAX_TRIES):
            given = await self.elicit(asked if name is None else asked | {"name": name})
            action, content = str(given.get("action")), given.get("content")
            if action != "accept":
                return action, None
            value, problems = read(content if isinstance(content, Mapping) else {})  # pyright: ignore[reportUnknownArgumentType]
            if not problems:
                return action, value
            asked["message"] = f"{message}\n\nPlease correct: {'; '.join(problems)}."
        raise InvalidAnswer(f"The user's answers to {message!r} are not valid: {'; '.join(problems)}.")

    async def ask_url(
        self, message: str, address: str, finished: Callable[[], Awaitable[object]] | None = None
    ) -> UserAnswer:
        """Ask the person to open an address in a browser. With `finished`, wait until that returns.

        The tool must declare `asks`, and `modes` must have `url`. What the person types there, no client sees.
        """
        if self.elicit is None or self.wait is None:
            raise RuntimeError("a handler that asks the user declares it: asks=True")
        number = secrets.token_hex(16)
        given = await self.elicit({"mode": "url", "message": message, "url": address, "elicitationId": number})
        answer = UserAnswer(str(given.get("action")))
        if answer.is_accepted and finished is not None:
            await self.wait(finished())
            if self.notify_complete is not None:
                await self.notify_complete(number)
        return answer

    async def client_folders(self) -> tuple[str, ...]:
        """The folders that the client works in; empty if it does not say, or its protocol cannot."""
        return () if self.folders is None else await self.folders()

    async def report_progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the client, if it asked for progress."""
        if self.progress is not None:
            await self.progress(done, total, message)

    def to_dict(self) -> dict[str, Any]:
        """The documented field names."""
        return {
            "userId": self.user_id,
            "sessionId": self.session_id,
            "correlationId": self.correlation_id,
            "traceId": self.trace_id,
            "agentId": self.agent_id,
            "agentVersion": self.agent_version,
            "timestamp": self.timestamp,
            "metadata": dict(self.metadata),
        }
