"""The JSON of an issue: the fields that were asked for, and the parts that `expand` adds."""

from typing import Any

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.http import JsonObject, SiteRequest, optional_list, optional_object
from atlassian_sandbox.jira.fields import (
    EPIC_LINK,
    EPIC_NAME,
    RANK,
    REQUEST_TYPE,
    SPRINT,
    Field,
    fields_of,
    find_in_projects,
    format_duration,
    schema_type,
)
from atlassian_sandbox.jira.render import Renderer, jira_time
from atlassian_sandbox.model import Issue

NAVIGABLE_EXCEPT = {"comment", "worklog", "attachment", "timetracking"}


class IssueJson:
    def __init__(self, request: SiteRequest) -> None:
        self.state = request.state
        self.user = request.user
        self.renderer = Renderer(request)
        self.is_cloud = request.is_cloud
        self.fields = fields_of(request.kind)

    def render(self, issue: Issue, wanted: list[str], expand: list[str]) -> JsonObject:
        rendered: JsonObject = {
            "expand": "renderedFields,names,schema,operations,editmeta,changelog,versionedRepresentations",
            "id": issue.id,
            "self": f"{self.renderer.root}/issue/{issue.id}",
            "key": issue.key,
        }
        fields = self.select(wanted)
        if fields:
            rendered["fields"] = {field.id: self.value(issue, field) for field in fields}
        if "names" in expand:
            rendered["names"] = {field.id: field.name for field in fields}
        if "schema" in expand:
            rendered["schema"] = {field.id: field.schema | {"type": schema_type(field)} for field in fields}
        if "renderedFields" in expand:
            rendered["renderedFields"] = {
                field.id: f"<p>{plain_text(issue.values.get(field.id))}</p>" for field in fields if field.type == "text"
            }
        if "changelog" in expand:
            newest_first = list(reversed(issue.history))
            shown = [self.renderer.change(change) for change in newest_first[:100]]
            rendered["changelog"] = {"startAt": 0, "maxResults": 100, "total": len(issue.history), "histories": shown}
        return rendered

    def select(self, wanted: list[str]) -> list[Field]:
        """The fields for a list such as ["*all", "-comment"] or ["summary", "status"]."""
        wanted = [str(name) for name in wanted]
        names = {name for name in wanted if not name.startswith(("-", "*"))}
        excluded = {name[1:] for name in wanted if name.startswith("-")}
        everything = "*all" in wanted or (bool(excluded) and not names and "*navigable" not in wanted)
        navigable = "*navigable" in wanted
        return [
            field
            for field in self.fields
            if field.id not in excluded
            and (field.id in names or everything or (navigable and field.id not in NAVIGABLE_EXCEPT))
        ]

    def value(self, issue: Issue, field: Field) -> Any:
        computed = self._computed(issue, field)
        if computed is not _STORED:
            return computed
        value = issue.values.get(field.id)
        if field.type == "array":
            return [self._one(field, field.items, each) for each in optional_list(value)]
        return None if value is None else self._one(field, field.type, value)

    def _one(self, field: Field, type: str, value: Any) -> Any:  # noqa: PLR0911 - one case for each type
        renderer, state = self.renderer, self.state
        match type:
            case "user":
                return renderer.user(value)
            case "status":
                return renderer.status(value)
            case "issuetype":
                return renderer.issue_type(value)
            case "priority" | "resolution":
                table = state.priorities if type == "priority" else state.resolutions
                return renderer.named(type, table[value])
            case "option":
                option = next(option for option in state.options[field.id] if option.id == value)
                return renderer.option(option)
            case "component":
                return renderer.component(find_in_projects(state, type, value))
            case "version":
                return renderer.version(find_in_projects(state, type, value))
            case "datetime":
                return jira_time(value)
            case _:
                return value

    def _computed(self, issue: Issue, field: Field) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each field
        renderer, state, values = self.renderer, self.state, issue.values
        match field.id:
            case "project":
                return renderer.project(state.project_of(issue))
            case "parent":
                return self._parent(issue)
            case "subtasks":
                return [renderer.short_issue(child) for child in self.children(issue) if self.is_subtask(child)]
            case "issuelinks":
                return self.links(issue)
            case "attachment":
                return [renderer.attachment(attachment) for attachment in issue.attachments]
            case "comment":
                comments = [renderer.comment(issue, comment) for comment in issue.comments]
                link = f"{renderer.root}/issue/{issue.id}/comment"
                count = len(comments)
                return {"comments": comments, "self": link, "maxResults": count, "total": count, "startAt": 0}
            case "worklog":
                logs = [renderer.worklog(issue, log, format_duration(log.seconds)) for log in issue.worklogs]
                return {"startAt": 0, "maxResults": 20, "total": len(logs), "worklogs": logs[:20]}
            case "watches":
                link = f"{renderer.root}/issue/{issue.key}/watchers"
                return {"self": link, "watchCount": len(issue.watchers), "isWatching": self.user.id in issue.watchers}
            case "votes":
                link = f"{renderer.root}/issue/{issue.key}/votes"
                return {"self": link, "votes": len(issue.voters), "hasVoted": self.user.id in issue.voters}
            case "timetracking":
                return time_tracking(issue)
            case "timespent":
                return sum(log.seconds for log in issue.worklogs) or None
            case "timeoriginalestimate":
                return optional_object(values.get("timetracking")).get("originalEstimateSeconds")
            case "timeestimate":
                return optional_object(values.get("timetracking")).get("remainingEstimateSeconds")
            case name if name == SPRINT:
                sprints = [renderer.sprint_value(state.sprints[sprint]) for sprint in optional_list(values.get(SPRINT))]
                return sprints or None
            case name if name == RANK:
                return f"0|i{state.ranks.index(issue.id):05}:"
            case name if name == EPIC_LINK:
                parent = state.issues.get(values.get("parent") or "")
                return parent.key if parent is not None and not self.is_subtask(issue) else None
            case name if name == EPIC_NAME:
                return values.get(EPIC_NAME)
            case name if name == REQUEST_TYPE:
                return self._request_type(issue)
            case _:
                return _STORED

    def _parent(self, issue: Issue) -> JsonObject | None:
        parent = self.state.issues.get(issue.values.get("parent") or "")
        if parent is None or (not self.is_cloud and not self.is_subtask(issue)):
            return None
        return self.renderer.short_issue(parent)

    def _request_type(self, issue: Issue) -> JsonObject | None:
        wanted = issue.values.get(REQUEST_TYPE)
        for desk in self.state.desks.values():
            for each in desk.request_types:
                if each.id == wanted:
                    link = f"{self.renderer.base}/rest/servicedeskapi/servicedesk/{desk.id}/requesttype/{each.id}"
                    shown = {"id": each.id, "name": each.name, "description": each.description}
                    return {"requestType": {"_links": {"self": link}, **shown, "serviceDeskId": desk.id}}
        return None

    def is_subtask(self, issue: Issue) -> bool:
        return self.state.issue_types[issue.values["issuetype"]].level < 0

    def children(self, issue: Issue) -> list[Issue]:
        return [other for other in self.state.issues.values() if other.values.get("parent") == issue.id]

    def links(self, issue: Issue) -> list[JsonObject]:
        """The links of an issue whose other end the user can see."""
        shown: list[JsonObject] = []
        for link in self.state.links.values():
            if issue.id not in (link.outward, link.inward):
                continue
            outward = link.outward == issue.id
            other = self.state.issues[link.inward if outward else link.outward]
            if not self.state.can_see(other, self.user):
                continue
            rendered: JsonObject = {
                "id": link.id,
                "self": f"{self.renderer.root}/issueLink/{link.id}",
                "type": self.link_type(link.type),
            }
            # The issue that blocks shows the blocked one as its outward issue.
            rendered["outwardIssue" if outward else "inwardIssue"] = self.renderer.short_issue(other)
            shown.append(rendered)
        return shown

    def link_type(self, id: str) -> JsonObject:
        name, inward, outward = self.state.link_types[id]
        link = f"{self.renderer.root}/issueLinkType/{id}"
        return {"id": id, "name": name, "inward": inward, "outward": outward, "self": link}


_STORED = object()


def time_tracking(issue: Issue) -> JsonObject:
    stored = optional_object(issue.values.get("timetracking"))
    spent = sum(log.seconds for log in issue.worklogs)
    rendered: JsonObject = {}
    pairs = (
        ("originalEstimate", stored.get("originalEstimateSeconds")),
        ("remainingEstimate", stored.get("remainingEstimateSeconds")),
        ("timeSpent", spent or None),
    )
    for name, seconds in pairs:
        if seconds is not None:
            rendered |= {name: format_duration(seconds), name + "Seconds": seconds}
    return rendered
