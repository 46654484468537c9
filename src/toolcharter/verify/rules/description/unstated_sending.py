import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.vocabulary import PAYING

_COST = re.compile(
    r"\b(?:real|mainnet|testnet|charg\w+|irrevers\w+|undo|undone|final|confirm\w*|cannot|fees?|costs?|money|funds?|"
    r"warning|caution|careful\w*|immediate\w*|live|paper|simulat\w+|sandbox|dry|balance|approv\w+|permission|risk\w*)\b",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"\b(?:sen[dt]\w*|post\w*|publish\w*|email\w*|mail\w*|notif\w+|messag\w+|deliver\w*|broadcast\w*|tweet\w*|submi\w+|"
    r"forward\w*|repl\w+|announc\w+|sms|call\w*|transmi\w+|webhook\w*)\b",
    re.IGNORECASE,
)
_SENDING = frozenset(["send", "publish", "post", "email", "broadcast", "tweet", "notify", "forward", "reply"])


def check(tool: Tool, server: Server) -> Iterable[Problem]:
    verb = server.name_verb(tool)
    if not tool.is_english or verb is None:
        return
    if verb in PAYING and server.effect(tool) in {"sending", "changing"} and not _COST.search(tool.prose):
        yield Problem(
            f"{verb!r} may move money, but the cost, or whether it can be undone, is not stated", "description"
        )
    elif verb in _SENDING and server.effect(tool) == "sending" and not _SENT.search(tool.prose):
        yield Problem(f"the name says {verb!r}, but the description does not say that something is sent", "description")


RULE = Rule(
    id="DSC013",
    name="unstated-sending",
    family="description",
    severity="note",
    what="The description of a tool that sends or pays does not say so.",
    why="What is sent or paid cannot be taken back. The agent and its user must know that before the call.",
    fix="Say that it is sent immediately, to whom, what it costs, and whether it can be undone.",
    bad=[{"name": "buy_stamps", "description": "Use this when the user has run out of stamps for letters."}],
    good=[{"name": "buy_stamps", "description": "Buy stamps. The card on file is charged at once, without a refund."}],
    check=check,
)
