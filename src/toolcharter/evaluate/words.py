"""The words of a text that say what it is about, and words that mean the same to those who use tools."""

import re

_WORD = re.compile(r"\w+")
# "On", "off", "out", "up", "all" and "again" are not here: they distinguish actions.
_STOPWORDS = frozenset(
    """
    a about above after against am an and any are as at be because been being below between both but by can could
    did do does doing don during each few for from further had has have having he her here him himself his how i if in
    into is it its itself just let me my myself no nor not now of once only or other our ours ourselves over own please
    s same she should so some such t than that the their them then there these they this those through to too under
    until us very was we were what when where which while who whom why will with would you your yours
    """.split()  # noqa: SIM905 - a list of 110 quoted words is harder to read
)

SYNONYMS = (
    ("remove", "delete", "drop", "erase", "wipe", "discard", "trash", "purge", "unregister", "rid", "throw", "clear"),
    ("create", "add", "make", "new", "register", "define", "insert"),
    ("update", "change", "edit", "modify", "revise", "correct", "fix", "rewrite", "adjust", "replace"),
    ("list", "enumerate", "overview"),
    ("show", "display", "view", "see", "open", "read", "fetch", "get", "load", "give", "print", "tell"),
    ("find", "search", "look", "lookup", "locate", "query"),
    ("enable", "activate", "turn", "switch", "toggle"),
    ("disable", "deactivate"),
    ("rename", "name", "call"),
    ("move", "relocate", "transfer"),
    ("copy", "clone", "duplicate"),
    ("save", "store", "write", "record", "export", "dump"),
    ("setting", "option", "preference", "config", "configuration", "configure", "setup"),
    ("document", "doc", "file", "page"),
)
"""Words that people exchange for each other: a request to erase something is one for a tool that deletes it."""


def content_words(text: str) -> list[str]:
    """The words in lower case, without stop words such as `the` or `what`."""
    return [word for word in _WORD.findall(text.lower().replace("_", " ")) if word not in _STOPWORDS]
