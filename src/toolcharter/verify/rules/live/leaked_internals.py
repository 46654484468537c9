import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule

_LEAKS = (
    ("a stack trace", r"Traceback \(most recent call last\)"),
    ("a stack trace", r'File "[^"\n]+", line \d+'),
    ("a stack trace", r"\n[ \t]{1,20}at [\w.$<>\[\] ]{1,100}\(?[^()\n]{0,200}:\d+(:\d+)?\)?"),
    ("a stack trace", r"\bgoroutine \d+ \[|\bpanicked at |\.(java|kt|scala):\d+\)"),
    (
        "a server path",
        r"(?<![\w:/.])/(home|root|Users|usr|var|opt|srv|app|tmp|etc|workspace|private)/[\w.@/-]{3,}",
    ),
    ("a server path", r"\b[A-Za-z]:\\(?:[\w .-]+\\)+[\w.-]+"),
    ("a server path", r"\b(site-packages|node_modules|dist-packages)/"),
    ("SQL", r"\b(SELECT\b.{1,200}?\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b"),
    ("SQL", r"\b(sqlalchemy\.\w+|sqlite3\.\w+Error|psycopg2?\.\w+|asyncpg\.\w+|pymysql\.\w+|ORA-\d{5}|SQLSTATE)"),
    ("SQL", r"syntax error at or near|no such (table|column):|near \"[^\"]*\": syntax error"),
    ("a URL with a password", r"://[^/\s:@]{1,100}:[^/\s:@*]{3,100}@"),
    ("a secret", r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[\w-]{20,})"),
    ("a secret", r"(?i)\b(password|passwd|api_?key|secret|token)\b[\"']?\s*[=:]\s*[\"']?(?![*<\[\s])[^\s\"',;]{6,}"),
)
_MAX_LENGTH = 50_000
_MIN_PATH = 4
"""A shorter path, such as `/tmp`, is part of too many others."""
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _LEAKS)


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    known = _paths(observations.command)
    for tool, exchanges in observations.by_tool():
        seen: set[str] = set()
        for exchange in exchanges:
            for kind, text in _leaks(exchange, known):
                if kind not in seen:
                    seen.add(kind)
                    yield Problem(f"the error of {exchange.call} contains {kind}: {text[:80]!r}", tool=tool)


def _paths(command: Iterable[str]) -> set[str]:
    """The paths on the command line of the server, which its user knows, also as the server may write them."""
    words = {part for word in command for part in (word, word.partition("=")[2]) if part}
    paths = {word for word in words if "/" in word or Path(word).exists()}
    # Not Path.absolute, which keeps "..".
    written = {form for path in paths for form in (path, os.path.abspath(path), os.path.realpath(path))}  # noqa: PTH100
    return {form.rstrip("/") for form in written if len(form) > _MIN_PATH}


def _leaks(exchange: Exchange, known: Collection[str]) -> Iterator[tuple[str, str]]:
    if not exchange.is_rejected:
        return
    text = (exchange.answer.text if exchange.answer else exchange.failure)[:_MAX_LENGTH]
    # The arguments of the call are not a secret, and may be quoted.
    sent = json.dumps(dict(exchange.arguments), ensure_ascii=False, default=str)
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if match[0] not in sent and not any(path in match[0] for path in known):
                yield kind, match[0].strip()
                break


RULE = Rule(
    id="LIV008",
    name="leaked-internals",
    family="live",
    severity="error",
    what="An error contains a stack trace, a server path, SQL or a secret.",
    why="Errors are sent to models and stored in logs. They show an attacker how the server works.",
    fix="Return a message and an id, and write the details to the log under this id.",
    check_live=check,
)
