import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_WHEN = re.compile(
    r"\b(?:when(?:ever)?|use (?:this|it|the|to|for|if|only|instead|in|as|with|after|before|\w+ instead)|"
    r"used? (?:to|for|when|by|in)|"
    r"useful|(?:in)?valuable|usage|ideal(?:ly)?|suitable|intended (?:for|to)|helpful|helps?|"
    r"perfect for|great for|good for|"
    r"best for|recommended|prefer(?:red|ably)?|if (?:you|the user|a user)|before|after|first|instead|"
    r"designed (?:for|to)|allows? (?:you|users?|agents?)|lets? (?:you|users?)|so (?:that|you)|"
    r"in order to|should (?:be|only|not|use)|"
    r"must (?:be|call|use)|only (?:call|use|for)|call (?:this|it)|e\.g\.|for example|such as|use cases?|scenarios?)\b",
    re.IGNORECASE,
)


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    if tool.is_english and not _WHEN.search(tool.prose):
        yield Problem("does not say when to use the tool", "description")


RULE = Rule(
    id="DSC008",
    name="no-usage",
    family="description",
    severity="note",
    what="A description that does not say when to use the tool.",
    why=(
        "To choose a tool, an agent needs to know what it does, for which requests it is meant, "
        "and which of two similar tools to use."
    ),
    fix="Add a sentence such as: Use this when the user wants to see, show or review their notes.",
    bad=[{"description": "List the notes of a folder. Returns the id and the title of each note."}],
    good=[{"description": "List the notes of a folder. Use this when the user wants to see what they wrote down."}],
    check=check,
)
