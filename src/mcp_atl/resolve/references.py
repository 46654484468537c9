"""The target of a subject: an issue key, a page id, an address of the site, or a typed reference.

ABC-12                                     an issue
123456                                     a page (an issue, a board or whatever the command is about, if it says so)
https://acme.atlassian.net/browse/ABC-12   what the address shows
page:123456, page:DOCS/Release notes       a page by id, or by space and title
board:7, sprint:31, project:ABC, space:DOCS, user:Ana Ruiz, version:10001, filter:10, attachment:55 ...
"""

import re
from typing import Literal, NamedTuple, cast, get_args
from urllib.parse import parse_qs, unquote, unquote_plus, urlsplit

from toolcharter import InvalidArguments

Kind = Literal[
    "issue",
    "page",
    "project",
    "space",
    "board",
    "sprint",
    "epic",
    "version",
    "component",
    "user",
    "filter",
    "queue",
    "attachment",
    "comment",
    "worklog",
    "link",
    "request",
    "template",
]

KINDS: tuple[str, ...] = get_args(Kind)
ISSUE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}-[1-9]\d{0,9}")

_PATHS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("page", re.compile(r"/spaces/[^/]+/pages/(?:edit-v2/)?(\d+)")),
    ("page", re.compile(r"/pages/(\d+)(?:/|$)")),
    ("space", re.compile(r"/spaces/([^/]+)(?:/overview)?/?$")),
    ("space", re.compile(r"/display/([^/]+)/?$")),
    ("board", re.compile(r"/boards/(\d+)")),
    ("queue", re.compile(r"/queues/(?:custom|issue)/(\d+)")),
    ("issue", re.compile(r"/(?:browse|issues|servicedesk/\w+/portal/\d+)/([A-Za-z][A-Za-z0-9_]*-\d+)")),
    ("project", re.compile(r"/(?:projects|browse)/([A-Za-z][A-Za-z0-9_]+)(?:/|$)")),
)


class Reference(NamedTuple):
    """The kind of a target, and its id or name."""

    kind: Kind
    id: str

    def __str__(self) -> str:
        return self.id if self.kind == "issue" else f"{self.kind}:{self.id}"


def references(subject: str, default: Kind | None = None) -> list[Reference]:
    """All references of a subject: one, or several with commas between them."""
    if subject.lower().startswith(("http://", "https://", "page:", "user:")):
        return [reference(subject, default)]  # an address, a title or a name may have a comma
    parts = [part.strip() for part in subject.split(",")]
    return [reference(part, default) for part in parts if part]


def reference(text: str, default: Kind | None = None) -> Reference:
    """The target of a text. `default` is the kind of a bare number; without one, it is a page."""
    wanted = text.strip()
    if wanted.lower().startswith(("http://", "https://")):
        return _address(wanted)
    kind, colon, rest = wanted.partition(":")
    if colon and kind.lower() in KINDS and rest.strip():
        return _normal(cast(Kind, kind.lower()), rest.strip())
    if ISSUE_KEY.fullmatch(wanted):
        return _normal("issue", wanted)
    if wanted.isascii() and wanted.isdigit():
        return Reference(default or "page", wanted)
    if default is not None and default not in ("issue", "page"):
        return Reference(default, wanted)
    raise InvalidArguments(
        f"subject: {text!r} is not an issue key (ABC-12), a page id (123456), an address of the site, or a typed "
        f"reference such as page:DOCS/Title or board:7. Kinds: {', '.join(KINDS)}. To look for words, use search.",
        fields=("subject",),
    )


def _normal(kind: Kind, id: str) -> Reference:
    return Reference(kind, id.upper() if kind in ("issue", "epic", "request", "project") else id)


def _address(address: str) -> Reference:
    url = urlsplit(address)
    query = parse_qs(url.query)
    for kind, name in (("page", "pageId"), ("issue", "selectedIssue"), ("sprint", "sprint"), ("filter", "filter")):
        if name in query:
            return _normal(cast(Kind, kind), query[name][0])
    for kind, pattern in _PATHS:
        if found := pattern.search(url.path):
            return _normal(kind, unquote(found[1]))
    if titled := re.search(r"/display/([^/]+)/([^/]+)", url.path):
        return Reference("page", f"{unquote_plus(titled[1])}/{unquote_plus(titled[2])}")
    raise InvalidArguments(
        f"subject: the address {address!r} shows no issue, page, board or space. Use a key or an id.",
        fields=("subject",),
    )
