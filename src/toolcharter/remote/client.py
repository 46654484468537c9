"""An MCP client for servers that are not ours or run in another process."""

import asyncio
import inspect
import json
import logging
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from http import HTTPStatus
from importlib.metadata import version
from types import FunctionType
from typing import Any, NamedTuple, cast

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client import stdio
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcp_core.calling.records import Answer
from mcp_core.context import Elicit, ReportProgress
from mcp_core.declare.charter import DOCS_SCHEME, HEALTH_URI
from mcp_core.declare.listed import ListedTool
from mcp_core.hosts.names import CANNOT_START, MISSING_CAPABILITY
from mcp_core.text import json_text
from mcp_core.text.json_text import JsonObject
from mcp_core.text.plurals import count
from toolcharter.remote import message_limit
from toolcharter.remote.following import AnswerQuestion, FollowsTasks
from toolcharter.remote.message_limit import BoundedLines, MessageTooLarge
from toolcharter.remote.server_log import ServerLog, open_log

_library_log = logging.getLogger("mcp.client.stdio")
MAX_PAGES = 1_000
MAX_ITEMS = 100_000
MAX_LIST_SIZE = 64_000_000
"""How much a server may list; the size is in bytes. No real server lists as much."""
MAX_QUESTIONS = 10
"""How many questions a server may ask while we are connected to it."""


class Timeouts(NamedTuple):
    """How many seconds a server may take, so that a server that does not answer cannot hang a command."""

    answer: float = 60.0
    """To start, and to list all tools."""
    call: float = 600.0
    """To answer one call."""


DEFAULT_TIMEOUTS = Timeouts()
_EXPLAINED: frozenset[int] = frozenset({
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.SERVICE_UNAVAILABLE,
})  # fmt: skip
"""The rejections that have an error of their own."""


def _bounded_stdio_client() -> Any:
    """The library's client for stdio, with our reader in place of its own.

    The library reads lines of any length, in quadratic time, and has no option for it. This is a copy of its function
    with other globals: the library itself stays as it is.
    """
    original: Any = inspect.unwrap(stdio.stdio_client)
    globals_ = {**vars(stdio), "TextReceiveStream": BoundedLines}
    copy = FunctionType(original.__code__, globals_, original.__name__, original.__defaults__, original.__closure__)
    copy.__kwdefaults__ = original.__kwdefaults__
    return asynccontextmanager(copy)


class ServerUnreachable(Exception):
    """The server did not answer, refused the connection, or sent what cannot be used. The message says which."""


@asynccontextmanager
async def connect(
    url: str,
    token: str | None,
    elicit: Elicit | None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    *,
    follow_tasks: bool = False,
) -> AsyncGenerator["RemoteServer"]:
    """Connect to a server at an address."""
    authorization = {"Authorization": f"Bearer {token}"} if token else {}
    http = create_mcp_http_client(headers={**message_limit.NO_COMPRESSION, **authorization})
    rejected: list[httpx2.Response] = []

    async def note_rejection(response: httpx2.Response) -> None:
        # A server without a stream of its own refuses a GET, and works.
        if response.status_code in _EXPLAINED and response.request.method == "POST":
            rejected.append(response)

    # The SDK raises the same error for every rejection, without the reason.
    http.event_hooks = {"response": [note_rejection, message_limit.bound_response]}
    try:
        async with (
            _unreachable_errors(url),
            http,
            _open(
                streamable_http_client(url, http_client=http, max_sse_event_size=message_limit.MAX_MESSAGE),
                elicit,
                timeouts,
                follow_tasks=follow_tasks,
            ) as server,
        ):
            yield server
    except ServerUnreachable:
        if not rejected:
            raise
        raise ServerUnreachable(f"{url}: {_explain(rejected[0], url, has_token=token is not None)}") from None


def _explain(rejection: httpx2.Response, url: str, *, has_token: bool) -> str:
    """Why a server rejected a request, and what to do."""
    match HTTPStatus(rejection.status_code):
        case HTTPStatus.MISDIRECTED_REQUEST:
            host = httpx2.URL(url).host
            hint = f"A server of toolcharter does with --allow-hosts {host}"
            return f"the server does not answer to the name {host!r}. {hint}."
        case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED as status:
            hint = "" if url.rstrip("/").endswith("/mcp") else " Most addresses of MCP servers end in /mcp."
            return f"there is no MCP server at this address ({status.value} {status.phrase}).{hint}"
        case HTTPStatus.SERVICE_UNAVAILABLE:
            seconds = rejection.headers.get("retry-after", "")
            when = f"in {seconds} seconds" if seconds.isdecimal() else "later"
            return f"the server cannot answer now (503 Service Unavailable). Try again {when}."
        case _:
            problem = "rejects this token; give another one" if has_token else "requires a token; give one"
            return f"the server {problem} with --token."


@asynccontextmanager
async def start(
    command: Sequence[str],
    elicit: Elicit | None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    *,
    follow_tasks: bool = False,
    show_log: bool = False,
    variables: Mapping[str, str] | None = None,
    last_words: list[str] | None = None,
) -> AsyncGenerator["RemoteServer"]:
    """Start a server with our environment, and with further variables, and connect to it over stdio.

    `last_words` get what would be printed of its log, where they are given.
    What it writes to stderr is printed if the connection fails. With `show_log`, it is always printed, while the
    server runs, but not what comes before the connection: an older server complains there about a method that it
    does not know.
    """
    parameters = StdioServerParameters(
        command=command[0], args=list(command[1:]), env={**os.environ, **(variables or {})}
    )
    with open_log() as log:
        is_log_printed = True
        stray_lines = _StrayLines()
        _library_log.addFilter(stray_lines)
        try:
            async with (
                _unreachable_errors(" ".join(command)),
                _open(
                    _bounded_stdio_client()(parameters, errlog=log.file), elicit, timeouts, follow_tasks=follow_tasks
                ) as server,
                _follow(log) if show_log else nullcontext(),
            ):
                is_log_printed = show_log
                yield server
        except ServerUnreachable:
            is_log_printed = True
            raise
        finally:
            _library_log.removeFilter(stray_lines)
            if is_log_printed and last_words is not None:
                last_words += log.take_new()
            elif is_log_printed:
                log.print_new()


@asynccontextmanager
async def _follow(log: ServerLog) -> AsyncGenerator[None]:
    log.skip()
    following = asyncio.create_task(log.follow())
    try:
        yield
    finally:
        following.cancel()


class _StrayLines(logging.Filter):
    """Reports once what the library reports, with a stack, for each line that is not a message."""

    def __init__(self) -> None:
        super().__init__()
        self._is_reported = False

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.exc_info:
            return True
        record.exc_info = None
        record.msg = "The server writes lines to stdout that are not messages of MCP. Logs belong on stderr."
        is_first, self._is_reported = not self._is_reported, True
        return is_first


@asynccontextmanager
async def open_object(
    server: Any,
    name: str,
    elicit: Elicit | None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    *,
    follow_tasks: bool = False,
) -> AsyncGenerator["RemoteServer"]:
    """Connect to a server object of an MCP library (`MCPServer`, the low-level `Server`, FastMCP) in this process."""
    low_level = getattr(server, "_mcp_server", server)
    if not isinstance(low_level, Server | MCPServer):
        raise ServerUnreachable(f"{name!r} is a {type(server).__name__}, not an MCP server.")
    async with _unreachable_errors(name), _open(low_level, elicit, timeouts, follow_tasks=follow_tasks) as opened:
        yield opened


@asynccontextmanager
async def _open(
    server: Any, elicit: Elicit | None, timeouts: Timeouts, *, follow_tasks: bool
) -> AsyncGenerator["RemoteServer"]:
    answer = _answering(elicit)
    # A task may take as long as it likes, unless somebody said how long a call may.
    seconds = None if timeouts == DEFAULT_TIMEOUTS else timeouts.call
    following = FollowsTasks(answer, seconds) if follow_tasks else None
    async with AsyncExitStack() as stack:
        async with asyncio.timeout(timeouts.answer):
            client = _client(server, None if elicit is None else answer, timeouts, following)
            await stack.enter_async_context(client)
        # The library would validate results itself, in time that a schema of the server can make exponential.
        client.session.validate_tool_result = _accept_result
        yield RemoteServer(client, timeouts, following)


async def _accept_result(name: str, result: types.CallToolResult) -> None:
    """Accept every result; the rules of the verifier compare it with its schema."""


def _answering(elicit: Elicit | None) -> AnswerQuestion:
    """The function that answers the questions of a server, of which there may be only so many."""
    questions = 0

    async def answer(params: types.ElicitRequestParams) -> types.ElicitResult:
        nonlocal questions
        questions += 1
        if elicit is None or questions > MAX_QUESTIONS:
            return types.ElicitResult(action="decline")
        return types.ElicitResult.model_validate(await elicit(params.model_dump(by_alias=True, exclude_none=True)))

    return answer


def _client(server: Any, answer: AnswerQuestion | None, timeouts: Timeouts, following: FollowsTasks | None) -> Client:
    """A client. Without `answer`, it does not say that it can ask a person; without `following`, it gets no tasks."""

    async def elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="decline") if answer is None else await answer(params)

    return Client(
        server,
        elicitation_callback=None if answer is None else elicit,
        read_timeout_seconds=timeouts.answer,
        client_info=types.Implementation(name="toolcharter", version=version("toolcharter")),
        extensions=None if following is None else [following],
    )


@asynccontextmanager
async def _unreachable_errors(where: str) -> AsyncGenerator[None]:
    """Turn the errors of the MCP library into ServerUnreachable.

    The library's task groups wrap every exception, ours too, in exception groups; here they are taken out again.
    """
    try:
        yield
    except BaseException as error:
        cause = _first_cause(error)
        if isinstance(cause, ServerUnreachable | MessageTooLarge):
            raise ServerUnreachable(f"{where}: {cause}") from None
        if isinstance(cause, httpx2.HTTPError | MCPError | OSError | ValidationError | UnicodeDecodeError):
            raise ServerUnreachable(f"{where}: {_reason(cause)}") from None
        if cause is error:
            raise
        raise cause from None


def _first_cause(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        return _first_cause(cast(BaseExceptionGroup[BaseException], error).exceptions[0])
    return error


def _reason(error: BaseException) -> str:
    if isinstance(error, httpx2.ConnectError):
        return _connect_problem(error)
    if isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED:
        if error.error.message.endswith("byte limit."):
            return str(MessageTooLarge())
        return "the server closed the connection without an answer."
    if isinstance(error, MCPError) and error.code == MISSING_CAPABILITY and "elicitation" in str(error.data):
        return f"{error.error.message} Call it in a terminal, where you can answer."
    if isinstance(error, TimeoutError) or (isinstance(error, MCPError) and error.code == types.REQUEST_TIMEOUT):
        return "the server did not answer in time. Give it more seconds with --timeout."
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"the server sent an answer that is not valid in MCP, at {place}: {first['msg']}"
    return str(error) or type(error).__name__


def _connect_problem(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, socket.gaierror):
            return "no host has this name."
        if isinstance(error, ssl.SSLCertVerificationError):
            trusted = "Set SSL_CERT_FILE to a PEM file with it, or with the authority that signed it."
            return f"the certificate of the server is not trusted here: {error.verify_message}. {trusted}"
        if isinstance(error, ssl.SSLError):
            return "no TLS is spoken at this address; does it begin with http://?"
        error = error.__cause__ or error.__context__
    return "nothing listens at this address; is the server running?"


class RemoteServer:
    """A server that we talk to in MCP."""

    def __init__(
        self, client: Client, timeouts: Timeouts = DEFAULT_TIMEOUTS, following: FollowsTasks | None = None
    ) -> None:
        self._client = client
        self._timeouts = timeouts
        self._following = following

    @property
    def identity(self) -> tuple[str, str | None]:
        """The name of the server, and its version. Since protocol 2026-07-28 a server may leave out both."""
        info = self._client.server_info
        return ("server", None) if info is None else (info.name, info.version)

    async def list_tools(self) -> list[ListedTool]:
        """All tools, from all pages."""
        return [ListedTool.from_wire(tool) for tool in await self._all_pages(self._client.list_tools, "tools")]

    async def list_prompts(self) -> list[JsonObject]:
        """All prompts, from all pages. A server without prompts has an empty list."""
        return await self._all_pages(self._client.list_prompts, "prompts", optional=True)

    async def list_resources(self) -> list[JsonObject]:
        """All resources and templates, from all pages."""
        resources = await self._all_pages(self._client.list_resources, "resources", optional=True)
        templates = await self._all_pages(self._client.list_resource_templates, "resource_templates", optional=True)
        return resources + templates

    async def other_texts(self) -> JsonObject:
        """The other texts for agents: `instructions`, `prompts` and `resources`; `problems` has the failures."""
        texts: JsonObject = {"instructions": self._client.instructions, "problems": []}
        has = self._client.server_capabilities
        for name, supported, list_all in (
            ("prompts", has.prompts, self.list_prompts),
            ("resources", has.resources, self.list_resources),
        ):
            try:
                texts[name] = [] if supported is None else await list_all()
            except (MCPError, ServerUnreachable, TimeoutError, ValidationError) as error:
                texts["problems"].append(f"The {name} were not checked, because listing them failed: {_reason(error)}")
        return texts

    async def _all_pages(
        self, list_page: Callable[..., Awaitable[Any]], name: str, *, optional: bool = False
    ) -> list[JsonObject]:
        """The items of all pages. A server need not know the method of what is optional."""
        items: list[JsonObject] = []
        cursors: set[str | None] = set()
        cursor: str | None = None
        size = 0
        async with asyncio.timeout(self._timeouts.answer):
            while (
                cursor not in cursors and len(cursors) < MAX_PAGES and len(items) <= MAX_ITEMS and size <= MAX_LIST_SIZE
            ):
                cursors.add(cursor)
                try:
                    page = await list_page(cursor=cursor)
                except MCPError as error:
                    if optional and error.error.code == types.METHOD_NOT_FOUND:
                        return items
                    raise
                items += [item.model_dump(by_alias=True, exclude_none=True) for item in getattr(page, name)]
                cursor = page.next_cursor
                if cursor is None:
                    return items
                # A message is bounded already, many pages are not.
                size += len(page.model_dump_json(exclude_none=True))
        problem = "repeats a cursor" if cursor in cursors else "does not end"
        listed = f"{len(items):,} in {count(len(cursors), 'page')}"
        if size > MAX_LIST_SIZE:
            problem, listed = "is too large", f"{size:,} bytes, {listed}"
        raise ServerUnreachable(f"the list of {name.replace('_', ' ')} {problem}: {listed}, and another page follows.")

    async def health(self) -> Mapping[str, str]:
        """The problems of the server by its own check, where it has one. Returns when the server is ready.

        Raises ServerUnreachable if the server cannot start.
        """
        if self._client.server_capabilities.resources is None:
            return {}
        try:
            async with asyncio.timeout(self._timeouts.answer):
                read = await self._client.read_resource(HEALTH_URI)
            content = read.contents[0]
            health: Any = json.loads(content.text) if isinstance(content, types.TextResourceContents) else {}
            problems: dict[Any, Any] = health.get("problems", {})
            return {str(name): str(problem) for name, problem in problems.items()}
        except MCPError as error:
            data: Any = error.error.data
            if isinstance(data, dict) and cast(JsonObject, data).get("reason") == CANNOT_START:
                raise ServerUnreachable(error.error.message) from None
            if error.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT):
                raise ServerUnreachable(_reason(error)) from None
            return {}
        except (IndexError, ValueError, AttributeError):  # a resource of another server, under the same address
            return {}

    async def documentation(self, tool: ListedTool) -> str:
        """The full documentation of a tool; its description if the server has no documentation."""
        try:
            read = await self._client.read_resource(f"{DOCS_SCHEME}{tool.name}")
        except MCPError:
            return tool.description
        content = read.contents[0]
        return content.text if isinstance(content, types.TextResourceContents) else tool.description

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: ReportProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Call a tool. `progress` is called with what the tool reports."""
        if self._following is not None:
            self._following.progress = progress
        result = await self._client.call_tool(
            tool, dict(arguments), self._timeouts.call, cast(Any, progress), meta=cast(Any, meta)
        )
        texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
        others = [
            block.model_dump(mode="json", by_alias=True, exclude_none=True)
            for block in result.content
            if not isinstance(block, types.TextContent)
        ]
        blocks = json_text.to_text(others)[1:-1] if others else ""
        structured = None if result.structured_content is None else json.dumps(result.structured_content)
        return Answer("\n".join(texts), bool(result.is_error), structured, blocks=blocks)
