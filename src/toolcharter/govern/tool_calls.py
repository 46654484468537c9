"""Calls of governed tools: the server is called, and the answer is examined."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_core.calling.records import VerbatimResult
from mcp_core.context import ToolContext
from mcp_core.declare.listed import ListedTool
from mcp_core.declare.spec import ToolSpec
from mcp_core.errors import Conflict
from mcp_core.text.json_text import JsonObject
from toolcharter.govern.answers import OnHiddenOrders, prepare, to_result
from toolcharter.govern.callers_person import CallersPerson
from toolcharter.govern.pins import Quarantine
from toolcharter.govern.policies import EffectivePolicy
from toolcharter.govern.remote_library import trace_of
from toolcharter.govern.remote_tool import CallUpstream, remote_tool
from toolcharter.govern.upstream.transport import OnProgress
from toolcharter.govern.upstream.upstream import Upstream

_DEADLINE = 120.0
"""In seconds, for tools whose policy has none."""


def upstream_call(
    upstream: Upstream,
    tool: str,
    policy: EffectivePolicy,
    quarantine: Callable[[], Quarantine | None],
    on_orders: OnHiddenOrders,
) -> CallUpstream:
    """Calls a tool of an upstream. `quarantine` says why it is not served any more, if so."""
    seconds = (policy.deadline or _DEADLINE) + 5

    async def call(arguments: Mapping[str, Any], context: ToolContext) -> VerbatimResult:
        _held = upstream.take_token(context)
        # With the connection comes the list of tools, and this one may have changed.
        await upstream.connect(context.caller_key)
        if found := quarantine():
            raise _is_quarantined(upstream.name, tool, found)
        person = CallersPerson(upstream.name, context, upstream.expect_completion)
        send = partial(
            upstream.call_tool,
            context.caller_key,
            tool,
            arguments,
            seconds=seconds,
            meta=trace_of(context),
            on_progress=_progress(context),
            person=person,
        )
        result = to_result(await person.answered(send, f"the call of {tool!r}"))
        if result.error is not None:
            person.raise_problem()
        return await prepare(result, policy.answers, tool, on_orders)

    return call


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
