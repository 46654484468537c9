from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

SECTIONS = ("## Description", "## JSON Schema", "## Usage Instructions", "## Concrete Examples")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    lines = [line.strip() for line in tool.description.splitlines() if line.startswith("## ")]
    there = [line for line in lines if line in SECTIONS]
    if len(there) > 1 and (missing := [name for name in SECTIONS if name not in there]):
        yield Problem(f"lacks the section {missing[0].removeprefix('## ')!r}", "description")
    elif len(there) > 1 and there != list(SECTIONS):
        yield Problem("has its sections twice or out of order", "description")


RULE = Rule(
    id="CHA010",
    name="missing-sections",
    family="charter",
    severity="warning",
    what="A full description does not have its four sections, in order.",
    why="Agents and people find the schema, the usage and the examples by their headings.",
    fix="Let the description be generated, or write the four: description, schema, usage and examples.",
    bad=[{"description": "## Description\nList notes.\n\n## Usage Instructions\n```\nlist_notes()\n```"}],
    good=[{"description": "".join(f"{section}\nList notes.\n\n" for section in SECTIONS)}],
    check=check,
)
