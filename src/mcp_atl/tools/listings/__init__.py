"""The lists of list, by the subject that asks for them."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_atl.answers.listing import Listing
from mcp_atl.command import CommandCall
from mcp_atl.tools.listings import boards, pages, projects, service, workflow

KINDS: dict[str, Callable[[CommandCall[Any]], Awaitable[Listing]]] = {
    "projects": projects.list_projects,
    "issue_types": projects.list_issue_types,
    "create_fields": projects.list_create_fields,
    "versions": projects.list_versions,
    "components": projects.list_components,
    "fields": workflow.list_fields,
    "field_options": workflow.list_field_options,
    "link_types": workflow.list_link_types,
    "transitions": workflow.list_transitions,
    "priorities": workflow.list_priorities,
    "statuses": workflow.list_statuses,
    "boards": boards.list_boards,
    "sprints": boards.list_sprints,
    "spaces": pages.list_spaces,
    "pages": pages.list_pages,
    "templates": pages.list_templates,
    "service_desks": service.list_service_desks,
    "queues": service.list_queues,
    "request_types": service.list_request_types,
}
