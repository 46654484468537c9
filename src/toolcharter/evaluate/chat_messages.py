"""The chat completions protocol: what is sent, and what is read from an answer."""

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


def request(model: str, tools: Sequence[ListedTool], utterance: str, temperature: float | None) -> dict[str, Any]:
    """The body of one request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": utterance}],
        "tools": [_function(tool) for tool in tools],
        "tool_choice": "auto",
    }
    return body if temperature is None else body | {"temperature": temperature}


def digest(body: Mapping[str, Any]) -> str:
    """The same question to the same model: other tools or another wording are another question."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]


def wire_name(name: str) -> str:
    """Most endpoints allow no other characters, and 64 of them."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]


def answer(completion: Any) -> dict[str, Any]:
    """The first call, or none. Raises LookupError, TypeError or AttributeError where this is no completion."""
    message: Any = completion["choices"][0]["message"]
    usage: Any = completion.get("usage")
    counts = cast(dict[str, Any], usage) if isinstance(usage, dict) else {}
    tokens = {"tokens_in": counts.get("prompt_tokens"), "tokens_out": counts.get("completion_tokens")}
    calls: Any = message.get("tool_calls")
    if not calls:
        return {"tool": None, "arguments": None, **tokens}
    function: Any = calls[0]["function"]
    return {"tool": str(function["name"]), "arguments": _arguments(function.get("arguments")), **tokens}


def reason(text: str) -> str:
    """Why an endpoint refuses, in its own words."""
    try:
        error: Any = json.loads(text)["error"]
        return str(cast(Any, error["message"]) if isinstance(error, dict) else error)
    except (ValueError, LookupError, TypeError):
        return text[:200] or "no reason given"


def retry_after(text: str) -> float | None:
    """Seconds to wait, given as a number or as a date."""
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
    """Arguments that are no JSON object stay empty: that is the model's fault, not the endpoint's."""
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
