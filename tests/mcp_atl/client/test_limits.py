"""Projects and spaces that are not open cannot be reached, whichever way is tried."""

import pytest

from tests.mcp_atl.server import serve

KINDS = ["cloud", "datacenter"]

CLOSED_READS = {
    "an issue": ("get", "FERRY-6", {}),
    "its history": ("history", "FERRY-6", {}),
    "its times": ("report", "FERRY-6", {"kind": "time_in_status"}),
    "its service levels": ("report", "HELP-3", {"kind": "sla"}),
    "a project": ("list", "versions", {"project": "FERRY"}),
    "the fields of a project": ("list", "create_fields", {"project": "FERRY", "type": "Bug"}),
    "a service desk": ("list", "queues", {"service_desk": 4}),
    "the project": ("get", "project:FERRY", {}),
    "a version of a project": ("get", "version:10401", {}),
    "a component": ("get", "component:10501", {}),
    "a filter": ("get", "filter:10601", {}),
    "a board": ("get", "board:7", {}),
    "a sprint": ("get", "sprint:23", {}),
    "the sprints of a board": ("list", "sprints", {"board": 7}),
    "the issues of a board": ("search", "board:7", {}),
    "a page": ("get", "20201", {}),
    "a page by title": ("get", "page:PROD/Product", {}),
    "the versions of a page": ("history", "20201", {}),
    "the pages of a space": ("list", "pages", {"space": "PROD"}),
    "the pages below one": ("list", "pages", {"parent": "20201"}),
}
CLOSED_WRITES = {
    "an issue": ("update", "FERRY-6", {"fields": {"summary": "x"}}),
    "a new issue": ("create", "issue", {"project": "FERRY", "summary": "x"}),
    "new issues": ("create", "issues", {"project": "APP", "issues": [{"summary": "x", "project": "FERRY"}]}),
    "a parent": ("create", "issue", {"project": "APP", "summary": "x", "parent": "FERRY-2"}),
    "another project": ("update", "APP-3", {"fields": {"project": "FERRY"}}),
    "a comment": ("comment", "FERRY-6", {"body": "x"}),
    "work": ("worklog", "FERRY-6", {"time": "1h"}),
    "a transition": ("transition", "FERRY-6", {"to": "Done"}),
    "a link": ("link", "APP-3", {"to": "FERRY-6", "type": "blocks"}),
    "an epic": ("link", "APP-3", {"to": "FERRY-2", "type": "epic"}),
    "the backlog": ("move", "FERRY-6", {"to": "backlog"}),
    "a version": ("create", "version", {"project": "FERRY", "name": "x"}),
    "a request": ("create", "request", {"service_desk": 4, "request_type": 31, "summary": "x"}),
    "a page": ("update", "20201", {"body": "x", "append": True}),
    "a new page": ("create", "page", {"space": "PROD", "title": "x"}),
    "a page below one": ("create", "page", {"space": "ENG", "title": "x", "parent": "20201"}),
    "a page comment": ("comment", "20201", {"body": "x"}),
    "a page to move": ("move", "20201", {"to": "20101"}),
    "a place for a page": ("move", "20105", {"to": "20201"}),
    "an issue to delete": ("delete", "FERRY-6", {"explicit_action": "DELETE"}),
    "a page to delete": ("delete", "page:20201", {"explicit_action": "DELETE"}),
    "an attachment": ("delete", "attachment:12901", {"explicit_action": "DELETE"}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "subject", "options"), (CLOSED_READS | CLOSED_WRITES).values(), ids=str)
async def test_what_is_closed_is_refused_and_nothing_is_written(kind, command, subject, options):
    async with serve(kind, projects="APP", spaces="ENG") as server:
        error = await server.refused("PermissionError", command, subject, **options)
        assert "open to this server" in error
        writes = [one for one in server.sandbox.requests if one.method not in ("GET", "HEAD")]
        assert writes == []


@pytest.mark.parametrize("kind", KINDS)
async def test_searches_and_lists_stay_inside_what_is_open(kind):
    async with serve(kind, projects="APP", spaces="ENG") as server:
        found = await server.ok("search", "project in (APP, FERRY) ORDER BY key", limit=100, response_fields=["key"])
        assert {one["key"].partition("-")[0] for one in found["issues"]} == {"APP"}
        found = await server.ok("search", "summary ~ ticket OR project = FERRY", limit=100, response_fields=["key"])
        assert {one["key"].partition("-")[0] for one in found["issues"]} == {"APP"}
        found = await server.ok("search", "space = PROD or type = page", limit=100, product="confluence")
        assert {one["space"] for one in found["pages"]} == {"ENG"}
        assert [one["key"] for one in (await server.ok("list", "projects"))["projects"]] == ["APP"]
        assert [one["key"] for one in (await server.ok("list", "spaces"))["spaces"]] == ["ENG"]
        assert [one["name"] for one in (await server.ok("list", "boards"))["boards"]] == ["App kanban"]


@pytest.mark.parametrize("kind", KINDS)
async def test_issues_of_closed_projects_are_not_named_by_those_of_open_ones(kind):
    async with serve(kind, projects="FERRY") as server:
        issue = await server.ok("get", "FERRY-6")
        assert "HELP-3" not in str(issue)
        report = await server.ok("report", "FERRY-6", kind="dependencies")
        assert report["projects"] == ["FERRY"]
        assert "HELP" not in str(report)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_open_can_be_used(kind):
    async with serve(kind, projects="APP", spaces="ENG") as server:
        await server.ok("update", "APP-3", fields={"summary": "Brighter"})
        await server.ok("comment", "APP-3", body="x")
        await server.ok("get", "board:8")
        await server.ok("comment", "20102", comment_id="20901", body="Changed")
        await server.ok("update", "20105", old_text="10 to 60", new_text="10 to 70")
        made = await server.ok("create", "issue", project="APP", summary="x")
        await server.ok("delete", made["key"], explicit_action="DELETE")
