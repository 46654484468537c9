from datetime import timedelta

from atlassian_sandbox.company.people import user_id
from atlassian_sandbox.jira.fields import ROOT_CAUSE, SERVICES, TEAM
from atlassian_sandbox.model import (
    Component,
    JiraProject,
    Named,
    RequestType,
    ServiceDesk,
    ServiceQueue,
    Version,
    WorkflowTransition,
)
from atlassian_sandbox.state import SiteState

STATUSES = [
    Named("10001", "To Do", "Not started.", "new"),
    Named("10002", "In Progress", "Someone is working on it.", "indeterminate"),
    Named("10003", "In Review", "Waiting for a review.", "indeterminate"),
    Named("10004", "Blocked", "Cannot go on.", "indeterminate"),
    Named("10005", "Done", "Finished.", "done"),
    Named("10011", "Waiting for support", "The next step is ours.", "new"),
    Named("10012", "Waiting for customer", "The next step is the customer's.", "indeterminate"),
    Named("10013", "Escalated", "With engineering.", "indeterminate"),
    Named("10014", "Resolved", "The customer has an answer.", "done"),
]
PRIORITIES = [Named(str(n), name) for n, name in enumerate(("Highest", "High", "Medium", "Low", "Lowest"), 1)]
RESOLUTIONS = [
    Named("10000", "Done", "Work has been completed."),
    Named("10001", "Won't Do", "This issue won't be actioned."),
    Named("10002", "Duplicate", "The problem is described in another issue."),
    Named("10003", "Cannot Reproduce", "The problem did not appear again."),
]
ISSUE_TYPES = [
    Named("10100", "Epic", "A large piece of work.", level=1),
    Named("10101", "Story", "Something that a user wants."),
    Named("10102", "Task", "A piece of work."),
    Named("10103", "Bug", "A problem or error."),
    Named("10104", "Sub-task", "A part of another issue.", level=-1),
    Named("10105", "Service Request", "Something that a customer asks for."),
    Named("10106", "Incident", "Something that does not work for customers."),
]
LINK_TYPES = {
    "10200": ("Blocks", "is blocked by", "blocks"),
    "10201": ("Cloners", "is cloned by", "clones"),
    "10202": ("Duplicate", "is duplicated by", "duplicates"),
    "10203": ("Relates", "relates to", "relates to"),
}
OPTIONS = {
    TEAM: ["Booking", "Payments", "Mobile", "Platform"],
    SERVICES: ["Booking site", "Payments", "Timetable", "Mobile app", "Newsletter"],
}
_TODO, _PROGRESS, _REVIEW, _BLOCKED, _DONE = "10001", "10002", "10003", "10004", "10005"
_SUPPORT, _CUSTOMER, _ESCALATED, _RESOLVED = "10011", "10012", "10013", "10014"

SOFTWARE = [
    WorkflowTransition("11", "Start work", _PROGRESS, frozenset({_TODO})),
    WorkflowTransition("21", "Send to review", _REVIEW, frozenset({_PROGRESS})),
    WorkflowTransition("31", "Done", _DONE, frozenset({_PROGRESS, _REVIEW}), ("resolution",), ("fixVersions",)),
    WorkflowTransition("41", "Block", _BLOCKED, frozenset({_PROGRESS, _REVIEW})),
    WorkflowTransition("51", "Unblock", _PROGRESS, frozenset({_BLOCKED})),
    WorkflowTransition("61", "Back to work", _PROGRESS, frozenset({_REVIEW})),
    WorkflowTransition("71", "Reopen", _TODO, frozenset({_DONE})),
]
BUSINESS = [
    WorkflowTransition("11", "Start", _PROGRESS, frozenset({_TODO})),
    WorkflowTransition("21", "Finish", _DONE, frozenset({_TODO, _PROGRESS})),
    WorkflowTransition("31", "Reopen", _TODO, frozenset({_DONE})),
]
SERVICE = [
    WorkflowTransition("11", "Ask the customer", _CUSTOMER, frozenset({_SUPPORT, _ESCALATED})),
    WorkflowTransition("21", "Back to support", _SUPPORT, frozenset({_CUSTOMER, _ESCALATED, _RESOLVED})),
    WorkflowTransition("31", "Escalate", _ESCALATED, frozenset({_SUPPORT}), (SERVICES,)),
    WorkflowTransition(
        "41", "Resolve", _RESOLVED, frozenset({_SUPPORT, _CUSTOMER, _ESCALATED}), ("resolution",), (ROOT_CAUSE,)
    ),
]


def add_projects(state: SiteState) -> None:
    state.statuses = {each.id: each for each in STATUSES}
    state.priorities = {each.id: each for each in PRIORITIES}
    state.resolutions = {each.id: each for each in RESOLUTIONS}
    state.issue_types = {each.id: each for each in ISSUE_TYPES}
    state.link_types = dict(LINK_TYPES)
    number = 10300
    for field, names in OPTIONS.items():
        state.options[field] = [Named(str(number + index), name) for index, name in enumerate(names)]
        number += 100
    everyone, staff = {"employees", "contractors"}, {"employees"}
    software_types, business_types = ["10100", "10101", "10102", "10103", "10104"], ["10102", "10104"]

    for project in (
        JiraProject(
            "10010",
            "FERRY",
            "Ferry Booking",
            "software",
            user_id(state, "mia.keller"),
            "The booking site and everything behind it.",
            software_types,
            SOFTWARE,
            _TODO,
            staff,
            staff,
            components=_components(state),
            versions=_versions(state),
        ),
        JiraProject(
            "10011",
            "APP",
            "Mobile App",
            "software",
            user_id(state, "tomas.silva"),
            "The app for travellers on iOS and Android.",
            software_types,
            SOFTWARE,
            _TODO,
            everyone,
            staff,
            versions=[Version("10420", "App 3.0", "The new ticket screen", release_date=_day(state, 25))],
        ),
        JiraProject(
            "10012",
            "PEOPLE",
            "People and Office",
            "business",
            user_id(state, "clara.dubois"),
            "Hiring, contracts and the office.",
            business_types,
            BUSINESS,
            _TODO,
            {"people-team"},
            {"people-team"},
        ),
        JiraProject(
            "10013",
            "HELP",
            "Customer Support",
            "service_desk",
            user_id(state, "priya.nair"),
            "Questions and problems of travellers.",
            ["10105", "10106", "10102"],
            SERVICE,
            _SUPPORT,
            staff,
            staff,
        ),
    ):
        state.projects[project.key] = project  # fmt: skip
    state.desks["4"] = ServiceDesk("4", "HELP", _request_types(), _queues())


def _day(state: SiteState, offset: int) -> str:
    return (state.now() + timedelta(days=offset)).date().isoformat()


def _components(state: SiteState) -> list[Component]:
    return [
        Component("10501", "Checkout", "From the basket to the ticket", user_id(state, "jonas.weber")),
        Component("10502", "Timetable", "Departures, ports and vessels", user_id(state, "emil.hansen")),
        Component("10503", "Payments", "Cards, vouchers and refunds", user_id(state, "jonas.weber")),
        Component("10504", "Search", "Finding a crossing"),
    ]


def _versions(state: SiteState) -> list[Version]:
    return [
        _version(state, "10401", "2026.1", "Spring timetable", -90, -45),
        _version(state, "10402", "2026.2", "Vouchers", -45, -10),
        _version(state, "10403", "2026.3", "Group bookings", -10, 18),
        _version(state, "10404", "2027.1", "Summer timetable", 18, 80),
    ]


def _version(state: SiteState, id: str, name: str, description: str, start: int, release: int) -> Version:  # noqa: PLR0917 - a line of a table
    version = Version(id, name, description, released=release < 0)
    version.start_date, version.release_date = _day(state, start), _day(state, release)
    return version


def _request_types() -> list[RequestType]:
    return [
        RequestType(
            "31", "Ask a question", "About tickets, ports or departures.", "10105", ("summary*", "description")
        ),
        RequestType("32", "Refund a ticket", "Give a ticket back.", "10105", ("summary*", "description*", "duedate")),
        RequestType(
            "33", "Report a problem", "Something does not work.", "10106", ("summary*", "description*", SERVICES)
        ),
    ]


def _queues() -> list[ServiceQueue]:
    return [
        ServiceQueue("41", "All open", "project = HELP AND resolution = Unresolved ORDER BY created DESC"),
        ServiceQueue("42", "Incidents", "project = HELP AND issuetype = Incident AND statusCategory != Done"),
        ServiceQueue("43", "Unassigned", "project = HELP AND assignee is EMPTY AND statusCategory != Done"),
    ]
