"""Commands that read, on Cloud and on Data Center."""

import pytest

from tests.mcp_atl.server import Server


@pytest.mark.requirement("ATL-3")
async def test_a_health_check_says_who_one_is_and_that_this_is_the_sandbox(server: Server):
    value = await server.ok("health_check")
    assert value["sandbox"] == "This is the built-in sandbox with made-up data, not a real site."
    assert value["jira"]["ok"]
    assert value["confluence"]["user"]["name"] == "Mia Keller"


@pytest.mark.requirement("ATL-4")
async def test_users_are_found_by_name_and_the_current_user_by_default(server: Server):
    assert (await server.ok("user_info"))["name"] == "Mia Keller"
    assert (await server.ok("user_info", "Tomás Silva"))["email"] == "tomas.silva@harbourline.example"
    found = await server.ok("search_users", "anna", limit=1, response_fields=["name"])
    assert found == {"users": [{"name": "Anna Berg"}], "next_cursor": "1"}


@pytest.mark.requirement("ATL-4")
async def test_a_user_who_left_is_found_only_if_asked_for(server: Server):
    active = await server.ok("search_users", "a", limit=100)
    everyone = await server.ok("search_users", "a", limit=100, active_only=False)
    assert all(user["active"] for user in active["users"])
    assert len(everyone["users"]) >= len(active["users"])


async def test_a_name_that_fits_several_users_is_an_error_with_the_candidates(server: Server):
    error = await server.refused("ValidationError", "user_info", "anna")
    assert "2 users match 'anna'" in error
    assert "Anna Berg" in error
    assert "Anna Lindqvist" in error


@pytest.mark.requirement("ATL-5")
async def test_all_pages_of_a_search_are_reached_with_the_cursor(server: Server):
    keys: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await server.ok("search", "project = FERRY ORDER BY key", limit=7, response_fields=["key"], **cursor)
        keys += [issue["key"] for issue in page["issues"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(keys) == len(set(keys)) == (await server.ok("search", "project = FERRY", count_only=True))["issues"]


@pytest.mark.requirement("ATL-2")
async def test_only_the_fields_that_were_asked_for_come_back_and_are_asked_of_the_site(server: Server):
    wanted = ["key", "status.name", "Story Points"]
    page = await server.ok("search", "project = APP ORDER BY key", limit=2, response_fields=wanted)
    assert [set(issue) for issue in page["issues"]] == [{"key", "status", "Story Points"}] * 2
    assert page["issues"][0]["status"] == {"name": "In Progress"}
    sent = next(one for one in server.sandbox.requests if "search" in one.path)
    assert b'"fields":["status","customfield_10016"]' in sent.content


@pytest.mark.requirement("ATL-2")
async def test_a_field_that_does_not_exist_is_answered_with_those_that_do(server: Server):
    error = await server.refused("ValidationError", "get", "APP-1", response_fields=["assignee.nmae"])
    assert "Did you mean assignee.name? It has: assignee.id, assignee.name" in error
    error = await server.refused("ValidationError", "get", "APP-1", response_fields=["Storypoint"])
    assert "Did you mean 'Story Points'" in error


async def test_plain_words_search_issues_and_pages(server: Server):
    value = await server.ok("search", "ticket", limit=3)
    assert value["issues"]
    assert value["pages"]
    assert value["pages"][0].keys() >= {"id", "title", "space", "excerpt"}


@pytest.mark.parametrize(
    ("wanted", "of_issues", "of_pages"),
    [
        (["key", "summary"], {"key", "summary"}, {"id"}),
        (["title", "excerpt"], {"key"}, {"title", "excerpt"}),
        (["key", "title", "updated"], {"key", "updated"}, {"title", "updated"}),
    ],
)
async def test_issues_and_pages_beside_each_other_have_those_of_the_fields_that_are_theirs(
    server: Server, wanted: list[str], of_issues: set[str], of_pages: set[str]
):
    value = await server.ok("search", "ticket", limit=2, response_fields=wanted)
    assert [set(issue) for issue in value["issues"]] == [of_issues] * 2
    assert [set(page) for page in value["pages"]] == [of_pages] * 2
    more = await server.ok("search", "ticket", limit=2, response_fields=wanted, cursor=value["next_cursor"])
    assert {*more} <= {"issues", "pages", "total", "next_cursor"}
    error = await server.refused("ValidationError", "search", "ticket", response_fields=[*wanted, "sumary"])
    assert error.startswith("No field is called 'sumary'. Did you mean 'Summary'?")


async def test_a_table_has_the_names_of_the_columns_once(server: Server):
    value = await server.ok(
        "search", "project = APP ORDER BY key", limit=2, format="table", response_fields=["key", "status"]
    )
    assert value["issues"] == {"columns": ["key", "status"], "rows": [["APP-1", "In Progress"], ["APP-2", "Done"]]}


@pytest.mark.requirement("ATL-5")
async def test_an_issue_is_read_with_what_belongs_to_it(server: Server):
    details = ["comments", "worklogs", "transitions", "watchers", "remote_links", "changelog", "attachments"]
    value = await server.ok("get", "FERRY-6", include=details)
    assert value["summary"] == "Voucher is charged twice when the card is declined"
    assert value["worklogs"][0].keys() >= {"id", "author", "started", "time"}
    assert value["links"][0]["key"] == "HELP-3"
    assert "self" not in str(value)
    assert "None" not in str(value)


async def test_one_issue_that_cannot_be_read_does_not_hide_the_others(server: Server):
    value = await server.ok("get", "APP-1, APP-9999", response_fields=["key"])
    assert value["items"] == [{"key": "APP-1"}]
    assert value["notes"][0].startswith("APP-9999: The site did not find it")


@pytest.mark.requirement("ATL-6")
async def test_a_page_is_read_as_an_outline_a_section_and_a_whole(server: Server):
    outline = await server.ok("get", "20105", part="outline", response_fields=["outline"])
    assert [one.rpartition(" (")[0] for one in outline["outline"]] == [
        "1 Goal",
        "2 Data",
        "3 Prices",
        "4 Open questions",
    ]
    section = await server.ok("get", "page:ENG/Group bookings: technical design", part="2")
    assert section["body"].startswith("## Data\n\n```sql\ncreate table traveller")
    whole = await server.ok("get", "20105")
    assert section["body"] in whole["body"]


async def test_a_long_body_is_cut_with_a_cursor_that_goes_on(server: Server):
    whole = (await server.ok("get", "20105"))["body"]
    first = await server.ok("get", "20105", budget=200)
    parts, cursor = [first["body"]], first.get("next_cursor")
    while cursor:
        more = await server.ok("get", "20105", budget=200, cursor=cursor)
        parts.append(more["body"])
        cursor = more.get("next_cursor")
    assert "".join(parts) == whole


@pytest.mark.requirement("ATL-6")
async def test_labels_children_comments_and_restrictions_of_a_page(server: Server):
    value = await server.ok("get", "20105", include=["labels", "children", "comments", "attachments", "restrictions"])
    assert value["labels"] == ["design", "groups"]
    assert value["comments"][0]["selection"] == "discount is applied to the whole group"


LISTS = {
    "projects": {},
    "fields": {},
    "issue_types": {"project": "APP"},
    "create_fields": {"project": "APP", "type": "Bug"},
    "field_options": {"field": "priority", "issue": "APP-6"},
    "versions": {"project": "FERRY"},
    "components": {"project": "FERRY"},
    "link_types": {},
    "transitions": {"issue": "APP-6"},
    "priorities": {},
    "statuses": {"project": "APP"},
    "boards": {},
    "sprints": {"board": 7},
    "spaces": {},
    "pages": {"space": "ENG"},
    "service_desks": {},
    "queues": {"service_desk": 4},
    "request_types": {"service_desk": 4},
}


@pytest.mark.requirement("ATL-5", "ATL-6")
@pytest.mark.parametrize(("kind", "options"), LISTS.items(), ids=LISTS)
async def test_everything_that_can_be_listed_is_listed(server: Server, kind: str, options: dict[str, object]):
    value = await server.ok("list", kind, **options)
    assert value[kind]
    assert not any("self" in one for one in value[kind])


async def test_a_list_without_what_it_needs_says_what_is_missing(server: Server):
    error = await server.refused("ValidationError", "list", "sprints")
    assert error == (
        "parameters.board: is required to list 'sprints': sprints belong to a board; list boards shows their ids."
    )


async def test_the_versions_of_a_page_and_how_they_differ(server: Server):
    await server.ok("update", "20105", old_text="Groups of 10 to 60", new_text="Groups of 10 to 80")
    versions = await server.ok("history", "20105", response_fields=["version"])
    assert versions == {"versions": [{"version": 2}, {"version": 1}]}
    diff = (await server.ok("history", "20105", diff=[1]))["diff"]
    assert "-Groups of 10 to 60 travellers" in diff
    assert "+Groups of 10 to 80 travellers" in diff


async def test_reports_are_worked_out_from_what_the_site_has(server: Server):
    times = await server.ok("report", "APP-3", kind="time_in_status")
    assert times["issues"][0]["days_in_status"] == {"To Do": 10.0, "In Progress": 10.0, "In Review": 10.0}
    links = await server.ok("report", "FERRY-6", kind="dependencies")
    assert links["projects"] == ["FERRY", "HELP"]
    assert (await server.ok("report", "HELP-3", kind="sla"))["issues"][0]["sla"]


@pytest.mark.requirement("ATL-10")
async def test_an_unknown_parameter_is_refused_with_those_that_the_command_takes(server: Server):
    error = await server.refused("ValidationError", "search", "project = APP", lmit=3)
    assert "parameters.lmit: is not an argument here" in error
    assert "it takes site, limit, cursor, format, count_only (did you mean limit?)" in error


@pytest.mark.requirement("ATL-10")
async def test_help_shows_what_a_command_takes(server: Server):
    value = await server.ok("help", "worklog")
    assert value["parameters"]["time"] == "text: As Jira writes it: 30m, 2h 30m, 1d."
    assert value["examples"][0]["call"]["subject"] == "APP-3"
    assert "delete" in (await server.ok("help"))["commands"]


async def test_people_of_pages_have_names_and_one_request_asks_for_all_of_them(server: Server):
    page = await server.ok(
        "get", "20102", include=["comments"], response_fields=["author.name", "comments.author.name"]
    )
    assert page["author"] == {"name": "Mia Keller"}
    assert {"author": {"name": "Anna Berg"}} in page["comments"]
    assert {"author": {"name": "Emil Hansen"}} in page["comments"]
    is_cloud = server.sandbox.kind == "cloud"
    assert [one.path for one in server.sandbox.requests].count("/wiki/api/v2/users-bulk") == is_cloud
    versions = await server.ok("history", "20102", response_fields=["by.name"])
    assert versions["versions"][0] == {"by": {"name": "Mia Keller"}}


async def test_people_who_cannot_be_looked_up_keep_their_ids(cloud: Server):
    cloud.sandbox.faults.fail(403, path="*/users-bulk")
    page = await cloud.ok("get", "20102", response_fields=["author", "title"])
    assert page["title"] == "Release process"
    assert page["author"]["id"].startswith("712020:")


async def test_no_names_are_asked_for_that_are_not_shown(cloud: Server):
    await cloud.ok("get", "20102", response_fields=["title"])
    assert not [one for one in cloud.sandbox.requests if "users-bulk" in one.path]


async def test_a_queue_of_a_service_desk_is_searched_by_its_own_query(server: Server):
    queue = (await server.ok("list", "queues", service_desk=4))["queues"][0]
    by_scope = await server.ok("search", f"queue:{queue['id']}", response_fields=["key"], limit=50)
    by_query = await server.ok("search", queue["jql"], response_fields=["key"], limit=50)
    assert by_scope["issues"]
    assert sorted(one["key"] for one in by_scope["issues"]) == sorted(one["key"] for one in by_query["issues"])
    error = await server.refused("NotFoundError", "search", "queue:999")
    assert "No service desk has a queue '999'" in error
