from collections.abc import Iterable, Sequence

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.live.observations import Observations
from toolcharter.verify.model import Server
from toolcharter.verify.rule import Problem, Rule


def check(_: Server, observations: Observations) -> Iterable[Problem]:
    for later in observations.lists[1:]:
        if message := _difference(observations.lists[0], later):
            yield Problem(message)
            return


def _difference(first: Sequence[ListedTool], later: Sequence[ListedTool]) -> str | None:
    names, again = [tool.name for tool in first], [tool.name for tool in later]
    if different := sorted(set(names) ^ set(again)):
        return f"{different[0]!r} is in one list, but not in another"
    if names != again:
        return f"the order changes: {names[:3]}, then {again[:3]}"
    changed = [one.name for one, other in zip(first, later, strict=True) if one != other]
    return f"{changed[0]!r} is defined differently in two lists" if changed else None


RULE = Rule(
    id="LIV010",
    name="unstable-list",
    family="live",
    severity="error",
    what="Two lists of the same server differ in their tools, their order or their texts.",
    why=(
        "A definition that changes after its approval can turn a trusted tool into a malicious one. "
        "A changed order makes the cached prompt of the model useless."
    ),
    fix="List the same tools in the same order every time, and notify clients of a real change.",
    check_live=check,
)
