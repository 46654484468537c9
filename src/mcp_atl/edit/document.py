"""`PageDocument`: a page in the format of its site, read and changed by section or exact text."""

from typing import Any, NamedTuple, Protocol


class Heading(NamedTuple):
    """A heading, and the section that it begins."""

    number: str
    """Its place in the outline, such as 2.1."""
    level: int
    title: str
    size: int
    """Characters of its Markdown, with all sections below it."""


class Section(NamedTuple):
    """A section as Markdown."""

    heading: Heading
    markdown: str


class Edit(NamedTuple):
    """A changed document, and what was changed, in words."""

    body: Any
    summary: str


class PageDocument(Protocol):
    """What both formats can do.

    A change replaces what was named. Every other node stays as it is, and this is checked before an `Edit` is made.
    """

    def outline(self) -> list[Heading]: ...
    def markdown(self) -> str: ...
    def section(self, name: str) -> Section: ...
    def replace_section(self, name: str, markdown: str, *, remove_objects: bool = False) -> Edit: ...
    def insert_after(self, name: str, markdown: str) -> Edit: ...
    def replace_text(self, old: str, new: str) -> Edit: ...
    def append(self, markdown: str) -> Edit: ...
    def prepend(self, markdown: str) -> Edit: ...
    def replace_all(self, markdown: str, *, remove_objects: bool = False) -> Edit: ...
