"""Resources: what clients can read. Functions list and read them, and they may change while the server runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet

from mcp_core.declare.checks import permission_problems
from mcp_core.declare.completion import Complete, Completer, completer_of
from mcp_core.declare.spec import Declaration, ResponseTime, ToolSpec, spec_of
from mcp_core.errors import DeclarationError, InvalidArguments

TEXT = "text/plain"
BYTES = "application/octet-stream"


class Announces(Protocol):
    """A library, which notifies clients of changes."""

    def resource_changed(self, uri: str) -> None:
        """Notify clients that a resource has changed."""
        ...

    def resources_changed(self) -> None:
        """Notify clients that the list of resources has changed."""
        ...


class Resource(NamedTuple):
    """A resource as `resources/list` shows it."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None
    title: str | None = None
    """The name for people, where it differs."""


class ResourceTemplate(NamedTuple):
    """The form of the addresses that can be read, such as `note://{note_id}`."""

    uri_template: str
    name: str
    description: str | None = None
    mime_type: str | None = None
    complete: Mapping[str, Complete] = MappingProxyType({})
    """The values of the names in braces: a list, or a function, as for an argument of a prompt."""


class ResourcePage(NamedTuple):
    """A part of a list. `next_cursor` comes back with the request for the next part."""

    resources: Sequence[Resource]
    next_cursor: str | None = None


class Content(NamedTuple):
    """The content of a resource and its type. Plain text needs no `Content`."""

    value: str | bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class ResourceSource:
    """The resources whose address begins with `prefix`, and the functions that read and list them.

    The functions are handlers like those of tools: they may take a `ToolContext` and what the app provides.

        read(uri: str) -> str | bytes | Content | None       None if it does not exist
        list(cursor: str | None) -> [Resource] | ResourcePage    without `cursor`, all on one page

    `fixed` are resources that always exist, and `templates` the forms of other addresses: every caller sees these in
    the lists. A caller without one of the `permissions` sees nothing else.
    """

    prefix: str
    read: Callable[..., Any]
    list: Callable[..., Any] | None = None
    fixed: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()
    permissions: Sequence[str] = ()
    response_time: ResponseTime = "medium"
    changes: bool = False
    """Whether clients can subscribe to the resources: the author calls `changed` and `list_changed`."""
    ttl_ms: int = 0
    """How long clients may cache the content."""
    reader: ToolSpec = field(init=False, repr=False, compare=False)
    """The function that reads, as the pipeline's steps know it."""
    lister: ToolSpec | None = field(init=False, repr=False, compare=False)
    """The function that lists, in the same way."""
    libraries: WeakSet[Announces] = field(init=False, repr=False, compare=False, default_factory=WeakSet["Announces"])
    """The libraries that serve it."""

    completers: Mapping[tuple[str, str], Completer] = field(init=False, repr=False, compare=False)
    """Those of its templates, by template and name."""

    def changed(self, uri: str) -> None:
        """Notify clients that subscribe to a resource that it has changed. Call it after the change was written."""
        for library in tuple(self.libraries):
            library.resource_changed(uri)

    def list_changed(self) -> None:
        """Notify clients that resources were added or removed."""
        for library in tuple(self.libraries):
            library.resources_changed()

    def __post_init__(self) -> None:
        declared = Declaration(
            name=self.prefix, permissions=self.permissions, response_time=self.response_time, category="query"
        )
        object.__setattr__(self, "reader", spec_of(self.read, declared))
        object.__setattr__(self, "lister", spec_of(self.list, declared) if self.list is not None else None)
        completers = {
            (template.uri_template, name): completer_of(f"{template.uri_template} {name}", complete, self.permissions)
            for template in self.templates
            for name, complete in template.complete.items()
        }
        object.__setattr__(self, "completers", completers)
        problems = [f"permissions: {problem}" for problem in permission_problems(self.permissions)]
        if "://" not in self.prefix:
            problems.append("prefix: is not the beginning of an address; give for example 'note://'")
        if "uri" not in self.reader.input_schema["properties"]:
            problems.append("read: has no parameter for the address; add `uri: str`")
        addresses = [r.uri for r in self.fixed] + [t.uri_template for t in self.templates]
        problems += [f"{uri}: does not begin with the prefix" for uri in addresses if not uri.startswith(self.prefix)]
        if problems:
            raise DeclarationError([f"{self.prefix}: {problem}" for problem in problems])


def page_of(resources: Sequence[Resource], cursor: str | None, size: int = 100) -> ResourcePage:
    """One page of a complete list."""
    if cursor is not None and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < len(str(10**9))):
        raise InvalidArguments(f"The cursor {cursor[:60]!r} does not belong to this list. Begin without a cursor.")
    start = int(cursor or 0)
    more = str(start + size) if start + size < len(resources) else None
    return ResourcePage(resources[start : start + size], more)
