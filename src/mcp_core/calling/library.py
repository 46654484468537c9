"""The prompts and resources of one server: look-up, paging and records. The pipeline runs their functions.

A failure is a protocol error, `Refused`: these methods have no result that could carry it. The pipeline is imported
when the server is opened, so that lists do not wait for it.
"""

import difflib
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from mcp_core.auth import Caller
from mcp_core.calling.changes import ResourceUpdate
from mcp_core.calling.records import Request
from mcp_core.calling.requests import RequestRecorder, Sender
from mcp_core.content.blocks import Block, InvalidContent, write_blocks
from mcp_core.declare.charter import DOCS_SCHEME, HEALTH_URI
from mcp_core.declare.completion import MAX_FOUND, MAX_VALUE_LENGTH, Completer, narrowed
from mcp_core.declare.describe import full
from mcp_core.declare.naming import ToolMentions
from mcp_core.declare.prompts import Message, Prompt
from mcp_core.declare.resources import BYTES, TEXT, Content, Resource, ResourcePage, ResourceSource, ResourceTemplate
from mcp_core.declare.skills import SKILL_SCHEME, SkillSource
from mcp_core.declare.spec import Declaration, ToolSpec, spec_of
from mcp_core.errors import BrokenResult, DeclarationError, ElicitationUnsupported, Refused, Unavailable
from mcp_core.registry import ToolRegistry
from mcp_core.result import Body, Result
from mcp_core.state.interface import DependencyHealth
from mcp_core.text import json_text

if TYPE_CHECKING:
    from mcp_core.calling.bound import BoundTool
    from mcp_core.calling.library_calls import LibraryCalls
    from mcp_core.calling.pipeline import Pipeline

MARKDOWN = "text/markdown"
LIST_TTL_MS = 300_000
"""How long clients may cache what does not change while a server runs."""
CHANGING_LIST_TTL_MS = 10_000
"""How long clients may cache a list of tools that may change."""

T = TypeVar("T")

_MESSAGES = (Message, str, Block)
"""The types of the items of a list of messages."""


class Conversation(NamedTuple):
    """The messages of a prompt."""

    messages: Sequence[Message]
    description: str


class Reading(NamedTuple):
    """The content of a resource, and how long and by whom it may be cached."""

    content: Content
    ttl_ms: int
    scope: Literal["public", "private"] = "private"


class SkillsAnswer(NamedTuple):
    """The result of a request for skills, and how long and by whom it may be cached."""

    result: dict[str, Any]
    ttl_ms: int
    scope: Literal["public", "private"]


class _BoundSource(NamedTuple):
    """A source with its functions bound to their resources."""

    source: ResourceSource
    read: "BoundTool"
    list: "BoundTool | None"


class Library:
    """The prompts and resources of one server. What never changes can be listed before it is open."""

    def __init__(
        self, registry: ToolRegistry, requests: RequestRecorder, clock: Callable[[], float] = time.time
    ) -> None:
        self._requests = requests
        self._registry, self._clock = registry, clock
        self._prompts: dict[str, Prompt] = {}
        self._sources: list[ResourceSource] = []
        self._bound_prompts: dict[str, BoundTool] = {}
        self._bound_sources: list[_BoundSource] = []
        self._completers: dict[tuple[str, str], Completer] = {}
        self._bound_completers: dict[tuple[str, str], BoundTool] = {}
        self.skills: SkillSource | None = None
        self._bound_skills: BoundTool | None = None
        self._watchers: dict[str, dict[int, Callable[[str], None]]] = {}
        """The functions to call at changes of a resource, by its address."""
        self._numbers = count()
        self.spread: Callable[[ResourceUpdate | str], None] = lambda _: None
        """Announces changes at every process."""
        self._calls: LibraryCalls | None = None
        """Runs functions, where the app is open."""
        self.check_everything: Callable[[], Awaitable[Sequence[DependencyHealth]]] | None = None
        """Tries what the app depends on."""

    # --- putting it together ---------------------------------------------------------------------------

    def add_prompt(self, prompt: Prompt) -> None:
        if prompt.name in self._prompts:
            raise DeclarationError([f"{prompt.name}: two prompts have this name; rename one"])
        self._prompts[prompt.name] = prompt
        arguments = {argument.name: argument.completer for argument in prompt.arguments}
        self._completers |= {(prompt.name, name): one for name, one in arguments.items() if one is not None}

    def add_source(self, source: ResourceSource) -> None:
        """Add resources. Each address belongs to one source."""
        for taken in (DOCS_SCHEME, *(other.prefix for other in self._sources)):
            if taken.startswith(source.prefix) or source.prefix.startswith(taken):
                raise DeclarationError([f"{source.prefix}: prefix: overlaps with {taken}; choose another"])
        self._sources.append(source)
        source.libraries.add(self)
        self._completers |= source.completers

    def add_skills(self, source: SkillSource) -> None:
        """Serve skills, and their files at `skill://`."""
        self.skills = source
        declared = Declaration(
            name=SKILL_SCHEME, permissions=source.permissions, response_time="medium", category="query"
        )
        self._skills_spec = spec_of(source.read, declared)

    def open(self, pipeline: "Pipeline") -> None:
        """Bind the functions to the resources of the server."""
        from mcp_core.calling.library_calls import LibraryCalls  # noqa: PLC0415 - 20 ms, with the pipeline
        from mcp_core.calling.stages.record import StackLimit  # noqa: PLC0415 - as above

        self._calls = LibraryCalls(self._registry, self._clock, pipeline, StackLimit())

        def bound(spec: ToolSpec) -> "BoundTool":
            return pipeline.bind(spec, spec.name, check_returns=False)

        self._bound_completers = {
            place: bound(one.spec) for place, one in self._completers.items() if one.spec is not None
        }
        self._bound_prompts = {name: bound(prompt.spec) for name, prompt in self._prompts.items()}
        self._bound_sources = [
            _BoundSource(source, bound(source.reader), bound(source.lister) if source.lister else None)
            for source in self._sources
        ]
        self._bound_skills = bound(self._skills_spec) if self.skills is not None else None

    # --- what never changes ----------------------------------------------------------------------------

    @property
    def prompts(self) -> list[Prompt]:
        """All prompts, in a stable order."""
        return list(self._prompts.values())

    def may_ask(self, method: str, name: str) -> bool:
        """Whether the answer to a request may be a question to the person."""
        prompt = self._prompts.get(name) if method == "prompts/get" else None
        return prompt is not None and prompt.spec.declaration.asks

    @property
    def sources(self) -> list[ResourceSource]:
        """The sources of resources, apart from the documentation of the tools."""
        return list(self._sources)

    @property
    def fixed(self) -> list[Resource]:
        """The resources that always exist: first the documentation of each tool."""
        return self._fixed(None)

    def fixed_for(self, caller: Caller) -> list[Resource]:
        """The same, without the documentation of tools that a caller may not use."""
        return self._fixed(caller)

    def _fixed(self, caller: Caller | None) -> list[Resource]:
        tools = [self._registry.final_name(spec) for spec in self._registry.get_all() if _is_shown(spec, caller)]
        documents = [Resource(DOCS_SCHEME + tool, f"{tool} documentation", _about(tool), MARKDOWN) for tool in tools]
        return documents + [resource for source in self._sources for resource in source.fixed]

    @property
    def templates(self) -> list[ResourceTemplate]:
        """The templates of further addresses."""
        return [template for source in self._sources for template in source.templates]

    @property
    def has_completions(self) -> bool:
        """Whether an argument can be completed."""
        return bool(self._completers)

    @property
    def is_subscribable(self) -> bool:
        """Whether clients can subscribe to resources."""
        return any(source.changes for source in self._sources)

    async def subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        """Call `updated` when a resource changes, until the function that is returned is called. Raises Refused."""
        return await self._recorded("resources/subscribe", request, self._subscribe(uri, request, updated))

    async def _subscribe(self, uri: str, request: Request, updated: Callable[[str], None]) -> Callable[[], None]:
        source = next((source for source in self._sources if uri.startswith(source.prefix)), None)
        if source is None or not source.changes:
            raise Refused(f"The resource {uri!r} does not change while the server runs.", "business", {"uri": uri})
        if missing := request.caller.lacks(source.reader.permissions):
            raise Refused(f"{uri!r} needs the permission {', '.join(missing)}.", "business", {"uri": uri})
        self._watchers.setdefault(uri, {})[number := next(self._numbers)] = updated

        def end() -> None:
            watchers = self._watchers.get(uri, {})
            watchers.pop(number, None)
            if not watchers:
                self._watchers.pop(uri, None)

        return end

    def resource_changed(self, uri: str) -> None:
        """Notify clients at every process that a resource has changed."""
        self.spread(ResourceUpdate(uri))

    def resources_changed(self) -> None:
        """Notify clients at every process that the list of resources has changed."""
        self.spread("resources")

    def notify(self, uri: str) -> None:
        """Notify those who watch a resource here that it has changed."""
        for updated in tuple(self._watchers.get(uri, {}).values()):
            updated(uri)

    @property
    def has_changing_resources(self) -> bool:
        """Whether there are resources that must be listed again each time."""
        return any(source.list is not None for source in self._sources)

    # --- requests --------------------------------------------------------------------------------------

    async def prompt(self, request: Request) -> Conversation:
        """The messages of the prompt that a request names. Raises Refused."""
        return await self._recorded("prompts/get", request, self._prompt(request))

    async def _prompt(self, request: Request) -> Conversation:
        name = request.tool
        bound = self._bound_prompts.get(name)
        if bound is None:
            nearest = difflib.get_close_matches(name[:128], self._bound_prompts, n=2, cutoff=0.5)
            hint = f" Did you mean {' or '.join(map(repr, nearest))}?" if nearest else " prompts/list shows all."
            raise Refused(f"Unknown prompt: {name[:128]!r}.{hint}", "validation", {"nearest": nearest})
        description = self._prompts[name].description
        return await self._run(bound, request, lambda raw: _conversation(raw, description, self._registry.mentions))

    async def read(self, request: Request) -> Reading:
        """The content at the address that a request names. Raises Refused."""
        return await self._recorded("resources/read", request, self._read(request))

    async def _read(self, request: Request) -> Reading:
        uri = request.tool
        if uri.startswith(DOCS_SCHEME):
            return self._documentation(uri, request.caller)
        if uri == HEALTH_URI and self.check_everything is not None:
            return _health(await self.check_everything())
        if self._bound_skills is not None and uri.startswith(SKILL_SCHEME):
            return await self._read_skill(self._bound_skills, uri, request)
        bound = next((bound for bound in self._bound_sources if uri.startswith(bound.source.prefix)), None)
        if bound is None:
            raise _unknown_resource(uri)
        try:
            content = await self._run(bound.read, request._replace(arguments={"uri": uri}), _content)
        except Refused as refused:
            raise Refused(str(refused), refused.kind, {**refused.data, "uri": uri}) from None
        if content is None:
            raise _unknown_resource(uri)
        return Reading(content, bound.source.ttl_ms)

    async def _read_skill(self, bound: "BoundTool", uri: str, request: Request) -> Reading:
        from mcp_core.calling.skills import SkillPages  # noqa: PLC0415 - few clients read skills

        content = await self._run(bound, request, lambda raw: SkillPages.of(_value(raw)).read(uri))
        if content is None:
            raise _unknown_resource(uri)
        return Reading(content, self._skill_ttl, self._skill_scope)

    async def answer_skills(self, method: str, params: Mapping[str, Any], request: Request) -> "SkillsAnswer":
        """The result of a request for skills. Raises Refused."""
        return await self._recorded(method, request, self._answer_skills(method, params, request))

    async def _answer_skills(self, method: str, params: Mapping[str, Any], request: Request) -> "SkillsAnswer":
        from mcp_core.calling.skills import SkillPages  # noqa: PLC0415 - as above

        if self._bound_skills is None:
            raise Refused("This server has no skills.", "validation", {})
        # The answer is worked out where the skills are read, so that a failure of either is reported alike.
        pages = await self._run(self._bound_skills, request, lambda raw: SkillPages.of(_value(raw)))
        return SkillsAnswer(pages.answer(method, params), self._skill_ttl, self._skill_scope)

    @property
    def _skill_ttl(self) -> int:
        return LIST_TTL_MS if self.skills is not None and self.skills.never_change else 0

    @property
    def _skill_scope(self) -> Literal["public", "private"]:
        is_public = self.skills is not None and self.skills.never_change and not self.skills.permissions
        return "public" if is_public else "private"

    def _documentation(self, uri: str, caller: Caller) -> Reading:
        spec = self._registry.find(uri.removeprefix(DOCS_SCHEME))
        if spec is None or not _is_shown(spec, caller):
            raise _unknown_resource(uri)
        return Reading(Content(full(spec), MARKDOWN), LIST_TTL_MS, "private" if spec.permissions else "public")

    async def complete(self, argument: str, typed: str, others: Mapping[str, str], request: Request) -> Sequence[str]:
        """The values for an argument of the prompt or template that a request names. Raises Refused."""
        return await self._recorded("completion/complete", request, self._complete(argument, typed, others, request))

    async def _complete(self, argument: str, typed: str, others: Mapping[str, str], request: Request) -> Sequence[str]:
        subject = request.tool
        if subject not in self._prompts and not any(t.uri_template == subject for t in self.templates):
            raise Refused(f"Unknown prompt or template: {subject[:128]!r}.", "validation", {"name": subject[:128]})
        completer = self._completers.get((subject, argument))
        if completer is None:
            return ()
        bound = self._bound_completers.get((subject, argument))
        if bound is None:
            return narrowed(completer.values, typed)
        given = {"value": typed[:MAX_VALUE_LENGTH], "arguments": dict(others)}
        takes = bound.spec.input_schema["properties"].keys()
        arguments = {name: value for name, value in given.items() if name in takes}
        body = await self._run(bound, request._replace(arguments=arguments), _values)
        values: list[str] = json.loads(body.data or "[]")
        return values if completer.narrows else narrowed(values, typed)

    async def list_changing(self, cursor: str | None, request: Request) -> ResourcePage:
        """A page of the resources that change: all sources in turn, until one has a further page."""
        return await self._recorded("resources/list", request, self._list_changing(cursor, request))

    async def _list_changing(self, cursor: str | None, request: Request) -> ResourcePage:
        listers = [bound.list for bound in self._bound_sources if bound.list is not None]
        first, inner_cursor = _split_cursor(cursor, len(listers))
        resources: list[Resource] = []
        for number, lister in enumerate(listers[first:], start=first):
            # A caller who may not read them sees a list without them: even their names are data.
            if request.caller.lacks(lister.permissions):
                continue
            page = await self._page(lister, inner_cursor if number == first else None, request)
            resources += page.resources
            if page.next_cursor is not None:
                return ResourcePage(resources, f"{number}.{page.next_cursor}")
        return ResourcePage(resources)

    async def _page(self, lister: "BoundTool", cursor: str | None, request: Request) -> ResourcePage:
        if cursor is not None and "cursor" not in lister.spec.input_schema["properties"]:
            raise _unknown_cursor(cursor)
        arguments = {} if cursor is None else {"cursor": cursor}
        return await self._run(lister, request._replace(tool=lister.final_name, arguments=arguments), _page)

    async def _recorded(self, method: str, request: Request, answering: Coroutine[Any, Any, T]) -> T:
        """Answer a request, and record it: exactly once, also when it is cancelled."""
        started, audit = time.perf_counter(), self._requests.audit
        outcome, error, size = "cancelled", None, 0
        try:
            try:
                if audit is not None:
                    audit.check()
            except Unavailable as failed:
                answering.close()
                raise Refused(str(failed), "system", {"errorType": failed.error_type}) from None
            answer = await answering
            outcome, size = "ok", 0 if audit is None else _size(answer)
        except Refused as refused:
            outcome, error = refused.kind, str(refused)
            raise
        except ElicitationUnsupported as unsupported:
            outcome, error = unsupported.kind, str(unsupported)
            raise
        finally:
            seconds, name = time.perf_counter() - started, None if method.endswith("/list") else request.tool
            sender = Sender(request.caller.key, f"{request.agent_id} {request.agent_version}")
            self._requests.record(
                method, outcome, sender, name=name, seconds=seconds, size=size, error=error, meta=request.meta
            )
        if audit is not None and audit.refuses and not await audit.settled():
            raise Refused(
                "The audit record of this request could not be written.", "system", {"errorType": "UnavailableError"}
            )
        return answer

    async def _run(self, bound: "BoundTool", request: Request, check: Callable[[Any], T]) -> T:
        """Run a function of a prompt or a resource through the pipeline. Raises Refused."""
        if self._calls is None:
            raise RuntimeError("the app is not open; use it inside `async with app:`")
        return await self._calls.run(bound, request, check)


def _health(found: Sequence[DependencyHealth]) -> Reading:
    """The problems by the name of the dependency, as JSON."""
    problems = {each.name: each.detail or "cannot be reached" for each in found if not each.ok}
    return Reading(Content(json_text.to_text({"ok": not problems, "problems": problems}), "application/json"), 0)


def _size(answer: Any) -> int:
    """About how long an answer is."""
    if isinstance(answer, Reading):
        return len(answer.content.value)
    if isinstance(answer, Conversation):
        return sum(len(message.content) for message in answer.messages if isinstance(message.content, str))
    return len(json_text.to_text(answer)) if isinstance(answer, dict) else 0


def _is_shown(spec: ToolSpec, caller: Caller | None) -> bool:
    """Whether a caller may know of a tool."""
    return spec.is_listed and (caller is None or not caller.lacks(spec.permissions))


def _about(tool: str) -> str:
    return f"The full documentation of {tool}: description, schema, usage, examples."


# --- errors ------------------------------------------------------------------------------------------------


def _unknown_resource(uri: str) -> Refused:
    return Refused(f"Unknown resource: {uri}", "validation", {"uri": uri})


def _unknown_cursor(cursor: str) -> Refused:
    return Refused(
        f"The cursor {cursor[:60]!r} does not belong to this list. Begin without a cursor.", "validation", {}
    )


def _split_cursor(cursor: str | None, sources: int) -> tuple[int, str | None]:
    """The number of the source that a cursor belongs to, and the source's own cursor."""
    if cursor is None:
        return 0, None
    number, dot, inner = cursor.partition(".")
    if not (dot and number.isascii() and number.isdecimal() and len(number) < len(str(sources)) + 1):
        raise _unknown_cursor(cursor)
    if int(number) >= sources:
        raise _unknown_cursor(cursor)
    return int(number), inner


# --- what handlers return ----------------------------------------------------------------------------------


def _value(raw: Any) -> Any:
    """The value of a result; a failure is raised."""
    if not isinstance(raw, Result):
        return raw
    result = cast(Result[Any], raw)
    if result.is_failure():
        kind = "validation" if result.error_type == "ValidationError" else "business"
        raise Refused(cast(str, result.error), kind, {"errorType": result.error_type})
    return result.value


def _conversation(raw: Any, description: str, mentions: ToolMentions) -> Conversation:
    """A text is one message. The instruction of a result is one more, for the agent."""
    value = _value(raw)
    if isinstance(value, Message):
        messages = [value]
    elif isinstance(value, Block):
        messages = [Message(value)]
    elif isinstance(value, list | tuple) and all(isinstance(m, _MESSAGES) for m in cast(list[Any], value)):
        messages = [m if isinstance(m, Message) else Message(m) for m in cast(list[Message | str | Block], value)]
    else:
        text = value if isinstance(value, str) else _as_json(value)
        messages = [] if value is None else [Message(text)]
    if isinstance(raw, Result):
        result = cast(Result[Any], raw)
        messages += [Message(mentions.rename(result.instruction))] if result.instruction else []
        description = mentions.rename(result.message) if result.message else description
    if not messages or not all(message.role in ("user", "assistant") for message in messages):
        raise BrokenResult("returned no messages; return a text, a list of Message, or a Result with either")
    try:
        write_blocks([message.content for message in messages])
    except InvalidContent as error:
        raise BrokenResult(f"returned {error}") from None
    return Conversation(messages, description)


def _as_json(value: Any) -> str:
    try:
        return json_text.to_text(value)
    except TypeError as error:
        raise BrokenResult(f"returned a value without a JSON form: {error}") from error


def _content(raw: Any) -> Content | None:
    value = _value(raw)
    if value is None or isinstance(value, Content):
        return value
    if isinstance(value, str | bytes):
        return Content(value, TEXT if isinstance(value, str) else BYTES)
    raise BrokenResult(f"returned {type(value).__name__}; return str, bytes, Content, or None for no such resource")


def _values(raw: Any) -> Body:
    """The values of a completion, in the form that the cache keeps."""
    value = _value(raw)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise BrokenResult(f"returned {type(value).__name__}; return the values as a list of texts")
    values = list(islice(cast(Iterable[Any], value), MAX_FOUND))
    if not all(isinstance(each, str) for each in values):
        raise BrokenResult("returned values that are not texts")
    return Body(json_text.to_text([each for each in values if len(each) <= MAX_VALUE_LENGTH]))


def _page(raw: Any) -> ResourcePage:
    value = _value(raw)
    page = value if isinstance(value, ResourcePage) else ResourcePage(value)
    if not isinstance(cast(Any, page.resources), list | tuple) or not all(
        isinstance(cast(Any, resource), Resource) for resource in page.resources
    ):
        raise BrokenResult("returned neither a list of Resource nor a ResourcePage")
    return page
