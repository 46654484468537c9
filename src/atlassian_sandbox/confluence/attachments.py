"""Files of pages."""

from typing import Any

from atlassian_sandbox.confluence.content_json import ContentJson, download_path
from atlassian_sandbox.confluence.lists import cursor_page
from atlassian_sandbox.documents import local_id
from atlassian_sandbox.forms import FormFile, read_form
from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, JsonObject, Refusal, Response, SiteRequest
from atlassian_sandbox.jira.attachments import file_response
from atlassian_sandbox.jira.render import zulu_time
from atlassian_sandbox.model import Attachment, StoredPage

routes = ApiRoutes("v1")
routes_v2 = ApiRoutes("v2")
downloads = ApiRoutes("wiki")


def _of_page(request: SiteRequest, page: StoredPage) -> list[list[Attachment]]:
    name, media_type = request.text("filename"), request.text("mediaType")
    return [
        versions
        for versions in request.state.page_attachments.values()
        if versions[-1].page == page.id
        if name in (None, versions[-1].file_name)
        if media_type in (None, versions[-1].media_type)
    ]


def _find(request: SiteRequest, number: str) -> list[Attachment]:
    versions = request.state.page_attachments.get(number) or request.state.page_attachments.get(f"att{number}")
    if versions is None:
        raise Refusal(404, f"No attachment found with id: {number}")
    request.state.page(versions[-1].page, request.user)
    return versions


def _v2_json(versions: list[Attachment]) -> JsonObject:
    file = versions[-1]
    web = f"/pages/viewpageattachments.action?pageId={file.page}&preview=%2F{file.page}%2F{file.id}"
    version = {"createdAt": zulu_time(file.created), "message": file.comment, "number": file.version}
    return {
        "id": file.id,
        "status": "current",
        "title": file.file_name,
        "createdAt": zulu_time(versions[0].created),
        "pageId": file.page,
        "mediaType": file.media_type,
        "mediaTypeDescription": "File",
        "comment": file.comment,
        "fileId": local_id(f"file {file.file_name}"),
        "fileSize": len(file.content),
        "webuiLink": web,
        "downloadLink": download_path(file),
        "version": version | {"minorEdit": False, "authorId": file.author},
        "_links": {"webui": web, "download": download_path(file)},
    }


@routes_v2.get("/pages/{page}/attachments")
def list_attachments(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["page"], request.user)
    return cursor_page(request, [_v2_json(versions) for versions in _of_page(request, page)], default=50)


@routes_v2.get("/attachments/{attachment}")
def get_attachment(request: SiteRequest) -> Any:
    return _v2_json(_find(request, request.parameters["attachment"]))


@routes_v2.delete("/attachments/{attachment}")
def delete_attachment(request: SiteRequest) -> Any:
    file = _find(request, request.parameters["attachment"])[-1]
    request.state.writable_page(file.page, request.user)
    request.state.page_attachments.pop(file.id)
    return NO_CONTENT


@routes.get("/content/{content}/child/attachment", only="datacenter")
def list_on_data_center(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    json = ContentJson(request)
    return json.paged([json.attachment(versions) for versions in _of_page(request, page)], default=50)


def _add(request: SiteRequest, *, replace: bool) -> Any:
    page = request.state.writable_page(request.parameters["content"], request.user)
    form = read_form(request)
    json = ContentJson(request)
    added: list[JsonObject] = []
    for file in form.files:
        old = next(
            (
                each
                for each in request.state.page_attachments.values()
                if each[-1].page == page.id and each[-1].file_name == file.file_name
            ),
            None,
        )
        if old is not None and not replace:
            message = "Cannot add a new attachment with same file name as an existing attachment: "
            raise Refusal(400, message + file.file_name)
        versions = old if old is not None else []
        number = versions[-1].id if versions else f"att{request.state.new_id()}"
        versions.append(_version(request, page.id, number, file, len(versions) + 1, form.fields.get("comment", "")))
        request.state.page_attachments[number] = versions
        added.append(json.attachment(versions))
    return json.paged(added)


def _version(request: SiteRequest, page: str, number: str, file: FormFile, version: int, comment: str) -> Attachment:  # noqa: PLR0917 - all parts of a version
    now = request.state.now()
    return Attachment(
        number, file.file_name, request.user.id, now, file.media_type, file.content, version, comment, page
    )


@routes.post("/content/{content}/child/attachment")
def add_attachment(request: SiteRequest) -> Any:
    return _add(request, replace=False)


@routes.put("/content/{content}/child/attachment", only="cloud")
def add_or_replace_attachment(request: SiteRequest) -> Any:
    return _add(request, replace=True)


@routes.post("/content/{content}/child/attachment/{attachment}/data")
def replace_attachment(request: SiteRequest) -> Any:
    versions = _find(request, request.parameters["attachment"])
    page = request.state.writable_page(request.parameters["content"], request.user)
    form = read_form(request)
    comment = form.fields.get("comment", "")
    versions.append(_version(request, page.id, versions[-1].id, form.files[0], len(versions) + 1, comment))
    return ContentJson(request).attachment(versions)


@routes.delete("/content/{content}/child/attachment/{attachment}", only="datacenter")
def delete_on_data_center(request: SiteRequest) -> Any:
    return delete_attachment(request)


@routes.get("/content/{content}/child/attachment/{attachment}/download", only="cloud")
def download(request: SiteRequest) -> Any:
    versions = _find(request, request.parameters["attachment"])
    token = request.state.new_token()
    request.state.media_files[token] = _numbered(versions, request.number("version", versions[-1].version))
    return Response(302, headers={"location": f"{request.base}/media/{token}/{versions[-1].id}"})


def _numbered(versions: list[Attachment], number: int) -> Attachment:
    for version in versions:
        if version.version == number:
            return version
    raise Refusal(404, f"The attachment has no version {number}.")


@downloads.get("/download/attachments/{content}/{name}")
def download_by_name(request: SiteRequest) -> Any:
    page = request.state.page(request.parameters["content"], request.user)
    for versions in request.state.page_attachments.values():
        if (versions[-1].page, versions[-1].file_name) == (page.id, request.parameters["name"]):
            return file_response(_numbered(versions, request.number("version", versions[-1].version)))
    raise Refusal(404, f"The page {page.id} has no attachment '{request.parameters['name']}'.")
