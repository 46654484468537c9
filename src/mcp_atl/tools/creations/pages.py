"""Pages, from Markdown or from a template."""

from typing import Any

from mcp_atl.client.confluence import confluence
from mcp_atl.client.connection import Json
from mcp_atl.command import CommandCall
from mcp_atl.convert.texts import from_markdown
from mcp_atl.edit.opening import convert, open_document
from mcp_atl.tools.creations.options import dry_run_answer, required_options


async def create_page(call: CommandCall[Any]) -> Json:
    """A page in a space, below another page if one is named."""
    space, title = required_options(call, "space", "title")
    options, site, api = call.parameters, call.connection.site, confluence(call.connection)
    markdown = options.body or ""
    if options.template:
        body = template = await api.template_body(options.template)  # in storage format, also on Cloud
        if markdown:
            body = await convert(lambda: open_document("datacenter", template).append(markdown).body, len(markdown))
    else:
        body = await convert(lambda: from_markdown(site, "confluence", markdown), len(markdown))
    if options.dry_run:
        return dry_run_answer({"space": space, "title": title, "parent": options.parent, "body": body})
    page = await api.create_page(space=space, title=title, body=body, parent_id=options.parent, draft=options.draft)
    return {"id": page.id, "title": page.title, "space": page.space, "version": page.version}
