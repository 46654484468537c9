"""Commands: a handler of one typed `CommandCall` becomes a tool with the parameters of every Atlassian tool.

    product, subject, parameters, response_fields (and ctx, which no schema shows)

The agent sees `parameters` as a free-form object. Behind it is a model for each command, so that an unknown or wrong
parameter is refused with the list of those that the command takes; `help` shows the model.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, Unpack, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from mcp_atl.answers.fields import select, without_empty
from mcp_atl.answers.listing import Item, Listing
from mcp_atl.answers.tables import table
from mcp_atl.client.connection import Json, SiteConnection
from mcp_atl.files import CallerFolders
from mcp_atl.site import ProductName
from mcp_atl.sites.sites import Sites
from mcp_atl.synonyms import synonyms_of
from toolcharter import Example, InvalidArguments, PermissionDenied, Result, ToolContext, tool
from toolcharter.declarations import ToolDecorator, ToolOptions

COMMAND = "__atl_command__"
"""The attribute of a tool's function that has its `Command`."""

Id = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
"""An id of the site. Agents write it as a number or as a text."""


class Parameters(BaseModel):
    """The `parameters` of a command."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    site: str | None = Field(
        default=None, description="Name of the site, if several are configured. health_check lists them."
    )


class ListParameters(Parameters):
    """For commands that give lists."""

    limit: int = Field(default=25, ge=1, le=200, description="Most results of one answer.")
    cursor: str | None = Field(default=None, max_length=4000, description="The next_cursor of the answer before.")
    format: Literal["objects", "table"] = Field(
        default="objects", description="table: columns and rows, for fewer tokens."
    )


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, slots=True)
class CommandEnvironment:
    """The parts that all commands share: the sites, the folder for files, and the commands themselves."""

    sites: Sites
    files: CallerFolders
    commands: Mapping[str, "Command"]
    to_command: Callable[[str], str]
    """The command of a tool: its name without the prefix."""


@dataclass(frozen=True, slots=True)
class CommandCall(Generic[P]):
    """One call of a command."""

    product: ProductName
    subject: str | None
    parameters: P
    fields: tuple[str, ...] | None
    """The response_fields; None if all are wanted."""
    context: ToolContext
    connection: SiteConnection
    server: CommandEnvironment

    @property
    def required_subject(self) -> str:
        """The subject of a command that does nothing without one."""
        if not self.subject or not self.subject.strip():
            raise InvalidArguments("subject: is required for this command, but missing or empty.", fields=("subject",))
        return self.subject.strip()


class Subject(NamedTuple):
    """The subject of a command in words, and its only values where there are few."""

    description: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """The description of a command for `help`."""

    name: str
    summary: str
    subject: Subject
    parameters: type[Parameters]
    writes: bool
    examples: Sequence[Example]

    @property
    def is_required(self) -> bool:
        """Whether the command cannot do without `parameters`."""
        return any(field.is_required() for field in self.parameters.model_fields.values())


Handler = Callable[[CommandCall[P]], Awaitable[Item | Listing | Sequence[Listing] | Result[Any] | Json]]


def reads(
    parameters: type[P],
    *,
    subject: str,
    choices: Sequence[str] = (),
    takes: str = "",
    **options: Unpack[ToolOptions],
) -> Callable[[Handler[P]], Callable[..., Any]]:
    """Declare a command that changes nothing. `choices` are the only subjects, where it has only these."""
    return _declare(_READS, parameters, Subject(subject, tuple(choices)), takes, options)


def writes(
    parameters: type[P],
    *,
    subject: str,
    choices: Sequence[str] = (),
    takes: str = "",
    **options: Unpack[ToolOptions],
) -> Callable[[Handler[P]], Callable[..., Any]]:
    """Declare a command that changes something at the site."""
    return _declare(_WRITES, parameters, Subject(subject, tuple(choices)), takes, options)


def command_of(function: Callable[..., Any]) -> Command:
    """The command behind a tool's function."""
    return cast(Command, getattr(function, COMMAND))


_READS = tool.query.preset(permissions=["atlassian:read"], response_time="medium")
_WRITES = tool.mutation.preset(permissions=["atlassian:write"], response_time="medium")


def _declare(
    decorator: ToolDecorator, parameters: type[P], subject: Subject, takes: str, options: ToolOptions
) -> Callable[[Handler[P]], Callable[..., Any]]:
    def declare(handler: Handler[P]) -> Callable[..., Any]:
        name = handler.__name__  # pyright: ignore[reportFunctionMemberAccess]
        command = Command(
            name,
            (handler.__doc__ or "").partition("\n")[0],
            subject,
            parameters,
            writes=decorator is _WRITES,
            examples=options.get("examples", ()),
        )

        async def run(
            product: ProductName = "atlassian",
            subject: str | None = None,
            parameters: P | None = None,
            response_fields: list[str] | None = None,
            ctx: ToolContext | None = None,
            *,
            server: CommandEnvironment,
        ) -> Any:
            if ctx is None:
                raise TypeError("ctx is filled in by the framework, or by who calls the function directly")
            given = parameters if parameters is not None else command.parameters()
            connection = server.sites.connect(given.site, ctx)
            if command.writes and connection.site.read_only:
                raise PermissionDenied(f"The site {connection.site.name!r} is read-only here; {name} would change it.")
            fields = None if response_fields is None else tuple(response_fields)
            call = CommandCall(product, subject, cast(P, given), fields, ctx, connection, server)
            return _answer(await handler(call), call)

        _copy_identity(run, handler, _annotations(command, takes), required=command.is_required)
        setattr(run, COMMAND, command)
        return decorator(**{"synonyms": synonyms_of(parameters), **options})(run)

    return declare


_FIELDS_SCHEMA: Json = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Names of those fields that you need; without it, all.",
}
"""Without the bound, which no agent reaches: it is in the list of tools once for each command."""


def _annotations(command: Command, takes: str) -> Mapping[str, Any]:
    """The types of the parameters of a tool, with what the agent reads about each."""
    schema: Json = {
        "type": "object",
        "description": takes or "Takes only site: the name of one, where several are configured.",
    }
    if (consent := command.parameters.model_fields.get("explicit_action")) is not None:
        # What the person must have asked for is shown, so that no agent meets it by surprise.
        literal = {"type": "string", "enum": list(consent.annotation.__args__), "description": consent.description}  # pyright: ignore[reportOptionalMemberAccess, reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownArgumentType]
        schema |= {"properties": {"explicit_action": literal}, "required": ["explicit_action"]}
    kind: Any = command.parameters if command.is_required else command.parameters | SkipJsonSchema[None]
    options = Annotated[kind, WithJsonSchema(schema)]
    return {
        "product": Annotated[ProductName, Field(description="Product that the subject is in.")],
        "subject": _subject_type(command.subject),
        "parameters": options,
        "response_fields": Annotated[
            Annotated[list[str], Field(max_length=100)] | SkipJsonSchema[None],
            WithJsonSchema(_FIELDS_SCHEMA),
        ],
        "ctx": ToolContext | None,
        "server": CommandEnvironment,
        "return": Any,
    }


def _subject_type(subject: Subject) -> Any:
    """A text. Where only some are valid, the schema lists them; people's spellings of them are accepted."""
    schema: Json = {"type": "string", "description": subject.description}
    if subject.choices:
        schema["enum"] = list(subject.choices)
    return Annotated[str | SkipJsonSchema[None], WithJsonSchema(schema)]


def _copy_identity(
    run: Callable[..., Any], handler: Callable[..., Any], annotations: Mapping[str, Any], *, required: bool
) -> None:
    """Give a function the name, the text and the place of the handler, and a signature of its own."""
    run.__name__, run.__qualname__, run.__module__ = handler.__name__, handler.__qualname__, handler.__module__
    run.__doc__, run.__annotations__ = handler.__doc__, dict(annotations)
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(run).parameters.items():
        default = inspect.Parameter.empty if required and name == "parameters" else parameter.default
        shown.append(inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=annotations[name]))
    run.__signature__ = inspect.Signature(shown)  # pyright: ignore[reportFunctionMemberAccess]
    run.__wrapped__ = handler  # pyright: ignore[reportFunctionMemberAccess] - where it is written


def _answer(found: Item | Listing | Sequence[Listing] | Result[Any] | Json, call: CommandCall[Any]) -> Any:
    """The answer in the form and with the fields that were asked for."""
    if isinstance(found, Result):
        return found
    if isinstance(found, Item):
        return _selected([found.value], found.shape, call.fields)[0]
    if isinstance(found, Listing):
        value = _listed([found], call)
        return Result[Json].ok(value, content=found.images) if found.images else value
    if isinstance(found, dict):
        return _selected([found], None, call.fields)[0]
    return _listed(found, call)


def _selected(values: Sequence[Json], shape: Any, fields: tuple[str, ...] | None) -> list[Json]:
    return [without_empty(value) for value in values] if fields is None else select(values, fields, shape)


def _listed(listings: Sequence[Listing], call: CommandCall[Any]) -> Json:
    as_table = getattr(call.parameters, "format", None) == "table"
    answer: Json = {}
    for listing in listings:
        items = _selected(listing.items, listing.shape, call.fields if listing.fields is None else listing.fields)
        answer[listing.kind] = table(items) if as_table else items
    for name in ("total", "next_cursor"):
        values = [getattr(listing, name) for listing in listings]
        if (value := next((one for one in values if one is not None), None)) is not None:
            answer[name] = value
    if notes := [note for listing in listings for note in listing.notes]:
        answer["notes"] = notes
    return answer
