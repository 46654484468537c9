from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import GENERIC_NAMES


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    # A name with a prefix says more: git_run.
    words = [word for word in tool.name_words if not word.isdigit()]
    if tool.name.isascii() and (not words or "_".join(words) in GENERIC_NAMES):
        yield Problem(f"{tool.name!r} does not say what the tool is for", "name")


RULE = Rule(
    id="NAM004",
    name="generic-name",
    family="naming",
    severity="warning",
    what="A name that could mean any tool, such as `run`, `process` or `tool1`.",
    why=(
        "Agents see the name first, often beside the tools of ten other servers. "
        "A name that could mean anything is chosen for everything, or never."
    ),
    fix="Name the action and its object: run_query, process_invoice.",
    bad=[{"name": "execute"}],
    good=[{"name": "execute_query"}],
    check=check,
)
