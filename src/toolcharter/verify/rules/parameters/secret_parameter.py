import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_SECRET_NAMES = frozenset(
    {"password", "passwd", "passphrase", "secret", "apikey", "apitoken", "apisecret", "accesstoken"}
    | {"accesskey", "authtoken", "authkey", "bearertoken", "refreshtoken", "sessiontoken", "privatekey"}
    | {"secretkey", "clientsecret", "credentials", "jwt"}
)
_ENDINGS = tuple(sorted(_SECRET_NAMES - {"secret", "jwt", "credentials"}))
_PASSWORDS = frozenset({"passphrase", "passwd", "password"})
"""Without an account beside it, it protects what the tool makes, such as a link or a document."""
_ACCOUNTS = frozenset(
    {"account", "connectionstring", "database", "email", "host", "hostname", "login", "server", "url", "user"}
    | {"userid", "username"}
)
_TOKEN = re.compile(r"\b(?:auth\w*|access|api|bearer|personal|oauth|secret|credential\w*)\b", re.IGNORECASE)
_SECRET_TOOLS = frozenset(
    {"hash", "strength", "generate", "encode", "decode", "encrypt", "decrypt", "verify", "check", "validate"}
    | {"protect", "unprotect", "unlock", "lock", "password", "login", "signin", "authenticate"}
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    arguments = {"".join(words_of(argument.name)) for argument in tool.arguments}
    for parameter in tool.parameters:
        if parameter.types and "string" not in parameter.types:
            continue
        joined = "".join(words_of(parameter.name))
        is_secret = joined in _SECRET_NAMES or joined.endswith(_ENDINGS)
        if joined == "token":
            is_secret = bool(_TOKEN.search(parameter.description))
        elif joined in _PASSWORDS:
            is_secret = not _ACCOUNTS.isdisjoint(arguments)
        if is_secret and _SECRET_TOOLS.isdisjoint(tool.name_words):
            yield Problem(f"{parameter.name!r} asks the agent for a secret", parameter.path)


RULE = Rule(
    id="PAR009",
    name="secret-parameter",
    family="parameters",
    severity="warning",
    what="A parameter that asks for a key, a token, or the password of an account.",
    why="Arguments are stored in the conversation, in logs, and by the provider of the model. "
    "Other content that the agent reads may make it reveal them.",
    fix="Read secrets from the settings of the server, or let the user sign in with OAuth.",
    bad=[{"inputSchema": {"type": "object", "properties": {"api_key": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"page_token": {"type": "string"}}}}],
    check=check,
)
