"""A page that finds documents, and one that shows them."""

import posixpath
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlencode

from starlette.responses import Response

from toolcharter.console import ConsolePage, Html, ToolAnswer, ToolFailed, View, element, join, markdown, tag
from toolcharter.plurals import count

PATH, READ_PATH = "/console/guide", "/console/guide/read"
_PAGE_SIZE = 100
_HITS = 30
_CHARACTERS_PER_TOKEN = 4


async def _show(view: View) -> Response:
    query, expression = view.parameter("q").strip(), view.parameter("expression").strip()
    try:
        found = await (_search(view, query) if query else _documents(view, expression))
    except ToolFailed as error:
        found = element("p", str(error), class_="problem", role="alert")
    return view.page("Guide", element("h1", "Guide"), _forms(query, expression), found, scripts=["guide.css"])


def _forms(query: str, expression: str) -> Html:
    search = _form("q", "Search the text", query, "Search", "type checker")
    select = _form("expression", "What an expression selects", expression, "Select", "lang/python+rust,docs/*.md")
    return element("div", search, select, class_="grid forms")


def _form(name: str, label: str, value: str, button: str, example: str) -> Html:
    field = element("input", id=name, name=name, value=value, placeholder=example, type="search")
    line = element("div", field, element("button", button, type="submit", class_="quiet"), class_="find")
    return element("form", element("label", label, for_=name), line, method="get", action=PATH)


async def _search(view: View, query: str) -> Html:
    answer = await view.call(view.app("guide"), "search_content", {"query": query, "limit": _HITS})
    hits: list[dict[str, Any]] = answer.value["hits"]
    if not hits:
        return element("p", f"No document contains {query!r}.")
    return join(element("h2", count(len(hits), "hit")), element("ol", map(_hit, hits), class_="hits"))


def _hit(hit: Mapping[str, Any]) -> Html:
    title = element("h3", _link(hit["path"], hit.get("title")))
    return element("li", title, element("p", hit["snippet"]), _path(hit["path"]))


async def _documents(view: View, expression: str) -> Html:
    arguments = {"limit": _PAGE_SIZE, "expression": expression, "cursor": view.parameter("cursor")}
    answer = await view.call(view.app("guide"), "list_documents", _given(arguments))
    documents: list[dict[str, Any]] = answer.value["documents"]
    if not documents:
        return element("p", answer.message or "No document exists yet.")
    total, cursor = answer.value.get("total", len(documents)), answer.value.get("next_cursor")
    read = READ_PATH + "?" + urlencode({"expression": expression})
    following = PATH + "?" + urlencode({"expression": expression, "cursor": cursor})
    shown = f"{len(documents)} of {count(total, 'document')}" if total > len(documents) else count(total, "document")
    return join(
        element("h2", f"{shown}, about {count(sum(map(_tokens, documents)), 'token')}"),
        element("p", element("a", "Read them as an agent does", href=read, class_="button quiet"))
        if expression
        else None,
        _table(documents),
        element("p", element("a", "More documents", href=following)) if cursor else None,
        element("p", answer.message, class_="note") if answer.message else None,
    )


def _table(documents: Sequence[Mapping[str, Any]]) -> Html:
    head = element(
        "tr", [element("th", word, scope="col") for word in ("Document", "About", "Type")], _number("Tokens", "th")
    )
    rows = [
        element(
            "tr",
            element("td", _link(document["path"], document.get("title")), _path(document["path"])),
            element("td", document.get("description") or "", _tags(document)),
            element("td", tag(document["type"]) if document.get("type") else None),
            _number(_tokens(document)),
        )
        for document in documents
    ]
    return element(
        "div",
        element("table", element("thead", head), element("tbody", rows), class_="documents"),
        class_="scroll",
        tabindex="0",
    )


def _number(text: str | int, name: str = "td") -> Html:
    return element(name, str(text), class_="number", scope="col" if name == "th" else None)


def _tags(document: Mapping[str, Any]) -> Html | None:
    tags = document.get("tags")
    return element("span", " ", join(*(element("small", f"#{one} ") for one in tags))) if tags else None


def _link(path: str, title: str | None) -> Html:
    return element("a", title or path, href=READ_PATH + "?" + urlencode({"expression": path}))


def _path(path: str) -> Html:
    return element("div", element("code", path), class_="note")


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that have a value."""
    return {name: value for name, value in arguments.items() if value}


def _tokens(document: Mapping[str, Any]) -> int:
    """An estimate."""
    return -(-int(document.get("size") or 0) // _CHARACTERS_PER_TOKEN)


# --- reading -----------------------------------------------------------------------------------------------


async def _read(view: View) -> Response:
    expression = view.parameter("expression").strip()
    arguments = {"expression": expression, "format": "json", "cursor": view.parameter("cursor")}
    back = element("p", element("a", "All documents", href=PATH))
    try:
        answer = await view.call(view.app("guide"), "get_content", _given(arguments))
    except ToolFailed as error:
        return view.page("Guide", back, element("h1", expression), element("p", str(error), role="alert"), status=404)
    documents: list[dict[str, Any]] = answer.value["content"]
    taken = {"content"}
    title = documents[0].get("title") or documents[0]["path"] if len(documents) == 1 else expression
    return view.page(
        title,
        back,
        _notes_for_agent(answer, documents),
        join(
            *(_article(document, taken) for document in documents), _more(expression, answer.value.get("next_cursor"))
        ),
        scripts=["guide.css", "copy.js"],
    )


def _notes_for_agent(answer: ToolAnswer, documents: Sequence[Mapping[str, Any]]) -> Html:
    """The notes that an agent gets beside the text, and their cost."""
    cost = f"{count(len(documents), 'document')}, about {count(sum(map(_tokens, documents)), 'token')}."
    parts = [element("p", cost)]
    if answer.message:
        parts.append(element("p", element("strong", "For the person: "), answer.message))
    if answer.instruction:
        parts.append(element("p", element("strong", "For the agent: "), answer.instruction))
    return element("aside", parts, class_="card told", aria_label="What an agent is told")


def _article(document: Mapping[str, Any], taken: set[str]) -> Html:
    path = document["path"]
    if document.get("is_text", True):
        body = markdown.render_document(document.get("text") or "", partial(_linked, path), taken)
    else:
        body = element("p", "Not a text.")
    return element("article", _path(path), element("div", body, class_="document"), aria_label=path)


def _linked(path: str, url: str) -> str | None:
    """The target of a link from one document to another."""
    target, _, fragment = url.partition("#")
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
    if found.startswith(".."):
        return None
    return READ_PATH + "?" + urlencode({"expression": found}) + (f"#{fragment}" if fragment else "")


def _more(expression: str, cursor: str | None) -> Html | None:
    if not cursor:
        return None
    address = READ_PATH + "?" + urlencode({"expression": expression, "cursor": cursor})
    return element("p", element("a", "Read on", href=address, class_="button quiet"))


PAGES = [ConsolePage(PATH, _show, "Guide", 40), ConsolePage(READ_PATH, _read)]
