import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_SECRETS = frozenset(
    {"password", "passwd", "passphrase", "secret", "apikey", "apitoken", "apisecret", "accesstoken"}
    | {"accesskey", "authtoken", "authkey", "bearertoken", "refreshtoken", "sessiontoken", "privatekey"}
    | {"secretkey", "clientsecret", "credentials", "jwt"}
)
_ENDINGS = tuple(sorted(_SECRETS - {"secret", "jwt", "credentials"}))
_TOKEN = re.compile(r"\b(?:auth\w*|access|api|bearer|personal|oauth|secret|credential\w*)\b", re.IGNORECASE)
_ABOUT = frozenset(
    {"hash", "strength", "generate", "encode", "decode", "encrypt", "decrypt", "verify", "check", "validate"}
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types and "string" not in parameter.types:
            continue
        joined = "".join(words_of(parameter.name))
        named = joined in _SECRETS or joined.endswith(_ENDINGS)
        if joined == "token":
            named = bool(_TOKEN.search(parameter.description))
        if named and _ABOUT.isdisjoint(tool.name_words):
            yield Problem(f"{parameter.name!r} asks the agent for a secret", parameter.path)


RULE = Rule(
    id="PAR009",
    name="secret-parameter",
    family="parameters",
    severity="warning",
    what="A parameter that asks for a password, a key or a token.",
    why="What an agent sends stands in the conversation, in logs, and with the model's provider. "
    "Whatever else the agent reads may talk it out of the agent again.",
    fix="Read secrets from the server's settings, or let the person sign in with OAuth.",
    bad=[{"inputSchema": {"type": "object", "properties": {"api_key": {"type": "string"}}}}],
    good=[{"inputSchema": {"type": "object", "properties": {"page_token": {"type": "string"}}}}],
    check=check,
)
