"""A client in memory, for tests and scripts: `async with app.client() as client`.

Requests take the same way as those of a client over stdio, from the check of their shape to the text of the answer;
only the pipe is missing. Nothing of an MCP library is imported.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Self, cast

from pydantic import ValidationError

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.render import Format, failure_in, structured_form, value_in
from mcp_core.context import ReportProgress
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.output import type_adapter, value_type
from mcp_core.errors import ToolError
from mcp_core.hosts.fast_path.client_requests import confirm, elicit
from mcp_core.hosts.fast_path.methods import FastPath, NotHandled
from mcp_core.hosts.names import CONFIRM
from mcp_core.hosts.protocol import Peer, RpcError, method_not_found
from mcp_core.text.json_text import JsonObject

__all__ = ["Answer", "CallFailed", "CallResult", "Client", "Elicitation", "RequestFailed"]


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A question of the server to the person."""

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The form to fill in, as JSON Schema."""
    url: str | None = None
    """The address to open, for a question without a form."""


Reply = bool | Mapping[str, Any] | None
"""True accepts, a mapping accepts with the fields of the form, False declines, None cancels."""
Answer = Reply | Callable[[Elicitation], Reply | Awaitable[Reply]]
"""A reply to every question, or a function that gives it."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The answer to a call."""

    data: Any
    """The value, as the type that the tool declares; None if the call failed."""
    text: str
    """The first content block, as an agent reads it."""
    content: list[JsonObject]
    """All content blocks."""
    structured_content: Any
    meta: JsonObject
    is_error: bool


class CallFailed(ToolError):
    """A tool answered with an error. `str(error)` is its message, `error_type` its type."""

    def __init__(self, message: str, error_type: str, result: CallResult) -> None:
        super().__init__(message)
        self.error_type, self.result = error_type, result  # pyright: ignore[reportAttributeAccessIssue] - a class has one for all


class RequestFailed(Exception):
    """The server refused a request with an error of the protocol, such as for an unknown tool."""

    def __init__(self, message: str, code: int, data: Any) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Client:
    """A client of one app. Entering it opens the app, leaving it closes the app."""

    def __init__(self, app: App, answer: Answer = None, caller: Caller | None = None) -> None:
        """`answer` replies to questions; without it, the client cannot be asked. `caller` is who calls."""
        self._app, self._fast_path, self._answer = app, FastPath(app), answer
        can_be_asked = answer is not None
        self._peer = Peer(
            caller=caller or app.local_caller,
            modern=False,
            agent_id="toolcharter-testing",
            agent_version=app.version,
            can_elicit=can_be_asked,
            can_open_urls=can_be_asked,
            ask=partial(confirm, self._take_request) if can_be_asked else None,
            elicit=partial(elicit, self._take_request),
        )

    async def __aenter__(self) -> Self:
        await self._app.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        await self._app.__aexit__(kind, error, stack)

    # --- requests --------------------------------------------------------------------------------------

    async def list_tools(self) -> list[ListedTool]:
        """The tools that the caller may use."""
        return [ListedTool.from_wire(tool) for tool in await self._all_pages("tools/list", "tools")]

    async def _all_pages(self, method: str, member: str) -> list[JsonObject]:
        page = await self.request(method)
        items: list[JsonObject] = page[member]
        while "nextCursor" in page:
            page = await self.request(method, {"cursor": page["nextCursor"]})
            items += page[member]
        return items

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        raise_on_error: bool = True,
        progress: ReportProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallResult:
        """Call a tool by the name that agents see. Raises CallFailed for an error, unless that is not wanted.

        `progress` is called with what the tool reports; `meta` is sent as `_meta`.
        """
        params = {"name": name, "arguments": dict(arguments or {}), **({"_meta": dict(meta)} if meta else {})}
        answer = await self.request("tools/call", params, progress)
        content: list[JsonObject] = answer["content"]
        text = next((block["text"] for block in content if block["type"] == "text"), "")
        is_error = bool(answer.get("isError"))
        about: JsonObject = answer.get("_meta", {})
        data = None if is_error else self._typed(name, text, answer.get("structuredContent"))
        result = CallResult(data, text, content, answer.get("structuredContent"), about, is_error)
        if is_error and raise_on_error:
            raise CallFailed(*failure_in(text, self._format, about), result)
        return result

    async def list_prompts(self) -> list[JsonObject]:
        """The prompts, as in the protocol."""
        return await self._all_pages("prompts/list", "prompts") if self._app.library.prompts else []

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> list[JsonObject]:
        """The messages of a prompt."""
        return (await self.request("prompts/get", {"name": name, "arguments": dict(arguments or {})}))["messages"]

    async def list_resources(self) -> list[JsonObject]:
        """The first page of the resources, as in the protocol."""
        return await self._all_pages("resources/list", "resources")

    async def read_resource(self, uri: str) -> list[JsonObject]:
        """The contents of a resource."""
        return (await self.request("resources/read", {"uri": uri}))["contents"]

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, progress: ReportProgress | None = None
    ) -> JsonObject:
        """The result of any request of the protocol. Raises RequestFailed."""
        try:
            # As over a pipe, so that what is no JSON is found here.
            sent: JsonObject = json.loads(json.dumps(dict(params or {})))
            return json.loads(await self._fast_path.answer(method, sent, self._peer._replace(progress=progress)))
        except NotHandled:
            refused = method_not_found(method)
        except RpcError as error:
            refused = error
        raise RequestFailed(refused.message, refused.code, refused.data)

    # --- answers ---------------------------------------------------------------------------------------

    @property
    def _format(self) -> Format:
        return self._app.policy.format

    def _typed(self, name: str, text: str, structured: JsonObject | None) -> Any:
        """The value in an answer, as the type that the tool declares, where it can be read as that type."""
        spec = self._app.registry.find(name)
        returns = Any if spec is None else spec.signature.returns
        form = structured_form(returns, self._format, self._app.policy.structured)
        if structured is not None and form is not None and self._format == "bare":
            value = structured["result"] if form == "wrapped" else structured
        else:
            is_plain = self._format == "bare" and value_type(returns) is str and text != '""'
            value = value_in(text, self._format, is_plain=is_plain)
        adapter = None if spec is None or value is None else type_adapter(spec.signature.returns)
        if adapter is None:
            return value
        # A text as it is may look like JSON, such as "5".
        for given in (json.dumps(value), json.dumps(text)):
            with suppress(ValidationError):
                return adapter.validate_json(given)
        return value

    async def _take_request(self, method: str, params: JsonObject) -> JsonObject:  # noqa: ARG002 - questions alone come
        """Answer a question of the server's."""
        schema: JsonObject = params.get("requestedSchema") or {}
        reply: Any = self._answer
        if callable(reply):
            reply = reply(Elicitation(params["message"], schema, params.get("url")))
            reply = await cast(Awaitable[Reply], reply) if inspect.isawaitable(reply) else reply
        if reply is None or reply is False:
            return {"action": "cancel" if reply is None else "decline"}
        if params.get("mode") == "url":
            return {"action": "accept"}
        confirmed = {CONFIRM: True} if CONFIRM in schema.get("properties", {}) else {}
        return {"action": "accept", "content": confirmed if reply is True else dict(reply)}
