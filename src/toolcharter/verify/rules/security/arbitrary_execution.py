import re
from collections.abc import Iterable

from toolcharter.verify.model import Parameter, Server, Tool
from toolcharter.verify.rule import Problem, Rule

_RUNS = frozenset(
    [
        "run",
        "execute",
        "exec",
        "eval",
        "evaluate",
        "shell",
        "bash",
        "terminal",
        "command",
        "query",
        "sql",
        "python",
        "javascript",
        "code",
    ]
)
_TAKES = frozenset(
    [
        "command",
        "cmd",
        "commands",
        "code",
        "script",
        "sql",
        "shell_command",
        "sql_query",
        "bash",
        "python_code",
        "source_code",
        "javascript",
        "js_code",
        "statement",
        "expression_code",
        "query",
    ]
)
_EXECUTED = re.compile(r"\b(execut|run|runs|running|evaluat|eval\b)\w*", re.IGNORECASE)
_LANGUAGE = re.compile(r"\b(sql|shell|bash|command|commands|python|javascript|node|code|script)\b", re.IGNORECASE)
_WARNED = re.compile(
    r"\b(arbitrary|sandbox\w*|read-?only|careful|caution\w*|warn\w*|danger\w*|untrusted|isolated|restrict\w*|select "
    r"(queries|statements)?|only (select|allow\w*|safe)|allow-?list\w*|white-?list\w*|permission\w*|destructive|"
    r"at your own|trusted|container\w*|secur\w*|safe\w*|approv\w*|consent|confirm\w*|side effects?|no write|cannot be "
    r"undone|limited to|allowed|blocked|forbidden|prohibited|irreversible|privileg\w*)\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.hint("destructiveHint") is True or tool.hint("readOnlyHint") is True:
        return
    for argument in tool.arguments:
        if argument.name.lower() in _TAKES and _is_run(tool, argument) and not _is_warned(tool, argument):
            yield Problem(f"{argument.name!r} is run as it comes, and nothing warns of it", argument.path)


def _is_run(tool: Tool, argument: Parameter) -> bool:
    if argument.schema.get("enum") or "string" not in argument.types:
        return False
    said = f"{tool.description} {argument.description}"
    named = any(word in _RUNS for word in tool.name_words)
    return named and bool(_EXECUTED.search(said)) and bool(_LANGUAGE.search(f"{argument.name} {said}"))


def _is_warned(tool: Tool, argument: Parameter) -> bool:
    return bool(_WARNED.search(tool.description) or _WARNED.search(argument.description))


RULE = Rule(
    id="SEC017",
    name="arbitrary-execution",
    family="security",
    severity="note",
    what="An argument is run as a command, as code or as SQL, without a word on what keeps it in bounds.",
    why="Whoever can write into the context of the agent can have it run. Users weigh a tool by its description.",
    fix="Say what is kept out and how (a sandbox, read-only rights), or that anything can happen; set destructiveHint.",
    bad=[
        {
            "name": "run_command",
            "description": "Run a shell command. Returns what it prints.",
            "annotations": {},
            "inputSchema": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The command to run."}},
            },
        }
    ],
    good=[
        {
            "name": "run_command",
            "description": "Run a shell command in a sandbox without network. Returns what it prints.",
            "annotations": {},
            "inputSchema": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The command to run."}},
            },
        }
    ],
    check=check,
)
