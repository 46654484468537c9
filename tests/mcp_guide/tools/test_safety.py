"""Nothing outside the document root is read or written, by any tool."""

import os

import pytest

from tests.mcp_guide.guide_server import value, write_documents

SECRET = "the secret"
OUTSIDE = [
    "../secret.md",
    "../../secret.md",
    "lang/../../secret.md",
    "..",
    "./..",
    "/etc/passwd",
    "~/secret.md",
    ".hidden.md",
    ".git/config",
    "link.md",
    "inside.md",
    "linked/secret.md",
    "lang\\..\\..\\secret.md",
    "secret.md\x00.md",
    "n" * 5_000,
    "n/" * 2_000,
    "C:/secret.md",
    "%2e%2e/secret.md",
]


@pytest.fixture
def trapped(root):
    """A document root with links, hidden files and a pipe."""
    write_documents(root.parent, {"secret.md": SECRET})
    write_documents(root, {"lang/.hidden.md": SECRET, "lang/.git/config": SECRET, ".top/secret.md": SECRET})
    (root / "lang" / "link.md").symlink_to(root.parent / "secret.md")
    (root / "lang" / "inside.md").symlink_to(root / "lang" / ".hidden.md")
    (root / "lang" / "linked").symlink_to(root.parent)
    (root / "out").symlink_to(root.parent)
    os.mkfifo(root / "lang" / "pipe.md")
    return root


@pytest.mark.requirement("GUI-11")
@pytest.mark.parametrize("name", OUTSIDE)
async def test_no_name_reaches_outside(call, trapped, name):
    before = {path: path.read_bytes() for path in trapped.parent.rglob("*") if path.is_file()}
    document = {"category_dir": "lang", "name": name}
    for tool, arguments in (
        ("get_content", {"expression": f"lang/{name}"}),
        ("get_content", {"expression": "lang", "pattern": name}),
        ("get_content", {"expression": name}),
        ("list_documents", {"expression": f"lang/{name}"}),
        ("update_document", {**document, "content": "changed", "explicit_action": "UPDATE_DOCUMENT"}),
        ("delete_document", {**document, "explicit_action": "DELETE_DOCUMENT"}),
        ("create_document", {**document, "category_dir": name, "content": "x", "explicit_action": "CREATE_DOCUMENT"}),
        ("add_category", {"name": "trap", "dir": name}),
    ):
        failed, answer = await call(tool, **arguments)
        if tool == "add_category" and not failed:
            failed, answer = await call("get_content", expression="trap")
            await value(call, "remove_category", name="trap", explicit_action="REMOVE_CATEGORY")
        assert failed, (tool, answer)
        assert answer["error_type"] in ("ValidationError", "NotFoundError", "ConflictError"), (tool, answer)
        assert SECRET not in str(answer)
    after = {path: path.read_bytes() for path in trapped.parent.rglob("*") if path.is_file()}
    assert {path for path in before if after.get(path) != before[path]} == set()
    assert {path for path in after if path not in before} <= {
        trapped.parent / "guide.yaml",
        trapped.parent / "guide.yaml.lock",
    }


@pytest.mark.requirement("GUI-11")
async def test_lists_search_and_patterns_stay_inside(call, trapped):
    listed = await value(call, "list_documents")
    everything = await value(call, "get_content", expression="lang/**")
    assert [one["path"] for one in listed["documents"] if one["path"].startswith("lang/")] == everything["documents"]
    assert everything["documents"] == ["lang/java.md", "lang/python.md", "lang/rust.md"]
    assert SECRET not in everything["content"]
    assert (await value(call, "search_content", query="secret"))["total"] == 0
    assert [one["name"] for one in (await value(call, "list_categories"))["categories"]] == [
        "docs",
        "guidelines",
        "lang",
    ]
