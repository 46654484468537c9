"""The list of all tools, prompts and resources, to search."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response

from mcp_core.text.plurals import count
from toolcharter.console.catalogue import CatalogueEntry, search
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import shortcut, tag
from toolcharter.output.markup import Html, element

PAGE_SIZE = 200
_KINDS = {"": "Everything", "tool": "Tools", "prompt": "Prompts", "resource": "Resources"}


async def _show(view: View) -> Response:
    found, page = _find(view), _page_number(view)
    shown = found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    if "application/json" in view.request.headers.get("accept", ""):
        rest = max(0, len(found) - page * PAGE_SIZE)
        return JSONResponse({"total": len(found), "rest": rest, "entries": [_json(one) for one in shown]})
    for app in view.apps:  # whoever looks at the list will look at a tool
        view.console.checks.begin(app, view.offer(app).tools)
    return view.page(
        "Tools",
        element("h1", "Tools"),
        _form(view),
        element("p", _number_words(len(found)), id="count", role="status", class_="note"),
        element("ul", [_row(one, several=len(view.apps) > 1) for one in shown], id="entries", class_="entries"),
        _pages(view, len(found), page),
        scripts=["tools.css", "tools.js"],
    )


def _find(view: View) -> list[CatalogueEntry]:
    server, kind = view.parameter("server"), view.parameter("kind")
    entries = [
        entry
        for app in view.apps
        if server in ("", app.name)
        for entry in view.offer(app).entries
        if kind in ("", entry.kind)
    ]
    return search(entries, view.search_text())


def _page_number(view: View) -> int:
    return max(1, view.number("page") or 1)


def _json(entry: CatalogueEntry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "server": entry.server,
        "name": entry.name,
        "summary": entry.summary,
        "marks": entry.marks,
        "tokens": entry.tokens,
        "path": entry.path,
    }


def _number_words(number: int) -> str:
    return f"{number:,} found" if number else "Nothing found. Try fewer or other words."


def _form(view: View) -> Html:
    server, kind = view.parameter("server"), view.parameter("kind")
    servers = [("", "All servers"), *((app.name, app.title) for app in view.apps)]
    return element(
        "form",
        element(
            "div",
            element("label", "Search ", shortcut("/"), for_="q"),
            element(
                "input",
                type="search",
                id="q",
                name="q",
                aria_keyshortcuts="/",
                value=view.parameter("q"),
                placeholder="Words in names and descriptions",
                autocomplete="off",
                spellcheck="false",
            ),
            class_="words",
        ),
        element("div", element("label", "Server", for_="server"), _choice("server", servers, server)),
        element("div", element("label", "Kind", for_="kind"), _choice("kind", list(_KINDS.items()), kind)),
        element("button", "Search", type="submit"),
        method="get",
        action=view.path,
        role="search",
        class_="search",
        id="search",
    )


def _choice(name: str, options: Sequence[tuple[str, str]], chosen: str) -> Html:
    made = [element("option", label, value=value, selected=value == chosen) for value, label in options]
    return element("select", made, id=name, name=name)


def _row(entry: CatalogueEntry, *, several: bool) -> Html:
    marks = [tag(text, kind) for text, kind in entry.marks] if entry.kind == "tool" else [tag(entry.kind)]
    return element(
        "li",
        element("a", element("code", entry.name), href=entry.path),
        element("span", marks, class_="marks"),
        element("span", entry.server if several else "", class_="server"),
        element("span", "" if entry.tokens is None else f"{count(entry.tokens, 'token')}", class_="tokens"),
        element("span", entry.summary, class_="summary"),
    )


def _pages(view: View, total: int, page: int) -> Html:
    """Links to the pages before and after this one."""
    links = [
        element("a", label, href=f"{view.path}?{_query(view, number)}", rel=rel, class_="button quiet")
        for label, number, rel in (("Previous", page - 1, "prev"), ("Next", page + 1, "next"))
        if 1 <= number <= -(-total // PAGE_SIZE)
    ]
    return element("nav", links, aria_label="More results", id="pages", class_="row", hidden=not links)


def _query(view: View, page: int) -> str:
    kept = {name: value for name in ("q", "server", "kind") if (value := view.parameter(name))}
    return urlencode(kept | {"page": str(page)})


PAGES = [ConsolePage("/console/tools", _show, "Tools", 10, covers=("/console/prompts/", "/console/resources/"))]
