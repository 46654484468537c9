"""Install links, read as the two editors document them: neither has a validator that could be asked."""

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from toolcharter.packaging.launch import launch_of
from toolcharter.packaging.links import InstallLinks, badges, links


def in_vscode(found: InstallLinks) -> object:
    """`vscode:mcp/install?` and the URL-encoded JSON."""
    scheme, _, config = found.vscode.partition("?")
    assert scheme == "vscode:mcp/install"
    assert parse_qs(urlsplit(found.vscode_page).query)["url"] == [found.vscode]
    return json.loads(unquote(config))


def in_cursor(found: InstallLinks) -> tuple[str, object]:
    """`cursor://...?name=NAME&config=` and the base64 of the JSON."""
    assert found.cursor.startswith("cursor://anysphere.cursor-deeplink/mcp/install?")
    query = parse_qs(urlsplit(found.cursor).query)
    assert parse_qs(urlsplit(found.cursor_page).query) == query
    return query["name"][0], json.loads(base64.b64decode(query["config"][0], validate=True))


@pytest.mark.requirement("PKG-3")
def test_a_server_is_started_with_uvx():
    start = {"command": "uvx", "args": ["--from", "toolcharter[todo]", "mcp-todo"]}
    found = links(launch_of("todo"))
    assert in_vscode(found) == {"name": "todo", **start}
    assert in_cursor(found) == ("todo", start)


@pytest.mark.requirement("PKG-3")
def test_what_is_required_is_asked_for_and_a_secret_is_hidden(install_weather: Callable[..., None]):
    install_weather(scripts="acme-weather")
    found = links(launch_of("weather"))
    start = {"command": "uvx", "args": ["acme-weather"]}
    key = "TOOLCHARTER_API_KEY"
    question = {"type": "promptString", "id": key, "description": 'Key of the "weather" service: $5.', "password": True}
    assert in_vscode(found) == {"name": "weather", **start, "env": {key: f"${{input:{key}}}"}, "inputs": [question]}
    assert in_cursor(found) == ("weather", {**start, "env": {key: f"${{env:{key}}}"}})


def test_a_server_that_runs_is_added_by_its_address():
    found = links(launch_of("todo"), url="http://127.0.0.1:8000/todo/mcp")
    assert in_vscode(found) == {"name": "todo", "type": "http", "url": "http://127.0.0.1:8000/todo/mcp"}
    assert in_cursor(found) == ("todo", {"url": "http://127.0.0.1:8000/todo/mcp"})


def test_badges_are_markdown_whose_links_github_keeps():
    targets = re.findall(r"\]\(([^)]+)\)\n", badges(launch_of("todo")))
    assert [urlsplit(target).scheme for target in targets] == ["https", "https"]
