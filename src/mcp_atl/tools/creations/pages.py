"""Pages, from Markdown or from a template."""

from typing import Any

from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.command import Call
from mcp_atl.convert.texts import from_markdown
from mcp_atl.edit.opening import open_document
from mcp_atl.tools.creations.requests import needed, rehearsal


async def create_page(call: Call[Any]) -> Json:
    """A page in a space, below another page if one is named."""
    space, title = needed(call, "space", "title")
    options, site, api = call.parameters, call.connection.site, confluence(call.connection)
    body: Any = from_markdown(site, "confluence", options.body or "")
    if options.template:
        body = await api.template_body(options.template)
        if options.body:
            body = open_document("datacenter", body).append(options.body).body  # a template has storage format
    if options.dry_run:
        return rehearsal({"space": space, "title": title, "parent": options.parent, "body": body})
    page = await api.create_page(space=space, title=title, body=body, parent_id=options.parent, draft=options.draft)
    return {"id": page.id, "title": page.title, "space": page.space, "version": page.version}
