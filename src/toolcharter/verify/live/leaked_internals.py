import json
import re
from collections.abc import Iterable, Iterator

from toolcharter.verify.observed import Exchange, Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server

_LEAKS = (
    ("a stack trace", r"Traceback \(most recent call last\)"),
    ("a stack trace", r'File "[^"\n]+", line \d+'),
    ("a stack trace", r"\n[ \t]{1,20}at [\w.$<>\[\] ]{1,100}\(?[^()\n]{0,200}:\d+(:\d+)?\)?"),
    ("a stack trace", r"\bgoroutine \d+ \[|\bpanicked at |\.(java|kt|scala):\d+\)"),
    (
        "a path of the server",
        r"(?<![\w:/.])/(home|root|Users|usr|var|opt|srv|app|tmp|etc|workspace|private)/[\w.@/-]{3,}",
    ),
    ("a path of the server", r"\b[A-Za-z]:\\(?:[\w .-]+\\)+[\w.-]+"),
    ("a path of the server", r"\b(site-packages|node_modules|dist-packages)/"),
    ("SQL", r"\b(SELECT\b.{1,200}?\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b"),
    ("SQL", r"\b(sqlalchemy\.\w+|sqlite3\.\w+Error|psycopg2?\.\w+|asyncpg\.\w+|pymysql\.\w+|ORA-\d{5}|SQLSTATE)"),
    ("SQL", r"syntax error at or near|no such (table|column):|near \"[^\"]*\": syntax error"),
    ("an address with a password", r"://[^/\s:@]{1,100}:[^/\s:@*]{3,100}@"),
    ("a secret", r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[\w-]{20,})"),
    ("a secret", r"(?i)\b(password|passwd|api_?key|secret|token)\b[\"']?\s*[=:]\s*[\"']?(?![*<\[\s])[^\s\"',;]{6,}"),
)
_MOST_READ = 50_000
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _LEAKS)


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for tool, exchanges in observed.by_tool():
        seen: set[str] = set()
        for exchange in exchanges:
            for kind, text in _leaks(exchange):
                if kind not in seen:
                    seen.add(kind)
                    yield Found(f"the error of {exchange.sent} shows {kind}: {text[:80]!r}", tool=tool)


def _leaks(exchange: Exchange) -> Iterator[tuple[str, str]]:
    if not exchange.is_refused:
        return
    text = (exchange.answer.text if exchange.answer else exchange.failure)[:_MOST_READ]
    # What the call itself said is no secret, and may be quoted.
    said = json.dumps(dict(exchange.arguments), ensure_ascii=False, default=str)
    for kind, pattern in _PATTERNS:
        match = pattern.search(text)
        if match and match[0] not in said:
            yield kind, match[0].strip()


RULE = Rule(
    id="LIV008",
    name="leaked-internals",
    family="live",
    severity="error",
    what="An error shows a stack trace, a path of the server, SQL or a secret.",
    why="An answer goes to a model, and from there anywhere. It tells an attacker how the server is built.",
    fix="Answer with a sentence and an id; write the rest to the log under that id.",
    check_live=check,
)
