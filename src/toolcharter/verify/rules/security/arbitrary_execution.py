import re
from collections.abc import Iterable

from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_EXECUTING_WORDS = frozenset(
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
_CODE_ARGUMENTS = frozenset(
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
_WARNING = re.compile(
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
        if (
            argument.name.lower() in _CODE_ARGUMENTS
            and _is_executed(tool, argument)
            and not _has_warning(tool, argument)
        ):
            yield Problem(f"{argument.name!r} is executed, and the description has no warning", argument.path)


def _is_executed(tool: Tool, argument: Node) -> bool:
    if argument.schema.get("enum") or "string" not in argument.types:
        return False
    text = f"{tool.description} {argument.description}"
    is_named = any(word in _EXECUTING_WORDS for word in tool.name_words)
    return is_named and bool(_EXECUTED.search(text)) and bool(_LANGUAGE.search(f"{argument.name} {text}"))


def _has_warning(tool: Tool, argument: Node) -> bool:
    return bool(_WARNING.search(tool.description) or _WARNING.search(argument.description))


RULE = Rule(
    id="SEC017",
    name="arbitrary-execution",
    family="security",
    severity="note",
    what="An argument is executed as a command, as code or as SQL, and the description does not say what limits it.",
    why="Anyone who can write into the context of the agent can execute code. Users judge a tool by its description.",
    fix="Describe the limits (a sandbox, read-only rights), or the risk, and set destructiveHint.",
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
