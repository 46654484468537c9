"""Prompts: functions whose text parameters a person fills in, and which return messages."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, Unpack, cast, overload

from mcp_core.content.blocks import TextOrBlock
from mcp_core.declare.checks import permission_problems
from mcp_core.declare.completion import Argument, Completer, completer_of
from mcp_core.declare.schema import JsonSchema
from mcp_core.declare.spec import Declaration, ResponseTime, ToolSpec, spec_of
from mcp_core.declare.tool import add_options, check_function
from mcp_core.errors import DeclarationError

F = TypeVar("F", bound=Callable[..., Any])


class Message(NamedTuple):
    """One message of a prompt."""

    content: TextOrBlock
    role: Literal["user", "assistant"] = "user"


class PromptArgument(NamedTuple):
    """An argument of a prompt. Clients send it as text."""

    name: str
    description: str | None
    required: bool
    completer: Completer | None = None
    """The values that clients offer for it."""


class Prompt(NamedTuple):
    """A prompt, complete: what was declared and what follows from the function."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    permissions: tuple[str, ...]
    spec: ToolSpec
    """The function as the pipeline's steps know it."""

    @property
    def handler(self) -> Callable[..., Any]:
        """The function itself."""
        return self.spec.handler


class PromptOptions(TypedDict, total=False):
    """The keywords of `prompt`."""

    name: str | None
    title: str | None
    description: str | None
    permissions: Sequence[str]
    response_time: ResponseTime
    asks: bool


_TYPES = ("string", "integer", "number", "boolean")
"""The types that are read from the text that a client sends."""
_DECLARED = "__toolcharter_prompt__"
_COMPLETE = "__toolcharter_complete_prompt__"


@overload
def prompt(function: F, /) -> F: ...
@overload
def prompt(**options: Unpack[PromptOptions]) -> Callable[[F], F]: ...
def prompt(function: Any = None, /, **options: Unpack[PromptOptions]) -> Any:
    """Declare a prompt. The function is returned as it is, and can still be called directly.

    Its docstring says what the prompt and its arguments are for. It returns a text, a list of `Message`, or a `Result`
    with either.
    """

    def declare(target: F) -> F:
        declared = _add(target, options)
        setattr(target, _COMPLETE, _complete(target, declared))
        setattr(target, _DECLARED, declared)
        return target

    return declare if function is None else declare(check_function(function))


def prompt_of(function: Callable[..., Any], options: PromptOptions | None = None) -> Prompt:
    """The prompt behind a function, with further options; one that was not declared has only its docstring."""
    known = cast(Prompt | None, getattr(function, _COMPLETE, None))
    if known is not None and known.handler is function and not options:
        return known
    return _complete(function, _add(function, options or {}))


def _add(function: Callable[..., Any], options: PromptOptions) -> Declaration:
    declared = cast(Declaration | None, getattr(function, _DECLARED, None))
    return add_options(function, declared, options, PromptOptions.__annotations__)


def _complete(function: Callable[..., Any], declared: Declaration) -> Prompt:
    defaults: dict[str, Any] = {"category": "query", "permissions": (), "response_time": "medium"}
    return _prompt(spec_of(function, Declaration(**defaults | declared.options())))


def _prompt(spec: ToolSpec) -> Prompt:
    properties, required = spec.input_schema["properties"], spec.input_schema.get("required", ())
    problems = [f"permissions: {problem}" for problem in permission_problems(spec.declaration.permissions)]
    problems += [
        f"argument {argument}: clients send texts; make it a str, an int, a float, a bool or a choice of texts"
        for argument, schema in properties.items()
        if schema.get("type") not in _TYPES
    ]
    if problems:
        raise DeclarationError([f"{spec.name}: {problem}" for problem in problems])
    return Prompt(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        arguments=tuple(
            _argument(spec, argument, schema, is_required=argument in required)
            for argument, schema in properties.items()
        ),
        permissions=spec.permissions,
        spec=spec,
    )


def _argument(spec: ToolSpec, name: str, schema: JsonSchema, *, is_required: bool) -> PromptArgument:
    """An argument with the completer that it declares; for a choice, its values."""
    fields = spec.parameters.model_fields
    field = next(field for own, field in fields.items() if name in (own, field.alias))
    declared = next((each for each in field.metadata if isinstance(each, Argument)), Argument())
    completer = Completer(tuple(map(str, schema["enum"]))) if "enum" in schema else None
    if declared.complete is not None:
        completer = completer_of(f"{spec.name}.{name}", declared.complete, spec.permissions)
    return PromptArgument(name, declared.description or schema.get("description"), is_required, completer)
