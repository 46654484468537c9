import re
from collections.abc import Iterable

from toolcharter.verify.model import Parameter, Server, Tool, branches_of, words_of
from toolcharter.verify.rule import Problem, Rule

_ENDS = frozenset({"date", "datetime", "deadline", "timestamp", "since", "until"})
_AT = frozenset(
    {"created", "updated", "modified", "start", "starts", "end", "ends", "due", "expires", "scheduled", "send"}
)
_TOLD = re.compile(
    r"yyyy|\biso|\brfc|\b\d{4}\b|\d{1,2}:\d\d|epoch|unix|utc|\bdd\b|\bmm\b|natural|format|relative|e\.g"
    r"|for example|such as|today|\bdays?\b|timestamp|milliseconds|datetime|HH",
    re.IGNORECASE,
)
_SHAPED = frozenset({"format", "pattern", "enum", "const", "examples"})


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        if parameter.types != ("string",) or not _is_time(words_of(parameter.name)):
            continue
        branches = (parameter.schema, *branches_of(parameter.schema))
        shaped = not all(_SHAPED.isdisjoint(branch) for branch in branches)
        if not shaped and not _told(parameter, tool.description):
            yield Problem(f"{parameter.name!r} does not say in which form", parameter.path)


def _told(parameter: Parameter, text: str) -> bool:
    """Whether its description says the form; or that of the tool does, for it or for all dates."""
    if _TOLD.search(parameter.description) or "YYYY" in text or "ISO" in text:
        return True
    return parameter.name in text and bool(_TOLD.search(text))


def _is_time(words: tuple[str, ...]) -> bool:
    if not words or "wait" in words:
        return False
    return words[-1] in _ENDS or (words[-1] == "at" and len(words) > 1 and words[-2] in _AT)


RULE = Rule(
    id="PAR012",
    name="date-without-format",
    family="parameters",
    severity="warning",
    what="A date or a time taken as text, without its form.",
    why="A date such as 12/11/2026 is read in two ways, and 'next Monday' in none. Time zones are guessed.",
    fix='Give `"format": "date"` or `"date-time"`, and an example in the description.',
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
