"""`ExtMcpToolDecorator`: prefix, description and logging on any server that has a `.tool()` decorator."""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from mcp_core.mcp_log import get_logger
from mcp_core.naming import Naming, Style
from mcp_core.result import Result
from mcp_core.schema import Signature
from mcp_core.spec import declaration_of, spec_of
from mcp_core.tool_arguments import ToolArguments

F = TypeVar("F", bound=Callable[..., Any])

PREFIX_VARIABLE = "MCP_TOOL_PREFIX"

logger = get_logger(__name__)


def get_tool_prefix() -> str:
    """The prefix from the environment; unset means none."""
    return os.environ.get(PREFIX_VARIABLE, "")


def log_tool_usage(function: F) -> F:
    """Log the call, its success and its failure; an exception goes on to the layer above."""
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

    return cast(F, logged_async if inspect.iscoroutinefunction(function) else logged_sync)


class ExtMcpToolDecorator:
    """Registers functions on `server`, with the prefix, a complete description, and logging.

    `server` is anything whose `.tool(name=..., description=...)` returns a decorator.
    """

    def __init__(self, server: Any, prefix: str | None = None, style: Style = "snake") -> None:
        self.server = server
        self.naming = Naming(style, get_tool_prefix() if prefix is None else prefix)

    def tool(self, name: str | None = None, *, prefix: str | None = None, **options: Any) -> Callable[[F], F]:
        """Register a function. It is returned as it is, so that it can be called without this overhead."""

        def register(function: F) -> F:
            declared = declaration_of(function)
            given = name or (declared.name if declared else None) or function.__name__
            own_prefix = prefix if prefix is not None or declared is None else declared.prefix
            options.setdefault("description", ToolArguments.build_tool_description(function))
            final = self.naming.final(given, own_prefix)
            self.server.tool(name=final, **options)(_on_the_wire(log_tool_usage(function)))
            return function

        return register


def _on_the_wire(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a server should see it: flat arguments, and a `Result` as its JSON text."""
    signature = spec_of(inspect.unwrap(function)).signature

    @functools.wraps(function)
    async def flat_async(**arguments: Any) -> Any:
        return _as_answer(await function(**_unflatten(signature, arguments)))

    @functools.wraps(function)
    def flat_sync(**arguments: Any) -> Any:
        return _as_answer(function(**_unflatten(signature, arguments)))

    wrapper: Any = flat_async if signature.is_async else flat_sync
    shown = _flat_parameters(function, signature)
    wrapper.__signature__ = inspect.Signature(shown)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    # Servers that look through wrappers would find the nested signature again.
    del wrapper.__wrapped__
    return wrapper


def _flat_parameters(function: Callable[..., Any], signature: Signature) -> list[inspect.Parameter]:
    shown: list[inspect.Parameter] = []
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    for parameter in parameters:
        if parameter.name != signature.model_parameter:
            shown.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        for name, field in signature.model.model_fields.items():
            default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
            shown.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=_annotated(field),
                )
            )
    return shown


def _annotated(field: Any) -> Any:
    """A field's type together with its description and limits."""
    return Annotated[field.annotation, field]


def _unflatten(signature: Signature, arguments: dict[str, Any]) -> dict[str, Any]:
    if signature.model_parameter is None:
        return arguments
    fields = signature.model.model_fields
    own = {name: arguments.pop(name) for name in list(arguments) if name in fields}
    return {signature.model_parameter: signature.model.model_validate(own, by_name=True), **arguments}


def _as_answer(value: Any) -> Any:
    """A `Result` as text; a failed one as an error result, where the server's MCP library is loaded."""
    if not isinstance(value, Result):
        return value
    text = cast(Result[Any], value).to_json_str()
    # Looked up, not imported: a server that speaks MCP has loaded its wire types, and others have none.
    types = sys.modules.get("mcp_types")
    if value.is_ok() or types is None:
        return text
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
