"""Boards, sprints, epics and ranks."""

from datetime import UTC, datetime
from typing import Any

from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest, optional_list
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.fields import EPIC_LINK, EPIC_NAME, SPRINT, STORY_POINTS, find_field
from atlassian_sandbox.jira.issue_json import IssueJson
from atlassian_sandbox.jira.issues import wanted_fields
from atlassian_sandbox.jira.render import Renderer, page_of, paged, zulu_time
from atlassian_sandbox.jira.search import find, token_page
from atlassian_sandbox.model import Board, Issue, Sprint

routes = ApiRoutes("agile")
software = ApiRoutes("software")


# ---- boards --------------------------------------------------------------------------------------


def _board_json(request: SiteRequest, board: Board) -> JsonObject:
    project = request.state.projects[board.project]
    rendered: JsonObject = {"id": board.id, "self": _link(request, f"board/{board.id}"), "name": board.name}
    rendered["type"] = board.type
    if request.is_cloud:
        rendered["location"] = {
            "projectId": int(project.id),
            "displayName": f"{project.name} ({project.key})",
            "projectName": project.name,
            "projectKey": project.key,
            "projectTypeKey": project.type,
            "name": f"{project.name} ({project.key})",
        }
        rendered["isPrivate"] = False
    return rendered


def _link(request: SiteRequest, path: str) -> str:
    return f"{request.base}/rest/agile/1.0/{path}"


def _board(request: SiteRequest) -> Board:
    name = request.parameters["board"]
    board = request.state.boards.get(int(name)) if name.isdigit() else None
    if board is None or not request.state.projects[board.project].readers & request.user.groups:
        raise Refusal(404, f"The board {name} does not exist, or you do not have permission to view it.")
    return board


@routes.get("/board")
def list_boards(request: SiteRequest) -> Any:
    name, kind, project = (request.text(each) for each in ("name", "type", "projectKeyOrId"))
    visible = {each.key for each in request.state.visible_projects(request.user)}
    key = request.state.project(project, request.user).key if project else None
    found = [
        board
        for board in request.state.boards.values()
        if board.project in visible
        if name is None or name.casefold() in board.name.casefold()
        if kind in (None, board.type)
        if key in (None, board.project)
    ]
    return paged([_board_json(request, board) for board in found], request)


@routes.get("/board/{board}")
def get_board(request: SiteRequest) -> Any:
    return _board_json(request, _board(request))


@routes.get("/board/{board}/configuration")
def configuration(request: SiteRequest) -> Any:
    board = _board(request)
    project = request.state.projects[board.project]
    ids = dict.fromkeys([project.first_status, *(each.to for each in project.transitions)])
    names = [(request.state.statuses[each].name, [{"id": each, "self": ""}]) for each in ids]
    link = _link(request, f"board/{board.id}/configuration")
    return {
        "id": board.id,
        "name": board.name,
        "type": board.type,
        "self": link,
        "filter": {"id": board.filter, "self": ""},
        "columnConfig": {
            "columns": [{"name": name, "statuses": each} for name, each in names],
            "constraintType": "none",
        },
        "estimation": {"type": "field", "field": {"fieldId": STORY_POINTS, "displayName": "Story Points"}},
        "ranking": {"rankCustomFieldId": 10019},
    }


@routes.get("/board/{board}/project")
def projects_of_board(request: SiteRequest) -> Any:
    project = request.state.projects[_board(request).project]
    return paged([Renderer(request).project(project)], request)


@routes.get("/board/{board}/version")
def versions_of_board(request: SiteRequest) -> Any:
    project = request.state.projects[_board(request).project]
    return paged([Renderer(request).version(each, project) for each in project.versions], request)


# ---- issues of boards, sprints and epics ---------------------------------------------------------


def _issues(request: SiteRequest, jql: str) -> list[Issue]:
    """The issues of a board or sprint, in their rank, limited by the query of the request."""
    extra = request.text("jql")
    condition, _, order = (extra or "").partition("ORDER BY")
    full = f"({jql}) AND ({condition})" if condition.strip() else jql
    return find(request, f"{full} ORDER BY {order or 'Rank'}")


def _on_board(request: SiteRequest) -> str:
    return f"project = {_board(request).project}"


def _in_backlog(request: SiteRequest) -> str:
    closed = "(sprint is EMPTY OR sprint in futureSprints())"
    return f"{_on_board(request)} AND statusCategory != Done AND issuetype != Epic AND {closed}"


def _in_sprint(request: SiteRequest) -> str:
    return f"sprint = {_sprint(request).id}"


def _in_epic(request: SiteRequest) -> str:
    return f"parent = {_epic(request).key}"


def _without_epic(_: SiteRequest) -> str:
    return "parent is EMPTY AND issuetype != Epic"


ISSUE_LISTS = {
    "/board/{board}/issue": _on_board,
    "/board/{board}/backlog": _in_backlog,
    "/board/{board}/sprint/{sprint}/issue": _in_sprint,
    "/board/{board}/epic/{epic}/issue": _in_epic,
    "/board/{board}/epic/none/issue": _without_epic,
    "/sprint/{sprint}/issue": _in_sprint,
    "/epic/{epic}/issue": _in_epic,
    "/epic/none/issue": _without_epic,
}


def _register_lists() -> None:
    """Each list exists with an index, and on Cloud also with a token under /rest/software."""
    for path, query in ISSUE_LISTS.items():

        def by_index(request: SiteRequest, query: Any = query) -> Any:
            page, start, size = page_of(issues := _issues(request, query(request)), request)
            render, fields, expand = (
                IssueJson(request).render,
                wanted_fields(request, "*navigable"),
                request.words("expand"),
            )
            shown = [render(issue, fields, expand) for issue in page]
            return {
                "expand": "schema,names",
                "startAt": start,
                "maxResults": size,
                "total": len(issues),
                "issues": shown,
            }

        def by_token(request: SiteRequest, query: Any = query) -> Any:
            fields = wanted_fields(request, "*navigable")
            options: JsonObject = {"nextPageToken": request.text("nextPageToken"), "fields": fields}
            options |= {"maxResults": request.number("maxResults", 50), "expand": request.words("expand")}
            return token_page(request, _issues(request, query(request)), options)

        routes.get(path)(by_index)
        software.get(path)(by_token)


_register_lists()


@software.get("/board/{board}/issue/approximate-count")
def count_issues(request: SiteRequest) -> Any:
    return {"count": len(_issues(request, _on_board(request)))}


# ---- sprints -------------------------------------------------------------------------------------


def _sprint_json(request: SiteRequest, sprint: Sprint) -> JsonObject:
    rendered: JsonObject = {"id": sprint.id, "self": _link(request, f"sprint/{sprint.id}"), "state": sprint.state}
    rendered |= {"name": sprint.name, "originBoardId": sprint.board, "goal": sprint.goal}
    for name, moment in (("startDate", sprint.start), ("endDate", sprint.end), ("completeDate", sprint.completed)):
        if moment is not None:
            rendered[name] = zulu_time(moment)
    return rendered


def _sprint(request: SiteRequest) -> Sprint:
    name = request.parameters["sprint"]
    sprint = request.state.sprints.get(int(name)) if name.isdigit() else None
    if sprint is None:
        raise Refusal(404, f"Sprint with id {name} does not exist.")
    return sprint


@routes.get("/board/{board}/sprint")
def sprints_of_board(request: SiteRequest) -> Any:
    board, states = _board(request), request.words("state")
    if board.type != "scrum":
        raise Refusal(400, "The board does not support sprints")
    found = [
        each
        for each in request.state.sprints.values()
        if each.board == board.id and (not states or each.state in states)
    ]
    return paged([_sprint_json(request, sprint) for sprint in found], request)


@routes.get("/sprint/{sprint}")
def get_sprint(request: SiteRequest) -> Any:
    return _sprint_json(request, _sprint(request))


def _moment(body: JsonObject, name: str) -> datetime | None:
    value = body.get(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Refusal(400, errors={name: f"The date '{value}' is not valid."}) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@routes.post("/sprint")
def create_sprint(request: SiteRequest) -> Any:
    body = request.object
    board = request.state.boards.get(body.get("originBoardId") or 0)
    if board is None:
        raise Refusal(404, f"The board {body.get('originBoardId')} does not exist.")
    if not body.get("name"):
        raise Refusal(400, errors={"name": "The name of the sprint is required."})
    number = int(request.state.new_id())
    sprint = Sprint(number, body["name"], board.id, goal=body.get("goal") or "")
    sprint.start, sprint.end = _moment(body, "startDate"), _moment(body, "endDate")
    request.state.sprints[number] = sprint
    return Response(201, _sprint_json(request, sprint))


@routes.put("/sprint/{sprint}")
def update_sprint(request: SiteRequest) -> Any:
    """Start, complete or change a sprint. A future sprint starts only with dates and without another active one."""
    sprint, body = _sprint(request), request.object
    target: Any = str(body.get("state") or sprint.state).lower()
    allowed = {("future", "active"), ("active", "closed"), (sprint.state, sprint.state)}
    if (sprint.state, target) not in allowed:
        raise Refusal(400, f"A sprint in the state '{sprint.state}' cannot be set to '{target}'.")
    start, end = _moment(body, "startDate") or sprint.start, _moment(body, "endDate") or sprint.end
    if target == "active" and (start is None or end is None):
        raise Refusal(400, "A sprint needs a start date and an end date to be started.")
    if target == "closed" and sprint.state == "active":
        sprint.completed = request.state.now()
    sprint.state, sprint.start, sprint.end = target, start, end
    sprint.name, sprint.goal = body.get("name") or sprint.name, body.get("goal") or sprint.goal
    return _sprint_json(request, sprint)


routes.post("/sprint/{sprint}")(update_sprint)


@routes.delete("/sprint/{sprint}")
def delete_sprint(request: SiteRequest) -> Any:
    sprint = _sprint(request)
    if sprint.state != "future":
        raise Refusal(400, "Only a future sprint can be deleted.")
    request.state.sprints.pop(sprint.id)
    for issue in request.state.issues.values():
        issue.values[SPRINT] = [each for each in optional_list(issue.values.get(SPRINT)) if each != sprint.id]
    return NO_CONTENT


def _named_issues(request: SiteRequest) -> list[Issue]:
    names = optional_list(request.object.get("issues"))
    if len(names) > 50:  # noqa: PLR2004 - the limit of the API
        raise Refusal(400, "At most 50 issues can be moved at once.")
    return [request.state.writable_issue(str(name), request.user) for name in names]


@routes.post("/sprint/{sprint}/issue")
def move_to_sprint(request: SiteRequest) -> Any:
    sprint = _sprint(request)
    if sprint.state == "closed":
        raise Refusal(400, "Issues cannot be moved to a closed sprint.")
    for issue in _named_issues(request):
        _set_sprint(request, issue, sprint.id)
    return _ranked(request)


def _set_sprint(request: SiteRequest, issue: Issue, number: int | None) -> None:
    old = optional_list(issue.values.get(SPRINT))
    closed = [each for each in old if request.state.sprints[each].state == "closed"]
    changes.store(request, issue, {SPRINT: [*closed, number] if number is not None else closed})


@routes.post("/backlog/issue")
def move_to_backlog(request: SiteRequest) -> Any:
    for issue in _named_issues(request):
        _set_sprint(request, issue, None)
    return NO_CONTENT


@routes.put("/issue/rank")
def rank(request: SiteRequest) -> Any:
    _named_issues(request)
    return _ranked(request)


def _ranked(request: SiteRequest) -> Response:
    """Put the named issues before or after another one, if the request says so."""
    body, ranks = request.object, request.state.ranks
    anchor = body.get("rankBeforeIssue") or body.get("rankAfterIssue")
    if anchor:
        target = request.state.issue(str(anchor), request.user)
        moved = list(dict.fromkeys(issue.id for issue in _named_issues(request) if issue.id != target.id))
        kept = [each for each in ranks if each not in moved]
        place = kept.index(target.id) + (0 if body.get("rankBeforeIssue") else 1)
        ranks[:] = [*kept[:place], *moved, *kept[place:]]
    return NO_CONTENT


@routes.get("/issue/{issue}/estimation")
def get_estimation(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return {"fieldId": STORY_POINTS, "value": issue.values.get(STORY_POINTS)}


@routes.put("/issue/{issue}/estimation")
def set_estimation(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    value = request.object.get("value")
    try:
        changes.store(request, issue, {STORY_POINTS: None if value is None else float(value)})
    except ValueError:
        raise Refusal(400, f"The estimate '{value}' is not a number.") from None
    return {"fieldId": STORY_POINTS, "value": issue.values.get(STORY_POINTS)}


# ---- epics ---------------------------------------------------------------------------------------


def _epic(request: SiteRequest) -> Issue:
    issue = request.state.issue(request.parameters["epic"], request.user)
    if request.state.issue_types[issue.values["issuetype"]].level != 1:
        raise Refusal(404, f"The issue {issue.key} is not an epic.")
    return issue


def _epic_json(request: SiteRequest, epic: Issue) -> JsonObject:
    done = request.state.statuses[epic.values["status"]].category == "done"
    summary = epic.values["summary"]
    return {
        "id": int(epic.id),
        "key": epic.key,
        "self": _link(request, f"epic/{epic.id}"),
        "name": epic.values.get(EPIC_NAME) or summary,
        "summary": summary,
        "color": {"key": "color_4"},
        "done": done,
    }


@routes.get("/board/{board}/epic")
def epics_of_board(request: SiteRequest) -> Any:
    board, done = _board(request), request.text("done")
    epics = [_epic_json(request, each) for each in find(request, f"project = {board.project} AND issuetype = Epic")]
    return paged([each for each in epics if done in (None, str(each["done"]).lower())], request)


@routes.get("/epic/{epic}")
def get_epic(request: SiteRequest) -> Any:
    return _epic_json(request, _epic(request))


@routes.post("/epic/{epic}/issue")
def move_to_epic(request: SiteRequest) -> Any:
    epic = _epic(request)
    for issue in _named_issues(request):
        _set_epic(request, issue, epic.id)
    return NO_CONTENT


@routes.post("/epic/none/issue")
def remove_from_epic(request: SiteRequest) -> Any:
    for issue in _named_issues(request):
        _set_epic(request, issue, None)
    return NO_CONTENT


def _set_epic(request: SiteRequest, issue: Issue, epic: str | None) -> None:
    if IssueJson(request).is_subtask(issue):
        raise Refusal(400, f"The subtask {issue.key} cannot be moved to an epic.")
    field = find_field("parent" if request.is_cloud else EPIC_LINK, request.kind)
    before = issue.values.get("parent")
    if field is not None and before != epic:
        item = changes.history_item(Renderer(request), field, before, epic)
        issue.values["parent"] = epic
        changes.touch(request.state, issue, request.user.id, [item])


@routes.get("/issue/{issue}")
def get_issue(request: SiteRequest) -> Any:
    issue = request.state.issue(request.parameters["issue"], request.user)
    return IssueJson(request).render(issue, wanted_fields(request, "*all"), request.words("expand"))
