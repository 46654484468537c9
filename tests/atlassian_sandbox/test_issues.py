async def test_an_issue_has_the_fields_that_were_asked_for(site):
    issue = await site.get(f"{site.jira}/issue/FERRY-6", fields="summary,status")
    assert issue["key"] == "FERRY-6"
    assert set(issue["fields"]) == {"summary", "status"}
    assert issue["fields"]["status"]["statusCategory"]["key"] == "done"


async def test_a_rich_text_has_the_format_of_its_site(site):
    description = (await site.get(f"{site.jira}/issue/FERRY-6", fields="description"))["fields"]["description"]
    if site.kind == "cloud":
        assert description["type"] == "doc"
    else:
        assert description.startswith("A traveller paid with a voucher and a card.")
        assert "{{4000 0000 0000 0002}}" in description


async def test_a_user_has_an_account_id_on_cloud_and_a_name_on_data_center(site):
    user = (await site.get(f"{site.jira}/issue/FERRY-6", fields="assignee"))["fields"]["assignee"]
    assert user["displayName"] == "Jonas Weber"
    assert ("accountId" in user, "name" in user) == ((True, False) if site.kind == "cloud" else (False, True))


async def test_a_new_issue_can_be_read(site):
    fields = {
        "project": {"key": "FERRY"},
        "issuetype": {"name": "Bug"},
        "summary": "The map is empty",
        "description": site.rich("Since this morning."),
        "labels": ["map"],
        "customfield_10030": {"value": "Booking"},
        "customfield_10020": 23,
    }
    created = await site.ok("POST", f"{site.jira}/issue", json={"fields": fields})
    assert created["key"] == "FERRY-31"
    issue = await site.get(f"{site.jira}/issue/FERRY-31")
    assert issue["fields"]["summary"] == "The map is empty"
    assert issue["fields"]["description"] == site.rich("Since this morning.")
    assert issue["fields"]["customfield_10030"]["value"] == "Booking"
    assert issue["fields"]["status"]["name"] == "To Do"
    sprint = issue["fields"]["customfield_10020"][0]
    assert (sprint["name"] if site.kind == "cloud" else sprint).count("Ferry Sprint 14") == 1


async def test_all_fields_that_are_wrong_are_named(site):
    fields = {"project": {"key": "FERRY"}, "issuetype": {"name": "Wish"}, "summary": "x", "priority": {"name": "Now"}}
    refused = await site.refused(400, "POST", f"{site.jira}/issue", json={"fields": {**fields, "colour": "red"}})
    assert refused == {
        "errorMessages": [],
        "errors": {
            "issuetype": "Specify a valid issue type",
            "priority": "The priority selected is invalid.",
            "colour": "Field 'colour' cannot be set. It is not on the appropriate screen, or unknown.",
        },
    }


async def test_a_change_is_in_the_history(site):
    update = {
        "update": {"labels": [{"add": "urgent"}, {"remove": "data"}]},
        "fields": {"summary": "Same ticket number"},
    }
    await site.ok("PUT", f"{site.jira}/issue/FERRY-30", json=update)
    issue = await site.get(f"{site.jira}/issue/FERRY-30", fields="labels", expand="changelog")
    assert issue["fields"] == {"labels": ["urgent"]}
    items = issue["changelog"]["histories"][0]["items"]
    assert [(item["field"], item["fromString"], item["toString"]) for item in items] == [
        ("summary", "Two bookings share one ticket number", "Same ticket number"),
        ("labels", "data", "urgent"),
    ]


async def test_an_unknown_query_parameter_is_refused(site):
    refused = await site.refused(400, "GET", f"{site.jira}/issue/FERRY-6?field=summary")
    assert refused["errorMessages"][0].startswith("Unknown query parameter 'field'. Allowed: expand,")


async def test_an_unknown_body_field_is_refused(site):
    refused = await site.refused(400, "PUT", f"{site.jira}/issue/FERRY-6/assignee", json={"user": "x"})
    assert list(refused["errors"]) == ["user"]


async def test_an_issue_of_a_closed_project_does_not_exist_for_others(site):
    await site.get(f"{site.jira}/issue/PEOPLE-6")
    for user in ("jonas.weber", "sam.ortiz"):
        refused = await site.as_user(user).refused(404, "GET", f"{site.jira}/issue/PEOPLE-6")
        assert refused["errorMessages"] == ["Issue does not exist or you do not have permission to see it."]


async def test_a_reader_cannot_change_an_issue(site):
    guest = site.as_user("sam.ortiz")
    await guest.get(f"{site.jira}/issue/APP-1")
    await guest.refused(403, "PUT", f"{site.jira}/issue/APP-1", json={"fields": {"summary": "Mine"}})


async def test_an_issue_with_subtasks_is_deleted_only_with_them(site):
    refused = await site.refused(400, "DELETE", f"{site.jira}/issue/FERRY-13")
    assert "has subtasks" in refused["errorMessages"][0]
    await site.ok("DELETE", f"{site.jira}/issue/FERRY-13?deleteSubtasks=true")
    await site.refused(404, "GET", f"{site.jira}/issue/FERRY-14")


async def test_wrong_credentials_are_refused(site):
    await site.refused(401, "GET", f"{site.jira}/myself", headers={"authorization": "Bearer nothing"})
