"""The API of Confluence Cloud: version 2, and version 1 where 2 has no operation."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic_core import from_json, to_json

from mcp_atl.client.confluence.api import MAX_FILES, ConfluencePage, PageRestriction, page_by_start
from mcp_atl.client.connection import Json, ResultPage, SiteConnection, segment
from mcp_atl.client.json_values import at, list_at, object_at
from mcp_atl.client.limits import check_space
from mcp_atl.client.transfer import RemoteFile, Upload
from toolcharter import NotFound

V2 = "/wiki/api/v2"
V1 = "/wiki/rest/api"


class CloudConfluence:
    def __init__(self, client: SiteConnection) -> None:
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

    async def page(self, page_id: str, *, body: bool = True, version: int | None = None) -> ConfluencePage:
        shown = "atlas_doc_format" if body else None
        return await self._page(await self._get(f"{V2}/pages/{segment(page_id)}", body_format=shown, version=version))

    async def find_page(self, space: str, title: str) -> ConfluencePage:
        found = await self._get(f"{V2}/pages", space_id=await self._space_id(space), title=title, limit=1)
        if not found["results"]:
            raise NotFound(f"The space {space!r} has no page with the title {title!r}. Search for it with search.")
        return await self.page(found["results"][0]["id"])

    async def create_page(
        self, *, space: str, title: str, body: Any, parent_id: str | None = None, draft: bool = False
    ) -> ConfluencePage:
        content: Json = {
            "spaceId": await self._space_id(space),
            "status": "draft" if draft else "current",
            "title": title,
            "body": _adf_body(body),
        }
        if parent_id:
            content["parentId"] = await self._id(parent_id)
        return await self._page(await self._write("POST", f"{V2}/pages", content))

    async def update_page(
        self, page: ConfluencePage, *, title: str, body: Any, message: str | None = None
    ) -> ConfluencePage:
        version: Json = {"number": page.version + 1} | ({"message": message} if message else {})
        content = {"id": page.id, "status": page.status, "title": title, "body": _adf_body(body), "version": version}
        return await self._page(await self._write("PUT", f"{V2}/pages/{await self._id(page.id)}", content))

    async def delete_page(self, page_id: str) -> None:
        await self._write("DELETE", f"{V2}/pages/{await self._id(page_id)}")

    async def move_page(self, page_id: str, position: str, target_id: str) -> None:
        path = f"{V1}/content/{await self._id(page_id)}/move/{segment(position)}/{await self._id(target_id)}"
        await self._write("PUT", path)

    async def copy_page(self, page_id: str, *, title: str, parent_id: str) -> ConfluencePage:
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

    async def set_restrictions(self, page_id: str, restrictions: Sequence[PageRestriction]) -> None:
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
        return page_by_start(found, start)

    async def template_body(self, template_id: str) -> Any:
        """The text of a template, in storage format: templates have no other."""
        found = await self._get(f"{V1}/template/{segment(template_id)}", expand="body")
        return at(found, "body", "storage", "value") or ""

    async def files(self, page_id: str, name: str | None = None) -> list[RemoteFile]:
        path = f"{V2}/pages/{await self._id(page_id)}/attachments"
        found = await self._get(path, filename=name, limit=MAX_FILES)
        return [_file(file, page_id) for file in list_at(found, "results")]

    async def file(self, attachment_id: str) -> RemoteFile:
        file = await self._get(f"{V2}/attachments/{segment(attachment_id)}")
        page_id = str(file.get("pageId") or file.get("blogPostId"))
        await self._id(page_id)
        return _file(file, page_id)

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

    async def _page(self, found: Json) -> ConfluencePage:
        space = await self._space_key(str(found["spaceId"]))
        check_space(self.client.site, space)
        version = object_at(found, "version")
        text = at(found, "body", "atlas_doc_format", "value")
        return ConfluencePage(
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
            size=len(text) if isinstance(text, str) else 0,
        )


def _file(file: Json, page_id: str) -> RemoteFile:
    file_id = str(file["id"])
    path = f"{V1}/content/{segment(page_id)}/child/attachment/{segment(file_id)}/download"
    return RemoteFile(file_id, file["title"], file.get("mediaType"), file.get("fileSize"), "confluence", path)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _adf_body(document: Any) -> Json:
    """A body for Cloud. A text is storage format, which a template has."""
    if isinstance(document, str):
        return {"representation": "storage", "value": document}
    return {"representation": "atlas_doc_format", "value": to_json(document).decode()}


def _next(found: Json) -> str | None:
    """The cursor in a link to the next page."""
    link = at(found, "_links", "next")
    if not isinstance(link, str):
        return None
    return parse_qs(urlsplit(link).query).get("cursor", [None])[0]


def _linked(found: Json) -> ResultPage:
    return ResultPage(list_at(found, "results"), _next(found))


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
