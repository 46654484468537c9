"""Commands that change something, on Cloud and on Data Center."""

import pytest

from tests.mcp_atl.server import Server, serve
from toolcharter.hosts import Answer, Question, Reply, Request


@pytest.mark.requirement("ATL-5", "ATL-7")
async def test_an_issue_is_created_with_fields_by_name_and_read_back_as_markdown(server: Server):
    text = "# Steps\n\n1. Open the **app**\n2. See `502`\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"
    made = await server.ok(
        "create",
        "issue",
        project="APP",
        type="Bug",
        summary="Login fails",
        description=text,
        fields={"Story Points": 3, "assignee": "Anna Berg", "labels": ["login"], "priority": "High", "due": "+3d"},
    )
    fields = ["description", "Story Points", "assignee.name", "labels", "priority", "due"]
    value = await server.ok("get", made["key"], response_fields=fields)
    assert value["description"] == text
    assert value["Story Points"] == 3
    assert value["assignee"] == {"name": "Anna Berg"}
    assert value["priority"] == "High"


async def test_a_dry_run_checks_the_form_and_creates_nothing(server: Server):
    before = await server.ok("search", "project = APP", count_only=True)
    value = await server.ok("create", "issue", project="APP", type="Bug", summary="x", dry_run=True)
    assert value["dry_run"]
    error = await server.refused(
        "ValidationError", "create", "issue", project="APP", type="Bugg", summary="x", dry_run=True
    )
    assert "has no issue type 'Bugg'. It has: Epic, Story, Task, Bug, Sub-task" in error
    assert await server.ok("search", "project = APP", count_only=True) == before


async def test_many_issues_are_created_and_those_that_fail_are_named(server: Server):
    value = await server.ok(
        "create", "issues", project="APP", issues=[{"summary": "a"}, {"summary": "b", "type": "Bug"}]
    )
    assert len(value["keys"]) == 2
    error = await server.refused("ValidationError", "create", "issues", project="APP", issues=[{"type": "Bug"}])
    assert "the entries 0 have no summary" in error


@pytest.mark.requirement("ATL-5")
async def test_an_issue_goes_along_its_workflow_with_the_fields_that_it_demands(server: Server):
    error = await server.refused("ValidationError", "transition", "APP-3", to="Done")
    assert "requires the fields: Resolution" in error
    value = await server.ok("transition", "APP-3", to="Done", fields={"resolution": "Done"}, comment="Ready.")
    assert value == {"key": "APP-3", "status": "Done", "transition": "Done"}
    error = await server.refused("ValidationError", "transition", "APP-3", to="Nowhere")
    assert "has no transition 'Nowhere' now. Available:" in error


@pytest.mark.requirement("ATL-5")
async def test_comments_work_links_watchers_and_assignees(server: Server):
    comment = await server.ok("comment", "APP-3", body="Works **now**.")
    await server.ok("comment", "APP-3", comment_id=comment["id"], body="Works *well*.")
    work = await server.ok("worklog", "APP-3", time="1h 30m", comment="Tests")
    await server.ok("worklog", "APP-3", worklog_id=work["id"], time="2h")
    await server.ok("link", "APP-3", to="APP-4", type="is blocked by")
    await server.ok("link", "APP-3", to="https://example.com/design", title="Design")
    await server.ok(
        "update", "APP-3", fields={"assignee": "Anna Berg"}, add={"watchers": ["Anna Berg"], "labels": ["x"]}
    )
    value = await server.ok("get", "APP-3", include=["comments", "worklogs", "watchers", "remote_links"])
    assert value["comments"][-1]["body"] == "Works *well*."
    assert value["worklogs"][-1]["time"] == "2h"
    assert value["links"][-1]["type"] == "is blocked by"
    assert value["remote_links"][-1]["url"] == "https://example.com/design"
    assert "Anna Berg" in [one["name"] for one in value["watchers"]]
    assert "x" in value["labels"]
    await server.ok("link", "APP-3", to="APP-4", type="is blocked by", remove=True)
    assert "links" not in await server.ok("get", "APP-3")


async def test_an_internal_comment_is_for_the_team_alone(server: Server):
    made = await server.ok("comment", "HELP-3", body="Ask the **crew**.", internal=True)
    issue = next(one for one in server.sandbox.state.issues.values() if one.key == "HELP-3")
    assert [one.public for one in issue.comments if one.id == made["id"]] == [False]
    error = await server.refused(
        "ValidationError", "comment", "HELP-3", body="x", internal=True, visible_to="role:Developers"
    )
    assert "internal and visible_to cannot be combined" in error


@pytest.mark.requirement("ATL-6")
async def test_a_page_is_created_changed_in_one_section_commented_labelled_and_deleted(server: Server):
    text = "Intro.\n\n## One\n\nFirst.\n\n## Two\n\nSecond."
    page = await server.ok("create", "page", space="ENG", title="New page", body=text)
    changed = await server.ok("update", page["id"], section="One", body="Changed **text**.", version=1)
    assert changed["version"] == 2
    assert changed["change"] == "section 1 'One': 1 changed"
    await server.ok("update", page["id"], labels=["draft", "eng"])
    await server.ok("comment", page["id"], body="Good.")
    value = await server.ok("get", page["id"], include=["labels", "comments"])
    assert value["body"] == text.replace("First.", "Changed **text**.")
    assert sorted(value["labels"]) == ["draft", "eng"]
    assert value["comments"][0]["body"] == "Good."
    await server.ok("delete", f"page:{page['id']}", explicit_action="DELETE")
    await server.refused("NotFoundError", "get", page["id"])


async def test_a_page_that_somebody_saved_meanwhile_is_not_overwritten(server: Server):
    await server.ok("update", "20105", old_text="10 to 60", new_text="10 to 70")
    error = await server.refused("ConflictError", "update", "20105", section="Goal", body="x", version=1)
    assert "is at version 2, not 1: Mia Keller saved it at" in error
    assert "Nothing was written" in error
    answer = await server.call("update", "20105", section="Goal", body="x", version=1)
    assert answer["instruction"] == "Suggest reading the page again before retrying."


async def test_an_edit_leaves_every_other_node_of_the_page(server: Server):
    before = await server.ok("get", "20105")
    await server.ok("update", "20105", old_text="10 to 60", new_text="10 to 70")
    after = await server.ok("get", "20105")
    assert after["body"] == before["body"].replace("10 to 60", "10 to 70")


async def test_issues_are_planned_and_pages_moved_and_copied(server: Server):
    assert (await server.ok("move", "APP-3", to="backlog"))["to"] == "backlog"
    copy = await server.ok("move", "20105", to="20101", copy_as="Copied")
    assert copy["title"] == "Copied"
    assert (await server.ok("move", "20105", to="20101"))["moved"] == ["20105"]


async def test_versions_sprints_and_requests_are_created(server: Server):
    version = await server.ok("create", "version", project="APP", name="9.9", end="+1m")
    assert (await server.ok("update", f"version:{version['id']}", fields={"released": True}))["released"]
    sprint = await server.ok("create", "sprint", board=7, name="Sprint X", goal="All green")
    assert sprint["state"] == "future"
    request = await server.ok("create", "request", service_desk=4, request_type=31, summary="Help me")
    assert request["key"].startswith("HELP-")


@pytest.mark.requirement("CON-1", "CON-2")
async def test_nothing_is_deleted_without_the_literal(server: Server):
    error = await server.refused("ValidationError", "delete", "APP-4")
    assert "parameters" in error
    error = await server.refused("ValidationError", "delete", "APP-4", explicit_action="YES")
    assert "the user must ask for exactly this action" in error
    await server.ok("get", "APP-4")
    value = await server.ok("delete", "APP-4", explicit_action="DELETE")
    assert value == {"deleted": "issue APP-4 'Add the ticket to the wallet of the phone' on sandbox"}
    await server.refused("NotFoundError", "get", "APP-4")


@pytest.mark.requirement("CON-3")
async def test_the_person_is_asked_about_the_issue_by_its_name_and_a_yes_is_for_that_one(server: Server):
    arguments = {"subject": "APP-4", "parameters": {"explicit_action": "DELETE"}}
    call = Request("atl_delete", arguments, server.app.local_caller, can_return_questions=True)
    question = await server.app.answer(call)
    assert isinstance(question, Question)
    issue = "issue APP-4 'Add the ticket to the wallet of the phone' on sandbox"
    assert question.text == f"Delete {issue}? This cannot be undone."
    await server.ok("update", "APP-4", fields={"summary": "Another issue"})
    changed = await server.app.answer(call._replace(reply=Reply(question.state, accepted=True)))
    assert isinstance(changed, Answer)
    assert "about another call" in changed.text
    await server.ok("get", "APP-4")


async def test_sub_tasks_go_only_if_that_is_said(server: Server):
    error = await server.refused("ValidationError", "delete", "FERRY-13", explicit_action="DELETE")
    assert "has 2 sub-tasks, which would go too" in error


@pytest.mark.requirement("ATL-11")
async def test_read_only_mode_hides_and_refuses_every_write():
    async with serve("cloud", read_only=True) as server:
        names = {tool.name for tool in server.app.list_tools()}
        assert names == {
            "atl_health_check", "atl_help", "atl_user_info", "atl_search_users", "atl_search", "atl_get", "atl_list",
            "atl_history", "atl_report", "atl_download",
        }  # fmt: skip
