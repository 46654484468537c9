"""Builds the spaces and pages of the demo company."""

import json
from datetime import timedelta

from atlassian_sandbox.company.issues import PIXEL
from atlassian_sandbox.company.page_texts import MARK_PRICES, MARK_RELEASE, PageDraft, engineering, people, product
from atlassian_sandbox.company.people import user_id
from atlassian_sandbox.documents import bullets, doc, h, p, table
from atlassian_sandbox.http import JsonObject
from atlassian_sandbox.model import (
    AllowedPeople,
    Attachment,
    PageComment,
    PageTemplate,
    PageVersion,
    RichText,
    Space,
    StoredPage,
)
from atlassian_sandbox.state import SiteState
from atlassian_sandbox.storage_format import StorageWriter


def page_body(state: SiteState, document: JsonObject) -> RichText:
    """A document as this kind of site keeps it."""
    if state.kind == "cloud":
        return RichText("atlas_doc_format", json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    return RichText("storage", StorageWriter(state.kind).write(document))


def add_pages(state: SiteState) -> None:
    everyone, staff = {"employees", "contractors"}, {"employees"}
    for number, key, name, description, readers, drafts in (
        ("20001", "ENG", "Engineering", "How we build and run things", staff, engineering(state)),
        ("20002", "PROD", "Product", "What we build, for whom, and why", everyone, product(state)),
        ("20003", "HR", "People", "Contracts, hiring and the office", staff, people(state)),
    ):
        author = user_id(state, drafts[0].author)
        created = state.now() - timedelta(days=drafts[0].age)
        state.spaces[key] = Space(number, key, name, description, author, created, readers, staff, drafts[0].id)
        for position, draft in enumerate(drafts):
            state.pages[draft.id] = _build(state, key, draft, position)
    salaries = state.pages["20304"]
    salaries.read = AllowedPeople(groups={"people-team"})
    salaries.update = AllowedPeople(users={user_id(state, "clara.dubois")})
    _add_comments(state)
    _add_files(state)
    _add_templates(state)


def _build(state: SiteState, space: str, draft: PageDraft, position: int) -> StoredPage:
    documents = (*draft.older, draft.content)
    versions = [
        PageVersion(
            number,
            draft.title,
            page_body(state, document),
            user_id(state, draft.author),
            state.now() - timedelta(days=draft.age * (1 - (number - 1) / len(documents))),
            "" if number == 1 else "More detail",
        )
        for number, document in enumerate(documents, 1)
    ]
    page = StoredPage(draft.id, space, draft.parent, versions, labels=list(draft.labels), position=position)
    readers = [user for user in state.users.values() if user.active and state.spaces[space].readers & user.groups]
    page.views = {user.id: 1 + (int(draft.id) + index * 7) % 9 for index, user in enumerate(readers)}
    return page


def _comment(state: SiteState, author: str, age: float, words: str) -> PageVersion:
    created = state.now() - timedelta(days=age)
    return PageVersion(1, "", page_body(state, doc(p(words))), user_id(state, author), created)


def _add_comments(state: SiteState) -> None:
    comments = [
        PageComment("20901", "20102", None, [_comment(state, "anna.berg", 30, "Can we have one more day?")], "footer"),
        PageComment("20902", "20102", "20901", [_comment(state, "mia.keller", 29, "Yes, from now on.")], "footer"),
        PageComment(
            "20903", "20102", None, [_comment(state, "emil.hansen", 20, "And not before a holiday.")], "inline",
            MARK_RELEASE, "Never on a Friday.",
        ),
        PageComment(
            "20904", "20105", None, [_comment(state, "anna.berg", 4, "Without bicycles, as we said.")], "inline",
            MARK_PRICES, "discount is applied to the whole group",
        ),
        PageComment("20905", "20203", None, [_comment(state, "priya.nair", 12, "Last week: 52 e-mails.")], "footer"),
    ]  # fmt: skip
    state.page_comments = {comment.id: comment for comment in comments}


def _add_files(state: SiteState) -> None:
    for number, (name, page, author) in enumerate(
        (("architecture.png", "20104", "mia.keller"), ("ticket-screen.png", "20205", "anna.lindqvist"))
    ):
        created = state.now() - timedelta(days=40)
        file = Attachment(f"att2095{number}", name, user_id(state, author), created, "image/png", PIXEL, page=page)
        state.page_attachments[file.id] = [file]


def _add_templates(state: SiteState) -> None:
    meeting = doc(h(2, "Present"), p(""), h(2, "Decisions"), bullets("..."), h(2, "Tasks"), bullets("..."))
    report = doc(h(2, "What happened"), p("..."), h(2, "Timeline"), table(("Time", "Event"), ("...", "...")))
    state.templates = {
        "20951": PageTemplate("20951", "Meeting notes", "Who, what, and who does what next", page_body(state, meeting)),
        "20952": PageTemplate("20952", "Incident report", "After an incident", page_body(state, report), "ENG"),
    }
