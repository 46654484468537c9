"""The demo company: Harbourline sells tickets for ferries. Dates are relative to the clock."""

from atlassian_sandbox.company.boards import add_boards
from atlassian_sandbox.company.issues import add_issues
from atlassian_sandbox.company.pages import add_pages
from atlassian_sandbox.company.people import add_people
from atlassian_sandbox.company.projects import add_projects
from atlassian_sandbox.http import Kind
from atlassian_sandbox.state import Clock, SiteState


def build_company(kind: Kind, clock: Clock) -> SiteState:
    state = SiteState(kind, clock)
    add_people(state)
    add_projects(state)
    add_boards(state)
    add_issues(state)
    add_pages(state)
    state.last_id = 30000
    return state
