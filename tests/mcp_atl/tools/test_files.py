"""download and upload: what arrives, where, and what never happens."""

import asyncio
import base64
import json
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcp_atl.client.errors import SiteUnavailable
from mcp_atl.client.http import SiteClient, open_http
from mcp_atl.client.transfer import RemoteFile, Upload, local_name, save
from mcp_atl.files import CallerFolders
from mcp_atl.site import Access, AtlassianSite
from mcp_atl.tools.files import ShownImages
from mcp_core.calling.records import Request
from mcp_core.context import RequestHeaders
from mcp_core.files.folder import new_file
from tests.mcp_atl.server import Server, serve
from toolcharter import InvalidArguments, ToolContext

KINDS = pytest.mark.parametrize("kind", ["cloud", "datacenter"])
SITE = AtlassianSite(
    "acme", "cloud", jira_url="https://acme.atlassian.net", confluence_url="https://acme.atlassian.net"
)
MEGABYTE = 1_000_000


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def page_file(server: Server) -> Any:
    """The first file of a page in the sandbox."""
    return next(iter(server.sandbox.state.page_attachments.values()))[-1]


@pytest.mark.requirement("ATL-3")
@KINDS
async def test_files_of_issues_are_downloaded(kind: Any, tmp_path: Path):
    async with serve(kind, files=tmp_path) as server:
        key = next(issue.key for issue in server.sandbox.state.issues.values() if issue.attachments)
        by_id = await server.ok("download", "attachment:12902")
        again = await server.ok("download", "attachment:12902")
        content = next(
            file.content
            for issue in server.sandbox.state.issues.values()
            for file in issue.attachments
            if file.id == "12902"
        )
        of_issue = await server.ok("download", key, response_fields=["path"])
        renamed = await server.ok("download", "attachment:12902", save_as="kept.log", response_fields=["path"])
    size = len(content)
    assert by_id == {
        "files": [{"id": "12902", "name": "payment.log", "type": "text/plain", "size": size, "path": "payment.log"}]
    }
    assert again["files"][0]["path"] == "payment-2.log"
    assert (tmp_path / "payment-2.log").read_bytes() == content
    assert of_issue["files"]
    assert renamed == {"files": [{"path": "kept.log"}]}


@pytest.mark.requirement("ATL-3")
@KINDS
async def test_files_of_pages_are_downloaded(kind: Any, tmp_path: Path):
    async with serve(kind, files=tmp_path) as server:
        file = page_file(server)
        by_id = await server.ok("download", f"attachment:{file.id}")
        by_name = await server.ok("download", f"page:{file.page}", name=file.file_name, save_as="same.png")
        error = await server.refused("NotFoundError", "download", f"page:{file.page}", name="other.png")
    assert by_id["files"][0]["name"] == by_name["files"][0]["name"] == file.file_name
    assert (tmp_path / "same.png").read_bytes() == file.content
    assert "has no file 'other.png'" in error


@KINDS
async def test_images_are_shown_if_asked(kind: Any, tmp_path: Path):
    async with serve(kind, files=tmp_path) as server:
        plain = await server.app.call("atl_download", {"subject": "attachment:12901"})
        arguments = {"subject": "attachment:12901", "parameters": {"show": True}, "response_fields": ["name"]}
        shown = await server.app.call("atl_download", arguments)
        notes = (await server.ok("download", "attachment:12902", show=True))["notes"]
        issues = server.sandbox.state.issues.values()
        file = next(one for issue in issues for one in issue.attachments if one.id == "12901")
        file.content += bytes(MEGABYTE)
        large = (await server.ok("download", "attachment:12901", show=True))["notes"]
    assert plain.blocks == ""
    text, image = shown.content()
    assert json.loads(text["text"]) == {"success": True, "value": {"files": [{"name": "empty-basket.png"}]}}
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]) == file.content[:-MEGABYTE]
    assert notes == ["payment.log: is not an image that can be shown; it was saved."]
    assert large == [
        f"empty-basket.png: is too large to be shown ({len(file.content):,} bytes, 1,000,000 left); it was saved."
    ]


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\n\0\0\0WEBP", "image/webp"),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_the_content_of_a_file_says_which_image_it_is(tmp_path: Path, start: bytes, kind: str | None):
    path, shown = tmp_path / "a.png", ShownImages()
    path.write_bytes(start)
    shown.add("a.png", path, len(start))
    assert [image.mime_type for image in shown.images] == ([kind] if kind else [])


@pytest.mark.requirement("ATL-3")
@KINDS
async def test_files_are_uploaded_to_issues_and_pages(kind: Any, tmp_path: Path):
    (tmp_path / "a.txt").write_bytes(b"first")
    (tmp_path / "b ü.bin").write_bytes(b"\r\n--x\r\n\0")
    async with serve(kind, files=tmp_path) as server:
        page = page_file(server).page
        on_issue = await server.ok("upload", "APP-1", files=["a.txt", "b ü.bin"])
        on_page = await server.ok("upload", f"page:{page}", files=["a.txt"], comment="one")
        (tmp_path / "a.txt").write_bytes(b"second")
        again = await server.ok("upload", f"page:{page}", files=["a.txt"], comment="two")
        issue = next(one for one in server.sandbox.state.issues.values() if one.key == "APP-1")
        attached = [(one.file_name, one.media_type, one.content) for one in issue.attachments[-2:]]
        versions = [
            (one.content, one.comment) for one in server.sandbox.state.page_attachments[on_page["files"][0]["id"]]
        ]
    assert [(one["name"], one["size"]) for one in on_issue["files"]] == [("a.txt", 5), ("b ü.bin", 8)]
    assert attached == [
        ("a.txt", "text/plain", b"first"),
        ("b ü.bin", "application/octet-stream", b"\r\n--x\r\n\0"),
    ]
    assert again["files"][0]["id"] == on_page["files"][0]["id"]
    assert versions == [(b"first", "one"), (b"second", "two")]


@pytest.mark.requirement("ATL-3")
async def test_no_path_leaves_the_folder(tmp_path: Path):
    files = tmp_path / "files"
    files.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (files / "link.txt").symlink_to(tmp_path / "secret.txt")
    async with serve("cloud", files=files) as server:
        for name in ("../secret.txt", str(tmp_path / "secret.txt"), "link.txt"):
            assert "outside of the folder" in await server.refused("ValidationError", "upload", "APP-1", files=[name])
            await server.refused("ValidationError", "download", "attachment:12902", save_as=name)
        stored = server.sandbox.state.issues
        file = next(one for issue in stored.values() for one in issue.attachments if one.id == "12902")
        file.file_name = "../../secret.txt"
        saved = await server.ok("download", "attachment:12902", response_fields=["path"])
        sent = [request for request in server.sandbox.requests if request.method == "POST"]
    assert saved == {"files": [{"path": "_.._secret.txt"}]}
    assert sent == []
    assert (tmp_path / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("a.png", "a.png"),
        ("../..", "_"),
        ("", "attachment-7"),
        (".bashrc", "bashrc"),
        ("a/b\\c:d\n.txt", "a_b_c_d_.txt"),
        ("ü" * 200 + ".txt", "ü" * 75 + ".txt"),
        ("no ending", "no ending"),
    ],
)
def test_a_remote_name_becomes_a_name_in_the_folder(name: str, local: str):
    assert local_name(name, "7") == local


@pytest.mark.requirement("ATL-3")
async def test_sizes_are_bounded(tmp_path: Path):
    (tmp_path / "large.bin").write_bytes(bytes(100))
    async with serve("cloud", files=tmp_path) as server:
        up = await server.refused("ValidationError", "upload", "APP-1", files=["large.bin"], max_bytes=99)
        down = await server.refused("ValidationError", "download", "attachment:12902", max_bytes=1)
    assert up == "'large.bin' has 100 bytes or more; the limit is 99. Set parameters.max_bytes to allow it."
    assert "the limit is 1." in down
    assert names(tmp_path) == ["large.bin"]


@pytest.mark.requirement("ATL-3")
async def test_one_failed_file_does_not_hide_the_others(tmp_path: Path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    async with serve("cloud", files=tmp_path) as server:
        server.sandbox.faults.fail(500, method="POST")
        value = await server.ok("upload", "APP-1", files=["a.txt", "b.txt"], response_fields=["name"])
        posts = [request for request in server.sandbox.requests if request.method == "POST"]
    assert value["files"] == [{"name": "b.txt"}]
    assert value["notes"][0].startswith("a.txt: The site failed (HTTP 500")
    assert len(posts) == 2


@pytest.mark.requirement("ATL-11")
async def test_progress_is_reported(tmp_path: Path):
    (tmp_path / "large.bin").write_bytes(bytes(3 * MEGABYTE))
    reports: list[tuple[float, float | None, str | None]] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))

    async with serve("cloud", files=tmp_path) as server:
        for command, subject, parameters in (
            ("upload", "APP-1", {"files": ["large.bin"]}),
            ("download", "APP-1", {"name": "large.bin"}),
        ):
            reports.clear()
            arguments = {"subject": subject, "parameters": parameters}
            request = Request(f"atl_{command}", arguments, server.app.local_caller, progress=report)
            answer: Any = await server.app.answer(request)
            assert not answer.is_error, answer.text
            done = [one[0] for one in reports]
            assert len(done) >= 3
            assert done == sorted(set(done))
            assert reports[-1] == (3 * MEGABYTE, 3 * MEGABYTE, "large.bin")


def test_each_caller_has_a_folder_of_their_own(tmp_path: Path):
    def folder(user: str | None, authorization: str | None) -> Path:
        headers = RequestHeaders({"x-atlassian-authorization": authorization} if authorization else {})
        context = ToolContext("c", "t", "a", "1", "now", user_id=user, headers=headers)
        return CallerFolders(tmp_path).folder(context).file_to_write("a.txt").parent

    folders = [
        folder(None, None),
        folder("ann", None),
        folder("bob", None),
        folder(None, "Bearer 1"),
        folder("ann", "x"),
    ]
    assert len(set(folders)) == 5
    assert folders[0] == tmp_path
    assert folder("ann", None) == folders[1]


class Chunks(httpx2.AsyncByteStream):
    """Megabytes that are made as they are read, and may break off."""

    def __init__(self, count: int, *, breaks: bool = False) -> None:
        self._count, self._breaks = count, breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self._count):
            yield bytes(MEGABYTE)
        if self._breaks:
            raise httpx2.ReadError("gone")


class CountingTransport(httpx2.AsyncBaseTransport):
    """A site that reads uploads and forgets them, and answers with a download."""

    def __init__(self, download: Chunks) -> None:
        self.received, self._download = 0, download

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async for chunk in request.stream:  # pyright: ignore[reportGeneralTypeIssues]
            self.received += len(chunk)
        return (
            httpx2.Response(200, json=[{}]) if request.method == "POST" else httpx2.Response(200, stream=self._download)
        )


def client(transport: httpx2.AsyncBaseTransport) -> SiteClient:
    return SiteClient(Access(SITE), open_http(SITE, transport), slots=asyncio.Semaphore(2))


async def ignore(done: int) -> None:
    pass


def remote(size: int | None) -> RemoteFile:
    return RemoteFile("1", "large.bin", None, size, "jira", "/rest/api/3/attachment/content/1")


@pytest.mark.requirement("ATL-3")
async def test_memory_stays_flat_for_large_files(tmp_path: Path):
    transport = CountingTransport(Chunks(50))
    connection = client(transport)
    tracemalloc.start()
    try:
        with new_file(tmp_path / "large.bin") as target:
            size = await save(connection, remote(50 * MEGABYTE), target, max_bytes=100 * MEGABYTE, report=ignore)
        with (tmp_path / "large.bin").open("rb") as content:
            upload = Upload("large.bin", content, "application/octet-stream", ignore, {})
            await connection.send("jira", "POST", "/rest/api/3/issue/A-1/attachments", upload=upload)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 50 * MEGABYTE
    assert transport.received > 50 * MEGABYTE
    assert peak < 8 * MEGABYTE


@pytest.mark.requirement("ATL-3")
@pytest.mark.parametrize(
    ("stream", "size", "error", "text"),
    [
        (Chunks(2, breaks=True), None, SiteUnavailable, "cannot be reached"),
        (Chunks(2), 3 * MEGABYTE, SiteUnavailable, "did not arrive complete: 2,000,000 of 3,000,000 bytes"),
        (Chunks(9), None, InvalidArguments, "the limit is 4,000,000"),
        (Chunks(9), 9 * MEGABYTE, InvalidArguments, "has 9,000,000 bytes"),
    ],
)
async def test_a_broken_download_leaves_nothing(
    tmp_path: Path, stream: Chunks, size: int | None, error: type[Exception], text: str
):
    connection = client(CountingTransport(stream))
    with pytest.raises(error, match=text), new_file(tmp_path / "large.bin") as target:
        await save(connection, remote(size), target, max_bytes=4 * MEGABYTE, report=ignore)
    assert names(tmp_path) == []
