"""Files of issues. On Cloud a download redirects to an address that needs no credentials."""

from typing import Any

from atlassian_sandbox.forms import read_form
from atlassian_sandbox.http import NO_CONTENT, ApiRoutes, Refusal, Response, SiteRequest
from atlassian_sandbox.jira import changes
from atlassian_sandbox.jira.render import Renderer
from atlassian_sandbox.model import Attachment, Issue

routes = ApiRoutes("jira")
downloads = ApiRoutes("site")


def find_attachment(request: SiteRequest, number: str) -> tuple[Issue, Attachment]:
    for issue in request.state.visible_issues(request.user):
        for attachment in issue.attachments:
            if attachment.id == number:
                return issue, attachment
    raise Refusal(404, f"The attachment with id '{number}' does not exist.")


@routes.post("/issue/{issue}/attachments")
def attach(request: SiteRequest) -> Any:
    issue = request.state.writable_issue(request.parameters["issue"], request.user)
    added: list[Attachment] = []
    for file in read_form(request).files:
        if file.name != "file":
            raise Refusal(400, f"The form field must be named 'file', not '{file.name}'.")
        number, now = request.state.new_id(), request.state.now()
        added.append(Attachment(number, file.file_name, request.user.id, now, file.media_type, file.content))
    issue.attachments += added
    items = [
        {
            "field": "Attachment",
            "fieldtype": "jira",
            "from": None,
            "fromString": None,
            "to": each.id,
            "toString": each.file_name,
        }
        for each in added
    ]
    changes.touch(request.state, issue, request.user.id, items)
    return [Renderer(request).attachment(each) for each in added]


@routes.get("/attachment/meta")
def attachment_settings(_: SiteRequest) -> Any:
    return {"enabled": True, "uploadLimit": 1_000_000_000}


@routes.get("/attachment/{attachment}")
def get_attachment(request: SiteRequest) -> Any:
    _, attachment = find_attachment(request, request.parameters["attachment"])
    rendered = Renderer(request).attachment(attachment)
    # Only here, and only on Cloud, the id is a number.
    return rendered | ({"id": int(attachment.id)} if request.is_cloud else {})


@routes.delete("/attachment/{attachment}")
def delete_attachment(request: SiteRequest) -> Any:
    issue, attachment = find_attachment(request, request.parameters["attachment"])
    if attachment.author != request.user.id and not request.user.is_admin:
        raise Refusal(403, "You do not have permission to delete this attachment.")
    issue.attachments.remove(attachment)
    return NO_CONTENT


@routes.get("/attachment/content/{attachment}", only="cloud")
def download(request: SiteRequest) -> Any:
    _, attachment = find_attachment(request, request.parameters["attachment"])
    if not request.flag("redirect", default=True):
        return file_response(attachment)
    return media_redirect(request, attachment)


routes.get("/attachment/thumbnail/{attachment}", only="cloud")(download)


def media_redirect(request: SiteRequest, attachment: Attachment, status: int = 303) -> Response:
    """A redirect to the content, at an address that holds its own permission."""
    token = request.state.new_token()
    request.state.media_files[token] = attachment
    return Response(status, headers={"location": f"{request.base}/media/{token}/{attachment.id}"})


@downloads.get("/media/{token}/{file}")
def media(request: SiteRequest) -> Any:
    attachment = request.state.media_files.get(request.parameters["token"])
    if attachment is None or attachment.id != request.parameters["file"]:
        raise Refusal(404, "The address is not valid, or has expired.")
    return file_response(attachment)


@downloads.get("/secure/attachment/{attachment}/{name}", only="datacenter")
def download_on_data_center(request: SiteRequest) -> Any:
    _, attachment = find_attachment(request, request.parameters["attachment"])
    return file_response(attachment)


downloads.get("/secure/thumbnail/{attachment}/{name}", only="datacenter")(download_on_data_center)


def file_response(attachment: Attachment) -> Response:
    name = attachment.file_name.encode("ascii", "replace").decode().replace('"', "'")
    headers = {"content-type": attachment.media_type, "content-disposition": f'attachment; filename="{name}"'}
    return Response(200, content=attachment.content, headers=headers)
