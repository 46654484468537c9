"""`ExtMcpToolDecorator`: prefix, description and logging on any server that has a `.tool()` decorator."""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar, cast, overload
from uuid import uuid4

from mcp_core.context import ToolContext
from mcp_core.declare.naming import Naming, Style
from mcp_core.declare.schema import Signature
from mcp_core.declare.spec import Declaration, declaration_of, source_of, spec_of
from mcp_core.declare.tool import add_options
from mcp_core.errors import DeclarationError
from mcp_core.mcp_log import get_logger
from mcp_core.result import Result
from mcp_core.tool_arguments import ToolArguments

F = TypeVar("F", bound=Callable[..., Any])

PREFIX_VARIABLE = "MCP_TOOL_PREFIX"
_LOGGED = "__toolcharter_logged__"

logger = get_logger(__name__)


def get_tool_prefix() -> str:
    """The prefix from the environment; empty if it is not set."""
    return os.environ.get(PREFIX_VARIABLE, "")


def log_tool_usage(function: F) -> F:
    """Log the call, its success and its failure; an exception goes on to the layer above."""
    if getattr(function, _LOGGED, False):
        return function  # it is logged already
    name = function.__name__

    @functools.wraps(function)
    async def logged_async(*args: Any, **kwargs: Any) -> Any:
        logger.trace("Tool called: %s", name)
        try:
            result = await function(*args, **kwargs)
        except Exception as error:
            logger.error("Tool %s failed: %s", name, error)
            raise
        logger.trace("Tool %s completed successfully", name)
        return result

    @functools.wraps(function)
    def logged_sync(*args: Any, **kwargs: Any) -> Any:
        logger.trace("Tool called: %s", name)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            logger.error("Tool %s failed: %s", name, error)
            raise
        logger.debug("Tool %s completed successfully", name)
        return result

    logged = logged_async if inspect.iscoroutinefunction(function) else logged_sync
    setattr(logged, _LOGGED, logged)
    return cast(F, logged)


def _without_log(function: F) -> F:
    """The function that `log_tool_usage` wrapped. A decorator around that has a copy of the attribute, and stays."""
    return cast(Any, function).__wrapped__ if getattr(function, _LOGGED, None) is function else function


class ExtMcpToolDecorator:
    """Registers functions on `server`, with the prefix, a complete description, and logging.

    `server` is anything whose `.tool(name=..., description=...)` returns a decorator. `prefix` may be set later, for
    the tools that follow; `default_prefix` is what it was at first. Both end with what separates prefix and name.
    """

    def __init__(self, server: Any, prefix: str | None = None, style: Style = "snake") -> None:
        self.server = server
        self.naming = Naming(style)
        self.default_prefix = self.naming.final("", get_tool_prefix() if prefix is None else prefix)
        self.prefix = self.default_prefix
        self._taken: dict[str, Callable[..., Any]] = {}

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(self, name: str | None = None, *, prefix: str | None = None, **options: Any) -> Callable[[F], F]: ...
    def tool(self, name: Any = None, *, prefix: str | None = None, **options: Any) -> Any:
        """Register a function: `@tools.tool`, or `@tools.tool("name", prefix=...)`.

        It is returned as it is, so that it can be called without this overhead.
        """
        bare = callable(name)

        def register(function: F) -> F:
            own, chosen = self._names(function, None if bare else name, prefix)
            final = self.naming.final(own, chosen)
            self._claim(final, function)
            if getattr(self.server, "governs", False) is True:
                # Our own App describes, logs and answers by itself.
                plain = _without_log(function)
                declared = add_options(plain, declaration_of(function), options)
                self.server.registry.register(spec_of(plain, replace(declared, name=own, prefix=chosen)))
                return function
            described = {"description": ToolArguments.build_tool_description(function)} | options
            self.server.tool(name=final, **described)(_flat_function(log_tool_usage(function)))
            return function

        return register(name) if bare else register

    def _names(self, function: Callable[..., Any], name: str | None, prefix: str | None) -> tuple[str, str]:
        """The name and the prefix of this registration, else those that the function declares, else the usual ones."""
        declared = declaration_of(function) or Declaration()
        chosen = name or declared.name or self.naming.to_style(function.__name__)
        prefixes = (prefix, declared.prefix, self.prefix)
        return chosen, next(one for one in prefixes if one is not None)

    def _claim(self, final: str, function: Callable[..., Any]) -> None:
        """Refuse a second tool of one name: servers would silently replace or drop one of them."""
        taken = self._taken.setdefault(final, function)
        if taken is not function:
            places = f"{source_of(taken)} and {source_of(function)}"
            raise DeclarationError([f"{final}: two tools have this name, at {places}; rename one"])


def _flat_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a server sees it: flat arguments, and a `Result` as its JSON text."""
    spec = spec_of(function)
    signature = spec.signature
    if signature.needs:
        names = ", ".join(signature.needs)
        raise DeclarationError([f"{spec.name}: needs {names}, which only an App provides; serve it from an App"])
    takes = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    async def flat_async(**arguments: Any) -> Any:
        return _wire_value(await function(**_unflatten(signature, takes, arguments)))

    @functools.wraps(function)
    def flat_sync(**arguments: Any) -> Any:
        return _wire_value(function(**_unflatten(signature, takes, arguments)))

    wrapper: Any = flat_async if signature.is_async else flat_sync
    parameters = _flat_parameters(function, signature)
    wrapper.__signature__ = inspect.Signature(parameters)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    # Servers that look through wrappers would find the nested signature again.
    del wrapper.__wrapped__
    return wrapper


def _flat_parameters(function: Callable[..., Any], signature: Signature) -> list[inspect.Parameter]:
    """The arguments one by one, then what the server itself fills in."""
    arguments = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            # The default of a factory is not known yet; the field has the factory.
            default=inspect.Parameter.empty if field.is_required() or field.default_factory else field.default,
            annotation=_annotated(field),
        )
        for name, field in signature.model.model_fields.items()
    ]
    hidden = {signature.model_parameter, signature.context_parameter, *signature.model.model_fields}
    own = inspect.signature(function, eval_str=True).parameters.values()
    return arguments + [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name not in hidden]


def _annotated(field: Any) -> Any:
    """A field's type together with its description and limits."""
    return Annotated[field.annotation, field]


def _unflatten(signature: Signature, takes: frozenset[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the function. Servers pass an argument by its name or by its alias."""
    values: dict[str, Any] = {}
    for name, field in signature.model.model_fields.items():
        for key in (name, field.alias):
            if key in arguments and (value := arguments.pop(key)) is not field.default:
                values[name] = value
    checked = signature.model.model_validate(values, by_name=True)
    if signature.model_parameter is not None:
        arguments[signature.model_parameter] = checked
    else:
        # The literal that states consent was demanded for the function, not by it.
        arguments |= {name: value for name, value in checked.__dict__.items() if name in takes}
    if signature.context_parameter is not None:
        arguments[signature.context_parameter] = _context()
    return arguments


def _context() -> ToolContext:
    """A context without what only an App knows."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return ToolContext(uuid4().hex, uuid4().hex, agent_id="unknown", agent_version="unknown", timestamp=now)


def _wire_value(value: Any) -> Any:
    """A `Result` as text; a failed one as an error result if the server's MCP library is loaded."""
    if not isinstance(value, Result):
        return value
    text = cast(Result[Any], value).to_json_str()
    # Not imported: a server that speaks MCP has loaded these types, and others have no use for them.
    types = sys.modules.get("mcp_types")
    if value.is_ok() or types is None:
        return text
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
