"""Documents as resources."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import PromptReference, ResourceTemplateReference

from mcp_core.hosts.sdk.server import build_server
from tests.mcp_guide.guide_server import DOCUMENTS, build_guide, write_documents


@pytest.fixture(params=["2026-07-28", "legacy"])
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """A client of each protocol, which the test enters."""
    write_documents(tmp_path / "docs")
    return Client(build_server(build_guide(tmp_path)), mode=request.param)


async def list_uris(client: Client) -> list[str]:
    found, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        found += [str(resource.uri) for resource in page.resources if str(resource.uri).startswith("guide://")]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def read(client: Client, uri: str) -> tuple[str, str]:
    (content,) = (await client.read_resource(uri)).contents
    return content.mime_type, content.text


@pytest.mark.requirement("PRO-2")
async def test_categories_and_documents_are_completed(connected):
    async def completed(client: Client, ref: Any, name: str, typed: str, **others: str) -> list[str]:
        found = await client.complete(ref, {"name": name, "value": typed}, others or None)
        return found.completion.values

    document = ResourceTemplateReference(type="ref/resource", uri="guide://{category}/{+document}")
    async with connected as client:
        assert await completed(client, document, "category", "l") == ["lang", "guidelines"]
        assert await completed(client, document, "document", "pyth", category="lang") == ["python.md"]
        prompt = PromptReference(type="ref/prompt", name="guide")
        assert await completed(client, prompt, "arg2", "doc") == ["docs"]


async def test_categories_and_documents_are_listed_and_read(connected):
    async with connected as client:
        listed = await list_uris(client)
        assert sorted(listed) == sorted(
            [
                *(f"guide://{name}" for name in ("docs", "guidelines", "lang")),
                *(f"guide://{path}" for path in DOCUMENTS),
            ]
        )
        assert await read(client, "guide://lang/python.md") == ("text/markdown", "# Python\n")
        assert await read(client, "guide://lang/python") == ("text/markdown", "# Python\n")
        assert await read(client, "guide://docs") == ("text/plain", "guide://docs/api.md\n")
        for uri in listed:
            await read(client, uri)
        templates = (await client.list_resource_templates()).resource_templates
        assert [t.uri_template for t in templates] == ["guide://{category}", "guide://{category}/{+document}"]


async def test_the_list_begins_with_the_documents_and_ends_with_the_pages_of_the_tools(connected):
    async with connected as client:
        listed = (await client.list_resources()).resources
    kinds = [str(resource.uri).partition("//")[0] + "/" * str(resource.uri).count("/") for resource in listed]
    documents, categories = len(DOCUMENTS), 3
    assert set(kinds[:documents]) == {"guide:///"}
    assert set(kinds[documents : documents + categories]) == {"guide://"}
    assert {kind.partition("/")[0] for kind in kinds[documents + categories :]} == {"toolcharter:"}
    first = next(resource for resource in listed if str(resource.uri) == "guide://lang/python.md")
    assert (first.name, first.title) == ("lang/python.md", "Python")


async def test_a_long_list_comes_in_pages(connected, tmp_path):
    write_documents(tmp_path / "docs", {f"many/n{number:03} ü.md": f"{number}\n" for number in range(250)})
    async with connected as client:
        listed = await list_uris(client)
        assert len(listed) == len(set(listed)) == len(DOCUMENTS) + 4 + 250
        assert await read(client, "guide://many/n007%20%C3%BC.md") == ("text/markdown", "7\n")


async def read_all(client: Client, uri: str) -> tuple[list[int], str]:
    """The sizes of the parts of a resource, and its whole text."""
    sizes, text = [], ""
    while uri:
        _, part = await read(client, uri)
        sizes.append(len(part.encode()))
        shown, found, rest = part.rpartition("The rest: ") if "The rest: " in part else (part, "", "")
        text, uri = text + shown.removesuffix("\n\n" if found else ""), rest.strip()
    return sizes, text


async def test_a_long_document_and_a_long_category_are_read_in_parts(connected, tmp_path):
    long = "".join(f"Line {number} of a ü document.\n" for number in range(10_000))
    names = {f"many/{'n' * 100}{number:04}.md": "" for number in range(1_000)}
    write_documents(tmp_path / "docs", {"lang/long ü.md": long, **names})
    async with connected as client:
        sizes, text = await read_all(client, "guide://lang/long%20%C3%BC.md")
        assert (text, len(sizes) > 3, max(sizes) <= 80_000) == (long, True, True)
        sizes, text = await read_all(client, "guide://many")
        assert text.split() == [f"guide://{name}" for name in names]
        assert (len(sizes), max(sizes) <= 80_000) == (2, True)


@pytest.mark.parametrize("rest", ["from=0", "from=-1", "from=x", "from=999999999", "to=1", "from=1&from=2", "from=²"])
async def test_a_part_that_does_not_exist_is_unknown(connected, rest):
    async with connected as client:
        for uri in (f"guide://lang/python.md?{rest}", f"guide://lang?{rest}"):
            with pytest.raises(Exception, match="Unknown resource"):
                await read(client, uri)


async def test_without_its_document_root_the_list_is_an_error(connected, tmp_path):
    async with connected as client:
        shutil.rmtree(tmp_path / "docs")
        with pytest.raises(Exception, match=r"The document root .* does not exist"):
            await list_uris(client)


@pytest.mark.requirement("GUI-11")
@pytest.mark.parametrize(
    "path",
    [
        "lang/../../secret.md",
        "lang/%2e%2e/%2e%2e/secret.md",
        "../secret.md",
        "lang//etc/passwd",
        "lang/.hidden.md",
        "lang/link.md",
        "nothing",
        "lang/none.md",
        "",
    ],
)
async def test_no_uri_reaches_outside(connected, tmp_path, path):
    write_documents(tmp_path, {"secret.md": "the secret", "docs/lang/.hidden.md": "the secret"})
    (tmp_path / "docs" / "lang" / "link.md").symlink_to(tmp_path / "secret.md")
    async with connected as client:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - each client has its own class of it
            await read(client, f"guide://{path}")
        assert "the secret" not in str(caught.value)


async def test_a_document_that_requires_a_flag_says_so(connected, tmp_path):
    write_documents(tmp_path / "docs", {"lang/tdd.md": "---\nrequires: tdd\n---\nTests first.\n"})
    async with connected as client:
        with pytest.raises(Exception, match="requires the flag tdd"):
            await read(client, "guide://lang/tdd.md")
