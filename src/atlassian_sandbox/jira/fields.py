"""The fields of issues: what each is called, how a value is read from JSON and how it is shown."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from atlassian_sandbox.http import JsonObject, Kind
from atlassian_sandbox.jira.render import Renderer
from atlassian_sandbox.model import JiraProject, Named
from atlassian_sandbox.state import SiteState

EPIC_NAME = "customfield_10011"
EPIC_LINK = "customfield_10014"
STORY_POINTS = "customfield_10016"
RANK = "customfield_10019"
SPRINT = "customfield_10020"
REQUEST_TYPE = "customfield_10010"
TEAM = "customfield_10030"
SERVICES = "customfield_10031"
CUSTOMER = "customfield_10032"
REVIEWERS = "customfield_10033"
TARGET_DATE = "customfield_10034"
ROOT_CAUSE = "customfield_10035"


class InvalidValue(Exception):
    """A value that a field does not accept. The message is Jira's."""


@dataclass(frozen=True)
class Field:
    id: str
    name: str
    type: str
    items: str = ""
    custom: str = ""
    only: Kind | None = None
    editable: bool = True

    @property
    def is_custom(self) -> bool:
        return bool(self.custom)

    @property
    def schema(self) -> JsonObject:
        schema: JsonObject = {"type": self.type}
        if self.items:
            schema["items"] = self.items
        if self.custom:
            schema |= {"custom": self.custom, "customId": int(self.id.removeprefix("customfield_"))}
        else:
            schema["system"] = self.id
        return schema

    @property
    def clause_names(self) -> list[str]:
        if not self.custom:
            return [CLAUSES.get(self.id, self.id)]
        return [f"cf[{self.id.removeprefix('customfield_')}]", self.name]


CLAUSES = {"issuetype": "type", "fixVersions": "fixVersion", "versions": "affectedVersion", "components": "component"}
_TYPES = "com.atlassian.jira.plugin.system.customfieldtypes:"
_AGILE = "com.pyxis.greenhopper.jira:"

FIELDS = [
    Field("summary", "Summary", "string"),
    Field("issuetype", "Issue Type", "issuetype"),
    Field("project", "JiraProject", "project", editable=False),
    Field("status", "Status", "status", editable=False),
    Field("resolution", "Resolution", "resolution"),
    Field("priority", "Priority", "priority"),
    Field("assignee", "Assignee", "user"),
    Field("reporter", "Reporter", "user"),
    Field("creator", "Creator", "user", editable=False),
    Field("labels", "Labels", "array", "string"),
    Field("components", "Components", "array", "component"),
    Field("fixVersions", "Fix versions", "array", "version"),
    Field("versions", "Affects versions", "array", "version"),
    Field("parent", "Parent", "issuelink"),
    Field("description", "Description", "text"),
    Field("environment", "Environment", "text"),
    Field("duedate", "Due date", "date"),
    Field("created", "Created", "datetime", editable=False),
    Field("updated", "Updated", "datetime", editable=False),
    Field("resolutiondate", "Resolved", "datetime", editable=False),
    Field("statuscategorychangedate", "Status Category Changed", "datetime", only="cloud", editable=False),
    Field("timetracking", "Time tracking", "timetracking"),
    Field("timeoriginalestimate", "Original estimate", "number", editable=False),
    Field("timeestimate", "Remaining Estimate", "number", editable=False),
    Field("timespent", "Time Spent", "number", editable=False),
    Field("watches", "Watchers", "watches", editable=False),
    Field("votes", "Votes", "votes", editable=False),
    Field("subtasks", "Sub-tasks", "array", "issuelinks", editable=False),
    Field("issuelinks", "Linked Issues", "array", "issuelinks", editable=False),
    Field("attachment", "Attachment", "array", "attachment", editable=False),
    Field("comment", "Comment", "comments-page", editable=False),
    Field("worklog", "Log Work", "array", "worklog", editable=False),
    Field(REQUEST_TYPE, "Request Type", "sd-customerrequesttype", custom="com.atlassian.servicedesk:vp-origin"),
    Field(EPIC_NAME, "Epic Name", "string", custom=_AGILE + "gh-epic-label", only="datacenter"),
    Field(EPIC_LINK, "Epic Link", "any", custom=_AGILE + "gh-epic-link", only="datacenter"),
    Field(STORY_POINTS, "Story Points", "number", custom=_TYPES + "float"),
    Field(RANK, "Rank", "any", custom=_AGILE + "gh-lexo-rank", editable=False),
    Field(SPRINT, "Sprint", "array", "json", custom=_AGILE + "gh-sprint"),
    Field(TEAM, "Team", "option", custom=_TYPES + "select"),
    Field(SERVICES, "Affected services", "array", "option", custom=_TYPES + "multiselect"),
    Field(CUSTOMER, "Customer", "string", custom=_TYPES + "textfield"),
    Field(REVIEWERS, "Reviewers", "array", "user", custom=_TYPES + "multiuserpicker"),
    Field(TARGET_DATE, "Target date", "date", custom=_TYPES + "datepicker"),
    Field(ROOT_CAUSE, "Root cause", "text", custom=_TYPES + "textarea"),
]
_BY_ID = {field.id: field for field in FIELDS}


def fields_of(kind: Kind) -> list[Field]:
    return [field for field in FIELDS if field.only in (None, kind)]


def find_field(name: str, kind: Kind) -> Field | None:
    """The field with this id, name, or name in JQL."""
    field = _BY_ID.get(name)
    if field is not None and field.only in (None, kind):
        return field
    wanted = name.casefold()
    for field in fields_of(kind):
        if wanted in (field.id.casefold(), field.name.casefold(), *map(str.casefold, field.clause_names)):
            return field
    return None


def schema_type(field: Field) -> str:
    """The type as the API names it: a text is a string there."""
    return "string" if field.type == "text" else field.type


class FieldReader:
    """Reads the values that a client sends, for issues of one project."""

    def __init__(self, state: SiteState, project: JiraProject) -> None:
        self.state = state
        self.project = project

    def read(self, field: Field, value: Any) -> Any:
        if value is None:
            return [] if field.type == "array" else None
        if field.id == SPRINT:
            return self._sprint(value)
        if field.type == "array":
            if not isinstance(value, list):
                raise InvalidValue("data was not an array")
            return [self._read_one(field, field.items, item) for item in cast(list[Any], value)]
        return self._read_one(field, field.type, value)

    def _sprint(self, value: Any) -> list[int]:
        if not isinstance(value, int) or value not in self.state.sprints:
            raise InvalidValue(f"Sprint with id '{value}' does not exist.")
        return [value]

    def _read_one(self, field: Field, type: str, value: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each type
        match type:
            case "string":
                return self._string(field, value)
            case "text":
                return self._text(value)
            case "number":
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise InvalidValue(f"'{value}' is an invalid number")
                return value
            case "date":
                return _date(value)
            case "user":
                return self._user(value)
            case "priority":
                return self._named(self.state.priorities.values(), value, "The priority selected is invalid.")
            case "resolution":
                return self._named(self.state.resolutions.values(), value, "The resolution selected is invalid.")
            case "issuetype":
                types = [self.state.issue_types[each] for each in self.project.issue_types]
                return self._named(types, value, "Specify a valid issue type")
            case "option":
                return self._option(field, value)
            case "component" | "version":
                return self._of_project(type, value)
            case "issuelink" | "any":
                return self._issue(value)
            case "timetracking":
                return _time_tracking(value)
            case _:
                return value

    def _string(self, field: Field, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidValue("Operation value must be a string")
        if field.id == "summary" and (not value.strip() or "\n" in value):
            raise InvalidValue(
                "The summary is invalid because it contains newline characters."
                if value.strip()
                else "You must specify a summary of the issue."
            )
        if field.id == "labels" and " " in value:
            raise InvalidValue(f"The label '{value}' contains spaces which is invalid.")
        return value

    def _text(self, value: Any) -> Any:
        return check_text(self.state.kind, value)

    def _user(self, value: Any) -> str:
        key = "accountId" if self.state.kind == "cloud" else "name"
        given = cast(JsonObject, value) if isinstance(value, dict) else {}
        name: Any = given.get(key, given.get("id"))
        if not isinstance(name, str):
            raise InvalidValue(f"expected Object containing a '{key}' property")
        user = self.state.users.get(name) if self.state.kind == "cloud" else self.state.find_user(name)
        if user is None or not user.active:
            raise InvalidValue(f"Specify a valid value for {key}: the user '{name}' does not exist.")
        return user.id

    def _named(self, values: Any, value: Any, message: str) -> str:
        for named in cast(list[Named], list(values)):
            if isinstance(value, dict) and (
                cast(JsonObject, value).get("id") == named.id or cast(JsonObject, value).get("name") == named.name
            ):
                return named.id
        raise InvalidValue(message)

    def _option(self, field: Field, value: Any) -> str:
        options = self.state.options.get(field.id, [])
        wanted = cast(JsonObject, value) if isinstance(value, dict) else {}
        for option in options:
            if wanted.get("id") == option.id or wanted.get("value") == option.name:
                return option.id
        allowed = ", ".join(f"{option.id}[{option.name}]" for option in options)
        raise InvalidValue(f"Specify a valid 'id' or 'value' for {field.name}. The allowed values are: {allowed}")

    def _of_project(self, type: str, value: Any) -> str:
        values = self.project.components if type == "component" else self.project.versions
        wanted = cast(JsonObject, value) if isinstance(value, dict) else {}
        for each in values:
            if wanted.get("id") == each.id or wanted.get("name") == each.name:
                return each.id
        label = wanted.get("name") or wanted.get("id")
        raise InvalidValue(f"{type.capitalize()} name '{label}' is not valid")

    def _issue(self, value: Any) -> str:
        wanted = cast(JsonObject, value) if isinstance(value, dict) else {"key": value}
        issue = str(wanted.get("id") or self.state.issue_ids.get(str(wanted.get("key", "")).upper(), ""))
        if issue not in self.state.issues:
            raise InvalidValue("Could not find issue by id or key.")
        return issue


def check_text(kind: Kind, value: Any) -> Any:
    """A rich text as this kind of site takes it: a document on Cloud, wiki markup on Data Center."""
    if kind == "datacenter":
        if not isinstance(value, str):
            raise InvalidValue("Operation value must be a string")
        return value
    document = cast(JsonObject, value) if isinstance(value, dict) else {}
    if document.get("type") != "doc" or document.get("version") != 1 or not isinstance(document.get("content"), list):
        raise InvalidValue("Operation value must be an Atlassian Document (see the Atlassian Document Format)")
    return document


def _date(value: Any) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise InvalidValue(f"Error parsing date string: {value}") from None


def _time_tracking(value: Any) -> JsonObject:
    given = cast(JsonObject, value) if isinstance(value, dict) else {}
    result: JsonObject = {}
    for name in ("originalEstimate", "remainingEstimate"):
        if given.get(name) is not None:
            result[name + "Seconds"] = parse_duration(given[name])
    return result


_UNITS = {"w": 5 * 8 * 3600, "d": 8 * 3600, "h": 3600, "m": 60}


def parse_duration(text: Any) -> int:
    """Seconds of a duration such as "1w 2d 3h 30m"; a bare number is in minutes."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([wdhm]?)", str(text).lower())
    if not parts or re.sub(r"[\d.\swdhm]", "", str(text).lower()):
        raise InvalidValue(f"The duration '{text}' is not valid. Use a form such as '3d 4h'.")
    return int(sum(float(number) * _UNITS[unit or "m"] for number, unit in parts))


def format_duration(seconds: int) -> str:
    parts: list[str] = []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0m"


def display(renderer: Renderer, field: Field, value: Any) -> tuple[str | None, str | None]:
    """A value as the history shows it: its id and its text."""
    state = renderer.state
    if value is None or value == []:
        return None, None
    if isinstance(value, list):
        shown = [display(renderer, Field(field.id, field.name, field.items), item) for item in cast(list[Any], value)]
        separator = " " if field.id == "labels" else ", "
        ids = ", ".join(each for each, _ in shown if each)
        return ids or None, separator.join(text for _, text in shown if text)
    match field.type:
        case "user":
            user = state.user(value)
            return (user.id if renderer.kind == "cloud" else user.name), user.display_name
        case "issuelink" | "any" if value in state.issues:
            return value, state.issues[value].key
        case "json" if value in state.sprints:
            return str(value), state.sprints[value].name
        case _:
            named = _lookup(state, field, value)
            return (named.id, named.name) if named else (None, renderer.plain_text(value))


def _lookup(state: SiteState, field: Field, value: Any) -> Any:
    tables: dict[str, Any] = {
        "status": state.statuses,
        "priority": state.priorities,
        "resolution": state.resolutions,
        "issuetype": state.issue_types,
    }
    if field.type in tables:
        return tables[field.type].get(value)
    if field.type == "option":
        return next((option for option in state.options.get(field.id, []) if option.id == value), None)
    if field.type in ("component", "version"):
        return find_in_projects(state, field.type, value)
    return None


def find_in_projects(state: SiteState, type: str, id: str) -> Any:
    for project in state.projects.values():
        for each in project.components if type == "component" else project.versions:
            if each.id == id:
                return each
    return None
