"""Calls of tools by a page, in the one pipeline, with the rights of the person who looks."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, cast

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.calling.records import Answer, Question, Request
from mcp_core.calling.render import value_in
from mcp_core.errors import ToolError

AGENT = "toolcharter console"


@cache
def agent_version() -> str:
    """The version of the agent, in the record of calls: the same for a page and for its scripts."""
    return version("toolcharter")


class ToolAnswer(NamedTuple):
    """The answer of a tool, whatever the wire format of its server."""

    value: Any
    message: str = ""
    """For the person."""
    instruction: str = ""
    """For an agent."""


class ToolFailed(Exception):
    """A tool could not do what it was asked. The message is for the person."""


async def call_tool(app: App, caller: Caller, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Call a tool by its undecorated name. Raises CallFailed."""
    spec = app.registry.get(tool)
    name = app.registry.final_name(spec) if spec else tool
    try:
        answer = await app.answer(Request(name, arguments, caller, AGENT, agent_version()))
    except ToolError as error:
        raise ToolFailed(str(error)) from None
    if not isinstance(answer, Answer):
        raise ToolFailed(answer.text if isinstance(answer, Question) else "It runs as a task.")
    if answer.is_error:
        raise ToolFailed(_reason(json.loads(answer.text)))
    if app.policy.format == "bare":
        return ToolAnswer(value_in(answer.text, "bare", is_plain=answer.is_plain))
    fields = cast(dict[str, Any], json.loads(answer.text))
    value = fields.get("value" if app.policy.format == "result" else "data")
    return ToolAnswer(value, fields.get("message") or "", fields.get("instruction") or "")


def _reason(body: Any) -> str:
    """The text of an error in each of the wire formats."""
    error = cast(dict[str, Any], body).get("error") if isinstance(body, dict) else body
    return str(cast(dict[str, Any], error)["message"] if isinstance(error, dict) else error)
