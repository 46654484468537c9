"""The sandbox beside the API documents: it serves what they describe, in the form that they describe."""

import json
import re

import pytest
from jsonschema import Draft4Validator, validators

from atlassian_sandbox import sandbox_app
from atlassian_sandbox.app import routes
from atlassian_sandbox.checks import operation, shapes
from atlassian_sandbox.storage_format import StorageWriter
from atlassian_sandbox.storage_reader import read_storage
from tests.atlassian_sandbox.site import Site
from tests.shared_data import shared
from tools.sandbox_shapes import TARGET, text

# What sites serve without documentation: downloads, and the panel with commits.
UNDOCUMENTED = {
    "GET /media/{}/{}",
    "GET /rest/dev-status/latest/issue/detail",
    "GET /rest/dev-status/latest/issue/summary",
    "GET /secure/attachment/{}/{}",
    "GET /secure/thumbnail/{}/{}",
    "GET /wiki/download/attachments/{}/{}",
    "GET /confluence/download/attachments/{}/{}",
}
# Something that exists, for each parameter of a path.
SAMPLES = {
    "attachment": "12901",
    "board": "7",
    "comment": "20901",
    "component": "10501",
    "content": "20102",
    "context": "110030",
    "desk": "4",
    "epic": "FERRY-2",
    "field": "customfield_10030",
    "filter": "10601",
    "issue": "HELP-3",
    "label": "how-to",
    "number": "1",
    "operation": "read",
    "page": "20102",
    "project": "FERRY",
    "queue": "41",
    "space": "20001",
    "sprint": "23",
    "status": "10001",
    "template": "20951",
    "type": "10103",
    "version": "10401",
}
# Where the sample of another operation does not fit.
EXCEPTIONS = {
    "/rest/api/3/issue/{issue}/comment/{comment}": "HELP-3/comment/12012",
    "/rest/api/2/issue/{issue}/comment/{comment}": "HELP-3/comment/12012",
    "/rest/api/3/issue/{issue}/worklog/{worklog}": "FERRY-6/worklog/12500",
    "/rest/api/2/issue/{issue}/worklog/{worklog}": "FERRY-6/worklog/12500",
    "/rest/api/3/issue/{issue}/remotelink/{link}": "FERRY-6/remotelink/12950",
    "/rest/api/2/issue/{issue}/remotelink/{link}": "FERRY-6/remotelink/12950",
    "/rest/api/3/issueLink/{link}": "12800",
    "/rest/api/2/issueLink/{link}": "12800",
    "/wiki/api/v2/inline-comments/{comment}": "20903",
    "/wiki/api/v2/inline-comments/{comment}/children": "20903/children",
    "/wiki/api/v2/attachments/{attachment}": "att20950",
    "/wiki/rest/api/content/{content}/child/attachment/{attachment}/download": (
        "20104/child/attachment/att20950/download"
    ),
    "/confluence/rest/api/content/{content}/child/{type}": "20102/child/page",
    "/confluence/rest/api/content/{content}/descendant/{type}": "20101/descendant/page",
    "/confluence/rest/api/space/{space}": "ENG",
    "/confluence/rest/api/space/{space}/content/{type}": "ENG/content/page",
    "/rest/servicedeskapi/servicedesk/{desk}/requesttype/{type}": "4/requesttype/31",
    "/rest/servicedeskapi/servicedesk/{desk}/requesttype/{type}/field": "4/requesttype/31/field",
}  # fmt: skip
QUERIES = {
    "/rest/api/3/user": {"accountId": "712020:00000002-4a1c-4e5d-9b1f-0c2d7e61a011"},
    "/rest/api/2/user": {"username": "jonas.weber"},
    "/rest/api/3/user/bulk": {"accountId": "712020:00000002-4a1c-4e5d-9b1f-0c2d7e61a011"},
    "/rest/api/3/user/search": {"query": "a"},
    "/rest/api/2/user/search": {"username": "a"},
    "/rest/api/3/user/assignable/search": {"project": "FERRY"},
    "/rest/api/2/user/assignable/search": {"project": "FERRY"},
    "/rest/api/3/mypermissions": {"permissions": "EDIT_ISSUES"},
    "/rest/api/3/issuetype/project": {"projectId": "10010"},
    "/rest/api/3/search/jql": {"jql": "project = FERRY", "fields": "*all"},
    "/wiki/rest/api/user": {"accountId": "712020:00000002-4a1c-4e5d-9b1f-0c2d7e61a011"},
    "/wiki/rest/api/user/bulk": {"accountId": "712020:00000002-4a1c-4e5d-9b1f-0c2d7e61a011"},
    "/confluence/rest/api/user": {"username": "jonas.weber"},
    "/wiki/rest/api/group/picker": {"query": "eng"},
    "/wiki/rest/api/search": {"cql": "type in (page, comment, attachment, space)", "limit": "100"},
    "/wiki/rest/api/search/user": {"cql": 'user.fullname ~ "anna"'},
    "/wiki/rest/api/content/search": {"cql": "type = page", "expand": "space,version,history,body.storage,ancestors"},
    "/confluence/rest/api/search": {"cql": "type in (page, comment, attachment, space)", "limit": "100"},
    "/confluence/rest/api/content/search": {"cql": "type = page", "expand": "space,version,history,body.storage"},
}  # fmt: skip
READS = [
    (kind, route.path)
    for kind in ("cloud", "datacenter")
    for route in routes(kind)
    if route.method == "GET" and operation("GET", route.path) not in UNDOCUMENTED
    if "/{property}" not in route.path
    and "/{task}" not in route.path
    and route.path != "/wiki/api/v2/labels/{label}/pages"
]


def address(path: str) -> str:
    if path in EXCEPTIONS:
        return path.partition("{")[0] + EXCEPTIONS[path]
    return re.sub(r"{(\w+)}", lambda match: SAMPLES[match[1]], path)


@pytest.mark.parametrize(("kind", "path"), READS, ids=lambda value: value)
async def test_everything_that_can_be_read_has_the_documented_form(kind, path):
    response = await Site(kind).send("GET", address(path), params=QUERIES.get(path))
    assert response.status_code in (200, 302, 303), response.text


@pytest.mark.parametrize("kind", ["cloud", "datacenter"])
def test_every_operation_is_documented(kind):
    served = {operation(route.method, route.path) for route in routes(kind)}
    assert served - set(shapes(kind)) <= UNDOCUMENTED


def test_the_shapes_are_those_of_the_documents():
    shared("atlassian-api")
    assert TARGET.read_text(encoding="utf-8") == text(), "run: python tools/sandbox_shapes.py"


def _documents():
    """The distinct blocks of all texts of the company, each as a document."""
    state = sandbox_app("cloud").state
    documents = [json.loads(version.body.value) for page in state.pages.values() for version in page.versions]
    documents += [issue.values["description"] for issue in state.issues.values() if issue.values.get("description")]
    blocks = {json.dumps(block): block for document in documents for block in document["content"]}
    return [{"type": "doc", "version": 1, "content": [block]} for block in blocks.values()]


def _branches_of_type(validator, branches, instance, schema):
    """`anyOf` that looks only at the branches for the type of a node: the plain one takes a minute here."""
    if isinstance(instance, dict) and "type" in instance:
        branches = [each for each in branches if instance["type"] in _types(validator, each)] or branches
    yield from Draft4Validator.VALIDATORS["anyOf"](validator, branches, instance, schema)


def _types(validator, branch):
    """The types of nodes that a branch describes."""
    if "$ref" in branch:
        branch = validator._resolver.lookup(branch["$ref"]).contents
    parts = [branch, *branch.get("allOf", []), *branch.get("anyOf", [])]
    if len(parts) > 1:
        return {name for part in parts[1:] for name in _types(validator, part)}
    return branch.get("properties", {}).get("type", {}).get("enum", [])


def test_the_texts_of_the_company_are_valid_documents():
    schema = json.loads(shared("atlassian-api/adf-full-57.7.22.json").read_text(encoding="utf-8"))
    validator = validators.extend(Draft4Validator, {"anyOf": _branches_of_type})(schema)
    for document in _documents():
        validator.validate(document)


def test_a_document_survives_storage_format():
    for document in _documents():
        stored = StorageWriter("cloud").write(document)
        if "decision-list" not in stored:  # a list of decisions is read as a plain list
            assert StorageWriter("cloud").write(read_storage(stored)) == stored
