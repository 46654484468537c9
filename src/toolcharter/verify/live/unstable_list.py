from collections.abc import Iterable, Sequence

from mcp_core.declare.listed import ListedTool
from toolcharter.verify.observed import Observed
from toolcharter.verify.rule import Found, Rule
from toolcharter.verify.subject import Server


def check(_: Server, observed: Observed) -> Iterable[Found]:
    for later in observed.lists[1:]:
        if message := _difference(observed.lists[0], later):
            yield Found(message)
            return


def _difference(first: Sequence[ListedTool], later: Sequence[ListedTool]) -> str | None:
    names, again = [tool.name for tool in first], [tool.name for tool in later]
    if strange := sorted(set(names) ^ set(again)):
        return f"{strange[0]!r} is in one list and not in another"
    if names != again:
        return f"the order changes: {names[:3]}, then {again[:3]}"
    changed = [one.name for one, other in zip(first, later, strict=True) if one != other]
    return f"{changed[0]!r} is defined differently in two lists" if changed else None


RULE = Rule(
    id="LIV010",
    name="unstable-list",
    family="live",
    severity="error",
    what="Two lists of the same server differ, in their tools, their order or their words.",
    why=(
        "A definition that changes after it was approved is how a trusted tool turns into another. A changed order "
        "makes the model's cached prompt worthless."
    ),
    fix="List the same tools in the same order every time; announce a real change.",
    check_live=check,
)
