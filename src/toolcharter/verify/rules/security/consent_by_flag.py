import re
from collections.abc import Iterable

from mcp_core.schema.walk import Node
from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.texts import normalize, normalize_name
from toolcharter.verify.vocabulary import DESTROYING

_DESTRUCTIVE_VERBS = DESTROYING | {
    "clear",
    "reset",
    "revoke",
    "overwrite",
    "prune",
    "discard",
    "flush",
    "empty",
    "cancel",
}
_CONSENT_NAMES = frozenset(
    [
        "confirm",
        "confirmed",
        "confirmation",
        "approve",
        "approved",
        "approval",
        "consent",
        "yes",
        "sure",
        "agree",
        "agreed",
        "acknowledge",
        "acknowledged",
        "user_confirmed",
        "user_approved",
        "are_you_sure",
        "i_am_sure",
        "really",
    ]
)
_MENTIONS_CONSENT = re.compile(r"\b(confirm\w*|are you sure|prompt(s|ing)?|consent|approv\w+)\b")
_LITERAL = "explicit_action"


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not _is_destructive(tool) or any(argument.name == _LITERAL for argument in tool.arguments):
        return
    for argument in tool.arguments:
        if argument.types == ("boolean",) and _is_consent(argument):
            yield Problem(f"{argument.name!r} is the only consent, and the model sets it", argument.path)


def _is_destructive(tool: Tool) -> bool:
    return tool.hint("destructiveHint") is True or any(word in _DESTRUCTIVE_VERBS for word in tool.name_words[:3])


def _is_consent(argument: Node) -> bool:
    name = normalize_name(argument.name).replace(" ", "_")
    if name in _CONSENT_NAMES or name.startswith("confirm_"):
        return True
    return name in {"force", "skip_confirmation", "no_confirm", "assume_yes", "no_prompt"} and bool(
        _MENTIONS_CONSENT.search(normalize(argument.description)) or name != "force"
    )


RULE = Rule(
    id="SEC012",
    name="consent-by-flag",
    family="security",
    severity="warning",
    what="The only consent of a destructive tool is a boolean that the model sets.",
    why="A model sets confirm to true when a call without it fails. The user is never asked.",
    fix=(
        "Let the client ask the user (elicitation), or at least require a literal such as "
        "explicit_action='DELETE_NOTE', with a description that says when to use it."
    ),
    bad=[
        {
            "name": "delete_note",
            "inputSchema": {
                "type": "object",
                "properties": {"confirm": {"type": "boolean", "description": "Set to true to confirm."}},
            },
        }
    ],
    good=[
        {
            "name": "delete_note",
            "inputSchema": {
                "type": "object",
                "properties": {"explicit_action": {"const": "DELETE_NOTE", "description": "States the user's wish."}},
                "required": ["explicit_action"],
            },
        }
    ],
    check=check,
)
