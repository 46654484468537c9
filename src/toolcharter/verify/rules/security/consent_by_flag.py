import re
from collections.abc import Iterable

from toolcharter.verify.model import Parameter, Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.texts import normalize
from toolcharter.verify.vocabulary import DESTROYING

_DESTROYS = DESTROYING | {"clear", "reset", "revoke", "overwrite", "prune", "discard", "flush", "empty", "cancel"}
_AGREES = frozenset(
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
_ASKING = re.compile(r"\b(confirm\w*|are you sure|prompt(s|ing)?|consent|approv\w+)\b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LITERAL = "explicit_action"


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if not _is_destructive(tool) or any(argument.name == _LITERAL for argument in tool.arguments):
        return
    for argument in tool.arguments:
        if argument.types == ("boolean",) and _agrees(argument):
            yield Problem(f"{argument.name!r} stands for the user's consent, and the model sets it", argument.path)


def _is_destructive(tool: Tool) -> bool:
    return tool.hint("destructiveHint") is True or any(word in _DESTROYS for word in tool.name_words[:3])


def _agrees(argument: Parameter) -> bool:
    name = normalize(_HUMP.sub("_", argument.name), "name").replace(" ", "_")
    if name in _AGREES or name.startswith("confirm_"):
        return True
    return name in {"force", "skip_confirmation", "no_confirm", "assume_yes", "no_prompt"} and bool(
        _ASKING.search(normalize(argument.description)) or name != "force"
    )


RULE = Rule(
    id="SEC012",
    name="consent-by-flag",
    family="security",
    severity="warning",
    what="The only consent that a destructive tool asks for is a boolean that the model itself sets.",
    why="A model sets confirm to true when a call without it was refused. The user is never asked.",
    fix=(
        "Have the user asked, by the client (elicitation); at the least demand a literal such as "
        "explicit_action='DELETE_NOTE', with a description that says when it may be stated."
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
