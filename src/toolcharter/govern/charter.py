"""`charter.toml`: which servers are governed, and under which policies.

[upstream.github]
command = ["npx", "-y", "@modelcontextprotocol/server-github"]
secrets = { GITHUB_TOKEN = "keyring:github" }

[upstream.docs]
url = "https://docs.example/mcp"

[tools."github:delete_*"]
consent = "required"
permissions = ["repo:delete"]
rate_limit = "10/minute"

[tools."files:write_file"]
arguments.path = { folder = "/home/ana/work" }
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mcp_core.declare.spec import RateLimit
from mcp_core.files.toml_file import read_toml

DEFAULT_FILE = Path("charter.toml")

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_RATE = re.compile(r"([1-9]\d*)\s*/\s*(?:([1-9]\d*)\s*)?(second|minute|hour|day)s?")
_UNIT_MS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
_PUBLIC_URL = re.compile(r"(?:https://[^/?#\s]+|http://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?:/[^?#\s]*)?")
_SECRET = re.compile(r"(?:env|keyring|file):.+", re.DOTALL)


def parse_rate(text: str) -> RateLimit:
    """`10/minute` or `100 / 5 minutes` as a rate limit. Raises ValueError."""
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError("must look like 10/minute or 100/5 minutes")
    return RateLimit(int(match[1]), int(match[2] or 1) * _UNIT_MS[match[3]])


def _check_rate(text: str) -> str:
    parse_rate(text)
    return text


def _check_secret(text: str) -> str:
    if not _SECRET.fullmatch(text):
        raise ValueError("must say where the secret is: env:NAME, keyring:NAME or file:PATH")
    return text


def _check_public_url(text: str) -> str:
    if not _PUBLIC_URL.fullmatch(text):
        raise ValueError("must look like https://tools.example; http:// is allowed on this machine only")
    return text.rstrip("/")


Rate = Annotated[str, AfterValidator(_check_rate)]
PublicUrl = Annotated[str, AfterValidator(_check_public_url)]
SecretPlace = Annotated[str, AfterValidator(_check_secret)]
ALL = "all"
"""The name of the server that has the tools of all."""
Consent = Literal["required", "if_possible", "never"]


def is_name(text: str) -> bool:
    """Whether a server can have this name."""
    return _NAME.fullmatch(text) is not None and text != ALL


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class OAuthTable(_Table):
    """How callers sign in to a server over HTTP. `oauth = {}` has all defaults."""

    tokens: Literal["caller", "shared"] = Field(
        default="caller", description="Each caller signs in (caller), or one sign-in counts for all of them (shared)."
    )
    grant: Literal["authorization_code", "client_credentials"] = Field(
        default="authorization_code",
        description="A person signs in with the browser, or the governor with its own client (client_credentials).",
    )
    client_id: str | None = Field(default=None, min_length=1, description="The id of a client that is registered.")
    client_secret: SecretPlace | None = Field(
        default=None, description="Its secret: env:NAME, keyring:NAME or file:PATH. Needs issuer."
    )
    client_metadata: str | None = Field(
        default=None,
        pattern=r"^https://[^/]+/.+",
        description="The address of a client-id metadata document, where the authorization server takes one.",
    )
    issuer: str | None = Field(
        default=None, pattern=r"^https?://", description="The authorization server that the client is registered with."
    )
    scopes: list[str] = Field(default=[], description="The scopes to request. Default: those that the server names.")
    redirect_port: int | None = Field(
        default=None,
        ge=1024,
        le=65535,
        description="The port of http://127.0.0.1:PORT/callback, where the client is registered with a fixed one.",
    )

    @model_validator(mode="after")
    def _complete_client(self) -> "OAuthTable":
        if self.client_secret is not None and (self.issuer is None or self.client_id is None):
            raise ValueError("client_secret needs client_id, and issuer: the only server that the secret is sent to")
        if self.grant == "client_credentials" and self.client_secret is None:
            raise ValueError("grant = client_credentials needs client_id, client_secret and issuer")
        return self


class UpstreamTable(_Table):
    """A server that is governed: a command, or an address."""

    command: list[str] | None = Field(default=None, min_length=1, description="The command that starts the server.")
    url: str | None = Field(default=None, pattern=r"^https?://", description="The address of a running server.")
    env: dict[str, str] = Field(default={}, description="Environment variables of the command.")
    secrets: dict[str, SecretPlace] = Field(
        default={},
        description="Secrets of the server by variable (command) or header (url): env:NAME, keyring:NAME or file:PATH.",
    )
    oauth: OAuthTable | None = Field(
        default=None, description="Callers sign in to the server (url): a table, see below; {} for the defaults."
    )
    pass_token: bool = Field(
        default=False,
        description="Send the token that a caller has for the governor on to the server (url). Read the warning first.",
    )
    folder: str | None = Field(default=None, description="The folder in which the command runs.")
    per: Literal["server", "caller"] = Field(
        default="server", description="One process or connection for all callers (server), or one for each (caller)."
    )
    idle_seconds: float = Field(default=600, gt=0, description="Stop the process after this time without a call.")
    transport: Literal["sse"] | None = Field(
        default=None,
        description="sse: the address is that of the older HTTP+SSE transport. Default: found out.",
    )
    handshake: bool = Field(
        default=False,
        description="Connect with the older handshake at once, for a server that fails if it is asked for a newer one.",
    )
    prefix: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{0,30}$",
        description="Prefix of its tools where all servers share one address. Default: the name of the server.",
    )

    @model_validator(mode="after")
    def _command_or_url(self) -> "UpstreamTable":
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either command or url")
        sources = [
            name
            for name, is_set in (
                ("oauth", self.oauth is not None),
                ("pass_token", self.pass_token),
                ("secrets.Authorization", any(header.lower() == "authorization" for header in self.secrets)),
            )
            if is_set
        ]
        if self.command is not None and (self.oauth is not None or self.pass_token):
            raise ValueError(f"{sources[0]} is for servers with a url; a command gets secrets as variables")
        if self.url is not None and len(sources) > 1:
            raise ValueError(f"{' and '.join(sources)} exclude each other: a request has one token")
        return self


class AnswerPolicy(_Table):
    """The policy for the answers of a tool."""

    max_bytes: int | None = Field(default=None, ge=100, description="A longer answer is refused with its size.")
    keep: list[str] | None = Field(
        default=None, min_length=1, description="The fields of a JSON answer that are kept, such as items.name."
    )
    redact: list[str] = Field(default=[], description="Regular expressions; what matches is replaced by [redacted].")

    @model_validator(mode="after")
    def _valid_patterns(self) -> "AnswerPolicy":
        for pattern in self.redact:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"redact: {pattern!r} is not a regular expression: {error}") from None
        return self


class ToolPolicy(_Table):
    """The policy of the tools whose names match a pattern. A field that is not set leaves the default."""

    allow: bool | None = Field(default=None, description="false hides the tool and refuses its calls.")
    deny: bool | None = Field(
        default=None, description="true hides the tool and refuses its calls, whatever else is set."
    )
    rename: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_.-]{1,128}$", description="The name that agents see."
    )
    description: str | None = Field(default=None, min_length=1, description="Replaces the description.")
    tags: list[str] | None = Field(
        default=None, description="Tools that change something forget what these tools cached."
    )
    permissions: list[str] | None = Field(default=None, description="What a caller must be granted.")
    consent: Consent | None = Field(
        default=None,
        description="Ask the person before each call: required (refuse if nobody can be asked), if_possible, never.",
    )
    rate_limit: Rate | None = Field(default=None, description="Calls of each caller, such as 10/minute.")
    deadline: float | None = Field(default=None, gt=0, description="Time limit of a call in seconds.")
    cache: float | None = Field(default=None, gt=0, description="Reuse an answer for so many seconds.")
    read_only: bool | None = Field(default=None, description="Whether the tool changes nothing.")
    arguments: dict[str, dict[str, Any]] = Field(
        default={},
        description="JSON Schema keywords that narrow an argument; { folder = PATH } allows paths inside a folder; "
        "{ value = X } fixes the argument and hides it from the agent.",
    )
    answers: AnswerPolicy | None = Field(default=None, description="What is done with answers.")

    @model_validator(mode="after")
    def _absolute_folders(self) -> "ToolPolicy":
        for name, keywords in self.arguments.items():
            folder = keywords.get("folder", "/")
            if not isinstance(folder, str) or not _ABSOLUTE.match(folder):
                raise ValueError(
                    f"arguments.{name}: folder {folder!r} must be an absolute path, such as /home/ana/work"
                )
        return self


class OfferPolicy(_Table):
    """The policy of the prompts or resources whose names or addresses match a pattern."""

    allow: bool | None = Field(
        default=None,
        description="false hides it and refuses it; true passes it on although a security rule finds something in it.",
    )
    deny: bool | None = Field(default=None, description="true hides it and refuses it, whatever else is set.")
    permissions: list[str] | None = Field(default=None, description="What a caller must be granted.")
    rate_limit: Rate | None = Field(
        default=None,
        description="Requests of each caller, such as 10/minute. All that match the pattern count together.",
    )
    deadline: float | None = Field(default=None, gt=0, description="Time limit of a request in seconds.")


class PinPolicy(_Table):
    """The policy for an upstream that shows something else than what was approved."""

    harmless: Literal["accept", "wait"] = Field(
        default="accept", description="Changes that break nothing: accept them, or wait for approval."
    )
    wording: Literal["wait", "accept"] = Field(
        default="wait", description="Other words in a description: wait for approval, or accept what no rule finds."
    )
    new_tools: Literal["wait", "accept"] = Field(default="wait", description="Tools that were not there before.")
    answers: Literal["mark", "withhold", "ignore"] = Field(
        default="mark",
        description="Instructions that are hidden in an answer: mark the answer, withhold it, or ignore.",
    )


class Charter(_Table):
    """The file."""

    upstream: dict[str, UpstreamTable] = Field(default={}, description="The servers, by name.")
    tools: dict[str, ToolPolicy] = Field(default={}, description='Policies by pattern, such as "github:delete_*".')
    prompts: dict[str, OfferPolicy] = Field(
        default={}, description='Policies of prompts by pattern, such as "github:review_*".'
    )
    resources: dict[str, OfferPolicy] = Field(
        default={}, description='Policies of resources by pattern, such as "files:file:///home/ana/private/*".'
    )
    pins: PinPolicy = Field(default_factory=PinPolicy, description="What is done with changes.")
    list_budget: int = Field(
        default=4000, gt=0, description="Tokens that tools/list may cost; beyond it, agents search for tools."
    )
    public_url: PublicUrl | None = Field(
        default=None,
        description="The address at which browsers reach the governor, such as https://tools.example, for sign-ins.",
    )
    learn_from_calls: bool = Field(
        default=True, description="Rank tools higher for the words of searches after which they were called."
    )
    always_listed: list[str] = Field(
        default=[], description='Patterns of tools that are listed all the same, such as "files:read_*".'
    )

    @model_validator(mode="after")
    def _valid_names(self) -> "Charter":
        for name in self.upstream:
            if name == ALL:
                raise ValueError(f"upstream {name!r}: this is the address of all servers together; use another name")
            if not is_name(name):
                raise ValueError(f"upstream {name!r}: a name has lower-case letters, digits and '-', at most 32")
        for table, patterns, what in (
            ("tools", self.tools, 'SERVER:TOOL, such as "github:delete_*"'),
            ("prompts", self.prompts, 'SERVER:PROMPT, such as "github:review_*"'),
            ("resources", self.resources, 'SERVER:ADDRESS, such as "files:file:///home/ana/private/*"'),
        ):
            for pattern in patterns:
                if ":" not in pattern and pattern != "*":
                    raise ValueError(f'{table}."{pattern}": a pattern is {what}')
        return self


def read_charter(path: Path) -> Charter:
    """Read the file. Raises InvalidSetting with the line and the key of a mistake."""
    return read_toml(path).read(Charter)


def read_or_new(path: Path) -> Charter:
    """The charter; an empty one if the file does not exist yet."""
    return read_charter(path) if path.exists() else Charter()
