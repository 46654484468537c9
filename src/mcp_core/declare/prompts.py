"""What a prompt declares: a function whose text parameters a person fills in, and which gives messages."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, cast

from mcp_core.declare.spec import Declaration, ResponseTime, ToolSpec, permission_faults, spec_of
from mcp_core.errors import DeclarationError

F = TypeVar("F", bound=Callable[..., Any])


class Image(NamedTuple):
    """A picture in a message."""

    data: bytes
    mime_type: str = "image/png"


class Embedded(NamedTuple):
    """A resource in a message, with its content."""

    uri: str
    content: str | bytes
    mime_type: str = "text/plain"


class Message(NamedTuple):
    """One message of a prompt."""

    content: str | Image | Embedded
    role: Literal["user", "assistant"] = "user"


class PromptArgument(NamedTuple):
    """What a person may give to a prompt: always text."""

    name: str
    description: str | None
    required: bool


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


_ATTRIBUTE = "__toolcharter_prompt__"


def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    permissions: Sequence[str] = (),
    response_time: ResponseTime = "medium",
) -> Callable[[F], F]:
    """Declare a prompt. The function is returned as it is, and can still be called directly.

    Its docstring says what the prompt and its arguments are for. It returns a text, a list of `Message`, or a `Result`
    with either.
    """

    def declare(function: F) -> F:
        declared = Declaration(
            name=name,
            title=title,
            description=description,
            permissions=permissions,
            response_time=response_time,
            category="query",
        )
        setattr(function, _ATTRIBUTE, _prompt(spec_of(function, declared)))
        return function

    return declare


def prompt_of(function: Callable[..., Any]) -> Prompt:
    """The prompt behind a function; one that was not declared has all it says in its docstring."""
    declared = getattr(function, _ATTRIBUTE, None) or getattr(prompt()(function), _ATTRIBUTE)
    return cast(Prompt, declared)


def _prompt(spec: ToolSpec) -> Prompt:
    properties, required = spec.input_schema["properties"], spec.input_schema.get("required", ())
    problems = [f"permissions: {fault}" for fault in permission_faults(spec.declaration.permissions)]
    problems += [
        f"argument {argument}: is no text, and clients send nothing else; make it a str"
        for argument, schema in properties.items()
        if schema.get("type") != "string"
    ]
    if problems:
        raise DeclarationError([f"{spec.name}: {problem}" for problem in problems])
    return Prompt(
        name=spec.name,
        title=spec.declaration.title or spec.name.replace("_", " ").replace("-", " ").capitalize(),
        description=spec.description,
        arguments=tuple(
            PromptArgument(argument, schema.get("description"), argument in required)
            for argument, schema in properties.items()
        ),
        permissions=spec.permissions,
        spec=spec,
    )
