"""Everything that the sandbox remembers, and who may see it."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from atlassian_sandbox.http import JsonObject, Kind, Refusal
from atlassian_sandbox.model import (
    Attachment,
    Board,
    Filter,
    Issue,
    IssueLink,
    JiraProject,
    Named,
    PageComment,
    PageTemplate,
    ServiceDesk,
    SiteUser,
    Space,
    Sprint,
    StoredPage,
)

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


@dataclass
class SiteState:
    kind: Kind
    clock: Clock
    cloud_id: str = "7d1c5a52-0b9e-4f0d-9c53-5d7a4f0c2e11"
    users: dict[str, SiteUser] = field(default_factory=dict[str, SiteUser])
    tokens: dict[str, str] = field(default_factory=dict[str, str])  # API tokens, passwords: to user ids
    scoped_tokens: set[str] = field(default_factory=set[str])  # API tokens that only the gateway accepts
    default_user: str | None = None  # who a request without credentials is
    statuses: dict[str, Named] = field(default_factory=dict[str, Named])
    priorities: dict[str, Named] = field(default_factory=dict[str, Named])
    resolutions: dict[str, Named] = field(default_factory=dict[str, Named])
    issue_types: dict[str, Named] = field(default_factory=dict[str, Named])
    link_types: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    options: dict[str, list[Named]] = field(default_factory=dict[str, list[Named]])  # by field id
    projects: dict[str, JiraProject] = field(default_factory=dict[str, JiraProject])  # by key
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
    pages: dict[str, StoredPage] = field(default_factory=dict[str, StoredPage])
    page_comments: dict[str, PageComment] = field(default_factory=dict[str, PageComment])
    page_attachments: dict[str, list[Attachment]] = field(default_factory=dict[str, list[Attachment]])  # versions by id
    templates: dict[str, PageTemplate] = field(default_factory=dict[str, PageTemplate])
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

    def user(self, id: str) -> SiteUser:
        return self.users[id]

    def find_user(self, text: str) -> SiteUser | None:
        """The user with this id, login name or e-mail address."""
        if text in self.users:
            return self.users[text]
        wanted = text.casefold()
        return next((user for user in self.users.values() if wanted in (user.name, user.email.casefold())), None)

    def search_users(self, text: str) -> list[SiteUser]:
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

    def visible_projects(self, user: SiteUser) -> list[JiraProject]:
        return [project for project in self.projects.values() if project.readers & user.groups]

    def project(self, id_or_key: str, user: SiteUser) -> JiraProject:
        for project in self.visible_projects(user):
            if id_or_key in (project.id, project.key):
                return project
        raise Refusal(404, f"No project could be found with key '{id_or_key}'.")

    def project_of(self, issue: Issue) -> JiraProject:
        return self.projects[issue.project]

    def can_see(self, issue: Issue, user: SiteUser) -> bool:
        return bool(self.project_of(issue).readers & user.groups)

    def can_write(self, project: JiraProject, user: SiteUser) -> bool:
        return bool(project.writers & user.groups)

    def visible_issues(self, user: SiteUser) -> list[Issue]:
        return [issue for issue in self.issues.values() if self.can_see(issue, user)]

    def issue(self, id_or_key: str, user: SiteUser) -> Issue:
        issue = self.issues.get(id_or_key) or self.issues.get(self.issue_ids.get(id_or_key.upper(), ""))
        if issue is None or not self.can_see(issue, user):
            raise Refusal(404, "Issue does not exist or you do not have permission to see it.")
        return issue

    def writable_issue(self, id_or_key: str, user: SiteUser) -> Issue:
        issue = self.issue(id_or_key, user)
        if not self.can_write(self.project_of(issue), user):
            raise Refusal(403, "You do not have permission to edit issues in this project.")
        return issue

    # ---- Confluence ------------------------------------------------------------------------------

    def space_by_id(self, id: str, user: SiteUser) -> Space:
        for space in self.visible_spaces(user):
            if space.id == id:
                return space
        raise Refusal(404, f"Space with id {id} was not found.")

    def space(self, key: str, user: SiteUser) -> Space:
        for space in self.visible_spaces(user):
            if space.key == key:
                return space
        raise Refusal(404, f"No space with key : {key}")

    def visible_spaces(self, user: SiteUser) -> list[Space]:
        return [space for space in self.spaces.values() if space.readers & user.groups]

    def ancestors(self, page: StoredPage) -> list[StoredPage]:
        """The pages above this one, the topmost first."""
        above: list[StoredPage] = []
        parent = page.parent
        while parent is not None and parent in self.pages:
            above.insert(0, self.pages[parent])
            parent = self.pages[parent].parent
        return above

    def can_read(self, page: StoredPage, user: SiteUser) -> bool:
        """Whether the space and the restrictions of the page and of all pages above it admit the user."""
        if not self.spaces[page.space].readers & user.groups:
            return False
        return all(each.read.admits(user) for each in (*self.ancestors(page), page))

    def can_update(self, page: StoredPage, user: SiteUser) -> bool:
        allowed = bool(self.spaces[page.space].writers & user.groups)
        return allowed and self.can_read(page, user) and page.update.admits(user)

    def page(
        self, id: str, user: SiteUser, *, status: tuple[str, ...] = ("current", "draft", "archived")
    ) -> StoredPage:
        page = self.pages.get(id)
        if page is None or page.status not in status or not self.can_read(page, user):
            raise Refusal(404, f"No content found with id: {id}")
        return page

    def writable_page(self, id: str, user: SiteUser) -> StoredPage:
        page = self.page(id, user)
        if not self.can_update(page, user):
            raise Refusal(403, f"You do not have permission to update the content with id {id}.")
        return page

    def children(self, page_id: str, user: SiteUser) -> list[StoredPage]:
        pages = [
            page
            for page in self.pages.values()
            if page.parent == page_id and page.status == "current" and self.can_read(page, user)
        ]
        return sorted(pages, key=lambda page: (page.position, int(page.id)))

    def descendants(self, page_id: str, user: SiteUser) -> list[StoredPage]:
        """All pages below, each before its children."""
        return [page for child in self.children(page_id, user) for page in (child, *self.descendants(child.id, user))]
