"""Which calls of others a viewer may see, and which confirmations they may answer.

Everyone may see and confirm calls that were made in their own name. Without tokens, callers have all permissions
unless `--grants` says otherwise, so that everyone who can open the console may do both.
"""

from mcp_core.auth import Caller
from mcp_core.auth.caller import is_in
from mcp_core.calling.people import Waiting
from toolcharter.console.viewer import Viewer

SEE_CALLS = "console:calls"
APPROVE = "console:approve"


def visible_calls(viewer: Viewer) -> tuple[tuple[str, str | None], ...]:
    """The servers whose calls a viewer may see, each with the only caller whose calls they are, or None for all."""
    return tuple((name, caller.key if caller.lacks((SEE_CALLS,)) else None) for name, caller in viewer.callers.items())


def may_answer(caller: Caller, asked_by: str) -> bool:
    """Whether a caller may answer a confirmation. A policy that denies it denies it for their own calls as well."""
    return not is_in(APPROVE, caller.denied) and (caller.key == asked_by or not caller.lacks((APPROVE,)))


async def waiting_for(viewer: Viewer) -> list[Waiting]:
    """The confirmations that a viewer may answer. Raises StateUnavailable."""
    found: list[Waiting] = []
    for app in viewer.apps:
        waiting = await app.approvals.list() if app.approvals is not None else []
        found += [one for one in waiting if may_answer(viewer.callers[app.name], one.caller)]
    return found
