"""The Confluence API: version 2 (and 1 where 2 has no operation) on Cloud, version 1 on Data Center.

The two answer in different shapes. Both are brought to one here: `Page`, `Comment` and plain dicts with few keys.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic_core import from_json, to_json

from mcp_atl.client.connection import Connection, Json, ResultPage, segment
from mcp_atl.client.json_values import at, list_at, object_at
from mcp_atl.client.limits import check_space
from mcp_atl.client.transfer import RemoteFile, Upload
from mcp_core import NotFound

V2 = "/wiki/api/v2"
V1 = "/wiki/rest/api"
MOST_FILES = 100
"""Of one page. Name the file to find one of more."""


NO_TEMPLATES = "Confluence Data Center has no API for page templates. Copy a page with move and copy_as instead."


class Page(NamedTuple):
    """A page as both kinds of sites have it. `body` is an ADF document on Cloud, storage format on Data Center."""

    id: str
    title: str
    space: str
    """The key of its space."""
    version: int
    status: str = "current"
    parent_id: str | None = None
    body: Any = None
    created_at: str | None = None
    updated_at: str | None = None
    author: Json | None = None
    editor: Json | None = None
    message: str | None = None
    """The message of its last version."""
    link: str | None = None


class Restriction(NamedTuple):
    """Who alone may read or update a page; nobody named lifts the restriction."""

    operation: str
    users: Sequence[str]
    """Their ids."""
    groups: Sequence[str]
    """Their names."""


class ConfluenceApi(Protocol):
    """What commands need of Confluence."""

    client: Connection

    async def current_user(self) -> Json: ...
    async def user(self, user_id: str) -> Json: ...
    async def names(self, user_ids: Sequence[str]) -> dict[str, str]: ...
    async def search(
        self, cql: str, *, limit: int, cursor: str | None = None, excerpt: str | None = None
    ) -> ResultPage: ...
    async def page(self, page_id: str, *, body: bool = True, version: int | None = None) -> Page: ...
    async def find_page(self, space: str, title: str) -> Page: ...
    async def create_page(
        self, *, space: str, title: str, body: Any, parent_id: str | None = None, draft: bool = False
    ) -> Page: ...
    async def update_page(self, page: Page, *, title: str, body: Any, message: str | None = None) -> Page: ...
    async def delete_page(self, page_id: str) -> None: ...
    async def move_page(self, page_id: str, position: str, target_id: str) -> None: ...
    async def copy_page(self, page_id: str, *, title: str, parent_id: str) -> Page: ...
    async def children(self, page_id: str, limit: int, cursor: str | None) -> ResultPage: ...
    async def space_pages(self, space: str, limit: int, cursor: str | None) -> ResultPage: ...
    async def spaces(self, limit: int, cursor: str | None) -> ResultPage: ...
    async def comments(self, page_id: str, limit: int, cursor: str | None, *, inline: bool = False) -> ResultPage: ...
    async def add_comment(
        self, page_id: str, body: Any, *, reply_to: str | None = None, selection: Mapping[str, Any] | None = None
    ) -> Json: ...
    async def edit_comment(self, comment_id: str, body: Any, *, inline: bool = False) -> Json: ...
    async def delete_comment(self, comment_id: str, *, inline: bool = False) -> None: ...
    async def labels(self, page_id: str) -> list[str]: ...
    async def add_labels(self, page_id: str, names: Sequence[str]) -> None: ...
    async def remove_label(self, page_id: str, name: str) -> None: ...
    async def attachments(self, page_id: str, limit: int, cursor: str | None) -> ResultPage: ...
    async def versions(self, page_id: str, limit: int, cursor: str | None) -> ResultPage: ...
    async def restrictions(self, page_id: str) -> Json: ...
    async def set_restrictions(self, page_id: str, restrictions: Sequence[Restriction]) -> None: ...
    async def templates(self, space: str | None, start: int, limit: int) -> ResultPage: ...
    async def template_body(self, template_id: str) -> Any: ...
    async def files(self, page_id: str, name: str | None = None) -> list[RemoteFile]: ...
    async def file(self, attachment_id: str) -> RemoteFile: ...
    async def upload(self, page_id: str, upload: Upload) -> Json: ...
    async def delete_attachment(self, attachment_id: str) -> None: ...
    async def views(self, page_id: str, since: str | None) -> int: ...


class CloudConfluence:
    """Confluence Cloud."""

    def __init__(self, client: Connection) -> None:
        self.client = client
        self._space_keys: dict[str, str] = {}
        self._checked: set[str] = set()

    async def _id(self, page_id: str) -> str:
        """The path segment of a page whose space may be reached."""
        if self.client.site.spaces is not None and page_id not in self._checked:
            await self.page(page_id, body=False)
            self._checked.add(page_id)
        return segment(page_id)

    async def _comment_path(self, comment_id: str, *, inline: bool) -> str:
        """The path of a comment of a page that may be reached."""
        path = f"{V2}/{'inline' if inline else 'footer'}-comments/{segment(comment_id)}"
        if self.client.site.spaces is not None:
            await self._id(str((await self._get(path)).get("pageId")))
        return path

    async def _get(self, path: str, **query: Any) -> Any:
        return await self.client.send("confluence", "GET", path, query={_dashed(k): v for k, v in query.items()})

    async def _write(self, method: str, path: str, json: Any = None, **query: Any) -> Any:
        return await self.client.send("confluence", method, path, query=query, json=json)

    async def current_user(self) -> Json:
        return await self._get(f"{V1}/user/current")

    async def user(self, user_id: str) -> Json:
        return await self._get(f"{V1}/user", accountId=user_id)

    async def names(self, user_ids: Sequence[str]) -> dict[str, str]:
        """The names of users, by id."""
        body = {"accountIds": list(user_ids)}
        found = await self.client.send("confluence", "POST", f"{V2}/users-bulk", json=body, safe=True)
        return {str(one["accountId"]): one.get("displayName") or one["publicName"] for one in list_at(found, "results")}

    async def search(
        self, cql: str, *, limit: int, cursor: str | None = None, excerpt: str | None = None
    ) -> ResultPage:
        found = await self._get(f"{V1}/search", cql=cql, limit=limit, cursor=cursor, excerpt=excerpt)
        return ResultPage(list_at(found, "results"), _next(found), found.get("totalSize"))

    async def page(self, page_id: str, *, body: bool = True, version: int | None = None) -> Page:
        shown = "atlas_doc_format" if body else None
        return await self._page(await self._get(f"{V2}/pages/{segment(page_id)}", body_format=shown, version=version))

    async def find_page(self, space: str, title: str) -> Page:
        found = await self._get(f"{V2}/pages", space_id=await self._space_id(space), title=title, limit=1)
        if not found["results"]:
            raise NotFound(f"The space {space!r} has no page with the title {title!r}. Search for it with search.")
        return await self.page(found["results"][0]["id"])

    async def create_page(
        self, *, space: str, title: str, body: Any, parent_id: str | None = None, draft: bool = False
    ) -> Page:
        content: Json = {
            "spaceId": await self._space_id(space),
            "status": "draft" if draft else "current",
            "title": title,
            "body": _adf_body(body),
        }
        if parent_id:
            content["parentId"] = await self._id(parent_id)
        return await self._page(await self._write("POST", f"{V2}/pages", content))

    async def update_page(self, page: Page, *, title: str, body: Any, message: str | None = None) -> Page:
        version: Json = {"number": page.version + 1} | ({"message": message} if message else {})
        content = {"id": page.id, "status": page.status, "title": title, "body": _adf_body(body), "version": version}
        return await self._page(await self._write("PUT", f"{V2}/pages/{await self._id(page.id)}", content))

    async def delete_page(self, page_id: str) -> None:
        await self._write("DELETE", f"{V2}/pages/{await self._id(page_id)}")

    async def move_page(self, page_id: str, position: str, target_id: str) -> None:
        path = f"{V1}/content/{await self._id(page_id)}/move/{segment(position)}/{await self._id(target_id)}"
        await self._write("PUT", path)

    async def copy_page(self, page_id: str, *, title: str, parent_id: str) -> Page:
        content = {
            "copyAttachments": True,
            "copyLabels": True,
            "destination": {"type": "parent_page", "value": await self._id(parent_id)},
            "pageTitle": title,
        }
        made = await self._write("POST", f"{V1}/content/{await self._id(page_id)}/copy", content)
        return await self.page(made["id"])

    async def children(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        return _linked(
            await self._get(f"{V2}/pages/{await self._id(page_id)}/direct-children", limit=limit, cursor=cursor)
        )

    async def space_pages(self, space: str, limit: int, cursor: str | None) -> ResultPage:
        path = f"{V2}/spaces/{segment(await self._space_id(space))}/pages"
        return _linked(await self._get(path, limit=limit, cursor=cursor))

    async def spaces(self, limit: int, cursor: str | None) -> ResultPage:
        return _linked(await self._get(f"{V2}/spaces", limit=limit, cursor=cursor))

    async def comments(self, page_id: str, limit: int, cursor: str | None, *, inline: bool = False) -> ResultPage:
        kind = "inline-comments" if inline else "footer-comments"
        query = {"body_format": "atlas_doc_format", "limit": limit, "cursor": cursor}
        found = _linked(await self._get(f"{V2}/pages/{await self._id(page_id)}/{kind}", **query))
        return found._replace(items=[_comment(one) for one in found.items])

    async def add_comment(
        self, page_id: str, body: Any, *, reply_to: str | None = None, selection: Mapping[str, Any] | None = None
    ) -> Json:
        await self._id(page_id)
        where = {"parentCommentId": reply_to} if reply_to else {"pageId": page_id}
        content = {**where, "body": _adf_body(body)}
        if selection is not None:
            return await self._write(
                "POST", f"{V2}/inline-comments", {**content, "inlineCommentProperties": dict(selection)}
            )
        return await self._write("POST", f"{V2}/footer-comments", content)

    async def edit_comment(self, comment_id: str, body: Any, *, inline: bool = False) -> Json:
        path = await self._comment_path(comment_id, inline=inline)
        current = await self._get(path)
        version = {"number": current["version"]["number"] + 1}
        return await self._write("PUT", path, {"version": version, "body": _adf_body(body)})

    async def delete_comment(self, comment_id: str, *, inline: bool = False) -> None:
        await self._write("DELETE", await self._comment_path(comment_id, inline=inline))

    async def labels(self, page_id: str) -> list[str]:
        found = await self._get(f"{V2}/pages/{await self._id(page_id)}/labels", limit=250)
        return [label["name"] for label in found["results"]]

    async def add_labels(self, page_id: str, names: Sequence[str]) -> None:
        labels = [{"prefix": "global", "name": name} for name in names]
        await self._write("POST", f"{V1}/content/{await self._id(page_id)}/label", labels)

    async def remove_label(self, page_id: str, name: str) -> None:
        await self._write("DELETE", f"{V1}/content/{await self._id(page_id)}/label", name=name)

    async def attachments(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        return _linked(await self._get(f"{V2}/pages/{await self._id(page_id)}/attachments", limit=limit, cursor=cursor))

    async def versions(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        path = f"{V2}/pages/{await self._id(page_id)}/versions"
        return _linked(await self._get(path, limit=limit, cursor=cursor, sort="-modified-date"))

    async def restrictions(self, page_id: str) -> Json:
        path = f"{V1}/content/{await self._id(page_id)}/restriction"
        return await self._get(path, expand="restrictions.user,restrictions.group")

    async def set_restrictions(self, page_id: str, restrictions: Sequence[Restriction]) -> None:
        """Operations that are not named keep their restrictions."""
        body: list[Json] = []
        for one in restrictions:
            who: Json = {"user": [{"type": "known", "accountId": user} for user in one.users]}
            if one.groups:
                who["group"] = [{"type": "group", "id": await self._group_id(name)} for name in one.groups]
            body.append({"operation": one.operation, "restrictions": who})
        await self._write("PUT", f"{V1}/content/{await self._id(page_id)}/restriction", body)

    async def _group_id(self, name: str) -> str:
        found = await self._get(f"{V1}/group/picker", query=name, limit=50)
        for group in list_at(found, "results"):
            if group["name"].lower() == name.lower():
                return str(group["id"])
        raise NotFound(f"No group is called {name!r}.")

    async def templates(self, space: str | None, start: int, limit: int) -> ResultPage:
        found = await self._get(f"{V1}/template/page", spaceKey=space, start=start, limit=limit)
        return _started(found, start)

    async def template_body(self, template_id: str) -> Any:
        """The text of a template, in storage format: templates have no other."""
        found = await self._get(f"{V1}/template/{segment(template_id)}", expand="body")
        return at(found, "body", "storage", "value") or ""

    async def files(self, page_id: str, name: str | None = None) -> list[RemoteFile]:
        path = f"{V2}/pages/{await self._id(page_id)}/attachments"
        found = await self._get(path, filename=name, limit=MOST_FILES)
        return [_cloud_file(file, page_id) for file in list_at(found, "results")]

    async def file(self, attachment_id: str) -> RemoteFile:
        file = await self._get(f"{V2}/attachments/{segment(attachment_id)}")
        page_id = str(file.get("pageId") or file.get("blogPostId"))
        await self._id(page_id)
        return _cloud_file(file, page_id)

    async def upload(self, page_id: str, upload: Upload) -> Json:
        """A file with the name of an existing one becomes its new version."""
        path = f"{V1}/content/{await self._id(page_id)}/child/attachment"
        return (await self.client.send("confluence", "PUT", path, upload=upload))["results"][0]

    async def delete_attachment(self, attachment_id: str) -> None:
        if self.client.site.spaces is not None:
            await self._id(str((await self._get(f"{V2}/attachments/{segment(attachment_id)}")).get("pageId")))
        await self._write("DELETE", f"{V2}/attachments/{segment(attachment_id)}")

    async def views(self, page_id: str, since: str | None) -> int:
        """How often a page was viewed."""
        return (await self._get(f"{V1}/analytics/content/{await self._id(page_id)}/views", fromDate=since))["count"]

    async def _space_id(self, key: str) -> str:
        check_space(self.client.site, key)
        found = (await self._get(f"{V2}/spaces", keys=key, limit=1))["results"]
        if not found:
            raise NotFound(f"The space {key!r} was not found. List the spaces with list, subject 'spaces'.")
        self._space_keys[str(found[0]["id"])] = found[0]["key"]
        return str(found[0]["id"])

    async def _space_key(self, space_id: str) -> str:
        if space_id not in self._space_keys:
            self._space_keys[space_id] = (await self._get(f"{V2}/spaces/{segment(space_id)}"))["key"]
        return self._space_keys[space_id]

    async def _page(self, found: Json) -> Page:
        space = await self._space_key(str(found["spaceId"]))
        check_space(self.client.site, space)
        version = object_at(found, "version")
        text = at(found, "body", "atlas_doc_format", "value")
        return Page(
            id=str(found["id"]),
            title=found["title"],
            space=space,
            version=version.get("number", 1),
            status=found.get("status", "current"),
            parent_id=found.get("parentId"),
            body=from_json(text) if isinstance(text, str) else text,
            created_at=found.get("createdAt"),
            updated_at=version.get("createdAt"),
            author={"accountId": found["authorId"]} if found.get("authorId") else None,
            editor={"accountId": version["authorId"]} if version.get("authorId") else None,
            message=version.get("message") or None,
            link=at(found, "_links", "webui"),
        )


class DataCenterConfluence:
    """Confluence Data Center."""

    base = "/rest/api"
    _expand = "space,version,history,ancestors"

    def __init__(self, client: Connection) -> None:
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

    def _page(self, found: Json) -> Page:
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
        return _started(await self._get("/search", cql=cql, start=start, limit=limit, excerpt=excerpt), start)

    async def page(self, page_id: str, *, body: bool = True, version: int | None = None) -> Page:
        expand = f"{self._expand},body.storage" if body else self._expand
        status = "historical" if version is not None else None
        query = {"expand": expand, "version": version, "status": status}
        return self._page(await self._get(f"/content/{segment(page_id)}", **query))

    async def find_page(self, space: str, title: str) -> Page:
        check_space(self.client.site, space)
        expand = f"{self._expand},body.storage"
        found = await self._get("/content", type="page", spaceKey=space, title=title, expand=expand, limit=1)
        if not found["results"]:
            raise NotFound(f"The space {space!r} has no page with the title {title!r}. Search for it with search.")
        return self._page(found["results"][0])

    async def create_page(
        self, *, space: str, title: str, body: Any, parent_id: str | None = None, draft: bool = False
    ) -> Page:
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

    async def update_page(self, page: Page, *, title: str, body: Any, message: str | None = None) -> Page:
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

    async def copy_page(self, page_id: str, *, title: str, parent_id: str) -> Page:
        """Data Center has no operation for it: the text is read and written again, attachments stay behind."""
        page = await self.page(page_id)
        return await self.create_page(space=page.space, title=title, body=page.body, parent_id=parent_id)

    async def children(self, page_id: str, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        return _started(
            await self._get(f"/content/{await self._id(page_id)}/child/page", start=start, limit=limit), start
        )

    async def space_pages(self, space: str, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        check_space(self.client.site, space)
        path = f"/space/{segment(space)}/content/page"
        return _started(await self._get(path, start=start, limit=limit, expand="ancestors"), start)

    async def spaces(self, limit: int, cursor: str | None) -> ResultPage:
        start = int(cursor or 0)
        return _started(await self._get("/space", start=start, limit=limit), start)

    async def comments(self, page_id: str, limit: int, cursor: str | None, *, inline: bool = False) -> ResultPage:
        start = int(cursor or 0)
        query = {
            "expand": "body.storage,version,history,ancestors,extensions.inlineProperties",
            "start": start,
            "limit": limit,
            "location": "inline" if inline else "footer",
            "depth": "all",
        }
        found = _started(await self._get(f"/content/{await self._id(page_id)}/child/comment", **query), start)
        return found._replace(items=[_stored_comment(one) for one in found.items])

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
        return _started(await self._get(path, start=start, limit=limit, expand="version"), start)

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

    async def set_restrictions(self, page_id: str, restrictions: Sequence[Restriction]) -> None:
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
        found = await self._get(path, filename=name, limit=MOST_FILES)
        return [_stored_file(file) for file in list_at(found, "results")]

    async def file(self, attachment_id: str) -> RemoteFile:
        return _stored_file(await self._get(f"/content/{await self._id(attachment_id)}", expand="version"))

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


def _cloud_file(file: Json, page_id: str) -> RemoteFile:
    file_id = str(file["id"])
    path = f"{V1}/content/{segment(page_id)}/child/attachment/{segment(file_id)}/download"
    return RemoteFile(file_id, file["title"], file.get("mediaType"), file.get("fileSize"), "confluence", path)


def _stored_file(file: Json) -> RemoteFile:
    """Data Center says where a file is, below its own address."""
    url = urlsplit(str(at(file, "_links", "download")))
    path = "/".join(segment(unquote(part)) for part in url.path.split("/"))
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    extensions = object_at(file, "extensions")
    media_type, size = extensions.get("mediaType"), extensions.get("fileSize")
    return RemoteFile(str(file["id"]), file["title"], media_type, size, "confluence", path, query)


def confluence(client: Connection) -> ConfluenceApi:
    """The API of the site behind a client."""
    return CloudConfluence(client) if client.site.is_cloud else DataCenterConfluence(client)


# --- shapes ------------------------------------------------------------------------------------------------


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _adf_body(document: Any) -> Json:
    """A body for Cloud. A text is storage format, which a template has."""
    if isinstance(document, str):
        return {"representation": "storage", "value": document}
    return {"representation": "atlas_doc_format", "value": to_json(document).decode()}


def _storage_body(text: str) -> Json:
    return {"storage": {"value": text, "representation": "storage"}}


def _next(found: Json) -> str | None:
    """The cursor in a link to the next page."""
    link = at(found, "_links", "next")
    if not isinstance(link, str):
        return None
    return parse_qs(urlsplit(link).query).get("cursor", [None])[0]


def _linked(found: Json) -> ResultPage:
    return ResultPage(list_at(found, "results"), _next(found))


def _started(found: Json, start: int) -> ResultPage:
    items = list_at(found, "results")
    more = bool(at(found, "_links", "next"))
    return ResultPage(items, str(start + len(items)) if more and items else None, found.get("totalSize"))


def _comment(found: Json) -> Json:
    text = at(found, "body", "atlas_doc_format", "value")
    version = object_at(found, "version")
    return {
        "id": str(found["id"]),
        "body": from_json(text) if isinstance(text, str) else text,
        "author": {"accountId": version["authorId"]} if version.get("authorId") else None,
        "createdAt": version.get("createdAt"),
        "parentId": found.get("parentCommentId"),
        "resolution": found.get("resolutionStatus"),
        "selection": at(found, "properties", "inlineOriginalSelection"),
    }


def _stored_comment(found: Json) -> Json:
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


def _stored_page(found: Json) -> Page:
    version, history = object_at(found, "version"), object_at(found, "history")
    ancestors = list_at(found, "ancestors")
    return Page(
        id=str(found["id"]),
        title=found["title"],
        space=(at(found, "space", "key") or ""),
        version=version.get("number", 1),
        status=found.get("status", "current"),
        parent_id=str(ancestors[-1]["id"]) if ancestors else None,
        body=at(found, "body", "storage", "value"),
        created_at=history.get("createdDate"),
        updated_at=version.get("when"),
        author=history.get("createdBy"),
        editor=version.get("by"),
        message=version.get("message") or None,
        link=at(found, "_links", "webui"),
    )
