import re
from collections.abc import Iterable

from toolcharter.verify.model import Parameter, Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.texts import normalize

_WORDS = (
    *("conversation", "chat", "dialog", "context", "history", "system prompt", "user prompt", "original prompt"),
    *("chain of thought", "reasoning", "sidenote", "side note", "previous messages", "messages so far", "the user"),
)
_NAMES = frozenset(
    [
        "sidenote",
        "side note",
        "sidenotes",
        "side notes",
        "conversation",
        "conversation history",
        "conversation context",
        "chat history",
        "message history",
        "previous messages",
        "full conversation",
        "entire conversation",
        "full context",
        "chain of thought",
        "your reasoning",
        "original user prompt",
        "user original prompt",
    ]
)
_ASKS = re.compile(
    r"\b(full|entire|complete|whole|all( of)? the|verbatim|current|this|your|previous)( \w+)? "
    r"(conversation|chat|dialog(ue)?|context window|message history|chat history|conversation history|system prompt|"
    r"chain of thought|internal reasoning|hidden reasoning)\b"
)
_HAND_OVER = re.compile(
    r"\b(supply|provide|include|pass|give|write|put|send|share) (your|the|all) ((full|entire|whole|previous) )?"
    r"(chain of thought|internal reasoning|conversation( history| so far)?|chat history|system prompt|"
    r"messages so far)\b"
    r"|\b(full|entire|complete|whole) (chat|conversation)( so far| history)\b"
    r"|\beverything the user (has )?(said|written|typed)\b"
)
_POINTER = re.compile(r"\b(id|ids|identifier|url|link|name|key|number)\b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TALK = re.compile(
    r"\b(chat|chats|message|messages|conversation|conversations|thread|threads|dm|channel|inbox|memory|memories|llm|"
    r"model|completion|completions|slack|discord|telegram|whatsapp|transcript|thinking|thought|thoughts|meeting|call|"
    r"calls|speech|dialogue|assistant|agent|prompt|prompts|sms)\b"
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    joined = tool.texts.joined
    # A tool about conversations takes one.
    if not any(word in joined for word in _WORDS) or _TALK.search(normalize(tool.name, "name")):
        return
    if match := _HAND_OVER.search(normalize(tool.description)):
        yield Problem(f"says {match[0]!r}", "description")
    for argument in tool.arguments:
        if said := _wants(argument):
            yield Problem(f"{argument.name!r} takes {said}", argument.path)


def _wants(argument: Parameter) -> str | None:
    if "string" not in argument.types and argument.types:
        return None
    said = normalize(argument.description)
    if match := _ASKS.search(said):
        # An id, a name or a link of a conversation is no conversation.
        return None if _POINTER.search(said) else f"'{match[0]}'"
    name = normalize(_HUMP.sub("_", argument.name), "name")
    return f"what its name says: '{name}'" if name in _NAMES else None


RULE = Rule(
    id="SEC011",
    name="requests-conversation",
    family="security",
    severity="warning",
    what="An argument takes the conversation, the system prompt or the thoughts of the model.",
    why=(
        "An agent fills in what a tool asks for. A conversation may hold what the user told someone else, "
        "and it leaves the machine unseen."
    ),
    fix="Take what the task needs, one argument for each thing.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"note": {"type": "string", "description": "The entire conversation so far."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"note": {"type": "string", "description": "The text of the note."}},
            }
        }
    ],
    check=check,
)
