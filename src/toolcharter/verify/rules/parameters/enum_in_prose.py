import re
from collections.abc import Iterable

from toolcharter.verify.model import Server, Tool
from toolcharter.verify.rule import Problem, Rule
from toolcharter.verify.values import short_json

_CHOICE = (
    r"(?:type|types|format|mode|order|direction|sort|status|state|level|units?|period|interval|kind|method|category|"
    r"orientation|alignment|priority|severity|strategy|scope|role|style|size|frequency|granularity|resolution|by)"
)
_LEADS = re.compile(
    r"\b(?:(?:one of|either|(?:valid|allowed|possible|available|supported|accepted|permitted)\s+(?:\w+\s+){0,2}?"
    r"(?:are|is|include)?|must be|can be|should be)\b"
    r"|(?:options?|choices?|values?)(?: (?:are|is|include)\b|(?=\s*[:=])))\s*[:=]?\s*(?P<rest>[^.\n]*)"
    rf"|(?:\b{_CHOICE}|^[A-Za-z ]{{1,20}})\s*:\s*"
    r"(?P<after>(?:['\"`]?[\w-]+['\"`]?(?:\s*\([^)]*\))?\s*(?:,|\||\bor\b)\s*)+(?:or\s+)?['\"`]?[\w-]+)"
    rf"|\b{_CHOICE}\b[^().]{{0,30}}\((?P<inside>[\w-]{{2,}}(?:\s*[,|]\s*(?:or\s+)?[\w-]{{2,}}|\s+or\s+[\w-]{{2,}})+)\)",
    re.IGNORECASE,
)
"""A list after words for a choice. A list after other words may be examples, synonyms or parts."""
_QUOTED = re.compile(r"['\"`“]([\w .:/+-]{1,30})['\"`”]")
_BARE = re.compile(
    r"^\(?\[?([\w-]{1,20}(?:\s*(?:,|\|)\s*(?:or\s+|and\s+)?[\w-]{1,20}|\s+or\s+[\w-]{1,20})+)\]?\)?\s*(?:\(|;|$)"
)
_BETWEEN = re.compile(r"(?<!\s)\s*(?:,|\|)\s*(?:or\s+|and\s+)?|(?<!\s)\s+or\s+")
_OPEN_ENDED = re.compile(
    r"\be\.?g\b|\bexample|such as|\blike\b|\betc\b|\.\.\.|in (?:the )?format|formatted|\bany\b|\burl|comma|list of"
    r"|multiple|separated|regex|combin|modifier|wildcard|prefix|suffix|path\b|synonym|aka\b|\bid\b|name of",
    re.IGNORECASE,
)
_MORE_VALUES = re.compile(r"\bor (?:an?|any|the|your)\b|\be\.g\b|\betc\b|\.\.\.", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:multiple|comma|separated|combination|list of|one or more|if the|if it)\b", re.IGNORECASE)
_PRONOUNS = frozenset(
    {"me", "my", "i", "we", "you", "it", "they", "empty", "null", "none", "omitted", "not", "the", "a"}
)
"""Words that are in a list of words, not of values."""
_FREE_TEXTS = frozenset(
    {"content", "description", "file", "filename", "message", "path", "prompt", "q", "query", "text", "url"}
)
"""Parameters for free text: a list in their description is about the text."""
_CLOSING_KEYWORDS = frozenset({"enum", "const", "pattern", "anyOf", "oneOf", "format"})
_MIN_OPTIONS = 2
_MAX_LENGTH = 1_000


def check(tool: Tool, _: Server) -> Iterable[Problem]:
    for parameter in tool.parameters:
        text = parameter.description
        if not text or parameter.types != ("string",) or not _CLOSING_KEYWORDS.isdisjoint(parameter.schema):
            continue
        if _SEVERAL.search(text) or parameter.name.lower() in _FREE_TEXTS:
            continue
        options = options_in(text[:_MAX_LENGTH])
        names = {argument.name for argument in tool.arguments}
        if len(options) >= _MIN_OPTIONS and _PRONOUNS.isdisjoint(map(str.lower, options)) and not set(options) <= names:
            yield Problem(
                f"the values {', '.join(map(short_json, options[:4]))} are only in its description", parameter.path
            )


def options_in(text: str) -> list[str]:
    """The values that a text lists as the only allowed ones."""
    for found in _LEADS.finditer(text):
        part = found["rest"] or found["after"] or found["inside"] or ""
        before = text[max(0, found.start() - 25) : found.end()]
        if _OPEN_ENDED.search(before) or _MORE_VALUES.search(part):
            continue
        quoted = _QUOTED.findall(part)
        if len(quoted) >= _MIN_OPTIONS:
            return quoted
        bare = _BARE.match(part.strip())
        options = [option for option in _BETWEEN.split(bare[1]) if option] if bare else []
        if len(options) >= _MIN_OPTIONS and all(" " not in option for option in options):
            return options
    return []


RULE = Rule(
    id="PAR003",
    name="enum-in-prose",
    family="parameters",
    severity="warning",
    what="The description of a parameter lists its values, but the schema accepts any string.",
    why="Models follow an enum, but deviate from prose: another case, a synonym, an invented value. "
    "Clients can show an enum as a choice.",
    fix="List the values in `enum`, and explain them in the description.",
    bad=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {"order": {"type": "string", "description": "One of 'newest', 'oldest' or 'title'."}},
            }
        }
    ],
    good=[
        {
            "inputSchema": {
                "type": "object",
                "properties": {
                    "order": {
                        "type": "string",
                        "enum": ["newest", "oldest", "title"],
                        "description": "One of 'newest', 'oldest' or 'title'.",
                    }
                },
            }
        }
    ],
    check=check,
)
