"""Texts about a server for people and agents: the reference of its tools, and `llms.txt`."""

import re
from collections.abc import Sequence

from mcp_core.app import App
from mcp_core.declare.describe import full
from toolcharter.packaging.published import PublishedServer


def tools_page(app: App) -> str:
    """The tools, prompts and resources of a server, as Markdown."""
    about = f"The server `{app.name}`, version {app.version}. {app.instructions or ''}".rstrip()
    lines = [f"# Tools of {app.title}", "", about]
    lines += ["", "| tool | category | what it does |", "|---|---|---|"]
    specs = app.registry.get_all()
    lines += [f"| [{s.name}](#{s.name}) | {s.category} | {s.doc.summary} |" for s in specs]
    for spec in specs:
        declared = spec.declaration
        facts = [f"version {declared.version}", f"response time {spec.response_time}"]
        facts.append(f"permissions {', '.join(spec.permissions)}" if spec.permissions else "no permission needed")
        facts.append(f"cached for {spec.cache_ttl:g} s" if spec.cache_ttl else "never cached")
        if limit := declared.rate_limit:
            facts.append(f"at most {limit.max_calls} calls in {limit.window_ms / 1000:g} s")
        facts.append(f"tags {', '.join(spec.tags)}")
        body = re.sub(r"^## ", "### ", full(spec), flags=re.MULTILINE)
        lines += ["", f"## {spec.name}", "", f"{'; '.join(facts).capitalize()}.", "", body]
    return "\n".join([*lines, *_library_lines(app)]) + "\n"


def _library_lines(app: App) -> list[str]:
    """The prompts and resources of a server, if it has any."""
    lines: list[str] = []
    for prompt in app.library.prompts:
        lines += ["", f"## Prompt {prompt.name}", "", _needed(prompt.permissions), "", prompt.description]
        if prompt.arguments:
            lines += ["", "| argument | required | what it is |", "|---|---|---|"]
            lines += [
                f"| {a.name} | {'yes' if a.required else 'no'} | {a.description or ''} |" for a in prompt.arguments
            ]
    for source in app.library.sources:
        lines += ["", f"## Resources {source.prefix}", "", _needed(source.permissions), ""]
        lines += ["| address | name | what it is |", "|---|---|---|"]
        lines += [f"| `{r.uri}` | {r.name} | {r.description or ''} |" for r in source.fixed]
        lines += [f"| `{t.uri_template}` | {t.name} | {t.description or ''} |" for t in source.templates]
    return lines


def _needed(permissions: Sequence[str]) -> str:
    return f"Permissions {', '.join(permissions)}." if permissions else "No permission needed."


def llms_txt(server: PublishedServer) -> str:
    """The overview for language models, in the form of llmstxt.org: a title, a summary, and where to read on."""
    launch, about = server.launch, server.about
    lines = [f"# {launch.title}", "", f"> {launch.description}", ""]
    lines += [f"An MCP server. Start it over stdio with `{' '.join(launch.uvx())}`.", ""]
    lines += ["## Documentation", "", "- [Tools](tools.md): each tool with its arguments, results and examples"]
    lines += [f"- [{label}]({url})" for label, url in _pages(about.homepage, about.repository)]
    lines += ["", "## Tools", ""]
    lines += [f"- [{one.name}](tools.md#{one.name}): {one.doc.summary}" for one in server.app.registry.get_all()]
    if server.settings:
        lines += ["", "## Environment variables", ""]
        lines += [f"- `{one.variable}`: {one.description}" for one in server.settings]
    return "\n".join(lines) + "\n"


def _pages(homepage: str | None, repository: str | None) -> list[tuple[str, str]]:
    return [(label, url) for label, url in (("Homepage", homepage), ("Source code", repository)) if url]
