import re
from collections.abc import Iterable

from mcp_core.schema.fields import list_at
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_SECRET = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}"
    r"|AIza[\w-]{30,}|glpat-[\w-]{16,}|(?<![\w-])eyJ[\w-]{15,}+\.[\w-]{15,}\.[\w-]+|sk_live_\w{10,}|hf_[A-Za-z0-9]{20,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]+:[^/\s:@]{3,}@"
)
_PLACEHOLDER = re.compile(r"x{4,}|your|example|user(name)?:pass|<|\*{3}|1234567|placeholder|password@", re.IGNORECASE)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for node in tool.nodes:
        for word in ("default", "const", "example"):
            value = node.schema.get(word)
            if isinstance(value, str) and looks_secret(value):
                yield Problem(f"`{word}` looks like a secret: {value[:6]}...", f"{node.path}.{word}")
        for value in list_at(node.schema, "examples"):
            if isinstance(value, str) and looks_secret(value):
                yield Problem(f"an example looks like a secret: {value[:6]}...", f"{node.path}.examples")


def looks_secret(text: str) -> bool:
    return bool(_SECRET.search(text)) and not _PLACEHOLDER.search(text)


RULE = Rule(
    id="PAR008",
    name="secret-default",
    family="parameters",
    severity="error",
    what="A default or an example that looks like a real key or password.",
    why="Everyone who can list the tools can read it, and it is sent to the model in every request.",
    fix="Revoke the secret, and read the new one from the settings of the server.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"key": {"type": "string", "default": "sk-" + "q7Rt2Lm9Zx4Vb8Nc6Wd1"}},
            }
        }
    ],
    good=[{"inputSchema": {"type": "object", "properties": {"key": {"type": "string", "default": "main"}}}}],
    check=check,
)
