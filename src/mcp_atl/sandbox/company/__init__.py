"""The demo company: Harbourline sells tickets for ferries. Dates are relative to the clock."""

from mcp_atl.sandbox.company.boards import add_boards
from mcp_atl.sandbox.company.issues import add_issues
from mcp_atl.sandbox.company.pages import add_pages
from mcp_atl.sandbox.company.people import add_people
from mcp_atl.sandbox.company.projects import add_projects
from mcp_atl.sandbox.http import Kind
from mcp_atl.sandbox.state import Clock, State


def build_company(kind: Kind, clock: Clock) -> State:
    state = State(kind, clock)
    add_people(state)
    add_projects(state)
    add_boards(state)
    add_issues(state)
    add_pages(state)
    state.last_id = 30000
    return state
