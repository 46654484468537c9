"""The records of the sandbox: people, projects, issues, boards, spaces and pages.

Values that refer to something else (a user, a status, a version) are kept as its id; the API modules
render them. Texts are kept in the format in which they were written.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from atlassian_sandbox.http import JsonObject


@dataclass
class SiteUser:
    id: str  # the account id on Cloud, the user key on Data Center
    name: str  # the login name on Data Center
    display_name: str
    email: str
    groups: set[str]
    active: bool = True
    time_zone: str = "Europe/Berlin"

    @property
    def is_admin(self) -> bool:
        return "administrators" in self.groups


@dataclass
class Named:
    """A status, priority, resolution, issue type or option: something with an id and a name."""

    id: str
    name: str
    description: str = ""
    category: str = ""  # of a status: new, indeterminate, done
    level: int = 0  # of an issue type: 1 epic, 0 standard, -1 subtask


@dataclass
class WorkflowTransition:
    id: str
    name: str
    to: str
    sources: frozenset[str] | None = None  # None: from every status
    required: tuple[str, ...] = ()  # fields that its screen requires
    optional: tuple[str, ...] = ()


@dataclass
class Component:
    id: str
    name: str
    description: str = ""
    lead: str | None = None


@dataclass
class Version:
    id: str
    name: str
    description: str = ""
    released: bool = False
    archived: bool = False
    start_date: str | None = None
    release_date: str | None = None


@dataclass
class JiraProject:
    id: str
    key: str
    name: str
    type: Literal["software", "business", "service_desk"]
    lead: str
    description: str
    issue_types: list[str]
    transitions: list[WorkflowTransition]
    first_status: str
    readers: set[str]  # groups that can browse it
    writers: set[str]  # groups that can change it
    components: list[Component] = field(default_factory=list[Component])
    versions: list[Version] = field(default_factory=list[Version])
    last_number: int = 0


@dataclass
class IssueComment:
    id: str
    author: str
    body: Any
    created: datetime
    updated: datetime
    public: bool = True
    visibility: JsonObject | None = None


@dataclass
class WorklogEntry:
    id: str
    author: str
    comment: Any
    started: datetime
    seconds: int
    created: datetime
    updated: datetime


@dataclass
class HistoryEntry:
    """One entry of the history of an issue."""

    id: str
    author: str
    created: datetime
    items: list[JsonObject]


@dataclass
class Attachment:
    id: str
    file_name: str
    author: str
    created: datetime
    media_type: str
    content: bytes
    version: int = 1
    comment: str = ""
    page: str = ""  # of Confluence: the page that it belongs to


@dataclass
class Issue:
    id: str
    key: str
    project: str
    values: dict[str, Any]  # by field id
    comments: list[IssueComment] = field(default_factory=list[IssueComment])
    worklogs: list[WorklogEntry] = field(default_factory=list[WorklogEntry])
    history: list[HistoryEntry] = field(default_factory=list[HistoryEntry])
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    remote_links: list[JsonObject] = field(default_factory=list[JsonObject])
    watchers: list[str] = field(default_factory=list[str])
    voters: list[str] = field(default_factory=list[str])
    properties: dict[str, Any] = field(default_factory=dict[str, Any])
    old_keys: list[str] = field(default_factory=list[str])


@dataclass
class IssueLink:
    id: str
    type: str
    outward: str  # the issue id that "blocks"
    inward: str  # the issue id that "is blocked by"


@dataclass
class Sprint:
    id: int
    name: str
    board: int
    state: Literal["future", "active", "closed"] = "future"
    goal: str = ""
    start: datetime | None = None
    end: datetime | None = None
    completed: datetime | None = None


@dataclass
class Board:
    id: int
    name: str
    type: Literal["scrum", "kanban"]
    project: str
    filter: str


@dataclass
class Filter:
    id: str
    name: str
    owner: str
    jql: str
    description: str = ""
    favourite: bool = False


@dataclass
class RequestType:
    id: str
    name: str
    description: str
    issue_type: str
    fields: tuple[str, ...]  # the fields of its form; a star marks those that are required


@dataclass
class ServiceQueue:
    id: str
    name: str
    jql: str


@dataclass
class ServiceDesk:
    id: str
    project: str
    request_types: list[RequestType]
    queues: list[ServiceQueue]


@dataclass
class RichText:
    format: Literal["atlas_doc_format", "storage", "wiki"]
    value: str


@dataclass
class PageVersion:
    number: int
    title: str
    body: RichText
    author: str
    created: datetime
    message: str = ""
    minor: bool = False


@dataclass
class AllowedPeople:
    users: set[str] = field(default_factory=set[str])
    groups: set[str] = field(default_factory=set[str])

    def __bool__(self) -> bool:
        return bool(self.users or self.groups)

    def admits(self, user: SiteUser) -> bool:
        return not self or user.id in self.users or bool(self.groups & user.groups)


@dataclass
class StoredPage:
    id: str
    space: str  # the key of its space
    parent: str | None
    versions: list[PageVersion]
    type: Literal["page", "blogpost", "folder"] = "page"
    status: Literal["current", "draft", "trashed", "archived"] = "current"
    labels: list[str] = field(default_factory=list[str])
    read: AllowedPeople = field(default_factory=AllowedPeople)
    update: AllowedPeople = field(default_factory=AllowedPeople)
    properties: list[JsonObject] = field(default_factory=list[JsonObject])
    position: int = 0
    views: dict[str, int] = field(default_factory=dict[str, int])  # by user
    owner: str = ""

    @property
    def current(self) -> PageVersion:
        return self.versions[-1]

    @property
    def title(self) -> str:
        return self.current.title

    @property
    def created(self) -> PageVersion:
        return self.versions[0]


@dataclass
class PageComment:
    id: str
    page: str
    parent: str | None
    versions: list[PageVersion]
    location: Literal["footer", "inline"]
    marker: str | None = None  # the id of the mark in the page
    selection: str | None = None
    resolved: bool = False

    @property
    def current(self) -> PageVersion:
        return self.versions[-1]


@dataclass
class PageTemplate:
    id: str
    name: str
    description: str
    body: RichText
    space: str | None = None


@dataclass
class Space:
    id: str
    key: str
    name: str
    description: str
    author: str
    created: datetime
    readers: set[str]
    writers: set[str]
    homepage: str | None = None
    type: Literal["global", "personal"] = "global"
    labels: list[str] = field(default_factory=list[str])
