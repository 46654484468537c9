"""The declaration of a tool: data only. `checks` finds its problems; `tool` is how it is written."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, NamedTuple, TypedDict, cast

from pydantic import BaseModel

from mcp_core.declare import docstring, schema
from mcp_core.declare.docstring import Docstring
from mcp_core.declare.listed import ListedTool
from mcp_core.errors import DeclarationError
from mcp_core.hints import AgentHints

Category = Literal["query", "mutation", "analysis", "generation"]
ResponseTime = Literal["fast", "medium", "slow"]
TaskPolicy = Literal["never", "auto", "always"]

DEADLINES: Mapping[ResponseTime, float] = {"fast": 1.0, "medium": 10.0, "slow": 120.0}
"""In seconds. They are generous: a deadline ends calls that hang, not calls that are a little late."""


@dataclass(frozen=True, slots=True)
class Example:
    """A call that works, and what comes back. The tests run every one of them."""

    description: str
    params: Mapping[str, Any]
    expected_result: Any


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `max_calls` for one caller in `window_ms`."""

    max_calls: int
    window_ms: int


class Icon(NamedTuple):
    """A picture of a tool: its address, `https:` or `data:`, its type, and sizes such as 48x48 or any."""

    src: str
    mime_type: str | None = None
    sizes: Sequence[str] = ()
    theme: Literal["light", "dark"] | None = None

    def to_wire(self) -> dict[str, Any]:
        """The icon as the protocol writes it."""
        fields = {"src": self.src, "mimeType": self.mime_type, "sizes": list(self.sizes), "theme": self.theme}
        return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A tool that still works, and will be removed."""

    since: str
    """A date such as 2026-07-28, or a version such as 1.4.0."""
    replacement: str
    removal_date: str

    def is_due(self, today: date) -> bool:
        """Whether the day of the removal has come."""
        return date.fromisoformat(self.removal_date) <= today

    def sentence(self) -> str:
        """The notice that an agent reads."""
        return f"Deprecated since {self.since}; use {self.replacement} instead. Removal: {self.removal_date}."


TargetFunction = Callable[..., Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Confirm:
    """The confirmation before a call runs: by the agent with a literal, by the person with an answer.

    A tool with a `Confirm` is destructive, unless its declaration says `destructive=False`.
    """

    literal: str | None = None
    """Adds the required argument `explicit_action`, which must be exactly this text."""
    ask: str | bool = False
    """The question to the person, with arguments in braces. `True` for one made of the tool's summary and arguments."""
    target: TargetFunction | None = None
    """The object of the call beside its arguments, such as the active project. `ask` shows it as `{target}`.

    It takes what it needs of the handler's parameters, by the same names. A confirmation holds for this target only.
    None means that this call needs no confirmation.
    """
    required: bool = False
    """Whether a call is refused if nobody can be asked. Otherwise the literal is enough then."""

    @property
    def asks_person(self) -> bool:
        """Whether a person is asked, where one can be."""
        return bool(self.ask) or self.required or self.target is not None


class _Unset:
    def __repr__(self) -> str:
        return "unset"


UNSET: Any = _Unset()

MakeHints = Callable[[Any, Any], AgentHints]
"""From the validated arguments and the value to the hints of a successful call."""


class ToolOptions(TypedDict, total=False):
    """The keywords of `tool`: the fields of `Declaration`, by the same names."""

    permissions: Sequence[str]
    category: Category
    response_time: ResponseTime | float
    idempotent: bool
    examples: Sequence[Example]
    tags: Sequence[str]
    read_only: bool | None
    cache_ttl: float | None
    rate_limit: RateLimit | None
    deprecated: Deprecation | None
    version: str
    name: str | None
    title: str | None
    icons: Sequence[Icon]
    meta: Mapping[str, Any] | None
    description: str | None
    prefix: str | None
    destructive: bool | None
    open_world: bool
    confirm: Confirm | None
    asks: bool
    task: TaskPolicy
    hints: MakeHints | None
    error_messages: Mapping[str, str] | None
    synonyms: Mapping[str, str] | None
    user_argument: str | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """The part of a tool that its author writes beside the function."""

    permissions: Sequence[str] = UNSET
    category: Category = UNSET
    response_time: ResponseTime | float = UNSET
    """How long a call may take: by name, with the deadline that the server has for it, or in seconds."""
    idempotent: bool = UNSET
    examples: Sequence[Example] = UNSET
    tags: Sequence[str] = UNSET
    read_only: bool | None = None
    """Whether it changes nothing. Queries and analyses do not, and neither does a tool with `cache_ttl`."""
    cache_ttl: float | None = None
    """How many seconds an answer may be reused. A mutation or generation is never cached."""
    rate_limit: RateLimit | None = None
    deprecated: Deprecation | None = None
    version: str = "1.0.0"
    name: str | None = None
    title: str | None = None
    icons: Sequence[Icon] = ()
    """Pictures that clients show beside the title."""
    meta: Mapping[str, Any] | None = None
    """Further members of the tool's `_meta`, by their whole keys, such as `com.example/team`."""
    description: str | None = None
    prefix: str | None = None
    destructive: bool | None = None
    open_world: bool = True
    """Whether it reaches what this server does not keep, such as the web. The protocol assumes so, too."""
    confirm: Confirm | None = None
    asks: bool = False
    """Whether the handler asks the person while it runs, with `context.ask`."""
    task: TaskPolicy = "never"
    """Whether a call may outlive its request, for clients that follow tasks: never, as soon as it takes long (auto),
    or always. With `always`, other clients cannot call the tool."""
    hints: MakeHints | None = None
    error_messages: Mapping[str, str] | None = None
    """Messages for arguments instead of the usual ones: by `argument`, or by `argument.kind` of pydantic's error."""
    synonyms: Mapping[str, str] | None = None
    """Other names that agents use for arguments, with the right ones: `rating` for `grade`; inside others with dots."""
    user_argument: str | None = None
    """The argument that names the user of a call. If it is missing, it is the user of the token or of `--user`."""

    @property
    def is_complete(self) -> bool:
        """Whether all that the charter asks for was declared."""
        return not any(getattr(self, name) is UNSET for name in self.__slots__)

    def options(self) -> dict[str, Any]:
        """The declared fields: those that differ from their defaults."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not DEFAULTS[name]}


DEFAULTS: Mapping[str, Any] = {name: field.default for name, field in Declaration.__dataclass_fields__.items()}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool, complete: what was declared and what follows from the function."""

    name: str
    handler: Callable[..., Any]
    declaration: Declaration
    doc: Docstring
    signature: schema.Signature
    input_schema: schema.JsonSchema
    consent: str | None
    secret_fields: frozenset[str]
    source: str
    has_own_name: bool
    """Whether the name was declared; one that is not follows the style of the server."""
    listed: ListedTool | None = None
    """How another server lists the tool, for one that is only passed on: agents see this, under our name."""
    provided: Any = None
    """The objects of the app of a mounted tool; None for a tool of the app itself."""
    is_listed: bool = True
    """Whether agents see the tool. One that they do not see can still be called, to say why."""

    @property
    def parameters(self) -> type[BaseModel]:
        """The model that validates the arguments."""
        return self.signature.model

    @property
    def title(self) -> str:
        """The name that people see."""
        return self.declaration.title or self.name.replace("_", " ").replace("-", " ").capitalize()

    @property
    def description(self) -> str:
        """Purpose, use and result: the text that the other descriptions are made of."""
        return self.declaration.description or self.doc.text

    @property
    def governed(self) -> bool:
        """Whether the author declared the tool in full; any other is served as far as it is declared."""
        return self.declaration.is_complete

    @property
    def category(self) -> Category:
        """The kind of work it does; without a declaration, the tool is treated as one that changes things."""
        if self.declaration.category is not UNSET:
            return self.declaration.category
        return "query" if self.declaration.read_only or self.cache_ttl is not None else "mutation"

    @property
    def has_known_effect(self) -> bool:
        """Whether the declaration has the category, or something that it follows from."""
        declared = self.declaration
        return declared.category is not UNSET or declared.read_only is not None or declared.cache_ttl is not None

    @property
    def reads_only(self) -> bool:
        """True if the tool changes nothing."""
        read_only = self.declaration.read_only
        return self.category in ("query", "analysis") if read_only is None else read_only

    @property
    def permissions(self) -> tuple[str, ...]:
        """The permissions that a caller must have."""
        return () if self.declaration.permissions is UNSET else tuple(self.declaration.permissions)

    @property
    def tags(self) -> tuple[str, ...]:
        """For finding it. A mutation invalidates cached answers behind its tags; without tags, all of them."""
        return () if self.declaration.tags is UNSET else tuple(self.declaration.tags)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Calls that work."""
        return () if self.declaration.examples is UNSET else tuple(self.declaration.examples)

    @property
    def response_time(self) -> ResponseTime:
        """How long it may take, by name: for seconds, the first name whose usual deadline is not shorter."""
        declared = self.declaration.response_time
        if declared is UNSET:
            return "slow"
        if isinstance(declared, str):
            return declared
        within: list[ResponseTime] = [name for name, seconds in DEADLINES.items() if declared <= seconds]
        return within[0] if within else "slow"

    @property
    def deadline(self) -> float | None:
        """The deadline in seconds, where the declaration has one of its own."""
        declared = self.declaration.response_time
        return None if declared is UNSET or isinstance(declared, str) else declared

    @property
    def idempotent(self) -> bool:
        """Whether calling it twice is the same as calling it once."""
        return self.category == "query" if self.declaration.idempotent is UNSET else self.declaration.idempotent

    @property
    def cache_ttl(self) -> float | None:
        """How many seconds an answer may be reused; None for tools that are never cached."""
        return self.declaration.cache_ttl

    @property
    def asks_person(self) -> bool:
        """Whether a person is asked to confirm a call, where one can be."""
        return self.declaration.confirm is not None and self.declaration.confirm.asks_person

    @property
    def destructive(self) -> bool:
        """True if the tool may destroy something: as declared, if it must be confirmed, or if its effect is unknown."""
        if self.declaration.destructive is not None:
            return self.declaration.destructive
        if self.consent is not None or self.declaration.confirm is not None:
            return True
        return self.declaration.category is UNSET and not self.reads_only


DECLARED = "__toolcharter__"
"""The attribute of a function that has its declaration."""
COMPLETE = "__toolcharter_spec__"
"""The attribute that has the complete tool: reading signatures is most of what a server does at its start."""


def declaration_of(function: Callable[..., Any]) -> Declaration | None:
    """The declaration of a function; None if it is not a tool."""
    return cast(Declaration | None, getattr(function, DECLARED, None))


def spec_of(function: Callable[..., Any], declaration: Declaration | None = None) -> ToolSpec:
    """The complete tool behind a function."""
    declared = declaration or declaration_of(function) or Declaration()
    known = cast(ToolSpec | None, getattr(function, COMPLETE, None))
    # A wrapper takes the attributes of what it wraps along.
    if known is not None and known.handler is function and known.declaration is declared:
        return known
    try:
        literal = declared.confirm.literal if isinstance(declared.confirm, Confirm) else None
        signature = schema.read_signature(function, literal)
    except schema.UnreadableSignature as error:
        raise DeclarationError([f"{name_of(function)}: {error}"]) from error
    return ToolSpec(
        name=declared.name or name_of(function),
        handler=function,
        declaration=declared,
        doc=docstring.parse(function),
        signature=signature,
        input_schema=schema.json_schema(signature.model),
        consent=schema.consent_literal(signature.model),
        secret_fields=schema.secret_fields(signature.model),
        source=source_of(function),
        has_own_name=declared.name is not None,
    )


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of a callable object."""
    return getattr(function, "__name__", type(function).__name__)


def source_of(function: Callable[..., Any]) -> str:
    """The source file and line of a function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
