import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule

_MARKUP = re.compile(
    r"<br\s*/?>|</(?:p|b|i|u|ul|ol|li|div|span|h[1-6]|a|strong|em|table|tr|td|th|code|pre|font)>|"
    r"&(?:nbsp|lt|gt|amp|quot|apos|#\d{2,5});|!\[[^\[\]\n]*+\]\([^()\n]*+\)|^[ \t]*\|(?: ?:?-{3,}:? ?\|)+",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|'[^'\n]{1,20}'")


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    text = tool.prose
    if not any(mark in text for mark in "<&|!"):
        return
    found = _MARKUP.search(_QUOTED.sub("", text))
    if found:
        yield Problem(f"contains the markup {found[0].strip()[:30]!r}", "description")


RULE = Rule(
    id="DSC021",
    name="page-markup",
    family="description",
    severity="note",
    what="A description with HTML tags, character entities, images or tables.",
    why="Agents read plain text. Markup costs tokens, hides the content, and most clients show it raw.",
    fix="Write plain sentences. Simple lists and code in backticks are fine.",
    bad=[{"description": "List the notes of a folder.<br>Use this to see what was written.<br>Returns &lt;id&gt;."}],
    good=[{"description": "List the notes of a folder. Use this to see what was written. Returns `<b>` as it is."}],
    check=check,
)
