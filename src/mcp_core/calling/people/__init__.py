"""Confirmations that a person can give in the console, beside the way of the client.

waiting      a confirmation that waits, and its answer
approvals    all that wait, at every process that shares the state; the first answer holds

The answer to a confirmation is a text that the shared store reserves under its id. Whoever reserves it first, the
client or the console, has answered; everyone else finds that answer. Announcements only make it quicker, and show at
one process what waits at another.
"""

from mcp_core.calling.people.approvals import AlreadyAnswered, Approvals
from mcp_core.calling.people.waiting import Verdict, Waiting

__all__ = ["AlreadyAnswered", "Approvals", "Verdict", "Waiting"]
