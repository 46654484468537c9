"""Builds the issues of the demo company, with the history that led to their present status."""

import base64
from datetime import datetime, timedelta
from typing import Any

from atlassian_sandbox.company.issue_list import LINES, LINKS, PATHS, Line
from atlassian_sandbox.company.issue_texts import COMMENTS, WORKLOGS, descriptions
from atlassian_sandbox.company.people import user_id
from atlassian_sandbox.documents import doc, p
from atlassian_sandbox.http import JsonObject
from atlassian_sandbox.jira.fields import (
    CUSTOMER,
    EPIC_NAME,
    REQUEST_TYPE,
    REVIEWERS,
    SERVICES,
    SPRINT,
    STORY_POINTS,
    TARGET_DATE,
    TEAM,
)
from atlassian_sandbox.model import Attachment, HistoryEntry, Issue, IssueComment, IssueLink, WorklogEntry
from atlassian_sandbox.state import SiteState
from atlassian_sandbox.wiki_markup import to_wiki

TYPES = {
    "E": "10100", "S": "10101", "T": "10102", "B": "10103", "U": "10104", "R": "10105", "I": "10106",
}  # fmt: skip
TEAMS = {"Checkout": "Booking", "Payments": "Payments", "Search": "Platform", "Timetable": "Platform"}

# A picture of 1 by 1 pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def rich(state: SiteState, document: JsonObject) -> Any:
    """A document as this kind of site keeps it."""
    if state.kind == "cloud":
        return document
    return to_wiki(document, lambda user: state.user(user).name)


def add_issues(state: SiteState) -> None:
    texts = descriptions(state)
    for number, line in enumerate(LINES):
        issue = _build(state, line, str(11000 + number))
        if line.key in texts:
            issue.values["description"] = rich(state, texts[line.key])
        state.issues[issue.id] = issue
        state.issue_ids[issue.key] = issue.id
        state.projects[issue.project].last_number += 1
        state.ranks.append(issue.id)
    for line in LINES:
        parent = state.issue_ids.get(line.parent or "")
        state.issues[state.issue_ids[line.key]].values["parent"] = parent
    _add_activity(state)
    _add_links(state)
    _add_details(state)


def _build(state: SiteState, line: Line, id: str) -> Issue:
    project = state.projects[line.key.partition("-")[0]]
    created = _before(state, line.age)
    values: JsonObject = {
        "summary": line.summary,
        "issuetype": TYPES[line.type],
        "status": _id(state.statuses, line.status),
        "priority": _id(state.priorities, line.priority),
        "assignee": user_id(state, line.assignee) if line.assignee else None,
        "reporter": user_id(state, line.reporter),
        "creator": user_id(state, line.reporter),
        "created": created,
        "updated": created,
        "labels": list(line.labels),
        "components": [each.id for each in project.components if each.name in line.components],
        "fixVersions": [each.id for each in project.versions if each.name == line.fix],
        "duedate": (state.now() + timedelta(days=line.due)).date().isoformat() if line.due is not None else None,
        SPRINT: list(line.sprints),
        STORY_POINTS: line.points,
    }
    if line.type == "E":
        values[EPIC_NAME] = line.summary
    teams = [TEAMS[name] for name in line.components if name in TEAMS] or (["Mobile"] if project.key == "APP" else [])
    if teams:
        values[TEAM] = next(option.id for option in state.options[TEAM] if option.name == teams[0])
    issue = Issue(id, line.key, project.key, values)
    issue.watchers = list(dict.fromkeys(each for each in (values["reporter"], values["assignee"]) if each))
    _add_history(state, issue, line)
    return issue


def _add_history(state: SiteState, issue: Issue, line: Line) -> None:
    """The changes of status, spread over the time from creation to yesterday."""
    created: datetime = issue.values["created"]
    actor = issue.values["assignee"] or issue.values["reporter"]
    statuses = [_id(state.statuses, name) for name in PATHS[line.status]]
    before = state.projects[issue.project].first_status
    if line.assignee:
        moment = created + timedelta(hours=1.5) * min(line.age, 1)
        user = state.user(issue.values["assignee"])
        shown = user.id if state.kind == "cloud" else user.name
        assigned = _item(state, "assignee", (None, None), (shown, user.display_name))
        issue.history.append(HistoryEntry(f"{issue.id}0", issue.values["reporter"], moment, [assigned]))
    for step, status in enumerate(statuses, 1):
        moment = created + timedelta(days=line.age * step / (len(statuses) + 1))
        old, new = state.statuses[before], state.statuses[status]
        items = [_item(state, "status", (old.id, old.name), (new.id, new.name))]
        if new.category == "done":
            resolution = next(each for each in state.resolutions.values() if each.name == line.resolution)
            items.insert(0, _item(state, "resolution", (None, None), (resolution.id, resolution.name)))
            issue.values |= {"resolution": resolution.id, "resolutiondate": moment}
        issue.history.append(HistoryEntry(f"{issue.id}{step}", actor, moment, items))
        issue.values |= {"updated": moment, "statuscategorychangedate": moment}
        before = status


def _item(
    state: SiteState, field: str, old: tuple[str | None, str | None], new: tuple[str | None, str | None]
) -> JsonObject:
    item: JsonObject = {"field": field, "fieldtype": "jira"}
    if state.kind == "cloud":
        item["fieldId"] = field
    return item | {"from": old[0], "fromString": old[1], "to": new[0], "toString": new[1]}


def _add_activity(state: SiteState) -> None:
    for number, (key, author, age, public, words) in enumerate(COMMENTS):
        issue, moment = state.issues[state.issue_ids[key]], _before(state, age)
        body = rich(state, doc(p(words)))
        issue.comments.append(IssueComment(str(12000 + number), user_id(state, author), body, moment, moment, public))
        issue.values["updated"] = max(issue.values["updated"], moment)
    for number, (key, author, age, seconds, words) in enumerate(WORKLOGS):
        issue, moment = state.issues[state.issue_ids[key]], _before(state, age)
        comment = rich(state, doc(p(words)))
        log = WorklogEntry(str(12500 + number), user_id(state, author), comment, moment, seconds, moment, moment)
        issue.worklogs.append(log)
        issue.values["updated"] = max(issue.values["updated"], moment)
        issue.values["timetracking"] = {"originalEstimateSeconds": 16 * 3600, "remainingEstimateSeconds": 4 * 3600}


def _add_links(state: SiteState) -> None:
    types = {name: number for number, (name, _, _) in state.link_types.items()}
    for number, (name, outward, inward) in enumerate(LINKS):
        link = str(12800 + number)
        state.links[link] = IssueLink(link, types[name], state.issue_ids[outward], state.issue_ids[inward])


def _add_details(state: SiteState) -> None:
    def issue(key: str) -> Issue:
        return state.issues[state.issue_ids[key]]

    options = {option.name: option.id for option in state.options[SERVICES]}
    issue("HELP-3").values[SERVICES] = [options["Payments"], options["Booking site"]]
    issue("HELP-6").values[SERVICES] = [options["Timetable"]]
    issue("FERRY-2").values |= {CUSTOMER: "Baltic Tours", TARGET_DATE: issue("FERRY-2").values["duedate"]}
    issue("FERRY-12").values[REVIEWERS] = [user_id(state, "mia.keller"), user_id(state, "emil.hansen")]
    for key in ("HELP-1", "HELP-4", "HELP-5", "HELP-7", "HELP-9"):
        issue(key).values[REQUEST_TYPE] = "31"
    for key in ("HELP-2", "HELP-10"):
        issue(key).values[REQUEST_TYPE] = "32"
    for key in ("HELP-3", "HELP-6", "HELP-8"):
        issue(key).values[REQUEST_TYPE] = "33"
    issue("FERRY-18").attachments.append(
        Attachment("12901", "empty-basket.png", user_id(state, "priya.nair"), _before(state, 11.9), "image/png", PIXEL)
    )
    log = b"2026-11-02 09:14:03 charge voucher=V-8821\n2026-11-02 09:14:04 card declined code=51\n"
    issue("FERRY-6").attachments.append(
        Attachment("12902", "payment.log", user_id(state, "jonas.weber"), _before(state, 29), "text/plain", log)
    )
    issue("FERRY-6").remote_links.append(
        {
            "id": 12950,
            "globalId": "status-page-118",
            "relationship": "causes",
            "object": {
                "url": "https://status.example/incidents/118",
                "title": "Incident 118",
                "summary": "Double charges",
            },
        }
    )
    commit = {
        "id": "9f2c1e7",
        "message": "FERRY-12 Discount from 10 travellers",
        "url": "https://git.example/booking/9f2c1e7",
    }
    state.development[issue("FERRY-12").id] = [commit]


def _id(table: dict[str, Any], name: str) -> str:
    return next(each.id for each in table.values() if each.name == name)


def _before(state: SiteState, days: float) -> datetime:
    return state.now() - timedelta(days=days)
