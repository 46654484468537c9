"""How an issue changes: values are read, checked, stored, and written into its history."""

from collections.abc import Iterable, Mapping
from typing import Any

from atlassian_sandbox.http import JsonObject, Refusal, SiteRequest, as_list, as_object, optional_list, optional_object
from atlassian_sandbox.jira.fields import EPIC_LINK, EPIC_NAME, Field, FieldReader, InvalidValue, display, find_field
from atlassian_sandbox.jira.render import Renderer
from atlassian_sandbox.model import HistoryEntry, Issue, IssueComment, JiraProject
from atlassian_sandbox.state import SiteState

NOT_SETTABLE = "Field '{}' cannot be set. It is not on the appropriate screen, or unknown."


def settable_field(request: SiteRequest, id: str) -> Field | None:
    """The field with this id, if a client can set it. Unlike in JQL, its name is not enough."""
    field = find_field(id, request.kind)
    return field if field is not None and field.id == id and field.editable else None


def read_fields(request: SiteRequest, project: JiraProject, fields: Mapping[str, Any]) -> JsonObject:
    """The values to store for the fields of a request. Raises Refusal 400 with all that are wrong."""
    reader = FieldReader(request.state, project)
    values: JsonObject = {}
    errors: dict[str, str] = {}
    for name, value in fields.items():
        field = settable_field(request, name)
        if field is None:
            errors[name] = NOT_SETTABLE.format(name)
            continue
        try:
            values["parent" if name == EPIC_LINK else name] = reader.read(field, value)
        except InvalidValue as error:
            errors[name] = str(error)
    if errors:
        raise Refusal(400, errors=errors)
    return values


def read_update(request: SiteRequest, issue: Issue, update: Mapping[str, Any]) -> JsonObject:
    """The values after operations such as {"labels": [{"add": "x"}]}. Comments are added by the caller."""
    reader = FieldReader(request.state, request.state.project_of(issue))
    values: JsonObject = {}
    errors: dict[str, str] = {}
    for name, operations in update.items():
        if name == "comment":
            continue
        field = settable_field(request, name)
        if field is None:
            errors[name] = NOT_SETTABLE.format(name)
            continue
        try:
            values[name] = _apply(reader, field, issue.values.get(name), as_list(operations, f"update.{name}"))
        except InvalidValue as error:
            errors[name] = str(error)
    if errors:
        raise Refusal(400, errors=errors)
    return values


def _apply(reader: FieldReader, field: Field, current: Any, operations: list[Any]) -> Any:
    for operation in operations:
        for name, value in as_object(operation, f"update.{field.id}").items():
            match name:
                case "set" | "edit":
                    current = reader.read(field, value)
                case "add" if field.type == "array":
                    added = reader.read(field, [value])
                    current = list(dict.fromkeys([*optional_list(current), *added]))
                case "remove" if field.type == "array":
                    removed = reader.read(field, [value])
                    current = [each for each in optional_list(current) if each not in removed]
                case _:
                    raise InvalidValue(f"Operation '{name}' is not supported for the field '{field.id}'.")
    return current


def comments_of(update: Mapping[str, Any]) -> Iterable[JsonObject]:
    for operation in as_list(update.get("comment") or [], "update.comment"):
        yield as_object(as_object(operation, "update.comment").get("add"), "update.comment.add")


def store(request: SiteRequest, issue: Issue, values: Mapping[str, Any], *, extra: Iterable[JsonObject] = ()) -> None:
    """Set the values, and write what has changed into the history."""
    renderer = Renderer(request)
    items: list[JsonObject] = list(extra)
    for name, value in values.items():
        field = find_field(name, request.kind) or Field(name, name, "string")
        before = issue.values.get(name)
        if before == value or (not before and not value and value != 0):
            continue
        # An estimate that is not named stays.
        after = optional_object(before) | optional_object(value) if name == "timetracking" else value
        items.append(history_item(renderer, field, before, after))
        issue.values[name] = after
    touch(request.state, issue, request.user.id, items)


def history_item(renderer: Renderer, field: Field, before: Any, after: Any) -> JsonObject:
    old_id, old_text = display(renderer, field, before)
    new_id, new_text = display(renderer, field, after)
    item: JsonObject = {"field": field.name if field.is_custom else _HISTORY_NAMES.get(field.id, field.id)}
    item["fieldtype"] = "custom" if field.is_custom else "jira"
    if renderer.is_cloud:
        item["fieldId"] = field.id
    return item | {"from": old_id, "fromString": old_text, "to": new_id, "toString": new_text}


_HISTORY_NAMES = {
    "fixVersions": "Fix Version",
    "versions": "Version",
    "components": "Component",
    "parent": "IssueParentAssociation",
}


def touch(state: SiteState, issue: Issue, user: str, items: list[JsonObject]) -> None:
    now = state.now()
    issue.values["updated"] = now
    if items:
        issue.history.append(HistoryEntry(state.new_id(), user, now, items))


def add_comment(state: SiteState, issue: Issue, user: str, body: Any, *, public: bool = True) -> IssueComment:
    now = state.now()
    comment = IssueComment(state.new_id(), user, body, now, now, public)
    issue.comments.append(comment)
    issue.values["updated"] = now
    return comment


def new_issue(state: SiteState, project: JiraProject, values: JsonObject, user: str) -> Issue:
    """An issue with its key, and with defaults for what was not given."""
    now = state.now()
    project.last_number += 1
    defaults: JsonObject = {
        "status": project.first_status,
        "priority": "3",
        "reporter": user,
        "creator": user,
        "created": now,
        "updated": now,
        "labels": [],
    }
    issue = Issue(state.new_id(), f"{project.key}-{project.last_number}", project.key, defaults | values)
    if issue.values.get("timetracking"):
        tracking = issue.values["timetracking"]
        tracking.setdefault("remainingEstimateSeconds", tracking.get("originalEstimateSeconds"))
    issue.watchers.append(user)
    state.issues[issue.id] = issue
    state.issue_ids[issue.key] = issue.id
    state.ranks.append(issue.id)
    return issue


def check_new(request: SiteRequest, values: Mapping[str, Any]) -> None:
    """Raise Refusal 400 for what a new issue lacks."""
    errors: dict[str, str] = {}
    if not values.get("summary"):
        errors["summary"] = "You must specify a summary of the issue."
    type_id = values.get("issuetype")
    if type_id is None:
        errors["issuetype"] = "Specify an issue type"
    else:
        level = request.state.issue_types[type_id].level
        parent = request.state.issues.get(values.get("parent") or "")
        if level < 0 and parent is None:
            errors["parent"] = "Issue type is a sub-task but parent issue key or id not specified."
        if not request.is_cloud and level == 1 and not values.get(EPIC_NAME):
            errors[EPIC_NAME] = "Epic Name is required."
    if errors:
        raise Refusal(400, errors=errors)
