"""What Cloud and Data Center have in common, and the API of Data Center."""

import json

import pytest

V2 = "/wiki/api/v2"
DC = "/confluence/rest/api"

QUERIES = {
    'type = page AND space = ENG AND label = "how-to" ORDER BY title': ["On-call handbook", "Release process"],
    'title ~ "meeting" AND type = page ORDER BY title': [
        "Meeting notes", "Product meeting, week 45", "Product meeting, week 46",
    ],
    'text ~ "bicycles" AND type = page ORDER BY created': [
        "Group bookings: technical design", "Product meeting, week 46",
    ],
    'siteSearch ~ "double charges" AND type = page': ["Incident 2026-11-01: double charges"],
    "ancestor = 20206 ORDER BY created": ["Product meeting, week 45", "Product meeting, week 46"],
    "parent = 20301 AND label in (confidential)": ["Salary bands 2027"],
    "type = comment AND creator = currentUser()": ["Re: Release process"],
    "type = attachment AND title ~ architecture": ["architecture.png"],
    'lastmodified > -5d AND type = page AND NOT label = "x"': ["Product meeting, week 46"],
    "macro = pagetree": ["Meeting notes"],
    "type = space AND title = Product": ["Product"],
    "space in (HR) AND created >= startOfMonth(-1M) AND type != space": ["Salary bands 2027"],
}  # fmt: skip


@pytest.mark.parametrize("cql", QUERIES)
async def test_a_query_selects_content(site, cql):
    found = await site.get(f"{site.wiki}/search", cql=cql)
    assert [each["title"] for each in found["results"]] == QUERIES[cql]
    assert found["totalSize"] == len(QUERIES[cql])


@pytest.mark.parametrize("cql", ["colour = red", "type =", "type ~ page", "created > soon", "creator = nobody()"])
async def test_a_query_that_cannot_be_read_is_explained(site, cql):
    refused = await site.refused(400, "GET", f"{site.wiki}/search", params={"cql": cql})
    assert refused["message"].startswith("Could not parse cql")


async def test_a_search_continues_where_it_ended(site):
    titles: list[str] = []
    path = f"{site.wiki}/search?cql=type%3Dpage&limit=8"
    while path:
        found = await site.get(path)
        titles += [each["title"] for each in found["results"]]
        following = found["_links"].get("next")
        path = found["_links"]["context"] + following if following else None
    assert len(set(titles)) == len(titles) == 20


async def test_a_search_does_not_find_restricted_pages(site):
    found = await site.as_user("jonas.weber").get(f"{site.wiki}/search", cql="title ~ salary")
    assert found["results"] == []


async def test_labels_are_added_and_removed(site):
    path = f"{site.wiki}/content/20103/label"
    added = await site.ok("POST", path, json=[{"prefix": "global", "name": "urgent"}])
    assert [each["name"] for each in added["results"]] == ["on-call", "how-to", "urgent"]
    await site.ok("DELETE", f"{path}/how-to")
    await site.refused(404, "DELETE", f"{path}?name=how-to")


async def test_restrictions_decide_who_can_read(site):
    jonas = site.as_user("jonas.weber")
    path = f"{site.wiki}/content/20303/restriction"
    read = {"operation": "read", "restrictions": {"user": [], "group": [{"type": "group", "name": "people-team"}]}}
    if site.kind == "cloud":
        groups = await site.get(f"{site.wiki}/group/picker", query="people-team")
        read["restrictions"]["group"] = [{"type": "group", "id": groups["results"][0]["id"]}]
    await site.ok("PUT", path, json=[read])
    page = f"{V2}/pages/20303" if site.kind == "cloud" else f"{DC}/content/20303"
    await jonas.refused(404, "GET", page)
    by_operation = await site.get(f"{path}/byOperation")
    assert [each["name"] for each in by_operation["read"]["restrictions"]["group"]["results"]] == ["people-team"]
    await site.ok("PUT", path, json=[{"operation": "read", "restrictions": {"user": [], "group": []}}])
    await jonas.get(page)


async def test_nobody_locks_themselves_out(site):
    jonas = site.as_user("jonas.weber")
    read = {"operation": "read", "restrictions": {"user": [], "group": [{"type": "group", "name": "people-team"}]}}
    if site.kind == "cloud":
        groups = await site.get(f"{site.wiki}/group/picker", query="people-team")
        read["restrictions"]["group"] = [{"type": "group", "id": groups["results"][0]["id"]}]
    await jonas.refused(400, "PUT", f"{site.wiki}/content/20103/restriction", json=[read])


async def test_a_file_of_a_page_comes_back_as_it_was_sent(site):
    content = b"\x00\r\n\xff" * 1000
    files = {"file": ("plan.pdf", content, "application/pdf")}
    path = f"{site.wiki}/content/20103/child/attachment"
    header = {"X-Atlassian-Token": "nocheck"}
    data = {"minorEdit": "true", "comment": "First plan"}
    [file] = (await site.ok("POST", path, files=files, data=data, headers=header))["results"]
    assert file["extensions"]["fileSize"] == len(content)
    context = "/wiki" if site.kind == "cloud" else "/confluence"
    assert (await site.send("GET", context + file["_links"]["download"])).content == content
    await site.refused(400, "POST", path, files=files, data=data, headers=header)
    newer = {"file": ("plan.pdf", b"2", "application/pdf")}
    await site.ok("POST", f"{path}/{file['id']}/data", files=newer, data=data, headers=header)
    assert (await site.send("GET", f"{context}/download/attachments/20103/plan.pdf")).content == b"2"


# ---- Cloud ---------------------------------------------------------------------------------------


async def test_the_tree_of_pages(cloud):
    children = await cloud.get(f"{V2}/pages/20201/direct-children")
    assert [each["title"] for each in children["results"]][:2] == ["Roadmap 2027", "Group bookings"]
    below = await cloud.get(f"{V2}/pages/20201/descendants")
    assert {(each["id"], each["depth"]) for each in below["results"]} >= {("20203", 1), ("20204", 2)}
    assert (await cloud.get(f"{V2}/pages/20204/ancestors"))["results"] == [
        {"id": "20201", "type": "page"},
        {"id": "20203", "type": "page"},
    ]


async def test_comments_of_both_places(cloud):
    [comment] = (await cloud.get(f"{V2}/pages/20102/footer-comments"))["results"]
    [reply] = (await cloud.get(f"{V2}/footer-comments/{comment['id']}/children"))["results"]
    assert reply["parentCommentId"] == comment["id"]
    [inline] = (await cloud.get(f"{V2}/pages/20102/inline-comments"))["results"]
    assert inline["properties"]["inlineOriginalSelection"] == "Never on a Friday."
    body = {"representation": "storage", "value": "<p>Yes</p>"}
    added = await cloud.ok("POST", f"{V2}/footer-comments", json={"parentCommentId": comment["id"], "body": body})
    path = f"{V2}/footer-comments/{added['id']}"
    await cloud.refused(409, "PUT", path, json={"version": {"number": 1}, "body": body})
    await cloud.ok("PUT", path, json={"version": {"number": 2}, "body": body})
    await cloud.ok("DELETE", path)
    await cloud.refused(404, "GET", path)


async def test_an_inline_comment_marks_the_text_and_nothing_else(cloud):
    async def document():
        page = await cloud.get(f"{V2}/pages/20103", **{"body-format": "atlas_doc_format"})
        return json.loads(page["body"]["atlas_doc_format"]["value"])

    before = await document()
    selection = {"textSelection": "second person", "textSelectionMatchCount": 1, "textSelectionMatchIndex": 0}
    body = {"representation": "storage", "value": "<p>Who?</p>"}
    comment = {"pageId": "20103", "body": body, "inlineCommentProperties": selection}
    added = await cloud.ok("POST", f"{V2}/inline-comments", json=comment)
    [panel] = [node for node in (await document())["content"] if node["type"] == "panel"]
    assert [node["text"] for node in panel["content"][0]["content"]] == [
        "Do not restart the database without a ",
        "second person",
        ".",
    ]
    mark = panel["content"][0]["content"][1]["marks"][0]
    assert mark["attrs"]["id"] == added["properties"]["inlineMarkerRef"]
    assert [node for node in (await document())["content"] if node["type"] != "panel"] == [
        node for node in before["content"] if node["type"] != "panel"
    ]
    twice = {**comment, "inlineCommentProperties": {**selection, "textSelection": "nothing like that"}}
    await cloud.refused(400, "POST", f"{V2}/inline-comments", json=twice)


async def test_versions_of_a_page(cloud):
    versions = (await cloud.get(f"{V2}/pages/20102/versions"))["results"]
    assert [each["number"] for each in versions] == [3, 2, 1]
    old = await cloud.get(f"{V2}/pages/20102", version=1, **{"body-format": "storage"})
    assert old["body"]["storage"]["value"].startswith("<h2>Steps</h2>")


async def test_a_page_is_moved_and_copied(cloud):
    await cloud.ok("PUT", "/wiki/rest/api/content/20208/move/before/20207")
    children = await cloud.get(f"{V2}/pages/20206/direct-children")
    assert [each["id"] for each in children["results"]] == ["20208", "20207"]
    await cloud.refused(400, "PUT", "/wiki/rest/api/content/20206/move/append/20207")
    target = {"type": "parent_page", "value": "20101"}
    copy = {"destination": target, "pageTitle": "Support (copy)", "copyLabels": True}
    made = await cloud.ok("POST", "/wiki/rest/api/content/20209/copy", json=copy)
    page = await cloud.get(f"{V2}/pages/{made['id']}")
    assert (page["title"], page["parentId"]) == ("Support (copy)", "20101")


async def test_a_deleted_page_is_in_the_trash_and_its_children_move_up(cloud):
    await cloud.ok("DELETE", f"{V2}/pages/20203")
    await cloud.refused(404, "GET", f"{V2}/pages/20203")
    assert (await cloud.get(f"{V2}/pages/20203", status="trashed"))["status"] == "trashed"
    assert (await cloud.get(f"{V2}/pages/20204"))["parentId"] == "20201"


async def test_templates_and_views(cloud):
    [template] = (await cloud.get("/wiki/rest/api/template/page"))["results"]
    body = await cloud.get(f"/wiki/rest/api/template/{template['templateId']}", expand="body")
    assert body["body"]["storage"]["value"].startswith("<h2>Present</h2>")
    assert (await cloud.get("/wiki/rest/api/analytics/content/20102/views"))["count"] > 0


# ---- Data Center ---------------------------------------------------------------------------------


async def test_a_page_on_data_center_is_in_storage_format(datacenter):
    page = await datacenter.get(f"{DC}/content/20105", expand="body.storage,version,space,ancestors,history")
    assert page["body"]["storage"]["value"].startswith("<p>Status: <ac:structured-macro")
    assert 'ri:userkey="JIRAUSER10101"' in page["body"]["storage"]["value"]
    assert (page["version"]["number"], page["space"]["key"]) == (1, "ENG")
    assert [each["id"] for each in page["ancestors"]] == ["20101", "20104"]


async def test_a_page_on_data_center_is_updated_with_the_next_version(datacenter):
    body = {"storage": {"value": "<p>New</p>", "representation": "storage"}}
    update = {"id": "20103", "type": "page", "title": "On-call handbook", "version": {"number": 2}, "body": body}
    await datacenter.ok("PUT", f"{DC}/content/20103", json=update)
    refused = await datacenter.refused(409, "PUT", f"{DC}/content/20103", json=update)
    assert "Current version is: 2." in refused["message"]
    old = await datacenter.get(f"{DC}/content/20103", version=1, status="historical", expand="version")
    assert old["status"] == "historical"


async def test_comments_on_data_center_are_content(datacenter):
    comments = await datacenter.get(f"{DC}/content/20102/child/comment", location="footer", depth="all")
    assert [each["id"] for each in comments["results"]] == ["20901", "20902"]
    body = {"storage": {"value": "<p>Fine</p>", "representation": "storage"}}
    comment = {"type": "comment", "container": {"id": "20102", "type": "page"}, "body": body}
    added = await datacenter.ok("POST", f"{DC}/content", json=comment)
    await datacenter.ok("DELETE", f"{DC}/content/{added['id']}")


async def test_spaces_on_data_center(datacenter):
    spaces = await datacenter.as_user("sam.ortiz").get(f"{DC}/space")
    assert [each["key"] for each in spaces["results"]] == ["PROD"]
    pages = await datacenter.get(f"{DC}/space/PROD/content/page", limit=3)
    assert (pages["size"], "next" in pages["_links"]) == (3, True)
