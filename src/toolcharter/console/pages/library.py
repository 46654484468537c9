"""The prompts and resources of a server."""

from typing import Any

from starlette.responses import Response

from toolcharter.console import markdown, schema_table, try_it
from toolcharter.console.catalogue import CatalogueEntry
from toolcharter.console.page import ConsolePage, View
from toolcharter.console.pieces import breadcrumb, tag
from toolcharter.output.markup import Html, element


async def _show_prompt(view: View) -> Response:
    server, name = view.part("server"), view.part("name")
    app = view.viewer.app(server)
    found = [one for one in view.offer(app).entries if one.kind == "prompt" and one.name == name] if app else []
    if app is None or not found:
        return view.not_found(f"The server {server!r} has no prompt {name!r} that you may use.")
    prompt = next(one for one in app.library.prompts if one.name == name)
    schema: dict[str, Any] = {
        "properties": {one.name: {"type": "string", "description": one.description} for one in prompt.arguments},
        "required": [one.name for one in prompt.arguments if one.required],
    }
    documentation = element(
        "div",
        element("div", markdown.render(prompt.description), class_="prose"),
        element("h2", "Arguments"),
        schema_table.table(schema),
        class_="documentation",
    )
    return view.page(
        f"{name} · {app.title}",
        breadcrumb(app),
        element("div", element("h1", element("code", name)), tag("prompt"), class_="row title"),
        element("div", documentation, try_it.section(view, app, "prompts/get", name, schema), class_="tool"),
        scripts=try_it.FILES,
    )


async def _show_resources(view: View) -> Response:
    app = view.viewer.app(view.part("server"))
    found = [one for one in view.offer(app).entries if one.kind == "resource"] if app else []
    if app is None or not found:
        return view.not_found(f"There are no resources on a server {view.part('server')!r} that you may use.")
    fixed = [one.name for one in found if "{" not in one.name]
    about = "The address of a resource. Replace what is in braces in the address of a template."
    schema = {"properties": {"uri": {"type": "string", "minLength": 1, "description": about}}, "required": ["uri"]}
    examples = [(uri, {"uri": uri}) for uri in (fixed or [one.name for one in found])[:8]]
    return view.page(
        f"Resources · {app.title}",
        breadcrumb(app),
        element("h1", "Resources"),
        element(
            "div",
            element("div", _table(found), class_="documentation"),
            try_it.section(view, app, "resources/read", "uri", schema, examples=examples),
            class_="tool",
        ),
        scripts=try_it.FILES,
    )


def _table(entries: list[CatalogueEntry]) -> Html:
    head = element("tr", element("th", "Address", scope="col"), element("th", "What it is", scope="col"))
    rows = [
        element("tr", element("th", element("code", one.name), scope="row"), element("td", one.summary))
        for one in entries
    ]
    return element("table", element("thead", head), element("tbody", rows), class_="arguments")


PAGES = [
    ConsolePage("/console/prompts/{server}/{name}", _show_prompt),
    ConsolePage("/console/resources/{server}", _show_resources),
]
