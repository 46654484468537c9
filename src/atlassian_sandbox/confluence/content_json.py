"""The JSON of content in Confluence's older API, with the parts that `expand` names."""

from typing import Any

from atlassian_sandbox.confluence.bodies import FORMATS, body_as
from atlassian_sandbox.confluence.pages import label_json, slug
from atlassian_sandbox.confluence.users import user_json
from atlassian_sandbox.http import ROOTS, JsonObject, SiteRequest
from atlassian_sandbox.jira.render import zulu_time
from atlassian_sandbox.model import Attachment, PageComment, PageVersion, RichText, Space, StoredPage


class ContentJson:
    def __init__(self, request: SiteRequest) -> None:
        self.request = request
        self.state = request.state
        self.expand = request.words("expand")
        self.context = ROOTS[request.kind]["wiki"]
        self.root = request.base + ROOTS[request.kind]["v1"]

    def has(self, part: str) -> bool:
        return any(each == part or each.startswith(f"{part}.") for each in self.expand)

    def page(self, page: StoredPage, *, version: PageVersion | None = None) -> JsonObject:
        shown = version or page.current
        status = "historical" if version is not None and version is not page.current else page.status
        rendered = self._content(page.id, page.type, status, shown.title)
        rendered["_links"]["webui"] = f"/spaces/{page.space}/pages/{page.id}/{slug(shown.title)}"
        rendered["extensions"] = {"position": page.position}
        if self.has("space"):
            rendered["space"] = self.space(self.state.spaces[page.space])
        if self.has("ancestors"):
            rendered["ancestors"] = [
                self._content(each.id, each.type, each.status, each.title) for each in self.state.ancestors(page)
            ]
        if self.has("metadata.labels") or self.has("metadata"):
            rendered["metadata"] = {"labels": self.simple_list([self.label(each) for each in page.labels])}
        if self.has("children.page"):
            children = self.state.children(page.id, self.request.user)
            shown_children = [self._content(each.id, each.type, each.status, each.title) for each in children]
            rendered["children"] = {"page": self.simple_list(shown_children)}
        return rendered | self.common(page.versions, shown)

    def comment(self, comment: PageComment) -> JsonObject:
        page = self.state.pages[comment.page]
        rendered = self._content(comment.id, "comment", "current", f"Re: {page.title}")
        extensions: JsonObject = {"location": comment.location}
        if comment.location == "inline" and comment.parent is None:
            extensions["resolution"] = {"status": "resolved" if comment.resolved else "open"}
            properties = {"markerRef": comment.marker, "originalSelection": comment.selection}
            extensions["inlineProperties"] = properties
        rendered["extensions"] = extensions
        if self.has("container"):
            rendered["container"] = self._content(page.id, page.type, page.status, page.title)
        if self.has("ancestors"):
            parents = [comment.parent] if comment.parent else []
            rendered["ancestors"] = [self._content(each, "comment", "current", "") for each in parents]
        return rendered | self.common(comment.versions, comment.current)

    def attachment(self, versions: list[Attachment]) -> JsonObject:
        file = versions[-1]
        rendered = self._content(file.id, "attachment", "current", file.file_name)
        rendered["metadata"] = {"mediaType": file.media_type, "comment": file.comment}
        extensions: JsonObject = {"mediaType": file.media_type, "fileSize": len(file.content), "comment": file.comment}
        rendered["extensions"] = extensions
        rendered["_links"]["download"] = download_path(file)
        if self.has("container"):
            page = self.state.pages[file.page]
            rendered["container"] = self._content(page.id, page.type, page.status, page.title)
        if self.has("version"):
            by = user_json(self.request, file.author)
            rendered["version"] = {
                "by": by,
                "when": zulu_time(file.created),
                "number": file.version,
                "minorEdit": False,
            }
        return rendered

    def _content(self, id: str, type: str, status: str, title: str) -> JsonObject:
        links = {"self": f"{self.root}/content/{id}", "webui": f"/pages/viewpage.action?pageId={id}"}
        return {"id": id, "type": type, "status": status, "title": title, "_links": links, "_expandable": {}}

    def common(self, versions: list[PageVersion], shown: PageVersion) -> JsonObject:
        """The version, the history and the body."""
        rendered: JsonObject = {}
        if self.has("version"):
            rendered["version"] = self.version(shown)
        if self.has("history"):
            first, last = versions[0], versions[-1]
            history: JsonObject = {"latest": shown is last, "createdDate": zulu_time(first.created)}
            history["createdBy"] = user_json(self.request, first.author)
            if self.has("history.lastUpdated"):
                history["lastUpdated"] = self.version(last)
            rendered["history"] = history
        if self.has("body"):
            formats = [name for name in FORMATS if self.has(f"body.{name}")]
            rendered["body"] = {name: self.body(shown.body, name) for name in formats}
        return rendered

    def body(self, body: RichText, name: str) -> JsonObject:
        return {"value": body_as(self.request.kind, body, name), "representation": name, "_expandable": {}}

    def version(self, version: PageVersion) -> JsonObject:
        return {
            "by": user_json(self.request, version.author),
            "when": zulu_time(version.created),
            "message": version.message,
            "number": version.number,
            "minorEdit": version.minor,
        }

    def space(self, space: Space) -> JsonObject:
        links = {"self": f"{self.root}/space/{space.key}", "webui": f"/spaces/{space.key}"}
        rendered: JsonObject = {
            "id": int(space.id),
            "key": space.key,
            "name": space.name,
            "type": space.type,
            "status": "current",
            "_links": links,
            "_expandable": {},
        }
        if self.has("description") or self.has("space.description"):
            rendered["description"] = {"plain": {"value": space.description, "representation": "plain"}}
        if (self.has("homepage") or self.has("space.homepage")) and space.homepage:
            page = self.state.pages[space.homepage]
            rendered["homepage"] = self._content(page.id, page.type, page.status, page.title)
        return rendered

    def label(self, name: str) -> JsonObject:
        return label_json(name) | {"label": name}

    def simple_list(self, values: list[Any]) -> JsonObject:
        return {"results": values, "start": 0, "limit": 200, "size": len(values), "_links": {}}

    def paged(self, values: list[Any], *, default: int = 25) -> JsonObject:
        """One page of a list with `start` and `limit`."""
        start, limit = self.request.number("start", 0), self.request.number("limit", default)
        page = values[start : start + limit]
        links: JsonObject = {"base": self.request.base + self.context, "context": self.context}
        links["self"] = self.request.base + self.request.path
        if start + limit < len(values):
            links["next"] = f"{self.request.path.removeprefix(self.context)}?start={start + limit}&limit={limit}"
        return {"results": page, "start": start, "limit": limit, "size": len(page), "_links": links}


def download_path(file: Attachment) -> str:
    return f"/download/attachments/{file.page}/{file.file_name}?version={file.version}&api=v2"
