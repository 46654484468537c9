"""The skills of a server as the protocol has them: listed with the digest of each file, and read as resources."""

import hashlib
import mimetypes
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from mcp_core.declare.resources import BYTES, Content
from mcp_core.declare.skills import DOCUMENT, SKILL_SCHEME, Skill
from mcp_core.errors import Refused

LIST, GET, DIRECTORY = "skills/list", "skills/get", "resources/directory/read"
METHODS = (LIST, GET, DIRECTORY)
PAGE_SIZE = 50
FOLDER_TYPE = "inode/directory"
_MARKDOWN = "text/markdown"
_CURSOR = re.compile(r"[0-9]{1,8}")

JsonObject = dict[str, Any]


class SkillPages(NamedTuple):
    """The skills that one request sees, by name."""

    skills: Mapping[str, Skill]

    @classmethod
    def of(cls, skills: Iterable[Skill]) -> "SkillPages":
        """Of several with one name, the first."""
        known: dict[str, Skill] = {}
        for skill in skills:
            known.setdefault(skill.name, skill)
        return cls(known)

    def answer(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        """The result of one of the methods. Raises Refused."""
        if method == LIST:
            names, more = _page(sorted(self.skills), params.get("cursor"))
            return {"skills": [_entry(self.skills[name]) for name in names], **more}
        uri = str(params.get("uri"))
        if method == GET:
            name, path = _split(uri)
            if name not in self.skills or path != DOCUMENT:
                raise Refused(f"Unknown skill: {uri}", "validation", {"uri": uri})
            return {"skill": _entry(self.skills[name])}
        children, more = _page(self._children(uri), params.get("cursor"))
        return {"resources": children, **more}

    def read(self, uri: str) -> Content | None:
        """The content of a file. None if it does not exist."""
        name, path = _split(uri)
        data = self.skills[name].contents().get(path) if name in self.skills else None
        if data is None:
            return None
        kind = _type(path)
        try:
            return Content(data.decode(), kind or "text/plain")
        except UnicodeDecodeError:
            return Content(data, kind or BYTES)

    def _children(self, uri: str) -> list[JsonObject]:
        """The files and folders directly below an address."""
        name, path = _split(uri.rstrip("/"))
        below = f"{path}/" if path else ""
        paths = self.skills[name].contents() if name in self.skills else {}
        found: dict[str, JsonObject] = {}
        for file in paths:
            if not file.startswith(below):
                continue
            child, slash, _ = file.removeprefix(below).partition("/")
            kind = FOLDER_TYPE if slash else _type(child) or BYTES
            about = self.skills[name].fields if below + child == DOCUMENT else {"name": child}
            described = {key: about[key] for key in ("name", "description") if key in about}
            found[child] = {"uri": _address(name, below + child), **described, "mimeType": kind}
        if not found:
            raise Refused(f"{uri} is not a folder of a skill.", "validation", {"uri": uri})
        return list(found.values())


def _entry(skill: Skill) -> JsonObject:
    resources = [
        {
            "uri": _address(skill.name, path),
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "size": len(data),
        }
        for path, data in skill.contents().items()
    ]
    return {"uri": _address(skill.name, DOCUMENT), "frontmatter": skill.fields, "resources": resources}


def _address(name: str, path: str) -> str:
    return f"{SKILL_SCHEME}{name}/{quote(path)}"


def _split(uri: str) -> tuple[str, str]:
    name, _, path = uri.removeprefix(SKILL_SCHEME).partition("/")
    return name, unquote(path)


def _type(path: str) -> str | None:
    return _MARKDOWN if path.endswith(".md") else mimetypes.guess_type(path)[0]


def _page(items: list[Any], cursor: Any) -> tuple[list[Any], JsonObject]:
    """A part of a list, and where the next one begins."""
    start = int(cursor) if isinstance(cursor, str) and _CURSOR.fullmatch(cursor) else 0
    if cursor is not None and not 0 < start < len(items):
        raise Refused(f"The cursor {str(cursor)[:60]!r} does not belong to this list.", "validation", {})
    end = start + PAGE_SIZE
    return items[start:end], {"nextCursor": str(end)} if end < len(items) else {}
