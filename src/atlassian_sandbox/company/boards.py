from datetime import timedelta

from atlassian_sandbox.company.people import user_id
from atlassian_sandbox.model import Board, Filter, Sprint
from atlassian_sandbox.state import SiteState


def add_boards(state: SiteState) -> None:
    now = state.now()

    def days(count: int) -> timedelta:
        return timedelta(days=count)

    mia, anna = user_id(state, "mia.keller"), user_id(state, "anna.berg")
    state.filters = {
        "10601": Filter("10601", "Ferry board", mia, "project = FERRY ORDER BY Rank ASC"),
        "10602": Filter("10602", "App board", mia, "project = APP ORDER BY Rank ASC"),
        "10603": Filter(
            "10603",
            "My open work",
            mia,
            "assignee = currentUser() AND statusCategory != Done ORDER BY priority DESC",
            "Everything that waits for me",
            favourite=True,
        ),
        "10604": Filter(
            "10604", "Open bugs", anna, "issuetype = Bug AND resolution = Unresolved ORDER BY created DESC"
        ),
    }
    state.boards = {
        7: Board(7, "Ferry sprint board", "scrum", "FERRY", "10601"),
        8: Board(8, "App kanban", "kanban", "APP", "10602"),
    }
    state.sprints = {
        21: Sprint(
            21, "Ferry Sprint 12", 7, "closed", "Vouchers at checkout", now - days(34), now - days(20), now - days(20)
        ),
        22: Sprint(
            22, "Ferry Sprint 13", 7, "closed", "Refund without a call", now - days(20), now - days(6), now - days(6)
        ),
        23: Sprint(23, "Ferry Sprint 14", 7, "active", "First group booking end to end", now - days(6), now + days(8)),
        24: Sprint(24, "Ferry Sprint 15", 7, "future", "Group invoices"),
    }
