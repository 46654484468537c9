"""The chat completions protocol: requests and responses."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from mcp_core.declare.listed import ListedTool

SYSTEM = (
    "You act for the user through the given tools. When one of them serves the request, call it. "
    "When none of them does, do not call any, and say so in one sentence."
)


def build_request(model: str, tools: Sequence[ListedTool], utterance: str, temperature: float | None) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": utterance}],
        "tools": [_function(tool) for tool in tools],
        "tool_choice": "auto",
    }
    return body if temperature is None else body | {"temperature": temperature}


def digest(body: Mapping[str, Any]) -> str:
    """Identifies a request: other tools or another wording give another digest."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]


def wire_name(name: str) -> str:
    """The name of a tool with the characters and the length that most endpoints allow."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]


def parse_completion(completion: Any) -> dict[str, Any]:
    """The first tool call, or none. Raises LookupError, TypeError or AttributeError if it is not a completion."""
    message: Any = completion["choices"][0]["message"]
    usage: Any = completion.get("usage")
    counts = cast(dict[str, Any], usage) if isinstance(usage, dict) else {}
    tokens = {"tokens_in": counts.get("prompt_tokens"), "tokens_out": counts.get("completion_tokens")}
    calls: Any = message.get("tool_calls")
    if not calls:
        return {"tool": None, "arguments": None, **tokens}
    function: Any = calls[0]["function"]
    return {"tool": str(function["name"]), "arguments": _arguments(function.get("arguments")), **tokens}


def error_message(text: str) -> str:
    """The error message in a response."""
    try:
        error: Any = json.loads(text)["error"]
        return str(cast(Any, error["message"]) if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError):
        return text[:200] or "no reason given"


def retry_after(text: str) -> float | None:
    """Parse a Retry-After header, a number or a date, into seconds."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _function(tool: ListedTool) -> dict[str, Any]:
    empty: dict[str, Any] = {"type": "object", "properties": {}}
    function = {
        "name": wire_name(tool.name),
        "description": tool.description,
        "parameters": empty | dict(tool.input_schema),
    }
    return {"type": "function", "function": function}


def _arguments(text: Any) -> dict[str, Any]:
    """The arguments of a call; empty if they are not a JSON object, which is a mistake of the model."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
