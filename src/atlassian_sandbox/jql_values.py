"""The values of issues that JQL compares, and the values that a query names."""

from collections.abc import Iterable
from typing import Any, cast

from atlassian_sandbox.documents import plain_text
from atlassian_sandbox.http import optional_object
from atlassian_sandbox.jira.fields import EPIC_LINK, SPRINT, find_field
from atlassian_sandbox.model import Issue, IssueLink, SiteUser
from atlassian_sandbox.query_language import Clause, Function, Operand, QueryError
from atlassian_sandbox.state import SiteState


class JqlValues:
    """The field values of issues, as one user sees them."""

    def __init__(self, state: SiteState, user: SiteUser) -> None:
        self.state = state
        self.user = user

    def values(self, issue: Issue, key: str) -> list[Any]:  # noqa: C901, PLR0911, PLR0912 - one case for each field
        """The values of an issue to compare with: ids, numbers, dates or texts."""
        values = issue.values
        match key:
            case "key" | "issuekey" | "issue" | "id":
                return [issue.id]
            case "project":
                return [issue.project]
            case "projecttype":
                return [self.state.project_of(issue).type]
            case "statuscategory":
                return [self.state.statuses[values["status"]].category]
            case "watcher":
                return list(issue.watchers)
            case "voter":
                return list(issue.voters)
            case "worklogauthor":
                return [log.author for log in issue.worklogs]
            case "worklogdate":
                return [log.started for log in issue.worklogs]
            case "votes":
                return [len(issue.voters)]
            case "watchers" | "watches":
                return [len(issue.watchers)]
            case "attachments" | "attachment":
                return [attachment.id for attachment in issue.attachments]
            case "comment":
                return [comment.id for comment in issue.comments]
            case "subtasks":
                return [other.id for other in self.state.issues.values() if other.values.get("parent") == issue.id]
            case "issuelinktype":
                return [
                    name
                    for link in self.state.links.values()
                    for name in self.link_names(link, issue.id)
                    if issue.id in (link.inward, link.outward)
                ]
            case "timespent":
                return [sum(log.seconds for log in issue.worklogs)] if issue.worklogs else []
            case "timeoriginalestimate" | "timeestimate":
                name = "originalEstimateSeconds" if key == "timeoriginalestimate" else "remainingEstimateSeconds"
                value = optional_object(values.get("timetracking")).get(name)
                return [] if value is None else [value]
            case "hierarchylevel":
                return [self.state.issue_types[values["issuetype"]].level]
            case "parentepic" | "epic link":
                return [values["parent"]] if values.get("parent") else []
            case _:
                stored = values.get("parent" if key == EPIC_LINK else key)
                if stored is None or stored == []:
                    return []
                return cast(list[Any], stored) if isinstance(stored, list) else [stored]

    def link_names(self, link: IssueLink, issue: str) -> list[str]:
        """The names of a link, in general and from this issue: "blocks" or "is blocked by"."""
        name, inward, outward = self.state.link_types[link.type]
        return [name.casefold(), (outward if link.outward == issue else inward).casefold()]

    def texts(self, issue: Issue, key: str) -> Iterable[str]:
        if key == "text":
            return [
                text
                for each in ("summary", "description", "environment", "comment")
                for text in self.texts(issue, each)
            ]
        if key == "comment":
            return [plain_text(comment.body) for comment in issue.comments]
        return [plain_text(issue.values.get(key))]

    def resolve(self, clause: Clause, key: str, operand: Operand) -> list[Any]:
        """The ids that an operand names in a field. Raises QueryError for an unknown name."""
        if isinstance(operand, Function):
            return self.function(clause, operand)
        if operand.is_empty:
            return []
        text = operand.text
        found = self.lookup(key, text)
        if not found:
            raise QueryError(f"The value '{text}' does not exist for the field '{clause.field}'.")
        return found

    def lookup(self, key: str, text: str) -> list[Any]:
        state, wanted = self.state, text.casefold()
        tables: dict[str, Any] = {
            "status": state.statuses,
            "priority": state.priorities,
            "resolution": state.resolutions,
            "issuetype": state.issue_types,
        }
        if key in tables:
            return [each.id for each in tables[key].values() if wanted in (each.id, each.name.casefold())]
        match key:
            case "project":
                projects = state.visible_projects(self.user)
                return [each.key for each in projects if wanted in (each.id, each.key.casefold(), each.name.casefold())]
            case "key" | "issuekey" | "issue" | "id" | "parent" | "parentepic" | "epic link":
                issue = text if text in state.issues else state.issue_ids.get(text.upper(), "")
                visible = issue in state.issues and state.can_see(state.issues[issue], self.user)
                return [issue] if visible else []
            case "statuscategory":
                names = {"to do": "new", "in progress": "indeterminate", "done": "done"}
                return [names[wanted]] if wanted in names else [wanted] if wanted in names.values() else []
            case _:
                return self.lookup_other(key, text)

    def lookup_other(self, key: str, text: str) -> list[Any]:
        state, wanted = self.state, text.casefold()
        if key == EPIC_LINK:
            return self.lookup("key", text)
        if key == "issuelinktype":
            return [wanted]
        if key in (SPRINT, "sprint"):
            return [each.id for each in state.sprints.values() if wanted in (str(each.id), each.name.casefold())]
        if key in ("components", "fixVersions", "versions"):
            return [
                each.id
                for project in state.projects.values()
                for each in (project.components if key == "components" else project.versions)
                if wanted in (each.id, each.name.casefold())
            ]
        if key in state.options:
            return [each.id for each in state.options[key] if wanted in (each.id, each.name.casefold())]
        field = find_field(key, state.kind)
        if key in ("watcher", "voter", "worklogauthor") or (field and "user" in (field.type, field.items)):
            user = state.find_user(text) or next(
                (each for each in state.users.values() if each.display_name.casefold() == wanted), None
            )
            return [user.id] if user else []
        return [text]

    def function(self, clause: Clause, function: Function) -> list[Any]:
        state = self.state
        match function.name.lower():
            case "currentuser":
                return [self.user.id]
            case "opensprints" | "closedsprints" | "futuresprints":
                wanted = {"opensprints": "active", "closedsprints": "closed", "futuresprints": "future"}
                return [each.id for each in state.sprints.values() if each.state == wanted[function.name.lower()]]
            case "membersof":
                return [user.id for user in state.users.values() if user.groups.intersection(function.arguments)]
            case "releasedversions" | "unreleasedversions":
                released = function.name.lower() == "releasedversions"
                versions = [each for project in state.projects.values() for each in project.versions]
                return [each.id for each in versions if each.released == released]
            case "linkedissues":
                issue = self.lookup("key", function.arguments[0] if function.arguments else "")
                links = [link for link in state.links.values() if issue and issue[0] in (link.inward, link.outward)]
                if len(function.arguments) > 1:
                    wanted_name = function.arguments[1].casefold()
                    links = [link for link in links if wanted_name in self.link_names(link, issue[0])]
                return [link.inward if link.outward == issue[0] else link.outward for link in links]
            case "standardissuetypes" | "subtaskissuetypes":
                sub = function.name.lower() == "subtaskissuetypes"
                return [each.id for each in state.issue_types.values() if (each.level < 0) == sub]
            case "watchedissues" | "votedissues":
                watched = function.name.lower() == "watchedissues"
                return [
                    issue.id
                    for issue in state.issues.values()
                    if self.user.id in (issue.watchers if watched else issue.voters)
                ]
            case _:
                raise QueryError(
                    f"Unable to find JQL function '{function.name}({', '.join(function.arguments)})' "
                    f"for the field '{clause.field}'."
                )
