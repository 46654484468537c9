"""Writes the images, sounds and files of an answer into a folder."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from toolcharter.commands import UsageError

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class AttachedBlock(NamedTuple):
    """A content block beside the text of an answer."""

    kind: str
    mime_type: str
    uri: str
    base64: str | None
    text: str | None

    @classmethod
    def from_block(cls, block: Mapping[str, Any]) -> "AttachedBlock":
        """Read a block. What a server sends may be anything."""
        inner: Any = block.get("resource")
        holder = cast(Mapping[str, Any], inner) if isinstance(inner, dict) else block
        data, text = holder.get("blob", holder.get("data")), holder.get("text")
        return cls(
            str(block.get("type", "")),
            str(holder.get("mimeType") or ""),
            str(holder.get("uri") or ""),
            data if isinstance(data, str) else None,
            text if isinstance(text, str) else None,
        )

    @property
    def has_data(self) -> bool:
        """Whether there is something to write to a file."""
        return self.base64 is not None or self.text is not None

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        return len(self.base64) * 3 // 4 if self.base64 is not None else len(self.text or "")

    def data(self) -> bytes:
        """The bytes. Raises ValueError if they are not base64."""
        if self.base64 is None:
            return (self.text or "").encode()
        try:
            return base64.b64decode(self.base64, validate=True)
        except binascii.Error:
            raise ValueError("the server sent data that is not base64") from None


def attachments(blocks: Iterable[Mapping[str, Any]]) -> list[AttachedBlock]:
    """The blocks that are not texts."""
    return [AttachedBlock.from_block(block) for block in blocks if block.get("type") != "text"]


def make_folder(folder: Path) -> None:
    """Make the folder, before a tool is called whose answer could then not be saved. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--save {folder}: the folder cannot be made: {error.strerror}.") from None


def save(attachment: AttachedBlock, folder: Path, tool: str) -> Path:
    """Write a file that is named after the tool, beside those that exist. Raises ValueError or OSError.

    Nothing in the name comes from the answer, except the extension of a known type.
    """
    data = attachment.data()
    default = ".txt" if attachment.base64 is None else ".bin"
    mime_type = attachment.mime_type.partition(";")[0].strip()
    extension = mimetypes.guess_extension(mime_type, strict=False) or default
    name = _NOT_IN_NAMES.sub("_", tool)
    number = 0
    while True:
        number += 1
        path = folder / f"{name}-{number}{extension}"
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        return path
