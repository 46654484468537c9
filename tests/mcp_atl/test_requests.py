"""Every request that a command sends, beside the API documents: it exists, is not deprecated, and has their form."""

import json
from typing import Any, Literal, NamedTuple, get_args, get_origin

import pytest

from atlassian_sandbox.app import SentRequest
from atlassian_sandbox.http import Kind
from mcp_atl.app import COMMANDS
from mcp_atl.command import Command, command_of
from mcp_atl.sites.sign_in import SCOPES
from mcp_atl.tools import changes, reports
from tests.mcp_atl.api_requests import request_problems
from tests.mcp_atl.server import Server, serve
from tests.shared_data import shared

ANNA = "712020:00000003-4a1c-4e5d-9b1f-0c2d7e61a012"
LIMITS = {"projects": ("APP", "FERRY", "HELP", "PEOPLE"), "spaces": ("ENG", "PROD", "HR")}
# Operations that are used although a document calls them deprecated, or no document has them.
EXCEPTIONS = {
    "GET /rest/api/3/priority": "what replaces it, priority schemes, is open to administrators only",
    "GET /media/{}/{}": "where Cloud redirects a download to",
    "GET /secure/attachment/{}/{}": "the address that Jira Data Center gives for a file",
    "GET /confluence/download/attachments/{}/{}": "the address that Confluence Data Center gives for a file",
}


class Call(NamedTuple):
    """One call of a command."""

    subject: str | None
    parameters: dict[str, Any]
    arguments: dict[str, Any]
    only: Kind | None
    """The only kind of site that can do it."""


def call(
    subject: str | None = None,
    *,
    product: str | None = None,
    response_fields: list[str] | None = None,
    only: Kind | None = None,
    **parameters: Any,
) -> Call:
    arguments = {"product": product, "response_fields": response_fields}
    return Call(subject, parameters, {name: value for name, value in arguments.items() if value is not None}, only)


CALLS: dict[str, list[Call]] = {
    "health_check": [call(details=True), call(product="confluence", site="sandbox")],
    "help": [call(), call("get")],
    "user_info": [
        call(),
        call(product="confluence"),
        call("Anna Berg"),
        call("anna.berg@harbourline.example"),
        call(ANNA, only="cloud"),
    ],
    "search_users": [
        call("a", limit=2, cursor="1", active_only=False),
        call("a", project="FERRY", format="table"),
    ],
    "search": [
        call("voucher", format="table"),
        call("voucher", count_only=True),
        call("project:FERRY voucher"),
        call("board:7"),
        call("sprint:23 status = Done"),
        call("filter:10601"),
        call("label:checkout"),
        call("queue:41"),
        call("space:ENG release", limit=1),
        call("type = page AND space = ENG", product="confluence", count_only=True),
        call("project = FERRY", response_fields=["key", "Story Points", "assignee.name"]),
        call("project = FERRY ORDER BY key", limit=2),
        call("project = FERRY ORDER BY key", limit=2, cursor="NEXT"),
        call("type = page", limit=2),
        call("type = page", limit=2, cursor="NEXT"),
    ],
    "get": [
        call("FERRY-6", include=["comments", "worklogs", "transitions", "watchers", "remote_links", "changelog"]),
        call("FERRY-6, FERRY-18, 20102", include=["attachments"]),
        call("FERRY-6", response_fields=["summary", "Story Points"]),
        call("20102", include=["comments", "children", "labels", "attachments", "restrictions"]),
        call("20102", part="outline"),
        call("20102", part="Steps", version=1),
        call("20102", budget=200, only="cloud"),
        call("20102", budget=200, cursor="NEXT", only="cloud"),
        call("page:ENG/Release process", response_fields=["title"]),
        *(call(one) for one in ("project:FERRY", "version:10401", "component:10501", "filter:10601", "board:7")),
        call("sprint:23"),
    ],
    "list": [
        call("projects", text="fer", limit=1, format="objects"),
        call("projects", limit=2, cursor="2"),
        call("fields", text="points"),
        call("field_options", field="priority", issue="FERRY-6"),
        call("field_options", field="priority", project="FERRY", type="Bug"),
        call("issue_types", project="FERRY"),
        call("create_fields", project="FERRY", type="Bug"),
        call("versions", project="FERRY"),
        call("components", project="FERRY"),
        call("link_types"),
        call("transitions", issue="FERRY-6"),
        call("boards", project="FERRY", text="Ferry"),
        call("sprints", board=7, state="active,future"),
        call("spaces", limit=2),
        call("spaces", limit=2, cursor="NEXT"),
        call("pages", space="ENG", limit=2),
        call("pages", space="ENG", limit=2, cursor="NEXT"),
        call("pages", parent="20101", format="table"),
        call("templates", space="ENG", only="cloud"),
        call("templates", only="cloud"),
        call("priorities"),
        call("statuses"),
        call("statuses", project="FERRY"),
        call("service_desks"),
        call("queues", service_desk=4),
        call("request_types", service_desk=4),
    ],
    "history": [
        call("FERRY-6", limit=1, fields=["status"], format="table"),
        call("FERRY-6", limit=1, cursor="1"),
        call("20102", limit=2),
        call("20102", limit=2, cursor="NEXT"),
        call("20102", diff=[1, 2]),
    ],
    "report": [
        call("FERRY-6", kind="time_in_status"),
        call("HELP-3", kind="sla"),
        call("FERRY-2", kind="hierarchy", depth=2),
        call("FERRY-6", kind="dependencies", depth=2),
        call("20102", kind="views", only="cloud"),
        call("20102", kind="views", since="-4w", only="cloud"),
    ],
    "create": [
        call(
            "issue",
            project="APP",
            type="Bug",
            summary="Login fails",
            description="It **fails**.\n\n- one\n- two",
            fields={
                "Story Points": 3,
                "assignee": "Anna Berg",
                "labels": ["login"],
                "priority": "High",
                "due": "+3d",
                "components": [],
                "fix versions": ["App 3.0"],
            },
        ),
        call("issue", project="FERRY", type="Sub-task", summary="Part", parent="FERRY-13"),
        call("issue", project="FERRY", type="Story", summary="In an epic", parent="FERRY-2"),
        call("issue", project="APP", summary="Only a check", dry_run=True),
        call("issues", project="APP", issues=[{"summary": "a"}, {"summary": "b", "type": "Bug", "due": "+1w"}]),
        call("page", space="ENG", title="New page", body="Intro.\n\n## One\n\nFirst.", parent="20101"),
        call("page", space="ENG", title="A draft", body="Later.", draft=True),
        call("page", space="ENG", title="An incident", template="20952", body="It began at 9.", only="cloud"),
        call("version", project="APP", name="9.9", description="Next", start="2026-11-01", end="+1m"),
        call("sprint", board=7, name="Sprint X", goal="All green", start="2026-12-01", end="2026-12-14"),
        call("request", service_desk=4, request_type=31, summary="Help me", description="Please."),
    ],
    "update": [
        call(
            "APP-3",
            fields={"summary": "Brighter", "description": "New **text**", "assignee": None, "Story Points": 5},
            add={"labels": ["x"], "watchers": ["Anna Berg"], "fix versions": ["App 3.0"]},
            remove={"labels": ["y"]},
        ),
        call("APP-3", fields={"assignee": "Anna Berg", "due": "2026-12-24"}),
        call("APP-3", remove={"watchers": ["Anna Berg"]}),
        call("APP-3", fields={"summary": "Only a check"}, dry_run=True),
        call("20102", section="After", body="Nothing.", remove_objects=True, version=3, message="Shorter"),
        call("20102", after="Before", body="More."),
        call("20103", append=True, body="The end."),
        call("20103", prepend=True, body="The beginning."),
        call("20103", title="Handbook for people on call"),
        call("20105", old_text="10 to 60", new_text="10 to 70"),
        call("20106", replace_page=True, body="All new.", remove_objects=True),
        call("20102", labels=["release", "new"]),
        call("20102", restrict={"read": {"users": ["Anna Berg"], "groups": ["engineering"]}, "update": {}}),
        call("sprint:24", title="Next", fields={"goal": "Invoices", "startDate": "2026-12-01", "endDate": "+4w"}),
        call("version:10420", title="App 3.1", fields={"releaseDate": "2026-12-24", "description": "Later"}),
    ],
    "comment": [
        call("FERRY-6", body="Ask @[Anna Berg](accountid:" + ANNA + ").", visible_to="role:Developers"),
        call("HELP-3", body="For the team.", internal=True),
        call("HELP-3", body="Changed.", comment_id=12012),
        call("20102", body="Good."),
        call("20102", body="Yes.", reply_to="20901"),
        call("20102", body="Changed.", comment_id="20901"),
        call("20102", body="Which staging?", selection="Deploy to staging", occurrence=1, only="cloud"),
        call("20102", body="Changed.", selection="Never on a Friday.", comment_id="20903"),
    ],
    "transition": [
        call("APP-6", to="In Progress", comment="I **begin**."),
        call("APP-3", to="Done", fields={"resolution": "Done"}),
    ],
    "link": [
        call("APP-3", to="APP-4", type="is blocked by"),
        call("APP-3", to="APP-4", type="is blocked by", remove=True),
        call("APP-3", to="https://example.com/design", title="Design"),
        call("APP-3", to="https://example.com/design", remove=True),
        call("FERRY-6", to="FERRY-2", type="epic"),
        call("FERRY-6", to="FERRY-2", type="epic", remove=True),
    ],
    "worklog": [
        call("FERRY-6", time="1h 30m", started="2026-11-16", comment="Tests", remaining="1d"),
        call("FERRY-6", time="2h", remaining="leave"),
        call("FERRY-6", worklog_id=12500, time="2h", comment="More tests", remaining="auto"),
        call("FERRY-6", worklog_id=12500, remove=True),
    ],
    "move": [
        call("FERRY-6, FERRY-9", to="sprint:24"),
        call("FERRY-6", to="backlog"),
        call("APP-5", to="project:FERRY", type="Bug", only="cloud"),
        call("20105", to="20101", position="append"),
        call("20105", to="20103", position="before"),
        call("20105", to="20103", position="after"),
        call("20105", to="20101", copy_as="Copied"),
    ],
    "delete": [
        call("FERRY-13", explicit_action="DELETE", with_subtasks=True),
        call("comment:12012", explicit_action="DELETE", of="HELP-3"),
        call("comment:20903", explicit_action="DELETE", of="20102", inline=True),
        call("comment:20901", explicit_action="DELETE", of="20102"),
        call("worklog:12500", explicit_action="DELETE", of="FERRY-6"),
        call("attachment:12901", explicit_action="DELETE"),
        call("attachment:att20950", explicit_action="DELETE"),
        call("sprint:24", explicit_action="DELETE"),
        call("version:10420", explicit_action="DELETE"),
        call("page:20207", explicit_action="DELETE"),
    ],
    "download": [
        call("attachment:12902", save_as="kept.log", max_bytes=1_000_000),
        call("FERRY-6", name="payment.log"),
        call("attachment:att20950", show=True),
        call("20104"),
    ],
    "upload": [
        call("APP-3", files=["notes.txt"], max_bytes=1_000),
        call("20102", files=["notes.txt"], comment="New"),
        call("20102", files=["notes.txt"], comment="A second version"),
    ],
    "setup_atlassian_credentials": [
        call(
            "https://sandbox.atlassian.net",
            name="sandbox",
            kind="cloud",
            email="mia.keller@harbourline.example",
            token="sandbox-token-mia.keller",
            make_default=True,
            only="cloud",
        ),
        call(
            "https://sandbox.atlassian.net",
            name="sandbox",
            email="mia.keller@harbourline.example",
            token="sandbox-token-mia.keller",
            cloud_id="CLOUD_ID",
            only="cloud",
        ),
        call(
            "https://sandbox.example",
            name="sandbox",
            kind="datacenter",
            confluence_url="https://sandbox.example/confluence",
            token="sandbox-token-mia.keller",
            only="datacenter",
        ),
    ],
}  # fmt: skip


@pytest.mark.requirement("ATL-5", "ATL-6")
@pytest.mark.parametrize("limits", [{}, LIMITS], ids=["open", "limited"])
@pytest.mark.parametrize("kind", ["cloud", "datacenter"])
@pytest.mark.parametrize("command", CALLS)
async def test_every_request_has_the_documented_form(command, kind, limits, tmp_path, monkeypatch):
    shared("atlassian-api")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    problems: list[str] = []
    (tmp_path / "notes.txt").write_text("Notes")
    async with serve(kind, files=tmp_path, **limits) as server:
        cursor: str | None = None
        for one in (each for each in CALLS[command] if each.only in (None, kind)):
            answer = await _send(server, command, one, cursor)
            cursor = answer["value"].get("next_cursor") if answer["success"] else None
            if not answer["success"] and not _is_limit(answer, limits):
                problems.append(f"{one.subject} {one.parameters}: {answer['error']}")
            for sent in server.sandbox.requests:
                problems += [
                    f"{one.subject} {one.parameters}: {each}"
                    for each in request_problems(kind, sent, EXCEPTIONS, SCOPES)
                ]
    assert not problems, "\n".join(dict.fromkeys(problems))


async def _send(server: Server, command: str, one: Call, cursor: str | None) -> dict[str, Any]:
    """Send a call, with what an earlier answer or the sandbox has in place of the words in capitals."""
    words = {"NEXT": cursor, "CLOUD_ID": server.sandbox.state.cloud_id}
    parameters = {
        name: words.get(value, value) if isinstance(value, str) else value for name, value in one.parameters.items()
    }
    assert all(value is not None for value in parameters.values()), f"no next_cursor before {one}"
    server.sandbox.requests.clear()
    return await server.call(command, one.subject, **one.arguments, **parameters)


def _is_limit(answer: dict[str, Any], limits: dict[str, Any]) -> bool:
    """Where only some projects are open, what does not say its project is refused."""
    return bool(limits) and "do not say their project" in answer["error"]


WRONG = {
    "no such operation": ("GET", "/rest/api/3/issues/APP-1", {}, None),
    "the operation is deprecated": ("GET", "/rest/api/3/priority/search", {}, None),
    "unknown query parameter 'field'": ("GET", "/rest/api/3/issue/APP-1", {"field": ["x"]}, None),
    "the query parameter 'cql' is missing": ("GET", "/wiki/rest/api/search", {}, None),
    "query parameter 'maxResults': : 'x' is not of type": (
        "GET",
        "/rest/api/3/field/search",
        {"maxResults": ["x"]},
        None,
    ),
    "query parameter 'body-format'": ("GET", "/wiki/api/v2/pages/1", {"body-format": ["markdown"]}, None),
    "the body is missing": ("POST", "/rest/api/3/issueLink", {}, None),
    "'outwardIssue' is a required property": ("POST", "/rest/api/3/issueLink", {}, {"inwardIssue": {"key": "A-1"}}),
    "sign-in does not ask for its scopes": ("GET", "/rest/api/3/workflows/search", {}, None),
    "a body is sent, but none is documented": ("DELETE", "/rest/api/3/issue/APP-1", {}, {}),
}


@pytest.mark.parametrize("expected", WRONG)
def test_a_wrong_request_is_seen(expected):
    shared("atlassian-api")
    method, path, query, body = WRONG[expected]
    content = b"" if body is None else json.dumps(body).encode()
    sent = SentRequest(method, path, query, {"content-type": "application/json"}, content)
    problems = request_problems("cloud", sent, EXCEPTIONS, SCOPES)
    assert any(expected in problem for problem in problems), problems


def test_every_command_and_every_parameter_is_driven():
    commands = {command.name: command for command in map(command_of, COMMANDS)}
    assert set(CALLS) == set(commands)
    missing = [f"{name}: {each}" for name, command in commands.items() for each in _never_used(command, CALLS[name])]
    assert not missing
    assert {one.parameters["kind"] for one in CALLS["report"]} == set(reports.KINDS)
    assert {_updated_kind(str(one.subject)) for one in CALLS["update"]} == set(changes.KINDS)


def _never_used(command: Command, calls: list[Call]) -> list[str]:
    used = {(name, str(value)) for one in calls for name, values in one.parameters.items() for value in _each(values)}
    names = {name for name, _ in used}
    subjects = {one.subject for one in calls}
    missing = [name for name in command.parameters.model_fields if name not in {*names, "site"}]
    missing += [f"subject {choice}" for choice in command.subject.choices if choice not in subjects]
    for name, field in command.parameters.model_fields.items():
        default = str(field.default)
        missing += [
            f"{name}={value}"
            for value in _literals(field.annotation)
            if (name, str(value)) not in used and str(value) != default
        ]
    return missing


def _each(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _literals(annotation: Any) -> list[Any]:
    """The values that a type lists."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for one in get_args(annotation) for value in _literals(one)]


def _updated_kind(subject: str) -> str:
    kind, colon, _ = subject.partition(":")
    return kind if colon else ("page" if subject.isdigit() else "issue")
