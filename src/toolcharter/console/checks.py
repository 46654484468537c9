"""The findings of the verifier in the tools of a server, and the result of their lock. In a thread, and once."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mcp_core.app import App, ListedTool
from mcp_core.mcp_log import get_logger
from toolcharter.contract.lock import InvalidLock, digest, parse_lock

if TYPE_CHECKING:
    from toolcharter.verify.rule import Finding

MAX_CHECKED = 500
"""Of larger servers only the tool that is looked at is checked: each tool takes about a millisecond."""
_WAIT_SECONDS = 0.2
_MAX_KEPT = 64
_LOCKS = ("contracts/mcp-{}.json", "contracts/{}.json")

Tools = Mapping[str, ListedTool]
"""By name: what a caller may use of a server."""
LockState = Literal["as locked", "changed", "not in the lock"]

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ToolChecks:
    """The checks of one tool."""

    score: int
    findings: "Sequence[Finding]"
    lock: LockState | None
    lock_file: str | None


@dataclass(frozen=True, slots=True)
class ServerChecks:
    """The checks of the tools of a server that a caller may use."""

    score: int | None
    tools: Mapping[str, ToolChecks]
    findings: "Sequence[Finding]" = ()
    """Those about the server as a whole."""


class Checks:
    """Runs the checks of each server once for callers with the same permissions."""

    def __init__(self) -> None:
        self._running: dict[object, tuple[Tools, asyncio.Future[ServerChecks]]] = {}

    def begin(self, app: App, tools: Tools, tool: str | None = None) -> "asyncio.Future[ServerChecks] | None":
        """Run the checks, if they did not run yet. Of a large server, only the tool that is named is checked."""
        chosen = [*tools.values()] if len(tools) <= MAX_CHECKED else [one for one in [tools.get(tool or "")] if one]
        if not chosen:
            return None
        # Callers with the same permissions have the same object: the catalogue made it once for them.
        key = (app.name, id(tools), chosen[0].name if len(chosen) == 1 else "")
        kept, running = self._running.get(key, (None, None))
        if kept is not tools or running is None or (running.done() and running.exception()):
            if len(self._running) >= _MAX_KEPT:
                self._running.clear()
            running = asyncio.ensure_future(asyncio.to_thread(_check, app, chosen))
            running.add_done_callback(_report)
            self._running[key] = tools, running
        return running

    async def of(self, app: App, tools: Tools, tool: str | None = None) -> ServerChecks | None:
        """The findings; None if they are not known yet."""
        running = self.begin(app, tools, tool)
        if running is None:
            return None
        await asyncio.wait({running}, timeout=_WAIT_SECONDS)
        return running.result() if running.done() and not running.exception() else None


def _report(running: "asyncio.Future[ServerChecks]") -> None:
    if not running.cancelled() and (error := running.exception()):
        logger.error("The console could not check the tools: %s", error)


def _check(app: App, tools: Sequence[ListedTool]) -> ServerChecks:
    from toolcharter.local.app_verification import server_from_app  # noqa: PLC0415 - the same
    from toolcharter.verify import config  # noqa: PLC0415 - 360 ms with all rules, and only for who looks at a tool
    from toolcharter.verify.result import verify_server  # noqa: PLC0415 - the same
    from toolcharter.verify.rules import static_rules  # noqa: PLC0415 - the same
    from toolcharter.verify.selection import parse_selection  # noqa: PLC0415 - the same

    rules = static_rules()
    configured = config.read(None, {app.name}, rules)
    selection = parse_selection(configured.select, configured.ignore, rules)
    result = verify_server(server_from_app(app, tools), rules, selection)
    file, locked = _read_lock(app)
    checks = {
        one.tool.name: ToolChecks(
            one.score,
            [finding for finding in result.findings if finding.tool == one.tool.name],
            None if locked is None else _lock_state(one.tool.listed, locked),
            file,
        )
        for one in result.scores.tools
    }
    return ServerChecks(result.scores.score, checks, [one for one in result.findings if one.tool not in checks])


def _lock_state(tool: ListedTool, locked: Mapping[str, ListedTool]) -> LockState:
    known = locked.get(tool.name)
    if known is None:
        return "not in the lock"
    return "as locked" if digest(known) == digest(tool) else "changed"


def _read_lock(app: App) -> tuple[str | None, Mapping[str, ListedTool] | None]:
    """The lock of a server in the folder where the console was started."""
    for form in _LOCKS:
        path = Path(form.format(app.name))
        try:
            lock = parse_lock(json.loads(path.read_text(encoding="utf-8")), str(path))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, InvalidLock) as error:
            logger.warning("The console cannot read the lock %s: %s", path, error)
            return None, None
        return str(path), lock.tools
    return None, None
