"""The Jira API: version 3 on Cloud, version 2 on Data Center. Plain JSON of the site in and out.

One method is one operation of the API. What differs between the two is overridden in a subclass; pages come back as
`ResultPage`, whichever way the site counts them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from mcp_atl.client.connection import Json, ResultPage, SiteConnection, segment
from mcp_atl.client.errors import SiteUnavailable
from mcp_atl.client.json_values import at, list_at
from mcp_atl.client.limits import check_project, project_of, without_closed
from mcp_atl.client.transfer import RemoteFile, Upload
from toolcharter import InvalidArguments, PermissionDenied

_ATTACHMENTS = "/secure/attachment/"


class JiraApi:
    """The operations that Cloud and Data Center share."""

    base = "/rest/api/2"

    def __init__(self, client: SiteConnection) -> None:
        self.client = client
        self._checked: set[str] = set()

    async def get(self, path: str, **query: Any) -> Any:
        """Read something."""
        return await self.client.send("jira", "GET", self.base + path, query=query)

    async def _write(self, method: str, path: str, json: Any = None, **query: Any) -> Any:
        return await self.client.send("jira", method, self.base + path, query=query, json=json)

    # --- the site and its users ------------------------------------------------------------------------

    async def server_info(self) -> Json:
        """Version and title of the site."""
        return await self.get("/serverInfo")

    async def myself(self) -> Json:
        """The user whose credentials these are."""
        return await self.get("/myself")

    async def user(self, user_id: str) -> Json:
        """One user, by account id on Cloud, by name on Data Center."""
        return await self.get("/user", **{self.user_key: user_id})

    async def find_users(self, text: str, start: int, limit: int) -> list[Json]:
        """Users whose name or e-mail begins with a text."""
        return await self.get("/user/search", **{self.user_query: text}, startAt=start, maxResults=limit)

    async def assignable_users(self, text: str, *, project: str, limit: int) -> list[Json]:
        """Users who can be assigned to issues of a project."""
        query = {self.user_query: text, "project": project, "maxResults": limit}
        return await self.get("/user/assignable/search", **query)

    user_key = "username"
    user_query = "username"
    user_field = "name"
    """The member that identifies a user in the fields of an issue."""

    # --- issues ----------------------------------------------------------------------------------------

    def _check_fields(self, fields: Mapping[str, Any], *, is_new: bool = True) -> None:
        """Whether an issue would be, or become, one of a project that may not be reached."""
        if self.client.site.projects is None:
            return
        if is_new or "project" in fields:
            check_project(self.client.site, str(at(fields.get("project"), "key")))
        if parent := at(fields.get("parent"), "key"):
            check_project(self.client.site, project_of(str(parent)))

    def _check_unlimited(self, what: str) -> None:
        """Refuse things that have no project where only some projects may be reached."""
        if self.client.site.projects is not None:
            raise PermissionDenied(f"Only some projects are open to this server, and {what} do not say their project.")

    async def _check_project_id(self, project_id: str) -> None:
        if self.client.site.projects is not None:
            found = await self.get(f"/project/{segment(project_id)}")
            check_project(self.client.site, str(found["key"]))

    async def _issue(self, key: str) -> str:
        """The path of an issue. Where only some projects may be reached, the site is asked which one it is in now."""
        site = self.client.site
        if site.projects is not None and key not in self._checked:
            check_project(site, project_of(key))
            found = await self.get(f"/issue/{segment(key)}", fields="project")
            check_project(site, project_of(str(found["key"])))
            self._checked.add(key)
        return f"/issue/{segment(key)}"

    def _project(self, key: str) -> str:
        """The path segment of a project that may be reached."""
        check_project(self.client.site, key)
        return segment(key)

    async def search(
        self, jql: str, *, fields: Sequence[str], limit: int, cursor: str | None = None, expand: str | None = None
    ) -> ResultPage:
        """One page of the issues that a JQL query finds."""
        start = int(cursor or 0)
        body = {"jql": jql, "fields": list(fields), "startAt": start, "maxResults": limit}
        if expand:
            body["expand"] = expand.split(",")
        found = await self.client.send("jira", "POST", f"{self.base}/search", json=body, safe=True)
        page = offset_page(found, "issues", start)
        return page._replace(items=[without_closed(self.client.site, one) for one in page.items])

    async def count(self, jql: str) -> int:
        """How many issues a JQL query finds."""
        body = {"jql": jql, "fields": ["key"], "maxResults": 0}
        found = await self.client.send("jira", "POST", f"{self.base}/search", json=body, safe=True)
        return int(found["total"])

    async def issue(self, key: str, *, fields: Sequence[str], expand: str | None = None) -> Json:
        """One issue with these fields."""
        found = await self.get(f"{await self._issue(key)}", fields=",".join(fields), expand=expand)
        return without_closed(self.client.site, found)

    async def create_issue(self, fields: Mapping[str, Any], update: Mapping[str, Any] | None = None) -> Json:
        self._check_fields(fields)
        body = {"fields": dict(fields)} | ({"update": dict(update)} if update else {})
        return await self._write("POST", "/issue", body)

    async def create_issues(self, issues: Sequence[Mapping[str, Any]]) -> Json:
        """Create up to 50 issues; the answer names those that failed."""
        for fields in issues:
            self._check_fields(fields)
        return await self._write("POST", "/issue/bulk", {"issueUpdates": [{"fields": dict(one)} for one in issues]})

    async def update_issue(
        self, key: str, fields: Mapping[str, Any] | None = None, update: Mapping[str, Any] | None = None
    ) -> None:
        """Set fields, or add to and remove from them."""
        self._check_fields(fields or {}, is_new=False)
        body: Json = {}
        if fields:
            body["fields"] = dict(fields)
        if update:
            body["update"] = dict(update)
        await self._write("PUT", f"{await self._issue(key)}", body)

    async def delete_issue(self, key: str, *, subtasks: bool) -> None:
        """Delete an issue for good."""
        await self._write("DELETE", f"{await self._issue(key)}", deleteSubtasks=subtasks)

    async def edit_fields(self, key: str) -> Json:
        """The fields that can be edited now, by id."""
        return (await self.get(f"{await self._issue(key)}/editmeta")).get("fields", {})

    # --- what belongs to an issue ----------------------------------------------------------------------

    async def transitions(self, key: str) -> list[Json]:
        """The transitions that are open to this user, with their fields."""
        return (await self.get(f"{await self._issue(key)}/transitions", expand="transitions.fields"))["transitions"]

    async def transition(
        self, key: str, transition_id: str, fields: Mapping[str, Any], update: Mapping[str, Any]
    ) -> None:
        """Move an issue along its workflow."""
        body: Json = {"transition": {"id": transition_id}}
        if fields:
            body["fields"] = dict(fields)
        if update:
            body["update"] = dict(update)
        await self._write("POST", f"{await self._issue(key)}/transitions", body)

    async def comments(self, key: str, start: int, limit: int) -> ResultPage:
        """Comments, the oldest first."""
        query = {"startAt": start, "maxResults": limit, "orderBy": "created"}
        return offset_page(await self.get(f"{await self._issue(key)}/comment", **query), "comments", start)

    async def add_comment(
        self,
        key: str,
        body: Any,
        visibility: Mapping[str, str] | None = None,
        properties: Sequence[Mapping[str, Any]] = (),
    ) -> Json:
        """Add a comment. The body is ADF on Cloud and wiki markup on Data Center."""
        content: Json = {"body": body}
        if visibility:
            content["visibility"] = dict(visibility)
        if properties:
            content["properties"] = [dict(one) for one in properties]
        return await self._write("POST", f"{await self._issue(key)}/comment", content)

    async def edit_comment(self, key: str, comment_id: str, body: Any) -> Json:
        """Replace the text of a comment."""
        return await self._write("PUT", f"{await self._issue(key)}/comment/{segment(comment_id)}", {"body": body})

    async def delete_comment(self, key: str, comment_id: str) -> None:
        await self._write("DELETE", f"{await self._issue(key)}/comment/{segment(comment_id)}")

    async def worklogs(self, key: str, start: int, limit: int) -> ResultPage:  # noqa: ARG002 - Cloud needs it
        """Work that was logged on an issue. Data Center gives all of it at once."""
        return offset_page(await self.get(f"{await self._issue(key)}/worklog"), "worklogs", start)

    async def add_worklog(self, key: str, worklog: Mapping[str, Any], **query: Any) -> Json:
        """Log work."""
        return await self._write("POST", f"{await self._issue(key)}/worklog", dict(worklog), **query)

    async def edit_worklog(self, key: str, worklog_id: str, worklog: Mapping[str, Any], **query: Any) -> Json:
        """Change logged work."""
        return await self._write(
            "PUT", f"{await self._issue(key)}/worklog/{segment(worklog_id)}", dict(worklog), **query
        )

    async def delete_worklog(self, key: str, worklog_id: str) -> None:
        """Delete logged work."""
        await self._write("DELETE", f"{await self._issue(key)}/worklog/{segment(worklog_id)}")

    async def watchers(self, key: str) -> Json:
        """Who watches an issue."""
        return await self.get(f"{await self._issue(key)}/watchers")

    async def add_watcher(self, key: str, user_id: str) -> None:
        """Let a user watch an issue."""
        await self._write("POST", f"{await self._issue(key)}/watchers", user_id)

    async def remove_watcher(self, key: str, user_id: str) -> None:
        """Stop a user watching an issue."""
        await self._write("DELETE", f"{await self._issue(key)}/watchers", **{self.user_key: user_id})

    async def changelog(self, key: str, start: int, limit: int) -> ResultPage:
        """The changes of an issue, the oldest first. Data Center has them only as part of the issue."""
        issue = await self.get(f"{await self._issue(key)}", fields="created", expand="changelog")
        entries = list_at(issue, "changelog", "histories")
        page = entries[start : start + limit]
        more = start + len(page) < len(entries)
        return ResultPage(page, str(start + len(page)) if more else None, len(entries))

    async def remote_links(self, key: str) -> list[Json]:
        """Links to other systems."""
        return await self.get(f"{await self._issue(key)}/remotelink")

    async def add_remote_link(self, key: str, link: Mapping[str, Any]) -> Json:
        """Link an issue to an address."""
        return await self._write("POST", f"{await self._issue(key)}/remotelink", dict(link))

    async def delete_remote_link(self, key: str, link_id: str) -> None:
        """Remove a link to another system."""
        await self._write("DELETE", f"{await self._issue(key)}/remotelink/{segment(link_id)}")

    async def link_issues(self, link: Mapping[str, Any]) -> None:
        """Link two issues."""
        for end in ("inwardIssue", "outwardIssue"):
            await self._issue(str(link[end]["key"]))
        await self._write("POST", "/issueLink", dict(link))

    async def delete_link(self, link_id: str) -> None:
        """Remove a link between two issues. Its issue was read before, so that its project is known."""
        await self._write("DELETE", f"/issueLink/{segment(link_id)}")

    async def link_types(self) -> list[Json]:
        """The kinds of links."""
        return (await self.get("/issueLinkType"))["issueLinkTypes"]

    async def attachment(self, attachment_id: str) -> Json:
        """Facts about an attachment."""
        self._check_unlimited("attachments by id")
        return await self.get(f"/attachment/{segment(attachment_id)}")

    async def files(self, key: str) -> list[RemoteFile]:
        """The files of an issue."""
        issue = await self.issue(key, fields=["attachment"])
        return [self._file(file) for file in list_at(issue, "fields", "attachment")]

    async def file(self, attachment_id: str) -> RemoteFile:
        """A file of any issue."""
        return self._file(await self.attachment(attachment_id))

    def _file(self, file: Json) -> RemoteFile:
        path = self._content_path(file)
        return RemoteFile(str(file["id"]), file["filename"], file.get("mimeType"), file.get("size"), "jira", path)

    def _content_path(self, file: Json) -> str:
        """Data Center sends a full address. Only its path is used: credentials are sent to no other host."""
        _, found, rest = urlsplit(str(file.get("content"))).path.partition(_ATTACHMENTS)
        if not found:
            raise SiteUnavailable(f"The site gives no address for the attachment {file['id']}.")
        return _ATTACHMENTS + "/".join(segment(unquote(part)) for part in rest.split("/"))

    async def upload(self, key: str, upload: Upload) -> Json:
        """Attach a file to an issue."""
        path = f"{self.base}{await self._issue(key)}/attachments"
        return (await self.client.send("jira", "POST", path, upload=upload))[0]

    async def delete_attachment(self, attachment_id: str) -> None:
        self._check_unlimited("attachments by id")
        await self._write("DELETE", f"/attachment/{segment(attachment_id)}")

    # --- projects and what they hold -------------------------------------------------------------------

    async def projects(self, text: str | None, start: int, limit: int) -> ResultPage:
        """Projects. Data Center gives all of them at once."""
        found = cast(list[Json], await self.get("/project"))
        wanted = [one for one in found if not text or text.lower() in f"{one['key']} {one['name']}".lower()]
        page = wanted[start : start + limit]
        more = start + len(page) < len(wanted)
        return ResultPage(page, str(start + len(page)) if more else None, len(wanted))

    async def project(self, key: str) -> Json:
        return await self.get(f"/project/{self._project(key)}")

    async def fields(self) -> list[Json]:
        """All fields, with names and schemas."""
        return await self.get("/field")

    async def create_issue_types(self, project: str, start: int, limit: int) -> ResultPage:
        """The issue types that can be created in a project."""
        path = f"/issue/createmeta/{self._project(project)}/issuetypes"
        return offset_page(await self.get(path, startAt=start, maxResults=limit), ("issueTypes", "values"), start)

    async def create_fields(self, project: str, issue_type: str, start: int, limit: int) -> ResultPage:
        """The fields that an issue of this type takes when it is created."""
        path = f"/issue/createmeta/{self._project(project)}/issuetypes/{segment(issue_type)}"
        return offset_page(await self.get(path, startAt=start, maxResults=limit), ("fields", "values"), start)

    async def versions(self, project: str, start: int, limit: int) -> ResultPage:
        """Versions of a project."""
        path = f"/project/{self._project(project)}/version"
        return offset_page(await self.get(path, startAt=start, maxResults=limit), "values", start)

    async def create_version(self, version: Mapping[str, Any]) -> Json:
        await self._check_project_id(str(version.get("projectId", "")))
        return await self._write("POST", "/version", dict(version))

    async def version(self, version_id: str) -> Json:
        found = await self.get(f"/version/{segment(version_id)}")
        await self._check_project_id(str(found.get("projectId", "")))
        return found

    async def update_version(self, version_id: str, changes: Mapping[str, Any]) -> Json:
        """Change some fields of a version."""
        await self.version(version_id)
        return await self._write("PUT", f"/version/{segment(version_id)}", dict(changes))

    async def delete_version(self, version_id: str) -> None:
        """Delete a version; issues that name it lose it."""
        await self.version(version_id)
        await self._write("POST", f"/version/{segment(version_id)}/removeAndSwap", {})

    async def move_to_project(self, keys: Sequence[str], project: str, issue_type: str | None) -> Json:  # noqa: ARG002 - as on Cloud
        """Move issues to another project."""
        raise InvalidArguments(
            f"Jira Data Center has no API to move issues ({', '.join(keys)}) to the project {project!r}. "
            "Move them in the browser, or create them there and link them."
        )

    async def components(self, project: str) -> list[Json]:
        """Components of a project."""
        return await self.get(f"/project/{self._project(project)}/components")

    async def component(self, component_id: str) -> Json:
        found = await self.get(f"/component/{segment(component_id)}")
        check_project(self.client.site, str(found.get("project")))
        return found

    async def project_statuses(self, project: str) -> list[Json]:
        """The statuses of each issue type of a project."""
        return await self.get(f"/project/{self._project(project)}/statuses")

    async def statuses(self) -> list[Json]:
        """All statuses."""
        return await self.get("/status")

    async def priorities(self) -> list[Json]:
        """All priorities. Cloud calls this deprecated; what replaces it is open to administrators only."""
        return await self.get("/priority")

    async def filter(self, filter_id: str) -> Json:
        """A saved search."""
        self._check_unlimited("filters")
        return await self.get(f"/filter/{segment(filter_id)}")


class DataCenterJira(JiraApi):
    """Jira Data Center."""


class CloudJira(JiraApi):
    base = "/rest/api/3"
    user_key = "accountId"
    user_query = "query"
    user_field = "accountId"

    def _content_path(self, file: Json) -> str:
        return f"{self.base}/attachment/content/{segment(file['id'])}"

    async def search(
        self, jql: str, *, fields: Sequence[str], limit: int, cursor: str | None = None, expand: str | None = None
    ) -> ResultPage:
        body: Json = {"jql": jql, "fields": list(fields), "maxResults": limit}
        if cursor:
            body["nextPageToken"] = cursor
        if expand:
            body["expand"] = expand
        found = await self.client.send("jira", "POST", f"{self.base}/search/jql", json=body, safe=True)
        issues = [without_closed(self.client.site, one) for one in list_at(found, "issues")]
        return ResultPage(issues, found.get("nextPageToken"))

    async def count(self, jql: str) -> int:
        found = await self.client.send(
            "jira", "POST", f"{self.base}/search/approximate-count", json={"jql": jql}, safe=True
        )
        return int(found["count"])

    async def worklogs(self, key: str, start: int, limit: int) -> ResultPage:
        path = f"{await self._issue(key)}/worklog"
        return offset_page(await self.get(path, startAt=start, maxResults=limit), "worklogs", start)

    async def changelog(self, key: str, start: int, limit: int) -> ResultPage:
        path = f"{await self._issue(key)}/changelog"
        return offset_page(await self.get(path, startAt=start, maxResults=limit), "values", start)

    async def projects(self, text: str | None, start: int, limit: int) -> ResultPage:
        found = await self.get("/project/search", query=text, startAt=start, maxResults=limit)
        return offset_page(found, "values", start)

    async def move_to_project(self, keys: Sequence[str], project: str, issue_type: str | None) -> Json:
        """A task of the site that goes on after this call."""
        for key in keys:
            await self._issue(key)
        kinds = (await self.create_issue_types(project, 0, 100)).items
        first = await self.issue(keys[0], fields=["issuetype"])
        wanted = (issue_type or str(at(first, "fields", "issuetype", "name"))).lower()
        kind = next((one for one in kinds if wanted in (str(one["id"]), one["name"].lower())), None)
        if kind is None:
            names = ", ".join(one["name"] for one in kinds)
            raise InvalidArguments(
                f"The project {project!r} has no issue type {wanted!r}. Set type to one of: {names}."
            )
        target = {
            "issueIdsOrKeys": list(keys),
            "inferClassificationDefaults": True,
            "inferFieldDefaults": True,
            "inferStatusDefaults": True,
            "inferSubtaskTypeDefault": True,
        }
        body = {"sendBulkNotification": False, "targetToSourcesMapping": {f"{project},{kind['id']}": target}}
        return await self._write("POST", "/bulk/issues/move", body)


def jira(client: SiteConnection) -> JiraApi:
    """The API of the site behind a client."""
    return CloudJira(client) if client.site.is_cloud else DataCenterJira(client)


def offset_page(found: Any, key: str | tuple[str, ...], start: int) -> ResultPage:
    """A page of results that the site counts from `startAt`."""
    keys = (key,) if isinstance(key, str) else key
    items = next((list_at(found, name) for name in keys if name in found), list[Json]())
    total = found.get("total")
    reached = start + len(items)
    is_last = found.get("isLast", total is None or reached >= total)
    return ResultPage(items, None if is_last or not items else str(reached), total)
