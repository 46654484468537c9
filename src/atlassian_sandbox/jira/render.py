"""The JSON of Jira's things, as the two kinds of site write it."""

from datetime import datetime
from typing import Any

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.http import ROOTS, JsonObject, SiteRequest
from atlassian_sandbox.model import (
    Attachment,
    Component,
    HistoryEntry,
    Issue,
    IssueComment,
    JiraProject,
    Named,
    SiteUser,
    Sprint,
    Version,
    WorklogEntry,
)

CATEGORIES = {
    "new": (2, "To Do", "blue-gray"),
    "indeterminate": (4, "In Progress", "yellow"),
    "done": (3, "Done", "green"),
}


def jira_time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}+0000"


def zulu_time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


class Renderer:
    def __init__(self, request: SiteRequest) -> None:
        self.state = request.state
        self.kind = request.kind
        self.base = request.base
        self.root = request.base + ROOTS[request.kind]["jira"]

    @property
    def is_cloud(self) -> bool:
        return self.kind == "cloud"

    def plain_text(self, value: Any) -> str:
        return plain_text(value)

    def user(self, id: str | None) -> JsonObject | None:
        if id is None:
            return None
        user = self.state.user(id)
        avatars = {
            size: f"{self.base}/avatar/{user.name}?s={size[:2]}" for size in ("48x48", "24x24", "16x16", "32x32")
        }
        common: JsonObject = {
            "emailAddress": user.email,
            "avatarUrls": avatars,
            "displayName": user.display_name,
            "active": user.active,
            "timeZone": user.time_zone,
        }
        if self.is_cloud:
            link = f"{self.root}/user?accountId={user.id}"
            return {"self": link, "accountId": user.id, "accountType": "atlassian", **common}
        return {"self": f"{self.root}/user?username={user.name}", "name": user.name, "key": user.id, **common}

    def full_user(self, user: SiteUser) -> JsonObject:
        groups = [{"name": name, "self": f"{self.root}/group?groupname={name}"} for name in sorted(user.groups)]
        rendered = self.user(user.id) or {}
        return rendered | {
            "locale": "en_US",
            "groups": {"size": len(groups), "items": groups},
            "applicationRoles": {"size": 1, "items": []},
        }

    def status(self, id: str) -> JsonObject:
        status = self.state.statuses[id]
        return {
            "self": f"{self.root}/status/{id}",
            "description": status.description,
            "iconUrl": f"{self.base}/images/icons/statuses/generic.png",
            "name": status.name,
            "id": id,
            "statusCategory": self.status_category(status.category),
        }

    def status_category(self, key: str) -> JsonObject:
        number, name, colour = CATEGORIES[key]
        link = f"{self.root}/statuscategory/{number}"
        return {"self": link, "id": number, "key": key, "colorName": colour, "name": name}

    def named(self, what: str, value: Named) -> JsonObject:
        """A priority or a resolution."""
        rendered: JsonObject = {"self": f"{self.root}/{what}/{value.id}", "name": value.name, "id": value.id}
        if what == "resolution" or value.description:
            rendered["description"] = value.description
        if what == "priority":
            rendered |= {"iconUrl": f"{self.base}/images/icons/priorities/{value.name.lower()}.svg"}
        return rendered

    def issue_type(self, id: str) -> JsonObject:
        issue_type = self.state.issue_types[id]
        rendered: JsonObject = {
            "self": f"{self.root}/issuetype/{id}",
            "id": id,
            "description": issue_type.description,
            "iconUrl": f"{self.base}/images/icons/issuetypes/{issue_type.name.lower()}.svg",
            "name": issue_type.name,
            "subtask": issue_type.level < 0,
            "avatarId": 10300 + int(id) % 100,
        }
        return rendered | ({"hierarchyLevel": issue_type.level} if self.is_cloud else {})

    def project(self, project: JiraProject) -> JsonObject:
        rendered: JsonObject = {
            "self": f"{self.root}/project/{project.id}",
            "id": project.id,
            "key": project.key,
            "name": project.name,
            "projectTypeKey": project.type,
            "avatarUrls": {"48x48": f"{self.base}/avatar/project/{project.key}"},
        }
        return rendered | ({"simplified": False, "style": "classic", "isPrivate": False} if self.is_cloud else {})

    def component(self, component: Component, project: JiraProject | None = None) -> JsonObject:
        rendered: JsonObject = {
            "self": f"{self.root}/component/{component.id}",
            "id": component.id,
            "name": component.name,
            "description": component.description,
        }
        if project is None:
            return rendered
        lead = {"lead": self.user(component.lead)} if component.lead else {}
        return (
            rendered
            | lead
            | {
                "assigneeType": "PROJECT_DEFAULT",
                "isAssigneeTypeValid": True,
                "project": project.key,
                "projectId": int(project.id),
            }
        )

    def version(self, version: Version, project: JiraProject | None = None) -> JsonObject:
        rendered: JsonObject = {
            "self": f"{self.root}/version/{version.id}",
            "id": version.id,
            "description": version.description,
            "name": version.name,
            "archived": version.archived,
            "released": version.released,
        }
        if version.start_date and project is not None:
            rendered["startDate"] = version.start_date
        if version.release_date:
            rendered["releaseDate"] = version.release_date
        if project is not None:
            today = self.state.now().date().isoformat()
            late = bool(version.release_date and not version.released and version.release_date < today)
            rendered |= {"projectId": int(project.id), "overdue": late}
        return rendered

    def option(self, option: Named) -> JsonObject:
        return {"self": f"{self.root}/customFieldOption/{option.id}", "value": option.name, "id": option.id}

    def sprint_value(self, sprint: Sprint) -> Any:
        """A sprint in the field of an issue: on Data Center it is a text."""
        values: JsonObject = {"id": sprint.id, "name": sprint.name, "state": sprint.state, "boardId": sprint.board}
        values |= {"goal": sprint.goal}
        for name, moment in (("startDate", sprint.start), ("endDate", sprint.end), ("completeDate", sprint.completed)):
            if moment is not None:
                values[name] = zulu_time(moment)
        if self.is_cloud:
            return values
        values = values | {"state": sprint.state.upper(), "rapidViewId": sprint.board}
        order = ("id", "rapidViewId", "state", "name", "startDate", "endDate", "completeDate", "goal")
        text = ",".join(f"{name}={values.get(name, '<null>')}" for name in order)
        return f"com.atlassian.greenhopper.service.sprint.Sprint@{sprint.id:x}[{text}]"

    def short_issue(self, issue: Issue) -> JsonObject:
        """An issue inside of another one: as its parent, subtask or link."""
        values = issue.values
        return {
            "id": issue.id,
            "key": issue.key,
            "self": f"{self.root}/issue/{issue.id}",
            "fields": {
                "summary": values["summary"],
                "status": self.status(values["status"]),
                "priority": self.named("priority", self.state.priorities[values["priority"]]),
                "issuetype": self.issue_type(values["issuetype"]),
            },
        }

    def comment(self, issue: Issue, comment: IssueComment) -> JsonObject:
        rendered: JsonObject = {
            "self": f"{self.root}/issue/{issue.id}/comment/{comment.id}",
            "id": comment.id,
            "author": self.user(comment.author),
            "body": comment.body,
            "updateAuthor": self.user(comment.author),
            "created": jira_time(comment.created),
            "updated": jira_time(comment.updated),
        }
        if self.state.projects[issue.project].type == "service_desk":
            rendered["jsdPublic"] = comment.public
        elif self.is_cloud:
            rendered["jsdPublic"] = True
        if comment.visibility:
            rendered["visibility"] = comment.visibility
        return rendered

    def worklog(self, issue: Issue, worklog: WorklogEntry, duration: str) -> JsonObject:
        rendered: JsonObject = {
            "self": f"{self.root}/issue/{issue.id}/worklog/{worklog.id}",
            "author": self.user(worklog.author),
            "updateAuthor": self.user(worklog.author),
            "created": jira_time(worklog.created),
            "updated": jira_time(worklog.updated),
            "started": jira_time(worklog.started),
            "timeSpent": duration,
            "timeSpentSeconds": worklog.seconds,
            "id": worklog.id,
            "issueId": issue.id,
        }
        return rendered | ({"comment": worklog.comment} if worklog.comment is not None else {})

    def change(self, change: HistoryEntry) -> JsonObject:
        return {
            "id": change.id,
            "author": self.user(change.author),
            "created": jira_time(change.created),
            "items": change.items,
        }

    def attachment(self, attachment: Attachment) -> JsonObject:
        number, name = attachment.id, attachment.file_name
        cloud = f"{self.root}/attachment"
        rendered: JsonObject = {
            "self": f"{self.root}/attachment/{number}",
            "id": number,
            "filename": name,
            "author": self.user(attachment.author),
            "created": jira_time(attachment.created),
            "size": len(attachment.content),
            "mimeType": attachment.media_type,
            "content": f"{cloud}/content/{number}"
            if self.is_cloud
            else f"{self.base}/secure/attachment/{number}/{name}",
        }
        if attachment.media_type.startswith("image/"):
            data_center = f"{self.base}/secure/thumbnail/{number}/{name}"
            rendered["thumbnail"] = f"{cloud}/thumbnail/{number}" if self.is_cloud else data_center
        return rendered


def page_of(values: list[Any], request: SiteRequest, *, default: int = 50) -> tuple[list[Any], int, int]:
    """The values of one page, its first index and its size."""
    start = max(request.number("startAt", 0), 0)
    size = max(request.number("maxResults", default), 0)
    return values[start : start + size], start, size


def paged(values: list[Any], request: SiteRequest, *, name: str = "values", default: int = 50) -> JsonObject:
    """A page in the form that most lists of Jira have."""
    page, start, size = page_of(values, request, default=default)
    rendered: JsonObject = {"maxResults": size, "startAt": start, "total": len(values)}
    rendered |= {"isLast": start + len(page) >= len(values), name: page}
    return rendered
