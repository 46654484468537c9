"""history: how an issue or a page came to be what it is."""

import difflib

from pydantic import Field

from mcp_atl.answers.history import short_change, short_version
from mcp_atl.answers.listing import Item, Listing
from mcp_atl.client.confluence import confluence
from mcp_atl.client.jira import jira
from mcp_atl.command import CommandCall, ListParameters, reads
from mcp_atl.edit.opening import convert, open_document
from mcp_atl.resolve.references import reference
from mcp_atl.tools.get_page import find_page
from mcp_atl.tools.listings.paging import start_of
from mcp_atl.tools.people import add_names
from toolcharter import Example, InvalidArguments

MAX_DIFF_LENGTH = 20_000


class History(ListParameters):
    """The parameters of history."""

    diff: list[int] = Field(
        default=[], max_length=2, description="Two versions of a page to compare, or one with the current."
    )
    fields: list[str] = Field(default=[], description="Of an issue: only changes of these fields, such as status.")


@reads(
    History,
    subject="Issue key, page id or address.",
    takes="diff (two versions), fields, limit, cursor, format.",
    tags=["issues", "pages"],
    examples=[
        Example(
            "Who changed the status?",
            {"subject": "APP-3", "parameters": {"fields": ["status"], "limit": 2}, "response_fields": ["by.name"]},
            {"changes": [{"by": {"name": "Tomás Silva"}}], "total": 3, "next_cursor": "2"},
        )
    ],
)
async def history(call: CommandCall[History]) -> Item | Listing:
    """Show the changes of an issue or the versions of a page.

    Use this to learn who changed what, or how two versions of a page differ.

    Returns:
        Changes, versions, or a unified diff.
    """
    wanted, options = reference(call.required_subject, "issue" if call.product == "jira" else None), call.parameters
    if wanted.kind in ("issue", "request", "epic"):
        page = await jira(call.connection).changelog(wanted.id, start_of(call), options.limit)
        changes = [short_change(one, only=options.fields) for one in page.items]
        return Listing("changes", [one for one in changes if one["changes"]], page.next_cursor, page.total)
    if wanted.kind != "page":
        raise InvalidArguments(f"subject: {wanted} has no history here; give an issue or a page.", fields=("subject",))
    if options.diff:
        return Item(await _diff(call, wanted.id))
    api = confluence(call.connection)
    found = await find_page(api, wanted.id, with_body=False)
    page = await api.versions(found.id, options.limit, options.cursor)
    versions = [short_version(one) for one in page.items]
    await add_names(api, [one["by"] for one in versions])
    return Listing("versions", versions, page.next_cursor)


async def _diff(call: CommandCall[History], id: str) -> dict[str, object]:
    api, site = confluence(call.connection), call.connection.site
    current = await find_page(api, id)
    numbers = [*call.parameters.diff, current.version][:2]
    pages = [current if one == current.version else await api.page(current.id, version=one) for one in numbers]
    names = [f"version {one}" for one in numbers]

    def compare() -> str:
        old, new = (open_document(site.kind, one.body).markdown().splitlines() for one in pages)
        return "\n".join(difflib.unified_diff(old, new, names[0], names[1], lineterm="", n=2))

    text = await convert(compare, sum(page.size for page in pages))
    cut = len(text) > MAX_DIFF_LENGTH
    return {
        "id": current.id,
        "title": current.title,
        "from": numbers[0],
        "to": numbers[1],
        "diff": text[:MAX_DIFF_LENGTH],
        "note": f"Cut after {MAX_DIFF_LENGTH} of {len(text)} characters; read the versions with get." if cut else None,
    }
