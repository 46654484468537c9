"""What requests repeat in their headers, at a server that compares them with the body."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from mcp_core.declare.listed import ListedTool
from tests.toolcharter.govern.governed import offering
from toolcharter.govern.charter import UpstreamTable
from toolcharter.govern.upstream.mirrored import argument_headers, header_value, marked_arguments
from toolcharter.govern.upstream.processes import ProcessGroups
from toolcharter.govern.upstream.upstream import Upstream


@pytest.mark.parametrize("city", ["Rome", "M\u00fcnchen", " Rome\n", "", "=?base64?Um9tZQ==?="])
async def test_a_server_accepts_arguments_that_go_into_headers_too(city: str, web: Upstream):
    result = await web.call_tool("ann", "visit", {"city": {"name": city}, "days": 3}, seconds=30, meta={})
    assert result["content"] == [{"type": "text", "text": "done"}]


async def test_a_server_accepts_names_that_are_not_ascii(web: Upstream):
    for method, key, name in (("resources/read", "uri", "web://page/gr\u00fcn"), ("prompts/get", "name", "\u00fcber")):
        assert await web.request("ann", method, {key: name}, seconds=30, meta={})


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with offering("http", "web") as url:
        yield url


@pytest.fixture
async def web(address: str, tmp_path: Path) -> AsyncIterator[Upstream]:
    upstream = Upstream("web", UpstreamTable(url=address), ProcessGroups(), tmp_path, lambda _: None)
    yield upstream
    await upstream.close()


def test_only_what_has_one_place_and_a_valid_name_goes_into_a_header():
    inner = {"type": "object", "properties": {"b": {"type": "boolean", "x-mcp-header": "Inner"}}}
    schema = {
        "properties": {
            "a": inner,
            "list": {"type": "array", "items": {"x-mcp-header": "Item"}},
            "bad": {"x-mcp-header": "two words\r\n"},
            "wrong": {"x-mcp-header": 1},
            "none": {"type": "string", "x-mcp-header": "None"},
        }
    }
    marked = marked_arguments(ListedTool("t", "", "", schema))
    assert marked == {("a", "b"): "Mcp-Param-Inner", ("none",): "Mcp-Param-None"}
    assert argument_headers(marked, {"a": {"b": True}, "none": None, "list": [1]}) == {"Mcp-Param-Inner": "true"}
    assert argument_headers(marked, {"a": "text", "none": [1]}) == {}


def test_a_value_that_a_header_cannot_have_is_encoded():
    assert header_value("read file") == "read file"
    assert header_value("\u00fcber") == "=?base64?w7xiZXI=?="
    assert header_value("\ud800") == "=?base64?Pw==?="  # as in the body
