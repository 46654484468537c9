import json

import pytest

V2 = "/wiki/api/v2"


async def test_a_page_can_be_read_in_both_formats(cloud):
    as_document = await cloud.get(f"{V2}/pages/20102", **{"body-format": "atlas_doc_format"})
    as_storage = await cloud.get(f"{V2}/pages/20102", **{"body-format": "storage"})
    assert as_document["title"] == as_storage["title"] == "Release process"
    assert json.loads(as_document["body"]["atlas_doc_format"]["value"])["type"] == "doc"
    assert as_storage["body"]["storage"]["value"].startswith('<ac:structured-macro ac:name="toc"')


@pytest.mark.parametrize(
    "body",
    [
        {"representation": "storage", "value": "<p>New&nbsp;text</p>"},
        {"representation": "atlas_doc_format", "value": '{"version":1,"type":"doc","content":[]}'},
    ],
)
async def test_a_page_gives_back_exactly_what_was_written(cloud, body):
    version = {"number": 2, "message": "Shorter"}
    update = {"id": "20103", "status": "current", "title": "On-call handbook", "body": body, "version": version}
    await cloud.ok("PUT", f"{V2}/pages/20103", json=update)
    page = await cloud.get(f"{V2}/pages/20103", **{"body-format": body["representation"]})
    assert page["body"] == {body["representation"]: body}
    assert (page["version"]["number"], page["version"]["message"]) == (2, "Shorter")


async def test_a_version_that_is_not_the_next_one_is_a_conflict(cloud):
    body = {"representation": "storage", "value": "<p>x</p>"}
    update = {"id": "20102", "status": "current", "title": "Release process", "body": body, "version": {"number": 3}}
    refused = await cloud.refused(409, "PUT", f"{V2}/pages/20102", json=update)
    assert refused["errors"][0]["code"] == "CONFLICT"
    assert "Current version is: 3. Provided version is: 3." in refused["errors"][0]["title"]
    assert (await cloud.get(f"{V2}/pages/20102"))["version"]["number"] == 3


async def test_a_body_that_is_not_well_formed_is_refused(cloud):
    body = {"representation": "storage", "value": "<p>open"}
    refused = await cloud.refused(400, "POST", f"{V2}/pages", json={"spaceId": "20001", "title": "T", "body": body})
    assert refused["errors"][0]["title"].startswith("Error parsing xhtml:")


async def test_two_pages_of_a_space_cannot_share_a_title(cloud):
    await cloud.refused(400, "POST", f"{V2}/pages", json={"spaceId": "20001", "title": "Release process"})


async def test_a_restricted_page_does_not_exist_for_others(cloud):
    await cloud.get(f"{V2}/pages/20304")
    await cloud.as_user("jonas.weber").refused(404, "GET", f"{V2}/pages/20304")
    pages = await cloud.as_user("jonas.weber").get(f"{V2}/pages", **{"space-id": "20003"})
    assert [page["id"] for page in pages["results"]] == ["20301", "20302", "20303"]


async def test_a_reader_of_a_restricted_page_cannot_change_it(cloud):
    body = {"representation": "storage", "value": "<p>x</p>"}
    update = {"id": "20304", "status": "current", "title": "T", "body": body, "version": {"number": 2}}
    await cloud.refused(403, "PUT", f"{V2}/pages/20304", json=update)


async def test_a_list_has_the_address_of_its_next_page(cloud):
    response = await cloud.send("GET", f"{V2}/pages?limit=15&sort=title")
    following = response.json()["_links"]["next"]
    assert response.headers["link"] == f'<{following}>; rel="next"'
    rest = await cloud.get(following)
    titles = [page["title"] for page in (*response.json()["results"], *rest["results"])]
    assert len(titles) == 20
    assert titles == sorted(titles, key=str.casefold)
    assert "next" not in rest["_links"]
