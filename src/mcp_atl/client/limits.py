"""Projects and spaces that may be reached. Every way to an issue or a page goes through here."""

from typing import Any

from mcp_atl.client.json_values import Json, at, list_at, object_at
from mcp_atl.site import AtlassianSite
from toolcharter import PermissionDenied


def project_of(key: str) -> str:
    """The project of an issue key."""
    return key.rpartition("-")[0].upper()


def allows_project(site: AtlassianSite, project: str) -> bool:
    """Whether a project may be reached, by its key."""
    return site.projects is None or project.upper() in site.projects


def check_project(site: AtlassianSite, project: str) -> None:
    """Refuse a project that may not be reached. Ids are refused too: they do not name the project."""
    if not allows_project(site, project):
        allowed = ", ".join(sorted(site.projects or ()))
        raise PermissionDenied(f"The project {project!r} is not open to this server. Open projects: {allowed}.")


def check_space(site: AtlassianSite, space: str) -> None:
    """Refuse a space that may not be reached."""
    if site.spaces is not None and space.upper() not in site.spaces:
        allowed = ", ".join(sorted(site.spaces))
        raise PermissionDenied(f"The space {space!r} is not open to this server. Open spaces: {allowed}.")


def without_closed(site: AtlassianSite, issue: Json) -> Json:
    """An issue that does not name issues of projects that may not be reached, as links, sub-tasks and parents do."""
    if site.projects is None:
        return issue
    fields = dict(object_at(issue, "fields"))
    if "issuelinks" in fields:
        ends = ("inwardIssue", "outwardIssue")
        fields["issuelinks"] = [
            link for link in list_at(fields, "issuelinks") if all(_is_open(site, link.get(end)) for end in ends)
        ]
    if "subtasks" in fields:
        fields["subtasks"] = [one for one in list_at(fields, "subtasks") if _is_open(site, one)]
    if not _is_open(site, fields.get("parent")):
        del fields["parent"]
    return {**issue, "fields": fields}


def _is_open(site: AtlassianSite, issue: Any) -> bool:
    key = at(issue, "key")
    return key is None or allows_project(site, project_of(str(key)))
