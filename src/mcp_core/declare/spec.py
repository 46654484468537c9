"""What a tool declares: data only, checked when it is made."""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from string import Formatter
from typing import Any, Literal, TypeVar, cast, get_args, overload

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from mcp_core.declare import docstring, schema
from mcp_core.declare.docstring import Docstring
from mcp_core.errors import DeclarationError
from mcp_core.hints import AgentHints

Category = Literal["query", "mutation", "analysis", "generation"]
ResponseTime = Literal["fast", "medium", "slow"]
Confirm = Literal["if_possible", "required"]

SHORTEST_DESCRIPTION = 50
NOTICE = timedelta(days=90)
_PERMISSION = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*")
_SEMVER = re.compile(r"\d+\.\d+\.\d+([-+].+)?")

F = TypeVar("F", bound=Callable[..., Any])


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


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A tool that still works, and will go."""

    since: str
    replacement: str
    removal_date: str

    def sentence(self) -> str:
        """What an agent is told."""
        return f"Deprecated since {self.since}; use {self.replacement} instead. Removal: {self.removal_date}."


class _Unset:
    def __repr__(self) -> str:
        return "unset"


UNSET: Any = _Unset()

MakeHints = Callable[[Any, Any], AgentHints]
"""From the validated arguments and the value to the hints of a successful call."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The part of a tool that its author writes beside the function."""

    permissions: Sequence[str] = UNSET
    category: Category = UNSET
    response_time: ResponseTime = UNSET
    cacheable: bool = UNSET
    idempotent: bool = UNSET
    examples: Sequence[Example] = UNSET
    tags: Sequence[str] = UNSET
    cache_ttl: float | None = None
    rate_limit: RateLimit | None = None
    deprecated: Deprecation | None = None
    version: str = "1.0.0"
    name: str | None = None
    title: str | None = None
    description: str | None = None
    prefix: str | None = None
    destructive: bool | None = None
    consent: str | None = None
    confirm: Confirm | None = None
    question: str | None = None
    deadline: float | None = None
    hints: MakeHints | None = None
    refusals: Mapping[str, str] | None = None
    """What to say of an argument instead of the usual: by `argument`, or by `argument.kind` of pydantic's error."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing of what the charter asks for was declared."""
        return self.category is UNSET and self.examples is UNSET and self.tags is UNSET


REQUIRED: Mapping[str, str] = {
    "permissions": "a list of 'resource:action', empty if none is needed",
    "category": "one of query, mutation, analysis, generation",
    "response_time": "fast, medium or slow",
    "cacheable": "True or False",
    "idempotent": "True or False",
    "examples": "at least one Example(description, params, expected_result)",
    "tags": "at least one tag",
}


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
    named: bool

    @property
    def parameters(self) -> type[BaseModel]:
        """The model that validates the arguments."""
        return self.signature.model

    @property
    def description(self) -> str:
        """What it does, when to use it, what it returns: the text the other descriptions are made of."""
        return self.declaration.description or self.doc.text

    @property
    def governed(self) -> bool:
        """Whether the author declared the tool in full; a bare function is served, but not vouched for."""
        return not self.declaration.is_empty

    @property
    def category(self) -> Category:
        """What kind of work it does; a tool that does not say is taken for one that changes things."""
        return "mutation" if self.declaration.category is UNSET else self.declaration.category

    @property
    def permissions(self) -> tuple[str, ...]:
        """What a caller must hold."""
        return () if self.declaration.permissions is UNSET else tuple(self.declaration.permissions)

    @property
    def tags(self) -> tuple[str, ...]:
        """For finding it; a mutation forgets the cached answers of the tools it shares a tag with."""
        return () if self.declaration.tags is UNSET else tuple(self.declaration.tags)

    @property
    def examples(self) -> tuple[Example, ...]:
        """Calls that work."""
        return () if self.declaration.examples is UNSET else tuple(self.declaration.examples)

    @property
    def response_time(self) -> ResponseTime:
        """How long it may take."""
        return "slow" if self.declaration.response_time is UNSET else self.declaration.response_time

    @property
    def idempotent(self) -> bool:
        """Whether calling it twice is the same as calling it once."""
        return False if self.declaration.idempotent is UNSET else self.declaration.idempotent

    @property
    def cache_ttl(self) -> float | None:
        """How many seconds an answer may be reused; None for tools that are never cached."""
        return self.declaration.cache_ttl if self.declaration.cacheable is True else None

    @property
    def destructive(self) -> bool:
        """Whether it may destroy something: as declared, or whatever demands consent."""
        declared = self.declaration.destructive
        return self.consent is not None if declared is None else declared


_ATTRIBUTE = "__toolcharter__"
_COMPLETE = "__toolcharter_spec__"


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**declaration: Any) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **declaration: Any) -> Any:
    """Declare a tool. The function is returned as it is, and can still be called directly.

    The keywords are the fields of `Declaration`; a wrong or missing one fails here, at import.
    Without any, the function is served but not vouched for.
    """
    if function is not None:
        if declaration_of(function) is None:
            setattr(function, _ATTRIBUTE, Declaration())
        return function

    def declare(target: F) -> F:
        unknown = sorted(set(declaration) - set(Declaration.__dataclass_fields__))
        if unknown:
            known = ", ".join(Declaration.__dataclass_fields__)
            raise DeclarationError([f"{_name(target)}: {', '.join(unknown)}: no such field; there are {known}"])
        declared = Declaration(**declaration)
        setattr(target, _ATTRIBUTE, declared)
        spec = spec_of(target)
        if problems := spec_problems(spec):
            raise DeclarationError(problems)
        # Kept, because reading a signature is most of what a server with many tools does at its start.
        setattr(target, _COMPLETE, spec)
        return target

    return declare


def declaration_of(function: Callable[..., Any]) -> Declaration | None:
    """What was declared on a function; None where it is no tool."""
    return cast(Declaration | None, getattr(function, _ATTRIBUTE, None))


def spec_of(function: Callable[..., Any], declaration: Declaration | None = None) -> ToolSpec:
    """The complete tool behind a function."""
    declared = declaration or declaration_of(function) or Declaration()
    known = cast(ToolSpec | None, getattr(function, _COMPLETE, None))
    # A wrapper takes the attributes of what it wraps along.
    if known is not None and known.handler is function and known.declaration is declared:
        return known
    try:
        signature = schema.read_signature(function, declared.consent)
    except schema.UnreadableSignature as error:
        raise DeclarationError([f"{_name(function)}: {error}"]) from error
    return ToolSpec(
        name=declared.name or _name(function),
        handler=function,
        declaration=declared,
        doc=docstring.parse(function),
        signature=signature,
        input_schema=schema.json_schema(signature.model),
        consent=schema.consent_literal(signature.model),
        secret_fields=schema.secret_fields(signature.model),
        source=source_of(function),
        named=declared.name is not None,
    )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def source_of(function: Callable[..., Any]) -> str:
    """Where a function is written."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


# --- what a full declaration must hold ---------------------------------------------------------------------


def spec_problems(spec: ToolSpec) -> list[str]:
    """Everything that is wrong with a declaration, each with the tool, the field and the fix."""
    missing = [n for n in REQUIRED if getattr(spec.declaration, n) is UNSET]
    found = [(name, f"is missing; give {REQUIRED[name]}") for name in missing]
    if wrong := _forms(spec.declaration):
        # The other checks read these values, and could not.
        return [f"{spec.name}: {field}: {fault}" for field, fault in found + wrong]
    for check in (_identity, _behaviour, _caching, _documentation, _limits, _versions, _agreement):
        found += check(spec)
    return [f"{spec.name}: {field}: {fault}" for field, fault in found]


Faults = list[tuple[str, str]]


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _words(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_text, cast(list[Any], value)))


def _examples(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(e, Example) and _text(e.description) and isinstance(cast(Any, e.params), Mapping)
        for e in cast(list[Any], value)
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _limit(value: Any) -> bool:
    return isinstance(value, RateLimit) and _number(value.max_calls) and _number(value.window_ms)


def _deprecation(value: Any) -> bool:
    return isinstance(value, Deprecation) and _words((value.since, value.replacement, value.removal_date))


def _sentences(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_text, cast(Mapping[Any, Any], value).values()))


_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "permissions": (_words, REQUIRED["permissions"]),
    "tags": (_words, "a list of tags, none of them empty"),
    "examples": (_examples, f"a list with {REQUIRED['examples']}, each with a description"),
    "cache_ttl": (_number, "a number of seconds above 0"),
    "rate_limit": (_limit, "a RateLimit(max_calls, window_ms)"),
    "deprecated": (_deprecation, "a Deprecation(since, replacement, removal_date)"),
    "version": (_text, "a semantic version such as '1.2.3'"),
    "name": (_text, "a name such as list_notes, or nothing for the function's own"),
    "description": (_text, "a text, or nothing for the docstring"),
    "consent": (_text, "the words that state it, such as 'DELETE_NOTE'"),
    "question": (_text, "a question to the user"),
    "deadline": (_number, "a number of seconds above 0"),
    "hints": (callable, "a function from arguments and value to AgentHints"),
    "refusals": (_sentences, "a sentence for each 'argument' or 'argument.kind of error'"),
}


def _forms(declared: Declaration) -> Faults:
    """Values of a wrong type, such as a text where a list of texts belongs."""
    faults: Faults = []
    for name, (fits, wanted) in _FORMS.items():
        value = getattr(declared, name)
        if value is not Declaration.__dataclass_fields__[name].default and not fits(value):
            faults.append((name, f"{value!r} will not do; give {wanted}"))
    return faults


def permission_faults(permissions: Any) -> list[str]:
    """What is wrong with a list of permissions."""
    if not _words(permissions):
        return [f"{permissions!r} will not do; give {REQUIRED['permissions']}"]
    wrong = [name for name in permissions if not _PERMISSION.fullmatch(name)]
    return [f"{name!r} is not 'resource:action'; write for example 'cards:read'" for name in wrong]


def _identity(spec: ToolSpec) -> Faults:
    faults: Faults = []
    if (length := len(spec.description.strip())) < SHORTEST_DESCRIPTION:
        fix = "say in the docstring what it does, when to use it and what it returns"
        faults.append(("description", f"has {length} of {SHORTEST_DESCRIPTION} characters; {fix}"))
    faults += [("permissions", fault) for fault in permission_faults(spec.permissions)]
    if not _SEMVER.fullmatch(spec.declaration.version):
        faults.append(("version", f"{spec.declaration.version!r} is not a semantic version; write for example '1.2.3'"))
    return faults


def _behaviour(spec: ToolSpec) -> Faults:
    faults: Faults = []
    for name, allowed in (("category", get_args(Category)), ("response_time", get_args(ResponseTime))):
        value = getattr(spec.declaration, name)
        if value is not UNSET and value not in allowed:
            faults.append((name, f"{value!r} is not known; use one of {', '.join(allowed)}"))
    for name in ("cacheable", "idempotent"):
        value = getattr(spec.declaration, name)
        if value is not UNSET and not isinstance(value, bool):
            faults.append((name, f"{value!r} is not True or False"))
    if spec.category == "query" and spec.declaration.idempotent is False:
        faults.append(("idempotent", "is False, but a query has no side effects; set it to True"))
    if spec.category == "query" and spec.destructive:
        faults.append(("category", "is query, but the tool is destructive; make it a mutation"))
    return faults


def _caching(spec: ToolSpec) -> Faults:
    declared = spec.declaration
    if declared.cacheable is True and declared.category in ("mutation", "generation"):
        return [("cacheable", f"is True, but a {declared.category} is never cached; set it to False")]
    if declared.cacheable is True and not (declared.cache_ttl and declared.cache_ttl > 0):
        return [("cache_ttl", f"is {declared.cache_ttl}; a cacheable tool needs a number of seconds above 0")]
    if declared.cacheable is False and declared.cache_ttl is not None:
        return [("cache_ttl", "is set, but cacheable is False; remove it, or set cacheable=True")]
    return []


def _documentation(spec: ToolSpec) -> Faults:
    faults: Faults = []
    if spec.declaration.examples is not UNSET and not spec.examples:
        faults.append(("examples", f"is empty; give {REQUIRED['examples']}"))
    if spec.declaration.tags is not UNSET and not spec.tags:
        faults.append(("tags", f"is empty; give {REQUIRED['tags']}"))
    for name in schema.undescribed(spec.input_schema):
        faults.append((f"argument {name}", "has no description; say what it is for and which values it takes"))
    for example in spec.examples:
        try:
            # As strictly as a call is read.
            spec.parameters.model_validate_json(to_json(dict(example.params)), strict=True)
        except PydanticSerializationError as error:
            faults.append(("examples", f"{example.description!r} has params that are no JSON: {error}"))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            faults.append(("examples", f"{example.description!r} does not fit the schema: {place}: {first['msg']}"))
    return faults


def _limits(spec: ToolSpec) -> Faults:
    limit, deadline = spec.declaration.rate_limit, spec.declaration.deadline
    faults: Faults = []
    if limit and (limit.max_calls < 1 or limit.window_ms < 1):
        faults.append(("rate_limit", "max_calls and window_ms must be above 0"))
    if deadline is not None and deadline <= 0:
        faults.append(("deadline", f"is {deadline}; give seconds above 0"))
    return faults


def _versions(spec: ToolSpec) -> Faults:
    deprecated = spec.declaration.deprecated
    if deprecated is None:
        return []
    try:
        since, removal = date.fromisoformat(deprecated.since), date.fromisoformat(deprecated.removal_date)
    except ValueError as error:
        return [("deprecated", f"since and removal_date are ISO dates such as 2026-07-28 ({error})")]
    if removal - since < NOTICE:
        earliest = since + NOTICE
        return [("deprecated", f"is removed {(removal - since).days} days after since; not before {earliest}")]
    return []


def _placeholders(text: str) -> set[str]:
    """The names in braces; a text that cannot be filled in speaks of itself."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}


def _agreement(spec: ToolSpec) -> Faults:
    declared = spec.declaration
    if declared.consent is not None and spec.consent != declared.consent:
        return [("consent", f"is {declared.consent!r}, but {schema.CONSENT_FIELD} demands {spec.consent!r}")]
    if spec.consent is not None and schema.CONSENT_FIELD not in spec.input_schema.get("required", ()):
        return [("consent", f"{schema.CONSENT_FIELD} has a default, which nobody has to state; remove it")]
    known = set(spec.input_schema["properties"])
    if strange := sorted({name for name in declared.refusals or () if name.partition(".")[0] not in known}):
        return [("refusals", f"speaks of {', '.join(strange)}, which is no argument; begin with an argument's name")]
    if unknown := sorted(_placeholders(declared.question or "") - known):
        return [("question", f"speaks of {', '.join(unknown)}, which is no argument; use argument names in braces")]
    if declared.confirm is not None and declared.confirm not in get_args(Confirm):
        return [("confirm", f"{declared.confirm!r} is not known; use one of {', '.join(get_args(Confirm))}")]
    return []
