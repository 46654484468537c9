"""Comments, work, transitions, links, files, watchers and history of issues."""

import pytest

PIXEL_START = b"\x89PNG"


async def test_a_comment_is_added_changed_and_deleted(site):
    path = f"{site.jira}/issue/FERRY-30/comment"
    added = await site.ok("POST", path, json={"body": site.rich("I am looking.")})
    changed = await site.ok("PUT", f"{path}/{added['id']}", json={"body": site.rich("Found it.")})
    assert changed["body"] == site.rich("Found it.")
    assert (await site.get(path))["total"] == 1
    await site.ok("DELETE", f"{path}/{added['id']}")
    assert (await site.get(path))["total"] == 0


async def test_a_comment_in_the_format_of_the_other_kind_is_refused(site):
    other = "plain" if site.kind == "cloud" else {"type": "doc", "version": 1, "content": []}
    await site.refused(400, "POST", f"{site.jira}/issue/FERRY-30/comment", json={"body": other})


async def test_time_is_logged_and_taken_from_the_remaining_estimate(site):
    path = f"{site.jira}/issue/FERRY-13"
    started = "2026-11-17T09:00:00.000+0100"
    log = await site.ok("POST", f"{path}/worklog", json={"timeSpent": "1h 30m", "started": started})
    assert (log["timeSpentSeconds"], log["started"]) == (5400, "2026-11-17T08:00:00.000+0000")
    tracking = (await site.get(path, fields="timetracking"))["fields"]["timetracking"]
    assert tracking["remainingEstimate"] == "2h 30m"
    assert tracking["timeSpent"] == "7h 30m"


async def test_a_duration_that_is_not_valid_is_refused(site):
    refused = await site.refused(400, "POST", f"{site.jira}/issue/FERRY-13/worklog", json={"timeSpent": "soon"})
    assert refused["errors"] == {"timeLogged": "The duration 'soon' is not valid. Use a form such as '3d 4h'."}


async def test_a_transition_needs_the_fields_of_its_screen(site):
    path = f"{site.jira}/issue/FERRY-12/transitions"
    names = {each["name"]: each["id"] for each in (await site.get(path))["transitions"]}
    assert list(names) == ["Done", "Block", "Back to work"]
    screen = (await site.get(path, expand="transitions.fields", transitionId=names["Done"]))["transitions"][0]["fields"]
    assert screen["resolution"]["required"]
    refused = await site.refused(400, "POST", path, json={"transition": {"id": names["Done"]}})
    assert refused["errors"] == {"resolution": "Resolution is required."}
    body = {
        "transition": {"id": names["Done"]},
        "fields": {"resolution": {"name": "Done"}},
        "update": {"comment": [{"add": {"body": site.rich("Merged.")}}]},
    }
    await site.ok("POST", path, json=body)
    issue = (await site.get(f"{site.jira}/issue/FERRY-12"))["fields"]
    assert (issue["status"]["name"], issue["resolution"]["name"]) == ("Done", "Done")
    assert issue["resolutiondate"] == "2026-11-17T12:00:00.000+0000"
    assert issue["comment"]["comments"][-1]["body"] == site.rich("Merged.")


async def test_a_transition_that_the_status_does_not_have_is_refused(site):
    refused = await site.refused(
        400, "POST", f"{site.jira}/issue/FERRY-30/transitions", json={"transition": {"id": "21"}}
    )
    assert refused["errorMessages"] == ["Transition id '21' is not valid for this issue."]


async def test_a_link_is_seen_from_both_ends(site):
    link = {"type": {"name": "Blocks"}, "inwardIssue": {"key": "FERRY-30"}, "outwardIssue": {"key": "APP-7"}}
    await site.ok("POST", f"{site.jira}/issueLink", json=link)
    [blocks] = (await site.get(f"{site.jira}/issue/FERRY-30"))["fields"]["issuelinks"]
    [blocked] = (await site.get(f"{site.jira}/issue/APP-7"))["fields"]["issuelinks"]
    assert (blocks["outwardIssue"]["key"], blocked["inwardIssue"]["key"]) == ("APP-7", "FERRY-30")
    await site.ok("DELETE", f"{site.jira}/issueLink/{blocks['id']}")
    assert (await site.get(f"{site.jira}/issue/APP-7"))["fields"]["issuelinks"] == []


async def test_a_link_to_a_hidden_issue_is_not_shown(site):
    jonas = site.as_user("jonas.weber")
    links = (await jonas.get(f"{site.jira}/issue/HELP-5"))["fields"]["issuelinks"]
    assert [each["inwardIssue"]["key"] for each in links] == ["FERRY-17"]


async def test_a_remote_link_with_the_same_global_id_is_replaced(site):
    path = f"{site.jira}/issue/FERRY-6/remotelink"
    target = {"url": "https://status.example/118", "title": "Incident"}
    await site.ok("POST", path, json={"globalId": "status-page-118", "object": target})
    [link] = await site.get(path)
    assert link["object"]["title"] == "Incident"
    await site.ok("DELETE", f"{path}/{link['id']}")
    assert await site.get(path) == []


async def test_a_file_comes_back_as_it_was_sent(site):
    content = bytes(range(256)) * 300 + b"\r\n--not-the-boundary"
    files = {"file": ("chart 1.bin", content, "application/x-chart")}
    path = f"{site.jira}/issue/FERRY-30/attachments"
    refused = await site.send("POST", path, files=files)
    assert refused.status_code == 403
    [attached] = await site.ok("POST", path, files=files, headers={"X-Atlassian-Token": "no-check"})
    assert (attached["filename"], attached["size"]) == ("chart 1.bin", len(content))
    download = await site.send("GET", attached["content"])
    if site.kind == "cloud":
        assert download.status_code == 303
        download = await site.send("GET", download.headers["location"], headers={"authorization": ""})
    assert download.content == content
    assert download.headers["content-type"] == "application/x-chart"


async def test_a_watcher_is_added_and_removed(site):
    path = f"{site.jira}/issue/FERRY-30/watchers"
    [emil] = await site.get(f"{site.jira}/user/search", **{"query" if site.kind == "cloud" else "username": "emil"})
    name, parameter = (emil["accountId"], "accountId") if site.kind == "cloud" else (emil["name"], "username")
    await site.ok("POST", path, json=name)
    assert [each["displayName"] for each in (await site.get(path))["watchers"]] == ["Priya Nair", "Emil Hansen"]
    await site.ok("DELETE", path, params={parameter: name})
    assert (await site.get(path))["watchCount"] == 1


async def test_the_history_of_an_issue_has_pages_on_cloud(cloud):
    changes = await cloud.get("/rest/api/3/issue/FERRY-6/changelog", maxResults=2)
    assert (changes["total"], changes["isLast"], len(changes["values"])) == (4, False, 2)
    assert changes["values"][1]["items"][0]["toString"] == "In Progress"


async def test_an_issue_moves_to_another_project_and_keeps_its_old_key(cloud):
    mapping = {
        "issueIdsOrKeys": ["FERRY-29"],
        "inferClassificationDefaults": True,
        "inferFieldDefaults": True,
        "inferStatusDefaults": True,
        "inferSubtaskTypeDefault": True,
    }
    body = {"targetToSourcesMapping": {"APP,10103": mapping}, "sendBulkNotification": False}
    task = await cloud.ok("POST", "/rest/api/3/bulk/issues/move", json=body)
    assert (await cloud.get(f"/rest/api/3/bulk/queue/{task['taskId']}"))["status"] == "COMPLETE"
    assert (await cloud.get("/rest/api/3/issue/FERRY-29"))["key"] == "APP-12"


@pytest.mark.parametrize("path", ["field", "issuetype", "status", "statuscategory", "filter/favourite"])
async def test_there_are_lists_of_what_can_be_set(site, path):
    assert await site.get(f"{site.jira}/{path}")


async def test_the_fields_of_a_new_issue_are_described(site):
    found = await site.get(f"{site.jira}/issue/createmeta/FERRY/issuetypes/10103")
    fields = {each["fieldId"]: each for each in found["fields" if site.kind == "cloud" else "values"]}
    assert [name for name, each in fields.items() if each["required"]] == ["project", "summary", "issuetype"]
    assert [each["value"] for each in fields["customfield_10030"]["allowedValues"]][:2] == ["Booking", "Payments"]


async def test_a_version_is_created_released_and_deleted(site):
    body = {"name": "2027.2", "projectId": 10010, "releaseDate": "2027-06-01"}
    version = await site.ok("POST", f"{site.jira}/version", json=body)
    path = f"{site.jira}/version/{version['id']}"
    assert (await site.ok("PUT", path, json={"released": True}))["released"]
    await site.ok("POST", f"{path}/removeAndSwap", json={})
    await site.refused(404, "GET", path)
