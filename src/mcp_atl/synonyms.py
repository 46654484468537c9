"""Other names that agents use for the parameters of commands, from calls that they made without reading `help`."""

from collections.abc import Mapping

from pydantic import BaseModel

SUBJECT = ("issue_key", "issue", "key", "page_id", "page", "id", "url", "query", "jql", "cql", "command", "name")
"""Names of the subject, for commands whose parameters do not have them."""
SHARED: Mapping[str, str] = {
    "max_results": "limit",
    "max": "limit",
    "page_token": "cursor",
    "project_key": "project",
    "space_key": "space",
    "board_id": "board",
    "issue_type": "type",
    "link_type": "type",
    "parent_id": "parent",
    "comment_body": "body",
    "text": "body",
    "content": "body",
    "markdown": "body",
    "target": "to",
    "destination": "to",
    "status": "to",
    "transition": "to",
    "time_spent": "time",
    "duration": "time",
    "expand": "include",
    "file": "files",
    "path": "files",
}
ISSUE_FIELDS = ("priority", "assignee", "reporter", "labels", "components", "fix_versions", "due_date", "summary")
"""Fields of an issue, which belong into `fields` where a command has it and not a parameter of the name."""


def synonyms_of(parameters: type[BaseModel]) -> dict[str, str]:
    """The synonyms of a command, by their place in its arguments."""
    takes = parameters.model_fields
    found = {name: "subject" for name in SUBJECT if name not in takes}
    shared = {name: of for name, of in SHARED.items() if of in takes and name not in takes}
    found |= {f"parameters.{name}": f"parameters.{of}" for name, of in shared.items()}
    if "comment" not in takes and "body" in takes and "title" not in takes:
        found |= {"parameters.comment": "parameters.body", "parameters.message": "parameters.body"}
    if "fields" not in takes:
        return found | {"fields": "response_fields"}
    if takes["fields"].annotation is not None and "dict" in str(takes["fields"].annotation):
        found |= {f"parameters.{name}": f"parameters.fields.{name}" for name in ISSUE_FIELDS if name not in takes}
    return found
