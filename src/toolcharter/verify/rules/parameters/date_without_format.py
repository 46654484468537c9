import re
from collections.abc import Iterable

from mcp_core.schema.fields import branches_of
from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_ENDS = frozenset({"date", "datetime", "deadline", "timestamp", "since", "until"})
_AT = frozenset(
    {"created", "updated", "modified", "start", "starts", "end", "ends", "due", "expires", "scheduled", "send"}
)
_FORMAT_HINT = re.compile(
    r"yyyy|\biso|\brfc|\b\d{4}\b|\d{1,2}:\d\d|epoch|unix|utc|\bdd\b|\bmm\b|natural|format|relative|e\.g"
    r"|for example|such as|today|\bdays?\b|timestamp|milliseconds|datetime|HH",
    re.IGNORECASE,
)
_FORMAT_KEYWORDS = frozenset({"format", "pattern", "enum", "const", "examples"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        # A parameter without a description is found by another rule.
        if not parameter.description or parameter.types != ("string",) or not _is_time(words_of(parameter.name)):
            continue
        branches = (parameter.schema, *branches_of(parameter.schema))
        has_keyword = not all(_FORMAT_KEYWORDS.isdisjoint(branch) for branch in branches)
        if not has_keyword and not _has_format_hint(parameter, tool.description):
            yield Problem(f"{parameter.name!r} does not say its format", parameter.path)


def _has_format_hint(parameter: Node, text: str) -> bool:
    """Whether the description of the parameter, or of the tool, says the format."""
    if _FORMAT_HINT.search(parameter.description) or "YYYY" in text or "ISO" in text:
        return True
    return parameter.name in text and bool(_FORMAT_HINT.search(text))


def _is_time(words: tuple[str, ...]) -> bool:
    if not words or "wait" in words:
        return False
    return words[-1] in _ENDS or (words[-1] == "at" and len(words) > 1 and words[-2] in _AT)


RULE = Rule(
    id="PAR012",
    name="date-without-format",
    family="parameters",
    severity="warning",
    what="A date or time that is a string without a format.",
    why="A date such as 12/11/2026 has two meanings, and 'next Monday' none. Time zones are guessed.",
    fix='Set `"format": "date"` or `"date-time"`, and give an example in the description.',
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"due_date": {"type": "string", "description": "When it is due."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"due_date": {"type": "string", "format": "date", "description": "When it is due."}},
            }
        }
    ],
    check=check,
)
