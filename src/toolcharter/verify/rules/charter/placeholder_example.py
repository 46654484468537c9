import json
import re
from collections.abc import Iterable, Iterator

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_HEADING = "## Concrete Examples"
_PLACEHOLDER = re.compile(
    r'"(<[^">]*>|\{[a-z_]+\}|\.{3}|string|text|value|foo|bar|baz|todo|xxx+|your[_ -][^"]*|example)"(?!\s*:)',
    re.IGNORECASE,
)
_CALL = re.compile(r"^[a-z][\w.-]*\(.*\)$", re.IGNORECASE | re.MULTILINE)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for call in _calls(tool):
        if match := _PLACEHOLDER.search(call):
            yield Problem(f"an example has the placeholder {match[0]}", "description")
            return


def _calls(tool: Tool) -> Iterator[str]:
    """The calls in the declared examples, or else in the description."""
    if tool.spec is not None:
        yield from (json.dumps(dict(example.params), default=str) for example in tool.spec.examples)
    elif _HEADING in tool.description:
        yield from _CALL.findall(tool.description.partition(_HEADING)[2])


RULE = Rule(
    id="CHA011",
    name="placeholder-example",
    family="charter",
    severity="warning",
    what="An example has a placeholder instead of a value.",
    why="Agents copy examples. Real values show the format of an id or a date, placeholders do not.",
    fix="Use values that work. The tests run every example.",
    bad=[{"description": f'{_HEADING}\n```\n# One folder\nlist_notes(folder="...")\n```'}],
    good=[{"description": f'{_HEADING}\n```\n# One folder\nlist_notes(folder="Garden")\n# -> "<uuid>"\n```'}],
    check=check,
)
