"""Issues that a command changes: by key or address."""

from mcp_atl.resolve.references import references
from toolcharter import InvalidArguments


def issue_key(subject: str) -> str:
    keys = issue_keys(subject)
    if len(keys) != 1:
        raise InvalidArguments(f"subject: one issue is meant, but {len(keys)} are given.", fields=("subject",))
    return keys[0]


def issue_keys(subject: str) -> list[str]:
    """The keys of one or several issues."""
    found = references(subject, "issue")
    if wrong := [str(one) for one in found if one.kind not in ("issue", "epic", "request")]:
        raise InvalidArguments(
            f"subject: {', '.join(wrong)} is not an issue. Give an issue key such as ABC-12, or its address.",
            fields=("subject",),
        )
    return [one.id for one in found]
