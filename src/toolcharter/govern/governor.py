"""The governor: an app for each upstream, and one with the tools of all, under the policies of the charter."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from mcp_core.app import App
from mcp_core.auth import LOCAL
from mcp_core.calling.requests import RequestRecorder
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.naming import MAX_NAME_LENGTH
from mcp_core.declare.spec import ToolSpec
from mcp_core.process.start_errors import CannotStart
from mcp_core.registry import ToolRegistry
from mcp_core.schema.fields import object_at
from mcp_core.settings.model import Settings
from mcp_core.state.interface import DependencyHealth
from toolcharter.contract.lock import Lock
from toolcharter.govern.callers_sign_ins import CallersSignIns
from toolcharter.govern.charter import ALL, Charter
from toolcharter.govern.intent import read_intents
from toolcharter.govern.metadata import app_link
from toolcharter.govern.offers import offers_of
from toolcharter.govern.pins import (
    Comparison,
    Quarantine,
    compare,
    compare_one_of_many,
    lock_file,
    modified_at,
    read_capabilities,
    read_pins,
    write_capabilities,
    write_pins,
)
from toolcharter.govern.policies import EffectivePolicy, is_denied, matches, policy_for
from toolcharter.govern.remote_library import RemoteLibrary, Served
from toolcharter.govern.remote_tool import CallUpstream, InvalidTool, remote_tool
from toolcharter.govern.search.search_app import SearchApp
from toolcharter.govern.search.search_file import SearchFile
from toolcharter.govern.tool_calls import quarantined_tool, upstream_call
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.session import PROMPTS, RESOURCES, TEMPLATES
from toolcharter.govern.upstream.upstream import Upstream

logger = logging.getLogger(__name__)

"""The name of the app with the tools of all upstreams."""
_CHECK_SECONDS = 1.0
"""How often is looked for idle connections, and for approvals of other processes."""
_MAX_WARNINGS = 5
"""How many quarantined tools of an upstream are logged one by one."""
_PASSED = ("Authorization",)
"""The headers of requests for servers that the charter names for the tokens of callers."""


class Governor:
    """Holds the upstreams and the apps. The app with all tools closes the upstreams when it is closed."""

    def __init__(self, path: Path, charter: Charter, settings: Settings, version: str) -> None:
        self.path, self._charter = path, charter
        self._groups = ProcessGroups()
        self.sign_ins = CallersSignIns(path, charter)
        self.upstreams = {
            name: Upstream(
                name,
                table,
                self._groups,
                path.parent,
                partial(self._compare, name),
                on_connected=partial(self._connected, name),
                on_changed=partial(self._announce, name),
                signing=self.sign_ins.signing[name],
            )
            for name, table in charter.upstream.items()
        }
        for name, upstream in self.upstreams.items():
            upstream.capabilities = read_capabilities(path, name)
        self._shown: dict[str, Sequence[ListedTool]] = {}
        """The tools of each upstream when it was last listed."""
        self._pins_read_at = {name: modified_at(lock_file(path, name)) for name in charter.upstream}
        self._pins: dict[str, Lock | None] = {name: read_pins(lock_file(path, name)) for name in charter.upstream}
        self.comparisons = {name: Comparison(dict(pins.tools) if pins else {}) for name, pins in self._pins.items()}
        self.apps = {
            name: App(
                name,
                version=version,
                format="result",
                settings=settings,
                title=f"{name}, governed",
                request_headers=_PASSED if charter.upstream[name].pass_token else (),
                make_library=self._library([self._served(name, "")]),
            )
            for name in self.upstreams
        }
        self.all_tools = SearchApp(
            ALL,
            list_budget=charter.list_budget,
            file=SearchFile(path.with_name("charter-search.db")),
            learns=charter.learn_from_calls,
            version=version,
            format="result",
            settings=settings,
            title="All governed servers",
            request_headers=_PASSED if any(table.pass_token for table in charter.upstream.values()) else (),
            make_library=self._library([self._served(name, self._prefix(name)) for name in self.upstreams]),
        )
        for name, app in self.apps.items():
            app.add_health(partial(self._health, name))
        for app in (*self.apps.values(), self.all_tools):
            cast(RemoteLibrary, app.library).announce = app.announce
        self.all_tools.has_all_tools = True
        self.all_tools.provide(Governor, self._serve)
        self.all_tools.pages = partial(self.sign_ins.routes, self.all_tools)
        self._tools: dict[str, list[ToolSpec]] = {}
        self._serve_tools(*self.apps)

    def _library(self, servers: Sequence[Served]) -> Callable[[ToolRegistry, RequestRecorder], RemoteLibrary]:
        return partial(RemoteLibrary, servers=servers, charter=self._charter)

    def _served(self, name: str, prefix: str) -> Served:
        return Served(self.upstreams[name], prefix, partial(self._app_links, name))

    def _app_links(self, name: str) -> set[str]:
        """The pages that the tools of an upstream link to, of those that are served."""
        specs = [spec for spec in self._tools[name] if spec.is_listed]
        return {link for spec in specs if (link := app_link(spec.declaration.meta or {})) is not None}

    def _prefix(self, name: str) -> str:
        prefix = self._charter.upstream[name].prefix
        return name if prefix is None else prefix

    def _health(self, name: str) -> DependencyHealth:
        health = self.upstreams[name].health()
        return DependencyHealth("upstream", health.is_ok, health.since, health.problem or "", health.failures)

    def _announce(self, name: str, kind: Any) -> None:
        """Notify clients that a server has other prompts or resources."""
        self.apps[name].announce(kind)
        self.all_tools.announce(kind)

    def _connected(self, name: str) -> None:
        """Remember what a server offers, so that a list does not have to start those that offer nothing of it."""
        if (offered := self.upstreams[name].capabilities) != read_capabilities(self.path, name):
            write_capabilities(self.path, name, offered or frozenset())

    # --- tools --------------------------------------------------------------------------------------------

    def _compare(self, name: str, shown: Sequence[ListedTool]) -> None:
        """Compare what an upstream shows with what was approved, and serve what remains."""
        self._shown[name] = shown
        pins = self._pins[name]
        others = {
            tool for other, known in self._pins.items() if other != name and known is not None for tool in known.tools
        }
        approved: Mapping[str, ListedTool] = pins.tools if pins else {}
        policy, signing = self._charter.pins, self.sign_ins.signing[name]
        if signing is not None and signing.has_owners:
            found = compare_one_of_many(approved, shown, policy, others, self.comparisons[name])
        else:
            found = compare(approved, shown, policy, others)
        if found == self.comparisons[name]:
            return
        _warn(name, [tool for tool in found.quarantined if tool not in self.comparisons[name].quarantined], found)
        if found.accepted:
            tools = {**(pins.tools if pins else {}), **found.accepted}
            lock = self._pins[name] = Lock(name, pins.version if pins else None, tools)
            write_pins(lock_file(self.path, name), lock)
        self.comparisons[name] = found
        self._serve_tools(name)

    def _serve_tools(self, *changed: str) -> None:
        """Serve the tools of all upstreams, of which these have changed."""
        for name in changed:
            self._tools[name] = self._specs(name)
            self.apps[name].replace_tools(self._tools[name])
        every: list[tuple[str, ToolSpec]] = []
        always: list[str] = []
        for name, specs in self._tools.items():
            for spec in specs:
                renamed = prefixed(spec, self._prefix(name))
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
                specs.append(remote_tool(name, tool, policy, self._call(name, tool.name, policy)))
            except InvalidTool as error:
                logger.warning("%s:%s cannot be served: %s", name, tool.name, error)
        specs += [quarantined_tool(name, tool, quarantine) for tool, quarantine in self.waiting(name).items()]
        return specs

    def waiting(self, name: str) -> dict[str, Quarantine]:
        """The tools of an upstream that wait for a decision. To deny a tool is one."""
        quarantined = self.comparisons[name].quarantined
        return {tool: why for tool, why in quarantined.items() if not is_denied(name, tool, self._charter.tools)}

    def denied(self, name: str) -> list[str]:
        """The tools of an upstream that the charter denies."""
        comparison = self.comparisons[name]
        known = [*comparison.approved, *comparison.quarantined]
        return [tool for tool in known if is_denied(name, tool, self._charter.tools)]

    def narrowed(self, name: str, spec: ToolSpec) -> list[str]:
        """The arguments of a tool that the charter narrows or fixes."""
        tool = None if spec.listed is None else self.comparisons[name].approved.get(spec.listed.name)
        now, before = (
            object_at(spec.input_schema, "properties"),
            object_at(tool.input_schema if tool else {}, "properties"),
        )
        return [argument for argument, schema in before.items() if now.get(argument) != schema]

    def _call(self, name: str, tool: str, policy: EffectivePolicy) -> CallUpstream:
        def quarantine() -> Quarantine | None:
            return self.comparisons[name].quarantined.get(tool)

        call = upstream_call(self.upstreams[name], tool, policy, quarantine, self._charter.pins.answers)
        return self.sign_ins.around(name, call)

    # --- life ---------------------------------------------------------------------------------------------

    async def _serve(self) -> AsyncGenerator["Governor"]:
        """Close idle connections while the apps are served, and all of them at the end."""
        closing = asyncio.create_task(self._close_idle())
        try:
            yield self
        finally:
            closing.cancel()
            await self.close()

    async def close(self) -> None:
        """End all upstreams."""
        await self.sign_ins.close()
        await asyncio.gather(*(upstream.close() for upstream in self.upstreams.values()))
        self._groups.close()

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            self._read_approvals()
            for upstream in self.upstreams.values():
                await upstream.close_idle()

    def _read_approvals(self) -> None:
        """Serve what a person has approved in another process."""
        for name in self.upstreams:
            file = lock_file(self.path, name)
            if modified_at(file) == self._pins_read_at[name]:
                continue
            self._pins_read_at[name] = modified_at(file)
            try:
                pins = read_pins(file)
            except CannotStart as error:
                logger.error("%s", error)
                continue
            if pins == self._pins[name]:
                continue
            self._pins[name] = pins
            if name in self._shown:
                self._compare(name, self._shown[name])
            else:
                self.comparisons[name] = Comparison(dict(pins.tools) if pins else {})
                self._serve_tools(name)

    # --- what a person decides ----------------------------------------------------------------------------

    async def look(self, name: str) -> Sequence[ListedTool]:
        """Connect to an upstream, and compare what it shows. Raises Unavailable."""
        shown = await self.upstreams[name].list_tools()
        self._compare(name, shown)
        return shown

    async def count_offers(self, name: str) -> dict[str, int]:
        """How many prompts, resources and templates an upstream passes on. Raises Unavailable."""
        found: dict[str, int] = {}
        for what, listed in (("prompt", PROMPTS), ("resource", RESOURCES), ("template", TEMPLATES)):
            offers = offers_of(name, listed, await self.upstreams[name].list_items(LOCAL, listed), self._charter)
            hidden = [offer for offer in offers if offer.policy.allowed and offer.finding is not None]
            found[what] = sum(offer.policy.allowed for offer in offers) - len(hidden)
            if hidden:
                found[f"suspicious {what}"] = len(hidden)
        return found

    def approve(self, name: str, shown: Sequence[ListedTool], chosen: Sequence[str]) -> list[str]:
        """Pin these tools, or all, as they are shown now. Returns their names."""
        pins, live = self._pins[name], {tool.name: tool for tool in shown}
        wanted = [tool for tool in live if not chosen or tool in chosen]
        known = {} if pins is None else {tool: definition for tool, definition in pins.tools.items() if tool in live}
        lock = Lock(
            name, self.upstreams[name].server.version or None, {**known, **{tool: live[tool] for tool in wanted}}
        )
        write_pins(lock_file(self.path, name), lock)
        self._pins[name] = lock
        self.comparisons[name] = Comparison()
        self._compare(name, shown)
        return wanted


def prefixed(spec: ToolSpec, prefix: str) -> ToolSpec:
    """The tool under a name with the prefix of its server, cut where clients would refuse it."""
    name = f"{prefix}_{spec.name}" if prefix else spec.name
    if len(name) > MAX_NAME_LENGTH:
        mark = hashlib.sha256(name.encode()).hexdigest()[:6]
        name = f"{name[: MAX_NAME_LENGTH - 7]}_{mark}"
    return replace(spec, name=name)


def _warn(server: str, tools: Sequence[str], found: Comparison) -> None:
    for tool in tools[:_MAX_WARNINGS]:
        logger.warning("%s:%s is quarantined: %s", server, tool, found.quarantined[tool].reason)
    rest = len(tools) - _MAX_WARNINGS
    if rest > 0:
        logger.warning("%s: %s more quarantined. See: toolcharter govern review %s", server, f"{rest:,}", server)
