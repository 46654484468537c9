AGILE = "/rest/agile/1.0"


async def test_boards_and_their_sprints(site):
    boards = (await site.get(f"{AGILE}/board", projectKeyOrId="FERRY"))["values"]
    assert [(board["id"], board["type"]) for board in boards] == [(7, "scrum")]
    sprints = (await site.get(f"{AGILE}/board/7/sprint", state="active,future"))["values"]
    assert [sprint["name"] for sprint in sprints] == ["Ferry Sprint 14", "Ferry Sprint 15"]
    refused = await site.refused(400, "GET", f"{AGILE}/board/8/sprint")
    assert refused["errorMessages"] == ["The board does not support sprints"]


async def test_the_backlog_is_in_its_rank(site):
    body = {"issues": ["FERRY-30"], "rankBeforeIssue": "FERRY-16"}
    await site.ok("PUT", f"{AGILE}/issue/rank", json=body)
    path = "/rest/software/1.0/board/7/backlog" if site.kind == "cloud" else f"{AGILE}/board/7/backlog"
    found = await site.get(path, fields="summary", maxResults=3)
    assert [issue["key"] for issue in found["issues"]] == ["FERRY-30", "FERRY-16", "FERRY-17"]
    assert ("nextPageToken" in found) == (site.kind == "cloud")


async def test_a_sprint_is_planned_started_and_completed(site):
    sprint = await site.ok("POST", f"{AGILE}/sprint", json={"name": "Next", "originBoardId": 7, "goal": "Cabins"})
    path = f"{AGILE}/sprint/{sprint['id']}"
    await site.ok("POST", f"{path}/issue", json={"issues": ["FERRY-27", "FERRY-30"]})
    assert await site.search(f"sprint = {sprint['id']} ORDER BY key") == ["FERRY-27", "FERRY-30"]
    await site.ok("POST", f"{AGILE}/backlog/issue", json={"issues": ["FERRY-27"]})
    assert await site.search(f"sprint = {sprint['id']}") == ["FERRY-30"]
    await site.refused(400, "POST", path, json={"state": "active"})
    dates = {"startDate": "2026-11-18T09:00:00.000Z", "endDate": "2026-12-02T09:00:00.000Z"}
    assert (await site.ok("POST", path, json={"state": "active", **dates}))["state"] == "active"
    assert (await site.ok("POST", path, json={"state": "closed"}))["completeDate"] == "2026-11-17T12:00:00.000Z"
    await site.refused(400, "POST", f"{path}/issue", json={"issues": ["FERRY-27"]})


async def test_an_issue_is_put_into_an_epic(site):
    await site.ok("POST", f"{AGILE}/epic/FERRY-3/issue", json={"issues": ["FERRY-27"]})
    fields = (await site.get(f"{site.jira}/issue/FERRY-27"))["fields"]
    epic = fields["parent"]["key"] if site.kind == "cloud" else fields["customfield_10014"]
    assert epic == "FERRY-3"
    epics = (await site.get(f"{AGILE}/board/7/epic", done="false"))["values"]
    assert {each["key"] for each in epics} == {"FERRY-2", "FERRY-3"}
