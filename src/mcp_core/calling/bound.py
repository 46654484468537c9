"""A tool made ready to run: everything a call would otherwise have to work out again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import SchemaValidator

from mcp_core.calling.render import Format, Structured, structured_form
from mcp_core.context import ToolContext
from mcp_core.declare.output import type_adapter, value_schema
from mcp_core.declare.schema import CONSENT_FIELD, Signature
from mcp_core.declare.spec import ResponseTime, ToolSpec
from mcp_core.errors import DeclarationError
from mcp_core.result import Result

Invoke = Callable[[BaseModel, ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class PerCall:
    """A resource opened anew for each call: a transaction, a session.

    It is left with an exception when the call fails, so that a transaction rolls back.
    """

    open: Callable[[ToolContext], AbstractAsyncContextManager[Any]]


Resources = Mapping[Any, Any]
"""By type: the object every call shares, or a `PerCall`."""


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool, its final name, and what running it takes."""

    spec: ToolSpec
    final_name: str
    invoke: Invoke
    validator: SchemaValidator
    returns: SchemaValidator | None
    structured: Structured | None
    """How the answer is structured, where its schema is published. A success must then match the annotation."""
    deadline: float
    cache_ttl: float | None
    forgets: tuple[str, ...]
    permissions: tuple[str, ...]
    limited: bool
    confirmed: bool
    read_only: bool


def bind(
    spec: ToolSpec,
    final_name: str,
    resources: Resources,
    deadlines: Mapping[ResponseTime, float],
    *,
    promises: bool = True,
    structured_format: Format | None = None,
) -> BoundTool:
    """Make a tool ready to run. A need that nothing provides is refused here, not during a call.

    Without `promises`, what checks the returned value is not made: it is not for free.
    """
    if spec.signature.host_context is not None:
        fix = "take a ToolContext instead"
        raise DeclarationError([f"{spec.name}: {spec.signature.host_context} is an MCP library's context; {fix}"])
    missing = [f"{p}: {_type_name(t)}" for p, t in spec.signature.needs.items() if t not in resources]
    if missing:
        raise DeclarationError([f"{spec.name}: needs {', '.join(missing)}; give it with app.provide(type, value)"])
    return BoundTool(
        spec=spec,
        final_name=final_name,
        invoke=_invoker(spec, resources),
        validator=cast(SchemaValidator, spec.parameters.__pydantic_validator__),
        returns=_return_validator(spec) if promises else None,
        structured=_structured(spec, structured_format) if structured_format else None,
        deadline=spec.declaration.deadline or deadlines[spec.response_time],
        cache_ttl=spec.cache_ttl if spec.category in ("query", "analysis") else None,
        forgets=spec.tags if spec.category == "mutation" else (),
        permissions=spec.permissions,
        limited=spec.declaration.rate_limit is not None,
        confirmed=spec.declaration.confirm is not None,
        read_only=spec.category in ("query", "analysis"),
    )


def _type_name(of: Any) -> str:
    return getattr(of, "__name__", str(of))


def _invoker(spec: ToolSpec, resources: Resources) -> Invoke:
    signature = spec.signature
    provided = {name: resources[of] for name, of in signature.needs.items()}
    fixed = {name: value for name, value in provided.items() if not isinstance(value, PerCall)}
    per_call = {name: value for name, value in provided.items() if isinstance(value, PerCall)}
    arrange = _arranger(spec, signature, fixed)
    run = spec.handler if signature.is_async else _in_a_thread(spec.handler)
    if not per_call:
        return lambda arguments, context: run(**arrange(arguments, context))

    async def with_resources(arguments: BaseModel, context: ToolContext) -> Any:
        try:
            async with AsyncExitStack() as stack:
                opened = {n: await stack.enter_async_context(r.open(context)) for n, r in per_call.items()}
                value: Any = await run(**arrange(arguments, context), **opened)
                if isinstance(value, Result) and value.is_failure():
                    raise _Undo(cast(Result[Any], value))
                return cast(Any, value)
        except _Undo as undo:
            return undo.result

    return with_resources


class _Undo(Exception):
    """Carries a failed result out through the resources of a call, which it makes roll back."""

    def __init__(self, result: Result[Any]) -> None:
        super().__init__(result.error)
        self.result = result


def _arranger(
    spec: ToolSpec, signature: Signature, fixed: Mapping[str, Any]
) -> Callable[[BaseModel, ToolContext], dict[str, Any]]:
    """From a validated model to the keyword arguments of the handler."""
    whole, context_name = signature.model_parameter, signature.context_parameter
    # The literal was demanded for the handler, not by it.
    added = spec.declaration.consent is not None and CONSENT_FIELD not in spec.handler.__annotations__

    def arrange(arguments: BaseModel, context: ToolContext) -> dict[str, Any]:
        keywords: dict[str, Any] = {whole: arguments} if whole else dict(arguments.__dict__)
        if added and not whole:
            del keywords[CONSENT_FIELD]
        if context_name:
            keywords[context_name] = context
        keywords.update(fixed)
        return keywords

    return arrange


def _in_a_thread(handler: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """A handler that is not async must not hold up the others."""

    def call(**keywords: Any) -> Any:
        try:
            return handler(**keywords)
        except (StopIteration, GeneratorExit) as error:
            # These mean something else to the coroutine that waits: it would wait for ever, or be closed.
            raise RuntimeError(f"the handler raised {error!r}") from error

    async def run(**keywords: Any) -> Any:
        return await asyncio.to_thread(call, **keywords)

    return run


def _structured(spec: ToolSpec, format: Format) -> Structured:
    return structured_form(value_schema(spec.signature.returns), format)


def _return_validator(spec: ToolSpec) -> SchemaValidator | None:
    """What checks a handler's value against its own annotation; None where there is nothing to check."""
    adapter = type_adapter(spec.signature.returns)
    return cast(SchemaValidator, adapter.validator) if adapter else None
