"""The governor: an app for each upstream, and one with the tools of all, under the policies of the charter."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mcp_core.app import App
from mcp_core.calling.records import VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.naming import LONGEST_NAME
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import Conflict, InvalidArguments
from mcp_core.hosts.protocol import INVALID_PARAMS
from mcp_core.json_text import JsonObject
from mcp_core.settings import Settings
from toolcharter.contract.lock import Lock
from toolcharter.govern.answers import apply_policy, examine, to_result
from toolcharter.govern.charter import Charter
from toolcharter.govern.intent import read_intents
from toolcharter.govern.pins import Comparison, Quarantine, compare, lock_file, read_pins, write_pins
from toolcharter.govern.policies import EffectivePolicy, matches, policy_for
from toolcharter.govern.remote_tool import CallUpstream, InvalidTool, remote_tool
from toolcharter.govern.search_app import SearchApp
from toolcharter.govern.upstream.errors import UpstreamRefused
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.transport import OnProgress
from toolcharter.govern.upstream.upstream import Upstream

logger = logging.getLogger(__name__)

ALL = "all"
"""The name of the app with the tools of all upstreams."""
_IDLE_CHECK_SECONDS = 5.0
_DEADLINE = 120.0
"""In seconds, for tools whose policy has none."""


class Governor:
    """Holds the upstreams and the apps. The app with all tools closes the upstreams when it is closed."""

    def __init__(self, path: Path, charter: Charter, settings: Settings, version: str) -> None:
        self._path, self._charter = path, charter
        self._groups = ProcessGroups()
        self.upstreams = {
            name: Upstream(name, table, self._groups, path.parent, partial(self._compare, name))
            for name, table in charter.upstream.items()
        }
        self._pins: dict[str, Lock | None] = {name: read_pins(lock_file(path, name)) for name in charter.upstream}
        self.comparisons = {name: Comparison(dict(pins.tools) if pins else {}) for name, pins in self._pins.items()}
        self.apps = {
            name: App(name, version=version, settings=settings, title=f"{name}, governed") for name in charter.upstream
        }
        self.all_tools = SearchApp(
            ALL,
            list_budget=charter.list_budget,
            version=version,
            settings=settings,
            title="All governed servers",
            lifespan=self._lifespan,
        )
        self.all_tools.has_all_tools = True
        self._serve_tools()

    # --- tools --------------------------------------------------------------------------------------------

    def _compare(self, name: str, shown: Sequence[ListedTool]) -> None:
        """Compare what an upstream shows with what was approved, and serve what remains."""
        pins = self._pins[name]
        others = {
            tool for other, known in self._pins.items() if other != name and known is not None for tool in known.tools
        }
        found = compare(pins.tools if pins else {}, shown, self._charter.pins, others)
        if found == self.comparisons[name]:
            return
        for tool, quarantine in found.quarantined.items():
            if tool not in self.comparisons[name].quarantined:
                logger.warning("%s:%s is quarantined: %s", name, tool, quarantine.reason)
        if found.accepted:
            tools = {**(pins.tools if pins else {}), **found.accepted}
            lock = self._pins[name] = Lock(name, pins.version if pins else None, tools)
            write_pins(lock_file(self._path, name), lock)
        self.comparisons[name] = found
        self._serve_tools()

    def _serve_tools(self) -> None:
        every: list[tuple[str, ToolSpec]] = []
        always: list[str] = []
        for name, app in self.apps.items():
            specs = self._specs(name)
            app.replace_tools(specs)
            prefix = self._charter.upstream[name].prefix
            for spec in specs:
                renamed = prefixed(spec, name if prefix is None else prefix)
                every.append((name, renamed))
                if any(matches(pattern, name, spec.name) for pattern in self._charter.always_listed):
                    always.append(renamed.name)
        self.all_tools.replace_governed(every, always)

    def _specs(self, name: str) -> list[ToolSpec]:
        comparison = self.comparisons[name]
        intents = read_intents(list(comparison.approved.values()), name)
        specs: list[ToolSpec] = []
        for tool in comparison.approved.values():
            policy = policy_for(name, tool.name, intents[tool.name], self._charter.tools)
            if not policy.allowed:
                continue
            try:
                specs.append(remote_tool(name, tool, policy, self._caller(name, tool.name, policy)))
            except InvalidTool as error:
                logger.warning("%s:%s cannot be served: %s", name, tool.name, error)
        for tool, quarantine in comparison.quarantined.items():
            specs.append(quarantined_tool(name, tool, quarantine))
        return specs

    def _caller(self, server: str, tool: str, policy: EffectivePolicy) -> CallUpstream:
        upstream, seconds = self.upstreams[server], (policy.deadline or _DEADLINE) + 5

        async def call(arguments: Mapping[str, Any], context: ToolContext) -> VerbatimResult:
            # With the connection comes the list of tools, and this one may have changed.
            await upstream.connect(context.caller_key)
            if quarantine := self.comparisons[server].quarantined.get(tool):
                raise _is_quarantined(server, tool, quarantine)
            try:
                answered = await upstream.call_tool(
                    context.caller_key,
                    tool,
                    arguments,
                    seconds=seconds,
                    meta=_trace(context),
                    on_progress=_progress(context),
                )
            except UpstreamRefused as error:
                if error.code == INVALID_PARAMS:
                    raise InvalidArguments(f"{server!r} refused the call of {tool!r}: {error.message}") from None
                raise Conflict(f"{server!r} refused the call of {tool!r}: {error.message}") from None
            if answered.get("resultType") == "input_required":
                raise Conflict(f"{tool!r} of {server!r} asks the user a question, which cannot be passed on yet.")
            result = to_result(answered)
            if policy.answers is not None:
                result = apply_policy(result, policy.answers, tool)
            return examine(result, tool, self._charter.pins.answers)

        return call

    # --- life ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _lifespan(self, _: App) -> AsyncGenerator[None]:
        """Close idle connections while the apps are served, and all of them at the end."""
        closing = asyncio.create_task(self._close_idle())
        try:
            yield
        finally:
            closing.cancel()
            await self.close()

    async def close(self) -> None:
        """End all upstreams."""
        await asyncio.gather(*(upstream.close() for upstream in self.upstreams.values()))
        self._groups.close()

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(_IDLE_CHECK_SECONDS)
            for upstream in self.upstreams.values():
                await upstream.close_idle()

    # --- what a person decides ----------------------------------------------------------------------------

    async def look(self, name: str) -> Sequence[ListedTool]:
        """Connect to an upstream, and compare what it shows. Raises Unavailable."""
        shown = await self.upstreams[name].list_tools()
        self._compare(name, shown)
        return shown

    def approve(self, name: str, shown: Sequence[ListedTool], chosen: Sequence[str]) -> list[str]:
        """Pin these tools, or all, as they are shown now. Returns their names."""
        pins, live = self._pins[name], {tool.name: tool for tool in shown}
        wanted = [tool for tool in live if not chosen or tool in chosen]
        known = {} if pins is None else {tool: definition for tool, definition in pins.tools.items() if tool in live}
        lock = Lock(
            name, self.upstreams[name].server.version or None, {**known, **{tool: live[tool] for tool in wanted}}
        )
        write_pins(lock_file(self._path, name), lock)
        self._pins[name] = lock
        self._compare(name, shown)
        return wanted


def prefixed(spec: ToolSpec, prefix: str) -> ToolSpec:
    """The tool under a name with the prefix of its server, cut where clients would refuse it."""
    name = f"{prefix}_{spec.name}" if prefix else spec.name
    if len(name) > LONGEST_NAME:
        mark = hashlib.sha256(name.encode()).hexdigest()[:6]
        name = f"{name[: LONGEST_NAME - 7]}_{mark}"
    return replace(spec, name=name)


def quarantined_tool(server: str, tool: str, quarantine: Quarantine) -> ToolSpec:
    """Stands for a tool that is not served: agents do not see it, and a call says why."""

    async def refuse(_: Mapping[str, Any], __: ToolContext) -> VerbatimResult:
        raise _is_quarantined(server, tool, quarantine)

    listed = ListedTool(tool, "", f"{tool} is quarantined.", {"type": "object"})
    return replace(remote_tool(server, listed, EffectivePolicy(), refuse), is_listed=False)


def _is_quarantined(server: str, tool: str, quarantine: Quarantine) -> Conflict:
    return Conflict(
        f"{tool!r} of {server!r} is quarantined: {quarantine.reason}. A person can look at it with "
        f"`toolcharter govern review {server}`, and approve it with `toolcharter govern approve {server} {tool}`.",
        instruction="Tell the user what was said. Do not try to reach the same result with another tool.",
    )


def _trace(context: ToolContext) -> dict[str, Any]:
    """The caller's trace goes on at the upstream. Nothing else of the request's metadata is passed on."""
    return {name: context.metadata[name] for name in ("traceparent", "tracestate") if name in context.metadata}


def _progress(context: ToolContext) -> OnProgress | None:
    if context.progress is None:
        return None

    async def report(params: JsonObject) -> None:
        done, total, message = params.get("progress"), params.get("total"), params.get("message")
        if isinstance(done, int | float):
            await context.report_progress(
                done,
                total if isinstance(total, int | float) else None,
                message if isinstance(message, str) else None,
            )

    return report
