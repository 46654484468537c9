from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool, words_of
from toolcharter.verify.rule import Problem, Rule

_SYNONYMS = (
    "limit maxresults numresults topk topn resultlimit maxitems numberofresults",
    "query q searchquery searchterm searchtext querystring",
    "offset skip startindex",
    "cursor pagetoken nexttoken nextpagetoken nextcursor",
    "startdate fromdate datefrom since",
    "enddate todate dateto until",
    "url uri link",
    "filepath pathtofile",
    "lat latitude",
    "lon lng longitude",
)
_SYNONYM_GROUP = {word: number for number, words in enumerate(_SYNONYMS) for word in words.split()}


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    seen: dict[object, str] = {}
    for parameter in tool.arguments:
        joined = "".join(words_of(parameter.name)) or parameter.name
        key = _SYNONYM_GROUP.get(joined, joined)
        if key in seen:
            yield Problem(f"{parameter.name!r} and {seen[key]!r} seem to have the same meaning", parameter.path)
        seen[key] = parameter.name


RULE = Rule(
    id="PAR007",
    name="duplicate-parameter",
    family="parameters",
    severity="warning",
    what="Two parameters of one tool with the same meaning.",
    why="The agent sets one, the other or both, and cannot know which one counts.",
    fix="Keep one. If both are needed, describe the difference.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer"}, "maxResults": {"type": "integer"}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"limit": {"type": "integer"}, "offset": {"type": "integer"}},
            }
        },
        # Where a file is, and what the copy of it is called.
        {
            "inputSchema": {
                "type": "object",
                "properties": {"file_path": {"type": "string"}, "file_name": {"type": "string"}},
            }
        },
    ],
    check=check,
)
