"""Workflows: which transitions an issue has, what their screens require, and how one is carried out."""

from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, SiteRequest, as_object, optional_object
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.fields import find_field
from atlassian_sandbox.jira.issues import read_text
from atlassian_sandbox.jira.metadata import field_metadata
from atlassian_sandbox.jira.render import Renderer
from atlassian_sandbox.model import Issue, WorkflowTransition

routes = ApiRoutes("jira")


def available(request: SiteRequest, issue: Issue) -> list[WorkflowTransition]:
    state = request.state
    project, status = state.project_of(issue), issue.values["status"]
    if not state.can_write(project, request.user):
        return []
    return [each for each in project.transitions if each.sources is None or status in each.sources]


@routes.get("/issue/{issue}/transitions")
def list_transitions(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    wanted = request.text("transitionId")
    shown = [
        _render(request, issue, transition)
        for transition in available(request, issue)
        if wanted in (None, transition.id)
    ]
    return {"expand": "transitions", "transitions": shown}


def _render(request: SiteRequest, issue: Issue, transition: WorkflowTransition) -> JsonObject:
    rendered: JsonObject = {
        "id": transition.id,
        "name": transition.name,
        "to": Renderer(request).status(transition.to),
        "hasScreen": bool(transition.required or transition.optional),
        "isGlobal": transition.sources is None,
        "isInitial": False,
        "isAvailable": True,
        "isConditional": False,
        "isLooped": False,
    }
    if "transitions.fields" in request.words("expand"):
        project = request.state.project_of(issue)
        rendered["fields"] = {
            name: field_metadata(request, project, name, required=name in transition.required)
            for name in (*transition.required, *transition.optional)
        }
    return rendered


@routes.post("/issue/{issue}/transitions")
def do_transition(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    body = request.object
    perform(request, issue, str(as_object(body.get("transition"), "transition").get("id")), body)
    return NO_CONTENT


def perform(request: SiteRequest, issue: Issue, number: str, body: JsonObject) -> None:
    """Carry out a transition. Raises Refusal 400 if the issue does not have it or its screen lacks a field."""
    state = request.state
    transition = next((each for each in available(request, issue) if each.id == number), None)
    if transition is None:
        raise Refusal(400, f"Transition id '{number}' is not valid for this issue.")
    fields, update = optional_object(body.get("fields")), optional_object(body.get("update"))
    on_screen = {*transition.required, *transition.optional}
    foreign = [name for name in (*fields, *update) if name not in on_screen and name != "comment"]
    if foreign:
        raise Refusal(400, errors={name: changes.NOT_SETTABLE.format(name) for name in foreign})
    values = changes.read_fields(request, state.project_of(issue), fields) | changes.read_update(request, issue, update)
    missing = [name for name in transition.required if not (values.get(name) or issue.values.get(name))]
    if missing:
        raise Refusal(400, errors={name: f"{_field_name(request, name)} is required." for name in missing})
    comments = [read_text(request, comment.get("body"), "comment") for comment in changes.comments_of(update)]
    before, after = state.statuses[issue.values["status"]], state.statuses[transition.to]
    if after.category == "done":
        values["resolutiondate"] = state.now()
        values.setdefault("resolution", issue.values.get("resolution") or next(iter(state.resolutions)))
    elif before.category == "done":
        values |= {"resolution": None, "resolutiondate": None}
    if after.category != before.category:
        issue.values["statuscategorychangedate"] = state.now()
    issue.values["resolutiondate"] = values.pop("resolutiondate", issue.values.get("resolutiondate"))
    changes.store(request, issue, values | {"status": transition.to})
    for comment in comments:
        changes.add_comment(state, issue, request.user.id, comment)


def _field_name(request: SiteRequest, name: str) -> str:
    field = find_field(name, request.kind)
    return field.name if field else name
