"""The API of Confluence Data Center: version 1."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from mcp_atl.client.confluence.api import MAX_FILES, ConfluencePage, PageRestriction, page_by_start
from mcp_atl.client.connection import Json, ResultPage, SiteConnection, segment
from mcp_atl.client.json_values import at, list_at, object_at
from mcp_atl.client.limits import check_space
from mcp_atl.client.transfer import RemoteFile, Upload
from toolcharter import NotFound

NO_TEMPLATES = "Confluence Data Center has no API for page templates. Copy a page with move and copy_as instead."


class DataCenterConfluence:
    base = "/rest/api"
    _expand = "space,version,history,ancestors"

    def __init__(self, client: SiteConnection) -> None:
        self.client = client
        self._checked: set[str] = set()

    async def _id(self, content_id: str) -> str:
        """The path segment of a page, comment or file whose space may be reached."""
        if self.client.site.spaces is not None and content_id not in self._checked:
            found = await self._get(f"/content/{segment(content_id)}", expand="space,container")
            space, page_id = at(found, "space", "key"), at(found, "container", "id")
            if space is None and page_id is not None:  # a comment or a file is in the space of its page
                await self._id(str(page_id))
            else:
                check_space(self.client.site, str(space))
            self._checked.add(content_id)
        return segment(content_id)

    async def _get(self, path: str, **query: Any) -> Any:
        return await self.client.send("confluence", "GET", self.base + path, query=query)

    async def _write(self, method: str, path: str, json: Any = None, **query: Any) -> Any:
        return await self.client.send("confluence", method, self.base + path, query=query, json=json)

    def _page(self, found: Json) -> ConfluencePage:
        check_space(self.client.site, str(at(found, "space", "key")))
        return _stored_page(found)

    async def current_user(self) -> Json:
        return await self._get("/user/current")

    async def user(self, user_id: str) -> Json:
        return await self._get("/user", username=user_id)

    async def names(self, user_ids: Sequence[str]) -> dict[str, str]:  # noqa: ARG002 - as on Cloud
        """None: Data Center names people wherever it mentions them."""
        return {}

    async def search(
        self, cql: str, *, limit: int, cursor: str | None = None, excerpt: str | None = None
    ) -> ResultPage:
        start = int(cursor or 0)
        return page_by_start(await self._get("/search", cql=cql, start=start, limit=limit, excerpt=excerpt), start)

    async def page(self, page_id: str, *, body: bool = True, version: int | None = None) -> ConfluencePage:
        expand = f"{self._expand},body.storage" if body else self._expand
        status = "historical" if version is not None else None
        query = {"expand": expand, "version": version, "status": status}
        return self._page(await self._get(f"/content/{segment(page_id)}", **query))

    async def find_page(self, space: str, title: str) -> ConfluencePage:
        check_space(self.client.site, space)
        expand = f"{self._expand},body.storage"
        found = await self._get("/content", type="page", spaceKey=space, title=title, expand=expand, limit=1)
        if not found["results"]:
            raise NotFound(f"The space {space!r} has no page with the title {title!r}. Search for it with search.")
        return self._page(found["results"][0])

    async def create_page(
        self, *, space: str, title: str, body: Any, parent_id: str | None = None, draft: bool = False
    ) -> ConfluencePage:
        check_space(self.client.site, space)
        content: Json = {
            "type": "page",
            "title": title,
            "space": {"key": space},
            "status": "draft" if draft else "current",
            "body": _storage_body(body),
        }
        if parent_id:
            content["ancestors"] = [{"id": await self._id(parent_id)}]
        return self._page(await self._write("POST", "/content", content, expand=self._expand))

    async def update_page(
        self, page: ConfluencePage, *, title: str, body: Any, message: str | None = None
    ) -> ConfluencePage:
        version: Json = {"number": page.version + 1} | ({"message": message} if message else {})
        content = {"id": page.id, "type": "page", "title": title, "version": version, "body": _storage_body(body)}
        await self._write("PUT", f"/content/{await self._id(page.id)}", content)
        return await self.page(page.id, body=False)

    async def delete_page(self, page_id: str) -> None:
        await self._write("DELETE", f"/content/{await self._id(page_id)}")

    async def move_page(self, page_id: str, position: str, target_id: str) -> None:
        """Data Center moves a page by giving it another parent; it knows no position among the children."""
        page = await self.page(page_id)
        target = target_id if position == "append" else (await self.page(target_id, body=False)).parent_id
        content = {
            "id": page.id,
            "type": "page",
            "title": page.title,
            "version": {"number": page.version + 1},
            "ancestors": [{"id": await self._id(target)}] if target else [],
            "body": _storage_body(page.body),
        }
        await self._write("PUT", f"/content/{await self._id(page_id)}", content)

    async def copy_page(self, page_id: str, *, title: str, parent_id: str) -> ConfluencePage:
        """Data Center has no operation for it: the text is read and written again, attachments stay behind."""
        page = await self.page(page_id)
        return await self.create_page(space=page.space, title=title, body=page.body, parent_id=parent_id)

    async def children(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        return page_by_start(
            await self._get(f"/content/{await self._id(page_id)}/child/page", start=start, limit=limit), start
        )

    async def space_pages(self, space: str, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        check_space(self.client.site, space)
        path = f"/space/{segment(space)}/content/page"
        return page_by_start(await self._get(path, start=start, limit=limit, expand="ancestors"), start)

    async def spaces(self, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        return page_by_start(await self._get("/space", start=start, limit=limit), start)

    async def comments(self, page_id: str, limit: int, cursor: str | None, *, inline: bool = False) -> ResultPage:
        start = int(cursor or 0)
        query = {
            "expand": "body.storage,version,history,ancestors,extensions.inlineProperties",
            "start": start,
            "limit": limit,
            "location": "inline" if inline else "footer",
            "depth": "all",
        }
        found = page_by_start(await self._get(f"/content/{await self._id(page_id)}/child/comment", **query), start)
        return found._replace(items=[_comment(one) for one in found.items])

    async def add_comment(
        self, page_id: str, body: Any, *, reply_to: str | None = None, selection: Mapping[str, Any] | None = None
    ) -> Json:
        await self._id(page_id)
        content: Json = {"type": "comment", "container": {"id": page_id, "type": "page"}, "body": _storage_body(body)}
        if reply_to:
            content["ancestors"] = [{"id": reply_to}]
        if selection is not None:
            content["extensions"] = {"location": "inline", "inlineProperties": dict(selection)}
        return await self._write("POST", "/content", content)

    async def edit_comment(self, comment_id: str, body: Any, *, inline: bool = False) -> Json:  # noqa: ARG002 - as on Cloud
        current = await self._get(f"/content/{await self._id(comment_id)}", expand="version")
        version = {"number": current["version"]["number"] + 1}
        content = {"id": comment_id, "type": "comment", "version": version, "body": _storage_body(body)}
        return await self._write("PUT", f"/content/{await self._id(comment_id)}", content)

    async def delete_comment(self, comment_id: str, *, inline: bool = False) -> None:  # noqa: ARG002 - as on Cloud
        await self._write("DELETE", f"/content/{await self._id(comment_id)}")

    async def labels(self, page_id: str) -> list[str]:
        found = await self._get(f"/content/{await self._id(page_id)}/label", limit=200)
        return [label["name"] for label in found["results"]]

    async def add_labels(self, page_id: str, names: Sequence[str]) -> None:
        labels = [{"prefix": "global", "name": name} for name in names]
        await self._write("POST", f"/content/{await self._id(page_id)}/label", labels)

    async def remove_label(self, page_id: str, name: str) -> None:
        await self._write("DELETE", f"/content/{await self._id(page_id)}/label/{segment(name)}")

    async def attachments(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        path = f"/content/{await self._id(page_id)}/child/attachment"
        return page_by_start(await self._get(path, start=start, limit=limit, expand="version"), start)

    async def versions(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        """Data Center lists no versions; each one is read by its number, the newest first."""
        newest = (await self.page(page_id, body=False)).version
        first = int(cursor or newest)
        numbers = range(first, max(0, first - limit), -1)
        items: list[Json] = []
        for number in numbers:
            page = await self.page(page_id, body=False, version=None if number == newest else number)
            items.append(
                {"number": number, "createdAt": page.updated_at, "author": page.editor, "message": page.message}
            )
        rest = first - len(items)
        return ResultPage(items, str(rest) if rest > 0 else None, newest)

    async def restrictions(self, page_id: str) -> Json:
        path = f"/content/{await self._id(page_id)}/restriction/byOperation"
        return await self._get(
            path,
            expand="read.restrictions.user,read.restrictions.group,update.restrictions.user,update.restrictions.group",
        )

    async def set_restrictions(self, page_id: str, restrictions: Sequence[PageRestriction]) -> None:
        """Operations that are not named keep their restrictions."""
        body: list[Json] = [
            {
                "operation": one.operation,
                "restrictions": {
                    "user": [{"type": "known", "username": name} for name in one.users],
                    "group": [{"type": "group", "name": name} for name in one.groups],
                },
            }
            for one in restrictions
        ]
        await self._write("PUT", f"/content/{await self._id(page_id)}/restriction", body)

    async def templates(self, space: str | None, start: int, limit: int) -> ResultPage:  # noqa: ARG002 - as on Cloud
        raise NotFound(NO_TEMPLATES)

    async def template_body(self, template_id: str) -> Any:  # noqa: ARG002 - as on Cloud
        raise NotFound(NO_TEMPLATES)

    async def files(self, page_id: str, name: str | None = None) -> list[RemoteFile]:
        path = f"/content/{await self._id(page_id)}/child/attachment"
        found = await self._get(path, filename=name, limit=MAX_FILES)
        return [_file(file) for file in list_at(found, "results")]

    async def file(self, attachment_id: str) -> RemoteFile:
        return _file(await self._get(f"/content/{await self._id(attachment_id)}", expand="version"))

    async def upload(self, page_id: str, upload: Upload) -> Json:
        """A file with the name of an existing one becomes its new version."""
        path = f"{self.base}/content/{await self._id(page_id)}/child/attachment"
        existing = await self.files(page_id, upload.name)
        if existing:
            path = f"{path}/{segment(existing[0].id)}/data"
        added = await self.client.send("confluence", "POST", path, upload=upload)
        return added if existing else added["results"][0]

    async def delete_attachment(self, attachment_id: str) -> None:
        await self._write("DELETE", f"/content/{await self._id(attachment_id)}")

    async def views(self, page_id: str, since: str | None) -> int:  # noqa: ARG002 - as on Cloud
        raise NotFound("Confluence Data Center does not count the views of pages.")


def _file(file: Json) -> RemoteFile:
    """The address of a file, which Data Center sends without its own."""
    url = urlsplit(str(at(file, "_links", "download")))
    path = "/".join(segment(unquote(part)) for part in url.path.split("/"))
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    extensions = object_at(file, "extensions")
    media_type, size = extensions.get("mediaType"), extensions.get("fileSize")
    return RemoteFile(str(file["id"]), file["title"], media_type, size, "confluence", path, query)


def _storage_body(text: str) -> Json:
    return {"storage": {"value": text, "representation": "storage"}}


def _comment(found: Json) -> Json:
    version, extensions = object_at(found, "version"), object_at(found, "extensions")
    ancestors = list_at(found, "ancestors")
    return {
        "id": str(found["id"]),
        "body": at(found, "body", "storage", "value"),
        "author": version.get("by"),
        "createdAt": version.get("when"),
        "parentId": str(ancestors[-1]["id"]) if ancestors else None,
        "resolution": at(extensions, "resolution", "status"),
        "selection": at(extensions, "inlineProperties", "originalSelection"),
    }


def _stored_page(found: Json) -> ConfluencePage:
    version, history = object_at(found, "version"), object_at(found, "history")
    ancestors, body = list_at(found, "ancestors"), at(found, "body", "storage", "value")
    return ConfluencePage(
        id=str(found["id"]),
        title=found["title"],
        space=(at(found, "space", "key") or ""),
        version=version.get("number", 1),
        status=found.get("status", "current"),
        parent_id=str(ancestors[-1]["id"]) if ancestors else None,
        body=body,
        created_at=history.get("createdDate"),
        updated_at=version.get("when"),
        author=history.get("createdBy"),
        editor=version.get("by"),
        message=version.get("message") or None,
        link=at(found, "_links", "webui"),
        size=len(body or ""),
    )
