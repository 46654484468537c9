from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

SECTIONS = ("## Description", "## JSON Schema", "## Usage Instructions", "## Concrete Examples")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    lines = [line.strip() for line in tool.description.splitlines() if line.startswith("## ")]
    present = [line for line in lines if line in SECTIONS]
    if len(present) > 1 and (missing := [name for name in SECTIONS if name not in present]):
        yield Problem(f"has no section {missing[0].removeprefix('## ')!r}", "description")
    elif len(present) > 1 and present != list(SECTIONS):
        yield Problem("has a section twice, or the sections are not in order", "description")


RULE = Rule(
    id="CHA010",
    name="missing-sections",
    family="charter",
    severity="warning",
    what="A full description does not have its four sections in order.",
    why="Agents and people find the schema, the usage and the examples by their headings.",
    fix="Let toolcharter generate the description, or write all four sections.",
    bad=[{"description": "## Description\nList notes.\n\n## Usage Instructions\n```\nlist_notes()\n```"}],
    good=[{"description": "".join(f"{section}\nList notes.\n\n" for section in SECTIONS)}],
    check=check,
)
