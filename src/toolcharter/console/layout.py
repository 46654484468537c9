"""The frame of all pages: head, navigation, content."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcharter.console.calls import agent_version
from toolcharter.console.static_files import static_files
from toolcharter.output.markup import Html, element, join

if TYPE_CHECKING:
    from toolcharter.console.page import ConsolePage, View

SIGN_IN, SIGN_OUT = "/console/sign-in", "/console/sign-out"
BEGIN_AT_PROVIDER, CALLBACK = f"{SIGN_IN}/provider", f"{SIGN_IN}/callback"
_SHEETS = ("console.css",)


def document(view: "View", title: str, content: Sequence[str], scripts: Sequence[str]) -> str:
    """A whole page."""
    body = join(
        element("a", "Skip to the content", href="#content", class_="skip"),
        _header(view),
        element("main", content, id="content", tabindex="-1"),
    )
    return html_document(title, body, scripts, view.csrf)


def html_document(title: str, body: Html, files: Sequence[str] = (), csrf: str = "", then: str = "") -> str:
    """A page without the navigation, as for signing in. The browser goes on to the path `then` by itself."""
    sheets = [*_SHEETS, *(name for name in files if name.endswith(".css"))]
    scripts = [name for name in files if name.endswith(".js")]
    address = static_files().address
    head = join(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="csrf-token", content=csrf) if csrf else None,
        element("meta", name="version", content=agent_version()) if csrf else None,
        element("meta", http_equiv="refresh", content=f"0;url={then}") if then else None,
        element("title", f"{title} · toolcharter"),
        element("link", rel="icon", href=address("icon.svg")),
        [element("link", rel="stylesheet", href=address(name)) for name in sheets],
        [element("script", type="module", src=address(name)) for name in scripts],
    )
    return "<!doctype html>" + element("html", element("head", head), element("body", body), lang="en")


def _header(view: "View") -> Html:
    pages = [page for page in view.console.navigation if page.is_shown(view)]
    current = _current(view.path, pages)
    links = [element("li", _link(view, page, is_current=page is current)) for page in pages]
    return element(
        "header",
        element("a", element("span", class_="mark", aria_hidden="true"), "toolcharter", href="/", class_="brand"),
        element("nav", element("ul", links), aria_label="Pages"),
        _person(view),
        class_="top",
    )


def _link(view: "View", page: "ConsolePage", *, is_current: bool) -> Html:
    number = page.waiting(view)
    badge = (" ", element("span", number, element("span", " waiting", class_="unseen"), class_="badge"))
    return element(
        "a", page.label, badge if number else None, href=page.path, aria_current="page" if is_current else None
    )


def _current(path: str, pages: "Sequence[ConsolePage]") -> "ConsolePage | None":
    """The page of the navigation that a path belongs to."""

    def has(page: "ConsolePage") -> bool:
        below = () if page.path == "/" else (page.path + "/",)
        return path == page.path or path.startswith((*below, *page.covers))

    return max(filter(has, pages), key=lambda page: len(page.path), default=None)


def _person(view: "View") -> Html | None:
    if view.viewer.session is None:
        return None
    return element(
        "form",
        view.csrf_field(),
        element("span", view.viewer.name or "signed in", class_="who"),
        element("button", "Sign out", type="submit", class_="quiet"),
        method="post",
        action=SIGN_OUT,
        class_="person",
    )
