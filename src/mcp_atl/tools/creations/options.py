"""Options that the functions of create share."""

from typing import Any

from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from toolcharter import InvalidArguments


def required_options(call: CommandCall[Any], *names: str) -> list[str]:
    """Options that this kind cannot do without. All that are missing are named at once."""
    values = [getattr(call.parameters, name) for name in names]
    if missing := [name for name, value in zip(names, values, strict=True) if value in (None, "")]:
        raise InvalidArguments(
            f"parameters: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} required to create "
            f"{call.subject!r}, but missing.",
            fields=("parameters",),
        )
    return [str(value) for value in values]


def dry_run_answer(request: Any) -> Json:
    """The answer to a dry run."""
    return {"dry_run": True, "would_send": request}
