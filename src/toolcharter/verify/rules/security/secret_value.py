import math
import re
from collections import Counter
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_SECRETS = (
    ("an AWS key", "akia|asia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", r"\b(?:gh[pousr]_\w{36,}|github_pat_\w{40,})"),
    ("an API key", "sk-|sk_|pk_|rk_", r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{20,}"),
    ("a Slack token", "xox", r"\bxox[abprs]-[A-Za-z0-9-]{20,}"),
    ("a Google key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a private key", "-----begin", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*[A-Za-z0-9+/=\\]{16,}"),
    ("a JSON web token", "eyj", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a bearer token", "bearer ", r"\b[Bb]earer\s+([A-Za-z0-9._~+/-]{20,}=*)"),
    ("a password in a URL", "://", r"://[^/\s:@<>{}\[\]$*]+:([^/\s:@<>{}\[\]$*]{6,})@"),
)
_PATTERNS = tuple((kind, tuple(marks.split("|")), re.compile(pattern)) for kind, marks, pattern in _SECRETS)
_PLACEHOLDER = re.compile(
    r"example|sample|your|placeholder|xxx|\.\.\.|dummy|fake|changeme|12345|abcdef|password|passwd|secret|token|hunter2",
    re.IGNORECASE,
)
_MIN_ENTROPY = 3.0
"""In bits for each character: real keys have about four, words and repeated letters less."""


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    joined = tool.texts.joined
    for kind, marks, pattern in _PATTERNS:
        if any(mark in joined for mark in marks):
            for text in tool.texts.all:
                if any(_looks_real(match[match.lastindex or 0], kind) for match in pattern.finditer(text.text)):
                    yield Problem(f"contains {kind}", text.path)


def _looks_real(value: str, kind: str) -> bool:
    if _PLACEHOLDER.search(value):
        return False
    return "password" in kind or _entropy(value) >= _MIN_ENTROPY


def _entropy(value: str) -> float:
    """The Shannon entropy of a text, in bits for each character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


RULE = Rule(
    id="SEC008",
    name="secret-value",
    family="security",
    severity="error",
    supersedes=("PAR008",),
    what="A definition contains a key, a token or a password.",
    why="Definitions are sent to every client and model, and are stored in logs. The secret is exposed.",
    fix="Revoke the secret, and let the server read the new one from its settings.",
    bad=[{"description": "List notes. Uses the key AKIA2QW7KZP4MTX9LRBV for storage."}],
    good=[{"description": "List notes. Uses a key such as AKIAIOSFODNN7EXAMPLE for storage."}],
    check=check,
)
