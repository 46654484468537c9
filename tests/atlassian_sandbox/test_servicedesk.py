DESK = "/rest/servicedeskapi"


async def test_queues_and_their_issues(site):
    [desk] = (await site.get(f"{DESK}/servicedesk"))["values"]
    assert (desk["id"], desk["projectKey"]) == ("4", "HELP")
    queues = (await site.get(f"{DESK}/servicedesk/4/queue", includeCount="true"))["values"]
    assert [(queue["name"], queue["issueCount"]) for queue in queues] == [
        ("All open", 7),
        ("Incidents", 2),
        ("Unassigned", 3),
    ]
    issues = (await site.get(f"{DESK}/servicedesk/4/queue/42/issue"))["values"]
    assert [issue["key"] for issue in issues] == ["HELP-8", "HELP-6"]


async def test_a_request_needs_the_fields_of_its_type(site):
    fields = (await site.get(f"{DESK}/servicedesk/4/requesttype/32/field"))["requestTypeFields"]
    assert [each["fieldId"] for each in fields if each["required"]] == ["summary", "description"]
    body = {"serviceDeskId": "4", "requestTypeId": "32", "requestFieldValues": {"summary": "Refund, please"}}
    refused = await site.refused(400, "POST", f"{DESK}/request", json=body)
    assert refused["errorMessage"].endswith("description: is required.")
    body["requestFieldValues"]["description"] = "Booking 4711"
    created = await site.ok("POST", f"{DESK}/request", json=body)
    request = await site.get(f"{DESK}/request/{created['issueKey']}", expand="requestType")
    assert request["requestType"]["name"] == "Refund a ticket"
    assert request["currentStatus"]["status"] == "Waiting for support"


async def test_customers_do_not_see_internal_comments(site):
    comments = (await site.get(f"{DESK}/request/HELP-3/comment", internal="false"))["values"]
    assert [each["body"] for each in comments] == ["Payments work again. Please excuse the trouble."]


async def test_agreements_on_time_are_met_or_breached(site):
    agreements = {each["name"]: each for each in (await site.get(f"{DESK}/request/HELP-5/sla"))["values"]}
    assert agreements["Time to first response"]["ongoingCycle"]["breached"]
    resolved = {each["name"]: each for each in (await site.get(f"{DESK}/request/HELP-3/sla"))["values"]}
    assert resolved["Time to resolution"]["completedCycles"][0]["breached"]


async def test_an_escalation_needs_the_affected_services(site):
    path = f"{site.jira}/issue/HELP-9/transitions"
    refused = await site.refused(400, "POST", path, json={"transition": {"id": "31"}})
    assert refused["errors"] == {"customfield_10031": "Affected services is required."}
    fields = {"customfield_10031": [{"value": "Booking site"}]}
    await site.ok("POST", path, json={"transition": {"id": "31"}, "fields": fields})
    assert (await site.get(f"{DESK}/request/HELP-9"))["currentStatus"]["status"] == "Escalated"
