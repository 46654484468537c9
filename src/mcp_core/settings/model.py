"""Settings: read once at start, from the command line or the environment."""

import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic.fields import FieldInfo

from mcp_core.mcp_log import LogLevel

RETENTION_SECONDS = 86_400.0
"""How long an answer is kept, if nothing else is set: a day."""
ENV_PREFIX = "TOOLCHARTER_"
HTTP_ONLY = frozenset({
    "host",
    "port",
    "unix_socket",
    "tls_cert",
    "tls_key",
    "allow_hosts",
    "allow_origins",
    "trusted_proxies",
    "no_console",
    "fast_path",
    "workers",
    "drain_seconds",
    "tokens",
    "oidc",
    "audience",
    "introspection",
    "oidc_client",
    "oidc_secret",
    "introspection_client",
    "introspection_secret",
    "scopes",
    "policy",
    "max_connections",
    "max_address_connections",
    "max_calls",
    "max_head_bytes",
    "max_headers",
    "max_body_bytes",
    "head_seconds",
    "body_seconds",
    "send_seconds",
    "idle_seconds",
    "confirm_in_console",
})  # fmt: skip
"""Settings that do nothing in a command that does not listen."""


def split_list(text: Any) -> Any:
    """`a, b` as the command line and the environment write it."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if isinstance(text, str) else text


def _path_text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


_SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_DURATIONS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(text: Any) -> Any:
    """`100MB` as a number of bytes."""
    if not isinstance(text, str):
        return text
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2].upper() not in _SIZES:
        raise ValueError("Write a size such as 500KB, 100MB or 2GB")
    return int(float(match[1]) * _SIZES[match[2].upper()])


def parse_duration(text: Any) -> Any:
    """`90d` as a number of seconds."""
    if not isinstance(text, str):
        return text
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2] not in _DURATIONS:
        raise ValueError("Write a time such as 30s, 12h, 7d or 4w")
    return float(match[1]) * _DURATIONS[match[2]]


TextList = Annotated[tuple[str, ...], BeforeValidator(split_list)]


MAY_BE_EMPTY = frozenset({"MCP_TOOL_PREFIX", "TOOLCHARTER_TOOL_PREFIX", "TOOLCHARTER_GRANTS"})
"""Variables whose empty value means something: no prefix, no permissions."""


class Variable(NamedTuple):
    """An environment variable that a server reads itself, such as a credential that must not be an option."""

    name: str
    description: str
    secret: bool = False
    required: bool = False


class Settings(BaseModel):
    """The settings of a user. Each field is an option and an environment variable.

    A server with settings of its own has a subclass, which its `build` names: `def build(settings: MySettings)`. The
    title of a field is the name of its value in the help; by default that is the last word of the field's name.
    """

    unused: ClassVar[frozenset[str]] = frozenset()
    """Settings of every server that do nothing in this one, such as `db`. They are not offered as options."""
    http_only: ClassVar[frozenset[str]] = HTTP_ONLY
    """Settings that do nothing over stdio. Clients that start the server do not ask for them."""
    variables: ClassVar[tuple[Variable, ...]] = ()
    """Variables that the server reads besides its settings. Clients and bundles ask their user for it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        validate_default=True,
        arbitrary_types_allowed=True,
        protected_namespaces=(),
    )

    settings_file: Path | None = Field(
        default=None,
        title="FILE",
        description="TOML file of settings: [server] for every server, [servers.NAME] for one. Options and variables "
        "win over it.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    unix_socket: Path | None = Field(
        default=None, title="PATH", description="Listen on this unix socket instead of a host and port."
    )
    tls_cert: Path | None = Field(
        default=None, title="FILE", description="PEM file of the TLS certificate and its chain; serves https."
    )
    tls_key: Path | None = Field(
        default=None, title="FILE", description="PEM file of the private key. Default: it is in the file of --tls-cert."
    )
    allow_hosts: TextList = Field(
        default=(), description="Further Host names that requests may carry, for servers behind a name."
    )
    allow_origins: TextList = Field(
        default=(), description="Further web origins that may call, such as https://app.example."
    )
    trusted_proxies: TextList = Field(
        default=(),
        description="Addresses or networks of proxies whose X-Forwarded-For, -Proto and -Host headers are believed; "
        "unix means the peer of --unix-socket.",
    )
    hide_removed: bool = Field(
        default=False,
        description="Do not serve tools whose announced removal date has passed. Without it, the log warns of them.",
    )
    no_console: bool = Field(default=False, description="Serve MCP, health and metrics only, and no web console at /.")
    fast_path: Literal["on", "asgi", "off"] = Field(
        default="on",
        description="Answer ordinary requests directly (on), the same through ASGI (asgi), "
        "or let the MCP SDK answer all (off).",
    )
    workers: int = Field(default=1, ge=1, le=256, description="Processes that serve HTTP; several need --redis.")
    drain_seconds: float | None = Field(
        default=None,
        ge=0,
        title="SECONDS",
        description="How long running calls may continue after a signal to stop. Default: 8 over HTTP, 1 over stdio.",
    )
    max_connections: int = Field(
        default=1000,
        ge=1,
        description="Open HTTP connections. A further one replaces the slowest connection that waits for its client, "
        "or is refused with 503.",
    )
    max_address_connections: int | None = Field(
        default=None,
        ge=1,
        title="N",
        description="Open HTTP connections of one address that is not a trusted proxy. A further one replaces its "
        "slowest, or is refused with 503. Default: half of --max-connections, but 100 at least.",
    )
    max_calls: int = Field(
        default=500,
        ge=1,
        description="HTTP requests in progress at a time. Further ones are refused with 503.",
    )
    max_head_bytes: int = Field(
        default=32 * 1024, ge=1024, description="Size of the head of an HTTP request. A larger one is refused with 431."
    )
    max_headers: int = Field(
        default=100, ge=10, description="Headers of an HTTP request. A request with more is refused with 431."
    )
    max_body_bytes: int = Field(
        default=4 * 1024 * 1024,
        ge=1024,
        description="Size of the body of an HTTP request. A larger one is refused with 413.",
    )
    head_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Time that a client has to send the head of a request. After it the answer is 408.",
    )
    body_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Time that a client has to send the body of a request. After it the answer is 408.",
    )
    send_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Time that a client may read nothing of a waiting response. After it the connection is closed.",
    )
    idle_seconds: float = Field(
        default=75.0, gt=0, description="Time that a connection may wait for its next request before it is closed."
    )
    db: str | None = Field(
        default=None,
        title="URL",
        description="Database: sqlite:///file.db or postgresql://... Default: a file in the platform's data folder.",
    )
    redis: str | None = Field(
        default=None,
        title="URL",
        description="Redis URL for cache, limits, confirmations and sessions shared by several processes.",
    )
    redis_timeout: float = Field(
        default=0.1,
        gt=0,
        title="SECONDS",
        description="How long Redis may be silent before calls go on without it, until it answers again.",
    )
    limits_without_redis: Literal["whole", "share", "open", "closed"] = Field(
        default="whole",
        description="While Redis cannot be reached, each process counts calls by itself, up to the whole limit or to "
        "its share among --workers; or calls pass their limits (open), or are refused (closed).",
    )
    idempotency_seconds: float = Field(
        default=RETENTION_SECONDS,
        gt=0,
        title="SECONDS",
        description="How long the answer to a call with an idempotency key is kept for retries.",
    )
    tokens: Path | None = Field(
        default=None,
        title="FILE",
        description="File of bearer tokens, made with `toolcharter token create`. Other callers over HTTP are refused.",
    )
    oidc: str | None = Field(
        default=None,
        title="ISSUER",
        description="URL of the issuer whose access tokens identify callers over HTTP. Needs --audience.",
    )
    audience: TextList = Field(
        default=(),
        description="What access tokens must be issued for: the public URL of this server, such as "
        "https://tools.example.com, and further values if the issuer uses others.",
    )
    oidc_client: str | None = Field(
        default=None,
        title="ID",
        description="Client id at the issuer with which people sign in to the console. Needs --oidc.",
    )
    oidc_secret: SecretStr | None = Field(
        default=None,
        title="SECRET",
        description="Client secret for it, if the client has one. Set the variable: others can read options.",
    )
    introspection: str | None = Field(
        default=None,
        title="URL",
        description="Endpoint of the issuer to ask about each access token, for tokens that are not JWTs.",
    )
    introspection_client: str | None = Field(
        default=None, title="ID", description="Client id of this server at the introspection endpoint."
    )
    introspection_secret: SecretStr | None = Field(
        default=None,
        title="SECRET",
        description="Client secret of this server there. Set the variable: others can read options.",
    )
    scopes: TextList = Field(
        default=(),
        description="Scopes that clients are told to request. Default: those in the policy, or else the permissions "
        "of all tools.",
    )
    policy: Path | None = Field(
        default=None,
        title="FILE",
        description="TOML file of roles: which users, groups, scopes and claims have which permissions.",
    )
    user: str | None = Field(default=None, min_length=1, description="User of calls without a token.")
    grants: Annotated[tuple[str, ...] | None, BeforeValidator(split_list)] = Field(
        default=None, description="Permissions of callers without a token, such as cards:read or cards:*. Default: all."
    )
    audit: Annotated[str | None, BeforeValidator(_path_text)] = Field(
        default=None,
        title="FILE|URL",
        description="Audit trail: a file of JSON lines, sqlite:///audit.db or postgresql://... One record for each "
        "request.",
    )
    audit_failure: Literal["continue", "refuse"] = Field(
        default="continue",
        description="While no audit record can be written: carry out calls all the same (continue), or refuse them.",
    )
    audit_arguments: bool = Field(
        default=False, description="Put the arguments of calls, redacted, into the audit trail, not only their digest."
    )
    audit_key: Path | None = Field(
        default=None,
        title="FILE",
        description="File with a secret key for the hashes of the audit trail, so that only who has it can make them.",
    )
    audit_rotate_size: Annotated[int, BeforeValidator(parse_size)] | None = Field(
        default=None, gt=0, title="SIZE", description="Begin a new audit file at this size, such as 100MB."
    )
    audit_rotate_age: Annotated[float, BeforeValidator(parse_duration)] | None = Field(
        default=None, gt=0, title="TIME", description="Begin a new audit file after this time, such as 1d."
    )
    audit_keep: Annotated[float, BeforeValidator(parse_duration)] | None = Field(
        default=None,
        gt=0,
        title="TIME",
        description="Delete rotated audit files, or audit records in a database, that are older, such as 90d.",
    )
    structured: Literal["once", "both", "off"] | None = Field(
        default=None,
        description="Structured content and output schemas: none (off), beside the text (both), or without the text "
        "for clients that hand both to the model (once). Default: as the server declares, once.",
    )
    confirm_in_console: Annotated[float, BeforeValidator(parse_duration)] | None = Field(
        default=None,
        gt=0,
        title="TIME",
        description="How long a call that the user is to confirm waits for an answer in the console, such as 2m, if "
        "its client cannot ask. Default: it is refused, or carried out if its tool asks only if possible.",
    )
    calls_keep: Annotated[float, BeforeValidator(parse_duration)] | None = Field(
        default=None,
        ge=0,
        title="TIME",
        description="How long recent calls are kept for the console, such as 12h; 0s keeps none. Default: 1d over HTTP "
        "with the console, otherwise none.",
    )
    calls_size: Annotated[int, BeforeValidator(parse_size)] = Field(
        default=100_000_000,
        gt=0,
        title="SIZE",
        description="Size of all recent calls that are kept, such as 100MB. The oldest are deleted first.",
    )
    otlp: str | None = Field(
        default=None,
        title="URL",
        description="OpenTelemetry collector for traces and metrics over HTTP, such as http://localhost:4318. The "
        "standard OTEL_* variables work too.",
    )
    log_level: LogLevel = Field(default="INFO", description="TRACE, DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    log_file: Path | None = Field(default=None, description="File to log to instead of stderr.")
    log_calls: bool = Field(
        default=False, description="Log each successful call in one line at INFO; otherwise they are at TRACE."
    )
    log_json: bool = Field(default=False, description="Log as JSON lines.")
    tool_prefix: str | None = Field(
        default=None,
        validation_alias="MCP_TOOL_PREFIX",
        description="Prefix of all tool names; the empty text for none.",
    )
    descriptions: Literal["full", "compact"] | None = Field(
        default=None, description="Tool descriptions in full (four sections) or compact. Default: the server's choice."
    )
    deadline: float | None = Field(
        default=None,
        gt=0,
        title="SECONDS",
        description="Time limit of every call in seconds, instead of that of the tool's response time.",
    )
    task_seconds: Annotated[float, BeforeValidator(parse_duration)] = Field(
        default=3600.0,
        gt=0,
        title="TIME",
        description="How long a call that has become a task may run, such as 30m.",
    )
    task_keep: Annotated[float, BeforeValidator(parse_duration)] = Field(
        default=86_400.0,
        gt=0,
        title="TIME",
        description="How long a task and its answer are kept after it was created, such as 1d.",
    )
    threads: int = Field(
        default=32, ge=1, le=10_000, description="Threads of each server for tools that are not async."
    )

    def __init__(self, **values: Any) -> None:
        """Environment variables fill in what is not given here."""
        super().__init__(**(_from_environment(type(self), values.keys()) | values))

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """These settings as this type; the environment fills in the fields that a subclass adds."""
        return settings if isinstance(settings, cls) else cls(**settings.model_dump())


AUDIT_SETTINGS = frozenset(name for name in Settings.model_fields if name.startswith("audit"))


def settings_type(build: Any) -> type[Settings]:
    """The settings that a function `build` takes, by the annotation of its first parameter, or those of an app."""
    if isinstance(settings := getattr(build, "settings", None), Settings):
        return type(settings)
    for eval_str in (True, False):  # the name of another parameter's type may exist only for type checkers
        with suppress(NameError, TypeError, ValueError):
            parameters = inspect.signature(build, eval_str=eval_str).parameters.values()
            annotation = next((parameter.annotation for parameter in parameters), None)
            return annotation if isinstance(annotation, type) and issubclass(annotation, Settings) else Settings
    return Settings


def _from_environment(settings: type[Settings], given: Set[str]) -> dict[str, Any]:
    """The values of environment variables for fields that are not given. The case of their names does not matter."""
    values: dict[str, Any] = {}
    variables = {name.upper(): text for name, text in os.environ.items()}
    for name, field in settings.model_fields.items():
        names = tuple(_variables(name, field))
        if not given.isdisjoint((name, *names)):
            continue
        for variable in names:
            text = variables.get(variable.upper(), "")
            # An empty variable is not set: clients pass on what their user has not filled in.
            if text or (variable in MAY_BE_EMPTY and variable in variables):
                values[name] = _decode(text, field)
                break
    return values


def _variables(name: str, field: FieldInfo) -> Iterator[str]:
    """The variables of a setting; the first that is set wins."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        yield from (choice for choice in alias.choices if isinstance(choice, str))
    elif isinstance(alias, str):
        yield alias
    yield f"{ENV_PREFIX}{name.upper()}"


def _decode(text: str, field: FieldInfo) -> Any:
    """The value of a variable: JSON for a list or a table, unless the field has a way to write it of its own."""
    if not _has_parts(field.annotation) or any(isinstance(each, BeforeValidator) for each in field.metadata):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text  # what is wrong with it is for the field to say


def _has_parts(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    if kind in (Union, UnionType):
        return any(map(_has_parts, get_args(annotation)))
    several = isinstance(kind, type) and issubclass(kind, BaseModel | Mapping | Sequence | Set)
    return several and not issubclass(kind, str | bytes)


def environment_variable(name: str) -> str:
    """The environment variable of a setting."""
    return "MCP_TOOL_PREFIX" if name == "tool_prefix" else f"{ENV_PREFIX}{name.upper()}"
