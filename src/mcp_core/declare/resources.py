"""What a server offers to be read: resources that are listed and read by functions, and may change while it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mcp_core.declare.checks import permission_problems
from mcp_core.declare.spec import Declaration, ResponseTime, ToolSpec, spec_of
from mcp_core.errors import DeclarationError, InvalidArguments

TEXT = "text/plain"
BYTES = "application/octet-stream"


class Resource(NamedTuple):
    """A resource as `resources/list` shows it."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None


class ResourceTemplate(NamedTuple):
    """The form of the addresses that can be read, such as `note://{note_id}`."""

    uri_template: str
    name: str
    description: str | None = None
    mime_type: str | None = None


class ResourcePage(NamedTuple):
    """A part of a list. `next_cursor` comes back with the request for the next part."""

    resources: Sequence[Resource]
    next_cursor: str | None = None


class Content(NamedTuple):
    """What was read, and of which type it is. Text alone is `text/plain`."""

    value: str | bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class ResourceSource:
    """The resources whose address begins with `prefix`, and the functions that know them.

    The functions are handlers as those of tools: they may take a `ToolContext` and what the app provides (`Need`).

        read(uri: str) -> str | bytes | Content | None       None where there is no such resource
        list(cursor: str | None) -> [Resource] | ResourcePage    without `cursor`, all is one page

    `fixed` are resources that are always there, and `templates` the forms of others: everybody sees these in the lists,
    as they see the tools. Who lacks one of the `permissions` is shown nothing else.
    """

    prefix: str
    read: Callable[..., Any]
    list: Callable[..., Any] | None = None
    fixed: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()
    permissions: Sequence[str] = ()
    response_time: ResponseTime = "medium"
    ttl_ms: int = 0
    """How long clients may keep what they have read."""
    reader: ToolSpec = field(init=False, repr=False, compare=False)
    """The function that reads, as the pipeline's steps know it."""
    lister: ToolSpec | None = field(init=False, repr=False, compare=False)
    """The function that lists, in the same way."""

    def __post_init__(self) -> None:
        declared = Declaration(
            name=self.prefix, permissions=self.permissions, response_time=self.response_time, category="query"
        )
        object.__setattr__(self, "reader", spec_of(self.read, declared))
        object.__setattr__(self, "lister", spec_of(self.list, declared) if self.list is not None else None)
        problems = [f"permissions: {problem}" for problem in permission_problems(self.permissions)]
        if "://" not in self.prefix:
            problems.append("prefix: is not the beginning of an address; give for example 'note://'")
        if "uri" not in self.reader.input_schema["properties"]:
            problems.append("read: takes no uri; give it a parameter `uri: str`")
        given = [r.uri for r in self.fixed] + [t.uri_template for t in self.templates]
        problems += [f"{uri}: does not begin with the prefix" for uri in given if not uri.startswith(self.prefix)]
        if problems:
            raise DeclarationError([f"{self.prefix}: {problem}" for problem in problems])


def page_of(resources: Sequence[Resource], cursor: str | None, size: int = 100) -> ResourcePage:
    """One page of a list that is at hand as a whole."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < len(str(10**9))):
        raise InvalidArguments(f"The cursor {cursor[:60]!r} does not belong to this list. Begin without a cursor.")
    start = int(cursor or 0)
    more = str(start + size) if start + size < len(resources) else None
    return ResourcePage(resources[start : start + size], more)
