"""The declaration of a tool as `_meta` carries it in a list of tools: for clients, catalogues and contracts.

Clients hand a model the name, description and input schema of a tool; what stands here costs it nothing.
"""

from typing import Any

from mcp_core.declare.charter import META
from mcp_core.declare.spec import DEFAULTS, UNSET, Deprecation, Example, RateLimit, ToolSpec
from mcp_core.text import json_text


def declared_meta(spec: ToolSpec) -> dict[str, Any]:
    """All that the tool declares, by the names of the charter, and its own `meta`; nothing that was not declared."""
    declared = spec.declaration
    fields: dict[str, Any] = {
        "version": declared.version if spec.governed or declared.version != DEFAULTS["version"] else None,
        "category": spec.category if spec.has_known_effect else None,
        "responseTime": None if declared.response_time is UNSET else spec.response_time,
        "cacheable": spec.cache_ttl is not None if spec.has_known_effect else None,
        "cacheTTL": spec.cache_ttl,
        "idempotent": declared.idempotent,
        "permissions": _list(declared.permissions),
        "rateLimit": _rate_limit(declared.rate_limit),
        "tags": _list(declared.tags),
        "examples": [_example(example) for example in spec.examples] or None,
        "deprecated": _deprecation(declared.deprecated),
        "userArgument": declared.user_argument,
        "task": None if declared.task == "never" else declared.task,
    }
    ours = {META + name: value for name, value in fields.items() if value is not None and value is not UNSET}
    return json_text.to_plain(dict(declared.meta or {})) | ours


def _list(value: Any) -> Any:
    return value if value is UNSET else list(value)


def _example(example: Example) -> dict[str, Any]:
    return {
        "description": example.description,
        "params": json_text.to_plain(dict(example.params)),
        "expectedResult": json_text.to_plain(example.expected_result),
    }


def _rate_limit(limit: RateLimit | None) -> dict[str, Any] | None:
    return limit and {"maxCalls": limit.max_calls, "windowMs": limit.window_ms}


def _deprecation(deprecated: Deprecation | None) -> dict[str, Any] | None:
    return deprecated and {
        "since": deprecated.since,
        "replacement": deprecated.replacement,
        "removalDate": deprecated.removal_date,
    }
