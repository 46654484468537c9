"""Everything that the sandbox remembers: people, projects, issues, boards, spaces and pages.

Values that refer to something else (a user, a status, a version) are kept as its id; the API modules
render them. Texts are kept in the format in which they were written.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from mcp_atl.sandbox.http import JsonObject, Kind, Refusal

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


@dataclass
class User:
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
class Transition:
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
class Project:
    id: str
    key: str
    name: str
    type: Literal["software", "business", "service_desk"]
    lead: str
    description: str
    issue_types: list[str]
    transitions: list[Transition]
    first_status: str
    readers: set[str]  # groups that can browse it
    writers: set[str]  # groups that can change it
    components: list[Component] = field(default_factory=list[Component])
    versions: list[Version] = field(default_factory=list[Version])
    last_number: int = 0


@dataclass
class Comment:
    id: str
    author: str
    body: Any
    created: datetime
    updated: datetime
    public: bool = True
    visibility: JsonObject | None = None


@dataclass
class Worklog:
    id: str
    author: str
    comment: Any
    started: datetime
    seconds: int
    created: datetime
    updated: datetime


@dataclass
class Change:
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
    comments: list[Comment] = field(default_factory=list[Comment])
    worklogs: list[Worklog] = field(default_factory=list[Worklog])
    history: list[Change] = field(default_factory=list[Change])
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
class Queue:
    id: str
    name: str
    jql: str


@dataclass
class ServiceDesk:
    id: str
    project: str
    request_types: list[RequestType]
    queues: list[Queue]


@dataclass
class Body:
    format: Literal["atlas_doc_format", "storage", "wiki"]
    value: str


@dataclass
class PageVersion:
    number: int
    title: str
    body: Body
    author: str
    created: datetime
    message: str = ""
    minor: bool = False


@dataclass
class Restriction:
    users: set[str] = field(default_factory=set[str])
    groups: set[str] = field(default_factory=set[str])

    def __bool__(self) -> bool:
        return bool(self.users or self.groups)

    def admits(self, user: User) -> bool:
        return not self or user.id in self.users or bool(self.groups & user.groups)


@dataclass
class Page:
    id: str
    space: str  # the key of its space
    parent: str | None
    versions: list[PageVersion]
    type: Literal["page", "blogpost", "folder"] = "page"
    status: Literal["current", "draft", "trashed", "archived"] = "current"
    labels: list[str] = field(default_factory=list[str])
    read: Restriction = field(default_factory=Restriction)
    update: Restriction = field(default_factory=Restriction)
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
class Template:
    id: str
    name: str
    description: str
    body: Body
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


@dataclass
class State:
    kind: Kind
    clock: Clock
    cloud_id: str = "7d1c5a52-0b9e-4f0d-9c53-5d7a4f0c2e11"
    users: dict[str, User] = field(default_factory=dict[str, User])
    tokens: dict[str, str] = field(default_factory=dict[str, str])  # API tokens, passwords: to user ids
    scoped_tokens: set[str] = field(default_factory=set[str])  # API tokens that only the gateway accepts
    default_user: str | None = None  # who a request without credentials is
    statuses: dict[str, Named] = field(default_factory=dict[str, Named])
    priorities: dict[str, Named] = field(default_factory=dict[str, Named])
    resolutions: dict[str, Named] = field(default_factory=dict[str, Named])
    issue_types: dict[str, Named] = field(default_factory=dict[str, Named])
    link_types: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    options: dict[str, list[Named]] = field(default_factory=dict[str, list[Named]])  # by field id
    projects: dict[str, Project] = field(default_factory=dict[str, Project])  # by key
    issues: dict[str, Issue] = field(default_factory=dict[str, Issue])  # by id
    issue_ids: dict[str, str] = field(default_factory=dict[str, str])  # by key, old keys too
    links: dict[str, IssueLink] = field(default_factory=dict[str, IssueLink])
    boards: dict[int, Board] = field(default_factory=dict[int, Board])
    sprints: dict[int, Sprint] = field(default_factory=dict[int, Sprint])
    filters: dict[str, Filter] = field(default_factory=dict[str, Filter])
    desks: dict[str, ServiceDesk] = field(default_factory=dict[str, ServiceDesk])
    ranks: list[str] = field(default_factory=list[str])  # issue ids, the most important first
    development: dict[str, list[JsonObject]] = field(default_factory=dict[str, list[JsonObject]])  # by issue id
    tasks: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])  # long-running work, done at once
    spaces: dict[str, Space] = field(default_factory=dict[str, Space])  # by key
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    page_comments: dict[str, PageComment] = field(default_factory=dict[str, PageComment])
    page_attachments: dict[str, list[Attachment]] = field(default_factory=dict[str, list[Attachment]])  # versions by id
    templates: dict[str, Template] = field(default_factory=dict[str, Template])
    temporary_files: dict[str, Attachment] = field(default_factory=dict[str, Attachment])
    media_files: dict[str, Attachment] = field(default_factory=dict[str, Attachment])  # by the token of a download
    last_id: int = 10000

    def now(self) -> datetime:
        return self.clock()

    def new_id(self) -> str:
        self.last_id += 1
        return str(self.last_id)

    def new_token(self) -> str:
        return secrets.token_urlsafe(24)

    # ---- people ----------------------------------------------------------------------------------

    def user(self, id: str) -> User:
        return self.users[id]

    def find_user(self, text: str) -> User | None:
        """The user with this id, login name or e-mail address."""
        if text in self.users:
            return self.users[text]
        wanted = text.casefold()
        return next((user for user in self.users.values() if wanted in (user.name, user.email.casefold())), None)

    def search_users(self, text: str) -> list[User]:
        """The active users with a name, word of a name or address that begins with the text."""
        wanted = text.casefold().strip()
        return [
            user
            for user in self.users.values()
            if user.active
            and any(
                part.startswith(wanted)
                for part in (user.display_name.casefold(), *user.display_name.casefold().split(), user.email, user.name)
            )
        ]

    # ---- Jira ------------------------------------------------------------------------------------

    def visible_projects(self, user: User) -> list[Project]:
        return [project for project in self.projects.values() if project.readers & user.groups]

    def project(self, id_or_key: str, user: User) -> Project:
        for project in self.visible_projects(user):
            if id_or_key in (project.id, project.key):
                return project
        raise Refusal(404, f"No project could be found with key '{id_or_key}'.")

    def project_of(self, issue: Issue) -> Project:
        return self.projects[issue.project]

    def can_see(self, issue: Issue, user: User) -> bool:
        return bool(self.project_of(issue).readers & user.groups)

    def can_write(self, project: Project, user: User) -> bool:
        return bool(project.writers & user.groups)

    def visible_issues(self, user: User) -> list[Issue]:
        return [issue for issue in self.issues.values() if self.can_see(issue, user)]

    def issue(self, id_or_key: str, user: User) -> Issue:
        issue = self.issues.get(id_or_key) or self.issues.get(self.issue_ids.get(id_or_key.upper(), ""))
        if issue is None or not self.can_see(issue, user):
            raise Refusal(404, "Issue does not exist or you do not have permission to see it.")
        return issue

    def writable_issue(self, id_or_key: str, user: User) -> Issue:
        issue = self.issue(id_or_key, user)
        if not self.can_write(self.project_of(issue), user):
            raise Refusal(403, "You do not have permission to edit issues in this project.")
        return issue

    # ---- Confluence ------------------------------------------------------------------------------

    def space_by_id(self, id: str, user: User) -> Space:
        for space in self.visible_spaces(user):
            if space.id == id:
                return space
        raise Refusal(404, f"Space with id {id} was not found.")

    def space(self, key: str, user: User) -> Space:
        for space in self.visible_spaces(user):
            if space.key == key:
                return space
        raise Refusal(404, f"No space with key : {key}")

    def visible_spaces(self, user: User) -> list[Space]:
        return [space for space in self.spaces.values() if space.readers & user.groups]

    def ancestors(self, page: Page) -> list[Page]:
        """The pages above this one, the topmost first."""
        above: list[Page] = []
        parent = page.parent
        while parent is not None and parent in self.pages:
            above.insert(0, self.pages[parent])
            parent = self.pages[parent].parent
        return above

    def can_read(self, page: Page, user: User) -> bool:
        """Whether the space and the restrictions of the page and of all pages above it admit the user."""
        if not self.spaces[page.space].readers & user.groups:
            return False
        return all(each.read.admits(user) for each in (*self.ancestors(page), page))

    def can_update(self, page: Page, user: User) -> bool:
        allowed = bool(self.spaces[page.space].writers & user.groups)
        return allowed and self.can_read(page, user) and page.update.admits(user)

    def page(self, id: str, user: User, *, status: tuple[str, ...] = ("current", "draft", "archived")) -> Page:
        page = self.pages.get(id)
        if page is None or page.status not in status or not self.can_read(page, user):
            raise Refusal(404, f"No content found with id: {id}")
        return page

    def writable_page(self, id: str, user: User) -> Page:
        page = self.page(id, user)
        if not self.can_update(page, user):
            raise Refusal(403, f"You do not have permission to update the content with id {id}.")
        return page

    def children(self, page_id: str, user: User) -> list[Page]:
        pages = [
            page
            for page in self.pages.values()
            if page.parent == page_id and page.status == "current" and self.can_read(page, user)
        ]
        return sorted(pages, key=lambda page: (page.position, int(page.id)))

    def descendants(self, page_id: str, user: User) -> list[Page]:
        """All pages below, each before its children."""
        return [page for child in self.children(page_id, user) for page in (child, *self.descendants(child.id, user))]
