"""A tool bound to what the app provides, with everything that each call would otherwise work out again."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import SchemaValidator

from mcp_core.calling.provided import Provided, type_name
from mcp_core.calling.render import Format, Structured, StructuredTools, structured_form
from mcp_core.calling.threads import HandlerThreads
from mcp_core.context import ToolContext
from mcp_core.declare.charter import CONSENT_FIELD
from mcp_core.declare.output import Write, type_adapter, writer
from mcp_core.declare.schema import Signature
from mcp_core.declare.spec import Declaration, RateLimit, ResponseTime, TargetFunction, TaskPolicy, ToolSpec, spec_of
from mcp_core.errors import DeclarationError
from mcp_core.result import Result
from mcp_core.text import json_text
from mcp_core.tool_result import versions_json

T = TypeVar("T")
Invoke = Callable[[BaseModel, ToolContext], Awaitable[Any]]
ResolveTarget = Callable[[BaseModel, ToolContext], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool, its final name, and what it takes to run it."""

    spec: ToolSpec
    final_name: str
    invoke: Invoke
    validator: SchemaValidator
    returns: SchemaValidator | None
    write: Write
    """Makes JSON text of what the handler returns. Raises TypeError for a value without a JSON form."""
    structured: Structured | None
    """How the answer is structured, where its schema is published."""
    requires_value: bool
    """Whether a success without a value must match the annotation, too, as its schema is published."""
    deadline: float
    cache_ttl: float | None
    cache_tags: tuple[str, ...]
    """The tags behind which its answers are cached."""
    forgets: tuple[str, ...]
    """The tags whose cached answers a call invalidates."""
    permissions: tuple[str, ...]
    rate_limit: RateLimit | None
    counted_as: str | None = field(default=None, kw_only=True)
    """Under which name its calls are counted, if that is not its own."""
    confirmed: bool
    target: ResolveTarget | None
    """From the validated arguments and the context to the target that a confirmation is about; None for no question."""
    read_only: bool
    versions: str
    """Its version and that of its server, as the metadata of its answers begins."""
    asks: bool = False
    """Whether the handler may ask the person."""
    deprecated: bool = False
    task: TaskPolicy = "never"
    """Whether a call may become a task."""
    disabled_for: frozenset[str | None] = frozenset()
    """The callers for whom it is switched off; None stands for all."""


def bind(
    spec: ToolSpec,
    final_name: str,
    provided: Provided,
    deadlines: Mapping[ResponseTime, float],
    *,
    threads: HandlerThreads | None = None,
    check_returns: bool = True,
    format: Format = "result",
    structured: StructuredTools = "none",
    service_version: str = "",
    cached_tags: frozenset[str] = frozenset(),
) -> BoundTool:
    """Bind a tool to what it takes of the app. What nothing provides is an error here, not during a call.

    `threads` run a handler that is not async. Without `check_returns`, no validator is made for what it returns.
    `cached_tags` are those of all cached tools of the server.
    """
    if spec.signature.host_context is not None:
        problem = f"{spec.signature.host_context} is the context of an MCP library; take a ToolContext instead"
        raise DeclarationError([f"{spec.name}: {problem}"])
    provided = spec.provided or provided
    missing = [(name, type_name(of)) for name, of in spec.signature.needs.items() if of not in provided]
    if missing:
        fix = "call app.provide({0}, ...), or use a type that JSON can hold"
        raise DeclarationError([f"{spec.name}: {p}: nothing provides {t}; {fix.format(t)}" for p, t in missing])
    target = spec.declaration.confirm.target if spec.declaration.confirm else None
    return BoundTool(
        spec=spec,
        final_name=final_name,
        invoke=_invoker(spec, final_name, provided, threads),
        validator=spec.signature.validator or cast(SchemaValidator, spec.parameters.__pydantic_validator__),
        returns=_return_validator(spec) if check_returns else None,
        write=writer(spec.signature.returns) if check_returns else json_text.to_text,
        structured=(form := structured_form(spec.signature.returns, format, structured)),
        requires_value=form is not None and (structured == "all" or format != "result"),
        deadline=spec.deadline or deadlines[spec.response_time],
        cache_ttl=spec.cache_ttl if spec.category in ("query", "analysis") else None,
        cache_tags=cache_tags(spec),
        forgets=_invalidated_tags(spec, cached_tags),
        permissions=spec.permissions,
        rate_limit=spec.declaration.rate_limit,
        confirmed=spec.asks_person,
        target=_target_resolver(spec, target, provided) if target else None,
        read_only=spec.reads_only,
        versions=versions_json(spec.declaration.version, service_version),
        asks=spec.declaration.asks,
        deprecated=spec.declaration.deprecated is not None,
        task=spec.declaration.task,
    )


UNTAGGED = ""
"""The tag of cached tools that declare none. It cannot be declared: a tag is never empty."""


def cache_tags(spec: ToolSpec) -> tuple[str, ...]:
    """The tags behind which the answers of a tool are cached."""
    return spec.tags or (UNTAGGED,)


def _invalidated_tags(spec: ToolSpec, cached: frozenset[str]) -> tuple[str, ...]:
    """The tags that a call of a tool invalidates. Without tags, a tool may have changed what any tool reads."""
    if spec.category != "mutation":
        return ()
    if not spec.tags:
        return tuple(sorted(cached))
    return (*spec.tags, UNTAGGED) if UNTAGGED in cached else spec.tags


UNKNOWN = "(unknown)"
"""The name under which calls to tools that do not exist are counted. It cannot be the name of a tool."""


def unknown_tool() -> BoundTool:
    """Stands for every tool that does not exist, so that a call to one is observed and recorded as any other."""

    async def unknown() -> None:
        pass

    spec = spec_of(unknown, Declaration(name=UNKNOWN))
    return bind(spec, UNKNOWN, Provided(), {spec.response_time: 0.0}, check_returns=False)


def _invoker(spec: ToolSpec, final_name: str, provided: Provided, threads: HandlerThreads | None) -> Invoke:
    signature = spec.signature
    per_call = {name: of for name, of in signature.needs.items() if provided.is_per_call(of)}
    run = spec.handler if signature.is_async else _in_thread(spec.handler, final_name, threads or HandlerThreads(1))
    if not per_call:
        return _keywords(spec, signature, _shared(spec, provided), run)

    factories = provided.for_call(per_call.values())
    keywords = _keywords(spec, signature, _shared(spec, provided), dict)

    async def with_factories(arguments: BaseModel, context: ToolContext) -> Any:
        try:
            async with AsyncExitStack() as stack:
                made = await factories.open(stack, context)
                opened = {name: made[of] for name, of in per_call.items()}
                value: Any = await run(**keywords(arguments, context), **opened)
                if isinstance(value, Result) and value.is_failure():
                    raise _RollBack(cast(Result[Any], value))
                return cast(Any, value)
        except _RollBack as failed:
            return failed.result

    return with_factories


def _shared(spec: ToolSpec, provided: Provided) -> dict[str, Any]:
    """The values that all calls of a tool get, by parameter."""
    return {name: provided[of] for name, of in spec.signature.needs.items() if not provided.is_per_call(of)}


def _target_resolver(spec: ToolSpec, target: TargetFunction, provided: Provided) -> ResolveTarget:
    keywords = _keywords(spec, spec.signature, _shared(spec, provided), dict[str, Any])
    names = inspect.signature(target).parameters.keys()
    if late := [name for name in names if provided.is_per_call(spec.signature.needs.get(name))]:
        raise DeclarationError([f"{spec.name}: confirm: target takes {late[0]}, which is made only when the call runs"])

    async def resolve(arguments: BaseModel, context: ToolContext) -> str | None:
        values = keywords(arguments, context)
        return await target(**{name: values[name] for name in names})

    return resolve


class _RollBack(Exception):
    """Carries a failed result out of what was made for the call, so that it rolls back."""

    def __init__(self, result: Result[Any]) -> None:
        super().__init__(result.error)
        self.result = result


def _keywords(
    spec: ToolSpec, signature: Signature, fixed: Mapping[str, Any], call: Callable[..., T]
) -> Callable[[BaseModel, ToolContext], T]:
    """A function from the validated arguments to what `call` makes of the keyword arguments of the handler."""
    model_name, context_name = signature.model_parameter, signature.context_parameter
    # The field was added to the schema by the declaration; the handler does not take it.
    consent_added = (
        spec.declaration.confirm is not None
        and spec.declaration.confirm.literal is not None
        and CONSENT_FIELD in signature.model.model_fields
        and CONSENT_FIELD not in spec.handler.__annotations__
    )

    def call_with_keywords(arguments: BaseModel, context: ToolContext) -> T:
        made: dict[str, Any] = {model_name: arguments} if model_name else dict(arguments.__dict__)
        if consent_added and not model_name:
            del made[CONSENT_FIELD]
        if context_name:
            made[context_name] = context
        return call(**made, **fixed)

    return call_with_keywords


def _in_thread(handler: Callable[..., Any], name: str, threads: HandlerThreads) -> Callable[..., Awaitable[Any]]:
    """Runs a handler that is not async in a thread, so that it does not block other calls."""

    def call(**keywords: Any) -> Any:
        try:
            return handler(**keywords)
        except (StopIteration, GeneratorExit) as error:
            # To the coroutine that waits these have another meaning: it would wait forever, or be closed.
            raise RuntimeError(f"the handler raised {error!r}") from error

    async def run(**keywords: Any) -> Any:
        return await threads.run(name, partial(call, **keywords))

    return run


def _return_validator(spec: ToolSpec) -> SchemaValidator | None:
    """The validator of what a handler returns; None where its annotation says nothing."""
    adapter = type_adapter(spec.signature.returns)
    return cast(SchemaValidator, adapter.validator) if adapter else None
