"""Files in a multipart request."""

import re
from dataclasses import dataclass, field

from atlassian_sandbox.http import Refusal, SiteRequest


@dataclass(frozen=True)
class FormFile:
    name: str
    file_name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class Form:
    files: list[FormFile] = field(default_factory=list[FormFile])
    fields: dict[str, str] = field(default_factory=dict[str, str])


def read_form(request: SiteRequest) -> Form:
    """The files and fields of a form. Raises Refusal 403 without the header that protects against forgery."""
    if request.headers.get("x-atlassian-token", "").lower() not in ("no-check", "nocheck"):
        raise Refusal(403, "XSRF check failed")
    content_type = request.headers.get("content-type", "")
    boundary = re.search(r'boundary="?([^";]+)"?', content_type)
    if not content_type.startswith("multipart/form-data") or boundary is None:
        raise Refusal(415, "The content type must be multipart/form-data.")
    form = Form()
    for part in request.content.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        _add_part(form, head.decode("utf-8", "replace"), content.removesuffix(b"\r\n"))
    if not form.files:
        raise Refusal(400, "The request contains no file. Send it as the form field 'file'.")
    return form


def _add_part(form: Form, head: str, content: bytes) -> None:
    name = re.search(r'\bname="([^"]*)"', head)
    file_name = re.search(r'\bfilename="([^"]*)"', head)
    if name is None:
        return
    if file_name is None:
        form.fields[name[1]] = content.decode("utf-8", "replace")
        return
    media_type = re.search(r"content-type:\s*([^\r\n;]+)", head, re.IGNORECASE)
    media = media_type[1] if media_type else "application/octet-stream"
    form.files.append(FormFile(name[1], file_name[1].replace("%22", '"'), media, content))
