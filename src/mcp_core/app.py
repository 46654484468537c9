"""`App`: a server's tools and all they need, independent of any host. Each server's `build(settings)` makes one."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar, Unpack, cast, overload

from mcp_core.auth import Caller, TokenVerifier, user
from mcp_core.auth.identity import open_identity
from mcp_core.auth.static_tokens import EXAMPLE as STATIC_TOKENS
from mcp_core.calling.changes import Change, ChangeNews, Changes, ResourceUpdate, TaskUpdate
from mcp_core.calling.library import Library
from mcp_core.calling.live_library import LiveLibrary
from mcp_core.calling.policy import CallPolicy, HintDetail
from mcp_core.calling.provided import Made, Provided, Scope
from mcp_core.calling.records import Answer, Question, Request
from mcp_core.calling.render import Format, StructuredTools, answer_schema
from mcp_core.calling.requests import TASK_CREATED, RequestRecorder, Sender
from mcp_core.calling.running import RunningHandlers
from mcp_core.declare.describe import Detail, describe, full
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.meta import declared_meta
from mcp_core.declare.naming import Naming
from mcp_core.declare.prompts import PromptOptions, prompt_of
from mcp_core.declare.resources import ResourceSource
from mcp_core.declare.schema import JsonSchema
from mcp_core.declare.skills import Skill, Skills, skill_source
from mcp_core.declare.spec import DEADLINES, ResponseTime, ToolOptions, ToolSpec, declaration_of, spec_of
from mcp_core.declare.tool import add_options, check_function
from mcp_core.errors import DeclarationError, ForgedReply, UnknownTool
from mcp_core.idempotency.keys import KeyStore
from mcp_core.logs.telemetry import DEPENDENCY_FAILURES, DEPENDENCY_UP, Sample, Source, Telemetry, build_info
from mcp_core.mcp_log import get_logger
from mcp_core.process.extras import RequiresExtra, missing_extra
from mcp_core.registry import ToolRegistry, listed_tools
from mcp_core.settings.model import Settings
from mcp_core.state.health import CHECK_SECONDS, DependencyCheck
from mcp_core.state.interface import DependencyHealth, State, StateUnavailable
from mcp_core.state.memory import MemoryState
from mcp_core.state.subscribers import Subscribers

if TYPE_CHECKING:
    from mcp_core.audit import AuditTrail
    from mcp_core.calling.people import Approvals
    from mcp_core.calling.people.asking import HeldCalls
    from mcp_core.calling.people.tasks import Tasks
    from mcp_core.calling.pipeline import Pipeline
    from mcp_core.calling.shares import CallShares
    from mcp_core.calling.stages.record import EndedCall
    from mcp_core.db import Database
    from mcp_core.tasks.record import TaskRecord, TaskStore

F = TypeVar("F", bound=Callable[..., Any])
logger = get_logger(__name__)
T = TypeVar("T")

_CALL = "tools/call"
_DISABLED, _SWITCHED = "disabled-tools", "switched"
_NONE: frozenset[str] = frozenset()
DISABLED_SECONDS = 10 * 365 * 86_400.0
"""How long a tool stays switched off, if nobody switches it on again."""
DEFAULT_VERSION = "0.1.0"
"""The version of a server whose author has not given one."""
MAX_CLIENTS = 10_000
"""How many clients may wait for changes of lists."""


class OwnRoute(NamedTuple):
    """An HTTP route that an author adds to the site of an app."""

    path: str
    handler: Callable[..., Any]
    methods: tuple[str, ...]
    permissions: tuple[str, ...]
    seconds: float
    """How long an answer may take."""


class _Declared(NamedTuple):
    """The arguments of the author that a setting may replace."""

    naming: Naming
    descriptions: Detail
    deadlines: Mapping[ResponseTime, float]
    verifier: TokenVerifier | None


class App:
    """A server's tools and their policy.

    Hosts enter it (`async with app`) before they serve: that opens what the tools need and binds them to it.
    """

    has_all_tools: bool = False
    """Whether it has the tools of all apps that are served with it, and is served at `/mcp` as well."""

    is_used: bool = False
    """Whether it was run, or opened."""

    _tasks: "Tasks | None" = None

    governs: ClassVar[bool] = True
    """For ExtMcpToolDecorator: tools need no wrapper here."""

    @cached_property
    def _mounted(self) -> "list[App]":
        return []

    @cached_property
    def routes(self) -> "list[OwnRoute]":
        """The HTTP routes of the author."""
        return []

    def __init__(
        self,
        name: str,
        *,
        version: str = DEFAULT_VERSION,
        tools: Iterable[ToolSpec | Callable[..., Any] | ModuleType] = (),
        prompts: Iterable[Callable[..., Any]] = (),
        resources: Iterable[ResourceSource] = (),
        skills: Skills = (),
        naming: Naming | None = None,
        format: Format = "bare",
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        descriptions: Detail = "compact",
        structured: bool | None = None,
        hints: HintDetail = "full",
        deadlines: Mapping[ResponseTime, float] = DEADLINES,
        prepare_examples: Callable[[Any], Awaitable[None]] | None = None,
        settings: Settings | None = None,
        state: State | None = None,
        telemetry: Telemetry | None = None,
        verifier: TokenVerifier | None = None,
        strict: bool = False,
        request_headers: Iterable[str] = (),
        notice: Callable[[], str | None] | None = None,
        make_library: Callable[[ToolRegistry, RequestRecorder], Library] = Library,
    ) -> None:
        """`description` is one sentence for people: what the server is for. `instructions` are for agents.

        `skills` is a folder of skills, a list, or a function that gives them: clients list and read them, and a plugin
        for coding agents brings them along.

        The name is a part of addresses and files; of "My server!" it is my-server, and the title is the text.
        `notice` gives what a person who starts the server in a terminal should know, such as that its data is made up.
        `request_headers` are the HTTP headers that handlers find in `ToolContext.headers`. A `strict` server refuses
        tools that are not governed, with everything that is missing.

        The value of a header whose name says so, such as `X-Acme-Authorization`, is kept out of logs and errors.
        """
        self.title, name = title or name, _server_name(name)
        self.name, self.version, self._instructions = name, version, instructions
        self.description, self.notice = description, notice
        self.registry = ToolRegistry(naming, strict=strict)
        self.tools_version = 0
        """Counts how often the tools changed. Hosts write their lists again when it changes."""
        self.prepare_examples = prepare_examples
        """Creates the data that the examples use, in an app that is used for nothing else."""
        self.telemetry = telemetry or Telemetry(name)
        self.requests = RequestRecorder(self.telemetry)
        """Records requests that are not calls of tools."""
        self.library = make_library(self.registry, self.requests)
        self.news = ChangeNews(self._take_change)
        """Changes that this process and others announce."""
        self._add_to_library(prompts, resources, skills)
        tools = listed_tools(tools)
        self.lists_change = not tools or isinstance(self.library, LiveLibrary)
        """Whether its lists may change. Those of a server that was made with the list of its tools do not."""
        self.request_headers = frozenset(name.lower() for name in request_headers)
        self.policy = CallPolicy(format, version, deadlines=deadlines, hints=hints)
        self._structured = structured
        if verifier is not None and not callable(getattr(verifier, "verify", None)):
            raise TypeError(f"verifier: a {type(verifier).__name__} has no method verify(token). {STATIC_TOKENS}")
        self._declared = _Declared(self.registry.naming, descriptions, deadlines, verifier)
        self._apply(settings or Settings())
        self.registry.register_all(tools)
        self._retire_tools()
        is_told = self.lists_change or self.has_tasks or self.library.is_subscribable
        self.changes = Changes(most=MAX_CLIENTS) if is_told else None
        """Notifies the clients that listen of changes. None for a server where nothing does."""
        self.pages: Callable[[str], Sequence[Any]] | None = None
        """Makes further routes of the site that serves this app over HTTP, from the address of the site."""
        self._state = state
        self._shared: State = MemoryState()
        self._provided = Provided()
        for kind in type(self).__mro__:
            if issubclass(kind, App):
                self._provided.add(kind, self)
        self._keys: KeyStore | None = None
        self._running = RunningHandlers()
        self._held_calls: HeldCalls | None = None
        self._checks: dict[str, DependencyCheck] = {}
        self.library.check_everything = self.check_everything
        self._looks: list[Callable[[], DependencyHealth]] = []
        self._pipeline: Pipeline | None = None
        self.approvals: Approvals | None = None
        """The confirmations that wait in the console; None without a console."""
        self._stack: AsyncExitStack | None = None
        self._users = 0
        self._lock = asyncio.Lock()

    # --- putting it together ---------------------------------------------------------------------------

    def _add_to_library(
        self, prompts: Iterable[Callable[..., Any]], resources: Iterable[ResourceSource], skills: Skills
    ) -> None:
        self.library.spread = self.news.announce
        for function in prompts:
            self.library.add_prompt(prompt_of(function))
        for source in resources:
            self.library.add_source(source)
        if (documents := skill_source(skills)) is not None:
            self.library.add_skills(documents)

    def use_settings(self, settings: Settings) -> None:
        """Take what these settings were given, by options and the environment; the rest stays as it is.

        For an app that was made before its command line was read. It must not be open.
        """
        if self.is_open:
            raise RuntimeError(f"{self.name} is open; its settings cannot be changed")
        given = {name: getattr(settings, name) for name in settings.model_fields_set}
        self._apply(self.settings.model_copy(update=given))
        self.registry.replace_all(self.registry.get_all())
        self._retire_tools()

    def _retire_tools(self) -> None:
        """Remove the tools that are due, if the settings say so. Otherwise the log warns of them when the app opens."""
        if self.settings.hide_removed:
            self.registry.remove_due(datetime.now(UTC).date())

    def _apply(self, settings: Settings) -> None:
        """Derive from the settings what follows from them."""
        naming, descriptions, deadlines, verifier = self._declared
        self.settings, prefix = settings, settings.tool_prefix
        self.registry.naming = naming if prefix is None else Naming(naming.style, prefix)
        self.requests.audited = bool(settings.audit)
        self.descriptions: Detail = settings.descriptions or descriptions
        self.policy = replace(
            self.policy,
            structured=_structured_tools(self.policy.format, settings, structured=self._structured),
            repeat_text=settings.structured == "both",
            deadlines=(
                {**DEADLINES, **deadlines} if settings.deadline is None else dict.fromkeys(DEADLINES, settings.deadline)
            ),
            limits_without_redis=settings.limits_without_redis,
        )
        self.identity = open_identity(settings, self.name) if verifier is None else None
        """How the settings identify callers over HTTP; None if they do not, or a verifier was passed."""
        self.verifier = verifier or self.identity
        self.local_caller = _local_caller(settings)

    def provide(self, of: type[T], value: T | Callable[..., Made[T]], *, scope: Scope = "server") -> None:
        """Provide what handlers take by this type: a value, or a function or class that makes one.

            app.provide(Notebook, Notebook())                    one object for all calls
            app.provide(Books, connect)                          made when the app opens, closed when it closes
            app.provide(Session, open_session, scope="call")     made for each call, closed after it

        A function takes what it needs by type itself: the `App`, what else is provided and, for a call, the
        `ToolContext`. It returns the object or a context manager, or yields the object. If a call fails, what was
        made for it gets the exception, so that a transaction rolls back.

        In an open app, calls that begin later get the new value.
        """
        self._provided.add(of, value, scope)
        if self._pipeline is not None:
            self._pipeline.bind_tools()

    def provided(self, of: type[T]) -> T:
        """The object of this type that all calls share. Raises LookupError."""
        return self._provided[of]

    async def use_database(self, database: "Database") -> None:
        """Keep idempotency keys in the server's database, each in the transaction of what its call writes.

        Readiness then tries the database too.
        Call it where the database is opened. Without it, keys are kept in the shared store, and a crash leaves the
        outcome unknown.
        """
        from mcp_core.db.database import check_database  # noqa: PLC0415 - 180 ms, most of it SQLAlchemy
        from mcp_core.db.migrations import FRAMEWORK  # noqa: PLC0415 - as above
        from mcp_core.idempotency.database_store import SqlKeyStore  # noqa: PLC0415 - loaded with it

        self.add_check("database", lambda: check_database(database))
        await FRAMEWORK.apply(database)
        self._keys = SqlKeyStore(database, self.name, self.settings.idempotency_seconds)

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(self, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Register a function here: `@app.tool`, or with the keywords of `tool`, `@app.tool(...)`.

        What the function declares itself holds; a keyword that contradicts it is refused. Without a full declaration
        the function is served, but not vouched for. In an open app, clients are notified of the new tool.
        """

        def register(target: F) -> F:
            declared = add_options(target, declaration_of(target), options)
            self.registry.register(spec_of(target, declared))
            self._serve_new_tools()
            return target

        return register if function is None else register(check_function(function))

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(self, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...
    def prompt(self, function: Any = None, /, **options: Unpack[PromptOptions]) -> Any:
        """Register a function as a prompt here: `@app.prompt`, or `@app.prompt(...)` with the keywords of `prompt`."""

        def register(target: F) -> F:
            self.library.add_prompt(prompt_of(target, options))
            return target

        return register if function is None else register(check_function(function))

    def skills(self) -> Iterable[Skill]:
        """The skills that a plugin for coding agents brings along: those that are the same for every caller."""
        source = self.library.skills
        return () if source is None or signature(source.read).parameters else source.read()

    def route(
        self, path: str, *, methods: Sequence[str] = ("GET",), permissions: Sequence[str] = (), seconds: float = 10.0
    ) -> Callable[[F], F]:
        """Answer HTTP requests at a path of the site: `@app.route("/export")`, over HTTP only.

        The function takes a request of Starlette and returns a response, or what becomes JSON. Who calls is in
        `request.state.caller`: a token is needed where calls need one, and the permissions. Each request is recorded.
        """
        if not path.startswith("/") or path.startswith(("/mcp", "/health", "/metrics", "/console", "/.well-known")):
            raise DeclarationError([f"app.route({path!r}): is not a free path; give one such as /export"])

        def register(target: F) -> F:
            self.routes.append(OwnRoute(path, target, tuple(methods), tuple(permissions), seconds))
            return target

        return register

    def include(self, tools: Iterable[ToolSpec | Callable[..., Any] | ModuleType]) -> None:
        """Register tools that are declared elsewhere: functions with `@tool`, or modules that have them."""
        self.registry.register_all(listed_tools(tools))
        self._serve_new_tools()

    def mount(self, other: "App", prefix: str = "") -> None:
        """Serve the tools, prompts and resources of another app here, with the prefix before their names.

        They pass the gates of this app, with its settings, state and permissions, and their answers have its format.
        What they take is what `other` provides. Resources keep their addresses. Mount before this app is opened.
        """
        from mcp_core.calling.mounting import Mount  # noqa: PLC0415 - few apps have others in them

        if self.is_open or other.is_open:
            raise RuntimeError(f"mount {other.name} before {self.name} is opened, and do not open it by itself")
        mount = Mount(prefix, self.registry.naming, other._provided)  # noqa: SLF001 - it is of our own class
        for spec in other.registry.get_all():
            mounted = self.registry.register(mount.tool(spec))
            self.registry.mounted_names.setdefault(spec.name, mounted.name)
        for prompt in other.library.prompts:
            self.library.add_prompt(mount.prompt(prompt))
        for source in other.library.sources:
            self.library.add_source(mount.source(source))
        self.routes += other.routes
        self._mounted.append(other)
        self._serve_new_tools()

    @property
    def instructions(self) -> str | None:
        """The instructions for the agent, with the names of the tools that it sees."""
        return None if self._instructions is None else self.registry.mentions.rename(self._instructions)

    def replace_tools(self, tools: Iterable[ToolSpec]) -> None:
        """Serve these tools in place of all others, also while calls are running; those end as they began."""
        self.registry.replace_all(tools)
        self._serve_new_tools()

    def _serve_new_tools(self) -> None:
        if self._pipeline is not None:
            self._pipeline.bind_tools()
        self.tools_version += 1
        self._tell("tools")

    def tools_changed(self) -> None:
        """Notify the clients of every process that the list of tools has changed."""
        self.news.announce("tools")

    def announce(self, kind: Literal["tools", "prompts", "resources"]) -> None:
        """Notify the clients of this process that a list has changed, where clients are notified."""
        self._tell(kind)

    def _take_change(self, change: Change) -> None:
        """Act on a change that this process or another has announced."""
        if change == "tools":
            self.tools_version += 1
        if isinstance(change, ResourceUpdate):
            self.library.notify(change.uri)
        elif change == _SWITCHED:
            self._switching = asyncio.ensure_future(self._read_disabled())
        else:
            self._tell(change)

    def _tell(self, change: Change) -> None:
        if self.changes is not None:
            self.changes.send(change)

    @property
    def notifies_sessions(self) -> bool:
        """Whether clients with a session are notified of changes."""
        return self.lists_change or self.library.is_subscribable

    # --- tools that are switched off -------------------------------------------------------------------

    async def disable(self, tool: str, caller: Caller | None = None) -> None:
        """Switch a tool off, by its undecorated name, for a caller or for all, at every process.

        It is not listed any more, and a call is refused. With Redis, it stays so after a restart.
        """
        await self._shared.add_member(_DISABLED, self._switch(tool, caller), DISABLED_SECONDS)
        await self._switched()

    async def enable(self, tool: str, caller: Caller | None = None) -> None:
        """Switch a tool on again that was switched off in the same way."""
        await self._shared.remove_member(_DISABLED, self._switch(tool, caller))
        await self._switched()

    def _switch(self, tool: str, caller: Caller | None) -> str:
        if self.registry.get(tool) is None:
            raise UnknownTool(tool, self.registry.nearest(tool))
        return json.dumps([tool, None if caller is None else caller.key])

    async def _switched(self) -> None:
        await self._read_disabled()
        self.news.announce(_SWITCHED)

    async def _read_disabled(self) -> None:
        switched: dict[str, set[str | None]] = {}
        for entry in await self._shared.members(_DISABLED):
            tool, key = json.loads(entry)
            switched.setdefault(tool, set()).add(key)
        disabled = {tool: frozenset(keys) for tool, keys in switched.items()}
        if self._pipeline is not None and disabled != self._pipeline.disabled:
            self._pipeline.disabled = disabled
            self._serve_new_tools()

    def disabled_for(self, caller: Caller) -> frozenset[str]:
        """The tools that are switched off for a caller, by their undecorated names."""
        disabled = None if self._pipeline is None else self._pipeline.disabled
        if not disabled:
            return _NONE
        return frozenset(tool for tool, keys in disabled.items() if None in keys or caller.key in keys)

    async def __aenter__(self) -> "App":
        """Open what the tools need. It may be entered several times; the last exit closes it."""
        self.is_used = True
        async with self._lock:
            self._users += 1
            if self._users == 1:
                self._stack = await AsyncExitStack().__aenter__()
                try:
                    await self._open(self._stack)
                except BaseException:
                    self._users = 0
                    await self._stack.aclose()
                    raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        async with self._lock:
            self._users -= 1
            if self._users == 0 and self._stack is not None:
                stack, self._stack, self._pipeline = self._stack, None, None
                await stack.aclose()

    @property
    def is_open(self) -> bool:
        """Whether calls can be answered."""
        return self._pipeline is not None

    async def _open(self, stack: AsyncExitStack) -> None:
        from mcp_core.calling.people.asking import HeldCalls  # noqa: PLC0415 - 20 ms that lists do not need, with the next
        from mcp_core.calling.people.tasks import TaskLimits, Tasks  # noqa: PLC0415 - as above
        from mcp_core.calling.pipeline import Pipeline  # noqa: PLC0415 - as above
        from mcp_core.calling.threads import HandlerThreads, thread_samples  # noqa: PLC0415 - as above
        from mcp_core.idempotency.state_store import StateKeyStore  # noqa: PLC0415 - as above

        self.registry.check_replacements()
        today = datetime.now(UTC).date()
        for spec in self.registry.get_all():
            if (old := spec.declaration.deprecated) is not None and old.is_due(today):
                logger.warning(
                    "%s was to be removed on %s. Remove it, or set --hide-removed.", spec.name, old.removal_date
                )
        state = self._shared = self._state or _open_state(self.settings, self.name)
        stack.push_async_callback(state.close)
        await state.open()
        with self.telemetry.opening():
            await self._make_provided(stack)
        if self.identity is not None:
            stack.push_async_callback(self.identity.close)
            self.identity.open()
        audit = await _open_audit(self.settings, self.name, self.version)
        if audit is not None:
            await audit.open()
            stack.push_async_callback(audit.close)
            stack.callback(self.requests.attach, None)
            self.requests.attach(audit)
            self._add_metrics(stack, audit.samples)
        self._held_calls = HeldCalls()
        stack.push_async_callback(self._held_calls.close)
        limits = TaskLimits(self.settings.task_seconds, self.settings.task_keep)
        self._tasks = Tasks(state, self._open_task_store, limits, self._task_changed)
        stack.push_async_callback(self._tasks.close)
        threads = HandlerThreads(self.settings.threads)
        stack.callback(threads.close)
        self._add_metrics(stack, build_info(self.version), partial(thread_samples, threads), self._dependency_samples)
        self._pipeline = Pipeline(
            self.registry,
            self.policy,
            state=state,
            telemetry=self.telemetry,
            provided=self._provided,
            threads=threads,
            running=self._running,
            audit=audit,
            keys=self._keys or StateKeyStore(state, self.settings.idempotency_seconds),
        )
        if self.settings.log_calls:
            self._pipeline.recorder.success_level = logging.INFO
        self.library.open(self._pipeline)
        self.news.open(state)
        stack.push_async_callback(self.news.close)
        if not isinstance(state, MemoryState):
            await self._hear_others()

    @contextmanager
    def keep_calls(self, keep: "Callable[[EndedCall], None]") -> Generator[None]:
        """Call `keep` with each call of this app, which is open, when it has ended."""
        if self._pipeline is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        self._pipeline.recorder.keep = keep
        try:
            yield
        finally:
            self._pipeline.recorder.keep = None

    @contextmanager
    def share_calls(self, shares: "CallShares") -> Generator[None]:
        """Count the calls of each caller of this app, which is open, toward a limit of several apps."""
        if self._pipeline is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        recorder = self._pipeline.recorder
        own, recorder.shares = recorder.shares, shares
        try:
            yield
        finally:
            recorder.shares = own

    async def _open_mounted(
        self, state: State, stack: AsyncExitStack
    ) -> tuple[dict[str, DependencyCheck], list[Callable[[], DependencyHealth]]]:
        """Make what the tools of this app take, for the app that it is mounted into; returns its checks of health."""
        self._shared, self.is_used = state, True
        await self._make_provided(stack)
        return self._checks, self._looks

    async def _hear_others(self) -> None:
        """Take changes of other processes, and tools that were switched off before."""
        if self.changes is not None:
            with suppress(StateUnavailable):
                await self.news.listen()
                await self._read_disabled()

    async def _make_provided(self, stack: AsyncExitStack) -> None:
        try:
            for other in self._mounted:
                checks, looks = await other._open_mounted(self._shared, stack)  # noqa: SLF001 - it is of our own class
                self._checks |= checks
                self._looks += looks
            await self._provided.open(stack)
        except ModuleNotFoundError as error:
            # Servers import their database here, so that they answer before it is loaded.
            raise missing_extra(self.name, error) or error from None

    @asynccontextmanager
    async def confirm_in_console(self, changes: Subscribers[None] | None = None) -> "AsyncGenerator[Approvals]":
        """Let people confirm calls of this app, which is open, in a console. `changes` are notified without content."""
        from mcp_core.calling.people import Approvals  # noqa: PLC0415 - 2 ms, and only the console confirms

        approvals, pipeline = Approvals(self.state, changes), self._pipeline
        if pipeline is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        before, seconds = pipeline.consent_places, self.settings.confirm_in_console or 0.0
        pipeline.consent_places = before._replace(approvals=approvals, console_seconds=seconds)
        self.approvals = approvals
        try:
            yield approvals
        finally:
            pipeline.consent_places, self.approvals = before, None
            await approvals.close()

    def _dependency_samples(self) -> Iterator[Sample]:
        shared = self.state.health()
        for health in [*([] if shared is None else [shared]), *self.known_health()]:
            yield Sample(DEPENDENCY_UP, (health.name,), int(health.ok))
            yield Sample(DEPENDENCY_FAILURES, (health.name,), health.failures)

    def _add_metrics(self, stack: AsyncExitStack, *sources: Source) -> None:
        for source in sources:
            self.telemetry.add_source(source)
            stack.callback(self.telemetry.remove_source, source)

    # --- what hosts use --------------------------------------------------------------------------------

    def answer(self, request: Request) -> "Awaitable[Answer | Question | TaskRecord]":
        """Answer one call."""
        if self._pipeline is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        if not request.modes and not request.takes_tasks:
            return self._pipeline.run(request)
        return self._answer_long(request, self._pipeline)

    async def _answer_long(self, request: Request, pipeline: "Pipeline") -> "Answer | Question | TaskRecord":
        """Answer a call of a client that can be asked, or takes a task. Without a session, its handler may be held."""
        spec = self.registry.find(request.tool)
        policy = spec.declaration.task if spec is not None and request.takes_tasks else "never"
        if spec is None or not request.must_declare or (not spec.declaration.asks and policy == "never"):
            return await pipeline.run(request)
        try:
            resumed = await self._held.resume(request, self._shared, _CALL, confirmed=spec.asks_person)
        except ForgedReply as error:
            sender = Sender(request.caller.key, f"{request.agent_id} {request.agent_version}")
            self.requests.record(_CALL, "business", sender, name=request.tool, error=str(error))
            raise
        if resumed is None:
            tasks = None if policy == "never" else self.tasks
            resumed = await self._held.run(request, pipeline.run, self._shared, _CALL, tasks=tasks, policy=policy)
        if isinstance(resumed, Answer | Question):
            return resumed
        sender = Sender(request.caller.key, f"{request.agent_id} {request.agent_version}")
        self.requests.record(TASK_CREATED, "ok", sender, name=request.tool, meta=request.meta)
        return resumed

    @property
    def has_tasks(self) -> bool:
        """Whether a tool can run as a task."""
        return any(spec.declaration.task != "never" for spec in self.registry.get_all())

    @property
    def tasks(self) -> "Tasks":
        """The calls that outlive their request."""
        if self._tasks is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        return self._tasks

    async def _open_task_store(self) -> "TaskStore":
        from mcp_core.tasks.opening import open_task_store  # noqa: PLC0415 - few servers have a task, and few calls are one

        return await open_task_store(self._shared, self.settings, self.name)

    def _task_changed(self, task_id: str) -> None:
        self._tell(TaskUpdate(task_id))

    async def ask_library(
        self, method: str, request: Request, answer: Callable[[Request], Awaitable[T]]
    ) -> T | Question:
        """Answer a request for a prompt or a resource, during which the person may be asked."""
        if not request.modes or not request.must_declare:
            return await answer(request)
        try:
            resumed: T | Question | None = await self._held.resume(request, self._shared, method)
        except ForgedReply as error:
            sender = Sender(request.caller.key, f"{request.agent_id} {request.agent_version}")
            self.requests.record(method, "business", sender, name=request.tool, error=str(error))
            raise
        return resumed or cast("T | Question", await self._held.run(request, answer, self._shared, method))

    @property
    def _held(self) -> "HeldCalls":
        if self._held_calls is None:
            raise RuntimeError(f"{self.name} is not open; use it inside `async with app:`")
        return self._held_calls

    @property
    def state(self) -> State:
        """The state that calls share. Until the app is open, a store in memory."""
        return self._shared

    def add_check(
        self,
        name: str,
        probe: Callable[[], Awaitable[object]],
        *,
        needed: bool = True,
        seconds: float = CHECK_SECONDS,
    ) -> None:
        """Declare a cheap check of something that calls depend on. `probe` raises if it cannot be reached.

        Readiness and `toolcharter doctor` run it. A server whose dependency is not `needed` stays ready without it;
        then only doctor runs the check, such as that of a site elsewhere. It may take `seconds`.
        """
        self._checks[name] = DependencyCheck(name, probe, needed=needed, seconds=seconds)

    async def check_health(self) -> list[DependencyHealth]:
        """The health of what calls need now, in a bounded time. The shared state has a check of its own."""
        return [await check.run() for check in self._checks.values() if check.needed]

    async def check_everything(self) -> list[DependencyHealth]:
        """The health of everything that this app uses."""
        shared = await self.state.check_health()
        return [
            *[await check.run() for check in self._checks.values()],
            *([] if shared is None else [shared]),
            *self.known_health(),
        ]

    def add_health(self, look: Callable[[], DependencyHealth]) -> None:
        """Show in readiness and metrics how something is. Without it, the app serves with less."""
        self._looks.append(look)

    def known_health(self) -> list[DependencyHealth]:
        """The last known health of what the app can do without: the issuer of access tokens, and those added."""
        access = self.identity.access if self.identity else None
        issuer = [] if access is None else [DependencyHealth("issuer", *access.health)]
        return issuer + [look() for look in self._looks]

    def reload(self) -> None:
        """Read the policy and the tokens again. A file that is not valid changes nothing, and the log says so."""
        if self.identity is not None:
            self.identity.reload()

    def stop_calls(self) -> None:
        """Cancel all handlers that run. Their callers get an answer that says so, and their entries are `cancelled`."""
        from mcp_core.calling.stages.invoke import server_stopping  # noqa: PLC0415 - 8 ms, loaded with the pipeline

        for cancel in tuple(self._running):
            cancel(server_stopping)

    async def seal_key(self) -> bytes:
        """The key that all processes sharing this app's state seal with."""
        return await self._shared.seal_key()

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        caller: Caller | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Call a tool by its undecorated name: for tests, scripts and other tools."""
        from mcp_core.calling.stages.idempotency import KEY  # noqa: PLC0415 - 8 ms, loaded with the pipeline

        spec = self.registry.get(tool)
        final = self.registry.final_name(spec) if spec else tool
        meta = {} if idempotency_key is None else {KEY: idempotency_key}
        answer = await self.answer(Request(final, arguments or {}, caller or self.local_caller, meta=meta))
        return cast(Answer, answer)  # without a client, there is nobody to ask

    def list_tools(self, caller: Caller | None = None) -> list[ListedTool]:
        """The tools as an agent sees them, in a stable order: all, or those that a caller may use."""
        without = _NONE if caller is None else self.disabled_for(caller)
        specs = [spec for spec in self.registry.get_all() if spec.is_listed and spec.name not in without]
        return [self._listed(spec) for spec in specs if caller is None or not caller.lacks(spec.permissions)]

    @property
    def list_scope(self) -> Literal["public", "private"]:
        """Who may share a cached list of tools: nobody, where each token has its own permissions."""
        return "public" if self.verifier is None else "private"

    def documentation(self, final_name: str) -> str:
        """The full description of a tool, whatever the list shows."""
        return full(self.registry.resolve(final_name))

    def input_schema(self, final_name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool; None if it does not exist."""
        try:
            return self.registry.resolve(final_name).input_schema
        except UnknownTool:
            return None

    def _listed(self, spec: ToolSpec) -> ListedTool:
        if spec.listed is not None:
            return replace(spec.listed, name=self.registry.final_name(spec), meta=declared_meta(spec))
        return ListedTool(
            name=self.registry.final_name(spec),
            title=spec.title,
            description=describe(spec, self.descriptions),
            input_schema=spec.input_schema,
            output_schema=self._output_schema(spec),
            annotations={
                "readOnlyHint": spec.reads_only,
                "destructiveHint": spec.destructive,
                "idempotentHint": spec.idempotent,
                "openWorldHint": spec.declaration.open_world,
            },
            meta=declared_meta(spec),
            icons=[icon.to_wire() for icon in spec.declaration.icons],
        )

    def _output_schema(self, spec: ToolSpec) -> JsonSchema | None:
        return answer_schema(spec.signature.returns, self.policy.format, self.policy.structured)


def _structured_tools(format: Format, settings: Settings, *, structured: bool | None) -> StructuredTools:
    """Which tools answer with structured content: as the user has set it, else the server, else by the format."""
    if settings.structured == "off":
        return "none"
    if structured:
        return "all"
    chosen = settings.structured is not None or (structured is None and format == "bare")
    return "typed" if chosen else "none"


def _server_name(text: str) -> str:
    """A name for addresses and files; a text that can be one stays as it is."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - authors may not check
        raise TypeError(f'App: the name is a text, such as App("hello"), not {text!r}')
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*", text, re.ASCII):
        return text
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "server"


def _local_caller(settings: Settings) -> Caller:
    """The caller without a token: on stdio the person who started the process, who may do everything."""
    grants = ("*",) if settings.grants is None else settings.grants
    return user(settings.user, grants) if settings.user else Caller(grants=frozenset(grants))


async def _open_audit(settings: Settings, server: str, version: str) -> "AuditTrail | None":
    target = settings.audit
    if not target:
        return None
    from mcp_core.audit import AuditTrail, read_key  # noqa: PLC0415 - 4 ms, and few servers are audited
    from mcp_core.audit.file import FileSink, Rotation  # noqa: PLC0415 - as above

    key = read_key(settings.audit_key) if settings.audit_key else None
    if "://" in target:
        with RequiresExtra("sql", "An audit trail in a database"):
            from mcp_core.audit.sql import DatabaseSink  # noqa: PLC0415 - 180 ms, most of it SQLAlchemy
        sink = await DatabaseSink.open(target, settings.audit_keep)
    else:
        rotation = Rotation(settings.audit_rotate_size, settings.audit_rotate_age, settings.audit_keep)
        sink = FileSink(Path(target), rotation)
    return AuditTrail(
        server,
        sink,
        version=version,
        policy=settings.audit_failure,
        key=key,
        with_arguments=settings.audit_arguments,
    )


def _open_state(settings: Settings, server: str) -> State:
    if settings.redis is None:
        return MemoryState()
    with RequiresExtra("redis", "Redis"):
        from mcp_core.state.redis import RedisState  # noqa: PLC0415 - 115 ms, and the Redis client is an extra
    processes = settings.workers if settings.limits_without_redis == "share" else 1
    return RedisState(settings.redis, server, settings.redis_timeout, processes)
