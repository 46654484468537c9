import pytest

QUERIES = {
    'project = FERRY AND fixVersion = "2026.3" AND statusCategory = "In Progress" ORDER BY key': [
        "FERRY-2", "FERRY-12", "FERRY-13", "FERRY-18", "FERRY-19",
    ],
    "sprint in openSprints() AND assignee = currentUser() AND statusCategory != Done ORDER BY key ASC": [
        "FERRY-13", "FERRY-20",
    ],
    "labels in (vouchers, wallet) AND resolution = Unresolved ORDER BY created": ["APP-4", "HELP-7"],
    "labels not in (groups) AND project = HELP AND labels is not EMPTY ORDER BY key": ["HELP-3", "HELP-6", "HELP-7"],
    "project in (PEOPLE) AND NOT (status = Done OR due > 21d) ORDER BY due": ["PEOPLE-3", "PEOPLE-1"],
    'text ~ "ticket number"': ["FERRY-30"],
    'summary ~ "vouch*" AND type = Bug': ["FERRY-6"],
    '"Story Points" > 8 ORDER BY key': ["APP-8", "FERRY-27"],
    "cf[10016] = 13 ORDER BY key DESC": ["FERRY-27", "APP-8"],
    "priority >= High AND project = APP AND status = 'To Do'": ["APP-11"],
    "created >= startOfDay(-1d) ORDER BY created DESC": ["HELP-9", "FERRY-30", "HELP-8", "HELP-7"],
    "created <= -60d AND project = FERRY ORDER BY key": ["FERRY-1", "FERRY-2", "FERRY-4"],
    "key in (FERRY-1, APP-1) ORDER BY key": ["APP-1", "FERRY-1"],
    "parent = FERRY-13 ORDER BY key": ["FERRY-14", "FERRY-15"],
    "issue in linkedIssues(FERRY-12)": ["FERRY-16"],
    'issue in linkedIssues(FERRY-12, "is blocked by")': [],
    'issueLinkType = "is blocked by" AND project = FERRY ORDER BY key': ["FERRY-16", "FERRY-18", "FERRY-20"],
    "status changed to Done during (-6d, now()) by emil.hansen": ["FERRY-9"],
    "assignee was jonas.weber AND project = HELP": ["HELP-3"],
    'filter = "Open bugs" AND project = APP ORDER BY key': ["APP-6", "APP-9"],
    "worklogAuthor = tomas.silva": ["APP-4"],
    'team = "Payments" AND statusCategory = "To Do"': ["FERRY-16"],
}  # fmt: skip


@pytest.mark.parametrize("jql", QUERIES)
async def test_a_query_selects_issues(site, jql):
    assert await site.search(jql) == QUERIES[jql]


ERRORS = {
    "project = FERRY AND": "Error in the JQL Query: Expecting a field name before the end of the query.",
    "project = AND": "Error in the JQL Query: Expecting either a value, list or function but got 'AND'.",
    'summary ~ "open': "Error in the JQL Query: The quoted string has not been completed. (line 1, character 11)",
    "colour = red": "Field 'colour' does not exist or you do not have permission to view it.",
    "project = NOPE": "The value 'NOPE' does not exist for the field 'project'.",
    "status ~ Done": "The operator '~' is not supported by the 'status' field.",
    "created > yesterday": "Date value 'yesterday' for field 'created' is invalid.",
    "sprint in brightSprints()": "Unable to find JQL function 'brightSprints()' for the field 'sprint'.",
    "project = FERRY status = Done": "Error in the JQL Query: Expecting either 'OR' or 'AND' but got 'status'.",
}


@pytest.mark.parametrize("jql", ERRORS)
async def test_a_query_that_cannot_be_read_is_explained(site, jql):
    path = site.jira + ("/search/jql" if site.kind == "cloud" else "/search")
    refused = await site.refused(400, "POST", path, json={"jql": jql})
    assert refused["errorMessages"][0].startswith(ERRORS[jql])


async def test_a_search_finds_only_what_the_user_can_see(site):
    assert await site.search("project = PEOPLE AND due < 10d") == ["PEOPLE-3"]
    path = site.jira + ("/search/jql" if site.kind == "cloud" else "/search")
    refused = await site.as_user("sam.ortiz").refused(400, "POST", path, json={"jql": "project = PEOPLE"})
    assert refused["errorMessages"] == ["The value 'PEOPLE' does not exist for the field 'project'."]


async def test_cloud_pages_with_a_token(cloud):
    query = {"jql": "project = APP ORDER BY key", "maxResults": 6, "fields": "summary"}
    first = await cloud.get("/rest/api/3/search/jql", **query)
    second = await cloud.get("/rest/api/3/search/jql", **query, nextPageToken=first["nextPageToken"])
    assert (len(first["issues"]), first["isLast"]) == (6, False)
    assert (len(second["issues"]), second["isLast"], "nextPageToken" in second) == (5, True, False)


async def test_data_center_pages_with_an_index(datacenter):
    found = await datacenter.get("/rest/api/2/search", jql="project = APP", startAt=6, maxResults=6)
    assert (found["total"], found["startAt"], len(found["issues"])) == (11, 6, 5)


async def test_cloud_refuses_a_query_without_a_condition(cloud):
    refused = await cloud.refused(400, "GET", "/rest/api/3/search/jql?jql=order%20by%20created")
    assert refused["errorMessages"][0].startswith("Unbounded JQL queries are not allowed here.")


async def test_cloud_counts(cloud):
    assert await cloud.ok("POST", "/rest/api/3/search/approximate-count", json={"jql": "project = HELP"}) == {
        "count": 10
    }
